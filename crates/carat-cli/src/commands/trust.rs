//! `carat trust`: may the attention of a run be read as an explanation?

use std::ops::ControlFlow;
use std::path::PathBuf;

use carat::trust::{Observed, Trust, TrustSettings, trust};
use carat::{EffectSettings, NodeChoice, RunFolder, TrainConfig, tables, with_threads};
use carat_graph::Dataset;
use carat_graph::table::Table;
use carat_report::{self as pages, Block};
use serde::Serialize;

use super::report::{check_out, write, write_file};
use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// Measure whether the attention of a trained run may be read as an explanation of its predictions
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat trust --run runs/cora                          writes carat-trust/index.html and more
  carat trust --run runs/cora --nodes all --out trust
  carat trust --run runs/cora --data newer-graph.npz   on other data; labels are not needed
  carat trust --run runs/mutag --graphs test --json    all measures as one JSON document

What an edge does to a prediction is measured exactly, by deleting it. The answer compares that with attention, for \
every layer and head: by correlation (faithfulness, to the true class; self-faithfulness, to the predicted one), and \
by deleting edges in the order of their attention and watching the predictions.

The folder gets index.html (one file that opens from disk), report.md, the tables as CSV, the figures as SVG, \
trust.json (all measures), nodes.csv (every node that can be judged; of a set of graphs, graphs.csv) and edges.csv: \
every edge with its attention, the mean over layers and heads, beside the columns of 'carat effects'.")]
pub struct Args {
    /// Run folder, as made by 'carat train'
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
    /// Nodes, or graphs, whose edges are measured: train, val, test (of the run's split), or all
    #[arg(long, visible_alias = "graphs", value_name = "WHICH", default_value = "test")]
    nodes: NodeChoice,
    /// Dataset name or path [default: what the run was trained on]
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Folder to write
    #[arg(long, value_name = "DIR", default_value = "carat-trust")]
    out: PathBuf,
    /// Most nodes, or graphs, whose edges are deleted in order for curves
    #[arg(long, value_name = "N", default_value_t = 1000)]
    curve_nodes: usize,
    /// Seeds the draw of these nodes and the random order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    printed: Format,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    out: String,
    files: usize,
    answer: &'static str,
    sentence: String,
    #[serde(flatten)]
    found: &'a Trust,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    check_out(&args.out)?;
    let folder = RunFolder::new(&args.run);
    let (config, network) = folder.open()?;
    let dataset = config.open(args.data.as_deref(), &args.data_folder.path())?;
    config.task_for(&dataset)?;
    let (dataset, notes) = folder.prepare(&dataset)?;
    output::notes(&notes);
    let entities = args.nodes.nodes(&dataset, &config)?;
    let interrupted = interrupt::flag()?;
    let progress = Progress::new("edges");
    let settings =
        TrustSettings { effects: EffectSettings::from(&config), curve_entities: args.curve_nodes, seed: args.seed };
    let found = with_threads(args.threads.threads, || {
        trust(&network, &dataset, &entities, &settings, &mut |done, total| {
            progress.show(done as u64, total as u64, "");
            if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    })?;
    progress.finish();
    let (found, observed) = found?;
    let report = pages::trust::report(&found, &observed, &dataset, &about(&args, &config, &found));
    let files = write(&report, &args.out)? + write_data(&args, &found, &observed, &dataset)?;
    let (answer, sentence) = (found.verdict.title(), found.sentence());
    let printed = Printed { out: args.out.display().to_string(), files, answer, sentence, found: &found };
    output::show(args.printed.json, &printed, || text(&printed, &report))
}

/// What was measured, in a sentence.
fn about(args: &Args, config: &TrainConfig, found: &Trust) -> String {
    let regulariser = config.car().map_or("no regulariser".to_string(), |car| {
        format!("regulariser {} with lambda {}", car.arm, config.regulariser.lambda)
    });
    format!(
        "The run {}: {} on {}, {regulariser}. Measured: {} of {}{}.",
        args.run.display(),
        config.network_name(),
        args.data.as_deref().unwrap_or(&config.data.name),
        pages::format::counted(found.edges, "edge"),
        if args.nodes == NodeChoice::All { String::new() } else { format!("{} ", args.nodes) },
        pages::format::counted(found.entities, found.entity_word()),
    )
}

/// Writes the measures and the tables of all edges and entities; returns the number of files.
fn write_data(args: &Args, found: &Trust, observed: &Observed, dataset: &Dataset) -> Result<usize, Failure> {
    let with_ids = |table: Table| tables::with_ids(table, dataset);
    with_ids(observed.edges_table()?)?.write(&args.out.join("edges.csv"))?;
    with_ids(observed.entities_table()?)?.write(&args.out.join(format!("{}s.csv", found.entity_word())))?;
    let json = serde_json::to_string_pretty(found).map_err(|e| Failure::work(e.to_string()))?;
    write_file(&args.out.join("trust.json"), &(json + "\n"))?;
    Ok(3)
}

fn text(printed: &Printed<'_>, report: &pages::Report) -> String {
    let readings = report.sections.iter().find(|section| section.id == "readings");
    let tables = report.sections.iter().find(|section| section.id == "curves").into_iter().chain(readings);
    let tables: Vec<Block> = tables.flat_map(|section| section.tables()).cloned().map(Block::Table).collect();
    format!(
        "{}\n{}\n{} files. The page: {}/index.html, which opens in any browser.\n",
        output::blocks(&report.lead),
        output::blocks(&tables),
        printed.files,
        printed.out
    )
}
