//! Reports with figures and statistics. A [`Report`] is written as a self-contained HTML page, as Markdown, or as CSV
//! and SVG files.
//!
//! ```
//! use carat_report::{Block, Cell, Column, Report, Section, Table};
//!
//! let table = Table {
//!     name: "accuracy".into(),
//!     caption: "Test accuracy".into(),
//!     columns: vec![Column::text("dataset"), Column::numbers("CAR")],
//!     rows: vec![vec![Cell::text("Cora"), Cell::number("0.81", 0.8123)]],
//! };
//! let section = Section { id: "accuracy".into(), title: "Accuracy".into(), blocks: vec![Block::Table(table)] };
//! let report = Report { title: "Runs".into(), lead: Vec::new(), sections: vec![section] };
//!
//! assert!(carat_report::html(&report).starts_with("<!DOCTYPE html>"));
//! assert!(carat_report::markdown(&report).contains("| Cora | 0.81 |"));
//! assert_eq!(carat_report::files(&report), [("accuracy.csv".into(), "dataset,CAR\nCora,0.8123\n".into())]);
//! ```
//!
//! [`runs`] makes a report of run folders, [`explain`] and [`rewiring`] make reports of `carat`'s results on one graph.
//! This crate reads no database: `carat-lab` and `carat-paper` make the reports on stores of runs. It holds the
//! [`statistics`], because [`explain`] needs them without a store, and because spreads, intervals and p values are
//! written in the same way everywhere ([`format`]).

pub mod explain;
pub mod figures;
mod files;
pub mod format;
mod html;
mod markdown;
mod model;
mod outline;
pub mod page;
pub mod rewiring;
pub mod runs;
pub mod statistics;
pub mod trust;

pub use files::{files, guarded};
pub use html::html;
pub use markdown::{markdown, markdown_without_links};
pub use model::{Block, Cell, Column, Report, Section, Table};
