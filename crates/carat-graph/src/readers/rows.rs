//! Rows of a table with named columns, from CSV (gzip-compressed or not) and from Parquet alike.
//!
//! A cell of CSV is text; a cell of Parquet has a type. [`Cell`] holds either, and turns it into what a column needs.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv::StringRecord;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use crate::DataError;
use crate::dates::format_date;
use crate::files::{MAX_LINE_BYTES, open_text};
use crate::readers::guard::guarded;
use crate::readers::parquet_file::{Column, ParquetFile, Values};

/// The most columns. A wider table would need much memory before its first row is read.
pub(crate) const MAX_COLUMNS: usize = 1_000_000;

/// Rows of a Parquet file that are in memory at a time.
const STRETCH_ROWS: usize = 1 << 12;

/// Up to this value, f64 holds every whole number exactly.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// One value of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Empty, or null.
    Missing,
    /// Text as it stands; CSV has nothing else.
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    /// Days since 1970-01-01.
    Date(f64),
}

impl<'a> Cell<'a> {
    fn of(column: &'a Values, row: usize) -> Self {
        match column {
            Values::Integer(values) => values[row].map_or(Self::Missing, Self::Integer),
            Values::Number(values) => values[row].map_or(Self::Missing, Self::Number),
            Values::Boolean(values) => values[row].map_or(Self::Missing, Self::Boolean),
            Values::Date(values) => values[row].map_or(Self::Missing, Self::Date),
            Values::Text(values) => values[row].as_deref().map_or(Self::Missing, Self::Text),
        }
    }

    /// True for a cell without a value: empty, NaN, and the words that other programs write for them.
    pub(crate) fn is_gap(self) -> bool {
        const WORDS: [&str; 7] = ["na", "n/a", "nan", "null", "none", "<na>", "#n/a"];
        match self {
            Self::Missing => true,
            Self::Number(number) => number.is_nan(),
            Self::Text(text) => {
                let text = text.trim();
                text.len() <= 4 && (text.is_empty() || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)))
            }
            Self::Integer(_) | Self::Boolean(_) | Self::Date(_) => false,
        }
    }

    /// As text without spaces around it; `None` if it is missing.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Missing => None,
            Self::Text(text) => Some(Cow::Borrowed(text.trim())),
            Self::Integer(number) => Some(Cow::Owned(number.to_string())),
            Self::Number(number) if number.is_nan() => None,
            // Libraries without missing integers store 5 as 5.0. Adding zero turns -0 into 0.
            Self::Number(number) if number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE => {
                Some(Cow::Owned(format!("{:.0}", number + 0.0)))
            }
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            Self::Boolean(flag) => Some(Cow::Borrowed(if flag { "true" } else { "false" })),
            Self::Date(days) => Some(Cow::Owned(format_date(days))),
        }
    }

    /// As a finite number; `None` if it is missing or not one.
    pub(crate) fn number(self) -> Option<f32> {
        let number = match self {
            Self::Missing | Self::Date(_) => None,
            Self::Text(text) => text.trim().parse::<f32>().ok(),
            Self::Integer(number) => Some(number as f32),
            Self::Number(number) => Some(number as f32),
            Self::Boolean(flag) => Some(f32::from(u8::from(flag))),
        };
        number.filter(|number| number.is_finite())
    }

    /// The same in 64 bits, where 32 bits can hold its magnitude.
    pub(crate) fn double(self) -> Option<f64> {
        let number = match self {
            Self::Text(text) => text.trim().parse::<f64>().ok(),
            Self::Integer(number) => Some(number as f64),
            Self::Number(number) => Some(number),
            other => other.number().map(f64::from),
        };
        number.filter(|number| (*number as f32).is_finite())
    }
}

/// An open table file. Its columns are known, its rows are not yet read.
pub(crate) struct RowFile {
    path: PathBuf,
    columns: Vec<String>,
    source: Source,
}

enum Source {
    Csv(Box<csv::Reader<RowLimit>>),
    Parquet(Box<SerializedFileReader<ParquetFile>>),
}

