//! Writes a dataset to the path that the user chose, and reports it.

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

/// The values of `--to`: what a dataset is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One .npz file, for NumPy
    Npz,
    /// One .carat file, mapped instead of read: for graphs larger than memory
    Mmap,
    /// A folder of tables
    Folder,
}

/// Where a dataset goes.
#[derive(Debug)]
pub enum Target {
    /// One `.npz` file.
    Npz(PathBuf),
    /// One `.carat` file, to be mapped.
    Carat(PathBuf),
    /// A folder with edges and nodes.
    Folder(PathBuf, TableFormat),
}

impl Target {
    /// Decides by the path's ending, before any work is done.
    pub fn new(path: &Path, format: Option<FolderFormat>) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match ending.as_deref() {
            Some(ending @ ("npz" | "carat")) if format.is_some() => {
                Err(Failure::input(format!("--format is for folders, but {} is a .{ending} file", path.display())))
            }
            Some("npz") => Ok(Self::Npz(path.to_path_buf())),
            Some("carat") => Ok(Self::Carat(path.to_path_buf())),
            Some(other @ ("csv" | "parquet" | "gz" | "json" | "txt" | "zip")) => Err(Failure::input(format!(
                "{}: cannot write a dataset as .{other}; give a path that ends in .npz or .carat, or a folder",
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

    /// Refuses a path whose ending belongs to another kind than the one requested.
    pub fn check(&self, kind: Kind) -> Result<(), Failure> {
        let (path, fits) = match self {
            Self::Npz(path) => (path, kind == Kind::Npz),
            Self::Carat(path) => (path, kind == Kind::Mmap),
            Self::Folder(path, _) => (path, kind == Kind::Folder),
        };
        let (asked, needed) = match kind {
            Kind::Npz => ("npz", "a path that ends in .npz"),
            Kind::Mmap => ("mmap", "a path that ends in .carat"),
            Kind::Folder => ("folder", "a path without an ending"),
        };
        if fits {
            Ok(())
        } else {
            Err(Failure::input(format!("--to {asked} needs {needed}, and {} is none", path.display())))
        }
    }

    /// Writes the dataset and prints what was written.
    pub fn save(&self, dataset: &Dataset, json: bool) -> Result<(), Failure> {
        let path = match self {
            Self::Npz(path) => {
                writers::npz::write(dataset, path)?;
                path
            }
            Self::Carat(path) => {
                writers::carat::write(dataset, path)?;
                path
            }
            Self::Folder(path, format) => {
                writers::folder::write(dataset, path, *format)?;
                path
            }
        };
        let saved = Saved { out: path.display().to_string(), statistics: Statistics::of(dataset)? };
        show(json, &saved, || format!("{}written to  {}\n", saved.statistics.text(), saved.out))
    }
}

#[derive(Serialize)]
struct Saved {
    out: String,
    #[serde(flatten)]
    statistics: Statistics,
}
