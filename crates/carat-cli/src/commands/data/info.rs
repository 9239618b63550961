//! `carat data info`

use std::path::Path;

use carat_graph::catalogue;

use super::statistics::{FamilyStatistics, Statistics};
use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;
use crate::output::show;

/// Show a dataset's sizes, splits and homophily, and what training makes of its columns
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat data info cora
  carat data info syn-cora               a family: a typical member, and every member
  carat data info my-graph.npz --json
  carat data info big.carat --verify     every byte against its checksum
  carat data info my-folder              with edges.csv and nodes.csv

For a folder of tables there is a line per column: its missing values, and what 'carat train' makes of it with \
--normalise standard, its default for folders; so there is for every feature of edges. Scales and categories are those \
of the training nodes of the first split and of their in-edges, or of all nodes if the data has no split.")]
pub struct Args {
    /// A name from 'carat data list', or a path to a .npz or .carat file or a folder
    #[arg(value_name = "NAME|PATH")]
    dataset: String,
    /// Read all of a .carat file and compare it with its checksums; other files are always read whole
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

/// Prints the statistics.
pub fn run(args: Args) -> Result<(), Failure> {
    let data_dir = args.data.path();
    if let Some(family) = catalogue::find(&args.dataset).filter(|entry| !entry.variants.is_empty()) {
        let members = family.variants.iter().map(|name| statistics(name, &data_dir));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        if let Some(whole) = FamilyStatistics::of(&family.name, members) {
            return show(args.format.json, &whole, || whole.text());
        }
    }
    let statistics = if args.verify {
        Statistics::of(&carat_graph::open_verified(&args.dataset, &data_dir)?)?
    } else {
        statistics(&args.dataset, &data_dir)?
    };
    show(args.format.json, &statistics, || statistics.text())
}

fn statistics(dataset: &str, data_dir: &Path) -> Result<Statistics, Failure> {
    Ok(Statistics::of(&carat_graph::open(dataset, data_dir)?)?)
}
