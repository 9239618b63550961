//! What is measured of every run.

use serde::Serialize;

use super::{RunReport, Treatment};

/// A figure of a run, measured on its test nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// How much attention lies on spurious in-edges.
    SpuriousAttention,
    /// Mean cross-entropy.
    TestLoss,
    /// Share of nodes predicted right.
    TestAccuracy,
    /// Probability that attention ranks an in-neighbour of the node's class above one of another class.
    AttentionAuc,
}

impl Measure {
    /// Every measure, in the order of the page.
    pub const ALL: [Self; 4] = [Self::SpuriousAttention, Self::TestLoss, Self::TestAccuracy, Self::AttentionAuc];

    /// What headings and axes say.
    pub fn label(self) -> &'static str {
        match self {
            Self::SpuriousAttention => "attention on spurious edges",
            Self::TestLoss => "test loss",
            Self::TestAccuracy => "test accuracy",
            Self::AttentionAuc => "attention_auc",
        }
    }

    /// The label with a capital, to start a sentence or a heading.
    pub fn title(self) -> String {
        let (first, rest) = self.label().split_at(1);
        first.to_uppercase() + rest
    }

    /// What it is, in half a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::SpuriousAttention => {
                "the share of a test node's attention that lies on its spurious in-edges, in the last layer"
            }
            Self::TestLoss => "the mean cross-entropy over test nodes",
            Self::TestAccuracy => "the share of test nodes whose class is predicted right",
            Self::AttentionAuc => {
                "the probability that attention ranks an in-neighbour of the test node's class above one of another \
                 class; 0.5 is chance, and what uniform attention has"
            }
        }
    }

    /// Whether less is better.
    pub fn lower_is_better(self) -> bool {
        matches!(self, Self::SpuriousAttention | Self::TestLoss)
    }

    /// Its value in a run; `None` where the run's graph has no edges to measure it on.
    pub fn of(self, run: &RunReport) -> Option<f64> {
        match self {
            Self::SpuriousAttention => run.attention.map(|attention| attention.share),
            Self::TestLoss => Some(run.test_loss),
            Self::TestAccuracy => Some(run.test_accuracy),
            Self::AttentionAuc => run.attention_auc,
        }
    }

    /// What a figure of it is held against.
    pub(crate) fn reference(self) -> Reference {
        match self {
            Self::SpuriousAttention => Reference::UniformAttention,
            Self::TestLoss | Self::TestAccuracy => Reference::Mean(Treatment::Oracle),
            Self::AttentionAuc => Reference::Chance(0.5),
        }
    }
}

/// What a figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reference {
    /// What attention that treats all in-edges alike would reach.
    UniformAttention,
    /// What a treatment reaches that does not depend on the shortcut's strength.
    Mean(Treatment),
    /// A value known beforehand.
    Chance(f64),
}

impl Reference {
    /// What legends say.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::UniformAttention => "uniform attention",
            Self::Mean(treatment) => treatment.label(),
            Self::Chance(_) => "chance",
        }
    }
}
