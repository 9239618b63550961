//! Which edges stay in a pruned graph.

use carat_graph::Dataset;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::batches::batch_seed;
use crate::settings::DataSettings;
use crate::{Error, ModelKind, TrainConfig, Trainer, mean_attention, prepare};

/// Leaves edges out of a graph before a network is trained on it. A setting of sweeps, so that their rows describe
/// their graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pruning {
    /// Edges with less attention are left out.
    pub threshold: f64,
    /// The same number of edges is left out, but at random.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random: bool,
    /// The network whose attention decides. It is trained on the same data, split and seed, whatever its own settings
    /// are.
    pub guide: Box<TrainConfig>,
}

impl Pruning {
    /// Checks every setting.
    pub fn check(&self) -> Result<(), Error> {
        check_threshold(self.threshold)?;
        self.guide.check()?;
        if self.guide.model != ModelKind::Attention {
            return Err(Error::Config(format!("a {} cannot guide pruning: it has no attention", self.guide.model)));
        }
        Ok(())
    }

    /// All settings of the guide of a run.
    pub fn guide_of(&self, run: &TrainConfig) -> TrainConfig {
        let guide = (*self.guide).clone();
        let DataSettings { task, self_loops, .. } = guide.data;
        let data = DataSettings { task, self_loops, ..run.data.clone() };
        TrainConfig { data, seed: run.seed, ..guide }
    }

    /// The graph of a run, given the guide's scores.
    pub fn apply(&self, dataset: &Dataset, scores: &[f32], run: &TrainConfig) -> Result<Dataset, Error> {
        let mut keep = above(scores, self.threshold);
        if self.random {
            let count = keep.iter().filter(|keep| **keep).count();
            keep = at_random(keep.len(), count, random_seed(run.seed, run.data.split));
        }
        Ok(dataset.with_edges(&keep)?)
    }
}

/// Refuses a threshold that is not a number or is below 0.
pub fn check_threshold(threshold: f64) -> Result<(), Error> {
    if threshold.is_finite() && threshold >= 0.0 {
        return Ok(());
    }
    Err(Error::Config(format!("a threshold of attention is a number from 0 on, and {threshold} is not")))
}

/// The edges whose score is at least the threshold.
pub fn above(scores: &[f32], threshold: f64) -> Vec<bool> {
    scores.iter().map(|score| f64::from(*score) >= threshold).collect()
}

/// So many of the edges, drawn at random. With the same seed, a smaller draw is part of a larger one.
pub fn at_random(edges: usize, count: usize, seed: u64) -> Vec<bool> {
    let mut order: Vec<u32> = (0..edges as u32).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut keep = vec![false; edges];
    order.iter().take(count).for_each(|&edge| keep[edge as usize] = true);
    keep
}

/// Separates draws of edges from those of weights and batches.
const EDGES: u64 = 0x0065_6467_6573;

/// The seed of the edges that are left out for a network of this seed on this split.
pub(super) fn random_seed(seed: u64, split: usize) -> u64 {
    batch_seed(seed ^ EDGES, split, 0)
}

/// Trains an attention network and scores every edge of the data by its attention, mean over layers and heads. `None`
/// where `interrupted` turned true before the end.
pub fn scores(
    dataset: &Dataset,
    config: &TrainConfig,
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<f32>>, Error> {
    let dataset = &config.prepare_edges(dataset.clone())?;
    let split = config.choose_split(dataset)?;
    let (dataset, _) = prepare(dataset, &split, config)?;
    let mut trainer = Trainer::new(&dataset, &split, config)?;
    while trainer.epoch(interrupted)?.is_some() {}
    if !trainer.is_over() {
        return Ok(None);
    }
    let (network, _) = trainer.finish();
    mean_attention(&network, &dataset, config.optimiser.batch_size).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_at_the_threshold_stay() {
        let scores = [0.0, 0.1, 0.5, 1.0];
        assert_eq!(above(&scores, 0.0), [true; 4]);
        assert_eq!(above(&scores, 0.5), [false, false, true, true]);
        assert_eq!(above(&scores, 1.01), [false; 4]);
        assert_eq!(above(&[f32::NAN], 0.0), [false]);
    }

    #[test]
    fn random_draws_are_of_the_right_size_nested_and_seeded() {
        let draws: Vec<Vec<bool>> = (0..=50).map(|count| at_random(50, count, 7)).collect();
        for (count, draw) in draws.iter().enumerate() {
            assert_eq!(draw.iter().filter(|keep| **keep).count(), count);
        }
        for pair in draws.windows(2) {
            assert!(pair[0].iter().zip(&pair[1]).all(|(fewer, more)| !fewer || *more));
        }
        assert_eq!(at_random(50, 20, 7), draws[20]);
        assert_ne!(at_random(50, 20, 8), draws[20]);
        assert_ne!(random_seed(0, 0), random_seed(0, 1));
    }

    #[test]
    fn settings_without_meaning_are_named() {
        let pruning = Pruning { threshold: 0.5, random: false, guide: Box::default() };
        pruning.check().unwrap();
        let gcn = TrainConfig::default().model(ModelKind::Gcn);
        let error = Pruning { guide: Box::new(gcn), ..pruning.clone() }.check().unwrap_err().to_string();
        assert_eq!(error, "a gcn cannot guide pruning: it has no attention");
        let error = Pruning { threshold: f64::NAN, ..pruning }.check().unwrap_err().to_string();
        assert_eq!(error, "a threshold of attention is a number from 0 on, and NaN is not");
    }
}
