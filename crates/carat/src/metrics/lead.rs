//! Which figures a report leads with.

use carat_graph::Labels;

use super::Metric;
use crate::class_weights::counts;
use carat_nn::words;

/// Classes are imbalanced where the largest one has more than this share of the training labels.
pub const IMBALANCED: f64 = 2.0 / 3.0;

/// True where one class has most of these numbers of training labels.
pub(crate) fn is_imbalanced(counts: &[usize]) -> bool {
    let (largest, all) = (counts.iter().max().copied().unwrap_or(0), counts.iter().sum::<usize>());
    largest as f64 > IMBALANCED * all as f64
}

/// The number of training labels of every class.
pub(crate) fn training_counts(labels: &Labels, train: &[u32]) -> Vec<usize> {
    let labels_of_train: Vec<u32> = train.iter().filter_map(|&entity| labels.get(entity)).collect();
    counts(&labels_of_train, labels.num_classes())
}

words! {
    /// Which figures to read first.
    pub enum Lead, "a lead" {
        /// Accuracy: three or more classes of similar sizes.
        #[default]
        Accuracy = "accuracy",
        /// ROC AUC and average precision: with two classes, or with one that has most of the labels, accuracy says
        /// little.
        Ranking = "ranking",
    }
}

impl Lead {
    /// The lead for data with these labels, of which `train` are trained on.
    pub fn of(labels: &Labels, train: &[u32]) -> Self {
        let counts = training_counts(labels, train);
        if counts.len() == 2 || is_imbalanced(&counts) { Self::Ranking } else { Self::Accuracy }
    }

    /// Every metric, the lead's first and the others in their usual order.
    pub fn order(self) -> Vec<Metric> {
        let first = self.first();
        let others = Metric::ALL.iter().filter(|metric| !first.contains(metric));
        first.iter().chain(others).copied().collect()
    }

    /// The metrics to read first.
    pub fn first(self) -> &'static [Metric] {
        match self {
            Self::Accuracy => &[Metric::Accuracy],
            Self::Ranking => &[Metric::RocAuc, Metric::AveragePrecision],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_and_imbalanced_ones_lead_with_the_ranking() {
        let lead = |labels: &[i64], train: &[u32]| Lead::of(&Labels::from_signed(labels).unwrap(), train);
        assert_eq!(lead(&[0, 1, 0, 1], &[0, 1]), Lead::Ranking);
        assert_eq!(lead(&[0, 1, 2, 2], &[0, 1, 2, 3]), Lead::Accuracy);
        assert_eq!(lead(&[0, 1, 2, 2, 2, 2], &[0, 2, 3, 4]), Lead::Ranking);
        assert_eq!(lead(&[0, 1, 2, 2, 2, 2], &[0, 1, 2, 3, 4, 5]), Lead::Accuracy);
        assert_eq!(Lead::Ranking.order()[..3], [Metric::RocAuc, Metric::AveragePrecision, Metric::Loss]);
        assert_eq!(Lead::Accuracy.order().len(), Metric::ALL.len());
    }
}
