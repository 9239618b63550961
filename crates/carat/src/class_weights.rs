//! What a training entity of class c counts in the loss, the weighted mean sum of w_y CE / sum of w_y.
//!
//! ```text
//! balanced    w_c = n / (C n_c)        as scikit-learn's, over the C classes that have training entities
//! ```

use crate::settings::ClassWeights;

impl ClassWeights {
    /// A weight for every class by the labels of the training entities; nothing where all count 1.
    pub fn of(self, labels: &[u32], classes: usize) -> Vec<f64> {
        if self == Self::None {
            return Vec::new();
        }
        let counts = counts(labels, classes);
        let present = counts.iter().filter(|count| **count > 0).count();
        // A class without training entities is in no training loss.
        let weight = |&count: &usize| labels.len() as f64 / (present * count.max(1)) as f64;
        counts.iter().map(weight).collect()
    }
}

/// The number of entities of each class.
pub(crate) fn counts(labels: &[u32], classes: usize) -> Vec<usize> {
    let mut counts = vec![0; classes];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_classes_count_alike() {
        let labels = [0, 0, 0, 2, 2, 0, 0, 0];
        assert!(ClassWeights::None.of(&labels, 3).is_empty());
        // scikit-learn's compute_class_weight("balanced", classes=[0, 2], y=labels).
        let weights = ClassWeights::Balanced.of(&labels, 3);
        assert_eq!([weights[0], weights[2]], [8.0 / 12.0, 2.0]);
        assert!(weights[1].is_finite());
    }
}
