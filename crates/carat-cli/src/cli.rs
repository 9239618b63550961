//! The root of the command line, with all commands.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    attention, bench, data, demo, effects, explain, explainers, explore, predict, report, reproduce, rewire, sweep,
    train, trust, tune,
};
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
  carat data info my-graph.npz           the same for your own graph
  carat train --data cora --out runs/plain             train a network into a run folder
  carat train --data cora --lambda 1 --out runs/car    the same, regularised
  carat tune --data my-graph.npz                       search for the settings that predict best on it
  carat predict --run runs/car --out predictions.csv   what it says about every node
  carat effects --run runs/car --out effects.csv       what every edge does to its predictions
  carat trust --run runs/car                           may its attention be read as an explanation?
  carat explainers --run runs/car                      what gradients, masks and others say, and what it is worth
  carat explain --base runs/plain --car runs/car       which edges gain and lose attention by regularisation
  carat explore runs/plain runs/car                    explore the graph in the browser
  carat rewire --base runs/plain --car runs/car        what pruning by attention does to GCNs
  carat sweep --data my-graph.npz                      many runs, to know whether CAR helps
  carat report carat.db                                their results, as a page
  carat reproduce all --quick                          the paper's tables and figures

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 the work failed, 2 the arguments or the input are \
wrong."
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
    Tune(tune::Args),
    Predict(predict::Args),
    Attention(attention::Args),
    Effects(effects::Args),
    Trust(trust::Args),
    Explainers(explainers::Args),
    Explain(explain::Args),
    Explore(explore::Args),
    Rewire(rewire::Args),
    Sweep(sweep::Args),
    Report(report::Args),
    Reproduce(reproduce::Args),
    Bench(bench::Args),
}

/// Reads the arguments and runs the command.
pub fn run() -> Result<(), Failure> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are not errors; clap prints them.
        Err(page) if !page.use_stderr() || page.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            page.exit()
        }
        Err(error) => {
            return Err(Failure::input(one_line(&error.render().to_string(), &command_path(std::env::args()))));
        }
    };
    match cli.command {
        Command::Data(args) => data::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Train(args) => train::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Attention(args) => attention::run(args),
        Command::Effects(args) => effects::run(args),
        Command::Trust(args) => trust::run(args),
        Command::Explainers(args) => explainers::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Explore(args) => explore::run(args),
        Command::Rewire(args) => rewire::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Report(args) => report::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Bench(args) => bench::run(args),
    }
}

/// A wrong argument in one line: clap's message, its tip, and which help to read.
fn one_line(rendered: &str, command: &str) -> String {
    let lines: Vec<&str> = rendered.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines.iter().position(|line| line.starts_with("Usage:") || line.starts_with("For more information"));
    let mut text = String::new();
    for line in &lines[..end.unwrap_or(lines.len())] {
        let line = line.trim_start_matches("error: ").trim_start_matches("tip: ");
        if !text.is_empty() {
            text.push_str(if text.ends_with(':') || line.starts_with('[') { " " } else { "; " });
        }
        text.push_str(line);
    }
    format!("{text}; see '{command} --help'")
}

/// The command that the arguments name, with as many subcommands as are valid.
fn command_path(arguments: impl Iterator<Item = String>) -> String {
    let root = Cli::command();
    let mut command = &root;
    let mut path = String::from("carat");
    for word in arguments.skip(1) {
        let Some(next) = command.find_subcommand(&word) else { break };
        path.push(' ');
        path.push_str(next.get_name());
        command = next;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_are_one_line() {
        let said = |args: &[&str]| {
            let rendered = Cli::try_parse_from(args).unwrap_err().render().to_string();
            one_line(&rendered, &command_path(args.iter().map(ToString::to_string)))
        };
        assert_eq!(
            said(&["carat", "data", "list", "--jsn"]),
            "unexpected argument '--jsn' found; a similar argument exists: '--json'; see 'carat data list --help'"
        );
        assert_eq!(
            said(&["carat", "data", "info"]),
            "the following required arguments were not provided: <NAME|PATH>; see 'carat data info --help'"
        );
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
