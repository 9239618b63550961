//! Plans the trainings of a grid. Runs that differ only in their protocol share one training.

use std::collections::HashMap;

use carat::{Error, Protocol, TrainConfig};
use carat_graph::{Dataset, Features};
use sha2::{Digest, Sha256};

use super::store::CODE;

/// One training and its runs.
#[derive(Debug, Clone)]
pub(super) struct Training {
    /// Its key in the store.
    pub(super) key: String,
    /// The hash of the data.
    pub(super) data_sum: String,
    /// One run per protocol asked for.
    pub(super) runs: Vec<PlannedRun>,
}

/// One run of a training.
#[derive(Debug, Clone)]
pub(super) struct PlannedRun {
    /// Its key in the store.
    pub(super) key: String,
    /// Its settings.
    pub(super) config: TrainConfig,
}

impl Training {
    /// Settings of the training itself, which has the longest patience that any of its runs may have.
    pub(super) fn config(&self) -> TrainConfig {
        let patience = |run: &PlannedRun| run.config.stopping.patience_before_learning();
        let most_patient = self.runs.iter().max_by_key(|run| patience(run));
        let config = most_patient.map(|run| run.config.clone()).unwrap_or_default();
        config.patience(most_patient.map(patience))
    }
}

/// One of `count` equal shares of a grid's trainings, counted from 0. Every machine divides the grid in the same way.
/// Keys are hashes, so large networks are spread over all shares.
pub(super) fn share(trainings: Vec<Training>, (share, count): (usize, usize)) -> Vec<Training> {
    let mut keys: Vec<String> = trainings.iter().map(|training| training.key.clone()).collect();
    keys.sort_unstable();
    let is_in_share = |key: &String| keys.binary_search(key).is_ok_and(|rank| rank % count.max(1) == share);
    trainings.into_iter().filter(|training| is_in_share(&training.key)).collect()
}

/// The trainings of some runs, in the order of their first runs. `sums` holds the hash of every dataset.
pub(super) fn plan(runs: &[TrainConfig], sums: &HashMap<String, String>) -> Result<Vec<Training>, Error> {
    let mut trainings: Vec<Training> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for config in runs {
        let data_sum = sums.get(&config.data.name).cloned().unwrap_or_default();
        let key = key(CODE, config, &data_sum)?;
        let training = self::key(CODE, &config.clone().protocol(Protocol::Best), &data_sum)?;
        let place = *places.entry(training.clone()).or_insert_with(|| {
            trainings.push(Training { key: training, data_sum, runs: Vec::new() });
            trainings.len() - 1
        });
        if trainings[place].runs.iter().all(|run| run.key != key) {
            trainings[place].runs.push(PlannedRun { key, config: config.clone() });
        }
    }
    Ok(trainings)
}

/// The hash of everything that decides a result: the code, the data and the settings. The data is hashed by its
/// contents; its path differs between machines and decides nothing.
pub(super) fn key(code: &str, config: &TrainConfig, data_sum: &str) -> Result<String, Error> {
    let config = config.clone().data(String::new());
    let config = serde_json::to_string(&config).map_err(|e| Error::Config(e.to_string()))?;
    let mut hash = Sha256::new();
    for part in [code, data_sum, &config] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    Ok(hexadecimal(&hash.finalize()))
}

/// The hash of a dataset's contents: edges, features, labels and splits.
pub(super) fn data_sum(dataset: &Dataset) -> String {
    let mut hash = Sha256::new();
    let mut numbers = |values: &mut dyn Iterator<Item = u32>| {
        let mut count = 0u64;
        for value in values {
            hash.update(value.to_le_bytes());
            count += 1;
        }
        hash.update(count.to_le_bytes());
    };
    let graph = dataset.graph();
    for node in 0..dataset.num_nodes() as u32 {
        numbers(&mut graph.in_neighbours(node).iter().copied());
    }
    let classes = dataset.labels().num_classes() as u32;
    numbers(&mut std::iter::once(classes));
    numbers(&mut (0..dataset.num_entities() as u32).map(|entity| dataset.labels().get(entity).unwrap_or(u32::MAX)));
    if let Some(set) = dataset.graph_set() {
        numbers(&mut (0..set.num_graphs()).map(|graph| set.nodes(graph).end));
    }
    for split in dataset.splits() {
        for list in [&split.train, &split.val, &split.test] {
            numbers(&mut list.iter().copied());
        }
    }
    match dataset.features() {
        Features::Dense { values, .. } => numbers(&mut values.iter().map(|value| value.to_bits())),
        Features::Sparse(matrix) => {
            for row in 0..dataset.num_nodes() {
                let (columns, values) = matrix.row(row);
                numbers(&mut columns.iter().copied().chain(values.iter().map(|value| value.to_bits())));
            }
        }
    }
    hexadecimal(&hash.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Grid;

    #[test]
    fn protocols_of_one_setting_are_one_training() {
        let runs = Grid::paper("cora").runs().unwrap();
        let sums = HashMap::from([("cora".to_string(), "1".to_string())]);
        let trainings = plan(&runs, &sums).unwrap();
        assert_eq!(trainings.len(), 360);
        assert!(trainings.iter().all(|t| t.runs.len() == 2 && t.config().stopping.patience() == 20));
        let other = HashMap::from([("cora".to_string(), "2".to_string())]);
        assert_ne!(plan(&runs, &other).unwrap()[0].key, trainings[0].key);
    }

    #[test]
    fn every_training_is_in_one_shard() {
        let trainings = plan(&Grid::paper("x").runs().unwrap(), &HashMap::new()).unwrap();
        let shares: Vec<Vec<Training>> = (0..7).map(|number| share(trainings.clone(), (number, 7))).collect();
        let sizes: Vec<usize> = shares.iter().map(Vec::len).collect();
        assert_eq!(sizes, [52, 52, 52, 51, 51, 51, 51]);
        let keys: std::collections::HashSet<&String> = shares.iter().flatten().map(|training| &training.key).collect();
        assert_eq!(keys.len(), trainings.len());
    }
}
