//! The results of `carat tune` as data.

use carat::TrainConfig;
use carat::metrics::Metric;
use carat_lab::sweep::differences;
use carat_lab::tune::{Candidate, Comparison, Origin};
use serde::Serialize;

/// What is printed.
#[derive(Serialize)]
pub struct Printed<'a> {
    pub data: &'a str,
    /// The figure that decides, on validation.
    pub figure: &'static str,
    /// What the base is, in words.
    pub base: &'a str,
    /// The best first.
    pub candidates: Vec<Row>,
    /// The settings of the best.
    pub winner: &'a TrainConfig,
    pub out: String,
    pub store: String,
    /// Missing where there is no test entity.
    pub test: Option<Comparison>,
    /// The seeds of `test`, or its splits.
    pub repeated_by: &'static str,
    pub interrupted: bool,
}

/// A candidate on the leaderboard.
#[derive(Serialize)]
pub struct Row {
    pub rank: usize,
    pub origin: Origin,
    /// Of the validation figure; missing where a run failed.
    pub mean: Option<f64>,
    pub deviation: Option<f64>,
    pub repetitions: usize,
    /// The settings that differ from the base.
    pub settings: String,
}

impl Row {
    /// A candidate at a place, counted from 0.
    pub fn of(place: usize, candidate: &Candidate, base: &TrainConfig, metric: Metric) -> Self {
        let spread = candidate.spread(metric);
        Self {
            rank: place + 1,
            origin: candidate.origin,
            mean: spread.map(|spread| spread.mean),
            deviation: spread.and_then(|spread| spread.deviation),
            repetitions: candidate.scores.len(),
            settings: differences(&candidate.config, base),
        }
    }
}
