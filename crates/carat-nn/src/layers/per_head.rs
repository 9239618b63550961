//! Products with one F x F matrix per head, all heads in one pass over the rows.
//!
//! Rows of K x F values hold the heads side by side; matrices W_k (F x F, row-major) stand one after another.

use super::LayerShape;
use crate::matrix::{Matrix, MatrixMut, product_here, row_chunks};
use crate::real::Real;
use crate::rows::{Chunks, Rows};

/// Head k's columns of rows that hold all heads.
fn head<T>(rows: &[T], k: usize, LayerShape { width, heads }: LayerShape) -> Matrix<'_, T> {
    let count = rows.len() / (heads * width);
    Matrix::strided(rows.get(k * width..).unwrap_or(&[]), count, width, heads * width)
}

/// W_k.
fn matrix<T>(weight: &[T], k: usize, width: usize) -> Matrix<'_, T> {
    Matrix::new(&weight[k * width * width..], width, width)
}

/// out_j += (1/K) sum_k W_k in_jk: one row of F per row of K x F.
pub(super) fn average<T: Real>(out: &mut [T], input: &[T], weight: &[T], shape: LayerShape) {
    let LayerShape { width, heads } = shape;
    let share = T::ONE / T::from_f64(heads as f64);
    row_chunks(out.len() / width, heads * width * width).run(Rows::new(out, width), |range, out| {
        let out = out.into_slice();
        for k in 0..heads {
            let rows = head(input, k, shape).rows(range.clone());
            let out = MatrixMut::new(out, range.len(), width);
            product_here(out, rows, matrix(weight, k, width).t(), share, true);
        }
    });
}

/// Backward of [`average`]: d_W_k += (1/K) d_out^T in_k and d_in_k = (1/K) d_out W_k.
pub(super) fn average_backward<T: Real>(
    d_out: &[T],
    input: &[T],
    weight: &[T],
    shape: LayerShape,
    d_weight: &mut [T],
    d_input: &mut [T],
) {
    let LayerShape { width, heads } = shape;
    let share = T::ONE / T::from_f64(heads as f64);
    let d_out = Matrix::new(d_out, d_out.len() / width, width);
    gradient_chunks(shape).run(Rows::new(d_weight, width), |range, d_weight| {
        let (k, columns) = (range.start / width, range.start % width..range.start % width + range.len());
        let part = MatrixMut::new(d_weight.into_slice(), range.len(), width);
        product_here(part, d_out.t().rows(columns), head(input, k, shape), share, true);
    });
    let rows = d_input.len() / (heads * width);
    row_chunks(rows, heads * width * width).run(Rows::new(d_input, heads * width), |range, d_input| {
        let d_input = d_input.into_slice();
        for k in 0..heads {
            let part = MatrixMut::strided(&mut d_input[k * width..], range.len(), width, heads * width);
            product_here(part, d_out.rows(range.clone()), matrix(weight, k, width), share, false);
        }
    });
}

/// out_k = scale * in_k W_k, or in_k W_k^T, for every head.
pub(super) fn multiply<T: Real>(
    out: &mut [T],
    input: &[T],
    weight: &[T],
    transposed: bool,
    scale: T,
    shape: LayerShape,
) {
    let LayerShape { width, heads } = shape;
    let rows = out.len() / (heads * width);
    row_chunks(rows, heads * width * width).run(Rows::new(out, heads * width), |range, out| {
        let out = out.into_slice();
        for k in 0..heads {
            let part = MatrixMut::strided(&mut out[k * width..], range.len(), width, heads * width);
            let weight = matrix(weight, k, width);
            let weight = if transposed { weight.t() } else { weight };
            product_here(part, head(input, k, shape).rows(range.clone()), weight, scale, false);
        }
    });
}

/// d_W_k += scale * a_k^T b_k for every head.
pub(super) fn add_gradient<T: Real>(d_weight: &mut [T], a: &[T], b: &[T], scale: T, shape: LayerShape) {
    let width = shape.width;
    gradient_chunks(shape).run(Rows::new(d_weight, width), |range, d_weight| {
        let (k, columns) = (range.start / width, range.start % width..range.start % width + range.len());
        let part = MatrixMut::new(d_weight.into_slice(), range.len(), width);
        product_here(part, head(a, k, shape).t().rows(columns), head(b, k, shape), scale, true);
    });
}

/// Rows of the K stacked matrices in chunks that end where a matrix ends, two to a matrix.
fn gradient_chunks(LayerShape { width, heads }: LayerShape) -> Chunks {
    Chunks::within(heads, width, width.div_ceil(2))
}
