//! What the validation entities say of an epoch: its score, the figure that decides which epoch is best, and whether
//! the network has begun to learn.
//!
//! It has, once its loss is 5 % below that of always predicting the shares q of the classes in training:
//!
//! ```text
//! sum over v of w_y -ln q_y / sum over v of w_y        q_c = w_c (n_c + 1) / sum over k of w_k (n_k + 1)
//! ```
//!
//! with the y of validation entities v, the n_c training entities of class c, and the weights w of classes in the loss.

use carat_graph::Labels;
use carat_nn::loss;

use crate::TrainConfig;
use crate::class_weights::counts;
use crate::evaluation::{Score, ScoreSum};
use crate::metrics::{Metric, Predictions, is_imbalanced, training_counts};
use crate::settings::Select;

/// What validation says of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    /// Loss and accuracy.
    pub score: Score,
    /// The figure by which the best epoch is chosen; higher is better.
    pub figure: f64,
    /// True where the network does better than one that knows the classes' shares alone.
    pub has_learned: bool,
}

/// The loss of a network that has learned something, relative to one that has not.
const LEARNED: f64 = 0.95;

impl Select {
    /// The metric, for data with these labels, of which `train` are trained on.
    pub fn metric(self, labels: &Labels, train: &[u32]) -> Metric {
        self.metric_of(&training_counts(labels, train))
    }

    /// The same for classes with these numbers of training labels. Of a few balanced labels ROC AUC is noise: on
    /// MUTAG's folds it chose epochs that named the larger class every time.
    fn metric_of(self, counts: &[usize]) -> Metric {
        match self {
            Self::Loss => Metric::Loss,
            Self::Accuracy => Metric::Accuracy,
            Self::Auc => Metric::RocAuc,
            Self::F1 => Metric::MacroF1,
            Self::Auto if is_imbalanced(counts) => Metric::RocAuc,
            Self::Auto => Metric::Accuracy,
        }
    }
}

/// Judges epochs.
#[derive(Debug)]
pub(crate) struct Judge {
    metric: Metric,
    class_weights: Vec<f64>,
    classes: usize,
    /// The loss below which a network has begun to learn.
    learned: f64,
}

impl Judge {
    /// By the labels of training and validation entities.
    pub(crate) fn new(config: &TrainConfig, classes: usize, train: &[u32], validation: &[u32]) -> Self {
        let class_weights = config.optimiser.class_weights.of(train, classes);
        let weight = |class: usize| class_weights.get(class).copied().unwrap_or(1.0);
        let shares = counts(train, classes).into_iter().enumerate();
        let shares: Vec<f64> = shares.map(|(class, count)| weight(class) * (count + 1) as f64).collect();
        let total: f64 = shares.iter().sum();
        let mut mean = WeightedMean::default();
        for class in validation.iter().map(|&label| label as usize) {
            mean.add(weight(class), -(shares[class] / total).ln());
        }
        let learned = LEARNED * mean.value();
        let metric = config.stopping.select.metric_of(&counts(train, classes));
        Self { metric, class_weights, classes, learned }
    }

    /// What a training entity counts, by its class.
    pub(crate) fn class_weights(&self) -> &[f64] {
        &self.class_weights
    }

    /// Judges an epoch by its validation entities, which come row by row.
    pub(crate) fn epoch(&self) -> Judged<'_> {
        let predictions =
            matches!(self.metric, Metric::RocAuc | Metric::MacroF1).then(|| Predictions::new(self.classes));
        Judged { judge: self, sum: ScoreSum::default(), weighted: WeightedMean::default(), predictions }
    }
}

/// An epoch that is being judged.
pub(crate) struct Judged<'a> {
    judge: &'a Judge,
    sum: ScoreSum,
    weighted: WeightedMean,
    predictions: Option<Predictions>,
}

impl Judged<'_> {
    /// Adds an entity: its class scores and its label.
    pub(crate) fn add(&mut self, scores: &[f32], label: u32) {
        self.sum.add(scores, label);
        if let Some(weight) = self.judge.class_weights.get(label as usize) {
            self.weighted.add(*weight, f64::from(loss::cross_entropy(scores, label as usize)));
        }
        if let Some(predictions) = &mut self.predictions {
            predictions.add(scores, label);
        }
    }

    /// The judgement, or `None` where there was no entity.
    pub(crate) fn finish(self) -> Option<Validation> {
        let Self { judge, sum, weighted, predictions } = self;
        let score = sum.finish()?;
        let figure = match judge.metric {
            Metric::Loss => Some(-score.loss),
            Metric::RocAuc => predictions.and_then(|predictions| predictions.ranking().roc_auc()),
            Metric::MacroF1 => predictions.and_then(|predictions| predictions.confusion().macro_f1()),
            _ => Some(score.accuracy),
        };
        let loss = if judge.class_weights.is_empty() { score.loss } else { weighted.value() };
        // Where a figure has no meaning, every epoch has the same one, and the loss decides.
        Some(Validation { score, figure: figure.unwrap_or(f64::NEG_INFINITY), has_learned: loss < judge.learned })
    }
}

/// sum of w x / sum of w.
#[derive(Debug, Default)]
struct WeightedMean {
    sum: f64,
    weight: f64,
}

impl WeightedMean {
    fn add(&mut self, weight: f64, value: f64) {
        self.sum += weight * value;
        self.weight += weight;
    }

    fn value(&self) -> f64 {
        self.sum / self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ClassWeights;

    /// Of nine training entities and three validation ones, one third is of class 1.
    const TRAIN: [u32; 9] = [0, 0, 0, 0, 0, 0, 1, 1, 1];
    const VALIDATION: [u32; 3] = [0, 0, 1];

    fn judged(config: &TrainConfig, rows: [[f32; 2]; 3]) -> Validation {
        let judge = Judge::new(config, 2, &TRAIN, &VALIDATION);
        let mut epoch = judge.epoch();
        rows.iter().zip(VALIDATION).for_each(|(row, label)| epoch.add(row, label));
        epoch.finish().unwrap()
    }

    #[test]
    fn a_network_that_knows_the_shares_alone_has_not_begun_to_learn() {
        for weights in [ClassWeights::None, ClassWeights::Balanced] {
            let config = TrainConfig::default().class_weights(weights);
            let majority = if weights == ClassWeights::None { 2f32.ln() } else { 0.0 };
            assert!(!judged(&config, [[majority, 0.0]; 3]).has_learned, "{weights}");
            assert!(!judged(&config, [[majority, 0.0], [majority, 0.0], [majority + 0.05, 0.0]]).has_learned);
            assert!(judged(&config, [[majority, 0.0], [majority, 0.0], [0.0, 1.0]]).has_learned, "{weights}");
        }
        assert!(!judged(&TrainConfig::default(), [[f32::NAN; 2]; 3]).has_learned);
    }

    #[test]
    fn the_figure_is_what_is_selected_by() {
        let rows = [[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]];
        let figure = |select: Select| judged(&TrainConfig::default().select(select), rows);
        assert_eq!(figure(Select::Loss).figure, -figure(Select::Loss).score.loss);
        assert_eq!(figure(Select::Accuracy).figure, 2.0 / 3.0);
        assert_eq!(figure(Select::Auc).figure, 0.5);
        assert_eq!(figure(Select::Auto).figure, 2.0 / 3.0);
        assert_eq!(Select::Auto.metric_of(&[3, 1]), Metric::RocAuc);
        // Both classes have one right of two that are predicted or labelled twice and once.
        assert!((figure(Select::F1).figure - 2.0 / 3.0).abs() < 1e-12);
    }
}
