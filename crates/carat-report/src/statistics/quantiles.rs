//! Quantiles by linear interpolation, as in NumPy's `quantile`.

/// Minimum, lower quartile, median, upper quartile and maximum; `None` where there is no value or one is not a number.
pub fn five_numbers(values: &[f64]) -> Option<[f64; 5]> {
    let sorted = sorted(values)?;
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&sorted, share)))
}

/// The median; `None` where there is no value or one is not a number.
pub fn median(values: &[f64]) -> Option<f64> {
    Some(quantile(&sorted(values)?, 0.5))
}

/// The values in order; `None` where there is none or one is not a number.
pub(super) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    Some(values)
}

/// The value below which this share of some sorted values lies. There must be a value, and the share must be in 0 to 1.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = share * last as f64;
    let index = (place as usize).min(last);
    let (low, high) = (sorted[index], sorted[(index + 1).min(last)]);
    let part = place - index as f64;
    // Interpolates from the nearer end, like NumPy, so that equal neighbours and whole positions give exact values.
    match () {
        () if low == high || part == 0.0 => low,
        () if part < 0.5 => low + (high - low) * part,
        () => high - (high - low) * (1.0 - part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_neighbours() {
        assert_eq!(five_numbers(&[4.0, 1.0, 3.0, 2.0]), Some([1.0, 1.75, 2.5, 3.25, 4.0]));
        assert_eq!(five_numbers(&[5.0, 1.0, 3.0]), Some([1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(five_numbers(&[0.1]), Some([0.1; 5]));
        assert_eq!(five_numbers(&[0.1; 6]), Some([0.1; 5]));
    }

    #[test]
    fn infinities_are_sorted() {
        let infinite = five_numbers(&[1.0, 2.0, 3.0, 4.0, f64::INFINITY]).unwrap();
        assert_eq!(infinite, [1.0, 2.0, 3.0, 4.0, f64::INFINITY]);
    }

    #[test]
    fn empty_and_nan_values_have_no_quantiles() {
        assert_eq!(five_numbers(&[]), None);
        assert_eq!(five_numbers(&[1.0, f64::NAN]), None);
    }
}
