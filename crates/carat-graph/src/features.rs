//! Node features, dense or in CSR. A bag of words has 1 to 2 % non-zeros and stays sparse throughout.

use std::path::Path;

use crate::graph::check_offsets;
use crate::{DataError, Storage};

/// A matrix in compressed sparse rows. Column indices ascend within a row and do not repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct CsrMatrix {
    num_columns: usize,
    offsets: Storage<usize>,
    columns: Storage<u32>,
    values: Storage<f32>,
}

impl CsrMatrix {
    /// Checks and takes CSR arrays. Rows are sorted by column where they are not; a repeated column is an error.
    pub fn new(
        num_columns: usize,
        offsets: Vec<usize>,
        mut columns: Vec<u32>,
        mut values: Vec<f32>,
    ) -> Result<Self, DataError> {
        let invalid = |problem: String| Err(DataError::Invalid(problem));
        if offsets.first() != Some(&0) || offsets.last() != Some(&columns.len()) || columns.len() != values.len() {
            return invalid("sparse matrix: the row offsets do not match the number of values".into());
        }
        if offsets.windows(2).any(|w| w[0] > w[1]) {
            return invalid("sparse matrix: the row offsets are not ascending".into());
        }
        for (row, w) in offsets.windows(2).enumerate() {
            let range = w[0]..w[1];
            if columns[range.clone()].windows(2).any(|c| c[0] >= c[1]) {
                let mut entries: Vec<(u32, f32)> =
                    columns[range.clone()].iter().copied().zip(values[range.clone()].iter().copied()).collect();
                entries.sort_by_key(|e| e.0);
                if entries.windows(2).any(|e| e[0].0 == e[1].0) {
                    return invalid(format!("sparse matrix: row {row} names a column twice"));
                }
                for (slot, (c, v)) in range.clone().zip(entries) {
                    (columns[slot], values[slot]) = (c, v);
                }
            }
            if columns[range.clone()].last().is_some_and(|&c| c as usize >= num_columns) {
                return invalid(format!("sparse matrix: row {row} has a column beyond {num_columns}"));
            }
        }
        Ok(Self { num_columns, offsets: offsets.into(), columns: columns.into(), values: values.into() })
    }

    /// A matrix in a mapped file. Only the offsets are checked here. Columns and values may be larger than memory;
    /// [`Features::check`] and [`Features::check_rows`] check them.
    pub(crate) fn mapped(
        num_columns: usize,
        offsets: Storage<usize>,
        columns: Storage<u32>,
        values: Storage<f32>,
    ) -> Result<Self, DataError> {
        check_offsets(&offsets, columns.len())?;
        if columns.len() != values.len() {
            return Err(DataError::Invalid(format!("{} columns for {} values", columns.len(), values.len())));
        }
        Ok(Self { num_columns, offsets, columns, values })
    }

    /// Reads the first and last column of these rows only. Such reads do not depend on one another, so rows far apart
    /// are fetched from memory at the same time.
    fn touch(&self, rows: &[u32]) {
        let (offsets, columns, values) = (self.offsets(), self.columns(), self.values());
        let end = |at: usize| columns.get(at).map_or(0, |&c| c) ^ values.get(at).map_or(0, |v| v.to_bits());
        let both = |&row: &u32| end(offsets[row as usize]) ^ end(offsets[row as usize + 1].saturating_sub(1));
        std::hint::black_box(rows.iter().map(both).fold(0, |seen, next| seen ^ next));
    }

