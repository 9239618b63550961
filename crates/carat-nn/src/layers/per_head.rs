//! Products with one F x F matrix per head, all heads in one pass over the rows.
//!
//! Rows of K x F values hold the heads side by side; matrices W_k (F x F, row-major) stand one after another, as PyG
//! keeps them. Where one sum goes over all heads, the matrices are first packed side by side (F rows of K x F), so that
//! the sum over heads is one long product instead of K short ones.

use std::ops::Range;

use pulp::Simd;

use super::LayerShape;
use crate::buffer::Buffer;
use crate::kernels::dense;
use crate::kernels::heads::{ConsecutiveRows, sums_by_head};
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add, product_here, row_chunks};
use crate::real::Real;
use crate::rows::{Chunks, Rows};
use crate::toolkit::sized;

/// Values per chunk of the passes over weights, at least.
const CHUNK_VALUES: usize = 1 << 12;

/// Head k's columns of rows that hold all heads.
fn head<T>(rows: &[T], k: usize, LayerShape { width, heads, .. }: LayerShape) -> Matrix<'_, T> {
    let count = rows.len() / (heads * width);
    Matrix::strided(rows.get(k * width..).unwrap_or(&[]), count, width, heads * width)
}

/// W_k.
fn matrix<T>(weight: &[T], k: usize, width: usize) -> Matrix<'_, T> {
    Matrix::new(&weight[k * width * width..], width, width)
}

/// Rows of `width` values in chunks that are worth sharing where each value is touched once or twice.
pub(super) fn weight_chunks(rows: usize, width: usize) -> Chunks {
    Chunks::pairs(rows, CHUNK_VALUES.div_ceil(width))
}

/// Packs the K matrices side by side.
pub(super) fn pack<T: Real>(packed: &mut [T], weight: &[T], shape: LayerShape) {
    let all = shape.heads * shape.width;
    weight_chunks(shape.width, all).run(Rows::new(packed, all), |range, packed| {
        pack_rows(packed.into_slice(), weight, range, shape);
    });
}

/// Packs some rows of each of the K matrices.
pub(super) fn pack_rows<T: Real>(packed: &mut [T], weight: &[T], rows: Range<usize>, shape: LayerShape) {
    let LayerShape { width, heads, .. } = shape;
    for (packed, row) in packed.chunks_exact_mut(heads * width).zip(rows) {
        for (k, packed) in packed.chunks_exact_mut(width).enumerate() {
            packed.copy_from_slice(&weight[(k * width + row) * width..][..width]);
        }
    }
}

/// The values that stand side by side for a row of the K matrices, counted through all of them.
pub(super) fn packed_row<T>(packed: &[T], row: usize, LayerShape { width, heads, .. }: LayerShape) -> &[T] {
    let (head, row) = (row / width, row % width);
    &packed[row * heads * width + head * width..][..width]
}

/// Adds what [`average_backward`] left side by side to the K matrices' gradients.
pub(super) fn unpack<T: Real>(d_weight: &mut [T], d_packed: &[T], shape: LayerShape) {
    let LayerShape { width, heads, .. } = shape;
    weight_chunks(heads * width, width).run(Rows::new(d_weight, width), |range, d_weight| {
        for (d_weight, row) in d_weight.into_slice().chunks_exact_mut(width).zip(range) {
            let packed = packed_row(d_packed, row, shape);
            d_weight.iter_mut().zip(packed).for_each(|(d_weight, packed)| *d_weight += *packed);
        }
    });
}

/// out_j = bias + (1/K) sum_k W_k in_jk: one row of F per row of K x F.
pub(super) fn average<T: Real>(out: &mut [T], input: &[T], packed: &[T], bias: &[T], shape: LayerShape) {
    let LayerShape { width, heads, .. } = shape;
    let (rows, all) = (out.len() / width, heads * width);
    let packed = Matrix::new(packed, width, all).t();
    row_chunks(rows, all * width).run(Rows::new(out, width), |range, out| {
        let out = out.into_slice();
        dense::fill_rows(out, bias);
        let input = Matrix::new(&input[range.start * all..range.end * all], range.len(), all);
        product_here(MatrixMut::new(out, range.len(), width), input, packed, share(heads), true);
    });
}

/// 1/K
fn share<T: Real>(heads: usize) -> T {
    T::ONE / T::from_f64(heads as f64)
}

/// Backward of [`average`]: d_W_k = (1/K) d_out^T in_k, side by side, and d_in_k = (1/K) d_out W_k.
pub(super) fn average_backward<T: Real>(
    d_out: &[T],
    input: &[T],
    packed: &[T],
    shape: LayerShape,
    [d_packed, d_input]: [&mut [T]; 2],
) {
    let LayerShape { width, heads, .. } = shape;
    let (rows, all) = (d_out.len() / width, heads * width);
    let d_out = Matrix::new(d_out, rows, width);
    multiply(MatrixMut::new(d_packed, width, all), d_out.t(), Matrix::new(input, rows, all), share(heads));
    multiply(MatrixMut::new(d_input, rows, all), d_out, Matrix::new(packed, width, all), share(heads));
}

/// Vectors v, rows of F, taken back through [`average`]: (1/K) W_k^T v, all heads side by side. They are too few to be
/// shared over threads.
pub(super) fn fold<T: Real>(
    folded: &mut Buffer<T>,
    vectors: &[T],
    packed: &[T],
    LayerShape { width, heads, .. }: LayerShape,
) {
    let count = vectors.len() / width;
    let columns: Vec<T> =
        (0..vectors.len()).map(|at| share::<T>(heads) * vectors[at % count * width + at / count]).collect();
    fold_rows(sized(folded, count * heads * width), &columns, count, packed);
}

/// out_v = sum over rows of weight_v row.
#[pulp::with_simd(fold_rows = T::machine())]
#[inline(always)]
fn fold_rows_simd<'a, S: Simd, T: Real>(simd: S, out: &'a mut [T], weights: &'a [T], count: usize, rows: &'a [T]) {
    let width = out.len() / count;
    sums_by_head(simd, out, weights, count, ConsecutiveRows { rows, width });
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
    let LayerShape { width, heads, .. } = shape;
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
