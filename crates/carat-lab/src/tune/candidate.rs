//! Settings that are tried, with what is known of them.

use carat::TrainConfig;
use carat::metrics::Metric;
use carat_report::statistics::Spread;
use serde::Serialize;

use crate::sweep::Outcome;

/// What validation says of a run: higher is better, and minus infinity of a run that failed.
pub type Score = f64;

/// The score that a figure gives, and the figure that a score stands for.
fn as_score(metric: Metric, figure: f64) -> f64 {
    if metric.lower_is_better() { -figure } else { figure }
}

/// The score of a run by the validation figure that decides. Nothing else of its result reaches the search.
pub fn score(result: &Result<Outcome, String>, metric: Metric) -> Score {
    let figure = result.as_ref().ok().and_then(|outcome| outcome.figures.val.get(metric));
    figure.filter(|figure| figure.is_finite()).map_or(f64::NEG_INFINITY, |figure| as_score(metric, figure))
}

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

    /// Mean and deviation of the validation figure that decides; `None` where a run failed.
    pub fn spread(&self, metric: Metric) -> Option<Spread> {
        let figures: Vec<f64> = self.scores.iter().map(|score| as_score(metric, *score)).collect();
        Spread::of(&figures).filter(|spread| spread.mean.is_finite())
    }
}
