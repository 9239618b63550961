//! What runs are compared by.

use std::collections::HashSet;

use serde::Serialize;

use crate::sweep::{Outcome, Run};

/// Fewer distinct values than this over at least as many runs: the measure rests on very few nodes.
const FEWEST_VALUES: usize = 5;

/// A figure of a finished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
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
    /// Share of attention that lies on spurious edges, where the data knows them.
    SpuriousAttention,
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
            Self::SpuriousAttention => outcome.spurious.map(|attention| attention.share),
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
            Self::SpuriousAttention => "attention on spurious edges",
        }
    }

    /// What it is, in half a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::TestLoss => "the mean cross-entropy over test nodes",
            Self::TestAccuracy => "the share of test nodes whose class is predicted right",
            Self::AttentionKl => "the divergence of attention from label agreement around test nodes",
            Self::AttentionAuc => {
                "the probability that attention ranks an in-neighbour of the test node's class above one of another \
                 class; 0.5 is chance, and what uniform attention has"
            }
            Self::ValidationLoss => "the mean cross-entropy over validation nodes",
            Self::SpuriousAttention => {
                "the share of a test node's attention that lies on its spurious in-edges, in the last layer"
            }
        }
    }

    /// Whether less of it is better.
    pub fn lower_is_better(self) -> bool {
        match self {
            Self::TestLoss | Self::AttentionKl | Self::ValidationLoss | Self::SpuriousAttention => true,
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
