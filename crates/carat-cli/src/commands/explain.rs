//! `carat explain`: which edges gain and lose attention by a regulariser, and what they have in common.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carat::explain::{EdgeChanges, ExplainSettings, explain, nodes_table};
use carat::{EffectSettings, RunFolder, TrainConfig, tables, with_threads};
use carat_graph::table::{TableFormat, check_ending};
use carat_graph::{DataError, Dataset};
use carat_nn::Network;
use carat_report::explain::{
    Explanation, SummarySettings, better_run, brief_table, compared_runs, counts, group_sentences, group_table, report,
    separation_sentences, separation_table,
};
use carat_report::{self as pages, Block, Report};
use serde::Serialize;

use super::report::{check_out, write_file};
use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// Compare the attention of two runs edge by edge: which edges changed, and what they have in common
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat train --data cora --out runs/plain
  carat train --data cora --lambda 1 --out runs/car
  carat explain --base runs/plain --car runs/car                      writes carat-explain/index.html and more
  carat explain --base runs/plain --car runs/car --out edges.parquet  only the table of edges
  carat explain --base runs/plain --car runs/car --no-effects --json

Attention is the mean over layers and heads; edges are ranked by its difference between the runs. Edges into a node \
with no other in-edge always have attention 1 and are not ranked. The most up-weighted edges are compared with the \
most down-weighted ones (degree, class, feature similarity, years, causal effect) and with the paper's groups: \
self-citations (if the data names authors), anchors (sources with far more out-edges than others of their class) and \
narrow papers (sources of the same class with few out-edges).

The folder gets index.html (one file that opens from disk), the tables as CSV, the figures as SVG, edges.csv (every \
edge) and nodes.csv (every node). Columns of edges.csv, ordered by dst, then by src:
  src, dst        the edge: dst attends to src; nodes are numbered as in nodes.csv
  src_id, dst_id  the same by the data's own ids, if it has any
  base, car       attention in either run
  difference      car - base
  change          the paper's: in percent of base
  rank            1 is the most up-weighted; -1 where dst has no other in-edge
  delta, effect   of the edge in the --car run, as 'carat effects' has them; effect_rank 1 has the
                  largest delta
  src_degree      edges that leave src: nodes that attend to it
  dst_degree      in-edges of dst
  same_class      1, 0, or -1 where a label is missing
  similarity      cosine of the features
  year_gap        year of dst minus year of src, if the data has years
  self_citation, anchor, narrow   1 for the edges of this group, if the data can tell")]
pub struct Args {
    /// Run folder of the baseline
    #[arg(long, value_name = "DIR")]
    base: PathBuf,
    /// Run folder of the regularised network
    #[arg(long, value_name = "DIR")]
    car: PathBuf,
    /// Dataset name or path [default: what both runs were trained on]
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Folder to write; or a file: .csv, .csv.gz, .parquet or .npz for only the edges, .html for only the page
    #[arg(long, value_name = "DIR|FILE", default_value = "carat-explain")]
    out: PathBuf,
    /// Format of the folder's tables of all edges and nodes: csv or parquet
    #[arg(long, value_name = "FORMAT", default_value = "csv", value_parser = parse_format)]
    format: TableFormat,
    /// How many of the most up-weighted and of the most down-weighted edges to list
    #[arg(long, value_name = "N", default_value_t = SummarySettings::default().top)]
    top: usize,
    /// Share of the ranked edges at each end to compare
    #[arg(long, value_name = "SHARE", default_value_t = SummarySettings::default().share)]
    #[arg(allow_negative_numbers = true)]
    share: f64,
    /// Do not measure causal effects, which take the longest
    #[arg(long)]
    no_effects: bool,
    /// A source is an anchor if it has at least this many times its class's mean number of out-edges
    #[arg(long, value_name = "TIMES", default_value_t = ExplainSettings::default().anchor_factor)]
    #[arg(allow_negative_numbers = true)]
    anchor_factor: f64,
    /// A source is narrow if it has no more out-edges than this share of its class's sources
    #[arg(long, value_name = "SHARE", default_value_t = ExplainSettings::default().narrow_share)]
    #[arg(allow_negative_numbers = true)]
    narrow_share: f64,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    printed: Format,
}

fn parse_format(word: &str) -> Result<TableFormat, String> {
    match word {
        "csv" => Ok(TableFormat::Csv),
        "parquet" => Ok(TableFormat::Parquet),
        _ => Err("choose csv or parquet".into()),
    }
}

/// Edges that the terminal lists at each end; the page has all.
const SHOWN: usize = 8;

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Folder,
    Edges,
    Page,
}

