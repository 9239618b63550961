//! Mean and variance of every column, of dense rows and of sparse columns.
//!
//! ```text
//! mean_c = (1/N) sum_n x_nc           variance_c = (1/N) sum_n (x_nc - mean_c)^2
//! ```
//!
//! Two passes: the difference of two large sums loses the precision that a sum of small differences keeps.

use pulp::Simd;

use super::dense;
use super::sparse::Sparse;
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows};

/// Rows per chunk.
const CHUNK_ROWS: usize = 128;

/// Mean and variance of every column; the variance is divided by N, not by N - 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Moments<T> {
    pub(crate) mean: Vec<T>,
    pub(crate) variance: Vec<T>,
}

impl<T: Real> Moments<T> {
    /// Of the columns of a row-major matrix.
    pub(crate) fn of_rows(x: &[T], width: usize) -> Self {
        let rows = x.len() / width;
        let share = T::from_f64(1.0 / rows.max(1) as f64);
        let mut mean = vec![T::ZERO; width];
        dense::add_column_sums(&mut mean, x);
        mean.iter_mut().for_each(|mean| *mean *= share);
        let chunks = Chunks::even(rows, CHUNK_ROWS);
        let mut parts = vec![T::ZERO; chunks.len() * width];
        chunks.run(ChunkRows::new(&mut parts, &chunks, width), |range, part| {
            add_squares(part.into_slice(), &x[range.start * width..range.end * width], &mean);
        });
        let mut variance = vec![T::ZERO; width];
        dense::add_column_sums(&mut variance, &parts);
        variance.iter_mut().for_each(|variance| *variance *= share);
        Self { mean, variance }
    }

    /// Of a sparse matrix of `rows` rows, given its transpose. Zeros that are not stored count too.
    pub(crate) fn of_columns(columns: &Sparse<T>, rows: usize) -> Self {
        let width = columns.offsets.len() - 1;
        let (mut mean, mut variance) = (vec![T::ZERO; width], vec![T::ZERO; width]);
        let outputs = (Rows::new(&mut mean, 1), Rows::new(&mut variance, 1));
        columns.chunks.run(outputs, |range, (mean, variance)| {
            let outputs = mean.into_slice().iter_mut().zip(variance.into_slice());
            for (column, (mean, variance)) in range.zip(outputs) {
                let values = &columns.values[columns.offsets[column]..columns.offsets[column + 1]];
                let share = T::from_f64(1.0 / rows.max(1) as f64);
                *mean = values.iter().copied().sum::<T>() * share;
                let zeros = T::from_f64((rows - values.len()) as f64);
                let stored: T = values.iter().map(|value| (*value - *mean) * (*value - *mean)).sum();
                *variance = (stored + zeros * *mean * *mean) * share;
            }
        });
        Self { mean, variance }
    }
}

#[pulp::with_simd(add_squares = T::machine())]
#[inline(always)]
fn add_squares_simd<'a, S: Simd, T: Real>(simd: S, sums: &'a mut [T], x: &'a [T], mean: &'a [T]) {
    let _ = simd;
    for row in x.chunks_exact(mean.len()) {
        for ((sum, x), mean) in sums.iter_mut().zip(row).zip(mean) {
            *sum += (*x - *mean) * (*x - *mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_equal_the_definition() {
        let (rows, width) = (3 * CHUNK_ROWS + 5, 6);
        let value = |at: usize| if at.is_multiple_of(3) { ((at * 31) % 17) as f64 / 4.0 - 1.0 } else { 0.0 };
        let x: Vec<f64> = (0..rows * width).map(value).collect();
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in x.chunks_exact(width) {
            for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push(column as u32);
                values.push(*value);
            }
            offsets.push(indices.len());
        }
        let sparse = Sparse::new(offsets, indices, values).transposed(width);
        for found in [Moments::of_rows(&x, width), Moments::of_columns(&sparse, rows)] {
            for c in 0..width {
                let mean = x.iter().skip(c).step_by(width).sum::<f64>() / rows as f64;
                let variance = x.iter().skip(c).step_by(width).map(|x| (x - mean).powi(2)).sum::<f64>() / rows as f64;
                assert!((found.mean[c] - mean).abs() < 1e-12);
                assert!((found.variance[c] - variance).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_large_mean_does_not_swallow_the_variance() {
        let x: Vec<f32> = (0..1000).map(|row| 4096.0 + (row % 2) as f32).collect();
        let found = Moments::of_rows(&x, 1);
        assert!((found.mean[0] - 4096.5).abs() < 1e-3 && (found.variance[0] - 0.25).abs() < 1e-3, "{found:?}");
    }
}
