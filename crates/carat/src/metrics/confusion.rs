//! The confusion matrix, and what follows from it. With the entities of class c that are predicted as c (right), all
//! that are predicted as c, and all of class c:
//!
//! ```text
//! precision = right / predicted        recall = right / of the class        F1 = 2 right / (predicted + of the class)
//! accuracy             share of entities that are predicted right
//! balanced accuracy    mean recall over the classes that have labels
//! macro F1             mean F1 over the classes that have labels or are predicted
//! ```

use super::Predictions;
use super::ranking::mean;

/// How often each class was predicted for each class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    classes: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// Of some predictions.
    pub fn of(predictions: &Predictions) -> Self {
        let classes = predictions.classes();
        let mut counts = vec![0; classes * classes];
        for (&label, &predicted) in predictions.labels().iter().zip(predictions.predicted()) {
            counts[label as usize * classes + predicted as usize] += 1;
        }
        Self { classes, counts }
    }

    /// The rows: of the entities of one class, how many are predicted as each class.
    pub fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.classes.max(1))
    }

    /// Number of entities.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Number of entities of a class.
    pub fn support(&self, class: usize) -> u64 {
        self.counts[class * self.classes..][..self.classes].iter().sum()
    }

    /// Number of entities that are predicted as a class.
    pub fn predicted(&self, class: usize) -> u64 {
        self.rows().map(|row| row[class]).sum()
    }

    fn right(&self, class: usize) -> u64 {
        self.counts[class * self.classes + class]
    }

    /// Share of the entities predicted as a class that are of it; `None` where there are none.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share(self.right(class), self.predicted(class))
    }

    /// Share of the entities of a class that are predicted as it; `None` where there are none.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share(self.right(class), self.support(class))
    }

    /// The harmonic mean of precision and recall; `None` where the class has no label and is never predicted.
    pub fn f1(&self, class: usize) -> Option<f64> {
        share(2 * self.right(class), self.predicted(class) + self.support(class))
    }

    /// Share of entities that are predicted right.
    pub fn accuracy(&self) -> Option<f64> {
        share((0..self.classes).map(|class| self.right(class)).sum(), self.total())
    }

    /// Mean recall.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        mean((0..self.classes).filter_map(|class| self.recall(class)))
    }

    /// Mean F1.
    pub fn macro_f1(&self) -> Option<f64> {
        mean((0..self.classes).filter_map(|class| self.f1(class)))
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
