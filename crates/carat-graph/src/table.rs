//! Tables of named columns, and the files they are written to: CSV, Parquet or NPZ by the ending of the name.
//!
//! Everything that `carat` writes row by row (predictions, attention, effects, a graph as a folder) is one of these.
//! Rows are written in chunks, so that a table of tens of millions of rows needs little extra memory.
//!
//! ```
//! use carat_graph::table::{Column, Table};
//!
//! let table = Table::new([
//!     ("src", Column::U32(vec![0, 2])),
//!     ("dst", Column::U32(vec![1, 1])),
//!     ("alpha", Column::F32(vec![0.25, 0.75])),
//! ])?;
//! let folder = tempfile::tempdir().unwrap();
//! table.write(&folder.path().join("attention.csv"))?;
//! let text = std::fs::read_to_string(folder.path().join("attention.csv")).unwrap();
//! assert_eq!(text, "src,dst,alpha\n0,1,0.25\n2,1,0.75\n");
//! # Ok::<(), carat_graph::DataError>(())
//! ```

use std::fmt::Write as _;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::basic::{Compression as PageCompression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::DataError;
use crate::files::write_atomically;
use crate::npy::NpzWriter;

/// Rows that are converted at a time on their way to a Parquet file.
const SLICE_ROWS: usize = 1 << 16;

/// Rows of a Parquet file that stand together, column after column.
const GROUP_ROWS: usize = 1 << 20;

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Nodes, edges, layers, heads, classes.
    U32(Vec<u32>),
    /// Whole numbers that may be negative, such as labels with -1 where one is missing.
    I64(Vec<i64>),
    /// What networks compute.
    F32(Vec<f32>),
    /// What statistics compute.
    F64(Vec<f64>),
    /// Names.
    Text(Vec<String>),
    /// Names that repeat: the place of each row's name in a list.
    Coded(Vec<u32>, Arc<Vec<String>>),
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Coded(codes, _) => codes.len(),
        }
    }

    /// True when there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn parquet_type(&self, name: &str) -> parquet::errors::Result<Type> {
        let (physical, logical) = match self {
            Self::U32(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
            Self::I64(_) => (Physical::INT64, None),
            Self::F32(_) => (Physical::FLOAT, None),
            Self::F64(_) => (Physical::DOUBLE, None),
            Self::Text(_) | Self::Coded(..) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::REQUIRED).build()
    }

    fn write_parquet(&self, rows: Range<usize>, to: &mut SerializedColumnWriter<'_>) -> parquet::errors::Result<()> {
        match self {
            Self::U32(values) => write_slices::<Int32Type, _>(&values[rows], |value| value.cast_signed(), to),
            Self::I64(values) => write_slices::<Int64Type, _>(&values[rows], |value| *value, to),
            Self::F32(values) => write_slices::<FloatType, _>(&values[rows], |value| *value, to),
            Self::F64(values) => write_slices::<DoubleType, _>(&values[rows], |value| *value, to),
            Self::Text(values) => {
                write_slices::<ByteArrayType, _>(&values[rows], |text| ByteArray::from(text.as_str()), to)
            }
            Self::Coded(codes, words) => {
                let text = |code: &u32| ByteArray::from(words[*code as usize].as_str());
                write_slices::<ByteArrayType, _>(&codes[rows], text, to)
            }
        }
    }
}

fn write_slices<T: DataType, V>(
    values: &[V],
    convert: impl Fn(&V) -> T::T,
    to: &mut SerializedColumnWriter<'_>,
) -> parquet::errors::Result<()> {
    for slice in values.chunks(SLICE_ROWS) {
        let slice: Vec<T::T> = slice.iter().map(&convert).collect();
        to.typed::<T>().write_batch(&slice, None, None)?;
    }
    Ok(())
}

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated text with a header.
    Csv,
    /// The same, gzip-compressed.
    CsvGz,
    /// Apache Parquet.
    Parquet,
    /// NumPy's zip of arrays, one per column.
    Npz,
}

impl TableFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Csv, Self::CsvGz, Self::Parquet, Self::Npz];

    /// The ending of its files, with the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => ".csv",
            Self::CsvGz => ".csv.gz",
            Self::Parquet => ".parquet",
            Self::Npz => ".npz",
        }
    }
}

/// The format that the ending of `path` asks for. Commands call it before they compute anything.
pub fn check_ending(path: &Path) -> Result<TableFormat, DataError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    TableFormat::ALL.into_iter().find(|format| name.ends_with(format.ending())).ok_or_else(|| {
        DataError::malformed(path, "the ending of an output file must be .csv, .csv.gz, .parquet or .npz")
    })
}

/// Columns of equal length under distinct names.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<(String, Column)>,
}

