//! `carat data convert`

use std::path::PathBuf;

use super::save::{FolderFormat, Target};
use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;

/// Write a dataset as a .npz file or as a folder of tables
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat data convert cora cora.npz
  carat data convert my-graph.npz my-folder --format parquet
  carat data convert my-folder my-graph.npz")]
pub struct Args {
    /// A name from 'carat data list', or a path to a .npz file or a folder
    #[arg(value_name = "IN")]
    input: String,
    /// Where to: a .npz file, or else a folder
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Format of the tables in a folder [default: csv]
    #[arg(long, value_enum)]
    format: Option<FolderFormat>,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    print: Format,
}

/// Reads and writes.
pub fn run(args: Args) -> Result<(), Failure> {
    let target = Target::new(&args.out, args.format)?;
    let dataset = carat_graph::open(&args.input, &args.data.path())?;
    target.save(&dataset, args.print.json)
}
