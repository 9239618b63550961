//! Element-wise and column-wise pieces of dense matrices.

use pulp::Simd;

use super::heads::by_heads;
use super::vector;
use super::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use crate::matrix::{Matrix, MatrixMut, product_here, row_chunks};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Parts, Rows};

/// Rows whose columns are summed before the next ones are read.
const SUMMED_ROWS: usize = 64;

/// Rows per chunk where the work per row is small.
const CHUNK_ROWS: usize = 2048;

/// out = a b + row, on all threads: one pass over `out`, each chunk of which stays in the cache.
pub(crate) fn affine<T: Real>(out: &mut [T], a: Matrix<'_, T>, b: Matrix<'_, T>, row: &[T]) {
    affine_then(out, a, b, row, |_| {});
}

/// out = LeakyReLU(a b + row).
pub(crate) fn affine_leaky_relu<T: Real>(out: &mut [T], a: Matrix<'_, T>, b: Matrix<'_, T>, row: &[T], slope: T) {
    affine_then(out, a, b, row, |out| leaky_relu_in_place(out, slope));
}

fn affine_then<T: Real>(out: &mut [T], a: Matrix<'_, T>, b: Matrix<'_, T>, row: &[T], then: impl Fn(&mut [T]) + Sync) {
    let width = row.len();
    row_chunks(out.len() / width, width * b.num_rows()).run(Rows::new(out, width), |range, out| {
        let out = out.into_slice();
        fill_rows(out, row);
        product_here(MatrixMut::new(out, range.len(), width), a.rows(range), b, T::ONE, true);
        then(out);
    });
}

/// Most columns for which a product computes one sum per column. A GEMM would leave most of its vectors empty.
const FEW: usize = 16;

/// Rows per chunk of a product with few columns, at least.
const NARROW_ROWS: usize = 64;

/// out += a b^T, or `row` + a b^T, on all threads.
pub(crate) fn add_products<T: Real>(out: &mut [T], a: Matrix<'_, T>, b: Matrix<'_, T>, row: Option<&[T]>) {
    let columns = b.num_rows();
    product_chunks(a.num_rows(), columns, b.t().num_rows()).run(Rows::new(out, columns), |range, out| {
        add_products_here(out.into_slice(), a.rows(range), b, row);
    });
}

/// Chunks for [`add_products_here`] with so many columns, each a sum of so many terms.
pub(crate) fn product_chunks(rows: usize, columns: usize, terms: usize) -> Chunks {
    if columns <= FEW { Chunks::pairs(rows, NARROW_ROWS) } else { row_chunks(rows, columns * terms) }
}

/// [`add_products`] on the current thread.
pub(crate) fn add_products_here<T: Real>(out: &mut [T], a: Matrix<'_, T>, b: Matrix<'_, T>, row: Option<&[T]>) {
    if let Some(row) = row {
        fill_rows(out, row);
    }
    if b.num_rows() <= FEW {
        narrow_products(out, a, b);
    } else {
        product_here(MatrixMut::new(out, a.num_rows(), b.num_rows()), a, b.t(), T::ONE, true);
    }
}

#[pulp::with_simd(narrow_products = T::machine())]
#[inline(always)]
fn narrow_products_simd<'a, S: Simd, T: Real>(simd: S, out: &'a mut [T], a: Matrix<'a, T>, b: Matrix<'a, T>) {
    for (row, out) in out.chunks_exact_mut(b.num_rows()).enumerate() {
        let a = a.row(row);
        by_heads!(b.num_rows(), |first, H| {
            let mut rows = [a; H];
            for h in 0..H {
                rows[h] = b.row(first + h);
            }
            let products = vector::products(simd, rows, a);
            out[first..first + H].iter_mut().zip(products).for_each(|(out, product)| *out += product);
        });
    }
}

/// Writes `row` into every row of `out`.
pub(crate) fn fill_rows<T: Real>(out: &mut [T], row: &[T]) {
    for out in out.chunks_exact_mut(row.len().max(1)) {
        out.copy_from_slice(row);
    }
}

/// sums += the column sums of a row-major matrix as wide as `sums`. The order of summation depends on the shape only.
pub(crate) fn add_column_sums<T: Real>(sums: &mut [T], matrix: &[T]) {
    let width = sums.len();
    let chunks = Chunks::even(matrix.len() / width, CHUNK_ROWS);
    if chunks.len() <= 1 {
        return add_column_sums_here(sums, matrix);
    }
    let mut parts = vec![T::ZERO; chunks.len() * width];
    chunks.run(ChunkRows::new(&mut parts, &chunks, width), |range, part| {
        add_column_sums_here(part.into_slice(), &matrix[range.start * width..range.end * width]);
    });
    add_column_sums(sums, &parts);
}

#[pulp::with_simd(add_column_sums_here = T::machine())]
#[inline(always)]
fn add_column_sums_here_simd<'a, S: Simd, T: Real>(simd: S, sums: &'a mut [T], matrix: &'a [T]) {
    let width = sums.len();
    // The sum goes over the rows once per block of columns; few rows at a time stay in the cache in between.
    for matrix in matrix.chunks(SUMMED_ROWS * width) {
        weighted_sums(simd, sums, Start::Output, &AllRows { matrix, width });
    }
}

