//! `carat data`: the catalogue, statistics, conversion, linking and generators.

mod columns;
mod convert;
mod generate;
mod get;
mod info;
mod link;
mod list;
mod save;
mod statistics;

pub use save::{FolderFormat, Target};

use crate::failure::Failure;

/// List, fetch, describe, convert, link and generate datasets
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:
  carat data list
  carat data get cora citeseer
  carat data info syn-cora-h0.30-r1 --json
  carat data convert cora cora.npz
  carat data link payments.csv --by card,device --out week-1
  carat data generate planted --nodes 5000 --out planted.npz"
)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Get(get::Args),
    Info(info::Args),
    Convert(convert::Args),
    Link(link::Args),
    Generate(generate::Args),
}

/// Runs the chosen subcommand.
pub fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::List(args) => list::run(args),
        Command::Get(args) => get::run(args),
        Command::Info(args) => info::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Link(args) => link::run(args),
        Command::Generate(args) => generate::run(args),
    }
}
