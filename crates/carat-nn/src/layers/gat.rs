//! GAT: PyG's `GATConv(F, F, heads=K, concat=False, add_self_loops=False)`.
//!
//! ```text
//! score_ijk = LeakyReLU_0.2(a_src_k . W_k h_i + a_dst_k . W_k h_j)
//! alpha     = softmax of the score over N(j)
//! out_j     = (1/K) sum_k W_k (sum_i alpha_ijk h_i) + bias
//! ```
//!
//! The sum is taken over inputs and multiplied by W_k once per target. Of W, a score needs only the vectors
//! u_k = W_k^T a_k, so no source is ever projected.

use std::ops::Range;

use carat_graph::Block;
use pulp::Simd;

use super::gat_pair::GatPair;
use super::pairs::GatPairs;
use super::{
    Attention, Costs, Layer, LayerPair, LayerShape, LayerState, PairScores, Products, State, TargetState, Targets,
    Upstream, per_head,
};
use crate::buffer::Buffer;
use crate::cost::{Cost, LayerSizes};
use crate::kernels::aggregate::{self, Gradients, OriginalSums, Saved, Score, Shape, SourceGradient};
use crate::kernels::dense;
use crate::kernels::heads::{ConsecutiveRows, dots_by_head, sums_by_head};
use crate::kernels::in_edges::InEdges;
use crate::kernels::prefetch::{Lookahead, prefetch_row};
use crate::kernels::vector;
use crate::kernels::weighted::RowSums;
use crate::matrix::Matrix;
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Parts, Rows};
use crate::toolkit::{cut, cut_mut, sized};

/// Nodes per chunk when their own scores are computed, at least.
const CHUNK_NODES: usize = 64;

/// Slope of the LeakyReLU in GAT's and GATv2's scores.
pub(crate) const SCORE_SLOPE: f64 = 0.2;

/// What is computed for each source.
#[derive(Debug, Default)]
pub(super) struct Sources<T> {
    /// u_src_k . h_i, sources x heads.
    pub(super) score: Buffer<T>,
    /// u_src and u_dst, each K vectors side by side.
    pub(super) u: Buffer<T>,
    /// The value matrices side by side.
    pub(super) packed: Buffer<T>,
}

/// What is computed for each target, besides its attention.
#[derive(Debug, Default)]
pub(super) struct Sums<T> {
    /// sum_i alpha_ijk h_i, targets x heads x F.
    pub(super) aggregate: Buffer<T>,
    /// u_dst_k . h_j, targets x heads.
    pub(super) score: Buffer<T>,
    /// For products: the vectors, taken back through the value matrices.
    folded: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Debug, Default)]
pub(super) struct Scratch<T> {
    pub(super) d_aggregate: Buffer<T>,
    pub(super) d_packed: Buffer<T>,
    pub(super) d_score: Buffer<T>,
    /// Of the sources' scores, then of the targets'.
    pub(super) d_node_score: Buffer<T>,
    /// The sum, then the part of each chunk.
    d_u: Buffer<T>,
}

/// The GAT layer.
#[derive(Debug, Clone, Copy)]
pub struct Gat;

/// Lengths of lin.weight, att_src, att_dst, bias.
pub(super) fn lengths(LayerShape { width, heads, .. }: LayerShape) -> [usize; 4] {
    [heads * width * width, heads * width, heads * width, width]
}

