//! Reports: one form, shown as a self-contained HTML page, as Markdown and as CSV and SVG files.
//!
//! ```
//! use carat_lab::report::{self, Block, Cell, Column, Report, Section, Table};
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
//! assert!(report::html(&report).starts_with("<!DOCTYPE html>"));
//! assert!(report::markdown(&report).contains("| Cora | 0.81 |"));
//! assert_eq!(report::files(&report), [("accuracy.csv".into(), "dataset,CAR\nCora,0.8123\n".into())]);
//! ```

mod files;
mod html;
mod markdown;
mod model;
mod outline;
mod overview;
mod stopping;
mod verdict;

pub use files::{files, guarded};
pub use html::html;
pub use markdown::{markdown, markdown_alone};
pub use model::{Block, Cell, Column, Report, Section, Table};
pub use overview::overview;
pub use stopping::stopping;
pub use verdict::{sentences, verdict};
