//! What there is to say of predictions beyond single numbers: the confusion matrix, the figures of every class, and the
//! bins of a reliability plot.

use serde::{Deserialize, Serialize};

use super::ranking::{mean, of_all};
use super::{Bin, Predictions, calibration};

/// Some predictions in detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Number of entities.
    pub entities: u64,
    /// Every class, in order.
    pub classes: Vec<ClassFigures>,
    /// A row per class of the labels: how many of its entities were predicted as each class.
    pub confusion: Vec<Vec<u64>>,
    /// The bins that have entities, by rising confidence; `None` where a probability is NaN.
    pub reliability: Option<Vec<Bin>>,
    /// Of two classes, the number of the one that ROC AUC and average precision are of. Older files lack it.
    #[serde(default = "class_1")]
    pub positive: usize,
}

fn class_1() -> usize {
    1
}

/// The figures of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassFigures {
    /// Its name in the data, or its number.
    pub class: String,
    /// Entities of the class.
    pub support: u64,
    /// Entities predicted as it.
    pub predicted: u64,
    /// Share of those predicted as it that are of it.
    pub precision: Option<f64>,
    /// Share of those of the class that are predicted as it.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
    /// ROC AUC of the class's probability, against the rest.
    pub roc_auc: Option<f64>,
    /// Average precision of the class's probability, against the rest.
    pub average_precision: Option<f64>,
}

impl Evaluation {
    /// Of some predictions.
    pub fn of(predictions: &Predictions) -> Self {
        let (confusion, ranking) = (predictions.confusion(), predictions.ranking());
        let class = |class: usize| ClassFigures {
            class: class.to_string(),
            support: confusion.support(class),
            predicted: confusion.predicted(class),
            precision: confusion.precision(class),
            recall: confusion.recall(class),
            f1: confusion.f1(class),
            roc_auc: ranking.classes[class].map(|[auc, _]| auc),
            average_precision: ranking.classes[class].map(|[_, precision]| precision),
        };
        Self {
            entities: confusion.total(),
            classes: (0..predictions.classes()).map(class).collect(),
            confusion: confusion.rows().map(<[u64]>::to_vec).collect(),
            reliability: calibration::reliability(predictions),
            positive: predictions.positive(),
        }
    }

    /// The same with the names of the classes, where the data has them.
    #[must_use]
    pub fn with_names(mut self, names: Option<&[String]>) -> Self {
        for (class, name) in self.classes.iter_mut().zip(names.unwrap_or_default()) {
            class.class.clone_from(name);
        }
        self
    }

    /// Of two classes, the one that ROC AUC and average precision are of.
    pub fn positive_class(&self) -> Option<&ClassFigures> {
        if self.classes.len() == 2 { self.classes.get(self.positive) } else { None }
    }

    /// Share of entities that are predicted right.
    pub fn accuracy(&self) -> Option<f64> {
        let right: u64 = self.confusion.iter().enumerate().filter_map(|(class, row)| row.get(class)).sum();
        (self.entities > 0).then(|| right as f64 / self.entities as f64)
    }

    /// Mean recall over the classes that have labels.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        mean(self.classes.iter().filter_map(|class| class.recall))
    }

    /// Mean F1 over the classes that have labels or are predicted.
    pub fn macro_f1(&self) -> Option<f64> {
        mean(self.classes.iter().filter_map(|class| class.f1))
    }

    /// ROC AUC of the positive class where there are two, or the mean over the classes that have it.
    pub fn roc_auc(&self) -> Option<f64> {
        of_all(self.classes.iter().map(|class| class.roc_auc), self.positive)
    }

    /// Average precision, likewise.
    pub fn average_precision(&self) -> Option<f64> {
        of_all(self.classes.iter().map(|class| class.average_precision), self.positive)
    }

    /// The calibration error; `None` where there is no entity or a probability is NaN.
    pub fn calibration_error(&self) -> Option<f64> {
        calibration::calibration_error(self.reliability.as_ref()?)
    }
}
