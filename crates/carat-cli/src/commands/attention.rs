//! `carat attention`: how a trained network weighs every edge.

use std::path::PathBuf;

use carat::{tables, with_threads};
use carat_graph::table::check_ending;
use serde_json::json;

use super::predict::Source;
use crate::arguments::{Format, Threads};
use crate::failure::Failure;
use crate::output;

/// Write a trained run's attention on every edge
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat attention --run runs/cora --out attention.parquet

One row per edge, layer and head: src, dst, layer, head, alpha. Layers and heads count from 0; alpha sums to 1 over the
in-edges of dst. The file is CSV, Parquet or NPZ by its ending.")]
pub struct Args {
    #[command(flatten)]
    source: Source,
    /// File to write: .csv, .csv.gz, .parquet or .npz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    check_ending(&args.out)?;
    let (config, network, dataset) = args.source.open()?;
    let table = with_threads(args.threads.threads, || tables::attention(&network, &dataset, config.batch_size))??;
    table.write(&args.out)?;
    let (rows, out) = (table.num_rows(), args.out.display().to_string());
    output::show(args.format.json, &json!({ "rows": rows, "out": out }), || {
        let edges = dataset.graph().num_edges() as u64;
        format!("{} rows for {} edges -> {out}\n", output::thousands(rows as u64), output::thousands(edges))
    })
}
