//! What runs are compared by.

use crate::sweep::Outcome;

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

    /// The word for better: lower or higher.
    pub fn better(self) -> &'static str {
        if self.lower_is_better() { "lower" } else { "higher" }
    }

    /// The word for worse: higher or lower.
    pub fn worse(self) -> &'static str {
        if self.lower_is_better() { "higher" } else { "lower" }
    }
}
