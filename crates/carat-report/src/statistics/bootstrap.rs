//! Bootstrap intervals of a mean: percentile, and bias-corrected and accelerated (BCa), as scipy's `bootstrap` computes
//! them from the means of the resamples.
//!
//! ```text
//! z0       normal quantile of the share of resampled means below the mean, equal ones half
//! a        acceleration: sum of u_i^3 / (6 (sum of u_i^2)^1.5), u_i = d_i - mean (the mean's jackknife in closed form)
//! share    Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z = normal quantile of 0.025, and of 0.975
//! ```

use std::f64::consts::{PI, SQRT_2};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::mean;
use super::quantiles::{quantile, sorted};

/// Share of the distribution that a 95 % interval leaves out on either side.
const OUTSIDE: f64 = 0.025;

/// The 95 % interval between the quantiles of the resampled means; `None` where there is none or one is not a number.
pub fn percentile_interval(resampled_means: &[f64]) -> Option<(f64, f64)> {
    let sorted = sorted(resampled_means)?;
    Some((quantile(&sorted, OUTSIDE), quantile(&sorted, 1.0 - OUTSIDE)))
}

/// The BCa 95 % interval of the mean of `values`. Where its corrections are undefined (values all equal, every
/// resampled mean on one side), it is the percentile interval.
///
/// `None` where either list is empty or holds NaN.
pub fn bca_interval(values: &[f64], resampled_means: &[f64]) -> Option<(f64, f64)> {
    let means = sorted(resampled_means)?;
    let mean = mean(values)?;
    // A resample of all values has the same mean except for rounding. With few values there are many such resamples.
    let rounding = 1e-14 * values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let below = means.partition_point(|resampled| *resampled < mean - rounding);
    let up_to = means.partition_point(|resampled| *resampled <= mean + rounding);
    let bias = normal_quantile((below + up_to) as f64 / (2 * means.len()) as f64);
    let acceleration = acceleration(values, mean);
    let share = |outside: f64| {
        let shifted = bias + normal_quantile(outside);
        let share = 0.5 * libm::erfc(-(bias + shifted / (1.0 - acceleration * shifted)) / SQRT_2);
        if share.is_finite() && bias.is_finite() { share } else { outside }
    };
    (!mean.is_nan()).then(|| (quantile(&means, share(OUTSIDE)), quantile(&means, share(1.0 - OUTSIDE))))
}

fn acceleration(values: &[f64], mean: f64) -> f64 {
    // Divided by the largest, so that no power over- or underflows.
    let largest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    let powers = values.iter().map(|value| (value - mean) / largest).map(|u| (u * u, u * u * u));
    let (squares, cubes) = powers.fold((0.0, 0.0), |sums, powers| (sums.0 + powers.0, sums.1 + powers.1));
    cubes / (6.0 * squares.powf(1.5))
}

/// The `z` with `Phi(z) = share`; not finite where `share` is 0 or 1.
///
/// Newton's method on `ln Phi`, which is concave: from a point below the root it approaches the root and never passes
/// it. `Phi(-x) <= exp(-x^2 / 2) / 2` gives such a point.
fn normal_quantile(share: f64) -> f64 {
    if share > 0.5 {
        return -normal_quantile(1.0 - share);
    }
    let mut z = -(-2.0 * share.ln()).sqrt();
    // Each step doubles the number of correct digits; 6 steps are enough for any share above 1e-300.
    for _ in 0..10 {
        let below = 0.5 * libm::erfc(-z / SQRT_2);
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        z += (share / below).ln() * below / density;
    }
    z
}

/// The means of `count` resamples, each as long as `values` and drawn from them with replacement. The same for the same
/// values on every machine.
pub(super) fn resampled_means(values: &[f64], count: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // 32 random bits per draw: among 2^32 / n the most and the least likely value differ by one, far below what the
    // number of resamples resolves.
    let n = values.len() as u64;
    let draw = |bits: u64| values.get(((bits * n) >> 32) as usize).copied().unwrap_or(f64::NAN);
    let resample = |_| {
        let mut sum = 0.0;
        for _ in 0..values.len() / 2 {
            let bits = random.next_u64();
            sum += draw(bits & 0xffff_ffff) + draw(bits >> 32);
        }
        if values.len() % 2 == 1 {
            sum += draw(u64::from(random.next_u32()));
        }
        sum / n as f64
    };
    (0..count).map(resample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resamples_are_drawn_evenly_and_the_same_every_time() {
        let values = [0.0, 0.0, 3.0];
        let means = resampled_means(&values, 40_000, 5);
        assert_eq!(means, resampled_means(&values, 40_000, 5));
        assert_ne!(means, resampled_means(&values, 40_000, 6));
        // The number of threes among three draws is binomial.
        for (mean, expected) in [(0.0, 8.0), (1.0, 12.0), (2.0, 6.0), (3.0, 1.0)] {
            let share = means.iter().filter(|found| **found == mean).count() as f64 / 40_000.0;
            assert!((share - expected / 27.0).abs() < 0.01, "{mean}: {share}");
        }
    }

    #[test]
    fn corrections_that_are_undefined_are_left_out() {
        let means = [1.0, 2.0, 3.0, 4.0, 5.0];
        // Every resampled mean above the mean; and values that are all equal.
        assert_eq!(bca_interval(&[0.0, 0.5], &means), percentile_interval(&means));
        assert_eq!(bca_interval(&[3.0, 3.0], &means), percentile_interval(&means));
        assert_eq!(percentile_interval(&means), Some((1.1, 4.9)));
    }

    #[test]
    fn the_order_of_draws_does_not_matter() {
        let values = [0.1, 0.2, 0.7];
        let sums = [0.1 + 0.2 + 0.7, 0.7 + 0.2 + 0.1, 0.2 + 0.7 + 0.1];
        assert!(sums[0] != sums[1] || sums[1] != sums[2]);
        let others = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
        let intervals = sums.map(|sum| bca_interval(&values, &[&others[..], &[sum / 3.0]].concat()));
        for interval in intervals {
            let ((low, high), (first_low, first_high)) = (interval.unwrap(), intervals[0].unwrap());
            assert!((low - first_low).abs() < 1e-12 && (high - first_high).abs() < 1e-12, "{intervals:?}");
        }
    }

    #[test]
    fn normal_quantiles_agree_with_another_method() {
        // By AS 241, which is Python's statistics.NormalDist().inv_cdf.
        let reference = [
            (1e-300, -37.0470962993612),
            (5e-5, -3.890591886413094),
            (0.025, -1.9599639845400538),
            (0.3, -0.5244005127080407),
            (0.975, 1.959963984540054),
        ];
        for (share, expected) in reference {
            let found = normal_quantile(share);
            assert!((found - expected).abs() < 1e-13 * expected.abs(), "{share}: {found} instead of {expected}");
        }
        assert!(normal_quantile(0.5).abs() < 1e-15);
        assert!([0.0, 1.0, f64::NAN].iter().all(|share| !normal_quantile(*share).is_finite()));
    }

    #[test]
    fn empty_lists_have_no_interval() {
        assert_eq!(bca_interval(&[], &[1.0]), None);
        assert_eq!(bca_interval(&[1.0], &[]), None);
        assert_eq!(bca_interval(&[f64::NAN], &[1.0]), None);
        assert_eq!(percentile_interval(&[]), None);
    }
}
