//! Attention over inputs, one pass per target: scores, softmax, weighted sum. No edge-sized feature tensor exists.
//!
//! For head k of target j with in-neighbours i:
//!
//! ```text
//! alpha_ijk = softmax_i(score_ijk)            agg_jk = sum_i alpha_ijk h_i
//! ```
//!
//! Values are linear in h and heads are averaged, so the layer multiplies agg by its value matrix afterwards, once per
//! target instead of once per source. Attention kinds define their scores by implementing [`Score`].

use pulp::Simd;

use super::heads::{ListedRows, RowList, by_heads, dots_by_head, sums_by_head};
use super::in_edges::{InEdges, LostEdges};
use super::prefetch::{Lookahead, prefetch_edges, prefetch_row};
use super::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use super::{softmax, vector};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, EdgeRows, Rows};
use carat_graph::Block;

/// Edges (plus rows) per chunk.
const CHUNK_EDGES: usize = 256;

/// Rows of a CSR in chunks of about equal numbers of edges.
pub(crate) fn target_chunks(offsets: &[usize]) -> Chunks {
    Chunks::by_edges(offsets, CHUNK_EDGES)
}

/// Sources in chunks, for the passes that gather over out-edges.
pub(crate) fn source_chunks(block: &Block<'_>) -> Chunks {
    Chunks::pairs(block.num_sources(), CHUNK_EDGES / 3)
}

/// What every pass over in-edges reads.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a, T> {
    pub(crate) targets: InEdges<'a>,
    pub(crate) heads: usize,
    pub(crate) width: usize,
    /// Inputs, one row of `width` per source.
    pub(crate) h: &'a [T],
}

impl<'a, T> Shape<'a, T> {
    #[inline(always)]
    pub(crate) fn source(&self, i: u32) -> &'a [T] {
        &self.h[i as usize * self.width..(i as usize + 1) * self.width]
    }

    /// The inputs of a target's in-neighbours, followed by those of the next targets'.
    #[inline(always)]
    pub(crate) fn neighbours(&self, target: usize) -> ListedRows<'a, T> {
        let list = self.targets.neighbours_from(target);
        ListedRows { list, h: self.h, width: self.width, ahead: Lookahead::over(self.h) }
    }
}

/// How an attention kind scores edges, and how the gradients of the scores reach its own per-target values.
pub(crate) trait Score<T: Real>: Copy + Send + Sync {
    /// Values per target that [`Score::backward_row`] fills.
    fn target_width(&self) -> usize;

