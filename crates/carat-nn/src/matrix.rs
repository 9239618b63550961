//! Dense matrix products over borrowed memory: out = scale * A B, or out += scale * A B.
//!
//! The product runs in chunks whose borders depend only on the shape, each by a single-threaded GEMM: chunks of output
//! rows, or, where each entry is a long sum (the gradient of a weight over all nodes of a graph), pieces of
//! that sum, added up in order. Every entry is thus summed in one order, whatever the number of threads.

use std::ops::Range;

use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows, is_in_chunk};

/// A read-only view of a matrix.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A row-major matrix without gaps.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    /// A row-major matrix whose rows start `row_stride` apart.
    pub fn strided(data: &'a [T], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(
            rows == 0 || columns == 0 || (rows - 1) * row_stride + columns <= data.len(),
            "a matrix of {rows} x {columns} with row stride {row_stride} needs more than {} values",
            data.len()
        );
        Self { data, rows, columns, row_stride, column_stride: 1 }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.rows
    }

    /// One row of a matrix whose rows are without gaps.
    pub(crate) fn row(&self, row: usize) -> &'a [T] {
        assert!(self.column_stride == 1 && row < self.rows, "row {row} of {}", self.rows);
        &self.data[row * self.row_stride..row * self.row_stride + self.columns]
    }

    /// Some of the rows.
    #[must_use]
    pub fn rows(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.rows, "rows {range:?} of {}", self.rows);
        let start = (range.start * self.row_stride).min(self.data.len());
        Self { data: &self.data[start..], rows: range.len(), ..self }
    }

    /// The transpose.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// A writable row-major matrix whose rows start `row_stride` apart.
pub struct MatrixMut<'a, T> {
    data: &'a mut [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
}