    fn check_row(&self, row: usize) -> Result<(), DataError> {
        let (columns, values) = self.row(row);
        // No early exit, so that the compiler can vectorise the comparisons.
        let ascending = columns.windows(2).fold(true, |ascending, pair| ascending & (pair[0] < pair[1]));
        if !ascending || columns.last().is_some_and(|&last| last as usize >= self.num_columns) {
            let problem = format!("the columns of node {row}'s features do not ascend below {}", self.num_columns);
            return Err(DataError::Invalid(problem));
        }
        match first_not_finite(values) {
            None => Ok(()),
            Some(at) => Err(not_finite(row, columns[at] as usize, values[at])),
        }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// Number of stored values.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Row offsets, as in `indptr`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Column of every value, as in `indices`.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Every stored value, as in `data`.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The stored values, wherever they lie.
    pub(crate) fn storage(&self) -> &Storage<f32> {
        &self.values
    }

    /// The same places with other values, as many as there are.
    pub(crate) fn with_values(&self, values: Storage<f32>) -> Self {
        Self { values, ..self.clone() }
    }

    /// Columns and values of one row.
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// Features of every node, all finite.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// Row-major, `num_nodes` x `num_columns`.
    Dense {
        /// Number of nodes.
        num_rows: usize,
        /// Number of features per node.
        num_columns: usize,
        /// The values, row by row.
        values: Storage<f32>,
    },
    /// Compressed sparse rows.
    Sparse(CsrMatrix),
}

impl Features {
    /// Below this share of non-zeros, [`Features::compacted`] stores rows sparsely: CSR x dense then does less work
    /// than a GEMM in spite of its lower rate per operation.
    pub const SPARSE_BELOW: f64 = 0.12;

