//! `carat demo`

use std::io::Write;
use std::path::PathBuf;

use carat::Lambda;
use carat_graph::DataError;
use carat_graph::files::write_atomically;
use carat_paper::demo::{self, DemoConfig, DemoReport};
use carat_report::Block;
use serde::Serialize;

use crate::arguments::Format;
use crate::failure::Failure;
use crate::output::{WIDTH, blocks, check_folder, hanging, show, wrap};
use crate::progress::Progress;

/// Show in seconds whether attention may be read as an explanation and what causal regularisation changes: generates
/// graphs, trains plain networks, CAR and its control, compares them and writes an HTML page
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat demo
  carat demo --seeds 12 --out /tmp/demo.html
  carat demo --lambda 1 --json

Needs no data and no internet connection. The page is one file that opens from disk.")]
pub struct Args {
    /// Graphs to generate at each strength of the shortcut, and runs per mean
    #[arg(long, value_name = "N", default_value_t = DemoConfig::default().seeds)]
    seeds: usize,
    /// Seed of the first graph; the others count up from it
    #[arg(long, value_name = "N", default_value_t = DemoConfig::default().first_seed)]
    seed: u64,
    /// Nodes of each graph
    #[arg(long, value_name = "N", default_value_t = DemoConfig::default().planted.nodes)]
    nodes: usize,
    /// Strength of CAR and of its control
    #[arg(long, value_name = "LAMBDA", default_value_t = DemoConfig::default().train.regulariser.lambda)]
    lambda: Lambda,
    /// Also train CAR at every node and its control; takes several times as long
    #[arg(long)]
    every_node: bool,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "carat-demo.html")]
    out: PathBuf,
    /// Threads to use; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    format: Format,
}

impl Args {
    fn config(&self) -> DemoConfig {
        let mut config = DemoConfig {
            seeds: self.seeds,
            first_seed: self.seed,
            every_node: self.every_node,
            ..DemoConfig::default()
        };
        config.planted.nodes = self.nodes;
        config.train.regulariser.lambda = self.lambda.clone();
        config
    }
}

#[derive(Serialize)]
struct Printed {
    page: String,
    #[serde(flatten)]
    report: DemoReport,
}

/// Runs the demo, writes its page and prints the comparison.
pub fn run(args: Args) -> Result<(), Failure> {
    let config = args.config();
    config.check()?;
    check_folder(&args.out)?;
    let (progress, runs) = (Progress::new("runs"), config.runs() as u64);
    let report = carat::with_threads(args.threads.map(usize::from), || demo::run(&config, &|_| progress.advance(runs)));
    progress.finish();
    let report = report??;
    let page = demo::page(&report);
    write_atomically(&args.out, |file| {
        file.write_all(page.as_bytes()).map_err(|e| Failure::from(DataError::write(&args.out, e)))
    })?;
    let printed = Printed { page: args.out.display().to_string(), report };
    show(args.format.json, &printed, || text(&printed))
}

fn text(printed: &Printed) -> String {
    let report = &printed.report;
    let questions = [
        ("What is attention?", format!("{} {}", demo::ATTENTION, demo::FAITHFULNESS)),
        ("What did we plant?", demo::planted_graph(report)),
    ];
    let mut text = String::new();
    for (question, answer) in questions {
        text.push_str(&wrap(&format!("{question} {answer}"), WIDTH));
        text.push('\n');
    }
    let treatments = demo::treatments(report);
    let width = treatments.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    for (name, meaning) in treatments {
        text.push_str(&hanging(&format!("{name:<width$}  "), meaning));
    }
    let tables: Vec<Block> = report.causal().map(|pair| Block::Table(demo::summary(report, pair))).collect();
    text.push_str(&format!("\n{}\n", blocks(&tables)));
    text.push_str(&wrap(&format!("{} {}", demo::statistics(report), demo::cost(report)), WIDTH));
    for paragraph in demo::conclusion(report) {
        text.push('\n');
        text.push_str(&wrap(&paragraph, WIDTH));
    }
    text.push_str(&format!("\nFigures and every run: {}, which opens in any browser.\n", printed.page));
    text
}