impl Table {
    /// Checks that there is a column, that all have as many rows, and that no two share a name.
    pub fn new<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>) -> Result<Self, DataError> {
        let columns: Vec<(String, Column)> = columns.into_iter().map(|(name, c)| (name.into(), c)).collect();
        let Some((first, rows)) = columns.first().map(|(name, column)| (name, column.len())) else {
            return Err(DataError::Invalid("a table needs at least one column".into()));
        };
        let mut names = std::collections::HashSet::with_capacity(columns.len());
        for (name, column) in &columns {
            if column.len() != rows {
                return Err(DataError::Invalid(format!(
                    "column '{name}' has {} rows, but column '{first}' has {rows}",
                    column.len()
                )));
            }
            if !names.insert(name.as_str()) {
                return Err(DataError::Invalid(format!("two columns are named '{name}'")));
            }
            if let Column::Coded(codes, words) = column
                && codes.iter().any(|&code| code as usize >= words.len())
            {
                return Err(DataError::Invalid(format!("column '{name}' names a text that is not in its list")));
            }
        }
        Ok(Self { columns })
    }

    /// The same table with one more column behind the column `after`, or behind all where there is none of that name.
    pub fn with_column(self, after: &str, name: &str, column: Column) -> Result<Self, DataError> {
        let mut columns = self.columns;
        let at = columns.iter().position(|(name, _)| name == after).map_or(columns.len(), |at| at + 1);
        columns.insert(at, (name.to_string(), column));
        Self::new(columns)
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, column)| column)
    }

    /// Names and columns, in order.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes the table whole or not at all, in the format that the ending of `path` asks for.
    pub fn write(&self, path: &Path) -> Result<(), DataError> {
        let format = check_ending(path)?;
        write_atomically(path, |writer| {
            match format {
                TableFormat::Csv => self.write_csv(writer).map(|_| ()),
                TableFormat::CsvGz => {
                    let encoder = GzEncoder::new(writer, Compression::new(4));
                    self.write_csv(encoder).and_then(GzEncoder::finish).map(|_| ())
                }
                TableFormat::Parquet => self.write_parquet(writer).map_err(plain),
                TableFormat::Npz => self.write_npz(writer),
            }
            .map_err(|e| DataError::write(path, e))
        })
    }

    fn write_csv<W: Write>(&self, writer: W) -> io::Result<W> {
        let mut csv = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(writer);
        csv.write_record(self.columns.iter().map(|(name, _)| name))?;
        let mut cell = String::new();
        for row in 0..self.num_rows() {
            for (_, column) in &self.columns {
                cell.clear();
                // Writing to a string cannot fail.
                let _ = match column {
                    Column::U32(values) => write!(cell, "{}", values[row]),
                    Column::I64(values) => write!(cell, "{}", values[row]),
                    // No number is an empty cell, as pandas and others write it.
                    Column::F32(values) if values[row].is_nan() => Ok(()),
                    Column::F64(values) if values[row].is_nan() => Ok(()),
                    Column::F32(values) if is_plain(values[row].into()) => write!(cell, "{}", values[row]),
                    Column::F32(values) => write!(cell, "{:e}", values[row]),
                    Column::F64(values) if is_plain(values[row]) => write!(cell, "{}", values[row]),
                    Column::F64(values) => write!(cell, "{:e}", values[row]),
                    Column::Text(values) => {
                        csv.write_field(&values[row])?;
                        continue;
                    }
                    Column::Coded(codes, words) => {
                        csv.write_field(&words[codes[row] as usize])?;
                        continue;
                    }
                };
                csv.write_field(&cell)?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    fn write_parquet<W: Write + Send>(&self, writer: W) -> parquet::errors::Result<()> {
        let fields = self.columns.iter().map(|(name, column)| column.parquet_type(name).map(Arc::new));
        let fields = fields.collect::<parquet::errors::Result<_>>()?;
        let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(PageCompression::SNAPPY).build();
        let mut file = SerializedFileWriter::new(writer, schema, Arc::new(properties))?;
        for start in (0..self.num_rows()).step_by(GROUP_ROWS) {
            let end = self.num_rows().min(start + GROUP_ROWS);
            let mut group = file.next_row_group()?;
            for (_, column) in &self.columns {
                let Some(mut writer) = group.next_column()? else { break };
                column.write_parquet(start..end, &mut writer)?;
                writer.close()?;
            }
            group.close()?;
        }
        file.close().map(|_| ())
    }

    fn write_npz<W: Write + Seek>(&self, writer: W) -> io::Result<()> {
        let mut npz = NpzWriter::new(writer);
        let shape = [self.num_rows()];
        for (name, column) in &self.columns {
            match column {
                Column::U32(values) => npz.array(name, "<u4", &shape, values.iter().map(|v| v.to_le_bytes()))?,
                Column::I64(values) => npz.array(name, "<i8", &shape, values.iter().map(|v| v.to_le_bytes()))?,
                Column::F32(values) => npz.array(name, "<f4", &shape, values.iter().map(|v| v.to_le_bytes()))?,
                Column::F64(values) => npz.array(name, "<f8", &shape, values.iter().map(|v| v.to_le_bytes()))?,
                Column::Text(values) => npz.text(name, values)?,
                Column::Coded(codes, words) => {
                    let texts: Vec<String> = codes.iter().map(|&code| words[code as usize].clone()).collect();
                    npz.text(name, &texts)?;
                }
            }
        }
        npz.finish()
    }
}

/// The system's own reason, without the Parquet writer's additions.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |e| *e),
        other => other.into(),
    }
}

/// Both notations print the fewest digits that read back as the same number. The plain one is for magnitudes that
/// people write without an exponent.
fn is_plain(value: f64) -> bool {
    value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs())
}
