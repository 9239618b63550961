//! Statistics over runs: tests, corrections, spreads, and effects with their intervals. `tests/statistics.rs` compares
//! them with scipy's.

mod bootstrap;
mod effect;
mod holm;
mod quantiles;
mod separation;
mod student;
mod welch;
mod wilcoxon;

use serde::Serialize;

pub use bootstrap::{bca_interval, percentile_interval};
pub use effect::{PairedEffect, paired_effect};
pub use holm::holm;
pub use quantiles::{five_numbers, median};
pub use separation::{Direction, Separation, separation};
pub use welch::welch_greater;
pub use wilcoxon::wilcoxon_greater;

/// Improvements are counted where the one-tailed p is below this, as in the paper.
pub const SIGNIFICANT: f64 = 0.05;

/// Mean and standard deviation of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); `None` for a single value.
    pub deviation: Option<f64>,
}

impl Spread {
    /// The mean and deviation of some values; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Some(Self { mean, deviation })
    }

    /// Text with `decimals` decimals: `0.812 ± 0.010`, or only the mean where there is no deviation.
    pub fn text(&self, decimals: usize) -> String {
        match self.deviation {
            Some(deviation) => format!("{:.decimals$} ± {deviation:.decimals$}", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }
}

/// The mean. A second sum corrects the rounding of the first, so the mean of equal values is that value and their
/// deviation is 0. `None` where there are no values.
fn mean(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let first = values.iter().sum::<f64>() / n;
    let lost = values.iter().map(|value| value - first).sum::<f64>() / n;
    match values.len() {
        0 => None,
        _ => Some(if lost.is_finite() { first + lost } else { first }),
    }
}

/// The probability that a value of `high` is above a value of `low`; ties count half. `None` where either is empty.
///
/// It compares every pair, for the few in-edges of a node. Use [`separation`] for large samples.
pub fn area_under_curve(high: &[f64], low: &[f64]) -> Option<f64> {
    let wins: f64 = high.iter().flat_map(|h| low.iter().map(move |l| win(*h, *l))).sum();
    let pairs = high.len() * low.len();
    (pairs > 0).then(|| wins / pairs as f64)
}

fn win(high: f64, low: f64) -> f64 {
    match high.total_cmp(&low) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_the_sample_deviation() {
        let spread = Spread::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(spread.mean, 5.0);
        assert!((spread.deviation.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of(&[3.5]), Some(Spread { mean: 3.5, deviation: None }));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn equal_values_have_no_deviation() {
        for (value, count) in [(0.1, 3), (0.7, 11), (1e-3, 2000), (-1e17, 7)] {
            assert_eq!(Spread::of(&vec![value; count]), Some(Spread { mean: value, deviation: Some(0.0) }));
        }
        assert_eq!(Spread::of(&[f64::INFINITY, 1.0]).map(|spread| spread.mean), Some(f64::INFINITY));
    }

    #[test]
    fn spreads_have_their_decimals() {
        assert_eq!(Spread { mean: 0.8125, deviation: Some(0.01) }.text(2), "0.81 ± 0.01");
        assert_eq!(Spread { mean: 0.8125, deviation: None }.text(3), "0.812");
    }

    #[test]
    fn pairs_are_counted_with_ties_half() {
        assert_eq!(area_under_curve(&[0.4], &[0.4, 0.2]), Some(0.75));
        assert_eq!(area_under_curve(&[0.1, 0.9], &[0.5]), Some(0.5));
        assert_eq!(area_under_curve(&[0.2; 3], &[0.2; 2]), Some(0.5));
        assert_eq!(area_under_curve(&[], &[0.5]), None);
        assert_eq!(area_under_curve(&[0.5], &[]), None);
    }
}