impl<T: Real> Attention<T> for Gat {
    fn parameters(&self, LayerShape { width, heads, .. }: LayerShape) -> Vec<Parameter> {
        vec![
            Parameter::new("lin.weight", &[heads * width, width], Init::Glorot),
            Parameter::new("att_src", &[1, heads, width], Init::Glorot),
            Parameter::new("att_dst", &[1, heads, width], Init::Glorot),
            Parameter::new("bias", &[width], Init::Zeros),
        ]
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        let LayerShape { width, heads, .. } = layer.shape;
        let [weight, att_src, att_dst, _] = cut(layer.parameters, lengths(layer.shape));
        let Sources { score, u, packed } = state.fill();
        if first == 0 {
            prepare(weight, [att_src, att_dst], layer.shape, u, sized(packed, weight.len()));
        }
        let score = sized(score, layer.h.len() / width * heads);
        node_scores(&mut score[first * heads..], &layer.h[first * width..], &u[..heads * width], heads);
    }

    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let [_, _, _, bias] = cut(layer.parameters, lengths(layer.shape));
        let (sources, TargetState { alpha, own }) = (sources.read(), state);
        let Sums { aggregate, score, .. } = own.fill();
        let aggregate = sum_inputs(layer, sources, targets, [alpha, aggregate, score]);
        per_head::average(out, aggregate, &sources.packed, bias, layer.shape);
    }

    fn backward(
        &self,
        layer: Layer<'_, T>,
        block: Block<'_>,
        upstream: Upstream<'_, T>,
        state: &mut LayerState<T>,
        d_parameters: &mut [T],
        d_h: &mut [T],
    ) {
        let targets = block.num_targets();
        let weights = lengths(layer.shape)[0];
        let [.., d_bias] = cut_mut(d_parameters, lengths(layer.shape));
        dense::add_column_sums(d_bias, upstream.d_out);
        let (Sources { packed, .. }, Sums { aggregate, .. }) = (state.sources.read(), state.targets.own.read());
        let Scratch { d_aggregate, d_packed, .. } = state.scratch.fill();
        let d_aggregate = sized(d_aggregate, targets * layer.shape.heads * layer.shape.width);
        let d_packed = sized(d_packed, weights);
        per_head::average_backward(upstream.d_out, aggregate, packed, layer.shape, [d_packed, d_aggregate]);
        sums_backward(layer, block, upstream.d_attention, state, d_parameters, d_h);
    }

    fn as_products(&self) -> Option<&dyn Products<T>> {
        Some(self)
    }

    fn as_pair(&self) -> Option<&dyn LayerPair<T>> {
        Some(&GatPair)
    }

    fn as_costs(&self) -> Option<&dyn Costs> {
        Some(self)
    }

    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        Some(&GatPairs)
    }
}

impl<T: Real> Products<T> for Gat {
    /// Only the scores read a target's own input: u_dst_k . h_j.
    fn own_vectors<'a>(&self, LayerShape { width, heads, .. }: LayerShape, sources: &'a State) -> &'a [T] {
        &sources.read::<Sources<T>>().u[heads * width..]
    }

    /// v . out_j = v . bias + sum_k ((1/K) W_k^T v) . aggregate_jk: a few numbers per target instead of F.
    fn products(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        vectors: &[T],
        products: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let LayerShape { width, heads, .. } = layer.shape;
        let [_, _, _, bias] = cut(layer.parameters, lengths(layer.shape));
        let (rows, all, count) = (targets.len(), heads * width, vectors.len() / width);
        let (sources, TargetState { alpha, own }) = (sources.read::<Sources<T>>(), state);
        let Sums { aggregate, score, folded } = own.fill();
        per_head::fold(folded, vectors, &sources.packed, layer.shape);
        let dot = |vector: &[T]| vector.iter().zip(bias).map(|(v, bias)| *v * *bias).sum::<T>();
        let folded_bias: Vec<T> = vectors.chunks_exact(width).map(dot).collect();
        let aggregate = Matrix::new(sum_inputs(layer, sources, targets, [alpha, aggregate, score]), rows, all);
        dense::add_products(products, aggregate, Matrix::new(folded, count, all), Some(&folded_bias));
    }
}

impl Costs for Gat {
    fn cost(&self, sizes: LayerSizes) -> Cost {
        let LayerSizes { width, heads, sources, targets, edges } = sizes;
        let (row, all) = (width, heads * width);
        // The value matrices, forward and for both gradients; the edges' sums, forward, d_alpha and d_h; the nodes'
        // scores.
        let operations = 6.0 * targets * all * width + 6.0 * edges * all + 6.0 * (sources + targets) * all;
        // The aggregate and its gradient are written once and read twice; h is read by three passes, and d_h written.
        let numbers = 6.0 * targets * all + 4.0 * sources * row + 2.0 * targets * row + 3.0 * all * width;
        Cost::new(operations, numbers + sizes.edge_numbers())
    }
}

