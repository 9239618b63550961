//! What is measured of every run, and what a figure of it is held against.

use carat_lab::compare::Measure;

use super::Treatment;

/// Every measure, in the order of the page.
pub const MEASURES: [Measure; 4] =
    [Measure::SpuriousAttention, Measure::TestLoss, Measure::TestAccuracy, Measure::AttentionAuc];

/// A measure's name with a capital, to start a heading.
pub(super) fn title(measure: Measure) -> String {
    let (first, rest) = measure.name().split_at(1);
    first.to_uppercase() + rest
}

/// What a figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reference {
    /// What attention that treats all in-edges alike would reach.
    UniformAttention,
    /// What a treatment reaches that does not depend on the shortcut's strength.
    Mean(Treatment),
    /// A value known beforehand.
    Chance(f64),
}

impl Reference {
    pub(super) fn of(measure: Measure) -> Self {
        match measure {
            Measure::SpuriousAttention => Self::UniformAttention,
            Measure::AttentionAuc => Self::Chance(0.5),
            _ => Self::Mean(Treatment::Oracle),
        }
    }

    /// What legends say.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::UniformAttention => "uniform attention",
            Self::Mean(treatment) => treatment.label(),
            Self::Chance(_) => "chance",
        }
    }
}
