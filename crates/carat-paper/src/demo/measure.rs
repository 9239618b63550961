//! The measures of every run, and the reference that each is compared with.

use carat_lab::compare::Measure;

use super::Treatment;

/// Every measure, in the order of the page.
pub const MEASURES: [Measure; 4] =
    [Measure::SpuriousAttention, Measure::TEST_LOSS, Measure::TEST_ACCURACY, Measure::ATTENTION_AUC];

/// What a measure is compared with in a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reference {
    /// The value of uniform attention.
    UniformAttention,
    /// The mean of a treatment that does not depend on the shortcut's strength.
    Mean(Treatment),
    /// The value that chance alone gives.
    Chance(f64),
}

impl Reference {
    pub(super) fn of(measure: Measure) -> Self {
        match measure {
            Measure::SpuriousAttention => Self::UniformAttention,
            Measure::ATTENTION_AUC => Self::Chance(0.5),
            _ => Self::Mean(Treatment::Oracle),
        }
    }

    /// Its name in legends.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::UniformAttention => "uniform attention",
            Self::Mean(treatment) => treatment.label(),
            Self::Chance(_) => "chance",
        }
    }
}
