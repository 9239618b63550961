//! A table of nodes or edges as its file has it: named columns of numbers, truth values, dates or text, any of which
//! may have gaps. [`crate::Encoding`] makes features of it.

use crate::dates::{format_date, parse_date};
use crate::{DataError, Features};

/// Stands for a missing text.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// The feature columns of a table of nodes or edges.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTable {
    rows: usize,
    columns: Vec<RawColumn>,
}

/// One named column.
#[derive(Debug, Clone, PartialEq)]
pub struct RawColumn {
    /// Its name.
    pub name: String,
    /// One value per row.
    pub values: RawValues,
}

/// The values of a column, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum RawValues {
    /// Rows, ascending, and the numbers in them; NaN where one is missing. All other rows are zero.
    Numbers {
        /// The rows that are not zero.
        rows: Vec<u32>,
        /// Their numbers.
        values: Vec<f64>,
    },
    /// Truth values.
    Booleans(Vec<Option<bool>>),
    /// Days since 1970-01-01; NaN where one is missing.
    Dates(Vec<f64>),
    /// Texts.
    Texts {
        /// Every text that occurs, in the order in which they were met.
        distinct: Vec<String>,
        /// Which of them each row has; `u32::MAX` where it is missing.
        codes: Vec<u32>,
    },
}

impl RawTable {
    /// Checks that every column has `rows` rows.
    pub fn new(rows: usize, columns: Vec<RawColumn>) -> Result<Self, DataError> {
        for RawColumn { name, values } in &columns {
            let fits = match values {
                RawValues::Numbers { rows: at, values } => {
                    at.len() == values.len()
                        && at.windows(2).all(|pair| pair[0] < pair[1])
                        && at.last().is_none_or(|&last| (last as usize) < rows)
                }
                RawValues::Booleans(values) => values.len() == rows,
                RawValues::Dates(values) => values.len() == rows,
                RawValues::Texts { distinct, codes } => {
                    let known = |&code: &u32| code == NO_TEXT || (code as usize) < distinct.len();
                    codes.len() == rows && codes.iter().all(known)
                }
            };
            if !fits {
                return Err(DataError::Invalid(format!("column '{name}' does not have {rows} rows")));
            }
        }
        Ok(Self { rows, columns })
    }

    /// A table of numbers without gaps.
    pub(crate) fn of_features(features: &Features, names: &[String]) -> Self {
        let mut columns = vec![(Vec::new(), Vec::new()); names.len()];
        let mut add = |row: usize, column: usize, value: f32| {
            if value != 0.0 {
                columns[column].0.push(row as u32);
                columns[column].1.push(f64::from(value));
            }
        };
        for row in 0..features.num_rows() {
            match features {
                Features::Dense { num_columns, values, .. } => {
                    let values = &values[row * num_columns..(row + 1) * num_columns];
                    values.iter().enumerate().for_each(|(column, &value)| add(row, column, value));
                }
                Features::Sparse(matrix) => {
                    let (at, values) = matrix.row(row);
                    at.iter().zip(values).for_each(|(&column, &value)| add(row, column as usize, value));
                }
            }
        }
        let named = names.iter().zip(columns).map(|(name, (rows, values))| RawColumn {
            name: name.clone(),
            values: RawValues::Numbers { rows, values },
        });
        Self { rows: features.num_rows(), columns: named.collect() }
    }

    /// The rows with these numbers, in this order.
    pub(crate) fn of_rows(&self, rows: &[usize]) -> Self {
        fn picked<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        let of_column = |column: &RawColumn| {
            let values = match &column.values {
                numbers @ RawValues::Numbers { .. } => {
                    let all = numbers.as_numbers(self.rows).unwrap_or_default();
                    let filled = (0u32..).zip(picked(&all, rows)).filter(|(_, value)| *value != 0.0);
                    let (rows, values) = filled.unzip();
                    RawValues::Numbers { rows, values }
                }
                RawValues::Booleans(values) => RawValues::Booleans(picked(values, rows)),
                RawValues::Dates(values) => RawValues::Dates(picked(values, rows)),
                RawValues::Texts { distinct, codes } => {
                    RawValues::Texts { distinct: distinct.clone(), codes: picked(codes, rows) }
                }
            };
            RawColumn { name: column.name.clone(), values }
        };
        Self { rows: rows.len(), columns: self.columns.iter().map(of_column).collect() }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.rows
    }

    /// The columns in the order of the file.
    pub fn columns(&self) -> &[RawColumn] {
        &self.columns
    }
}