/// sums = the column sums of a row-major matrix as wide as `sums`, on the current thread.
pub(crate) fn write_column_sums_here<T: Real>(sums: &mut [T], matrix: &[T]) {
    sums.fill(T::ZERO);
    add_column_sums_here(sums, matrix);
}

/// sums += all parts.
pub(crate) fn add_parts<T: Real>(sums: &mut [T], parts: Parts<'_, T>) {
    parts.all().for_each(|part| add_column_sums_here(sums, part));
}

/// Every row of a matrix, with weight 1.
struct AllRows<'a, T> {
    matrix: &'a [T],
    width: usize,
}

impl<T: Real> WeightedRows<T, 1> for AllRows<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        for row in self.matrix.chunks_exact(self.width) {
            sums.add([T::ONE], row);
        }
    }
}

// The macro makes a struct of the arguments, whose fields need the lifetime named.
#[allow(clippy::needless_lifetimes)]
#[pulp::with_simd(leaky_relu_in_place = T::machine())]
#[inline(always)]
pub(crate) fn leaky_relu_in_place_simd<'a, S: Simd, T: Real>(simd: S, values: &'a mut [T], slope: T) {
    let _ = simd;
    for value in values {
        *value = vector::leaky_relu(*value, slope);
    }
}

/// values = LeakyReLU(values).
pub(crate) fn leaky_relu<T: Real>(values: &mut [T], slope: T) {
    let chunks = Chunks::even(values.len(), CHUNK_ROWS * 32);
    chunks.run(Rows::new(values, 1), |_, rows| leaky_relu_in_place(rows.into_slice(), slope));
}

#[pulp::with_simd(leaky_relu_backward_in_place = T::machine())]
#[inline(always)]
pub(crate) fn leaky_relu_backward_in_place_simd<'a, S: Simd, T: Real>(
    simd: S,
    gradient: &'a mut [T],
    output: &'a [T],
    slope: T,
) {
    let _ = simd;
    for (gradient, output) in gradient.iter_mut().zip(output) {
        *gradient *= vector::leaky_relu_gradient(*output, slope);
    }
}

/// gradient = (gradient + addition) * LeakyReLU'(input), where the addition is to the first rows. The derivative is
/// computed from the output, which has the input's sign. Writes the sums of the columns. One pass over the gradient.
pub(crate) fn add_rows_leaky_relu_backward<T: Real>(
    gradient: &mut [T],
    addition: Matrix<'_, T>,
    output: &[T],
    slope: T,
    sums: &mut [T],
) {
    let width = sums.len();
    let chunks = Chunks::even(gradient.len() / width, SUMMED_ROWS);
    let mut parts = vec![T::ZERO; chunks.len() * width];
    let outputs = (Rows::new(gradient, width), ChunkRows::new(&mut parts, &chunks, width));
    chunks.run(outputs, |range, (gradient, part)| {
        let gradient = gradient.into_slice();
        let added = addition.rows(range.start.min(addition.num_rows())..range.end.min(addition.num_rows()));
        for (row, gradient) in gradient.chunks_exact_mut(width).enumerate().take(added.num_rows()) {
            gradient.iter_mut().zip(added.row(row)).for_each(|(gradient, added)| *gradient += *added);
        }
        leaky_relu_backward_in_place(gradient, &output[range.start * width..range.end * width], slope);
        add_column_sums_here(part.into_slice(), gradient);
    });
    sums.fill(T::ZERO);
    add_column_sums(sums, &parts);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_sums_of_every_height_equal_the_definition() {
        let width = 7;
        for rows in [0, 1, SUMMED_ROWS + 1, CHUNK_ROWS, 2 * CHUNK_ROWS + 3] {
            let matrix: Vec<f64> = (0..rows * width).map(|i| (i % 11) as f64 - 3.0).collect();
            let mut sums = vec![2.0; width];
            add_column_sums(&mut sums, &matrix);
            for (c, sum) in sums.iter().enumerate() {
                let expected: f64 = 2.0 + (0..rows).map(|r| matrix[r * width + c]).sum::<f64>();
                assert_eq!(*sum, expected, "{rows} rows, column {c}");
            }
        }
    }

    #[test]
    fn products_of_few_and_of_many_columns_equal_the_definition() {
        for (rows, columns, terms) in [(1, 1, 3), (5, 7, 40), (130, 7, 33), (70, FEW + 1, 20), (0, 3, 4)] {
            let value = |i: usize| (i % 13) as f64 - 6.0;
            let a: Vec<f64> = (0..rows * (terms + 1)).map(value).collect();
            let b: Vec<f64> = (0..columns * (terms + 2)).map(|i| value(i + 5)).collect();
            let row: Vec<f64> = (0..columns).map(value).collect();
            let (a, b) = (Matrix::strided(&a, rows, terms, terms + 1), Matrix::strided(&b, columns, terms, terms + 2));
            let mut out = vec![3.0; rows * columns];
            add_products(&mut out, a, b, Some(&row));
            add_products(&mut out, a, b, None);
            for (at, found) in out.iter().enumerate() {
                let (r, c) = (at / columns, at % columns);
                let product: f64 = a.row(r).iter().zip(b.row(c)).map(|(a, b)| a * b).sum();
                assert_eq!(*found, row[c] + 2.0 * product, "{rows} x {columns} of {terms} terms, at {r}, {c}");
            }
        }
    }
}
