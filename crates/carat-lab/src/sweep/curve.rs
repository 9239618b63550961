//! A training's curve: the losses and accuracies of every epoch. Stopping rules are compared on it without training
//! again.

/// One epoch of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Mean cross-entropy over the epoch's batches, each before its step.
    pub train_loss: f64,
    /// Mean causal loss over the epoch's batches.
    pub causal_loss: f64,
    /// Validation loss after the epoch.
    pub val_loss: f64,
    /// Validation accuracy after the epoch.
    pub val_accuracy: f64,
    /// Test loss after the epoch; NaN where there is no test node.
    pub test_loss: f64,
    /// Test accuracy after the epoch; NaN where there is no test node.
    pub test_accuracy: f64,
}

const NUMBERS: usize = 6;

/// All epochs of a training.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// One point per epoch, from epoch 1.
    pub points: Vec<Point>,
}

impl Curve {
    /// Number of epochs.
    pub fn epochs(&self) -> usize {
        self.points.len()
    }

    /// Little-endian numbers, point by point.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let numbers =
            |p: &Point| [p.train_loss, p.causal_loss, p.val_loss, p.val_accuracy, p.test_loss, p.test_accuracy];
        self.points.iter().flat_map(numbers).flat_map(f64::to_le_bytes).collect()
    }

    /// Reads what [`Curve::to_bytes`] writes. `None` where the length is wrong.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let (points, left) = numbers.as_chunks::<NUMBERS>();
        let point = |&[train_loss, causal_loss, val_loss, val_accuracy, test_loss, test_accuracy]: &[f64; NUMBERS]| {
            Point { train_loss, causal_loss, val_loss, val_accuracy, test_loss, test_accuracy }
        };
        (rest.is_empty() && left.is_empty()).then(|| Self { points: points.iter().map(point).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_round_trip_through_bytes() {
        let point = |k: f64| Point {
            train_loss: k,
            causal_loss: 0.1 * k,
            val_loss: k / 3.0,
            val_accuracy: 0.5,
            test_loss: f64::INFINITY,
            test_accuracy: -0.0,
        };
        let curve = Curve { points: vec![point(1.0), point(2.0)] };
        assert_eq!(Curve::from_bytes(&curve.to_bytes()), Some(curve.clone()));
        assert_eq!(Curve::from_bytes(&[]), Some(Curve::default()));
        assert_eq!(Curve::from_bytes(&curve.to_bytes()[1..]), None);
        assert_eq!(Curve::from_bytes(&curve.to_bytes()[8..]), None);
    }
}
