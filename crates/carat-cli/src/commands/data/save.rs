//! Writing a dataset where the user wants it, and saying so.

use std::path::{Path, PathBuf};

use carat_graph::Dataset;
use carat_graph::table::TableFormat;
use carat_graph::writers;
use clap::ValueEnum;
use serde::Serialize;

use super::statistics::Statistics;
use crate::failure::Failure;
use crate::output::show;

/// How the tables of a folder are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FolderFormat {
    Csv,
    Parquet,
}

/// Where a dataset goes.
#[derive(Debug)]
pub enum Target {
    /// One `.npz` file.
    Npz(PathBuf),
    /// A folder with edges and nodes.
    Folder(PathBuf, TableFormat),
}

impl Target {
    /// Decides by the path's ending, before any work is done.
    pub fn new(path: &Path, format: Option<FolderFormat>) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some("npz") if format.is_some() => {
                Err(Failure::input(format!("--format is for folders, but {} is a .npz file", path.display())))
            }
            Some("npz") => Ok(Self::Npz(path.to_path_buf())),
            Some(other @ ("csv" | "parquet" | "gz" | "json" | "txt" | "zip")) => Err(Failure::input(format!(
                "{}: cannot write a dataset as .{other}; give a path that ends in .npz, or a folder",
                path.display()
            ))),
            _ => {
                let format = match format.unwrap_or(FolderFormat::Csv) {
                    FolderFormat::Csv => TableFormat::Csv,
                    FolderFormat::Parquet => TableFormat::Parquet,
                };
                Ok(Self::Folder(path.to_path_buf(), format))
            }
        }
    }

    /// Writes the dataset and prints what was written.
    pub fn save(&self, dataset: &Dataset, json: bool) -> Result<(), Failure> {
        let path = match self {
            Self::Npz(path) => {
                writers::npz::write(dataset, path)?;
                path
            }
            Self::Folder(path, format) => {
                writers::folder::write(dataset, path, *format)?;
                path
            }
        };
        let saved = Saved { out: path.display().to_string(), statistics: Statistics::of(dataset) };
        show(json, &saved, || format!("{}written to  {}\n", saved.statistics.text(), saved.out))
    }
}

#[derive(Serialize)]
struct Saved {
    out: String,
    #[serde(flatten)]
    statistics: Statistics,
}