impl RowFile {
    /// Opens a file, Parquet if its name ends in `.parquet` and CSV otherwise, and reads the names of its columns.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let (columns, source): (Vec<String>, Source) = if path.extension().is_some_and(|e| e == "parquet") {
            let file = File::open(path).map_err(|e| DataError::read(path, e))?;
            let reader = parquet_step(path, || SerializedFileReader::new(ParquetFile::new(file)?))?;
            let fields = reader.metadata().file_metadata().schema().get_fields();
            let columns = fields.iter().map(|field| field.name().trim().to_string()).collect();
            (columns, Source::Parquet(Box::new(reader)))
        } else {
            let mut text = open_text(path)?;
            let delimiter = delimiter(path, text.fill_buf().map_err(|e| csv_error(path, &e.into()))?);
            let input = RowLimit { inner: text, left: Rc::new(MAX_LINE_BYTES.into()) };
            let left = input.left.clone();
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(input);
            let headers = reader.headers().map_err(|e| csv_error(path, &e))?;
            let columns = headers.iter().take(MAX_COLUMNS + 1).map(|name| name.trim().to_string()).collect();
            left.set(MAX_LINE_BYTES);
            (columns, Source::Csv(Box::new(reader)))
        };
        if columns.is_empty() {
            return Err(DataError::malformed(path, "the file is empty; its first line must name the columns"));
        }
        if columns.len() > MAX_COLUMNS {
            return Err(DataError::malformed(path, format!("there are more than {MAX_COLUMNS} columns")));
        }
        let mut names = std::collections::HashSet::with_capacity(columns.len());
        if let Some(name) = columns.iter().find(|name| !names.insert(name.as_str())) {
            return Err(DataError::malformed(path, format!("two columns are named '{name}'")));
        }
        Ok(Self { path: path.to_path_buf(), columns, source })
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The position of a column.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// False for a column of a type that no [`Cell`] has, such as a list.
    pub(crate) fn is_readable(&self, at: usize) -> bool {
        match &self.source {
            Source::Csv(_) => true,
            Source::Parquet(reader) => Column::find(&**reader, at).is_ok(),
        }
    }

    /// The position of a column that must be there.
    pub(crate) fn require(&self, name: &str) -> Result<usize, DataError> {
        self.find(name).ok_or_else(|| {
            let mut found = self.columns.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
            if self.columns.len() > 20 {
                found.push_str(&format!(" and {} more", self.columns.len() - 20));
            }
            DataError::malformed(&self.path, format!("there is no column '{name}'; the columns are {found}"))
        })
    }

    /// Visits every row in order. `wanted` names positions of columns; the row's cells are numbered as in `wanted`.
    pub(crate) fn for_each(
        self,
        wanted: &[usize],
        mut visit: impl FnMut(&Row<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let path = self.path;
        match self.source {
            Source::Csv(mut reader) => {
                let mut record = StringRecord::new();
                while reader.read_record(&mut record).map_err(|e| csv_error(&path, &e))? {
                    reader.get_ref().left.set(MAX_LINE_BYTES);
                    let byte = record.position().map_or(0, csv::Position::byte);
                    visit(&Row { path: &path, place: byte, cells: Cells::Text { record: &record, wanted } })?;
                }
            }
            Source::Parquet(reader) => {
                let column = |&at: &usize| {
                    Column::find(&*reader, at).map_err(|found| {
                        let name = &self.columns[at];
                        let problem = format!("column '{name}' has the type {found}; store numbers, text or booleans");
                        DataError::malformed(&path, problem)
                    })
                };
                let columns = wanted.iter().map(column).collect::<Result<Vec<_>, _>>()?;
                let mut number = 0;
                for group in 0..reader.num_row_groups() {
                    let mut open = parquet_step(&path, || {
                        let group = reader.get_row_group(group)?;
                        columns.iter().map(|column| column.open(&*group)).collect::<Result<Vec<_>, _>>()
                    })?;
                    loop {
                        let stretch = parquet_step(&path, || {
                            open.iter_mut().map(|column| column.next(STRETCH_ROWS)).collect::<Result<Vec<_>, _>>()
                        })?;
                        let rows = stretch.first().map_or(0, Values::len);
                        if stretch.iter().any(|values| values.len() != rows) {
                            let problem = ParquetError::General("its columns differ in their numbers of rows".into());
                            return parquet_step(&path, || Err(problem));
                        }
                        if rows == 0 {
                            break;
                        }
                        for row in 0..rows {
                            number += 1;
                            visit(&Row { path: &path, place: number, cells: Cells::Typed { columns: &stretch, row } })?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// What stands between cells. Spreadsheets of some countries write semicolons.
fn delimiter(path: &Path, start: &[u8]) -> u8 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.trim_end_matches(".gz").ends_with(".tsv") {
        return b'\t';
    }
    let header = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let others = [b',', b';', b'\t'];
    others.into_iter().find(|delimiter| header.contains(delimiter)).unwrap_or(b',')
}

/// Where a row is in its file, for errors found later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    place: u64,
    is_text: bool,
}

impl Spot {
    /// An error about the row: by its line in a text file, by its number (from 1) in Parquet.
    pub(crate) fn error(self, path: &Path, problem: impl Into<String>) -> DataError {
        if self.is_text {
            DataError::malformed_line(path, line_of(path, self.place), problem)
        } else {
            DataError::malformed(path, format!("row {}: {}", self.place, problem.into()))
        }
    }
}

/// One row, while it is visited.
pub(crate) struct Row<'a> {
    path: &'a Path,
    /// The byte where it starts in a text file; its number (from 1) in Parquet.
    place: u64,
    cells: Cells<'a>,
}

enum Cells<'a> {
    Text { record: &'a StringRecord, wanted: &'a [usize] },
    Typed { columns: &'a [Values], row: usize },
}

impl Row<'_> {
    /// The cell of the `k`-th wanted column.
    pub(crate) fn cell(&self, k: usize) -> Cell<'_> {
        let cell = match &self.cells {
            Cells::Text { record, wanted } => wanted.get(k).and_then(|&at| record.get(at)).map(Cell::Text),
            Cells::Typed { columns, row } => columns.get(k).map(|column| Cell::of(column, *row)),
        };
        match cell {
            None => Cell::Missing,
            Some(Cell::Text(text)) if text.trim().is_empty() => Cell::Missing,
            Some(cell) => cell,
        }
    }

    /// Where the row is.
    pub(crate) fn spot(&self) -> Spot {
        Spot { place: self.place, is_text: matches!(self.cells, Cells::Text { .. }) }
    }

    /// An error about this row.
    pub(crate) fn error(&self, problem: impl Into<String>) -> DataError {
        self.spot().error(self.path, problem)
    }
}

/// Stops a row, such as one with a quote left open, from filling the memory.
struct RowLimit {
    inner: Box<dyn BufRead>,
    /// Bytes that may still be read before the next row is complete.
    left: Rc<std::cell::Cell<u64>>,
}

impl Read for RowLimit {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other("a row is longer than 64 MiB; is a quote left open?"));
        }
        let room = buffer.len().min(usize::try_from(self.left.get()).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..room])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
}

