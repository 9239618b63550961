//! Pairs of networks, trained and compared edge by edge.

use std::ops::ControlFlow;

use carat::explain::{ExplainSettings, Group, Property, explain};
use carat::{EffectSettings, Error, Protocol, TrainConfig, Trainer, prepare};
use carat_graph::Dataset;
use carat_lab::parallel::in_parallel;
use carat_lab::sweep::Grid;
use carat_report::explain::{Contrast, Explanation, GroupSummary, SummarySettings};

use super::super::{Scope, grids};

/// The number of seeds on the small graph. A pair takes a fraction of a second.
const SEEDS: u64 = 5;

/// A baseline and its regularised twin.
#[derive(Debug, Clone)]
pub(in super::super) struct Pair {
    pub(super) protocol: Protocol,
    pub(super) found: Explanation,
}

impl Pair {
    pub(super) fn group(&self, group: Group) -> Option<&GroupSummary> {
        self.found.groups.iter().find(|summary| summary.group == group && summary.missing.is_none())
    }

    pub(super) fn contrast(&self, property: Property) -> Option<&Contrast> {
        self.found.separates.iter().find(|contrast| contrast.property == property)
    }
}

/// All pairs on one dataset.
#[derive(Debug, Clone)]
pub(in super::super) struct Studied {
    pub(super) data: String,
    /// The error from opening the data, if there is one.
    pub(super) problem: Option<String>,
    pub(super) all: Vec<Pair>,
}

impl Studied {
    pub(super) fn pairs(&self, protocol: Protocol) -> impl Iterator<Item = &Pair> {
        self.all.iter().filter(move |pair| pair.protocol == protocol)
    }
}

/// Trains and compares the pairs of some grids, one dataset each. The result depends only on the grids and the data.
pub(in super::super) fn studied(grids: &[Grid], scope: &Scope) -> Result<Vec<Studied>, Error> {
    grids.iter().map(|grid| study(&grid.runs()?, scope)).collect()
}

fn study(configs: &[TrainConfig], scope: &Scope) -> Result<Studied, Error> {
    let data = configs.first().map(|config| config.data.name.clone()).unwrap_or_default();
    let dataset = match carat_graph::open(&data, &scope.data_dir) {
        Ok(dataset) => dataset,
        // A report on a store can be made without the data.
        Err(problem) => return Ok(Studied { data, problem: Some(problem.to_string()), all: Vec::new() }),
    };
    let pairs = pairs(configs);
    let all = in_parallel(pairs.len(), |number| compare(&pairs[number], &dataset))?;
    Ok(Studied { data, problem: None, all })
}

/// Baselines with their regularised twins; on the small graph for several seeds.
fn pairs(configs: &[TrainConfig]) -> Vec<(TrainConfig, TrainConfig)> {
    let mut pairs = Vec::new();
    for base in configs.iter().filter(|config| config.regulariser.lambda.is_zero()) {
        let twin = |car: &&TrainConfig| {
            !car.regulariser.lambda.is_zero() && (*car).clone().lambda(base.regulariser.lambda.clone()) == *base
        };
        let Some(car) = configs.iter().find(twin) else { continue };
        let seeds = if base.data.name == grids::LARGE { base.seed..base.seed + 1 } else { 0..SEEDS };
        let seeded = |config: &TrainConfig, seed| config.clone().seed(seed);
        pairs.extend(seeds.map(|seed| (seeded(base, seed), seeded(car, seed))));
    }
    pairs
}

fn compare((base, car): &(TrainConfig, TrainConfig), dataset: &Dataset) -> Result<Pair, Error> {
    let split = car.choose_split(dataset)?;
    let (dataset, _) = &prepare(dataset, &split, car)?;
    let train = |config: &TrainConfig| Ok::<_, Error>(Trainer::new(dataset, &split, config)?.run()?.0);
    let settings = ExplainSettings { effects: Some(EffectSettings::from(car)), ..ExplainSettings::default() };
    let changes = explain(&train(base)?, &train(car)?, dataset, &settings, &mut |_, _| ControlFlow::Continue(()))?;
    let found = Explanation::of(&changes, dataset, &settings, &SummarySettings::default())?;
    Ok(Pair { protocol: car.stopping.protocol, found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat::Lambda;

    #[test]
    fn twins_differ_in_lambda_alone_and_the_small_graph_has_more_seeds() {
        let config = |data: &str, lambda: f64, protocol| {
            TrainConfig::default().data(data.into()).lambda(Lambda::new(lambda)).protocol(protocol).seed(7)
        };
        let all = |data: &str| {
            let configs: Vec<TrainConfig> = [Protocol::Paper, Protocol::Best]
                .into_iter()
                .flat_map(|protocol| [0.0, 1.0].map(|lambda| config(data, lambda, protocol)))
                .collect();
            pairs(&configs)
        };
        let large = all(grids::LARGE);
        assert_eq!((large.len(), large[0].0.seed, all("cora").len()), (2, 7, 10));
        for (base, car) in large {
            assert_eq!(base, car.lambda(Lambda::new(0.0)));
        }
        assert!(pairs(&[config("cora", 0.0, Protocol::Best), config("cora", 1.0, Protocol::Paper)]).is_empty());
    }
}
