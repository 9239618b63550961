//! Small statistics over runs.

mod wilcoxon;

use serde::Serialize;

pub use wilcoxon::wilcoxon_greater;

/// Mean and standard deviation of one figure over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); `None` for a single value.
    pub deviation: Option<f64>,
}

impl Spread {
    /// Of some values; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        match values.len() {
            0 => None,
            1 => Some(Self { mean, deviation: None }),
            _ => Some(Self { mean, deviation: Some((squares / (n - 1.0)).sqrt()) }),
        }
    }

    /// As text with `decimals` decimals: `0.812 ± 0.010`, or the mean alone where there is no deviation.
    pub fn text(&self, decimals: usize) -> String {
        match self.deviation {
            Some(deviation) => format!("{:.decimals$} ± {deviation:.decimals$}", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }
}

/// The probability that one of `high` is above one of `low`, ties half; `None` where either is empty.
///
/// Compares every pair: meant for the few in-edges of a node.
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
    fn spreads_read_well() {
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
