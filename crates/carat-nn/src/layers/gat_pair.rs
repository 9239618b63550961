//! Two GAT layers computed together: sums first, then both layers' matrices.
//!
//! Between two layers there are only weighted sums and matrices. So the upper layer can sum the lower layer's sums, and
//! the lower layer's matrices can be applied afterwards:
//!
//! ```text
//! below_jm = sum_i alpha1_ijm h_i                     the lower layer's sums; below_j is all K side by side
//! v_k      = (1/K) W1^T u2_k                          W1 = [W1_1, ..., W1_K], F x K F
//! score    = v_src_k . below_j + v_dst_k . below_n + (u2_src_k + u2_dst_k) . bias1, LeakyReLU of it
//! slot_nk  = sum_j alpha2_jnk below_j                 sums of sums, or below_j itself: kernels/slots.rs
//! agg_nk   = (1/K) W1 slot_nk + bias1                 the upper layer's sums
//! out_n    = (1/K) sum_k W2_k agg_nk + bias2
//! ```
//!
//! W1 then multiplies at most K slots for each of the upper layer's targets instead of one row for each of its sources:
//! with three heads 355 instead of 644 on Cora, where few nodes have a label. The same is true of both of W1's
//! gradients.
//!
//! Deletions read (1/K) W1 below_j + bias1 of every source j. Where deletions follow, the forward pass computes those
//! rows and sums them, and only the backward pass has slots.
//!
//! Everything from the scores to the output is computed for a few targets at a time, forward and backward, so that a
//! thread's intermediate results stay in its own cache.

use std::ops::Range;

use carat_graph::Block;
use pulp::Simd;

use super::gat::{GatScore, NodeScores, Scratch, Sources, Sums, lengths, node_score_rows, node_scores, prepare};
use super::gat::{sum_inputs, sums_backward, weights_backward};
use super::{
    Attention, Gat, LayerPair, LayerShape, LayerState, PairedLayer, State, TargetState, Targets, Upstream, per_head,
};
use crate::buffer::Buffer;
use crate::cost::{Cost, LayerSizes};
use crate::kernels::aggregate::{self, Shape};
use crate::kernels::heads::dots_by_head;
use crate::kernels::in_edges::InEdges;
use crate::kernels::slots::{self, Saved, SlotGradients, Slots, rows_of};
use crate::kernels::{dense, vector};
use crate::matrix::{piece_count, row_chunks};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, EdgeRows, Parts, Rows};
use crate::toolkit::{cut, cut_mut, sized};

/// Multiply-adds of a matrix product that take as long as one of a pass over edges. Decides whether a pair saves time.
const EDGE_WORK: usize = 4;

/// The same for the shares of two threads, which took equally long on Cora with it.
const SHARED_EDGE_WORK: usize = 3;

/// Two GAT layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct GatPair;

/// What the pair keeps besides the states of its layers.
#[derive(Debug, Default)]
struct PairState<T> {
    /// v_src and v_dst, or only v_dst where the lower layer's outputs are kept.
    v: Buffer<T>,
    /// The slots, and their products with the lower layer's matrices.
    slots: Buffer<T>,
    projected: Buffer<T>,
    d_slots: Buffer<T>,
    d_projected: Buffer<T>,
    /// The parts of gradients that chunks of targets compute: of both layers' matrices and biases.
    parts: Buffer<T>,
    d_u: Buffer<T>,
    /// The sum, then the part of each chunk of sources.
    d_v: Buffer<T>,
}

