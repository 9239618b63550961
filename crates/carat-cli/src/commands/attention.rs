//! `carat attention`: a trained network's attention on every edge.

use carat::{RunFolder, tables};

use super::run_table::RunTable;
use crate::failure::Failure;
use crate::output;

/// Write a trained run's attention on every edge
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat attention --run runs/cora --out attention.parquet

One row per edge, layer and head: src, dst, layer, head, alpha; if the data has ids also src_id and dst_id, and, for \
the data that the run was trained on, dst_split (train, val or test). For a set of graphs, the first column is the \
edge's graph. Layers and heads count from 0; alpha sums to 1 over the in-edges of dst. The ending of the file decides \
whether it is CSV, Parquet or NPZ.")]
pub struct Args {
    #[command(flatten)]
    table: RunTable,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    args.table.write(
        RunFolder::open,
        |network, dataset, config| Ok((tables::attention(&network, dataset, config.optimiser.batch_size)?, ())),
        |rows, out, ()| format!("{} rows -> {out}\n", output::thousands(rows)),
    )
}
