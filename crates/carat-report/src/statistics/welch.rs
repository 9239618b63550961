//! Welch's one-tailed t test of two independent samples, as scipy's
//! `ttest_ind(a, b, equal_var=False, alternative="greater")`.
//!
//! ```text
//! s_a, s_b   sample variance / n, of each sample
//! t          (mean a - mean b) / sqrt(s_a + s_b)
//! v          (s_a + s_b)^2 / (s_a^2 / (n_a - 1) + s_b^2 / (n_b - 1))
//! p          P(T >= t), T Student's with v degrees of freedom
//! ```

use super::Spread;
use super::student::upper_tail;

/// The probability, if both samples had the same mean, that the mean of `a` lies above that of `b` at least as clearly
/// as here.
///
/// `None` where the test is undefined: fewer than two values in a sample, a value that is no finite number, or no
/// variance in either.
pub fn welch_greater(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, error_a) = mean_and_squared_error(a)?;
    let (mean_b, error_b) = mean_and_squared_error(b)?;
    let error = error_a + error_b;
    if error == 0.0 || !error.is_finite() {
        return None;
    }
    // The formula above over (s_a + s_b)^2, so that no square over- or underflows.
    let share = |part: f64, n: usize| (part / error).powi(2) / (n - 1) as f64;
    let freedom = 1.0 / (share(error_a, a.len()) + share(error_b, b.len()));
    Some(upper_tail((mean_a - mean_b) / error.sqrt(), freedom))
}

/// Mean, and the square of its standard error.
fn mean_and_squared_error(values: &[f64]) -> Option<(f64, f64)> {
    let spread = Spread::of(values)?;
    let error = spread.deviation?.powi(2) / values.len() as f64;
    (spread.mean.is_finite() && error.is_finite()).then_some((spread.mean, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_agrees_with_scipy() {
        // scipy 1.17.1.
        let (a, b) = ([2.1, 3.4, 1.9, 5.0, 4.2], [1.0, 2.2, 0.4]);
        let up = welch_greater(&a, &b).unwrap();
        assert!((up - 0.01971232482787286).abs() < 1e-12 * up, "{up}");
        let down = welch_greater(&b, &a).unwrap();
        assert!((up + down - 1.0).abs() < 1e-15);
    }

    #[test]
    fn one_constant_sample_is_allowed_but_not_two() {
        assert!(welch_greater(&[1.0, 1.0], &[0.5, 0.7]).is_some());
        assert_eq!(welch_greater(&[0.1; 3], &[0.2; 7]), None);
        assert_eq!(welch_greater(&[1.0], &[0.5, 0.7]), None);
        assert_eq!(welch_greater(&[], &[]), None);
        assert_eq!(welch_greater(&[1.0, f64::NAN], &[0.5, 0.7]), None);
        assert_eq!(welch_greater(&[1.0, f64::INFINITY], &[0.5, 0.7]), None);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let (a, b) = ([2.0, 3.0, 1.0, 5.0], [1.0, 2.0, 0.0]);
        let p = welch_greater(&a, &b).unwrap();
        // Powers of two are exact, and these would overflow the squares of variances.
        for unit in [2f64.powi(-300), 2f64.powi(300)] {
            assert_eq!(welch_greater(&a.map(|v| v * unit), &b.map(|v| v * unit)), Some(p));
        }
    }
}
