//! Attention over projected values: for heads of F / K columns side by side, and where attention or messages are
//! dropped, messages pass gates, or edges have features.
//!
//! A head of D columns sums values v_ik = W_k h_i of D columns each. Layers that average heads of F columns save work
//! if they sum inputs and project the sums ([`Gat`](super::Gat) and its siblings). Here D is F / K, and projecting
//! first costs K times less.
//!
//! The three kinds share the passes over edges ([`forward`], [`backward`]). They differ in their scores ([`Scores`])
//! and in what they project.

mod backward;
mod forward;
mod gat;
mod gatv2;
mod transformer;
mod view;

use pulp::Simd;

pub(super) use gat::{ProjectedGat, lengths as gat_lengths};
pub(super) use gatv2::{ProjectedGatV2, lengths as gatv2_lengths};
pub(super) use transformer::{ProjectedTransformer, lengths as transformer_lengths};
use view::{Edge, View};

use super::{Join, Layer, LayerShape};
use crate::buffer::Buffer;
use crate::kernels::vector;
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};
use crate::real::Real;
use crate::rows::{Chunks, Rows};
use crate::toolkit::sized;

/// How a kind scores an edge, and the gradients of that.
trait Scores<T: Real>: Copy + Send + Sync {
    /// Whether [`Scores::backward_source`] reads the projected features of an edge.
    const SOURCES_READ_ROWS: bool;

    /// What is added to the projected features of every in-edge of a target; or empty.
    fn row_begins_with(&self, own: usize) -> &[T];

    /// Values of a target's own row.
    fn own_width(&self) -> usize;

    /// Values per source whose gradients [`Scores::backward_source`] sums, besides those of v.
    fn source_width(&self) -> usize;

    /// Gradients of parameters that [`Scores::backward_target`] sums.
    fn target_sums(&self) -> usize;

    /// Gradients of parameters that [`Scores::finish_source`] sums.
    fn source_sums(&self) -> usize;

    /// Prefetches what scores will soon read of a source, besides v.
    fn ask_for_source(&self, source: u32);

    /// Prefetches what scores will soon read of a target.
    fn ask_for_target(&self, target: u32);

    /// Writes the scores of an edge.
    fn score<S: Simd>(&self, simd: S, edge: Edge<'_, T>, scores: &mut [T]);

    /// Adds to the gradients of the target's own row and of parameters. May turn the gradients of the scores, in place,
    /// into what the other methods need.
    fn backward_target<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &mut [T], d_own: &mut [T], sums: &mut [T]);

    /// Adds what the scores contribute to the gradient of the edge's projected features.
    fn backward_row<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &[T], d_row: &mut [T]);

    /// Adds to the gradients of the source: of its values and of what else scores read.
    fn backward_source<S: Simd>(
        &self,
        simd: S,
        edge: Edge<'_, T>,
        d_score: &[T],
        d_values: &mut [T],
        d_source: &mut [T],
    );

    /// Completes the gradient of a source's values, and adds to those of parameters.
    fn finish_source<S: Simd>(&self, simd: S, source: usize, d_values: &mut [T], d_source: &[T], sums: &mut [T]);
}

/// K x D
fn all(shape: LayerShape) -> usize {
    shape.heads * shape.head_width()
}

/// What passes over a layer's edges read.
fn view<'a, T>(layer: Layer<'a, T>, values: &'a [T], edge_weight: &'a [T], in_values: bool) -> View<'a, T> {
    View { shape: layer.shape, values, edges: layer.edges, edge_weight, in_values }
}

/// W transposed, for a W of `columns` columns.
fn transpose<T: Real>(out: &mut Buffer<T>, weight: &[T], columns: usize) {
    let rows = weight.len() / columns.max(1);
    let out = sized(out, weight.len());
    for (r, row) in weight.chunks_exact(columns.max(1)).enumerate() {
        for (c, value) in row.iter().enumerate() {
            out[c * rows + r] = *value;
        }
    }
}

/// Adds the transpose of what the passes over edges have summed.
fn add_transposed<T: Real>(d_weight: &mut [T], transposed: &[T], columns: usize) {
    let rows = d_weight.len() / columns.max(1);
    for (r, row) in d_weight.chunks_exact_mut(columns.max(1)).enumerate() {
        for (c, value) in row.iter_mut().enumerate() {
            *value += transposed[c * rows + r];
        }
    }
}

/// Targets per chunk where their gradients are copied.
const CHUNK_TARGETS: usize = 256;

/// The gradient of the heads' sums, targets x K x D: that of the output, or 1/K of it for each head.
fn sum_gradients<'a, T: Real>(shape: LayerShape, d_out: &'a [T], copies: &'a mut Buffer<T>) -> &'a [T] {
    let LayerShape { width, heads, .. } = shape;
    match shape.join {
        Join::Concat => d_out,
        Join::Mean => {
            let copies = sized(copies, d_out.len() * heads);
            let share = T::ONE / T::from_f64(heads as f64);
            let targets = d_out.len() / width;
            Chunks::even(targets, CHUNK_TARGETS).run(Rows::new(copies, heads * width), |range, copies| {
                let d_out = d_out[range.start * width..range.end * width].chunks_exact(width);
                for (copies, d_out) in copies.into_slice().chunks_exact_mut(heads * width).zip(d_out) {
                    for copy in copies.chunks_exact_mut(width) {
                        copy.iter_mut().zip(d_out).for_each(|(copy, d_out)| *copy = share * *d_out);
                    }
                }
            });
            copies
        }
    }
}

/// The vectors that multiply inputs in place of their projections, u_k = W_k^T a_k, for K matrices W_k of `columns`
/// columns.
pub(super) fn fold<T: Real>(u: &mut Buffer<T>, weight: &[T], att: &[T], heads: usize, columns: usize) {
    let width = att.len() / heads;
    let u = sized(u, heads * columns);
    for k in 0..heads {
        let (weight, att) = (&weight[k * width * columns..], &att[k * width..]);
        let out = MatrixMut::new(&mut u[k * columns..], 1, columns);
        multiply(out, Matrix::new(att, 1, width), Matrix::new(weight, width, columns), T::ONE);
    }
}

/// Backward of [`fold`]: d_W_k += a_k d_u_k^T and d_a_k += W_k d_u_k.
pub(super) fn fold_backward<T: Real>(
    [weight, att, d_u]: [&[T]; 3],
    [d_weight, d_att]: [&mut [T]; 2],
    heads: usize,
    columns: usize,
) {
    let width = att.len() / heads;
    for k in 0..heads {
        let (rows, head) = (k * width * columns..(k + 1) * width * columns, k * width..(k + 1) * width);
        let (weight, att) = (Matrix::new(&weight[rows.clone()], width, columns), &att[head.clone()]);
        let d_u = Matrix::new(&d_u[k * columns..], 1, columns);
        multiply_add(MatrixMut::new(&mut d_weight[rows], width, columns), Matrix::new(att, width, 1), d_u, T::ONE);
        multiply_add(MatrixMut::new(&mut d_att[head], width, 1), weight, d_u.t(), T::ONE);
    }
}

/// score_k += u_k . e, for the features e of an edge.
#[inline(always)]
fn add_features<S: Simd, T: Real>(simd: S, features: &[T], u: &[T], scores: &mut [T]) {
    if !features.is_empty() {
        for (score, u) in scores.iter_mut().zip(u.chunks_exact(features.len())) {
            *score += vector::dot(simd, u, features);
        }
    }
}
