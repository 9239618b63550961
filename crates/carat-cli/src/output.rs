//! Results on stdout: text, or exactly one JSON document.

use std::io::{self, Write};
use std::path::Path;

use carat_graph::printable;
use carat_report::{Block, Column, Table, format};
use serde::Serialize;

use crate::failure::Failure;

/// Prints `value` as JSON, or else the text.
pub fn show(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = if json {
        serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from).and_then(|()| stdout.write_all(b"\n"))
    } else {
        stdout.write_all(text().as_bytes())
    };
    written.and_then(|()| stdout.flush()).map_err(|e| Failure::stdout(&e))
}

/// What users should know about their data, on stderr: results on stdout stay as they are.
pub fn notes(notes: &[String]) {
    notes.iter().for_each(|note| eprintln!("note: {}", printable(note)));
}

/// Refuses an `--out` file whose folder does not exist, before any work is done.
pub fn check_folder(out: &Path) -> Result<(), Failure> {
    check_folder_of("--out", out)
}

/// The same for the file of another flag.
pub fn check_folder_of(flag: &str, out: &Path) -> Result<(), Failure> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::input(format!(
            "{flag} {}: there is no folder {}; make it, or choose another place",
            out.display(),
            folder.display()
        ))),
        _ if out.is_dir() => Err(Failure::input(format!("{flag} {} is a folder; give a file", out.display()))),
        _ => Ok(()),
    }
}

/// 1234567 as 1,234,567.
pub fn thousands(number: u64) -> String {
    format::thousands(number as usize)
}

/// 1536 as 1.5 kB.
pub fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.1} GB", number as f64 / 1e9),
    }
}

/// A table as text. A heading that starts with `>` aligns its column to the right.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let titles: Vec<String> = headings.iter().map(|h| h.trim_start_matches('>').to_string()).collect();
    let mut widths: Vec<usize> = titles.iter().map(|t| t.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in std::iter::once(&titles).chain(rows) {
        let cells = row.iter().zip(headings).zip(&widths).map(|((cell, heading), &width)| {
            if heading.starts_with('>') { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The width that text is wrapped to.
pub const WIDTH: usize = 100;

/// Breaks a text into lines of at most `width` characters, each with a line end. A longer word gets its own line.
pub fn wrap(text: &str, width: usize) -> String {
    let (mut wrapped, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            wrapped.push('\n');
            used = 0;
        }
        if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped.push('\n');
    wrapped
}

/// Blocks of a report as text for a terminal, without figures.
pub fn blocks(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        let part = match block {
            Block::Paragraph(paragraph) => wrap(paragraph, WIDTH),
            Block::Points(points) => points.iter().map(|point| hanging("- ", point)).collect(),
            Block::Command(command) => format!("    {command}\n"),
            Block::Table(Table { caption, columns, rows, .. }) => {
                let heading = |column: &Column| format!("{}{}", if column.numeric { ">" } else { "" }, column.heading);
                let headings: Vec<String> = columns.iter().map(heading).collect();
                let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
                let rows: Vec<Vec<String>> =
                    rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect()).collect();
                format!("{}{}", wrap(caption, WIDTH), table(&headings, &rows))
            }
            Block::Chart(_) => continue,
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&part);
    }
    text
}

/// A text behind `first`, its further lines indented as much.
pub fn hanging(first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let text = wrap(text, WIDTH - indent);
    format!("{first}{}\n", text.trim_end().replace('\n', &format!("\n{:indent$}", "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_report::Cell;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_166_243].map(thousands), ["0", "999", "1,000", "1,166,243"]);
        assert_eq!([12, 1_536, 2_000_000].map(bytes), ["12 B", "1.5 kB", "2.0 MB"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_string(), "10".to_string()], vec!["long".to_string(), "5".to_string()]];
        assert_eq!(table(&["name", ">n"], &rows), "name   n\na     10\nlong   5\n");
    }

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrap("one two three", 7), "one two\nthree\n");
        assert_eq!(wrap("unbreakable a b", 4), "unbreakable\na b\n");
        assert_eq!(wrap("", 4), "\n");
    }

    #[test]
    fn reports_read_well_on_a_terminal() {
        let table = Table {
            name: "t".into(),
            caption: "Loss".into(),
            columns: vec![Column::text("data"), Column::numbers("p")],
            rows: vec![vec![Cell::text("cora"), Cell::number("0.01", 0.012)]],
        };
        let parts = [Block::Paragraph("One.".into()), Block::Points(vec!["a".into()]), Block::Table(table)];
        assert_eq!(blocks(&parts), "One.\n\n- a\n\nLoss\ndata     p\ncora  0.01\n");
    }
}
