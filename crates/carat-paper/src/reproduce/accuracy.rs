//! The appendix's table of test accuracy with and without CAR.

use carat_lab::compare::Measure;

use super::grid_table::GridTable;
use super::paper;

/// The item.
pub(super) static ITEM: GridTable = GridTable {
    name: "accuracy",
    title: "Test accuracy",
    measure: Measure::TestAccuracy,
    paper: (&paper::ACCURACY_BASELINE, &paper::ACCURACY_CAR),
    paper_says: "CAR has a higher test accuracy in 7 of the 8 datasets (p < 0.05, one-tailed paired Wilcoxon over the grid).",
    claim: "CAR raises the test accuracy",
    claimed: paper::ACCURACY_HIGHER,
};
