//! `carat report`: tables and figures from stores.

use std::io::Write;
use std::path::{Path, PathBuf};

use carat::RunFolder;
use carat::metrics::Figure;
use carat_graph::DataError;
use carat_graph::files::write_atomically;
use carat_lab::sections;
use carat_lab::sweep::{Merged, Store, merge};
use carat_paper::reproduce;
use carat_report::runs::TrainedRun;
use carat_report::{self as report, Report, format};
use serde::Serialize;

use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;
use crate::output;

/// Make tables and figures of run folders, or of the runs in stores: a page, Markdown, CSV
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat report runs/fraud                  one run: its figures, classes and confusion matrix
  carat report runs/fraud runs/fraud-car --figures test_roc_auc,test_macro_f1
  carat report carat.db                    writes carat-report/index.html and more
  carat report carat.db --figures test_roc_auc,test_average_precision
                                           and a table of these figures by setting
  carat report part1.db part2.db --out all
  carat report carat.db --markdown report.md
  carat report carat.db --json             print what was written and the number of runs

The folder gets index.html (one file that opens from disk without an internet connection), report.md, a CSV file per \
table, and an SVG file and a CSV file of its points per figure.

On run folders, the report has the figures of their predictions, those of every class, the confusion matrix and a \
reliability plot. --figures chooses the columns of the table of runs.

On stores, the report says for every dataset whether causal attention regularisation helps, at which lambda and with \
what certainty, under both protocols. It also shows the paper's tables and figures for which the stores hold runs; \
'carat reproduce' computes them. --figures adds a table with the mean of each figure over the seeds and splits of \
every setting, the best by the first figure on top. Runs in stores of an older carat lack some figures.

A figure is train_, val_ or test_ with loss, accuracy, balanced_accuracy, macro_f1, roc_auc, average_precision, \
calibration_error or brier; or of attention: attention_kl, uniform_kl, attention_auc, faithfulness, faithfulness_rank, \
faithfulness_last, self_faithfulness, self_faithfulness_rank, self_faithfulness_last, val_faithfulness, \
val_self_faithfulness, deletion_area, deletion_share, fidelity_plus, fidelity_minus, characterisation, planted_auc or \
planted_auc_of_effects.")]
pub struct Args {
    /// Stores of 'carat sweep' and 'carat reproduce', or run folders of 'carat train'
    #[arg(value_name = "STORE", required = true)]
    stores: Vec<PathBuf>,
    /// Figures to show, such as test_roc_auc,test_macro_f1
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = figure)]
    figures: Vec<Figure>,
    /// The folder to write
    #[arg(long, value_name = "DIR", default_value = "carat-report")]
    out: PathBuf,
    /// Write one Markdown file, without figures, instead of the folder
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(flatten)]
    format: Format,
}

/// The figure of this name.
fn figure(name: &str) -> Result<Figure, String> {
    Figure::from_name(name).ok_or_else(|| "there is no such figure, and test_roc_auc is one".into())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    page: String,
    files: usize,
    runs: usize,
    failed: usize,
    left_out: usize,
    code: String,
}

impl Printed {
    /// The result of reading the stores.
    fn of(merged: &Merged) -> Self {
        Self {
            page: String::new(),
            files: 0,
            runs: merged.runs.len(),
            failed: merged.failures.len(),
            left_out: merged.left_out,
            code: merged.code.clone(),
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    check_out(&args.out)?;
    let folders = args.stores.iter().filter(|path| path.is_dir()).count();
    if folders == args.stores.len() {
        return report_on_runs(&args);
    }
    if folders > 0 {
        return Err(Failure::input("give run folders or stores, not both in one report"));
    }
    let stores = args.stores.iter().map(|path| Store::open_existing(path)).collect::<Result<Vec<_>, _>>()?;
    let merged = merge(&stores)?;
    if merged.runs.is_empty() && merged.failures.is_empty() {
        let names = args.stores.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(Failure::input(format!("{names}: no finished run yet; 'carat sweep' computes some")));
    }
    let mut report = reproduce::report_of(&merged, &args.data_folder.path())?;
    if !args.figures.is_empty() {
        report.sections.insert(0, sections::figures(&merged.runs, &args.figures));
    }
    finish(&args, &report, Printed::of(&merged))
}

/// The report on run folders.
fn report_on_runs(args: &Args) -> Result<(), Failure> {
    let run = |path: &PathBuf| -> Result<TrainedRun, Failure> {
        let folder = RunFolder::new(path);
        let problem = |problem: &str| Failure::input(format!("{}: {problem}", path.display()));
        let config = folder.config()?.ok_or_else(|| problem("neither a store nor a run folder of 'carat train'"))?;
        let summary = folder.summary()?;
        let summary = summary.ok_or_else(|| problem("has no summary yet; 'carat train --resume' finishes the run"))?;
        Ok(TrainedRun { name: path.display().to_string(), config, summary })
    };
    let runs = args.stores.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let printed = Printed { runs: runs.len(), ..Printed::of(&Merged::default()) };
    finish(args, &report::runs::report(&runs, &args.figures), printed)
}

/// Writes what was asked for, and prints where it is.
fn finish(args: &Args, report: &Report, printed: Printed) -> Result<(), Failure> {
    let printed = match &args.markdown {
        Some(file) => {
            output::check_folder_of("--markdown", file)?;
            write_file(file, &report::markdown_without_links(report))?;
            Printed { page: file.display().to_string(), files: 1, ..printed }
        }
        None => {
            let files = write(report, &args.out)?;
            Printed { page: args.out.join("index.html").display().to_string(), files, ..printed }
        }
    };
    output::show(args.format.json, &printed, || text(report, &printed))
}

/// Refuses a path that cannot be a folder.
pub(super) fn check_out(out: &Path) -> Result<(), Failure> {
    match out.exists() && !out.is_dir() {
        true => Err(Failure::input(format!("--out {} is a file; give a folder", out.display()))),
        false => Ok(()),
    }
}

/// Writes a report's files and prints where they are.
pub(super) fn write_and_show(report: &Report, merged: &Merged, out: &Path, json: bool) -> Result<(), Failure> {
    let files = write(report, out)?;
    let page = out.join("index.html").display().to_string();
    let printed = Printed { page, files, ..Printed::of(merged) };
    output::show(json, &printed, || text(report, &printed))
}

/// Writes the page, the Markdown, the tables and the figures; returns the number of files.
pub(super) fn write(report: &Report, out: &Path) -> Result<usize, Failure> {
    std::fs::create_dir_all(out).map_err(|e| DataError::write(out, e))?;
    let whole = [("index.html".to_string(), report::html(report)), ("report.md".to_string(), report::markdown(report))];
    let files: Vec<(String, String)> = report::files(report).into_iter().chain(whole).collect();
    for (name, text) in &files {
        write_file(&out.join(name), text)?;
    }
    Ok(files.len())
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_atomically(path, |file| file.write_all(text.as_bytes()).map_err(|e| DataError::write(path, e).into()))
}

fn text(report: &Report, printed: &Printed) -> String {
    let (lead, runs) = (output::blocks(&report.lead), format::counted(printed.runs, "run"));
    let written = if printed.files == 1 {
        format!("The report: {}.", printed.page)
    } else {
        format!("{} files. The page: {}, which opens in any browser.", printed.files, printed.page)
    };
    format!("{lead}\n{runs}. {written}\n")
}
