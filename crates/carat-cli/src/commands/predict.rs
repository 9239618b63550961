//! `carat predict`: a trained network's prediction for every node or graph.

use carat::{RunFolder, tables};

use super::run_table::RunTable;
use crate::failure::Failure;
use crate::output;

/// Predict the class of every node, or of every graph, with a trained run
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat predict --run runs/cora --out predictions.csv
  carat predict --run runs/cora --data newer-graph.npz --out predictions.parquet

One row per node, or per graph if the run classifies graphs: node (or graph), id if the data has ids, label, predicted, \
loss, split (train, val or test; only for the data that the run was trained on), the node's name if the data has names, \
and the probability of every class. Classes are named as in the training data (p_fraud, p_ok), or numbered (p_0, p_1) \
if they have no names. Labels may be missing: empty, or -1 for a numbered class.

Columns of a folder of tables are matched by name, in any order, and scaled and filled in as in training; docs/tables.md \
has the details. The ending of the file decides whether it is CSV, Parquet or NPZ.")]
pub struct Args {
    #[command(flatten)]
    table: RunTable,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    args.table.write(
        RunFolder::open_model,
        |mut model, dataset, config| tables::predictions_of(&mut model, dataset, config.optimiser.batch_size),
        |rows, out| format!("{} predictions -> {out}\n", output::thousands(rows)),
    )
}