impl RawValues {
    /// The kind in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Numbers { .. } => "number",
            Self::Booleans(_) => "boolean",
            Self::Dates(_) => "date",
            Self::Texts { .. } => "text",
        }
    }

    /// Which rows have no value.
    pub fn missing(&self, rows: usize) -> Vec<bool> {
        match self {
            Self::Numbers { rows: at, values } => {
                let mut missing = vec![false; rows];
                at.iter().zip(values).for_each(|(&row, value)| missing[row as usize] = value.is_nan());
                missing
            }
            Self::Booleans(values) => values.iter().map(Option::is_none).collect(),
            Self::Dates(values) => values.iter().map(|value| value.is_nan()).collect(),
            Self::Texts { codes, .. } => codes.iter().map(|&code| code == NO_TEXT).collect(),
        }
    }

    /// Every value as a number, NaN where missing, truth values as 0 and 1; or the first value that is none.
    pub(crate) fn as_numbers(&self, rows: usize) -> Result<Vec<f64>, String> {
        match self {
            Self::Numbers { rows: at, values } => {
                let mut all = vec![0.0; rows];
                at.iter().zip(values).for_each(|(&row, &value)| all[row as usize] = value);
                Ok(all)
            }
            Self::Booleans(values) => {
                Ok(values.iter().map(|value| value.map_or(f64::NAN, |flag| f64::from(u8::from(flag)))).collect())
            }
            Self::Dates(values) => {
                first_not(values.iter().position(|value| !value.is_nan()), rows, |row| format_date(values[row]))
            }
            Self::Texts { distinct, codes } => first_not(codes.iter().position(|&code| code != NO_TEXT), rows, |row| {
                distinct[codes[row] as usize].clone()
            }),
        }
    }

    /// Every value as a truth value; or the first that is none.
    pub(crate) fn as_booleans(&self, rows: usize) -> Result<Vec<Option<bool>>, String> {
        match self {
            Self::Booleans(values) => Ok(values.clone()),
            other => other.as_numbers(rows)?.into_iter().map(flag_of).collect(),
        }
    }

    /// Every value as days, NaN where missing; or the first that is no date.
    pub(crate) fn as_dates(&self, rows: usize) -> Result<Vec<f64>, String> {
        match self {
            Self::Dates(values) => Ok(values.clone()),
            Self::Texts { distinct, codes } => {
                let days: Vec<Option<f64>> = distinct.iter().map(|text| parse_date(text)).collect();
                let of_row = |&code: &u32| match code {
                    NO_TEXT => Ok(f64::NAN),
                    code => days[code as usize].ok_or_else(|| distinct[code as usize].clone()),
                };
                codes.iter().map(of_row).collect()
            }
            other => {
                let values = other.as_numbers(rows)?;
                first_not(values.iter().position(|value| !value.is_nan()), rows, |row| values[row].to_string())
            }
        }
    }

    /// Every value as one of some texts.
    pub(crate) fn as_texts(&self, rows: usize) -> (Vec<String>, Vec<u32>) {
        let mut distinct: Vec<String> = Vec::new();
        let mut known = std::collections::HashMap::new();
        let mut code = |text: Option<String>| {
            let Some(text) = text else { return NO_TEXT };
            *known.entry(text).or_insert_with_key(|text| {
                distinct.push(text.clone());
                distinct.len() as u32 - 1
            })
        };
        let codes = match self {
            Self::Texts { distinct, codes } => return (distinct.clone(), codes.clone()),
            Self::Booleans(values) => values.iter().map(|value| code(value.map(|flag| flag.to_string()))).collect(),
            Self::Dates(values) => values.iter().map(|&day| code((!day.is_nan()).then(|| format_date(day)))).collect(),
            Self::Numbers { .. } => {
                let values = self.as_numbers(rows).unwrap_or_default();
                values.iter().map(|value| code((!value.is_nan()).then(|| value.to_string()))).collect()
            }
        };
        (distinct, codes)
    }
}

fn flag_of(value: f64) -> Result<Option<bool>, String> {
    match value {
        missing if missing.is_nan() => Ok(None),
        0.0 => Ok(Some(false)),
        1.0 => Ok(Some(true)),
        other => Err(other.to_string()),
    }
}

/// The text of a row that has a value of the wrong kind; only gaps where there is no such row.
fn first_not(row: Option<usize>, rows: usize, text: impl Fn(usize) -> String) -> Result<Vec<f64>, String> {
    row.map_or_else(|| Ok(vec![f64::NAN; rows]), |row| Err(text(row)))
}
