//! The root of the command line: which commands there are.

use clap::{Parser, Subcommand};

use crate::commands::{attention, bench, data, demo, predict, train};
use crate::failure::Failure;

/// Graph attention networks whose attention can be trusted.
#[derive(Debug, Parser)]
#[command(
    name = "carat",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:
  carat demo                             a first look, without any data
  carat data list                        the public datasets
  carat data get cora                    fetch one
  carat data info cora                   its sizes, splits and homophily
  carat data info my-graph.npz           the same of your own graph
  carat train --data cora                train a network into a run folder
  carat predict --run runs/... --out predictions.csv

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 the work failed, 2 the arguments or the input are wrong."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One variant per command, each in a file of its own under `commands/`.
#[derive(Debug, Subcommand)]
enum Command {
    Data(data::Args),
    Demo(demo::Args),
    Train(train::Args),
    Predict(predict::Args),
    Attention(attention::Args),
    Bench(bench::Args),
}

/// Reads the arguments and runs the command. Wrong arguments end the process with exit code 2.
pub fn run() -> Result<(), Failure> {
    match Cli::parse().command {
        Command::Data(args) => data::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Train(args) => train::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Attention(args) => attention::run(args),
        Command::Bench(args) => bench::run(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
