//! Holm's correction of several p values: it bounds the chance of even one false finding, whatever their dependence.

/// Adjusted p values, in the order of `p_values`. A value below a level is significant at that level.
///
/// The k-th smallest of m is multiplied by m + 1 - k; none falls below one before it, and none exceeds 1. NaN stands
/// for a test that could not be made: it stays NaN and does not count among the m.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&index| !p_values[index].is_nan()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut highest = 0.0f64;
    for (before, &index) in order.iter().enumerate() {
        highest = highest.max((p_values[index] * (order.len() - before) as f64).min(1.0));
        adjusted[index] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_agree_with_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-15, "{adjusted:?}");
        }
    }

    #[test]
    fn adjusted_values_stay_between_0_and_1() {
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.3]), [0.3]);
        assert_eq!(holm(&[0.6, 0.7, 0.0]), [1.0, 1.0, 0.0]);
        assert_eq!(holm(&[0.25, 0.25]), [0.5, 0.5]);
    }

    #[test]
    fn missing_tests_do_not_count() {
        let adjusted = holm(&[0.02, f64::NAN, 0.03]);
        assert!(adjusted[1].is_nan());
        assert_eq!([adjusted[0], adjusted[2]], [0.04, 0.04]);
    }
}
