//! Features on a common scale.
//!
//! ```text
//! standard   x' = (x - shift) * factor      per column, from training nodes
//!            shift = mean, factor = 1 / deviation
//!            where fewer than 12 % of the values are not zero: shift = 0, factor = 1 / rms of those that are not
//! row        x' = (x - min) / max(sum over the row of (x - min), 1)      min: the smallest of all values
//! ```
//!
//! The second form of `standard` keeps sparse columns sparse, and columns of 0 and 1 as they are. `row` is PyTorch
//! Geometric's `NormalizeFeatures`.

use std::fmt;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::storage::Map;
use crate::{CsrMatrix, DataError, Dataset, Features, Storage};

/// How features are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalise {
    /// Not at all.
    #[default]
    None,
    /// Every row is divided by its sum.
    Row,
    /// Every column gets mean 0 and deviation 1 over the training nodes.
    Standard,
    /// [`Normalise::Standard`] for tables and for dense features other than 0 and 1, whose columns may have any scale;
    /// else [`Normalise::None`].
    Auto,
}

impl Normalise {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::None, Self::Row, Self::Standard, Self::Auto];

    /// What it means for a dataset; never [`Normalise::Auto`].
    pub fn resolved(self, dataset: &Dataset) -> Self {
        self.resolved_for(dataset.features(), dataset.is_of_tables())
    }

    /// The same for the features of edges. Their rows are not divided by their sums.
    pub fn resolved_for_edges(self, dataset: &Dataset) -> Self {
        match (self, dataset.edge_features()) {
            (Self::Row, _) | (_, None) => Self::None,
            (choice, Some(edges)) => choice.resolved_for(&edges.as_features(), dataset.is_of_tables()),
        }
    }

    fn resolved_for(self, features: &Features, are_of_tables: bool) -> Self {
        let is_switch = |value: &f32| *value == 0.0 || *value == 1.0;
        match (self, features) {
            (Self::Auto, _) if are_of_tables => Self::Standard,
            (Self::Auto, Features::Dense { values, .. }) if !values.iter().all(is_switch) => Self::Standard,
            (Self::Auto, _) => Self::None,
            (choice, _) => choice,
        }
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Row => "row",
            Self::Standard => "standard",
            Self::Auto => "auto",
        })
    }
}

impl std::str::FromStr for Normalise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|choice| choice.to_string() == text);
        found.ok_or_else(|| format!("'{text}' is not a scale of features; choose none, row, standard or auto"))
    }
}

/// What happens to the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Subtracted first.
    pub shift: f64,
    /// Multiplied with then.
    pub factor: f64,
}

impl Scale {
    /// The scale that changes nothing.
    pub const NONE: Self = Self { shift: 0.0, factor: 1.0 };

    /// The scale that a column gets.
    pub(super) fn of(column: &Moments, normalise: Normalise, centre: bool) -> Self {
        match normalise {
            Normalise::Standard => Self::standard(column, centre),
            Normalise::None | Normalise::Row | Normalise::Auto => Self::NONE,
        }
    }

    /// The standard scale of a column. `centre` says whether zeros may change.
    fn standard(column: &Moments, centre: bool) -> Self {
        let root = |sum: f64, count: usize| (sum / count.max(1) as f64).sqrt();
        let centred = centre && column.filled as f64 >= Features::SPARSE_BELOW * column.count as f64;
        let (shift, deviation) = if centred {
            let zeros = (column.count - column.filled) as f64 * column.mean * column.mean;
            (column.mean, root(column.centred_squares + zeros, column.count))
        } else {
            (0.0, root(column.squares, column.filled))
        };
        // The deviation of a constant column is rounding.
        let varies = deviation.is_normal() && deviation > 1e-12 * shift.abs();
        Self { shift, factor: if varies { 1.0 / deviation } else { 1.0 } }
    }

    pub(super) fn apply(self, value: f64) -> f64 {
        (value - self.shift) * self.factor
    }

