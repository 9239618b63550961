//! `carat data convert`

use std::path::{Path, PathBuf};

use super::save::{FolderFormat, Kind, Target};
use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;

/// Write a dataset as a .npz file, as a .carat file or as a folder of tables
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat data convert cora cora.npz
  carat data convert my-graph.npz my-folder --format parquet
  carat data convert my-folder my-graph.npz
  carat data convert my-folder big.carat     mapped when used, so it may be larger than memory
  carat data convert big.carat both.carat --undirected

When a folder of tables or a .npz file is converted to a .carat file, its edges are sorted on disk, in unnamed files \
in the folder of OUT, and are never all in memory.")]
pub struct Args {
    /// A name from 'carat data list', or a path to a .npz or .carat file or a folder
    #[arg(value_name = "IN")]
    input: String,
    /// Where to write: a .npz file, a .carat file, or else a folder
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// What to write [default: by the ending of OUT]
    #[arg(long, value_enum, value_name = "KIND")]
    to: Option<Kind>,
    /// Add the reverse of every edge, as --undirected of 'carat train' does
    #[arg(long)]
    undirected: bool,
    /// Format of the tables in a folder [default: csv]
    #[arg(long, value_enum)]
    format: Option<FolderFormat>,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    print: Format,
}

/// Converts a dataset.
pub fn run(args: Args) -> Result<(), Failure> {
    let target = Target::new(&args.out, args.format)?;
    if let Some(kind) = args.to {
        target.check(kind)?;
    }
    let data_dir = args.data.path();
    let dataset = match &target {
        Target::Carat(path) => {
            let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let dataset = carat_graph::open_on_disk(&args.input, &data_dir, beside)?;
            if args.undirected { dataset.undirected_on_disk(beside)? } else { dataset }
        }
        _ => {
            let dataset = carat_graph::open(&args.input, &data_dir)?;
            if args.undirected { dataset.undirected()? } else { dataset }
        }
    };
    target.save(&dataset, args.print.json)
}
