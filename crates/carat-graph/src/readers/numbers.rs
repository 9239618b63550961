//! Text files of comma-separated numbers without a header, as OGB and TUDataset store everything.

use std::path::Path;

use crate::DataError;
use crate::files::TextFile;

/// A number that a cell can hold.
pub(crate) trait Number: Copy + std::str::FromStr {
    /// What to call it in an error.
    const WHAT: &'static str;
}

impl Number for i64 {
    const WHAT: &'static str = "a whole number";
}

impl Number for i32 {
    const WHAT: &'static str = "a whole number from -2147483648 to 2147483647";
}

impl Number for u32 {
    const WHAT: &'static str = "a whole number from 0 to 4294967295";
}

impl Number for f32 {
    const WHAT: &'static str = "a number";
}

impl Number for f64 {
    const WHAT: &'static str = "a number";
}

/// A file of numbers, read row by row into one list. Blank lines are taken at the end only.
pub(crate) struct NumberFile {
    file: TextFile,
}

impl NumberFile {
    /// Opens `path`, or `path.gz` where only that exists.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        Ok(Self { file: TextFile::open(path)? })
    }

    /// Appends the cells of the next row to `values` and tells how many there were; `None` at the end.
    pub(crate) fn next_row<T: Number>(&mut self, values: &mut Vec<T>) -> Result<Option<usize>, DataError> {
        let before = values.len();
        let Some(line) = self.file.next_line()? else {
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return self.only_blank_lines_left().map(|()| None);
        }
        let mut wrong = None;
        for cell in line.split(',') {
            match cell.trim_ascii().parse() {
                Ok(value) => values.push(value),
                Err(_) => {
                    wrong = Some(shortened(cell));
                    break;
                }
            }
        }
        match wrong {
            None => Ok(Some(values.len() - before)),
            Some(cell) => Err(self.error(format!("'{cell}' is not {}", T::WHAT))),
        }
    }

    /// The next row, which must have exactly `N` cells.
    pub(crate) fn next_cells<T: Number, const N: usize>(
        &mut self,
        scratch: &mut Vec<T>,
    ) -> Result<Option<[T; N]>, DataError> {
        scratch.clear();
        let Some(count) = self.next_row(scratch)? else {
            return Ok(None);
        };
        match scratch.as_slice().try_into() {
            Ok(cells) => Ok(Some(cells)),
            Err(_) => Err(self.error(format!("the line has {count} numbers where {N} belong"))),
        }
    }

    /// An error about the line that was read last.
    pub(crate) fn error(&self, problem: impl Into<String>) -> DataError {
        self.file.error(problem)
    }

    /// The file that was opened.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    fn only_blank_lines_left(&mut self) -> Result<(), DataError> {
        let blank = self.file.line();
        while let Some(line) = self.file.next_line()? {
            if !line.trim_ascii().is_empty() {
                return Err(DataError::malformed_line(self.path(), blank, "the line is blank, but others follow"));
            }
        }
        Ok(())
    }
}

/// Every row of a file with one number per line.
pub(crate) fn read_column<T: Number>(path: &Path) -> Result<Vec<T>, DataError> {
    let mut file = NumberFile::open(path)?;
    let (mut values, mut scratch) = (Vec::new(), Vec::new());
    while let Some([value]) = file.next_cells(&mut scratch)? {
        values.push(value);
    }
    Ok(values)
}

/// A matrix with one row per line: the number of columns, and the values row by row.
pub(crate) fn read_matrix<T: Number>(path: &Path) -> Result<(usize, Vec<T>), DataError> {
    let mut file = NumberFile::open(path)?;
    let mut values = Vec::new();
    let Some(columns) = file.next_row(&mut values)? else {
        return Err(DataError::malformed(file.path(), "the file is empty"));
    };
    while let Some(found) = file.next_row(&mut values)? {
        if found != columns {
            return Err(file.error(format!("the line has {found} numbers, but the first has {columns}")));
        }
    }
    Ok((columns, values))
}

/// The beginning of a cell, for errors.
fn shortened(cell: &str) -> String {
    let mut text: String = cell.trim().chars().take(40).collect();
    if text.len() < cell.trim().len() {
        text.push_str("...");
    }
    text
}