impl<T: Real> LayerPair<T> for GatPair {
    fn pays(&self, LayerShape { width, heads, .. }: LayerShape, [_, block]: [Block<'_>; 2]) -> bool {
        let slots = slots::begins(block, heads)[block.num_targets()];
        // An edge's row is K times as long.
        let edges = block.num_edges() * (heads - 1) * EDGE_WORK;
        slots * width + edges < block.num_sources() * width
    }

    fn costs(&self, shape: LayerShape, [below, above]: [Block<'_>; 2]) -> [Cost; 2] {
        let [lower, upper] = [below, above].map(|block| LayerSizes::of(shape, block));
        let (row, all) = (lower.width, lower.heads * lower.width);
        let slots = slots::begins(above, shape.heads)[above.num_targets()] as f64;
        let summed = slots::summed_edges(above, shape.heads) as f64;
        // The value matrices, forward and for both gradients; the edges' sums, forward, d_alpha and d_h; the nodes'
        // scores.
        let lower_operations =
            6.0 * slots * all * row + 6.0 * lower.edges * all + 6.0 * (lower.sources + lower.targets) * all;
        let upper_operations = 6.0 * upper.targets * all * row
            + 6.0 * (summed * upper.heads + (upper.edges - summed)) * all
            + 6.0 * (upper.sources + upper.targets) * upper.heads * all;
        // Sums, slots and their gradients are written once and read twice; h is read by three passes, and d_h written.
        let lower_numbers = 6.0 * (lower.targets + slots) * all + 4.0 * lower.sources * row + 3.0 * all * row;
        let upper_numbers = 6.0 * upper.targets * all + 2.0 * upper.targets * row + 3.0 * all * row;
        [
            Cost::new(lower_operations, lower_numbers + lower.edge_numbers()),
            Cost::new(upper_operations, upper_numbers + upper.edge_numbers()),
        ]
    }

    fn forward(
        &self,
        [lower, upper]: [PairedLayer<'_, T>; 2],
        [lower_state, upper_state]: [&mut LayerState<T>; 2],
        pair: &mut State,
        lower_outputs: Option<&mut [T]>,
        out: &mut [T],
    ) {
        let (shape, block) = (lower.layer.shape, upper.block);
        let LayerShape { width, heads, .. } = shape;
        let all = heads * width;
        let [.., lower_bias] = cut(lower.layer.parameters, lengths(shape));
        let [weight, att_src, att_dst, bias] = cut(upper.layer.parameters, lengths(shape));
        Gat.sources(lower.layer, 0, &mut lower_state.sources);
        let targets = Targets::of_block(lower.block, lower.layer.h, width);
        let (lower_sources, TargetState { alpha, own }) = (lower_state.sources.read(), &mut lower_state.targets);
        let Sums { aggregate, score, .. } = own.fill();
        let below = sum_inputs(lower.layer, lower_sources, targets, [alpha, aggregate, score]);

        let Sources { score: source_score, u, packed } = upper_state.sources.fill();
        prepare(weight, [att_src, att_dst], shape, u, sized(packed, weight.len()));
        let Sources { packed: lower_packed, .. } = lower_sources;
        let layers = Layers { block, shape, below, lower: [lower_packed, lower_bias], upper: [packed, bias] };
        let Sums { aggregate, score: target_score, .. } = upper_state.targets.own.fill();
        let outputs = Outputs {
            source_score: sized(source_score, block.num_sources() * heads),
            target_score: sized(target_score, block.num_targets() * heads),
            alpha: sized(&mut upper_state.targets.alpha, block.num_edges() * heads),
            aggregate: sized(aggregate, block.num_targets() * all),
            out,
        };
        match lower_outputs {
            None => layers.sums_first(u, pair.fill(), outputs),
            Some(lower_outputs) => layers.sources_first(u, pair.fill(), lower_outputs, outputs),
        }
    }

    fn backward(
        &self,
        [lower, upper]: [PairedLayer<'_, T>; 2],
        [lower_upstream, upstream]: [Upstream<'_, T>; 2],
        [lower_state, upper_state]: [&mut LayerState<T>; 2],
        pair: &mut State,
        [d_lower, d_upper]: [&mut [T]; 2],
        d_h: &mut [T],
    ) {
        let (shape, block) = (lower.layer.shape, upper.block);
        let LayerShape { width, heads, .. } = shape;
        let (all, targets, weights) = (heads * width, block.num_targets(), heads * width * width);
        let [.., d_bias] = cut_mut(d_upper, lengths(shape));
        let [.., d_lower_bias] = cut_mut(d_lower, lengths(shape));
        let PairState { v, slots: filled, projected, d_slots, d_projected, parts, d_u, d_v } = pair.fill();
        let Sources { score: source_score, u, packed } = upper_state.sources.read();
        let TargetState { alpha, own } = &upper_state.targets;
        let Sums { aggregate, score: target_score, .. } = own.read();
        let Scratch { d_aggregate, d_score, d_node_score, .. } = upper_state.scratch.fill();
        let Sources { packed: lower_packed, .. } = lower_state.sources.read();
        let Sums { aggregate: below, .. } = lower_state.targets.own.read();
        let Scratch { d_aggregate: d_below, d_packed: d_lower_packed, .. } = lower_state.scratch.fill();
        // The forward pass computed the lower layer's outputs and no slots, so they are filled here.
        let has_outputs = !upper.layer.h.is_empty();
        if has_outputs {
            per_head::fold(v, u, lower_packed, shape);
        }

        // From the output to the scores and the slots, a few targets at a time.
        let slots = Slots { block, begins: &slots::begins(block, heads), heads, width, rows: below };
        let (chunks, part_width) = (chunks(slots), 2 * (weights + width));
        let parts = sized(parts, chunks.len() * part_width);
        let d_slots = sized(d_slots, slots.count() * all);
        let d_score = sized(d_score, block.num_edges() * heads);
        let (d_source_score, d_target_score) =
            sized(d_node_score, (block.num_sources() + targets) * heads).split_at_mut(block.num_sources() * heads);
        let numbers = (EdgeRows::new(d_score, block.offsets(), heads), Rows::new(d_target_score, heads));
        let slot_rows = (
            EdgeRows::new(sized(filled, slots.count() * all), slots.begins, all),
            EdgeRows::new(sized(projected, slots.count() * width), slots.begins, width),
        );
        let wide = (
            Rows::new(sized(d_aggregate, targets * all), all),
            EdgeRows::new(sized(d_projected, slots.count() * width), slots.begins, width),
            EdgeRows::new(d_slots, slots.begins, all),
        );
        let score = GatScore { source_score, target_score, first: 0, heads };
        let outputs = ((numbers, slot_rows), wide, ChunkRows::new(parts, &chunks, part_width));
        chunks.run(outputs, |range, ((numbers, slot_rows), wide, part)| {
            let (filled, projected) = (slot_rows.0.into_slice(), slot_rows.1.into_slice());
            if has_outputs {
                slots::fill(slots, range.clone(), alpha, filled);
                slots::copy_projected(slots, range.clone(), upper.layer.h, projected);
            }
            let (d_aggregate, d_projected, d_slots) = (wide.0.into_slice(), wide.1.into_slice(), wide.2.into_slice());
            let [d_packed, d_lower_packed, d_bias, d_lower_bias] =
                cut_mut(part.into_slice(), [weights, weights, width, width]);
            let d_out = rows_of(upstream.d_out, range.clone(), width);
            let sums = rows_of(aggregate, range.clone(), all);
            per_head::average_backward(d_out, sums, packed, shape, [d_packed, d_aggregate]);
            slots::share_out(slots, range.start, alpha, d_aggregate, d_projected);
            let lower_outputs = [d_lower_packed, &mut *d_slots];
            per_head::average_backward(d_projected, filled, lower_packed, shape, lower_outputs);
            dense::write_column_sums_here(d_bias, d_out);
            dense::write_column_sums_here(d_lower_bias, d_projected);
            let saved = Saved { alpha, d_attention: upstream.d_attention, projected, d_aggregate, d_slots };
            let outputs = (numbers.0.into_slice(), numbers.1.into_slice());
            slots::backward_targets(slots, score, saved, range.start, outputs);
        });
        let begun = |first: usize, len: usize| Parts::new(parts, part_width, first..first + len);
        let (d_packed, d_lower_parts) = (begun(0, weights), begun(weights, weights));
        dense::add_parts(d_bias, begun(2 * weights, width));
        dense::add_parts(d_lower_bias, begun(2 * weights + width, width));

        // From there to the lower layer's sums and, through v, to both layers' parameters.
        let gradients = SlotGradients { slots, alpha, d_slots, d_score };
        let own = NodeScores { u: v, d_target_score, heads, width: all };
        let d_below = sized(d_below, block.num_sources() * all);
        let count = aggregate::source_chunks(&block).len();
        let (d_v, d_v_parts) = sized(d_v, (count + 1) * v.len()).split_at_mut(v.len());
        aggregate::backward_sources(block, slots.edge_shape(), own, gradients, d_below, d_source_score, d_v_parts);
        dense::write_column_sums_here(d_v, d_v_parts);
        let vectors = Vectors { u, d_v, lower_packed, d_lower_parts, shape };
        let (d_lower_packed, d_u) = (sized(d_lower_packed, weights), sized(d_u, 2 * all));
        vectors.backward(d_lower_packed, d_u);

        // u . bias1 takes part in every score.
        let [.., lower_bias] = cut(lower.layer.parameters, lengths(shape));
        let mut d_scores = vec![T::ZERO; heads];
        dense::add_column_sums(&mut d_scores, d_target_score);
        for (k, (u, d_u)) in u.chunks_exact(width).zip(d_u.chunks_exact_mut(width)).enumerate() {
            for f in 0..width {
                d_u[f] += d_scores[k % heads] * lower_bias[f];
                d_lower_bias[f] += d_scores[k % heads] * u[f];
            }
        }
        weights_backward(upper.layer, d_packed, d_u, d_upper);
        sums_backward(lower.layer, lower.block, lower_upstream.d_attention, lower_state, d_lower, d_h);
    }
}

/// What the forward pass reads of both layers once the lower one's sums are computed: matrices side by side, and
/// biases.
#[derive(Clone, Copy)]
struct Layers<'a, T> {
    block: Block<'a>,
    shape: LayerShape,
    below: &'a [T],
    lower: [&'a [T]; 2],
    upper: [&'a [T]; 2],
}

/// What the forward pass fills of the upper layer.
struct Outputs<'a, T> {
    source_score: &'a mut [T],
    target_score: &'a mut [T],
    alpha: &'a mut [T],
    aggregate: &'a mut [T],
    out: &'a mut [T],
}

impl<'a, T: Real> Layers<'a, T> {
    /// Multiplies the slots by the lower layer's matrices.
    fn sums_first(self, u: &[T], pair: &mut PairState<T>, outputs: Outputs<'_, T>) {
        let Self { block, shape, below, lower: [lower_packed, lower_bias], upper: [packed, bias] } = self;
        let LayerShape { width, heads, .. } = shape;
        let all = heads * width;
        let Outputs { source_score, target_score, alpha, aggregate, out } = outputs;
        let PairState { v, slots: filled, projected, .. } = pair;
        per_head::fold(v, u, lower_packed, shape);
        let ((v_src, v_dst), (u_src, u_dst)) = (v.split_at(heads * all), u.split_at(all));
        node_scores(source_score, below, v_src, heads);
        let constants: Vec<T> =
            self.bias_scores(u_src).zip(self.bias_scores(u_dst)).map(|(src, dst)| src + dst).collect();

        let slots = Slots { block, begins: &slots::begins(block, heads), heads, width, rows: below };
        let numbers = (EdgeRows::new(alpha, block.offsets(), heads), Rows::new(target_score, heads));
        let wide = (
            EdgeRows::new(sized(filled, slots.count() * all), slots.begins, all),
            EdgeRows::new(sized(projected, slots.count() * width), slots.begins, width),
            Rows::new(aggregate, all),
        );
        chunks(slots).run((numbers, wide, Rows::new(out, width)), |range, (numbers, wide, out)| {
            let (alpha, target_score) = (numbers.0.into_slice(), numbers.1.into_slice());
            let (filled, projected, aggregate) = (wide.0.into_slice(), wide.1.into_slice(), wide.2.into_slice());
            self.target_scores(range.clone(), v_dst, &constants, target_score);
            let score = GatScore { source_score, target_score, first: range.start, heads };
            slots::attend(slots, score, range.clone(), alpha, filled);
            per_head::average(projected, filled, lower_packed, lower_bias, shape);
            slots::collect(slots, range.start, alpha, projected, aggregate);
            per_head::average(out.into_slice(), aggregate, packed, bias, shape);
        });
    }

    /// Multiplies the sources of the upper layer by the lower layer's matrices, where their outputs are needed.
    fn sources_first(self, u: &[T], pair: &mut PairState<T>, lower_outputs: &mut [T], outputs: Outputs<'_, T>) {
        let Self { block, shape, lower: [lower_packed, _], upper: [packed, bias], .. } = self;
        let LayerShape { width, heads, .. } = shape;
        let all = heads * width;
        let Outputs { source_score, target_score, alpha, aggregate, out } = outputs;
        let (u_src, u_dst) = u.split_at(all);
        self.source_outputs(lower_outputs);
        node_scores(source_score, lower_outputs, u_src, heads);
        let v_dst = &mut pair.v;
        per_head::fold(v_dst, u_dst, lower_packed, shape);
        let constants: Vec<T> = self.bias_scores(u_dst).collect();
        let edges = Shape { targets: InEdges::of_block(block), heads, width, h: lower_outputs };
        let numbers = (EdgeRows::new(alpha, block.offsets(), heads), Rows::new(target_score, heads));
        let wide = (Rows::new(aggregate, all), Rows::new(out, width));
        let work = |n: usize| width + block.in_neighbours(n).len() * SHARED_EDGE_WORK;
        equal_chunks(block.num_targets(), work, block.num_targets(), all).run(
            (numbers, wide),
            |range, (numbers, wide)| {
                let (alpha, target_score) = (numbers.0.into_slice(), numbers.1.into_slice());
                let (aggregate, out) = (wide.0.into_slice(), wide.1.into_slice());
                self.target_scores(range.clone(), v_dst, &constants, target_score);
                let score = GatScore { source_score, target_score, first: range.start, heads };
                aggregate::forward_rows(edges, score, None, range.start, (alpha, aggregate));
                per_head::average(out, aggregate, packed, bias, shape);
            },
        );
    }

    /// The lower layer's outputs of all nodes that are sources of the upper layer; zero for nodes that are only
    /// targets.
    fn source_outputs(self, lower_outputs: &mut [T]) {
        let Self { block, shape, below, lower: [packed, bias], .. } = self;
        let (width, all) = (shape.width, shape.heads * shape.width);
        let targets = block.num_targets();
        let mut is_source = vec![false; block.num_sources()];
        block.sources().iter().for_each(|&i| is_source[i as usize] = true);
        let both: Vec<usize> = (0..targets).filter(|&n| is_source[n]).collect();
        // Targets come first among the sources. The outputs of those that are sources are computed right before those
        // of all others, and then moved to their places, which are at the same position or before it.
        let begin = targets - both.len();
        let rows = block.num_sources() - begin;
        row_chunks(rows, all * width).run(Rows::new(&mut lower_outputs[begin * width..], width), |range, out| {
            let own = both.get(range.start..).unwrap_or(&[]);
            let own = &own[..own.len().min(range.len())];
            let (own_out, out) = out.into_slice().split_at_mut(own.len() * width);
            let gathered: Vec<T> = own.iter().flat_map(|&n| rows_of(below, n..n + 1, all)).copied().collect();
            per_head::average(own_out, &gathered, packed, bias, shape);
            let others = begin + range.start + own.len()..begin + range.end;
            per_head::average(out, rows_of(below, others, all), packed, bias, shape);
        });
        for (at, &n) in both.iter().enumerate() {
            lower_outputs.copy_within((begin + at) * width..(begin + at + 1) * width, n * width);
        }
        for n in (0..targets).filter(|&n| !is_source[n]) {
            lower_outputs[n * width..(n + 1) * width].fill(T::ZERO);
        }
    }

    /// u_k . bias1
    fn bias_scores(self, u: &[T]) -> impl Iterator<Item = T> {
        u.chunks_exact(self.shape.width).map(move |u| u.iter().zip(self.lower[1]).map(|(u, bias)| *u * *bias).sum())
    }

    /// Some targets' own scores: v_dst_k . below_n and a constant.
    fn target_scores(self, range: Range<usize>, v_dst: &[T], constants: &[T], scores: &mut [T]) {
        let LayerShape { width, heads, .. } = self.shape;
        node_score_rows(scores, rows_of(self.below, range, heads * width), v_dst, heads);
        for scores in scores.chunks_exact_mut(heads) {
            scores.iter_mut().zip(constants).for_each(|(score, constant)| *score += *constant);
        }
    }
}

/// The targets in chunks of about equal work: both layers' matrices, for slots and for targets, and sums over edges.
fn chunks<T: Real>(slots: Slots<'_, T>) -> Chunks {
    let Slots { heads, width, .. } = slots;
    let work = |n: usize| {
        let summed = if slots.sums(n) { slots.edges(n).len() * heads * SHARED_EDGE_WORK } else { 0 };
        (slots.of(n, 0).len() + 1) * width + summed
    };
    equal_chunks(slots.block.num_targets(), work, slots.count(), heads * width)
}

/// Targets in chunks of about equal work, given that of each per column: few chunks, if they have few matrix rows.
fn equal_chunks(targets: usize, work: impl Fn(usize) -> usize, rows: usize, columns: usize) -> Chunks {
    let mut work_before = vec![0; targets + 1];
    for n in 0..targets {
        work_before[n + 1] = work_before[n] + work(n);
    }
    let rows = rows.max(1);
    let count = piece_count(rows, work_before[targets].div_ceil(rows) * columns);
    Chunks::equal(targets, |n| work_before[n], count)
}

/// The backward pass of v = (1/K) u W1: the gradient of v, and the other parts of W1's gradient.
#[derive(Clone, Copy)]
struct Vectors<'a, T> {
    u: &'a [T],
    d_v: &'a [T],
    lower_packed: &'a [T],
    d_lower_parts: Parts<'a, T>,
    shape: LayerShape,
}

impl<T: Real> Vectors<'_, T> {
    /// Writes the gradients of W1 and of u.
    fn backward(self, d_lower_packed: &mut [T], d_u: &mut [T]) {
        let LayerShape { width, heads, .. } = self.shape;
        let all = heads * width;
        let mut d_u_columns = vec![T::ZERO; d_u.len()];
        let outputs = (Rows::new(d_lower_packed, all), Rows::new(&mut d_u_columns, 2 * heads));
        per_head::weight_chunks(width, all).run(outputs, |range, (d_lower_packed, d_u)| {
            vector_rows_backward(self, range, (d_lower_packed.into_slice(), d_u.into_slice()));
        });
        for (at, d_u) in d_u.iter_mut().enumerate() {
            *d_u = d_u_columns[at % width * 2 * heads + at / width];
        }
    }
}

/// Some rows of W1's gradient, and the same columns of u's, as rows.
#[pulp::with_simd(vector_rows_backward = T::machine())]
#[inline(always)]
fn vector_rows_backward_simd<'a, S: Simd, T: Real>(
    simd: S,
    vectors: Vectors<'a, T>,
    rows: Range<usize>,
    (d_lower_packed, d_u): (&'a mut [T], &'a mut [T]),
) {
    let LayerShape { width, heads, .. } = vectors.shape;
    let all = heads * width;
    let share = T::ONE / T::from_f64(heads as f64);
    for ((d_lower_packed, d_u), f) in
        d_lower_packed.chunks_exact_mut(all).zip(d_u.chunks_exact_mut(2 * heads)).zip(rows)
    {
        d_lower_packed.fill(T::ZERO);
        for part in vectors.d_lower_parts.all() {
            vector::add_scaled(simd, d_lower_packed, T::ONE, rows_of(part, f..f + 1, all));
        }
        dots_by_head(simd, vectors.d_v, rows_of(vectors.lower_packed, f..f + 1, all), d_u);
        for (k, (d_v, d_u)) in vectors.d_v.chunks_exact(all).zip(d_u).enumerate() {
            *d_u *= share;
            vector::add_scaled(simd, d_lower_packed, share * vectors.u[k * width + f], d_v);
        }
    }
}

#[cfg(test)]
mod tests;
