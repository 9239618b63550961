//! Flags that several commands share.

use std::path::PathBuf;

use clap::Args;

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
