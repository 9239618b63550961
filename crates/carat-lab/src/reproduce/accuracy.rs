//! The appendix's table of test accuracy with and without CAR.

use super::grid_table::GridTable;
use super::paper;
use crate::compare::Measure;

/// The item.
pub(super) fn item() -> GridTable {
    GridTable {
        name: "accuracy",
        title: "Test accuracy",
        measure: Measure::TestAccuracy,
        paper: (&paper::ACCURACY_BASELINE, &paper::ACCURACY_CAR),
        said: "CAR has a higher test accuracy in 7 of the 8 datasets (p < 0.05, one-tailed paired Wilcoxon over the \
            grid).",
        claim: "CAR raises the test accuracy",
        claimed: paper::ACCURACY_HIGHER,
    }
}
