//! What is drawn: pages, figures and reports, and the statistics that they show. One form of report, shown as a
//! self-contained HTML page, as Markdown and as CSV and SVG files.
//!
//! ```
//! use carat_report::{Block, Cell, Column, Report, Section, Table};
//!
//! let table = Table {
//!     name: "accuracy".into(),
//!     caption: "Test accuracy".into(),
//!     columns: vec![Column::words("dataset"), Column::numbers("CAR")],
//!     rows: vec![vec![Cell::words("Cora"), Cell::number("0.81", 0.8123)]],
//! };
//! let section = Section { id: "accuracy".into(), title: "Accuracy".into(), blocks: vec![Block::Table(table)] };
//! let report = Report { title: "Runs".into(), lead: Vec::new(), sections: vec![section] };
//!
//! assert!(carat_report::html(&report).starts_with("<!DOCTYPE html>"));
//! assert!(carat_report::markdown(&report).contains("| Cora | 0.81 |"));
//! assert_eq!(carat_report::files(&report), [("accuracy.csv".into(), "dataset,CAR\nCora,0.8123\n".into())]);
//! ```
//!
//! [`explain`] and [`rewiring`] turn what `carat` found on one graph into a report. Reports on stores of runs are made
//! by the crates above, which read databases; nothing here does. [`statistics`] are here because a spread, an interval
//! or a p value is written the same way everywhere ([`words`]), and because [`explain`] needs them without a store.

pub mod explain;
pub mod figures;
mod files;
mod html;
mod markdown;
mod model;
mod outline;
pub mod page;
pub mod rewiring;
pub mod statistics;
pub mod words;

pub use files::{files, guarded};
pub use html::html;
pub use markdown::{markdown, markdown_alone};
pub use model::{Block, Cell, Column, Report, Section, Table};
