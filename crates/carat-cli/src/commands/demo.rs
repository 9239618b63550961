//! `carat demo`

use std::io::Write;
use std::path::PathBuf;

use carat_graph::DataError;
use carat_graph::files::write_atomically;
use carat_lab::demo::{self, DemoConfig, DemoReport};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::arguments::Format;
use crate::failure::Failure;
use crate::output::{check_folder, show, table};

/// See in seconds what spurious edges do to attention: generates graphs, trains, compares, writes an HTML page
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat demo
  carat demo --seeds 10 --out /tmp/demo.html
  carat demo --json

Needs no data and no network. The page is one file that opens from disk.")]
pub struct Args {
    /// Graphs to draw, and runs per row of the table
    #[arg(long, default_value_t = DemoConfig::default().seeds)]
    seeds: usize,
    /// Nodes of each graph
    #[arg(long, default_value_t = DemoConfig::default().planted.nodes)]
    nodes: usize,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "carat-demo.html")]
    out: PathBuf,
    /// Threads to use; the numbers do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
struct Printed {
    page: String,
    #[serde(flatten)]
    report: DemoReport,
}

/// Runs the demo, writes its page and prints the comparison.
pub fn run(args: Args) -> Result<(), Failure> {
    let mut config = DemoConfig { seeds: args.seeds, ..DemoConfig::default() };
    config.planted.nodes = args.nodes;
    check_folder(&args.out)?;
    let bar = progress_bar(config.runs());
    let report = carat::with_threads(args.threads.map(usize::from), || demo::run(&config, &|_| bar.inc(1)));
    bar.finish_and_clear();
    let report = report??;
    let page = demo::page(&report);
    write_atomically(&args.out, |file| {
        file.write_all(page.as_bytes()).map_err(|e| Failure::from(DataError::write(&args.out, e)))
    })?;
    let printed = Printed { page: args.out.display().to_string(), report };
    show(args.format.json, &printed, || text(&printed))
}

fn progress_bar(runs: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64);
    if let Ok(style) = ProgressStyle::with_template("training [{bar:30}] {pos}/{len} runs, {elapsed} ") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

fn text(printed: &Printed) -> String {
    let report = &printed.report;
    let mut text = wrap(&demo::planted_graph(report), 100);
    text.push('\n');
    text.push_str(&table(&demo::HEADINGS, &demo::rows(report)));
    text.push('\n');
    let meaning = demo::meaning(report);
    let width = meaning.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    for (name, meaning) in meaning {
        let indented = wrap(&meaning, 98 - width).trim_end().replace('\n', &format!("\n{:width$}  ", ""));
        text.push_str(&format!("{name:<width$}  {indented}\n"));
    }
    text.push_str(&format!("\nFigures and every run: {}, which opens in any browser.\n", printed.page));
    text
}

/// Breaks a text into lines of at most `width` characters, each ended; longer words stand alone.
fn wrap(text: &str, width: usize) -> String {
    let (mut wrapped, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            wrapped.push('\n');
            used = 0;
        }
        if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped.push('\n');
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrap("one two three", 7), "one two\nthree\n");
        assert_eq!(wrap("unbreakable a b", 4), "unbreakable\na b\n");
        assert_eq!(wrap("", 4), "\n");
    }
}
