//! Table 1: test loss with and without CAR.

use carat_lab::compare::Measure;

use super::grid_table::GridTable;
use super::paper;

/// The item.
pub(super) static ITEM: GridTable = GridTable {
    name: "table1",
    title: "Table 1: test loss",
    measure: Measure::TestLoss,
    paper: (&paper::LOSS_BASELINE, &paper::LOSS_CAR),
    paper_says: "CAR has a lower test loss in all 8 datasets (p < 0.05, one-tailed paired Wilcoxon over the grid).",
    claim: "CAR lowers the test loss",
    claimed: paper::LOSS_LOWER,
};
