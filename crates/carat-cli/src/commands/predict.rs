//! `carat predict`: what a trained network says about every node.

use std::path::PathBuf;

use carat::{RunFolder, tables, with_threads};
use carat_graph::table::check_ending;
use serde_json::json;

use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;
use crate::output;

/// Predict every node's class with a trained run
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat predict --run runs/cora --out predictions.csv
  carat predict --run runs/cora --data newer-graph.npz --out predictions.parquet

One row per node: node, label (-1 where missing), predicted, loss, the node's name where the data has names, and the
probability of every class p_0 ... The file is CSV, Parquet or NPZ by its ending.")]
pub struct Args {
    #[command(flatten)]
    pub(super) source: Source,
    /// File to write: .csv, .csv.gz, .parquet or .npz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

/// A trained run, and the graph to use it on.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// Run folder, as made by 'carat train'
    #[arg(long, value_name = "DIR")]
    pub(super) run: PathBuf,
    /// Dataset name or path [default: what the run was trained on]
    #[arg(long, value_name = "NAME|PATH")]
    pub(super) data: Option<String>,
    #[command(flatten)]
    pub(super) data_folder: DataFolder,
}

impl Source {
    /// Opens both.
    pub(super) fn open(&self) -> Result<(carat::TrainConfig, carat_nn::Network<f32>, carat_graph::Dataset), Failure> {
        let (config, network) = RunFolder::new(&self.run).open()?;
        let data = self.data.as_deref().unwrap_or(&config.data);
        let dataset = carat_graph::open(data, &self.data_folder.path())?;
        Ok((config, network, dataset))
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    check_ending(&args.out)?;
    let (config, network, dataset) = args.source.open()?;
    let table = with_threads(args.threads.threads, || tables::predictions(&network, &dataset, config.batch_size))??;
    table.write(&args.out)?;
    let (rows, out) = (table.num_rows(), args.out.display().to_string());
    output::show(args.format.json, &json!({ "rows": rows, "out": out }), || {
        format!("{} nodes -> {out}\n", output::thousands(rows as u64))
    })
}
