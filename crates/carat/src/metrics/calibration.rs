//! Whether probabilities can be taken at their word. The confidence of a prediction is the probability of the predicted
//! class. Confidences are counted in M = 15 bins of equal width, (0, 1/15], (1/15, 2/15], ...:
//!
//! ```text
//! calibration error    sum over bins of (share of entities in it) * |accuracy in it - mean confidence in it|
//! Brier score          mean over entities of sum over classes c of (p_c - [c is the label])^2, halved for two classes
//! ```
//!
//! The calibration error is known as ECE. Two classes halve the Brier score, because both terms of the sum are equal.

use serde::{Deserialize, Serialize};

use super::Predictions;

/// Number of bins.
pub const BINS: usize = 15;

/// A bin of the reliability plot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Confidences in the bin are above this.
    pub above: f64,
    /// And at most this.
    pub up_to: f64,
    /// Number of entities.
    pub entities: u64,
    /// Their mean confidence.
    pub confidence: f64,
    /// Share of them that is predicted right.
    pub accuracy: f64,
}

/// The lower edge of a bin, to the same bits as NumPy's `linspace`.
fn edge(bin: usize) -> f64 {
    if bin == BINS { 1.0 } else { bin as f64 * (1.0 / BINS as f64) }
}

/// The bins that have entities; `None` where a probability is NaN.
pub(super) fn reliability(predictions: &Predictions) -> Option<Vec<Bin>> {
    if predictions.probabilities().iter().any(|p| p.is_nan()) {
        return None;
    }
    let mut sums = [(0u64, 0.0, 0u64); BINS];
    let rows = predictions.probabilities().chunks_exact(predictions.classes().max(1));
    for ((row, &label), &predicted) in rows.zip(predictions.labels()).zip(predictions.predicted()) {
        let confidence = f64::from(row[predicted as usize]);
        let bin = (1..BINS).take_while(|&bin| edge(bin) < confidence).count();
        sums[bin].0 += 1;
        sums[bin].1 += confidence;
        sums[bin].2 += u64::from(predicted == label);
    }
    let bins = sums.iter().enumerate().filter(|(_, (entities, ..))| *entities > 0);
    let bins = bins.map(|(bin, &(entities, confidence, right))| Bin {
        above: edge(bin),
        up_to: edge(bin + 1),
        entities,
        confidence: confidence / entities as f64,
        accuracy: right as f64 / entities as f64,
    });
    Some(bins.collect())
}

/// The calibration error of these bins; `None` where there are none.
pub(super) fn calibration_error(bins: &[Bin]) -> Option<f64> {
    let total: u64 = bins.iter().map(|bin| bin.entities).sum();
    let error = |bin: &Bin| bin.entities as f64 / total as f64 * (bin.accuracy - bin.confidence).abs();
    (total > 0).then(|| bins.iter().map(error).sum())
}

/// The Brier score.
pub(super) fn brier(predictions: &Predictions) -> Option<f64> {
    let classes = predictions.classes();
    let rows = predictions.probabilities().chunks_exact(classes.max(1)).zip(predictions.labels());
    let of_row = |(row, &label): (&[f32], &u32)| -> f64 {
        let target = |class: usize| f64::from(u8::from(class == label as usize));
        row.iter().enumerate().map(|(class, &p)| (f64::from(p) - target(class)).powi(2)).sum()
    };
    let mean = rows.map(of_row).sum::<f64>() / predictions.len() as f64;
    let score = if classes == 2 { mean / 2.0 } else { mean };
    (!predictions.is_empty() && !score.is_nan()).then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_closed_above_and_right_only_where_confidence_is_earned() {
        // Confidences 1, 0.8, 0.8 and 0.5, the first two right.
        let rows = [1.0, 0.0, 0.2, 0.8, 0.2, 0.8, 0.5, 0.5];
        let bins = reliability(&Predictions::from_probabilities(2, &rows, &[0, 1, 0, 1])).unwrap();
        assert_eq!(bins.iter().map(|bin| bin.entities).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!((bins[2].above, bins[2].up_to, bins[2].accuracy), (edge(14), 1.0, 1.0));
        let expected = 0.25 * 0.5 + 0.5 * (f64::from(0.8f32) - 0.5);
        assert!((calibration_error(&bins).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_figure() {
        let none = Predictions::new(3);
        assert_eq!((reliability(&none), brier(&none)), (Some(vec![]), None));
        assert_eq!(calibration_error(&[]), None);
        let nan = Predictions::from_probabilities(2, &[f32::NAN, 0.5], &[1]);
        assert_eq!((reliability(&nan), brier(&nan)), (None, None));
    }
}
