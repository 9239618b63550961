//! The runs that repeat a candidate: on one split after the other where the data has several, with one seed after the
//! other elsewhere.

use carat::TrainConfig;
use carat_graph::Dataset;

/// Which split and which seed every repetition has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetitions {
    /// 1 where the split of the settings is the only one.
    splits: usize,
}

impl Repetitions {
    /// Those for runs of these settings on some data; `split_is_given` where the user wants one split alone.
    pub fn of(config: &TrainConfig, dataset: &Dataset, split_is_given: bool) -> Self {
        let splits = match (config.data.folds, &config.data.split_ratio) {
            _ if split_is_given => 1,
            (Some(folds), _) => folds,
            // A ratio makes as many splits as anybody wants, which says nothing about how many are needed.
            (None, Some(_)) => 1,
            (None, None) => dataset.splits().len(),
        };
        Self { splits: splits.max(1) }
    }

    /// The number of splits.
    pub fn splits(self) -> usize {
        self.splits
    }

    /// A repetition of the search, counted from 0.
    pub fn run(self, config: &TrainConfig, number: usize) -> TrainConfig {
        let later = |seeds: usize| config.clone().seed(config.seed.wrapping_add(seeds as u64));
        match self.splits {
            1 => later(number),
            splits => later(number / splits).split(number % splits),
        }
    }

    /// A run that the search does not make: its seeds follow on those of `searched` repetitions.
    pub fn fresh(self, config: &TrainConfig, searched: usize, number: usize) -> TrainConfig {
        self.run(&config.clone().seed(config.seed.wrapping_add(searched as u64)), number)
    }
}