    pub(super) fn is_finite(self) -> bool {
        self.shift.is_finite() && self.factor.is_finite()
    }
}

/// What a scale is made of. Sums of squares are over the values that are not zero.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: usize,
    filled: usize,
    pub(super) mean: f64,
    squares: f64,
    centred_squares: f64,
}

impl Moments {
    /// Of some numbers.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut moments = Self { count: values.len(), ..Self::default() };
        values.iter().for_each(|&value| moments.add(value));
        moments.finish_mean();
        values.iter().for_each(|&value| moments.add_centred(value));
        moments
    }

    fn add(&mut self, value: f64) {
        self.filled += usize::from(value != 0.0);
        self.mean += value;
        self.squares += value * value;
    }

    /// Turns the sum into the mean.
    fn finish_mean(&mut self) {
        self.mean /= self.count.max(1) as f64;
    }

    fn add_centred(&mut self, value: f64) {
        if value != 0.0 {
            self.centred_squares += (value - self.mean).powi(2);
        }
    }
}

/// Those of every column, over some rows.
pub(super) fn moments(features: &Features, rows: &[u32]) -> Result<Vec<Moments>, DataError> {
    features.check_rows(rows)?;
    let all = || rows.iter().map(|&row| row as usize);
    let mut moments = vec![Moments { count: rows.len(), ..Moments::default() }; features.num_columns()];
    for_each_value(features, all(), |_, column, value| moments[column].add(value.into()));
    moments.iter_mut().for_each(Moments::finish_mean);
    for_each_value(features, all(), |_, column, value| moments[column].add_centred(value.into()));
    Ok(moments)
}

/// Whether the zeros of the features can change. Those of a sparse matrix in a mapped file cannot be filled in.
pub(super) fn can_centre(features: &Features) -> bool {
    matches!(features, Features::Dense { .. }) || features.file().is_none()
}

fn for_each_value(features: &Features, rows: impl Iterator<Item = usize>, mut visit: impl FnMut(usize, usize, f32)) {
    for row in rows {
        match features {
            Features::Dense { num_columns, values, .. } => {
                let values = &values[row * num_columns..(row + 1) * num_columns];
                values.iter().enumerate().for_each(|(column, &value)| visit(row, column, value));
            }
            Features::Sparse(matrix) => {
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).for_each(|(&column, &value)| visit(row, column as usize, value));
            }
        }
    }
}

/// The features with every column scaled.
pub(super) fn scaled(features: &Features, scales: &[Scale]) -> Result<Features, DataError> {
    let scaled = |column: usize, value: f32| scales[column].apply(value.into()) as f32;
    features.check()?;
    match features {
        Features::Dense { num_rows, num_columns, values } => {
            let all = values.iter().enumerate().map(|(at, &value)| scaled(at % num_columns, value));
            let values = stored_as(values, all)?;
            let features = Features::Dense { num_rows: *num_rows, num_columns: *num_columns, values };
            finite(features)
        }
        Features::Sparse(matrix) if scales.iter().all(|scale| scale.shift == 0.0) => {
            let all = matrix.columns().iter().zip(matrix.values()).map(|(&c, &value)| scaled(c as usize, value));
            finite(Features::Sparse(matrix.with_values(stored_as(matrix.storage(), all)?)))
        }
        Features::Sparse(matrix) => {
            let shifted: Vec<u32> = (0..scales.len() as u32).filter(|&c| scales[c as usize].shift != 0.0).collect();
            let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in 0..matrix.num_rows() {
                let (own, stored) = matrix.row(row);
                let mut stored = own.iter().copied().zip(stored.iter().copied()).peekable();
                let mut filled = shifted.iter().copied().peekable();
                while let Some(column) =
                    [stored.peek().map(|cell| cell.0), filled.peek().copied()].into_iter().flatten().min()
                {
                    filled.next_if_eq(&column);
                    let value = stored.next_if(|cell| cell.0 == column).map_or(0.0, |cell| cell.1);
                    columns.push(column);
                    values.push(scaled(column as usize, value));
                }
                offsets.push(columns.len());
            }
            Ok(Features::sparse(CsrMatrix::new(scales.len(), offsets, columns, values)?)?.compacted())
        }
    }
}

