//! Backward over targets, then over sources. Everything of the size of edges x K x D is computed again.
//!
//! With d the gradient of the heads' sums, m the masks of the dropout of attention, and g the gates:
//!
//! ```text
//! d_alpha_ijk = m_ijk g_ij d_jk . value_ijk        d_score = softmax backward of d_alpha, plus its own
//! d_v_ik      = sum_j alpha_ijk m_ijk g_ij d_jk    and what the scores add
//! d_g_ij      = sum_k alpha_ijk m_ijk d_jk . value_ijk
//! ```
//!
//! Where entries of messages are dropped, value_ijk is what is left, and d_jk takes the edge's mask on its way to d_v.

use carat_graph::Block;
use pulp::Simd;

use super::Scores;
use super::view::{Edge, View};
use crate::buffer::Buffer;
use crate::kernels::aggregate::source_chunks;
use crate::kernels::prefetch::{Lookahead, prefetch_edges, prefetch_row};
use crate::kernels::{dense, head_rows, vector};
use crate::layers::Upstream;
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, EdgeRows, Rows};
use crate::toolkit::sized;

/// Edges (plus rows) per chunk of targets, at least; and, where chunks sum gradients of parameters, as many as these
/// have values.
const CHUNK_EDGES: usize = 256;

/// Attention, the gradient of the heads' sums (targets x K x D) and the gradients that arrive at the layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saved<'a, T> {
    pub(super) alpha: &'a [T],
    pub(super) d_sums: &'a [T],
    pub(super) upstream: Upstream<'a, T>,
}

/// Fills `d_score` (edges x heads) with the gradients of the scores, as [`Scores::backward_target`] leaves them,
/// `d_own` with those of the targets' own rows, and `d_gates` with those of the gates, if there are some. Returns the
/// gradients of the parameters that scores sum over edges, and that of W_e transposed, if edges are projected; `parts`
/// is scratch.
pub(super) fn backward_targets<'p, T: Real>(
    view: View<'_, T>,
    scores: impl Scores<T>,
    block: Block<'_>,
    saved: Saved<'_, T>,
    (d_score, d_own, d_gates): (&mut [T], &mut [T], &mut Buffer<T>),
    parts: &'p mut Buffer<T>,
) -> (&'p [T], &'p [T]) {
    let heads = view.shape.heads;
    let gated = usize::from(!view.edges.gates.is_empty());
    let d_gates = sized(d_gates, gated * block.num_edges());
    let summed = scores.target_sums() + view.edge_weight.len();
    let chunks = Chunks::by_edges(block.offsets(), CHUNK_EDGES.max(summed));
    let (total, parts) = sized(parts, (chunks.len() + 1) * summed).split_at_mut(summed);
    let outputs = (
        (EdgeRows::new(d_score, block.offsets(), heads), EdgeRows::new(d_gates, block.offsets(), gated)),
        Rows::new(d_own, scores.own_width()),
        ChunkRows::new(parts, &chunks, summed),
    );
    chunks.run(outputs, |range, ((d_score, d_gates), d_own, part)| {
        let mut scratch = vec![T::ZERO; 2 * view.row_width() + heads];
        let (row, scratch) = scratch.split_at_mut(view.row_width());
        let (d_row, weights) = scratch.split_at_mut(view.row_width());
        let part = part.into_slice();
        part.fill(T::ZERO);
        let buffers = [d_score.into_slice(), d_own.into_slice(), d_gates.into_slice(), part, row, d_row, weights];
        backward_target_rows(view, scores, block, saved, range.start, buffers);
    });
    total.fill(T::ZERO);
    if summed > 0 {
        dense::add_column_sums(total, parts);
    }
    total.split_at(scores.target_sums())
}

#[pulp::with_simd(backward_target_rows = T::machine())]
#[inline(always)]
fn backward_target_rows_simd<'a, S: Simd, T: Real, C: Scores<T>>(
    simd: S,
    view: View<'a, T>,
    scores: C,
    block: Block<'a>,
    saved: Saved<'a, T>,
    first: usize,
    [d_score, d_own, d_gates, part, row, d_row, weights]: [&'a mut [T]; 7],
) {
    let (heads, all, columns) = (view.shape.heads, view.all(), view.shape.head_width());
    let (offsets, sources, own_width) = (block.offsets(), block.sources(), scores.own_width());
    let (sums, d_edge) = part.split_at_mut(scores.target_sums());
    let mut message = view.message_row();
    let ahead = Lookahead::over(view.values).rows;
    for (at, d_own) in d_own.chunks_exact_mut(own_width).enumerate() {
        let j = first + at;
        let edges = offsets[j]..offsets[j + 1];
        let d_score = &mut d_score[(edges.start - offsets[first]) * heads..(edges.end - offsets[first]) * heads];
        let d_sum = &saved.d_sums[j * all..(j + 1) * all];
        for (e, d_alpha) in edges.clone().zip(d_score.chunks_exact_mut(heads)) {
            if let Some(&later) = sources.get(e + ahead) {
                prefetch_row(view.values, later, all);
                scores.ask_for_source(later);
            }
            if view.in_values {
                view.fill_row(simd, e, &[], row);
            }
            if message.is_empty() {
                head_rows::dots(simd, d_sum, view.value(sources[e] as usize), columns, d_alpha);
                if view.in_values {
                    head_rows::add_dots(simd, d_sum, row, columns, d_alpha);
                }
            } else {
                view.fill_message(e, sources[e] as usize, row, &mut message);
                head_rows::dots(simd, d_sum, &message, columns, d_alpha);
            }
            view.drop(e, d_alpha);
            if let Some(d_gate) = d_gates.get_mut(e - offsets[first]) {
                let alpha = &saved.alpha[e * heads..(e + 1) * heads];
                *d_gate = alpha.iter().zip(&*d_alpha).fold(T::ZERO, |sum, (alpha, d_alpha)| sum + *alpha * *d_alpha);
            }
            view.gate(e, d_alpha);
        }
        saved.upstream.through_softmax(edges.clone(), heads, saved.alpha, d_score);
        d_own.fill(T::ZERO);
        for (e, d_score) in edges.zip(d_score.chunks_exact_mut(heads)) {
            view.fill_row(simd, e, scores.row_begins_with(j), row);
            let edge = Edge { source: sources[e] as usize, own: j, features: view.features(e), row };
            scores.backward_target(simd, edge, d_score, d_own, sums);
            if !d_edge.is_empty() {
                d_row.fill(T::ZERO);
                scores.backward_row(simd, edge, d_score, d_row);
                if view.in_values {
                    view.weigh(e, &saved.alpha[e * heads..(e + 1) * heads], weights);
                    head_rows::add_scaled(simd, d_row, weights, masked(view, e, d_sum, &mut message), columns);
                }
                for (d_edge, &feature) in d_edge.chunks_exact_mut(all).zip(edge.features) {
                    vector::add_scaled(simd, d_edge, feature, d_row);
                }
            }
        }
    }
}

