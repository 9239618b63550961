//! A report as data, without its appearance. HTML, Markdown and CSV are made from it.

use crate::figures::Chart;

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// The blocks above the first section.
    pub lead: Vec<Block>,
    /// One per item.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Its name in links and file names: letters, digits and hyphens.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its contents.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section.
    pub fn new(id: impl Into<String>, title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { id: id.into(), title: title.into(), blocks }
    }

    /// Its tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
    }
}

/// A piece of a report. Texts are plain.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Paragraph(String),
    /// A bulleted list.
    Points(Vec<String>),
    /// Literal text, such as a command.
    Command(String),
    /// A table, which readers can sort and which becomes a CSV file.
    Table(Table),
    /// A figure.
    Chart(Chart),
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of its CSV file without the extension: letters, digits and hyphens.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with columns of text on the left and columns of numbers on the right.
    pub fn new(
        name: impl Into<String>,
        caption: impl Into<String>,
        text: impl IntoIterator<Item = impl Into<String>>,
        numbers: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let columns = text.into_iter().map(Column::text).chain(numbers.into_iter().map(Column::numbers)).collect();
        Self { name: name.into(), caption: caption.into(), columns, rows: rows.into_iter().collect() }
    }

    /// The cells of every row with their columns. Short rows are filled with empty cells, and surplus cells are left
    /// out.
    pub fn cells(&self) -> impl Iterator<Item = impl Iterator<Item = (&Column, &Cell)>> {
        static EMPTY: Cell = Cell { text: String::new(), value: None, strong: false, parts: Vec::new() };
        let cells = |row| std::iter::Iterator::chain(<[Cell]>::iter(row), std::iter::repeat(&EMPTY));
        self.rows.iter().map(move |row| self.columns.iter().zip(cells(row)))
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub heading: String,
    /// True for numbers, which are aligned to the right.
    pub numeric: bool,
}

impl Column {
    /// A column of text.
    pub fn text(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn numbers(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), numeric: true }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// The text that readers see.
    pub text: String,
    /// The unrounded number, for sorting and for CSV.
    pub value: Option<f64>,
    /// True where the cell is emphasised.
    pub strong: bool,
    /// Further numbers in the text, with their names. In CSV they have their own columns.
    pub parts: Vec<(&'static str, f64)>,
}

impl Cell {
    /// A cell of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number, with the text that readers see.
    pub fn number(text: impl Into<String>, value: f64) -> Self {
        Self { text: text.into(), value: Some(value), ..Self::default() }
    }

    /// The cell with the further numbers that its text shows.
    #[must_use]
    pub fn with_parts(self, parts: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        Self { parts: parts.into_iter().collect(), ..self }
    }

    /// The cell, emphasised if `strong`.
    #[must_use]
    pub fn strong_if(self, strong: bool) -> Self {
        Self { strong, ..self }
    }
}
