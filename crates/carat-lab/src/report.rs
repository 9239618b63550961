//! Reports: one form, shown as a self-contained HTML page, as Markdown and as CSV files.

mod model;

pub use model::{Block, Cell, Column, Report, Section, Table};
