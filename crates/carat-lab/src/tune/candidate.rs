//! Settings that are tried, with what is known of them.

use carat::TrainConfig;
use carat_report::statistics::Spread;
use serde::Serialize;

use super::Score;

/// Where a candidate's settings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// What the user would have without a search.
    Base,
    /// The settings known for the dataset.
    Tuned,
    /// Drawn from the space.
    Drawn,
    /// A good candidate with a few settings drawn anew.
    Changed,
}

/// Settings that are tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The settings; repetitions replace the split and the seed.
    pub config: TrainConfig,
    /// Where they come from.
    pub origin: Origin,
    /// The score of every repetition that was compared.
    pub scores: Vec<Score>,
}

impl Candidate {
    /// The mean by which candidates are compared: higher is better, and a failed run is worse than all others.
    pub fn score(&self) -> Score {
        // Its sums do not tell the order of equal scores.
        Spread::of(&self.scores).map_or(f64::NEG_INFINITY, |spread| spread.mean)
    }

    /// Mean and deviation of the validation figure; `None` where a run failed.
    pub fn spread(&self, lower_is_better: bool) -> Option<Spread> {
        let sign = if lower_is_better { -1.0 } else { 1.0 };
        let figures: Vec<f64> = self.scores.iter().map(|score| sign * score).collect();
        Spread::of(&figures).filter(|spread| spread.mean.is_finite())
    }
}
