//! `carat reproduce`: the paper's tables and figures, computed here.

use std::path::PathBuf;

use carat_graph::catalogue;
use carat_lab::sweep::{merge, open_datasets};
use carat_paper::reproduce::{self, Item, Scope, Studies};
use serde::Serialize;

use super::report::{check_out, write_and_show};
use super::sweeper::Sweeper;
use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;
use crate::output;

/// Compute the paper's tables and figures, and compare each with the paper's
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat reproduce                          list the items
  carat reproduce all --quick              every item on a small subset, in minutes
  carat reproduce table1 figure2           two items, the paper's whole grid
  carat reproduce all --data cora,citeseer --store paper.db --out paper

Items share runs, and the store keeps every run: no run is computed twice, and the same command resumes one that was \
stopped. Datasets that are not in the data folder are skipped and listed; 'carat data get NAME' downloads them. The \
report always has both protocols: the paper's, which keeps the last weights, and the practitioner's, which keeps the \
best. 'runtime' also times PyTorch Geometric if the variable CARAT_PYTHON names a Python that has it.")]
pub struct Args {
    /// Items to compute, or 'all'; without items, lists them
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Compute a documented subset of each item's grid, which takes minutes
    #[arg(long)]
    quick: bool,
    /// Only these datasets [default: those of the paper that are in the data folder]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    data: Vec<String>,
    /// Seeds 0 to N - 1 of every setting
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Splits 0 to N - 1 of datasets that have several
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10))]
    splits: u32,
    /// Compute failed runs again
    #[arg(long)]
    retry_failed: bool,
    /// The store, a SQLite file; created if missing
    #[arg(long, value_name = "FILE", default_value = "carat-reproduce.db")]
    store: PathBuf,
    /// The folder of the report
    #[arg(long, value_name = "DIR", default_value = "carat-reproduce")]
    out: PathBuf,
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

/// An item of the list.
#[derive(Serialize)]
struct Listed {
    item: &'static str,
    title: &'static str,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let all = reproduce::items();
    if args.items.is_empty() {
        return list(&all, args.format.json);
    }
    let items = chosen(&all, &args.items)?;
    check_out(&args.out)?;
    let scope = scope(&args)?;
    let mut runs = Vec::new();
    for item in &items {
        for grid in item.grids(&scope) {
            runs.extend(grid.runs()?);
        }
    }
    output::check_folder_of("--store", &args.store)?;
    let datasets = open_datasets(&runs, &scope.data_dir)?;
    let sweeper = Sweeper::open(&args.store, &datasets, &args.threads)?;
    let tally = sweeper.compute(&runs, (0, 1), args.retry_failed)?;
    let store = sweeper.finish();
    if tally.left > 0 {
        let (left, store) = (tally.left, args.store.display());
        return Err(Failure::work(format!(
            "stopped with {left} runs left; the same command goes on, 'carat report {store}' shows what there is"
        )));
    }
    let mut merged = merge(&[store])?;
    let synthetic = || scope.synthetic.iter().map(|(name, _)| name);
    let in_scope = |data: &str| scope.datasets.iter().chain(synthetic()).chain(&scope.graph_sets).any(|d| d == data);
    merged.retain(in_scope);
    let studies = Studies::of(&items, &merged.runs, &scope)?;
    let report = reproduce::report(&merged, &items, &scope, &studies)?;
    write_and_show(&report, &merged, &args.out, args.format.json)?;
    if tally.failed > 0 {
        let (failed, runs) = (tally.failed, tally.runs);
        return Err(Failure::work(format!(
            "{failed} of {runs} runs failed and are left out; --retry-failed computes them again"
        )));
    }
    Ok(())
}

/// What to compute, on the datasets in the data folder.
fn scope(args: &Args) -> Result<Scope, Failure> {
    let scope = Scope::at(&args.data_folder.path());
    let is_there = |data: &String| scope.datasets.contains(data) || scope.graph_sets.contains(data);
    if let Some(missing) = args.data.iter().find(|data| !is_there(data)) {
        let known = catalogue::find(missing).is_some();
        return Err(Failure::input(if known {
            format!("{missing} is not in the data folder, or not a dataset of the paper; see 'carat data list'")
        } else {
            format!("there is no dataset '{missing}'; see 'carat data list'")
        }));
    }
    let (quick, seeds, splits) =
        (args.quick, (0..u64::from(args.seeds)).collect(), (0..args.splits as usize).collect());
    let chosen = |data: &String| args.data.is_empty() || args.data.contains(data);
    let datasets: Vec<String> = scope.datasets.iter().filter(|data| chosen(data)).cloned().collect();
    let graph_sets: Vec<String> = scope.graph_sets.iter().filter(|data| chosen(data)).cloned().collect();
    if datasets.is_empty() && graph_sets.is_empty() && scope.synthetic.is_empty() {
        let folder = scope.data_dir.display();
        return Err(Failure::input(format!(
            "no dataset of the paper is in {folder}; 'carat data get cora' fetches one"
        )));
    }
    Ok(Scope { quick, seeds, splits, datasets, graph_sets, ..scope })
}

fn list(items: &[&dyn Item], json: bool) -> Result<(), Failure> {
    let listed: Vec<Listed> =
        items.iter().map(|item| Listed { item: item.name(), title: item.about().title }).collect();
    output::show(json, &listed, || {
        let rows: Vec<Vec<String>> =
            listed.iter().map(|listed| vec![listed.item.to_string(), listed.title.to_string()]).collect();
        let table = output::table(&["item", "what it is"], &rows);
        format!("{table}\n'carat reproduce ITEM' computes one, 'carat reproduce all --quick' a subset of all.\n")
    })
}

/// The items of these names, in the report's order.
fn chosen(all: &[&'static dyn Item], names: &[String]) -> Result<Vec<&'static dyn Item>, Failure> {
    let known: Vec<&str> = all.iter().map(|item| item.name()).collect();
    if let Some(unknown) = names.iter().find(|name| *name != "all" && !known.contains(&name.as_str())) {
        return Err(Failure::input(format!("there is no item '{unknown}'; there are: {}, all", known.join(", "))));
    }
    let asked = |item: &dyn Item| names.iter().any(|name| name == "all" || name == item.name());
    Ok(all.iter().copied().filter(|item| asked(*item)).collect())
}
