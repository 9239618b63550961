//! What a model said of some labelled entities.

use carat_nn::{Pass, loss};

use super::ranking::{Ranking, ranking};
use super::{Confusion, calibration};

/// Class probabilities, predicted classes and labels of some nodes or graphs.
///
/// Probabilities are f32, as in the files of `carat predict`, so that figures computed from those files are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    classes: usize,
    labels: Vec<u32>,
    predicted: Vec<u32>,
    /// Row by row.
    probabilities: Vec<f32>,
    /// The sum of the cross-entropies.
    loss: f64,
    /// Of two classes, the one that figures are of.
    positive: usize,
}

impl Predictions {
    /// Of nothing yet.
    pub fn new(classes: usize) -> Self {
        Self { classes, labels: Vec::new(), predicted: Vec::new(), probabilities: Vec::new(), loss: 0.0, positive: 1 }
    }

    /// The same with another positive class than class 1. With more than two classes it has no meaning.
    #[must_use]
    pub fn with_positive(self, positive: usize) -> Self {
        Self { positive, ..self }
    }

    /// Of a row of probabilities per label. The predicted class is the most probable one, and the first of equals.
    pub fn from_probabilities(classes: usize, probabilities: &[f32], labels: &[u32]) -> Self {
        let mut predictions = Self::new(classes);
        for (row, &label) in probabilities.chunks(classes.max(1)).zip(labels) {
            if let Some(&own) = row.get(label as usize) {
                predictions.push(row, loss::argmax(row) as u32, label, -f64::from(own).ln());
            }
        }
        predictions
    }

    /// Adds an entity: its class scores, before the softmax, and its label. One whose label is no class of the model is
    /// left out.
    pub fn add(&mut self, scores: &[f32], label: u32) {
        if scores.len() != self.classes || label as usize >= self.classes {
            return;
        }
        self.loss += f64::from(loss::cross_entropy(scores, label as usize));
        self.labels.push(label);
        self.predicted.push(loss::argmax(scores) as u32);
        let start = self.probabilities.len();
        self.probabilities.resize(start + self.classes, 0.0);
        loss::softmax(scores, &mut self.probabilities[start..]);
    }

    /// Adds the entities of a pass, which have these labels.
    pub(crate) fn add_pass(&mut self, pass: &dyn Pass<f32>, labels: &[u32]) {
        let rows = pass.scores().chunks_exact(self.classes.max(1)).zip(labels);
        rows.for_each(|(scores, &label)| self.add(scores, label));
    }

    /// Adds an entity whose probabilities, predicted class and cross-entropy are known. One that does not fit is left
    /// out.
    pub(crate) fn push(&mut self, probabilities: &[f32], predicted: u32, label: u32, loss: f64) {
        let classes = self.classes;
        if probabilities.len() == classes && (label as usize) < classes && (predicted as usize) < classes {
            self.probabilities.extend_from_slice(probabilities);
            self.predicted.push(predicted);
            self.labels.push(label);
            self.loss += loss;
        }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Of two classes, the one that ROC AUC and average precision are of.
    pub fn positive(&self) -> usize {
        self.positive
    }

    /// Of two classes, the one with fewer labels; class 1 where both have as many.
    pub fn rarer_class(&self) -> usize {
        let of_class_1 = self.labels.iter().filter(|label| **label == 1).count();
        usize::from(2 * of_class_1 <= self.len())
    }

    /// Number of entities.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label of every entity.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The class predicted for every entity.
    pub fn predicted(&self) -> &[u32] {
        &self.predicted
    }

    /// The probabilities, row by row.
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }

    /// Mean cross-entropy; `None` where there is no entity.
    pub fn loss(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.loss / self.len() as f64)
    }

    /// The confusion matrix. It costs one pass over the entities, so it can be had every epoch.
    pub fn confusion(&self) -> Confusion {
        Confusion::of(self)
    }

    /// ROC AUC and average precision by class. It costs one sort per class, so it can be had every epoch.
    pub fn ranking(&self) -> Ranking {
        ranking(self)
    }

    /// Brier score, see the file of calibration; `None` where there is no entity or a probability is NaN.
    pub fn brier(&self) -> Option<f64> {
        calibration::brier(self)
    }
}
