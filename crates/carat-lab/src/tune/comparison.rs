//! The winner of a search beside the base, on test entities.

use carat::metrics::{Figures, Metric};
use carat_report::statistics::{PairedEffect, Spread, paired_effect};
use serde::Serialize;

use crate::sweep::Outcome;

/// One test figure of both, over the runs that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Its name.
    pub figure: &'static str,
    /// Of the base.
    pub base: Spread,
    /// Of the winner.
    pub winner: Spread,
    /// The winner's less the base's, run by run.
    pub difference: Option<PairedEffect>,
}

/// Test figures of the winner and of the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Runs of each.
    pub runs: usize,
    /// The figures that have a meaning on the data, in the order of `metrics`.
    pub figures: Vec<Pair>,
}

impl Comparison {
    /// Of runs that pair.
    pub fn of(pairs: &[(Outcome, Outcome)], metrics: &[Metric]) -> Self {
        let figures = metrics.iter().filter_map(|&metric| {
            let value = |figures: &Figures| figures.get(metric);
            let both = pairs
                .iter()
                .filter_map(|(base, winner)| Some((value(&base.figures.test)?, value(&winner.figures.test)?)));
            let (base, winner): (Vec<f64>, Vec<f64>) = both.unzip();
            let differences: Vec<f64> = base.iter().zip(&winner).map(|(base, winner)| winner - base).collect();
            Some(Pair {
                figure: metric.title(),
                base: Spread::of(&base)?,
                winner: Spread::of(&winner)?,
                difference: paired_effect(&differences),
            })
        });
        Self { runs: pairs.len(), figures: figures.collect() }
    }
}