/// The rest of the backward pass, from the gradients of the sums and of the packed value matrices, which are in the
/// state's scratch.
pub(super) fn sums_backward<T: Real>(
    layer: Layer<'_, T>,
    block: Block<'_>,
    d_attention: &[T],
    state: &mut LayerState<T>,
    d_parameters: &mut [T],
    d_h: &mut [T],
) {
    let LayerShape { width, heads, .. } = layer.shape;
    let (sources, targets) = (block.num_sources(), block.num_targets());
    let Sources { score: source_score, u, .. } = state.sources.read();
    let Sums { score: target_score, .. } = state.targets.own.read();
    let alpha = &state.targets.alpha;
    let Scratch { d_aggregate, d_packed, d_score, d_node_score, d_u } = state.scratch.fill();
    let shape = Shape { targets: InEdges::of_block(block), heads, width, h: layer.h };
    let score = GatScore { source_score, target_score, first: 0, heads };
    let d_score = sized(d_score, block.num_edges() * heads);
    let (d_source_score, d_target_score) =
        sized(d_node_score, (sources + targets) * heads).split_at_mut(sources * heads);
    let saved = Saved { alpha, d_aggregate, d_attention };
    aggregate::backward_targets(shape, score, saved, d_score, d_target_score);
    let gradients = Gradients { alpha, d_aggregate, d_score };
    let own = NodeScores { u, d_target_score, heads, width };
    let d_u = sized(d_u, (aggregate::source_chunks(&block).len() + 1) * u.len());
    let (d_u, d_u_parts) = d_u.split_at_mut(u.len());
    aggregate::backward_sources(block, shape, own, gradients, d_h, d_source_score, d_u_parts);
    d_u.fill(T::ZERO);
    dense::add_column_sums(d_u, d_u_parts);
    weights_backward(layer, Parts::one(d_packed), d_u, d_parameters);
}

/// The gradients of the parameters that scores and values share, from those of the packed value matrices and of u.
pub(super) fn weights_backward<T: Real>(
    layer: Layer<'_, T>,
    d_packed: Parts<'_, T>,
    d_u: &[T],
    d_parameters: &mut [T],
) {
    let LayerShape { width, heads, .. } = layer.shape;
    let [weight, att_src, att_dst, _] = cut(layer.parameters, lengths(layer.shape));
    let [d_weight, d_att_src, d_att_dst, _] = cut_mut(d_parameters, lengths(layer.shape));
    let (d_u_src, d_u_dst) = d_u.split_at(heads * width);
    let sides = [Side { att: att_src, d_u: d_u_src }, Side { att: att_dst, d_u: d_u_dst }];
    let outputs = (Rows::new(d_weight, width), Rows::new(d_att_src, 1), Rows::new(d_att_dst, 1));
    per_head::weight_chunks(heads * width, width).run(outputs, |range, (d_weight, d_att_src, d_att_dst)| {
        let outputs = (d_weight.into_slice(), d_att_src.into_slice(), d_att_dst.into_slice());
        weight_gradients(weight, d_packed, sides, layer.shape, range.start, outputs);
    });
}

/// Fills the attention, the sums of the inputs and the targets' own scores; returns the sums.
pub(super) fn sum_inputs<'a, T: Real>(
    layer: Layer<'_, T>,
    Sources { score: source_score, u, .. }: &Sources<T>,
    targets: Targets<'_, T>,
    [alpha, aggregate, target_score]: [&'a mut Buffer<T>; 3],
) -> &'a [T] {
    let LayerShape { width, heads, .. } = layer.shape;
    let original = targets.original.map(|original| (original.lost_edges(), original.state.own.read::<Sums<T>>()));
    let target_score = match (original, targets.products) {
        (Some((_, sums)), _) => &sums.score[..],
        (None, Some(products)) => products,
        (None, None) => {
            let target_score = sized(target_score, targets.len() * heads);
            node_scores(target_score, targets.h, &u[heads * width..], heads);
            target_score
        }
    };
    let alpha = sized(alpha, targets.num_edges() * heads);
    let aggregate = sized(aggregate, targets.len() * heads * width);
    let shape = Shape { targets: targets.edges(), heads, width, h: layer.h };
    let score = GatScore { source_score, target_score, first: 0, heads };
    let original = original.map(|(edges, sums)| OriginalSums { edges, aggregate: &sums.aggregate });
    aggregate::forward(shape, score, original, alpha, aggregate);
    aggregate
}

/// s_ik = h_i . u_k
pub(super) fn node_scores<T: Real>(scores: &mut [T], h: &[T], u: &[T], heads: usize) {
    let width = u.len() / heads;
    Chunks::pairs(scores.len() / heads, CHUNK_NODES).run(Rows::new(scores, heads), |range, scores| {
        node_score_rows(scores.into_slice(), &h[range.start * width..range.end * width], u, heads);
    });
}