/// The smallest value, zeros included.
pub(super) fn smallest(features: &Features) -> Result<f64, DataError> {
    features.check()?;
    let mut least = match features {
        Features::Dense { .. } => f32::INFINITY,
        Features::Sparse(matrix) if matrix.num_values() == matrix.num_rows() * matrix.num_columns() => f32::INFINITY,
        Features::Sparse(_) => 0.0,
    };
    for_each_value(features, 0..features.num_rows(), |_, _, value| least = least.min(value));
    Ok(f64::from(least))
}

/// The features with `least` taken from every value, and every row divided by its sum, or by 1 if that is larger.
pub(super) fn by_row(features: &Features, least: f64) -> Result<Features, DataError> {
    features.check()?;
    let mut sums = vec![0.0; features.num_rows()];
    for_each_value(features, 0..features.num_rows(), |row, _, value| sums[row] += f64::from(value) - least);
    let divided = |row: usize, value: f32| ((f64::from(value) - least) / sums[row].max(1.0)) as f32;
    match features {
        Features::Dense { num_rows, num_columns, values } => {
            let all = values.iter().enumerate().map(|(at, &value)| divided(at / num_columns, value));
            let values = stored_as(values, all)?;
            finite(Features::Dense { num_rows: *num_rows, num_columns: *num_columns, values })
        }
        Features::Sparse(matrix) if least == 0.0 => {
            let rows = (0..matrix.num_rows()).flat_map(|row| matrix.row(row).1.iter().map(move |&value| (row, value)));
            let all = rows.map(|(row, value)| divided(row, value));
            finite(Features::Sparse(matrix.with_values(stored_as(matrix.storage(), all)?)))
        }
        Features::Sparse(_) if features.file().is_some() => Err(DataError::Invalid(
            "normalise row would fill a sparse matrix with negative values; use standard, or none".into(),
        )),
        Features::Sparse(matrix) => {
            let columns = matrix.num_columns();
            by_row(&Features::dense(matrix.num_rows(), columns, features.to_dense())?, least)
        }
    }
}

/// New values in the place of others: in memory, or, where those lie in a mapped file, in an unnamed file beside it.
fn stored_as(original: &Storage<f32>, values: impl Iterator<Item = f32>) -> Result<Storage<f32>, DataError> {
    let Some(path) = original.file() else { return Ok(values.collect()) };
    if original.is_empty() {
        return Ok(Storage::from(Vec::new()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    // A folder of public data may be read-only.
    let file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile());
    let failed = |e: std::io::Error| DataError::write(path.with_extension("scaled"), e);
    let file = file.map_err(failed)?;
    let mut writer = BufWriter::with_capacity(1 << 20, &file);
    values.into_iter().try_for_each(|value| writer.write_all(&value.to_le_bytes())).map_err(failed)?;
    writer.flush().map_err(failed)?;
    drop(writer);
    let map = Arc::new(Map::new(&file, path)?);
    let bytes = 0..map.bytes().len();
    Storage::mapped(&map, bytes).ok_or_else(|| DataError::Invalid("the scaled features could not be mapped".into()))
}

/// Values near the largest that there is may overflow.
fn finite(features: Features) -> Result<Features, DataError> {
    match features {
        Features::Dense { num_rows, num_columns, values } if values.file().is_none() => {
            Features::dense(num_rows, num_columns, values.to_vec())
        }
        Features::Sparse(matrix) if matrix.storage().file().is_none() => Features::sparse(matrix),
        mapped => mapped.check().map(|()| mapped),
    }
}