impl<'a, T> MatrixMut<'a, T> {
    /// A row-major matrix without gaps.
    pub fn new(data: &'a mut [T], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    /// A row-major matrix whose rows start `row_stride` apart.
    pub fn strided(data: &'a mut [T], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(columns <= row_stride, "rows of {columns} columns overlap at row stride {row_stride}");
        assert!(
            rows == 0 || columns == 0 || (rows - 1) * row_stride + columns <= data.len(),
            "a matrix of {rows} x {columns} with row stride {row_stride} needs more than {} values",
            data.len()
        );
        Self { data, rows, columns, row_stride }
    }
}

/// Multiply-adds per chunk: enough that sharing them costs little (each chunk packs the right-hand matrix again), and
/// few enough that threads finish together.
const CHUNK_WORK: usize = 1 << 23;

/// Multiply-adds from which a product is worth sharing at all.
const SHARED_WORK: usize = 1 << 17;

/// Rows from which a chunk's share of packing the right-hand matrix is small.
const CHUNK_ROWS: usize = 48;

/// Terms from which a sum is a long one, if there are also twice as many as rows or columns of the product. It is cut
/// into pieces: the terms are nodes, and each thread then reads mostly rows that it wrote itself, instead of half of
/// them from another core's cache.
const LONG_SUM: usize = 512;

/// Terms of a sum per piece of a very long one: each piece packs its part of both matrices once.
const PIECE_TERMS: usize = 8192;

/// Most pieces of a long sum, and most numbers that all of them hold.
const MAX_PIECES: usize = 16;
const MAX_PIECE_VALUES: usize = 1 << 24;

/// Entries from which adding up pieces is worth sharing.
const SUMMED_VALUES: usize = 1 << 12;

/// out = scale * a b.
pub fn multiply<T: Real>(out: MatrixMut<'_, T>, a: Matrix<'_, T>, b: Matrix<'_, T>, scale: T) {
    product(out, a, b, scale, false);
}

/// out += scale * a b.
pub fn multiply_add<T: Real>(out: MatrixMut<'_, T>, a: Matrix<'_, T>, b: Matrix<'_, T>, scale: T) {
    product(out, a, b, scale, true);
}

fn product<T: Real>(out: MatrixMut<'_, T>, a: Matrix<'_, T>, b: Matrix<'_, T>, scale: T, accumulate: bool) {
    let (columns, row_stride) = (out.columns, out.row_stride);
    assert_eq!(a.rows, out.rows, "rows of a product");
    if out.rows == 0 || columns == 0 {
        return;
    }
    if is_in_chunk() {
        return product_here(out, a, b, scale, accumulate);
    }
    let pieces = (a.columns / PIECE_TERMS).next_multiple_of(2).clamp(2, MAX_PIECES);
    let is_long = a.columns >= PIECE_TERMS || a.columns >= LONG_SUM.max(2 * out.rows.max(columns));
    if is_long && out.rows * columns <= MAX_PIECE_VALUES / pieces {
        return long_product(out, a, b, scale, accumulate, pieces);
    }
    row_chunks(out.rows, columns * a.columns).run(Rows::new(out.data, row_stride), |range, rows| {
        let part = MatrixMut::strided(rows.into_slice(), range.len(), columns, row_stride);
        product_here(part, a.rows(range), b, scale, accumulate);
    });
}

/// A product of few entries that are each a long sum, by pieces of the sums.
fn long_product<T: Real>(
    out: MatrixMut<'_, T>,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    scale: T,
    accumulate: bool,
    pieces: usize,
) {
    let (rows, columns) = (out.rows, out.columns);
    let chunks = Chunks::even(a.columns, a.columns.div_ceil(pieces));
    let mut sums = vec![T::ZERO; chunks.len() * rows * columns];
    chunks.run(ChunkRows::new(&mut sums, &chunks, rows * columns), |range, sum| {
        let part = MatrixMut::new(sum.into_slice(), rows, columns);
        product_here(part, a.t().rows(range.clone()).t(), b.rows(range), scale, false);
    });
    let row_stride = out.row_stride;
    Chunks::pairs(rows, SUMMED_VALUES.div_ceil(columns)).run(Rows::new(out.data, row_stride), |range, out| {
        for (row, out) in range.zip(out.into_slice().chunks_mut(row_stride)) {
            let out = &mut out[..columns];
            let mut sums = sums.chunks_exact(rows * columns).map(|sum| &sum[row * columns..(row + 1) * columns]);
            if !accumulate {
                out.copy_from_slice(sums.next().expect("a long sum has pieces"));
            }
            for sum in sums {
                out.iter_mut().zip(sum).for_each(|(out, sum)| *out += *sum);
            }
        }
    });
}

/// Chunks of rows, each of which costs `work_per_row` multiply-adds: an even number of equal chunks, so that two
/// threads finish together, in multiples of the six rows that a GEMM kernel takes at a time. One chunk if the caller is
/// in a chunk itself.
pub(crate) fn row_chunks(rows: usize, work_per_row: usize) -> Chunks {
    if is_in_chunk() {
        return Chunks::even(rows, rows);
    }
    let work = rows * work_per_row;
    let most = (rows / CHUNK_ROWS / 2 * 2).max(2);
    let count = if work < SHARED_WORK { 1 } else { (work / CHUNK_WORK).next_multiple_of(2).clamp(2, most) };
    Chunks::even(rows, rows.div_ceil(count).next_multiple_of(6))
}

/// Rows from which it is worth giving a piece its own part of the sums over all rows.
const PIECE_ROWS: usize = 128;

/// The number of pieces for rows that each cost `work_per_row` multiply-adds and that are summed over. Few, because
/// each piece holds a part of all sums.
pub(crate) fn piece_count(rows: usize, work_per_row: usize) -> usize {
    let work = rows * work_per_row;
    let most = (rows / PIECE_ROWS / 2 * 2).clamp(2, MAX_PIECES);
    if work < SHARED_WORK { 1 } else { (work / CHUNK_WORK).next_multiple_of(2).clamp(2, most) }
}

/// out = scale * a b, or out += scale * a b, on the current thread.
pub(crate) fn product_here<T: Real>(
    out: MatrixMut<'_, T>,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    scale: T,
    accumulate: bool,
) {
    assert!(
        a.rows == out.rows && b.columns == out.columns && a.columns == b.rows,
        "cannot multiply {} x {} by {} x {} into {} x {}",
        a.rows,
        a.columns,
        b.rows,
        b.columns,
        out.rows,
        out.columns
    );
    if out.rows == 0 || out.columns == 0 {
        return;
    }
    // SAFETY: `gemm` reads all of `a` and `b` and writes all of `out`, at the strides given. `Matrix` and `MatrixMut`
    // checked on construction that their last entry lies within their slices (the transpose swaps extents and strides
    // together; `rows` takes a range inside the extent and moves the start by whole rows), and the shapes were compared
    // above. `out.data` is a unique borrow, so it overlaps neither input. T is f32 or f64, both of which `gemm`
    // supports.
    unsafe {
        gemm::gemm(
            out.rows,
            out.columns,
            a.columns,
            out.data.as_mut_ptr(),
            1,
            out.row_stride as isize,
            accumulate,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            T::ONE,
            scale,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(i: usize) -> f64 {
        ((i * 7919 + 13) % 101) as f64 / 50.0 - 1.0
    }

    proptest! {
        #[test]
        fn products_equal_the_definition(m in 0usize..70, n in 0usize..20, k in 0usize..30, gap in 0usize..3,
                                         flip_a: bool, flip_b: bool, accumulate: bool) {
            let a: Vec<f64> = (0..(m + k) * (m.max(k) + gap)).map(value).collect();
            let b: Vec<f64> = (0..(n + k) * (n.max(k) + gap)).map(|i| value(i + 5)).collect();
            let a = if flip_a { Matrix::strided(&a, k, m, m + gap).t() } else { Matrix::strided(&a, m, k, k + gap) };
            let b = if flip_b { Matrix::strided(&b, n, k, k + gap).t() } else { Matrix::strided(&b, k, n, n + gap) };
            let mut out: Vec<f64> = (0..m * (n + gap)).map(|i| value(i + 9)).collect();
            let before = out.clone();
            let view = MatrixMut::strided(&mut out, m, n, n + gap);
            if accumulate { multiply_add(view, a, b, 0.5) } else { multiply(view, a, b, 0.5) }
            let at = |x: &Matrix<f64>, r: usize, c: usize| x.data[r * x.row_stride + c * x.column_stride];
            for r in 0..m {
                for c in 0..n + gap {
                    let old = before[r * (n + gap) + c];
                    let product = || (0..k).map(|i| at(&a, r, i) * at(&b, i, c)).sum::<f64>();
                    let mut expected: f64 = if c < n { product() * 0.5 } else { old };
                    if accumulate && c < n { expected += old; }
                    prop_assert!((out[r * (n + gap) + c] - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn long_sums_equal_the_definition() {
        for k in [LONG_SUM, 2 * PIECE_TERMS + 77] {
            check_long_sum(3, 5, k);
        }
    }

    fn check_long_sum(m: usize, n: usize, k: usize) {
        let a: Vec<f64> = (0..k * m).map(value).collect();
        let b: Vec<f64> = (0..k * n).map(|i| value(i + 5)).collect();
        for accumulate in [false, true] {
            let mut out: Vec<f64> = (0..m * (n + 1)).map(|i| value(i + 9)).collect();
            let before = out.clone();
            let (a_t, b_rows) = (Matrix::new(&a, k, m).t(), Matrix::new(&b, k, n));
            product(MatrixMut::strided(&mut out, m, n, n + 1), a_t, b_rows, 0.5, accumulate);
            for (at, (found, old)) in out.iter().zip(before).enumerate() {
                let (r, c) = (at / (n + 1), at % (n + 1));
                let sum = |c: usize| 0.5 * (0..k).map(|i| a[i * m + r] * b[i * n + c]).sum::<f64>();
                let expected = if c == n { old } else { sum(c) + if accumulate { old } else { 0.0 } };
                assert!((found - expected).abs() < 1e-9, "{r}, {c}: {found} against {expected}");
            }
        }
    }
}