/// [`node_scores`] on the current thread.
#[pulp::with_simd(node_score_rows = T::machine())]
#[inline(always)]
pub(super) fn node_score_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    scores: &'a mut [T],
    h: &'a [T],
    u: &'a [T],
    heads: usize,
) {
    let width = u.len() / heads;
    for (scores, h) in scores.chunks_exact_mut(heads).zip(h.chunks_exact(width)) {
        dots_by_head(simd, u, h, scores);
    }
}

/// u_k = W_k^T a_k for both sides, and the W_k side by side: one pass over W.
pub(super) fn prepare<T: Real>(weight: &[T], att: [&[T]; 2], shape: LayerShape, u: &mut Buffer<T>, packed: &mut [T]) {
    let all = shape.heads * shape.width;
    let chunks = per_head::weight_chunks(shape.width, all);
    let (whole, parts) = sized(u, (chunks.len() + 1) * 2 * all).split_at_mut(2 * all);
    chunks.run((Rows::new(packed, all), ChunkRows::new(parts, &chunks, 2 * all)), |range, (packed, u)| {
        per_head::pack_rows(packed.into_slice(), weight, range.clone(), shape);
        score_vectors(weight, att, shape, range, u.into_slice());
    });
    whole.fill(T::ZERO);
    dense::add_column_sums(whole, parts);
    u.truncate(2 * all);
}

/// The contribution of some rows of each W_k to u_k = W_k^T a_k, for both sides.
#[pulp::with_simd(score_vectors = T::machine())]
#[inline(always)]
fn score_vectors_simd<'a, S: Simd, T: Real>(
    simd: S,
    weight: &'a [T],
    att: [&'a [T]; 2],
    shape: LayerShape,
    range: Range<usize>,
    u: &'a mut [T],
) {
    let LayerShape { width, heads, .. } = shape;
    for k in 0..heads {
        let rows = k * width + range.start..k * width + range.end;
        let weight = ConsecutiveRows { rows: &weight[rows.start * width..rows.end * width], width };
        for (att, u) in att.iter().zip(u.chunks_exact_mut(heads * width)) {
            sums_by_head(simd, &mut u[k * width..(k + 1) * width], &att[rows.clone()], 1, weight);
        }
    }
}

/// d_W_k += (what is packed) + a_k d_u_k^T and d_a_k += W_k d_u_k, for both sides: one pass over some rows of d_W.
#[pulp::with_simd(weight_gradients = T::machine())]
#[inline(always)]
fn weight_gradients_simd<'a, S: Simd, T: Real>(
    simd: S,
    weight: &'a [T],
    d_packed: Parts<'a, T>,
    sides: [Side<'a, T>; 2],
    shape: LayerShape,
    first: usize,
    outputs: (&'a mut [T], &'a mut [T], &'a mut [T]),
) {
    let width = shape.width;
    let (d_weight, d_att_src, d_att_dst) = outputs;
    for (at, d_weight) in d_weight.chunks_exact_mut(width).enumerate() {
        let row = first + at;
        let (head, weight) = (row / width, &weight[row * width..(row + 1) * width]);
        for d_packed in d_packed.all() {
            vector::add_scaled(simd, d_weight, T::ONE, per_head::packed_row(d_packed, row, shape));
        }
        for (side, d_att) in sides.iter().zip([&mut *d_att_src, &mut *d_att_dst]) {
            let d_u = &side.d_u[head * width..(head + 1) * width];
            vector::add_scaled(simd, d_weight, side.att[row], d_u);
            d_att[at] += vector::dot(simd, weight, d_u);
        }
    }
}

/// The sources' or the targets' side of the scores: a, and the gradient of u.
#[derive(Clone, Copy)]
struct Side<'a, T> {
    att: &'a [T],
    d_u: &'a [T],
}

/// score_ijk = LeakyReLU(source_score_ik + target_score_jk)
#[derive(Clone, Copy)]
pub(super) struct GatScore<'a, T> {
    pub(super) source_score: &'a [T],
    /// Of the targets from `first` on.
    pub(super) target_score: &'a [T],
    pub(super) first: usize,
    pub(super) heads: usize,
}

