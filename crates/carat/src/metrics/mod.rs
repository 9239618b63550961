//! Figures of predictions: how good class probabilities are, measured in the ways that practitioners ask for.
//!
//! [`Predictions`] collects probabilities and labels. An [`Evaluation`] of them has the confusion matrix, the figures
//! of every class and the bins of a reliability plot, and [`Figures`] the numbers that sum them up.
//!
//! ```
//! use carat::metrics::{Evaluation, Figures, Predictions};
//!
//! let probabilities = [0.9, 0.1, 0.4, 0.6, 0.2, 0.8, 0.7, 0.3];
//! let predictions = Predictions::from_probabilities(2, &probabilities, &[0, 0, 1, 1]);
//! let evaluation = Evaluation::of(&predictions);
//! let figures = Figures::of(&predictions, &evaluation);
//! assert_eq!((figures.accuracy, figures.roc_auc), (Some(0.5), Some(0.75)));
//! assert_eq!(evaluation.confusion, [[1, 1], [1, 1]]);
//! ```
//!
//! A figure that has no meaning is missing, never 0 and never an error:
//!
//! | case | what is missing |
//! |---|---|
//! | no entity | everything |
//! | all labels are of one class | ROC AUC and average precision |
//! | a class without labels | its recall, ROC AUC and average precision; the means are over the other classes |
//! | a class that is never predicted | its precision |
//! | a class that is neither | its F1 too, and macro F1 is over the other classes |
//! | a probability is NaN | ROC AUC, average precision, calibration error and Brier score |
//!
//! Where scikit-learn answers, the answers are equal.

mod calibration;
mod confusion;
mod evaluation;
mod figures;
mod lead;
mod predictions;
mod ranking;

pub use calibration::{BINS, Bin};
pub use confusion::Confusion;
pub use evaluation::{ClassFigures, Evaluation};
pub use figures::{Figure, Figures, Metric, RunFigures, Subset};
pub use lead::{IMBALANCED, Lead};
pub(crate) use lead::{is_imbalanced, training_counts};
pub use predictions::Predictions;
pub use ranking::{Ranking, average_precision, roc_auc};
