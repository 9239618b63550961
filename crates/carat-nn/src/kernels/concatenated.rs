//! Attention whose heads are concatenated: each sums its own columns of the values.
//!
//! For head k of target j with in-neighbours i, values v of width F and C = F/K columns per head:
//!
//! ```text
//! alpha_ijk = softmax_i(LeakyReLU(source_ik + target_jk))        out_jk = sum_i alpha_ijk v_ik + bias_k
//! source_ik = a_src_k . v_ik        target_jk = a_dst_k . v_jk
//! ```
//!
//! Values are projected before they are summed: a sum of C columns per head costs K times less than a sum of whole
//! inputs, as computed by layers that average their heads.

use carat_graph::Block;
use pulp::Simd;

use super::aggregate::{source_chunks, target_chunks};
use super::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use super::{softmax, vector};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, EdgeRows, Rows};

/// Nodes per chunk when their scores are computed.
const CHUNK_NODES: usize = 128;

/// What every pass reads.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a, T> {
    pub(crate) block: Block<'a>,
    pub(crate) heads: usize,
    /// F: columns of all heads together.
    pub(crate) width: usize,
    /// v, one row of F per source.
    pub(crate) values: &'a [T],
    /// One score per source and head.
    pub(crate) source_scores: &'a [T],
    /// One score per target and head.
    pub(crate) target_scores: &'a [T],
    /// Slope of the LeakyReLU.
    pub(crate) slope: T,
}

impl<'a, T: Real> Shape<'a, T> {
    /// The columns of one head in a row of a matrix of F columns.
    #[inline(always)]
    fn head(&self, rows: &'a [T], row: usize, head: usize) -> &'a [T] {
        let columns = self.width / self.heads;
        &rows[row * self.width + head * columns..row * self.width + (head + 1) * columns]
    }
}

/// The results of the forward pass, and the gradient that the backward pass starts from.
#[derive(Clone, Copy)]
pub(crate) struct Saved<'a, T> {
    /// Attention, edges x heads.
    pub(crate) alpha: &'a [T],
    /// The gradient of the output, targets x F.
    pub(crate) d_out: &'a [T],
}

/// scores_nk = vector_k . v_nk
pub(crate) fn node_scores<T: Real>(scores: &mut [T], values: &[T], vector: &[T], heads: usize) {
    let width = vector.len();
    Chunks::even(scores.len() / heads, CHUNK_NODES).run(Rows::new(scores, heads), |range, scores| {
        node_score_rows(scores.into_slice(), &values[range.start * width..range.end * width], vector, heads);
    });
}

#[pulp::with_simd(node_score_rows = T::machine())]
#[inline(always)]
fn node_score_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    scores: &'a mut [T],
    values: &'a [T],
    vector: &'a [T],
    heads: usize,
) {
    let columns = vector.len() / heads;
    for (scores, row) in scores.chunks_exact_mut(heads).zip(values.chunks_exact(vector.len())) {
        let parts = row.chunks_exact(columns).zip(vector.chunks_exact(columns));
        for (score, (row, vector)) in scores.iter_mut().zip(parts) {
            *score = vector::dot(simd, row, vector);
        }
    }
}

/// Fills `alpha` (edges x heads) and `out` (targets x F).
pub(crate) fn forward<T: Real>(shape: Shape<'_, T>, bias: &[T], alpha: &mut [T], out: &mut [T]) {
    let offsets = shape.block.offsets();
    let outputs = (EdgeRows::new(alpha, offsets, shape.heads), Rows::new(out, shape.width));
    target_chunks(offsets).run(outputs, |range, (alpha, out)| {
        forward_rows(shape, bias, range.start, alpha.into_slice(), out.into_slice());
    });
}

#[pulp::with_simd(forward_rows = T::machine())]
#[inline(always)]
fn forward_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    shape: Shape<'a, T>,
    bias: &'a [T],
    first: usize,
    mut alpha: &'a mut [T],
    out: &'a mut [T],
) {
    let Shape { block, heads, width, source_scores, target_scores, .. } = shape;
    let (columns, slope) = (width / heads, shape.slope);
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        let target = first + row;
        let neighbours = block.in_neighbours(target);
        let (own, rest) = alpha.split_at_mut(neighbours.len() * heads);
        alpha = rest;
        for (&i, scores) in neighbours.iter().zip(own.chunks_exact_mut(heads)) {
            for (k, score) in scores.iter_mut().enumerate() {
                let sum = source_scores[i as usize * heads + k] + target_scores[target * heads + k];
                *score = vector::leaky_relu(sum, slope);
            }
        }
        softmax::attention(simd, own, heads);
        for (head, out) in out.chunks_exact_mut(columns).enumerate() {
            let rows = InRows { shape, neighbours, alpha: own, head };
            weighted_sums(simd, out, Start::Row(&bias[head * columns..(head + 1) * columns]), &rows);
        }
    }
}

/// One head's columns of the in-neighbours of a target.
struct InRows<'a, 'b, T> {
    shape: Shape<'a, T>,
    neighbours: &'a [u32],
    alpha: &'b [T],
    head: usize,
}

impl<T: Real> WeightedRows<T, 1> for InRows<'_, '_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        for (&i, alpha) in self.neighbours.iter().zip(self.alpha.chunks_exact(self.shape.heads)) {
            sums.add([alpha[self.head]], self.shape.head(self.shape.values, i as usize, self.head));
        }
    }
}