impl<T: Real> GatScore<'_, T> {
    /// A target's own scores.
    #[inline(always)]
    fn own(&self, target: usize) -> &[T] {
        &self.target_score[(target - self.first) * self.heads..][..self.heads]
    }

    /// Prefetches as many sources' scores as this target has, some edges ahead of them.
    #[inline(always)]
    fn ask_ahead(&self, shape: Shape<'_, T>, target: usize, values: usize) {
        let ahead = Lookahead::over(shape.h).values;
        for &i in shape.targets.neighbours_from(target).iter().skip(ahead).take(values / self.heads) {
            prefetch_row(self.source_score, i, self.heads);
        }
    }
}

impl<T: Real> Score<T> for GatScore<'_, T> {
    fn target_width(&self) -> usize {
        self.heads
    }

    #[inline(always)]
    fn row<S: Simd>(&self, _: S, shape: Shape<'_, T>, target: usize, own: usize, scores: &mut [T]) {
        let slope = T::from_f64(SCORE_SLOPE);
        let own = self.own(own);
        self.ask_ahead(shape, target, scores.len());
        for (&i, scores) in shape.targets.in_neighbours(target).iter().zip(scores.chunks_exact_mut(self.heads)) {
            let source = &self.source_score[i as usize * self.heads..(i as usize + 1) * self.heads];
            for ((score, &source), &own) in scores.iter_mut().zip(source).zip(own) {
                *score = vector::leaky_relu(source + own, slope);
            }
        }
    }

    #[inline(always)]
    fn backward_row<S: Simd>(&self, _: S, shape: Shape<'_, T>, target: usize, d_score: &mut [T], d_target: &mut [T]) {
        let slope = T::from_f64(SCORE_SLOPE);
        let own = self.own(target);
        d_target.fill(T::ZERO);
        self.ask_ahead(shape, target, d_score.len());
        for (&i, d_score) in shape.targets.in_neighbours(target).iter().zip(d_score.chunks_exact_mut(self.heads)) {
            let source = &self.source_score[i as usize * self.heads..(i as usize + 1) * self.heads];
            for (k, d_score) in d_score.iter_mut().enumerate() {
                *d_score *= vector::leaky_relu_gradient(source[k] + own[k], slope);
                d_target[k] += *d_score;
            }
        }
    }
}

/// The gradients of the sources' and the targets' scores, on their way to h and to u = [u_src, u_dst].
#[derive(Clone, Copy)]
pub(super) struct NodeScores<'a, T> {
    pub(super) u: &'a [T],
    pub(super) d_target_score: &'a [T],
    pub(super) heads: usize,
    pub(super) width: usize,
}

impl<T: Real> SourceGradient<T> for NodeScores<'_, T> {
    fn source_width(&self) -> usize {
        self.heads
    }

    fn sum_width(&self) -> usize {
        self.u.len()
    }

    #[inline(always)]
    fn ask_for(&self, _: u32) {}

    #[inline(always)]
    fn edge_rows(&self, _: usize, _: &[T], _: &mut impl RowSums<T, 1>) {}

    /// s = h U^T, so d_h += d_s U; a target has a score of each side.
    #[inline(always)]
    fn source_rows(&self, source: usize, d_source: &[T], d_h: &mut impl RowSums<T, 1>) {
        let own = self.d_target_score.get(source * self.heads..(source + 1) * self.heads).unwrap_or(&[]);
        for (u, &d_s) in self.u.chunks_exact(self.width).zip(d_source.iter().chain(own)) {
            d_h.add([d_s], u);
        }
    }

    /// d_U = d_s^T h.
    #[inline(always)]
    fn finish<S: Simd>(&self, simd: S, shape: Shape<'_, T>, first: usize, d_source: &[T], d_u: &mut [T]) {
        let (heads, width) = (self.heads, self.width);
        let (d_u_src, d_u_dst) = d_u.split_at_mut(heads * width);
        let rows = &shape.h[first * width..first * width + d_source.len() * width / heads];
        sums_by_head(simd, d_u_src, d_source, heads, ConsecutiveRows { rows, width });
        let own = self.d_target_score.get(first * heads..).unwrap_or(&[]);
        let own = &own[..own.len().min(d_source.len())];
        sums_by_head(simd, d_u_dst, own, heads, ConsecutiveRows { rows, width });
    }
}