/// The gradient of the heads' sums as it reaches the values of the edge at a position, without what is dropped of them.
#[inline(always)]
fn masked<'a, T: Real>(view: View<'_, T>, position: usize, d_sum: &'a [T], message: &'a mut [T]) -> &'a [T] {
    if message.is_empty() {
        return d_sum;
    }
    message.copy_from_slice(d_sum);
    view.drop_entries(position, message);
    message
}

/// Fills `d_values` (sources x K x D) and `d_source`, from `d_score` as the pass over targets left it. Returns the
/// gradients of the parameters that scores sum over sources; `parts` is scratch.
pub(super) fn backward_sources<'p, T: Real>(
    view: View<'_, T>,
    scores: impl Scores<T>,
    block: Block<'_>,
    (saved, d_score): (Saved<'_, T>, &[T]),
    (d_values, d_source): (&mut [T], &mut [T]),
    parts: &'p mut Buffer<T>,
) -> &'p [T] {
    let (all, heads, summed) = (view.all(), view.shape.heads, scores.source_sums());
    let chunks = source_chunks(&block);
    let (total, parts) = sized(parts, (chunks.len() + 1) * summed).split_at_mut(summed);
    let outputs =
        (Rows::new(d_values, all), Rows::new(d_source, scores.source_width()), ChunkRows::new(parts, &chunks, summed));
    chunks.run(outputs, |range, (d_values, d_source, part)| {
        let mut scratch = vec![T::ZERO; view.row_width() + heads];
        let (row, weights) = scratch.split_at_mut(view.row_width());
        let part = part.into_slice();
        part.fill(T::ZERO);
        let buffers = [d_values.into_slice(), d_source.into_slice(), part, row, weights];
        backward_source_rows(view, scores, block, (saved, d_score), range.start, buffers);
    });
    total.fill(T::ZERO);
    if summed > 0 {
        dense::add_column_sums(total, parts);
    }
    total
}

#[pulp::with_simd(backward_source_rows = T::machine())]
#[inline(always)]
fn backward_source_rows_simd<'a, S: Simd, T: Real, C: Scores<T>>(
    simd: S,
    view: View<'a, T>,
    scores: C,
    block: Block<'a>,
    (saved, d_score): (Saved<'a, T>, &'a [T]),
    first: usize,
    [d_values, d_source, sums, row, weights]: [&'a mut [T]; 5],
) {
    let (heads, all, columns) = (view.shape.heads, view.all(), view.shape.head_width());
    let mut message = view.message_row();
    let (source_width, ahead) = (scores.source_width(), Lookahead::over(saved.d_sums));
    for (at, d_values) in d_values.chunks_exact_mut(all).enumerate() {
        let source = first + at;
        let d_source = &mut d_source[at * source_width..(at + 1) * source_width];
        let (later, _) = block.out_edges_from(source);
        prefetch_edges(block, source, ahead, [d_score, saved.alpha], heads);
        d_values.fill(T::ZERO);
        d_source.fill(T::ZERO);
        for (n, (j, e)) in block.out_edges(source).enumerate() {
            if let Some(&later) = later.get(n + ahead.rows) {
                prefetch_row(saved.d_sums, later, all);
                scores.ask_for_target(later);
            }
            view.weigh(e, &saved.alpha[e * heads..(e + 1) * heads], weights);
            let d_sum = &saved.d_sums[j * all..(j + 1) * all];
            head_rows::add_scaled(simd, d_values, weights, masked(view, e, d_sum, &mut message), columns);
            if C::SOURCES_READ_ROWS {
                view.fill_row(simd, e, scores.row_begins_with(j), row);
            }
            let edge = Edge { source, own: j, features: view.features(e), row };
            scores.backward_source(simd, edge, &d_score[e * heads..(e + 1) * heads], d_values, d_source);
        }
        scores.finish_source(simd, source, d_values, d_source, sums);
    }
}
