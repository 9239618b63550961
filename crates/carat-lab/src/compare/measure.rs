//! The measures that runs are compared by.

use std::collections::HashSet;

use carat::metrics::{Figure, Metric, Subset};
use serde::{Serialize, Serializer};

use crate::sweep::{Outcome, Run};

/// A measure with fewer distinct values over at least this many runs rests on very few nodes.
const FEWEST_VALUES: usize = 5;

/// What finished runs are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// A figure that every run has.
    Figure(Figure),
    /// Share of attention on spurious edges, for data that marks them.
    SpuriousAttention,
}

impl Measure {
    /// Mean cross-entropy over the test nodes.
    pub const TEST_LOSS: Self = Self::Figure(Figure::Of(Subset::Test, Metric::Loss));
    /// Share of test nodes that are predicted correctly.
    pub const TEST_ACCURACY: Self = Self::Figure(Figure::Of(Subset::Test, Metric::Accuracy));
    /// How far attention says what edges do for the test nodes, see [`carat::trust`].
    pub const FAITHFULNESS: Self = Self::Figure(Figure::Faithfulness);
    /// Divergence of attention from label agreement, see [`carat::Coherence`].
    pub const ATTENTION_KL: Self = Self::Figure(Figure::AttentionKl);
    /// Probability that attention ranks a same-label in-edge above another, see [`carat::Coherence`].
    pub const ATTENTION_AUC: Self = Self::Figure(Figure::AttentionAuc);
    /// Mean cross-entropy over the validation nodes. Settings are chosen by it; it supports no conclusion.
    pub const VALIDATION_LOSS: Self = Self::Figure(Figure::Of(Subset::Validation, Metric::Loss));

    /// The figure; `None` where the run has none or it is not finite.
    pub fn of(self, outcome: &Outcome) -> Option<f64> {
        let value = match self {
            Self::Figure(figure) => outcome.figures.get(figure),
            Self::SpuriousAttention => outcome.spurious.map(|attention| attention.share),
        };
        value.filter(|value| value.is_finite())
    }

    /// Its name in sentences and headings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.title(),
            Self::SpuriousAttention => "attention on spurious edges",
        }
    }

    /// Its name in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.name(),
            Self::SpuriousAttention => "spurious_attention",
        }
    }

    /// Its definition, as part of a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.meaning(),
            Self::SpuriousAttention => {
                "the share of a test node's attention that lies on its spurious in-edges, in the last layer"
            }
        }
    }

    /// True where a lower value is better.
    pub fn lower_is_better(self) -> bool {
        match self {
            Self::Figure(figure) => figure.lower_is_better(),
            Self::SpuriousAttention => true,
        }
    }

    /// True where there are enough runs, but too few distinct values of the measure to support any conclusion.
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

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}