    /// Dense features, row by row.
    pub fn dense(num_rows: usize, num_columns: usize, values: Vec<f32>) -> Result<Self, DataError> {
        if num_rows.checked_mul(num_columns) != Some(values.len()) {
            return Err(DataError::Invalid(format!(
                "{} feature values do not make {num_rows} rows of {num_columns}",
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(not_finite(at / num_columns, at % num_columns, values[at]));
        }
        Ok(Self::Dense { num_rows, num_columns, values: values.into() })
    }

    /// Sparse features.
    pub fn sparse(matrix: CsrMatrix) -> Result<Self, DataError> {
        if let Some(at) = matrix.values.iter().position(|v| !v.is_finite()) {
            let row = matrix.offsets.partition_point(|&o| o <= at) - 1;
            return Err(not_finite(row, matrix.columns[at] as usize, matrix.values[at]));
        }
        Ok(Self::Sparse(matrix))
    }

    /// The mapped file that holds the values; `None` if they are in memory.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Dense { values, .. } => values.file(),
            Self::Sparse(matrix) => matrix.values.file(),
        }
    }

    /// Checks the rows of `nodes`, which must exist, if they lie in a mapped file: opening such a file does not read
    /// all features. Call this before computing with rows. Features in memory were checked when they were made, and
    /// cost nothing here.
    pub fn check_rows(&self, nodes: &[u32]) -> Result<(), DataError> {
        let Some(path) = self.file() else { return Ok(()) };
        if let Self::Sparse(matrix) = self {
            matrix.touch(nodes);
        }
        nodes.iter().try_for_each(|&node| self.check_row(node as usize)).map_err(|e| e.in_file(path))
    }

    /// The same for every row.
    pub fn check(&self) -> Result<(), DataError> {
        let Some(path) = self.file() else { return Ok(()) };
        (0..self.num_rows()).try_for_each(|row| self.check_row(row)).map_err(|e| e.in_file(path))
    }

    fn check_row(&self, row: usize) -> Result<(), DataError> {
        match self {
            Self::Sparse(matrix) => matrix.check_row(row),
            Self::Dense { num_columns, values, .. } => {
                let values = &values[row * num_columns..(row + 1) * num_columns];
                match first_not_finite(values) {
                    None => Ok(()),
                    Some(column) => Err(not_finite(row, column, values[column])),
                }
            }
        }
    }

    /// Number of nodes.
    pub fn num_rows(&self) -> usize {
        match self {
            Self::Dense { num_rows, .. } => *num_rows,
            Self::Sparse(matrix) => matrix.num_rows(),
        }
    }

    /// Number of features per node.
    pub fn num_columns(&self) -> usize {
        match self {
            Self::Dense { num_columns, .. } => *num_columns,
            Self::Sparse(matrix) => matrix.num_columns(),
        }
    }

    /// Share of values that are not zero.
    pub fn density(&self) -> f64 {
        let cells = (self.num_rows() * self.num_columns()).max(1);
        let filled = match self {
            Self::Dense { values, .. } => values.iter().filter(|v| **v != 0.0).count(),
            Self::Sparse(matrix) => matrix.values.iter().filter(|v| **v != 0.0).count(),
        };
        filled as f64 / cells as f64
    }

    /// The same features in the form that computes faster, by density.
    #[must_use]
    pub fn compacted(self) -> Self {
        let sparse = self.density() < Self::SPARSE_BELOW;
        match self {
            Self::Dense { num_rows, num_columns, values } if sparse => {
                let mut offsets = vec![0];
                let (mut columns, mut kept) = (Vec::new(), Vec::new());
                for row in 0..num_rows {
                    for (c, &v) in values[row * num_columns..(row + 1) * num_columns].iter().enumerate() {
                        if v != 0.0 {
                            columns.push(c as u32);
                            kept.push(v);
                        }
                    }
                    offsets.push(columns.len());
                }
                Self::Sparse(CsrMatrix {
                    num_columns,
                    offsets: offsets.into(),
                    columns: columns.into(),
                    values: kept.into(),
                })
            }
            Self::Sparse(ref matrix) if !sparse => {
                let values = self.to_dense().into();
                Self::Dense { num_rows: matrix.num_rows(), num_columns: matrix.num_columns(), values }
            }
            other => other,
        }
    }

    /// All values, row by row.
    pub fn to_dense(&self) -> Vec<f32> {
        match self {
            Self::Dense { values, .. } => values.to_vec(),
            Self::Sparse(matrix) => {
                let mut dense = vec![0.0; matrix.num_rows() * matrix.num_columns];
                for row in 0..matrix.num_rows() {
                    let (columns, values) = matrix.row(row);
                    let dense = &mut dense[row * matrix.num_columns..(row + 1) * matrix.num_columns];
                    for (&c, &v) in columns.iter().zip(values) {
                        // A damaged mapped file may name a column that is not there; `check` is what reports it.
                        if let Some(cell) = dense.get_mut(c as usize) {
                            *cell = v;
                        }
                    }
                }
                dense
            }
        }
    }
}

/// Position of the first value that is not finite. Most rows have none and are scanned without a branch per value.
fn first_not_finite(values: &[f32]) -> Option<usize> {
    if values.iter().fold(true, |finite, value| finite & value.is_finite()) {
        return None;
    }
    values.iter().position(|value| !value.is_finite())
}

fn not_finite(row: usize, column: usize, value: f32) -> DataError {
    DataError::Invalid(format!("feature {column} of node {row} is {value}; every feature must be a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_changes_the_form_and_not_the_values() {
        let mut values = vec![0.0; 200];
        (values[3], values[150]) = (1.0, -2.5);
        let dense = Features::dense(10, 20, values.clone()).unwrap();
        let sparse = dense.clone().compacted();
        assert!(matches!(sparse, Features::Sparse(_)));
        assert_eq!(sparse.to_dense(), values);
        let full = Features::dense(2, 2, vec![1.0; 4]).unwrap();
        assert_eq!(full.clone().compacted(), full);
    }

    #[test]
    fn unsorted_rows_are_sorted_and_repeats_refused() {
        let matrix = CsrMatrix::new(5, vec![0, 2, 2], vec![4, 1], vec![1.0, 2.0]).unwrap();
        assert_eq!(matrix.row(0), (&[1u32, 4][..], &[2.0f32, 1.0][..]));
        assert!(CsrMatrix::new(5, vec![0, 2], vec![1, 1], vec![1.0, 2.0]).is_err());
        assert!(CsrMatrix::new(5, vec![0, 1], vec![5], vec![1.0]).is_err());
        assert!(CsrMatrix::new(5, vec![0, 3, 1], vec![0], vec![1.0]).is_err());
    }

    #[test]
    fn a_feature_that_is_not_finite_is_named() {
        let error = Features::dense(2, 2, vec![0.0, 1.0, f32::NAN, 0.0]).unwrap_err();
        assert_eq!(error.to_string(), "feature 0 of node 1 is NaN; every feature must be a finite number");
        let matrix = CsrMatrix::new(3, vec![0, 0, 1], vec![2], vec![f32::INFINITY]).unwrap();
        let error = Features::sparse(matrix).unwrap_err();
        assert_eq!(error.to_string(), "feature 2 of node 1 is inf; every feature must be a finite number");
    }
}
