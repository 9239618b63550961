//! Columns of a Parquet file as numbers, truth values, dates or text, a stretch of rows at a time.
//!
//! Numbers, truth values, text, dates and timestamps are read in every width that Parquet stores them in. Anything else
//! (lists, structs, times of day, raw bytes) is refused with the name of its type.

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::schema::types::{ColumnDescriptor, Type};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The values of some rows; `None` where one is null.
pub(crate) enum Values {
    Integer(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Boolean(Vec<Option<bool>>),
    /// Days since 1970-01-01.
    Date(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

impl Values {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integer(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Boolean(values) => values.len(),
            Self::Date(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

/// How the values of a column are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    Boolean,
    Signed,
    Unsigned,
    Number,
    Half,
    Decimal {
        scale: i32,
    },
    /// So many units to a day.
    Date {
        per_day: f64,
    },
    Text,
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        use parquet::basic::Type as Physical;
        let decimal = Self::Decimal { scale: column.type_scale() };
        let is_decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)))
            || column.converted_type() == ConvertedType::DECIMAL;
        Some(match (column.physical_type(), column.logical_type_ref()) {
            (_, Some(LogicalType::Unknown)) => Self::Text,
            (Physical::INT32 | Physical::INT64 | Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, _)
                if is_decimal =>
            {
                decimal
            }
            (Physical::BOOLEAN, _) => Self::Boolean,
            (Physical::FLOAT | Physical::DOUBLE, _) => Self::Number,
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) => Self::Half,
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(integer))) => {
                if integer.is_signed {
                    Self::Signed
                } else {
                    Self::Unsigned
                }
            }
            (Physical::INT32, Some(LogicalType::Date)) => Self::Date { per_day: 1.0 },
            (Physical::INT64, Some(LogicalType::Timestamp(time))) => {
                let per_second = match time.unit {
                    TimeUnit::MILLIS => 1e3,
                    TimeUnit::MICROS => 1e6,
                    TimeUnit::NANOS => 1e9,
                };
                Self::Date { per_day: per_second * SECONDS_PER_DAY }
            }
            (Physical::INT32 | Physical::INT64, None) => match column.converted_type() {
                ConvertedType::DATE => Self::Date { per_day: 1.0 },
                ConvertedType::TIMESTAMP_MILLIS => Self::Date { per_day: 1e3 * SECONDS_PER_DAY },
                ConvertedType::TIMESTAMP_MICROS => Self::Date { per_day: 1e6 * SECONDS_PER_DAY },
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                    Self::Unsigned
                }
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64 => Self::Signed,
                _ => return None,
            },
            (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => Self::Text,
            (Physical::BYTE_ARRAY, None) => match column.converted_type() {
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Self::Text,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// One column of the table, or what is wrong with it.
pub(crate) struct Column {
    /// Its place among the file's columns of plain values.
    leaf: usize,
    meaning: Meaning,
}

impl Column {
    /// The column at this place of the table.
    pub(crate) fn find(file: &dyn FileReader, root: usize) -> std::result::Result<Self, String> {
        let schema = file.metadata().file_metadata().schema_descr();
        let field = &schema.root_schema().get_fields()[root];
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root);
        let is_plain = field.is_primitive() && field.get_basic_info().repetition() != Repetition::REPEATED;
        let meaning = leaf.filter(|_| is_plain).and_then(|leaf| Meaning::of(&schema.column(leaf)));
        match (leaf, meaning) {
            (Some(leaf), Some(meaning)) => Ok(Self { leaf, meaning }),
            _ => Err(type_name(field)),
        }
    }

    /// Prepares to read the column in one group of rows.
    pub(crate) fn open(&self, group: &dyn RowGroupReader) -> Result<OpenColumn> {
        Ok(OpenColumn { reader: group.get_column_reader(self.leaf)?, meaning: self.meaning })
    }
}

/// A type that is not read, in words.
fn type_name(field: &Type) -> String {
    let info = field.get_basic_info();
    match info.logical_type_ref() {
        Some(LogicalType::List) => format!("List({})", field.get_fields().first().map_or("", |inner| inner.name())),
        Some(logical) => format!("{logical:?}").split('(').next().unwrap_or_default().to_string(),
        None if info.repetition() == Repetition::REPEATED => "List()".into(),
        None if field.is_group() => "Struct".into(),
        None if info.converted_type() != ConvertedType::NONE => info.converted_type().to_string(),
        None => field.get_physical_type().to_string(),
    }
}

/// A column that is being read.
pub(crate) struct OpenColumn {
    reader: ColumnReader,
    meaning: Meaning,
}

impl OpenColumn {
    /// The next rows, at most `count`; fewer only where the group of rows ends.
    pub(crate) fn next(&mut self, count: usize) -> Result<Values> {
        let meaning = self.meaning;
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => Ok(Values::Boolean(read(reader, count)?)),
            ColumnReader::FloatColumnReader(reader) => Ok(Values::Number(numbers(read(reader, count)?, f64::from))),
            ColumnReader::DoubleColumnReader(reader) => Ok(Values::Number(read(reader, count)?)),
            ColumnReader::Int32ColumnReader(reader) => {
                let values = read(reader, count)?;
                Ok(match meaning {
                    Meaning::Decimal { scale } => {
                        Values::Number(numbers(values, |value| f64::from(value) / ten_to(scale)))
                    }
                    Meaning::Unsigned => Values::Integer(numbers(values, |value| i64::from(value.cast_unsigned()))),
                    Meaning::Text => nulls(values.len()),
                    Meaning::Date { per_day } => Values::Date(numbers(values, |value| f64::from(value) / per_day)),
                    _ => Values::Integer(numbers(values, i64::from)),
                })
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = read(reader, count)?;
                Ok(match meaning {
                    Meaning::Decimal { scale } => Values::Number(numbers(values, |value| value as f64 / ten_to(scale))),
                    // Unsigned numbers beyond i64, such as hashes used as ids, read as text.
                    Meaning::Unsigned if values.iter().flatten().any(|value| *value < 0) => {
                        Values::Text(numbers(values, |value| value.cast_unsigned().to_string()))
                    }
                    Meaning::Text => nulls(values.len()),
                    Meaning::Date { per_day } => Values::Date(numbers(values, |value| value as f64 / per_day)),
                    _ => Values::Integer(values),
                })
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let values: Vec<Option<ByteArray>> = read(reader, count)?;
                match meaning {
                    Meaning::Decimal { scale } => {
                        Ok(Values::Number(numbers(values, |value| whole(value.data()) / ten_to(scale))))
                    }
                    _ => {
                        let text =
                            |value: Option<ByteArray>| value.map(|v| v.as_utf8().map(str::to_string)).transpose();
                        Ok(Values::Text(values.into_iter().map(text).collect::<Result<_>>()?))
                    }
                }
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                let values: Vec<Option<FixedLenByteArray>> = read(reader, count)?;
                Ok(Values::Number(match meaning {
                    Meaning::Decimal { scale } => numbers(values, |value| whole(value.data()) / ten_to(scale)),
                    _ => numbers(values, |value| match value.data() {
                        [low, high] => half::f16::from_le_bytes([*low, *high]).into(),
                        _ => f64::NAN,
                    }),
                }))
            }
            ColumnReader::Int96ColumnReader(_) => Err(ParquetError::NYI("INT96 is a type of times".into())),
        }
    }
}

/// Reads rows; nulls are where the definition level is 0, and have no value.
fn read<T: DataType>(reader: &mut ColumnReaderImpl<T>, count: usize) -> Result<Vec<Option<T::T>>> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (rows, ..) = reader.read_records(count, Some(&mut levels), None, &mut values)?;
    if levels.is_empty() {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    let found: Vec<_> = levels.iter().map(|&level| if level > 0 { values.next() } else { None }).collect();
    if found.len() != rows {
        return Err(ParquetError::General("a column has another number of rows than it says".into()));
    }
    Ok(found)
}

fn numbers<A, B>(values: Vec<Option<A>>, number: impl Fn(A) -> B) -> Vec<Option<B>> {
    values.into_iter().map(|value| value.map(&number)).collect()
}

fn nulls(count: usize) -> Values {
    Values::Text(vec![None; count])
}

fn ten_to(scale: i32) -> f64 {
    10f64.powi(scale)
}

/// The number that big-endian bytes in two's complement stand for.
fn whole(bytes: &[u8]) -> f64 {
    let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) { -1.0 } else { 0.0 };
    bytes.iter().fold(sign, |number, byte| number * 256.0 + f64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_big_endian_with_a_sign() {
        assert_eq!(whole(&[]), 0.0);
        assert_eq!(whole(&[0x01, 0x00]), 256.0);
        assert_eq!(whole(&[0xff, 0xff, 0xfe]), -2.0);
        assert_eq!(whole(&(-123_456_789_012_345_i128).to_be_bytes()), -123_456_789_012_345.0);
    }
}
