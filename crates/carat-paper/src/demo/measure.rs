//! The measures of every run, and the reference that each is compared with.

use carat_lab::compare::Measure;

use super::Treatment;

/// Every measure, in the order of the page.
pub const MEASURES: [Measure; 4] =
    [Measure::FAITHFULNESS, Measure::SpuriousAttention, Measure::TEST_ACCURACY, Measure::TEST_LOSS];

/// What a measure is compared with in a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reference {
    /// The value of uniform attention.
    UniformAttention,
    /// The mean of a treatment that does not depend on the shortcut's strength.
    Mean(Treatment),
    /// 0: attention says nothing of what edges do.
    Nothing,
}

impl Reference {
    pub(super) fn of(measure: Measure) -> Self {
        match measure {
            Measure::SpuriousAttention => Self::UniformAttention,
            Measure::FAITHFULNESS => Self::Nothing,
            _ => Self::Mean(Treatment::Oracle),
        }
    }

    /// Its name in legends.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::UniformAttention => "uniform attention",
            Self::Mean(treatment) => treatment.label(),
            Self::Nothing => "says nothing",
        }
    }
}
