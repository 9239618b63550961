//! Flags that several commands share.

mod train;

use std::path::PathBuf;

use clap::Args;

pub use train::{TrainFlags, absolute_if_there};

/// Where catalogue datasets are kept.
#[derive(Debug, Args)]
pub struct DataFolder {
    /// Folder of the public datasets [default: the variable CARAT_DATA, else the platform's cache folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// The folder to use.
    pub fn path(&self) -> PathBuf {
        carat_graph::data_dir(self.data_dir.as_deref())
    }
}

/// How results are printed.
#[derive(Debug, Args)]
pub struct Format {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// How many threads to compute with.
#[derive(Debug, Args)]
pub struct Threads {
    /// Threads to compute with; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number from 1 to 1024 is needed".into()),
    }
}