    /// Writes the scores of a target's in-edges, `heads` per edge; its own values stand in row `own`.
    fn row<S: Simd>(&self, simd: S, shape: Shape<'_, T>, target: usize, own: usize, scores: &mut [T]);

    /// Given the gradient with respect to the scores of target j's in-edges, turns it into the gradient that reaches
    /// the sources' side and writes the gradient of the target's own values.
    fn backward_row<S: Simd>(&self, simd: S, shape: Shape<'_, T>, target: usize, d_score: &mut [T], d_target: &mut [T]);
}

/// How the gradients of the scores reach the sources, besides the weighted sum of their inputs.
pub(crate) trait SourceGradient<T: Real>: Copy + Send + Sync {
    /// Values per source, the sums over its out-edges of the scores' gradients: `heads`, or 0 where they are not
    /// needed.
    fn source_width(&self) -> usize;

    /// Values that [`SourceGradient::finish`] sums over all sources.
    fn sum_width(&self) -> usize;

    /// Prefetches what [`SourceGradient::edge_rows`] will soon read of a target, if there is one.
    fn ask_for(&self, target: u32);

    /// Adds what an edge to `target` with this score gradient contributes to the gradient of its source's h.
    fn edge_rows(&self, target: usize, d_score: &[T], d_h: &mut impl RowSums<T, 1>);

    /// Adds what the source's own scores contribute to the gradient of its h.
    fn source_rows(&self, source: usize, d_source: &[T], d_h: &mut impl RowSums<T, 1>);

    /// Writes the sums over some sources, from `first` on, whose own gradients are complete.
    fn finish<S: Simd>(&self, simd: S, shape: Shape<'_, T>, first: usize, d_source: &[T], sums: &mut [T]);
}

/// Sums of the original targets, which have one more in-edge.
#[derive(Clone, Copy)]
pub(crate) struct OriginalSums<'a, T> {
    pub(crate) edges: LostEdges<'a, T>,
    /// By original target.
    pub(crate) aggregate: &'a [T],
}

/// Forward: fills `alpha` (edges x heads) and `aggregate` (targets x heads x width). For targets with an original, the
/// scores use the original's own values, and attention is filled only where it is needed.
pub(crate) fn forward<T: Real>(
    shape: Shape<'_, T>,
    score: impl Score<T>,
    original: Option<OriginalSums<'_, T>>,
    alpha: &mut [T],
    aggregate: &mut [T],
) {
    let offsets = shape.targets.offsets;
    target_chunks(offsets).run(
        (EdgeRows::new(alpha, offsets, shape.heads), Rows::new(aggregate, shape.heads * shape.width)),
        |range, (alpha, aggregate)| {
            forward_rows(shape, score, original, range.start, (alpha.into_slice(), aggregate.into_slice()));
        },
    );
}

/// [`forward`] of some targets, from target `first` on, on the current thread.
#[pulp::with_simd(forward_rows = T::machine())]
#[inline(always)]
pub(crate) fn forward_rows_simd<'a, S: Simd, T: Real, C: Score<T>>(
    simd: S,
    shape: Shape<'a, T>,
    score: C,
    original: Option<OriginalSums<'a, T>>,
    first: usize,
    (alpha, aggregate): (&'a mut [T], &'a mut [T]),
) {
    let (heads, width) = (shape.heads, shape.width);
    let offsets = shape.targets.offsets;
    for (row, aggregate) in aggregate.chunks_exact_mut(heads * width).enumerate() {
        let j = first + row;
        let alpha = &mut alpha[(offsets[j] - offsets[first]) * heads..(offsets[j + 1] - offsets[first]) * heads];
        let mut own = j;
        if let Some(OriginalSums { edges, aggregate: sums }) = original {
            own = edges.rows[j] as usize;
            if let Some((source, lost)) = edges.lost(j, heads) {
                let sums = &sums[own * heads * width..];
                for ((aggregate, sum), &lost) in
                    aggregate.chunks_exact_mut(width).zip(sums.chunks_exact(width)).zip(lost)
                {
                    vector::subtract_share(simd, aggregate, sum, lost, shape.source(source));
                }
                continue;
            }
        }
        score.row(simd, shape, j, own, alpha);
        softmax::attention(simd, alpha, heads);
        neighbour_sums(simd, shape, j, alpha, aggregate);
    }
}

/// out_k = sum over a target's in-neighbours i of weight_ik h_i, for every head.
#[inline(always)]
pub(crate) fn neighbour_sums<S: Simd, T: Real>(
    simd: S,
    shape: Shape<'_, T>,
    target: usize,
    weights: &[T],
    out: &mut [T],
) {
    sums_by_head(simd, out, weights, shape.heads, shape.neighbours(target));
}

/// Backward over targets: from the gradient of `aggregate` to that of the scores (`d_score`, edges x heads) and of the
/// targets' own values (`d_target`).
pub(crate) fn backward_targets<T: Real>(
    shape: Shape<'_, T>,
    score: impl Score<T>,
    saved: Saved<'_, T>,
    d_score: &mut [T],
    d_target: &mut [T],
) {
    let offsets = shape.targets.offsets;
    target_chunks(offsets).run(
        (EdgeRows::new(d_score, offsets, shape.heads), Rows::new(d_target, score.target_width())),
        |range, (d_score, d_target)| {
            backward_rows(shape, score, range.start, saved, d_score.into_slice(), d_target.into_slice());
        },
    );
}

/// What the pass over sources reads: attention and two gradients, all by edge or by target.
#[derive(Clone, Copy)]
pub(crate) struct Gradients<'a, T> {
    pub(crate) alpha: &'a [T],
    pub(crate) d_aggregate: &'a [T],
    pub(crate) d_score: &'a [T],
}

