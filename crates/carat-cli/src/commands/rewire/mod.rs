//! `carat rewire`: prunes a graph by attention, and trains GCNs on the result.

mod apply;
mod study;

use std::path::PathBuf;

use carat::rewire::THRESHOLDS;
use carat::{Error, Protocol, RunFolder, TrainConfig, mean_attention};
use carat_graph::Dataset;
use carat_nn::{GcnNorm, Network};

use super::data::FolderFormat;
use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;

/// Prune a graph by a trained run's attention: compare thresholds, or write the pruned graph
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat rewire --base runs/plain --car runs/car             curves and areas, in carat-rewire/index.html
  carat rewire --car runs/car --thresholds 0,0.05,0.1,0.2 --trials 10 --out pruning
  carat rewire --run runs/car --apply 0.1 --out pruned.npz  the graph without edges below 0.1
  carat rewire --run runs/car --apply 0.1 --out pruned --format parquet

Every edge is scored by its attention, the mean over layers and heads. At each threshold the edges below it are \
removed, and graph convolution networks (GCNs) are trained and tested on the remaining graph. The control is graphs \
with as many edges, drawn at random. The area of a curve is the area under it and above the accuracy of GCNs on the \
whole graph.

GCNs are trained on the runs' own split, with the width, the layers, the learning rate and the stopping rule of the \
first run. With --splits N they are trained on splits 0 to N - 1; but the runs have seen the labels of their own \
training nodes, which may be test nodes of another split, so these curves overstate attention. 'carat reproduce \
rewiring' trains new attention networks for every split.

The folder gets index.html, curve.csv, areas.csv and more. With --apply, OUT is a .npz file, a .carat file, or else a \
folder of tables, as in 'carat data convert'.")]
pub struct Args {
    /// Run without CAR, whose attention prunes
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// Run with CAR, whose attention prunes
    #[arg(long, value_name = "DIR")]
    car: Option<PathBuf>,
    /// Run whose attention --apply prunes by
    #[arg(long, value_name = "DIR", requires = "apply", conflicts_with_all = ["base", "car"])]
    run: Option<PathBuf>,
    /// Write the graph without the edges whose attention is below this
    #[arg(long, value_name = "THRESHOLD", requires = "run", requires = "out", allow_negative_numbers = true)]
    apply: Option<f64>,
    /// Dataset name or path [default: what the runs were trained on]
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Train GCNs on splits 0 to N - 1 [default: on the runs' own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "apply")]
    splits: Option<u32>,
    /// GCNs per split and pruned graph, each with its own seed
    #[arg(long, value_name = "N", default_value_t = 5, conflicts_with = "apply")]
    trials: usize,
    /// Thresholds to prune at, ascending; above 1 no edge remains
    #[arg(long, value_name = "T,T", value_delimiter = ',', default_values_t = THRESHOLDS, allow_negative_numbers = true,
          conflicts_with = "apply")]
    thresholds: Vec<f64>,
    /// Weight of an in-edge in a GCN: symmetric (1 / sqrt(d_i d_j), with self-loops) or none (1, a plain sum)
    #[arg(long, value_name = "NORM", default_value_t, conflicts_with = "apply")]
    gcn_norm: GcnNorm,
    /// Width of the GCNs [default: the run's]
    #[arg(long, value_name = "F", conflicts_with = "apply")]
    hidden: Option<usize>,
    /// Layers of the GCNs [default: the run's]
    #[arg(long, value_name = "L", conflicts_with = "apply")]
    layers: Option<usize>,
    /// Stopping rule of the GCNs: best or paper [default: the run's]
    #[arg(long, value_name = "RULE", conflicts_with = "apply")]
    protocol: Option<Protocol>,
    /// The first seed of the GCNs [default: the run's]
    #[arg(long, value_name = "N", conflicts_with = "apply")]
    seed: Option<u64>,
    /// Folder to write; with --apply, the graph to write [default: carat-rewire]
    #[arg(long, value_name = "OUT")]
    out: Option<PathBuf>,
    /// Format of the tables in a folder that --apply writes [default: csv]
    #[arg(long, value_enum, requires = "apply")]
    format: Option<FolderFormat>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    print: Format,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    match (args.apply, &args.run) {
        (Some(threshold), Some(run)) => apply::run(&args, run, threshold),
        _ => study::run(&args),
    }
}

/// A trained run to prune by.
struct Guiding {
    path: PathBuf,
    config: TrainConfig,
    network: Network<f32>,
}

impl Guiding {
    fn open(path: &PathBuf) -> Result<Self, Failure> {
        let (config, network) = RunFolder::new(path).open()?;
        Ok(Self { path: path.clone(), config, network })
    }

    /// The score of every edge.
    fn scores(&self, dataset: &Dataset) -> Result<Vec<f32>, Error> {
        let (dataset, _) = RunFolder::new(&self.path).prepare(dataset)?;
        mean_attention(&self.network, &dataset, self.config.optimiser.batch_size)
    }
}
