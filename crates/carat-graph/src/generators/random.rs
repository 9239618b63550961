//! A graph without structure, for benchmarks in which only sizes matter.
//!
//! Edges are drawn uniformly among all pairs of different nodes, without repetition; features are standard normal;
//! labels and splits are random. The defaults have ogbn-arxiv's sizes.

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::checks::{self, MOST_CLASSES, MOST_NODES, MOST_VALUES};
use super::sampling::{Purpose, equal_rows, fill_normal, stream};
use crate::{DataError, Dataset, DatasetParts, Features, Graph, Labels, Split};

/// Edges that share one random stream.
const CHUNK: usize = 1 << 16;

/// Settings of [`random`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomConfig {
    /// Nodes (169,343).
    pub nodes: usize,
    /// Directed edges (1,166,243), at most half of all pairs.
    pub edges: usize,
    /// Dense features of each node (128).
    pub features: usize,
    /// Classes (40).
    pub classes: usize,
    /// Training nodes (90,941).
    pub train: usize,
    /// Validation nodes (29,799).
    pub val: usize,
    /// Test nodes (48,603).
    pub test: usize,
    /// Seed of everything random (0).
    pub seed: u64,
}

impl Default for RandomConfig {
    fn default() -> Self {
        Self {
            nodes: 169_343,
            edges: 1_166_243,
            features: 128,
            classes: 40,
            train: 90_941,
            val: 29_799,
            test: 48_603,
            seed: 0,
        }
    }
}

impl RandomConfig {
    /// Checks every value; the error names the first that is wrong, and its range.
    pub fn check(&self) -> Result<(), DataError> {
        checks::within("nodes", self.nodes, 1, MOST_NODES)?;
        // Beyond half of all pairs, a round of redrawing would no longer halve the number of missing edges.
        checks::within("edges", self.edges, 0, (self.nodes * (self.nodes - 1) / 2).min(MOST_VALUES))?;
        checks::within("features", self.features, 1, MOST_NODES)?;
        checks::volume("nodes and features", self.nodes, self.features as f64)?;
        checks::within("classes", self.classes, 1, MOST_CLASSES)?;
        checks::within("train", self.train, 1, self.nodes)?;
        checks::within("val", self.val, 0, self.nodes - self.train)?;
        checks::within("test", self.test, 0, self.nodes - self.train - self.val)
    }
}

/// Makes the graph.
pub fn random(config: &RandomConfig) -> Result<Dataset, DataError> {
    config.check()?;
    let graph = random_graph(config.nodes, config.edges, config.seed);
    let values = equal_rows(config.nodes, config.features, config.seed, Purpose::Features, fill_normal);
    let features = Features::dense(config.nodes, config.features, values)?;
    let mut rng = stream(config.seed, Purpose::Layout, 0);
    let labels = (0..config.nodes).map(|_| Some(rng.random_range(0..config.classes as u32))).collect();
    let mut nodes: Vec<u32> = (0..config.nodes as u32).collect();
    nodes.shuffle(&mut rng);
    let mut take = |count: usize| {
        let mut taken = nodes.split_off(nodes.len() - count);
        taken.sort_unstable();
        taken
    };
    let split = Split { train: take(config.train), val: take(config.val), test: take(config.test) };
    let mut parts = DatasetParts::new("random", graph, features, Labels::new(labels, config.classes)?);
    parts.splits = vec![split];
    Dataset::new(parts)
}

/// Exactly `num_edges` different edges, none a self-loop. An edge is one number, target above source, so that sorting
/// brings repeats together and leaves the order of edge ids; as many new ones are drawn as repeats vanished.
fn random_graph(num_nodes: usize, num_edges: usize, seed: u64) -> Graph {
    let mut edges: Vec<u64> = Vec::with_capacity(num_edges);
    let mut next_stream = 0;
    while edges.len() < num_edges {
        let missing = num_edges - edges.len();
        let chunks = missing.div_ceil(CHUNK);
        edges.par_extend((0..chunks).into_par_iter().flat_map_iter(|chunk| {
            let mut rng = stream(seed, Purpose::Edges, next_stream + chunk);
            (0..CHUNK.min(missing - chunk * CHUNK)).map(move |_| {
                let target = rng.random_range(0..num_nodes as u64);
                // Any node but the target: numbers from the target on move up by one.
                let source = rng.random_range(0..num_nodes as u64 - 1);
                (target << 32) | (source + u64::from(source >= target))
            })
        }));
        next_stream += chunks;
        edges.par_sort_unstable();
        edges.dedup();
    }
    let mut offsets = vec![0usize; num_nodes + 1];
    for &edge in &edges {
        offsets[(edge >> 32) as usize + 1] += 1;
    }
    for j in 0..num_nodes {
        offsets[j + 1] += offsets[j];
    }
    Graph::from_in_csr(offsets, edges.into_iter().map(|edge| edge as u32).collect::<Vec<u32>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_exact_and_values_normal() {
        let config = RandomConfig {
            nodes: 9001,
            edges: 100_000,
            features: 7,
            classes: 3,
            train: 4000,
            val: 3000,
            test: 2000,
            seed: 3,
        };
        let data = random(&config).unwrap();
        assert_eq!((data.num_nodes(), data.graph().num_edges()), (9001, 100_000));
        assert!(data.graph().edges().all(|(i, j)| i != j));
        let split = &data.splits()[0];
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (4000, 3000, 2000));
        let values = data.features().to_dense();
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / values.len() as f64;
        let tail = values.iter().filter(|v| v.abs() > 1.96).count() as f64 / values.len() as f64;
        assert!(mean.abs() < 0.02 && (square - 1.0).abs() < 0.02 && (tail - 0.05).abs() < 0.005);
        assert!((data.homophily().unwrap() - 1.0 / 3.0).abs() < 0.02);
    }

    #[test]
    fn the_same_seed_gives_the_same_graph_on_any_number_of_threads() {
        let config = RandomConfig {
            nodes: 10_000,
            edges: 200_000,
            features: 3,
            train: 10,
            val: 0,
            test: 0,
            ..RandomConfig::default()
        };
        let make = |threads: usize, config: &RandomConfig| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| random(config)).unwrap()
        };
        let one = make(1, &config);
        for threads in [2, 3] {
            let other = make(threads, &config);
            assert_eq!((one.graph(), one.features(), one.labels()), (other.graph(), other.features(), other.labels()));
            assert_eq!(one.splits(), other.splits());
        }
        assert_ne!(one.graph(), make(2, &RandomConfig { seed: 1, ..config }).graph());
    }

    proptest! {
        #[test]
        fn any_configuration_is_made_exactly_or_refused(
            nodes in 0usize..60, edges in 0usize..2000, features in 0usize..5, classes in 0usize..5,
            train in 0usize..40, val in 0usize..40, test in 0usize..40, seed: u64,
        ) {
            let config = RandomConfig { nodes, edges, features, classes, train, val, test, seed };
            if let Ok(data) = random(&config) {
                prop_assert_eq!(data.num_nodes(), nodes);
                prop_assert_eq!(data.graph().num_edges(), edges);
                prop_assert!(data.graph().edges().all(|(i, j)| i != j));
                prop_assert_eq!(data.splits()[0].train.len(), train);
            } else {
                prop_assert!(config.check().is_err());
            }
        }
    }
}
