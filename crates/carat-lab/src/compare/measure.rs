//! What runs are compared by.

use std::collections::HashSet;

use crate::sweep::{Outcome, Run};

/// Fewer distinct values than this over at least as many runs: the measure rests on very few nodes.
const FEWEST_VALUES: usize = 5;

/// A figure of a finished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Mean cross-entropy over the test nodes.
    TestLoss,
    /// Share of test nodes predicted right.
    TestAccuracy,
    /// Divergence of attention from label agreement, see [`carat::Coherence`].
    AttentionKl,
    /// Probability that attention ranks a same-label in-edge above another, see [`carat::Coherence`].
    AttentionAuc,
    /// Mean cross-entropy over the validation nodes: for choices, never for conclusions.
    ValidationLoss,
}

impl Measure {
    /// The figure; `None` where the run has none or it is no number.
    pub fn of(self, outcome: &Outcome) -> Option<f64> {
        let value = match self {
            Self::TestLoss => outcome.test_loss,
            Self::TestAccuracy => outcome.test_accuracy,
            Self::AttentionKl => outcome.attention_kl,
            Self::AttentionAuc => outcome.attention_auc,
            Self::ValidationLoss => Some(outcome.val_loss),
        };
        value.filter(|value| value.is_finite())
    }

    /// Its name in sentences and headings.
    pub fn name(self) -> &'static str {
        match self {
            Self::TestLoss => "test loss",
            Self::TestAccuracy => "test accuracy",
            Self::AttentionKl => "KL divergence",
            Self::AttentionAuc => "attention_auc",
            Self::ValidationLoss => "validation loss",
        }
    }

    /// Whether less of it is better.
    pub fn lower_is_better(self) -> bool {
        match self {
            Self::TestLoss | Self::AttentionKl | Self::ValidationLoss => true,
            Self::TestAccuracy | Self::AttentionAuc => false,
        }
    }

    /// True where the runs have too few distinct values of it to tell anything, though there are enough runs.
    pub fn is_coarse(self, runs: &[&Run]) -> bool {
        let values: Vec<u64> = runs.iter().filter_map(|run| self.of(&run.outcome)).map(f64::to_bits).collect();
        values.len() >= FEWEST_VALUES && values.iter().collect::<HashSet<_>>().len() < FEWEST_VALUES
    }

    /// The word for better: lower or higher.
    pub fn better(self) -> &'static str {
        if self.lower_is_better() { "lower" } else { "higher" }
    }

    /// The word for worse: higher or lower.
    pub fn worse(self) -> &'static str {
        if self.lower_is_better() { "higher" } else { "lower" }
    }
}
