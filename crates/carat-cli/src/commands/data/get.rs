//! `carat data get`

use std::time::Duration;

use carat_graph::DataError;
use carat_graph::catalogue::{self, Entry};
use carat_graph::download::{self, Event, Options};
use serde::Serialize;

use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;
use crate::output::show;
use crate::progress::Progress;

/// Download public datasets into the data folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat data get cora
  carat data get syn-cora-h0.10-r1 MUTAG
  carat data get arxiv-tape --mirror https://data.example.org/carat

Every file is checked against the catalogue's SHA-256, where it has one. Files that are already there are kept, \
and an interrupted download is resumed.")]
pub struct Args {
    /// Names from 'carat data list'
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Download from URL/<path in the data folder> instead of from the publishers
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// Give up on a connection that is silent for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
struct Report {
    data_dir: String,
    datasets: Vec<Fetched>,
}

#[derive(Serialize)]
struct Fetched {
    name: String,
    fetched: Vec<String>,
    present: Vec<String>,
    /// Files whose SHA-256 the catalogue does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unchecked: Vec<String>,
}

/// Fetches every named dataset.
pub fn run(args: Args) -> Result<(), Failure> {
    // A wrong name should be reported before anything is downloaded.
    let entries = args.names.iter().map(|name| find(name)).collect::<Result<Vec<Entry>, DataError>>()?;
    let data_dir = args.data.path();
    let options =
        Options { mirror: args.mirror, stall_timeout: Duration::from_secs(args.timeout), ..Options::default() };
    let mut report = Report { data_dir: data_dir.display().to_string(), datasets: Vec::new() };
    for entry in entries {
        let progress = Progress::new("bytes");
        let summary = download::get(&entry, &data_dir, &options, &mut |event| show_event(&progress, event));
        progress.finish();
        let summary = summary?;
        let unchecked =
            entry.files.into_iter().filter(|file| file.fingerprint.is_none()).map(|file| file.path).collect();
        let (fetched, present) = (summary.fetched, summary.present);
        report.datasets.push(Fetched { name: entry.name, fetched, present, unchecked });
    }
    show(args.format.json, &report, || text(&report))
}

fn find(name: &str) -> Result<Entry, DataError> {
    catalogue::find(name).ok_or_else(|| DataError::Unknown {
        name: name.to_string(),
        suggestion: catalogue::nearest(name).map(str::to_string),
    })
}

fn text(report: &Report) -> String {
    let line = |dataset: &Fetched| {
        let (fetched, present) = (dataset.fetched.len(), dataset.present.len());
        let files = |n: usize| if n == 1 { "1 file".to_string() } else { format!("{n} files") };
        match (fetched, present) {
            (0, _) => format!("{}: {} there already\n", dataset.name, files(present)),
            (_, 0) => format!("{}: {} fetched\n", dataset.name, files(fetched)),
            _ => format!("{}: {} fetched, {} there already\n", dataset.name, files(fetched), files(present)),
        }
    };
    let mut text: String = report.datasets.iter().map(line).collect();
    for path in report.datasets.iter().flat_map(|dataset| &dataset.unchecked) {
        text.push_str(&format!("{path}: the catalogue has no SHA-256 of it, so only that it is whole was checked\n"));
    }
    text.push_str(&format!("Data folder: {}\n", report.data_dir));
    text
}

fn show_event(progress: &Progress, event: Event<'_>) {
    match event {
        Event::Waiting => progress.print("another carat is fetching into this data folder; waiting"),
        Event::Progress { what, received, size } => {
            progress.show(received, size.unwrap_or(received), &format!("; {what}"));
        }
        Event::Retry { what, problem, pause } => {
            let seconds = pause.as_secs_f64();
            progress.print(&format!("{what}: {problem}; trying again in {seconds:.1} s"));
        }
        Event::Finished { .. } => {}
    }
}
