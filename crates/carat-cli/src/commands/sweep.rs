//! `carat sweep`: a grid of runs into a store.

use std::path::{Path, PathBuf};

use carat::Preset;
use carat_lab::sweep::{Grid, Tally, open_datasets};
use serde::Serialize;

use super::sweeper::Sweeper;
use crate::arguments::{DataFolder, Format, Threads, absolute_if_there};
use crate::failure::Failure;
use crate::output;

/// Compute a grid of runs, one per core, into a store; sweeps can be stopped, shared and resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat sweep --data my-graph.npz                    does CAR help on your graph? (grid small)
  carat sweep --data cora --grid paper --store cora.db
  carat sweep --grid mine.toml --store mine.db       lists of settings, as below
  carat sweep --data cora --grid paper --store part2.db --shard 2/8
                                                     the second of eight shares
  carat report part1.db part2.db                     tables and figures from one or several stores

A grid file gives any setting of 'carat train' one value or a list of them:

  data = [\"cora\", \"citeseer\"]
  arch = [\"gat\", \"transformer\"]
  lambda = [0, 1, 5]
  regulariser = [\"causal\", \"constant\"]
  protocol = [\"paper\", \"best\"]
  preset = \"strong\"        # what all other settings stand on; the paper's defaults without it
  seeds = 3                # seed = [0, 1, 2]; splits = 10 likewise

Built-in grids: 'small' (preset strong, 3 kinds x L 1,2 x F 32,128 x lambda 0,0.5,1,5, CAR and its constant
control, 3 seeds) and 'paper' (its networks, 3 kinds x L 1,2 x K 1,3,5 x F 10,25,100,200 x lambda 0,0.1,0.5,1,5,
under both protocols). A finished run is stored under a hash of its settings, its data and the code. The same
command resumes a sweep that was stopped or killed. Several processes may share one store. Each run
uses one thread and gives the same bits as 'carat train'.")]
pub struct Args {
    /// Datasets: names from 'carat data list' or paths; in place of the grid's
    #[arg(long, value_name = "NAME|PATH", value_delimiter = ',')]
    data: Vec<String>,
    /// paper, small, or a TOML file
    #[arg(long, value_name = "GRID", default_value = "small")]
    grid: String,
    /// What the grid's settings stand on: paper, gat, strong or tuned [default: the grid's, else paper]
    #[arg(long, value_name = "NAME")]
    preset: Option<Preset>,
    /// Seeds 0 to N - 1, in place of the grid's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// Splits 0 to N - 1, in place of the grid's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    splits: Option<u32>,
    /// The store, a SQLite file; created if missing
    #[arg(long, value_name = "FILE", default_value = "carat.db")]
    store: PathBuf,
    /// Compute only share I of N
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = parse_shard)]
    shard: (usize, usize),
    /// Compute failed runs again
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

/// "2/8" as (1, 8).
fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    match numbers {
        Some((share, count)) if (1..=count).contains(&share) => Ok((share - 1, count)),
        _ => Err("a share like 2/8 is needed, from 1/8 to 8/8".into()),
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    store: &'a str,
    #[serde(flatten)]
    tally: Tally,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let grid = read_grid(&args)?;
    let runs = grid.runs()?;
    let data_dir = args.data_folder.path();
    output::check_folder_of("--store", &args.store)?;
    let datasets = open_datasets(&runs, &data_dir)?;
    let sweeper = Sweeper::open(&args.store, &datasets, &args.threads)?;
    let tally = sweeper.compute(&runs, args.shard, args.retry_failed)?;
    sweeper.finish();
    let path = args.store.display().to_string();
    output::show(args.format.json, &Printed { store: &path, tally }, || text(&path, tally))?;
    if tally.left > 0 {
        return Err(Failure::work(format!(
            "stopped with {} of {} runs left; the same command goes on",
            tally.left, tally.runs
        )));
    }
    if tally.failed > 0 {
        return Err(Failure::work(format!(
            "{} of {} runs failed; 'carat report {path}' lists their errors, --retry-failed computes them again",
            tally.failed, tally.runs
        )));
    }
    Ok(())
}

fn read_grid(args: &Args) -> Result<Grid, Failure> {
    let built_in = |grid: fn(&str) -> Grid| {
        if args.data.is_empty() {
            let problem = format!("--grid {} needs --data: a name from 'carat data list', or a path", args.grid);
            return Err(Failure::input(problem));
        }
        Ok(grid(&args.data[0]))
    };
    let mut grid = match args.grid.as_str() {
        "paper" => built_in(Grid::paper)?,
        "small" => built_in(Grid::small)?,
        file => {
            let path = Path::new(file);
            if !path.exists() {
                return Err(Failure::input(format!(
                    "--grid {file}: neither a built-in grid (paper, small) nor a file; see 'carat sweep --help'"
                )));
            }
            let text = std::fs::read_to_string(path).map_err(|e| carat_graph::DataError::read(path, e))?;
            Grid::from_toml(&text, path)?
        }
    };
    if !args.data.is_empty() {
        grid = grid.with("data", args.data.iter().map(|data| absolute_if_there(data)));
    } else if !grid.has("data") {
        return Err(Failure::input(format!("--data is missing, and {} names no data either", args.grid)));
    }
    if let Some(preset) = args.preset {
        grid = grid.with("preset", [preset.name()]);
    }
    if let Some(seeds) = args.seeds {
        grid = grid.with("seed", 0..i64::from(seeds));
    }
    if let Some(splits) = args.splits {
        grid = grid.with("split", 0..i64::from(splits));
    }
    Ok(grid)
}

fn text(path: &str, tally: Tally) -> String {
    let Tally { runs, found, computed, failed, left } = tally;
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    let left = if left > 0 { format!(", {left} left") } else { String::new() };
    format!(
        "{runs} runs: {computed} computed, {found} already in {path}{failed}{left}\nTables and figures: carat report \
         {path}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_from_one() {
        assert_eq!(parse_shard("2/8"), Ok((1, 8)));
        assert_eq!(parse_shard("1/1"), Ok((0, 1)));
        for wrong in ["0/8", "9/8", "2", "a/b", "-1/2", "1/0", ""] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }
}