/// How the gradients of sums over in-edges reach the summed rows.
pub(crate) trait SumGradients<T: Real>: Copy + Send + Sync {
    /// Attention and the gradients of the scores, edges x heads.
    fn by_edge(&self) -> [&[T]; 2];

    /// The rows that [`SumGradients::edge_rows`] reads, anywhere among them.
    fn rows(&self) -> &[T];

    /// Prefetches what it will soon read of a target, if there is one.
    fn ask_for(&self, shape: Shape<'_, T>, target: u32);

    /// Adds what an edge to `target` contributes to the gradient of its source.
    fn edge_rows(&self, shape: Shape<'_, T>, target: usize, edge: usize, d_h: &mut impl RowSums<T, 1>);
}

impl<T: Real> SumGradients<T> for Gradients<'_, T> {
    #[inline(always)]
    fn by_edge(&self) -> [&[T]; 2] {
        [self.alpha, self.d_score]
    }

    #[inline(always)]
    fn rows(&self) -> &[T] {
        self.d_aggregate
    }

    #[inline(always)]
    fn ask_for(&self, shape: Shape<'_, T>, target: u32) {
        prefetch_row(self.d_aggregate, target, shape.heads * shape.width);
    }

    /// alpha_ijk d_agg_jk
    #[inline(always)]
    fn edge_rows(&self, shape: Shape<'_, T>, target: usize, edge: usize, d_h: &mut impl RowSums<T, 1>) {
        let all = shape.heads * shape.width;
        let alpha = &self.alpha[edge * shape.heads..(edge + 1) * shape.heads];
        let d_aggregate = &self.d_aggregate[target * all..(target + 1) * all];
        for (d_aggregate, &alpha) in d_aggregate.chunks_exact(shape.width).zip(alpha) {
            d_h.add([alpha], d_aggregate);
        }
    }
}

/// What the pass over targets reads: attention, the gradient of the sums, and a gradient that reaches the scores of the
/// first edges directly.
#[derive(Clone, Copy)]
pub(crate) struct Saved<'a, T> {
    pub(crate) alpha: &'a [T],
    pub(crate) d_aggregate: &'a [T],
    pub(crate) d_attention: &'a [T],
}

#[pulp::with_simd(backward_rows = T::machine())]
#[inline(always)]
fn backward_rows_simd<'a, S: Simd, T: Real, C: Score<T>>(
    simd: S,
    shape: Shape<'a, T>,
    score: C,
    first: usize,
    saved: Saved<'a, T>,
    d_score: &'a mut [T],
    d_target: &'a mut [T],
) {
    let (heads, width) = (shape.heads, shape.width);
    let offsets = shape.targets.offsets;
    for (row, d_target) in d_target.chunks_exact_mut(score.target_width()).enumerate() {
        let j = first + row;
        let d_score = &mut d_score[(offsets[j] - offsets[first]) * heads..(offsets[j + 1] - offsets[first]) * heads];
        let d_aggregate = &saved.d_aggregate[j * heads * width..(j + 1) * heads * width];
        let rows = shape.neighbours(j);
        for (at, d_alpha) in d_score.chunks_exact_mut(heads).enumerate() {
            rows.ask_ahead(at);
            dots_by_head(simd, d_aggregate, rows.row(at), d_alpha);
        }
        let values = offsets[j] * heads..offsets[j + 1] * heads;
        softmax::scores_backward(values, heads, saved.alpha, saved.d_attention, d_score);
        score.backward_row(simd, shape, j, d_score, d_target);
    }
}