impl Target {
    fn of(out: &Path) -> Result<Self, Failure> {
        let name = out.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let target = match () {
            () if name.ends_with(".html") => Self::Page,
            () if check_ending(out).is_ok() => Self::Edges,
            () => Self::Folder,
        };
        match target {
            Self::Folder => check_out(out)?,
            Self::Edges | Self::Page => output::check_folder(out)?,
        }
        Ok(target)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    out: String,
    files: usize,
    runs: Vec<String>,
    #[serde(flatten)]
    found: Explanation,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let target = Target::of(&args.out)?;
    let summary = SummarySettings { top: args.top, share: args.share };
    summary.check()?;
    let ((base_config, base), (config, car)) = (RunFolder::new(&args.base).open()?, RunFolder::new(&args.car).open()?);
    let settings = ExplainSettings {
        batch_size: config.optimiser.batch_size,
        anchor_factor: args.anchor_factor,
        narrow_share: args.narrow_share,
        effects: (!args.no_effects).then(|| EffectSettings::from(&config)),
    };
    settings.check()?;
    let data = args.data.as_deref().map_or_else(|| common_data(&args, &base_config, &config), Ok)?;
    if !base_config.has_edges_of(&config) {
        return Err(Failure::input(
            "the runs read different edges: undirected, self-loops and edge-features must be the same in both to \
             compare them",
        ));
    }
    let opened = config.open(Some(data), &args.data_folder.path())?;
    let (dataset, notes) = RunFolder::new(&args.car).prepare(&opened)?;
    if !RunFolder::new(&args.base).prepare(&opened)?.0.has_features_of(&dataset) {
        return Err(Failure::input(format!(
            "{} and {} read the features of {data} differently; compare runs with the same --normalise and --split",
            args.base.display(),
            args.car.display()
        )));
    }
    output::notes(&notes);
    let summaries = (RunFolder::new(&args.base).summary()?, RunFolder::new(&args.car).summary()?);
    let better = match summaries {
        (Some(base), Some(car)) => better_run(&base, &car),
        _ => None,
    };
    let runs: Vec<String> = better.into_iter().chain(compared_runs(&base_config, &config)).collect();
    let (changes, found) = with_threads(args.threads.threads, || {
        let changes = compare(&base, &car, &dataset, &settings)?;
        let found = Explanation::of(&changes, &dataset, &settings, &summary)?;
        Ok::<_, Failure>((changes, found))
    })??;
    let files = write(&args, target, changes, &dataset, &report(&found, &runs))?;
    let printed = Printed { out: args.out.display().to_string(), files, runs, found };
    output::show(args.printed.json, &printed, || text(&printed, target))
}

/// The dataset of both runs.
fn common_data<'a>(args: &Args, base: &TrainConfig, car: &'a TrainConfig) -> Result<&'a str, Failure> {
    if base.data.name == car.data.name {
        return Ok(&car.data.name);
    }
    Err(Failure::input(format!(
        "the runs were trained on different data: {} on {}, {} on {}; compare runs on one dataset, or name it with \
         --data",
        args.base.display(),
        base.data.name,
        args.car.display(),
        car.data.name
    )))
}

fn compare(
    base: &Network<f32>,
    car: &Network<f32>,
    dataset: &Dataset,
    settings: &ExplainSettings,
) -> Result<EdgeChanges, Failure> {
    let interrupted = interrupt::flag()?;
    let progress = Progress::new("edges");
    let changes = explain(base, car, dataset, settings, &mut |done, total| {
        progress.show(done as u64, total as u64, "");
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.finish();
    Ok(changes?)
}

/// Writes the output; returns the number of files.
fn write(
    args: &Args,
    target: Target,
    changes: EdgeChanges,
    dataset: &Dataset,
    report: &Report,
) -> Result<usize, Failure> {
    let out = &args.out;
    match target {
        Target::Edges => tables::with_ids(changes.into_table()?, dataset)?.write(out)?,
        Target::Page => write_file(out, &pages::html(report))?,
        Target::Folder => {
            std::fs::create_dir_all(out).map_err(|e| DataError::write(out, e))?;
            // In other kinds of file, no name can be mistaken for a formula.
            let guard = |text: &str| if args.format == TableFormat::Csv { pages::guarded(text) } else { text.into() };
            let nodes = nodes_table(dataset, guard)?;
            let edges = tables::with_ids(changes.into_table()?, dataset)?;
            for (table, stem) in [(edges, "edges"), (tables::with_ids(nodes, dataset)?, "nodes")] {
                table.write(&out.join(format!("{stem}{}", args.format.ending())))?;
            }
            let page = ("index.html".to_string(), pages::html(report));
            let pages: Vec<(String, String)> = pages::files(report).into_iter().chain([page]).collect();
            for (name, text) in &pages {
                write_file(&out.join(name), text)?;
            }
            return Ok(pages.len() + 2);
        }
    }
    Ok(1)
}

fn text(printed: &Printed, target: Target) -> String {
    let Printed { out, files, runs, found } = printed;
    let mut blocks: Vec<Block> = runs.iter().cloned().chain(counts(found)).map(Block::Paragraph).collect();
    let ends = [("Most up-weighted", &found.up), ("Most down-weighted", &found.down)];
    for (caption, edges) in ends.into_iter().filter(|(_, edges)| !edges.is_empty()) {
        blocks.push(Block::Table(brief_table(caption, &edges[..edges.len().min(SHOWN)])));
    }
    if !found.separates.is_empty() {
        blocks.push(Block::Table(separation_table(found)));
    }
    let sentences = separation_sentences(found);
    if !sentences.is_empty() {
        blocks.push(Block::Points(sentences));
    }
    let groups = group_table(found);
    if !groups.rows.is_empty() && !found.unchanged {
        blocks.push(Block::Table(groups));
    }
    blocks.push(Block::Points(group_sentences(found)));
    let written = match target {
        Target::Folder => format!("{files} files. The page: {out}/index.html, which opens in any browser."),
        Target::Edges => format!("{} edges -> {out}", output::thousands(found.edges as u64)),
        Target::Page => format!("The page: {out}, which opens in any browser."),
    };
    format!("{}\n{written}\n", output::blocks(&blocks))
}