/// Back over targets: fills the gradients of the edges' sums of scores (`d_score`, edges x heads) and of the targets'
/// own scores (`d_target`, targets x heads).
pub(crate) fn backward_targets<T: Real>(
    shape: Shape<'_, T>,
    saved: Saved<'_, T>,
    d_score: &mut [T],
    d_target: &mut [T],
) {
    let offsets = shape.block.offsets();
    let outputs = (EdgeRows::new(d_score, offsets, shape.heads), Rows::new(d_target, shape.heads));
    target_chunks(offsets).run(outputs, |range, (d_score, d_target)| {
        backward_target_rows(shape, saved, range.start, d_score.into_slice(), d_target.into_slice());
    });
}

#[pulp::with_simd(backward_target_rows = T::machine())]
#[inline(always)]
fn backward_target_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    shape: Shape<'a, T>,
    saved: Saved<'a, T>,
    first: usize,
    mut d_score: &'a mut [T],
    d_target: &'a mut [T],
) {
    let Shape { block, heads, source_scores, target_scores, .. } = shape;
    let slope = shape.slope;
    for (row, d_target) in d_target.chunks_exact_mut(heads).enumerate() {
        let target = first + row;
        let neighbours = block.in_neighbours(target);
        let (own, rest) = d_score.split_at_mut(neighbours.len() * heads);
        d_score = rest;
        for (&i, d_alpha) in neighbours.iter().zip(own.chunks_exact_mut(heads)) {
            for (k, d_alpha) in d_alpha.iter_mut().enumerate() {
                let value = shape.head(shape.values, i as usize, k);
                *d_alpha = vector::dot(simd, shape.head(saved.d_out, target, k), value);
            }
        }
        let places = block.offsets()[target] * heads..block.offsets()[target + 1] * heads;
        softmax::scores_backward(places, heads, saved.alpha, &[], own);
        d_target.fill(T::ZERO);
        for (&i, d_score) in neighbours.iter().zip(own.chunks_exact_mut(heads)) {
            for (k, d_score) in d_score.iter_mut().enumerate() {
                let sum = source_scores[i as usize * heads + k] + target_scores[target * heads + k];
                *d_score *= vector::leaky_relu_gradient(sum, slope);
                d_target[k] += *d_score;
            }
        }
    }
}

/// What the pass over sources reads besides [`Saved`]: the scores' gradients, and a = [a_src, a_dst].
#[derive(Clone, Copy)]
pub(crate) struct ScoreGradients<'a, T> {
    pub(crate) d_score: &'a [T],
    pub(crate) d_target: &'a [T],
    pub(crate) a: [&'a [T]; 2],
}

/// Back over sources: fills the gradient of the values, and that of a = [a_src, a_dst].
pub(crate) fn backward_sources<T: Real>(
    shape: Shape<'_, T>,
    saved: Saved<'_, T>,
    gradients: ScoreGradients<'_, T>,
    d_values: &mut [T],
    d_a: &mut [T],
) {
    let width = shape.width;
    let chunks = source_chunks(&shape.block);
    let mut parts = vec![T::ZERO; chunks.len() * 2 * width];
    let outputs = (Rows::new(d_values, width), ChunkRows::new(&mut parts, &chunks, 2 * width));
    chunks.run(outputs, |range, (d_values, part)| {
        backward_source_rows(shape, saved, gradients, range.start, d_values.into_slice(), part.into_slice());
    });
    d_a.fill(T::ZERO);
    super::dense::add_column_sums(d_a, &parts);
}

#[pulp::with_simd(backward_source_rows = T::machine())]
#[inline(always)]
fn backward_source_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    shape: Shape<'a, T>,
    saved: Saved<'a, T>,
    gradients: ScoreGradients<'a, T>,
    first: usize,
    d_values: &'a mut [T],
    d_a: &'a mut [T],
) {
    let Shape { block, heads, width, .. } = shape;
    let columns = width / heads;
    let (d_a_src, d_a_dst) = d_a.split_at_mut(width);
    for (row, d_values) in d_values.chunks_exact_mut(width).enumerate() {
        let source = first + row;
        for (head, d_values) in d_values.chunks_exact_mut(columns).enumerate() {
            let mut d_source = T::ZERO;
            for (_, edge) in block.out_edges(source) {
                d_source += gradients.d_score[edge * heads + head];
            }
            let d_own = [d_source, gradients.d_target[source * heads + head]];
            weighted_sums(simd, d_values, Start::Zero, &OutRows { shape, saved, gradients, d_own, source, head });
            let value = shape.head(shape.values, source, head);
            let place = head * columns..(head + 1) * columns;
            vector::add_scaled(simd, &mut d_a_src[place.clone()], d_own[0], value);
            vector::add_scaled(simd, &mut d_a_dst[place], d_own[1], value);
        }
    }
}

/// The terms of one head's part of a source's gradient.
struct OutRows<'a, T> {
    shape: Shape<'a, T>,
    saved: Saved<'a, T>,
    gradients: ScoreGradients<'a, T>,
    d_own: [T; 2],
    source: usize,
    head: usize,
}

impl<T: Real> WeightedRows<T, 1> for OutRows<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        let Self { shape, saved, gradients, d_own, source, head } = self;
        for (target, edge) in shape.block.out_edges(*source) {
            sums.add([saved.alpha[edge * shape.heads + head]], shape.head(saved.d_out, target, *head));
        }
        for (a, d_score) in gradients.a.into_iter().zip(*d_own) {
            sums.add([d_score], shape.head(a, 0, *head));
        }
    }
}
