//! The size of a paired difference, with its interval.

use serde::Serialize;

use super::bootstrap::{bca_interval, resampled_means};
use super::{Spread, wilcoxon};

/// The number of resamples for an interval.
const RESAMPLES: usize = 10_000;
/// A fixed seed gives the same interval every time.
const SEED: u64 = 0x0ca2_a700;

/// The size of a paired difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedEffect {
    /// Mean difference.
    pub mean: f64,
    /// 95 % bootstrap interval of the mean: bias-corrected and accelerated, with 10,000 resamples. If all differences
    /// are equal, or there is a single pair, both ends are the mean, and the interval says nothing.
    pub interval: (f64, f64),
    /// Cohen's d_z: the mean over the sample deviation of the differences; `None` where there is no deviation.
    pub cohens_d: Option<f64>,
    /// Matched-pairs rank-biserial correlation: the share of the signed-rank test's ranks above 0 less the share below,
    /// from -1 (every difference below 0) to 1; `None` where no difference differs from 0.
    pub rank_biserial: Option<f64>,
    /// The number of differences.
    pub pairs: usize,
}

/// The effect of some differences. `None` where there are none, one is not finite, or they are too large to square.
pub fn paired_effect(differences: &[f64]) -> Option<PairedEffect> {
    if differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let Spread { mean, deviation } = Spread::of(differences)?;
    let deviation = deviation.filter(|deviation| *deviation != 0.0);
    if !mean.is_finite() || deviation.is_some_and(|deviation| !deviation.is_finite()) {
        return None;
    }
    let interval = match deviation {
        Some(_) => bca_interval(differences, &resampled_means(differences, RESAMPLES, SEED))?,
        None => (mean, mean),
    };
    Some(PairedEffect {
        mean,
        interval,
        cohens_d: deviation.map(|deviation| mean / deviation),
        rank_biserial: wilcoxon::rank_biserial(differences),
        pairs: differences.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_example_agrees_with_hand_calculation() {
        let effect = paired_effect(&[3.0, -1.0, 0.0, 2.0]).unwrap();
        assert_eq!(effect.mean, 1.0);
        assert_eq!(effect.pairs, 4);
        // Ranks 3, 1 and 2 without the zero.
        assert_eq!(effect.rank_biserial, Some((5.0 - 1.0) / 6.0));
        assert!((effect.cohens_d.unwrap() - 1.0 / (10.0f64 / 3.0).sqrt()).abs() < 1e-15);
        let (low, high) = effect.interval;
        assert!((-1.0..0.5).contains(&low) && (1.5..=3.0).contains(&high), "{low} {high}");
        assert_eq!(paired_effect(&[3.0, -1.0, 0.0, 2.0]), Some(effect));
    }

    #[test]
    fn equal_differences_have_no_interval() {
        for (values, biserial) in [(&[0.1; 3][..], Some(1.0)), (&[-0.1], Some(-1.0)), (&[0.0, 0.0], None)] {
            let effect = paired_effect(values).unwrap();
            assert_eq!(effect.interval, (values[0], values[0]));
            assert_eq!((effect.cohens_d, effect.rank_biserial), (None, biserial));
        }
    }

    #[test]
    fn empty_and_infinite_differences_have_no_effect() {
        assert_eq!(paired_effect(&[]), None);
        assert_eq!(paired_effect(&[0.1, f64::NAN]), None);
        assert_eq!(paired_effect(&[0.1, f64::INFINITY]), None);
    }

    #[test]
    fn the_interval_scales_with_the_unit() {
        let values = [0.3, -0.2, 0.5, 0.1, 0.9, 0.4];
        let (low, high) = paired_effect(&values).unwrap().interval;
        for unit in [2f64.powi(-400), 2f64.powi(400)] {
            let scaled = paired_effect(&values.map(|value| value * unit)).unwrap().interval;
            assert_eq!(scaled, (low * unit, high * unit));
        }
    }
}