/// Backward over sources: d_h_i = sum over out-edges of what the sums' gradients contribute, usually alpha_ijk
/// d_agg_jk, plus the kind's own part. Fills `d_source`, and `sums` with one row per chunk of [`source_chunks`].
pub(crate) fn backward_sources<T: Real>(
    block: Block<'_>,
    shape: Shape<'_, T>,
    own: impl SourceGradient<T>,
    gradients: impl SumGradients<T>,
    d_h: &mut [T],
    d_source: &mut [T],
    sums: &mut [T],
) {
    let chunks = source_chunks(&block);
    let outputs = (
        Rows::new(d_h, shape.width),
        Rows::new(d_source, own.source_width()),
        ChunkRows::new(sums, &chunks, own.sum_width()),
    );
    chunks.run(outputs, |range, (d_h, d_source, sums)| {
        let outputs = (d_h.into_slice(), d_source.into_slice(), sums.into_slice());
        backward_source_rows(block, shape, own, range.start, gradients, outputs);
    });
}

#[pulp::with_simd(backward_source_rows = T::machine())]
#[inline(always)]
fn backward_source_rows_simd<'a, S: Simd, T: Real, C: SourceGradient<T>, G: SumGradients<T>>(
    simd: S,
    block: Block<'a>,
    shape: Shape<'a, T>,
    own: C,
    first: usize,
    gradients: G,
    outputs: (&'a mut [T], &'a mut [T], &'a mut [T]),
) {
    let (d_h, d_source, sums) = outputs;
    let source_width = own.source_width();
    let ahead = Lookahead::over(gradients.rows());
    let [_, d_score] = gradients.by_edge();
    for (row, d_h) in d_h.chunks_exact_mut(shape.width).enumerate() {
        let source = first + row;
        let d_source = &mut d_source[row * source_width..(row + 1) * source_width];
        prefetch_edges(block, source, ahead, gradients.by_edge(), shape.heads);
        by_heads!(source_width, |first, H| out_edge_sums::<T, H>(block, source, d_score, first, d_source));
        weighted_sums::<S, T, 1>(
            simd,
            d_h,
            Start::Zero,
            &SourceRows { block, shape, own, source, gradients, d_source },
        );
    }
    own.finish(simd, shape, first, d_source, sums);
}

/// Writes the sums over one source's out-edges for H heads from head `first` on.
#[inline(always)]
fn out_edge_sums<T: Real, const H: usize>(block: Block<'_>, source: usize, values: &[T], first: usize, sums: &mut [T]) {
    let heads = sums.len();
    let mut some = [T::ZERO; H];
    for (_, e) in block.out_edges(source) {
        let values = &values[e * heads + first..e * heads + first + H];
        for k in 0..H {
            some[k] += values[k];
        }
    }
    sums[first..first + H].copy_from_slice(&some);
}

/// The terms of the gradient of one source's h: what the gradients of its sums contribute, and the kind's own part.
struct SourceRows<'a, T, C, G> {
    block: Block<'a>,
    shape: Shape<'a, T>,
    own: C,
    source: usize,
    gradients: G,
    d_source: &'a [T],
}

impl<T: Real, C: SourceGradient<T>, G: SumGradients<T>> WeightedRows<T, 1> for SourceRows<'_, T, C, G> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        let heads = self.shape.heads;
        let ahead = Lookahead::over(self.gradients.rows()).rows;
        let [_, d_score] = self.gradients.by_edge();
        let (later, _) = self.block.out_edges_from(self.source);
        for (at, (j, e)) in self.block.out_edges(self.source).enumerate() {
            if let Some(&later) = later.get(at + ahead) {
                self.gradients.ask_for(self.shape, later);
                self.own.ask_for(later);
            }
            self.gradients.edge_rows(self.shape, j, e, sums);
            self.own.edge_rows(j, &d_score[e * heads..(e + 1) * heads], sums);
        }
        self.own.source_rows(self.source, self.d_source, sums);
    }
}
