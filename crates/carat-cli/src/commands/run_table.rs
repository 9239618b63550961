//! What `predict`, `attention` and `effects` share: a trained run, a graph, and a table of results.

use std::path::PathBuf;

use carat::{Error, RunFolder, TrainConfig, tables, with_threads};
use carat_graph::Dataset;
use carat_graph::table::{Table, check_ending};
use serde::Serialize;
use serde_json::{Value, json};

use crate::arguments::{DataFolder, Format, Threads, absolute_if_there};
use crate::failure::Failure;
use crate::output;

/// Flags of a command that writes a table about a run.
#[derive(Debug, clap::Args)]
pub struct RunTable {
    /// Run folder, as made by 'carat train'
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
    /// Dataset name or path [default: what the run was trained on]
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// File to write: .csv, .csv.gz, .parquet or .npz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

impl RunTable {
    /// Opens the run with `open`, makes its table and what is said beside it, writes the table and prints
    /// `text(rows, file, beside)`.
    pub fn write<M: Send, B: Serialize + Send>(
        &self,
        open: impl FnOnce(&RunFolder) -> Result<(TrainConfig, M), Error>,
        make: impl FnOnce(M, &Dataset, &TrainConfig) -> Result<(Table, B), Error> + Send,
        text: impl FnOnce(u64, &str, &B) -> String,
    ) -> Result<(), Failure> {
        check_ending(&self.out)?;
        output::check_folder(&self.out)?;
        let folder = RunFolder::new(&self.run);
        let (config, model) = open(&folder)?;
        let data = self.data.as_deref().unwrap_or(&config.data.name);
        let dataset = config.open(Some(data), &self.data_folder.path())?;
        config.task_for(&dataset)?;
        let (dataset, notes) = folder.prepare(&dataset)?;
        output::notes(&notes);
        let (table, beside) = with_threads(self.threads.threads, || make(model, &dataset, &config))??;
        let mut table = tables::with_ids(table, &dataset)?;
        // The split of other data than the run's own is not known.
        let split = (absolute_if_there(data) == config.data.name).then(|| config.named_split(&dataset).ok()).flatten();
        if let Some(split) = split {
            table = tables::with_split(table, &dataset, &split)?;
        }
        table.write(&self.out)?;
        let (rows, out) = (table.num_rows() as u64, self.out.display().to_string());
        let mut printed = json!({ "rows": rows, "out": out });
        if let Ok(beside @ Value::Object(_)) = serde_json::to_value(&beside) {
            printed["figures"] = beside;
        }
        output::show(self.format.json, &printed, || text(rows, &out, &beside))
    }

    /// True where the data is not the run's own.
    pub fn is_other_data(&self, config: &TrainConfig) -> bool {
        self.data.as_deref().is_some_and(|data| absolute_if_there(data) != config.data.name)
    }
}
