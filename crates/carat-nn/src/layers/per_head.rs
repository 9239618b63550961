//! Products with one F x F matrix per head, all heads in one pass over the rows.
//!
//! Rows of K x F values hold the heads side by side; matrices W_k (F x F, row-major) stand one after another, as PyG
//! keeps them. Where all heads meet in one sum, the matrices are first packed side by side (F rows of K x F), so that
//! the sum over heads is one long product instead of K short ones.

use super::LayerShape;
use crate::kernels::dense;
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add, product_here, row_chunks};
use crate::real::Real;
use crate::rows::Rows;

/// Head k's columns of rows that hold all heads.
fn head<T>(rows: &[T], k: usize, LayerShape { width, heads }: LayerShape) -> Matrix<'_, T> {
    let count = rows.len() / (heads * width);
    Matrix::strided(rows.get(k * width..).unwrap_or(&[]), count, width, heads * width)
}

/// W_k.
fn matrix<T>(weight: &[T], k: usize, width: usize) -> Matrix<'_, T> {
    Matrix::new(&weight[k * width * width..], width, width)
}

/// Packs the K matrices side by side.
pub(super) fn pack<T: Real>(packed: &mut [T], weight: &[T], LayerShape { width, heads }: LayerShape) {
    for (k, matrix) in weight.chunks_exact(width * width).enumerate() {
        for (packed, row) in packed.chunks_exact_mut(heads * width).zip(matrix.chunks_exact(width)) {
            packed[k * width..(k + 1) * width].copy_from_slice(row);
        }
    }
}

/// Adds what [`average_backward`] left side by side to the K matrices' gradients.
pub(super) fn unpack<T: Real>(d_weight: &mut [T], d_packed: &[T], LayerShape { width, heads }: LayerShape) {
    for (k, matrix) in d_weight.chunks_exact_mut(width * width).enumerate() {
        for (row, packed) in matrix.chunks_exact_mut(width).zip(d_packed.chunks_exact(heads * width)) {
            row.iter_mut().zip(&packed[k * width..]).for_each(|(row, packed)| *row += *packed);
        }
    }
}

/// out_j = bias + (1/K) sum_k W_k in_jk: one row of F per row of K x F.
pub(super) fn average<T: Real>(out: &mut [T], input: &[T], packed: &[T], bias: &[T], shape: LayerShape) {
    let LayerShape { width, heads } = shape;
    let (rows, all) = (out.len() / width, heads * width);
    let share = T::ONE / T::from_f64(heads as f64);
    let input = Matrix::new(input, rows, all);
    row_chunks(rows, all * width).run(Rows::new(out, width), |range, out| {
        let out = out.into_slice();
        dense::fill_rows(out, bias);
        let out = MatrixMut::new(out, range.len(), width);
        product_here(out, input.rows(range), Matrix::new(packed, width, all).t(), share, true);
    });
}

/// Backward of [`average`]: d_W_k = (1/K) d_out^T in_k, side by side, and d_in_k = (1/K) d_out W_k.
pub(super) fn average_backward<T: Real>(
    d_out: &[T],
    input: &[T],
    packed: &[T],
    shape: LayerShape,
    d_packed: &mut [T],
    d_input: &mut [T],
) {
    let LayerShape { width, heads } = shape;
    let (rows, all) = (d_out.len() / width, heads * width);
    let share = T::ONE / T::from_f64(heads as f64);
    let d_out = Matrix::new(d_out, rows, width);
    let input = Matrix::new(input, rows, all);
    multiply(MatrixMut::new(d_packed, width, all), d_out.t(), input, share);
    multiply(MatrixMut::new(d_input, rows, all), d_out, Matrix::new(packed, width, all), share);
}

/// out_k = scale * in_k W_k, or in_k W_k^T, for every head.
pub(super) fn multiply_heads<T: Real>(
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
    for (k, d_weight) in d_weight.chunks_exact_mut(width * width).enumerate() {
        multiply_add(MatrixMut::new(d_weight, width, width), head(a, k, shape).t(), head(b, k, shape), scale);
    }
}