/// One call into the Parquet library.
fn parquet_step<T, E: Display>(path: &Path, step: impl FnOnce() -> Result<T, E>) -> Result<T, DataError> {
    match guarded(step) {
        Some(Ok(value)) => Ok(value),
        Some(Err(e)) => {
            // The library prefixes its reasons with its name, once per layer.
            let mut reason = &e.to_string()[..];
            while let Some(rest) =
                ["Parquet argument error: ", "Parquet error: "].iter().find_map(|own| reason.strip_prefix(own))
            {
                reason = rest;
            }
            Err(DataError::malformed(path, format!("this is no readable Parquet file: {reason}")))
        }
        None => Err(DataError::malformed(path, "this Parquet file is damaged")),
    }
}

/// The line, from 1, of the row at or after `byte`. Counted when there is an error to report: the CSV library's own
/// count is one behind where lines end in CR LF, and does not see blank lines before a row.
fn line_of(path: &Path, byte: u64) -> u64 {
    let (mut line, mut at) = (1, 0);
    let Ok(reader) = open_text(path) else {
        return line;
    };
    for next in reader.bytes().map_while(Result::ok) {
        if at >= byte && !matches!(next, b'\n' | b'\r') {
            break;
        }
        line += u64::from(next == b'\n');
        at += 1;
    }
    line
}

fn csv_error(path: &Path, error: &csv::Error) -> DataError {
    let line = |pos: &Option<csv::Position>| line_of(path, pos.as_ref().map_or(0, csv::Position::byte));
    match error.kind() {
        csv::ErrorKind::Io(e) => DataError::malformed(path, format!("the file is damaged or cut short: {e}")),
        csv::ErrorKind::Utf8 { pos, .. } => DataError::malformed_line(path, line(pos), "the line is not UTF-8 text"),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => DataError::malformed_line(
            path,
            line(pos),
            format!("the row has {len} cells, but the header has {expected_len}"),
        ),
        _ => DataError::malformed(path, error.to_string()),
    }
}
