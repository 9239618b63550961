//! Two GAT layers at once: sums first, then both layers' matrices.
//!
//! Nothing stands between two layers but weighted sums and matrices. So the upper layer can sum the lower one's sums, and
//! the lower one's matrices come afterwards, too:
//!
//! ```text
//! below_jm = sum_i alpha1_ijm h_i                     the lower layer's sums; below_j is all K side by side
//! v_k      = (1/K) W1^T u2_k                          W1 = [W1_1, ..., W1_K], F x K F
//! score    = v_src_k . below_j + v_dst_k . below_n + (u2_src_k + u2_dst_k) . bias1, LeakyReLU of it
//! row_nk   = sum_j alpha2_jnk below_j                 sums of sums
//! agg_nk   = (1/K) W1 row_nk + bias1                  the upper layer's sums
//! out_n    = (1/K) sum_k W2_k agg_nk + bias2
//! ```
//!
//! A target with no more in-edges than heads has the rows below_j themselves, one for each in-edge, and sums afterwards. W1
//! then meets at most K rows for each of the upper layer's targets, its *slots*, in place of one row for each of its sources:
//! with three heads 355 instead of 644 on Cora, where few nodes have a label. So do both of W1's gradients.
//!
//! Everything from the scores to the output belongs to one target and is done for some targets after another, as is the way
//! back, so that each thread finds in its own cache what it has just written.

use std::ops::Range;

use carat_graph::Block;
use pulp::Simd;

use super::gat::{GatScore, NodeScores, PACKED, TARGET_SCORE, lengths, node_scores, prepare};
use super::gat::{aggregate as aggregate_inputs, sums_backward, weights_backward};
use super::{
    Attention, Gat, LayerPair, LayerShape, LayerState, PairState, PairedLayer, TargetState, Targets, Upstream, per_head,
};
use crate::cost::{Cost, LayerSizes};
use crate::kernels::aggregate::{self, AGGREGATE, Score, Shape, SourceGradient, out_edge_sums};
use crate::kernels::heads::{ConsecutiveRows, RowList, by_heads, dots_by_head, sums_by_head};
use crate::kernels::prefetch::{Lookahead, prefetch_edges, prefetch_row};
use crate::kernels::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use crate::kernels::{dense, softmax, vector};
use crate::matrix::piece_count;
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, EdgeRows, Parts, Rows};
use crate::toolkit::{cut, cut_mut, sized};

/// Multiply-adds of a matrix product that take as long as one of a pass over edges.
const EDGE_WORK: usize = 4;

/// Where a pair's state keeps v; after it come the slots' rows, and what the lower layer makes of them.
const V: usize = 0;

/// Two GAT layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct GatPair;

/// The upper layer's targets with their slots.
#[derive(Clone, Copy)]
struct Above<'a, T> {
    block: Block<'a>,
    /// Where each target's slots begin, and their number.
    slots: &'a [usize],
    shape: LayerShape,
    /// The lower layer's sums.
    below: &'a [T],
}

/// Where the slots of every target begin: one for each head, or for each in-edge if those are fewer.
fn slots(block: Block<'_>, heads: usize) -> Vec<usize> {
    let mut slots = Vec::with_capacity(block.num_targets() + 1);
    let mut end = 0;
    slots.push(end);
    for ends in block.offsets().windows(2) {
        end += (ends[1] - ends[0]).min(heads);
        slots.push(end);
    }
    slots
}

impl<'a, T: Real> Above<'a, T> {
    fn edges(&self, target: usize) -> Range<usize> {
        self.block.offsets()[target]..self.block.offsets()[target + 1]
    }

    /// Whether a target's slots hold its heads' sums; else they hold its sources' rows.
    fn sums(&self, target: usize) -> bool {
        self.edges(target).len() > self.shape.heads
    }

    /// A target's slots among those from the first of target `first` on.
    fn slots(&self, target: usize, first: usize) -> Range<usize> {
        self.slots[target] - self.slots[first]..self.slots[target + 1] - self.slots[first]
    }

    /// The targets in chunks of about equal work: both layers' matrices, for slots and for targets, and sums over edges.
    fn chunks(&self) -> Chunks {
        let LayerShape { width, heads } = self.shape;
        let mut work = 0;
        let mut work_before = vec![0; self.slots.len()];
        for (n, after) in work_before[1..].iter_mut().enumerate() {
            let summed = if self.sums(n) { self.edges(n).len() * heads * EDGE_WORK } else { 0 };
            work += (self.slots(n, 0).len() + 1) * width + summed;
            *after = work;
        }
        let rows = self.slots[self.slots.len() - 1].max(1);
        Chunks::equal(&work_before, piece_count(rows, work.div_ceil(rows) * heads * width))
    }

    /// What passes over the edges have to know.
    fn shape(&self) -> Shape<'a, T> {
        let LayerShape { width, heads } = self.shape;
        let targets = Targets::of_block(self.block, self.below, heads * width);
        Shape { targets, heads, width: heads * width, h: self.below }
    }
}

fn rows_of<T>(rows: &[T], range: Range<usize>, width: usize) -> &[T] {
    &rows[range.start * width..range.end * width]
}

fn rows_of_mut<T>(rows: &mut [T], range: Range<usize>, width: usize) -> &mut [T] {
    &mut rows[range.start * width..range.end * width]
}

impl<T: Real> LayerPair<T> for GatPair {
    fn pays(&self, LayerShape { width, heads }: LayerShape, [_, block]: [Block<'_>; 2]) -> bool {
        let rows: usize = block.offsets().windows(2).map(|ends| (ends[1] - ends[0]).min(heads)).sum();
        // An edge's row is K times as long.
        let edges = block.num_edges() * (heads - 1) * EDGE_WORK;
        rows * width + edges < block.num_sources() * width
    }

    fn costs(&self, shape: LayerShape, [below, above]: [Block<'_>; 2]) -> Option<[Cost; 2]> {
        let [lower, upper] = [below, above].map(|block| LayerSizes::of(shape, block));
        let (row, all) = (lower.width, lower.heads * lower.width);
        let slots = slots(above, shape.heads)[above.num_targets()] as f64;
        let summed = above.offsets().windows(2).map(|ends| ends[1] - ends[0]).filter(|&edges| edges > shape.heads);
        let summed = summed.sum::<usize>() as f64;
        // The value matrices, forward and for both gradients; the edges' sums, forward, d_alpha and d_h; the nodes' scores.
        let lower_operations =
            6.0 * slots * all * row + 6.0 * lower.edges * all + 6.0 * (lower.sources + lower.targets) * all;
        let upper_operations = 6.0 * upper.targets * all * row
            + 6.0 * (summed * upper.heads + (upper.edges - summed)) * all
            + 6.0 * (upper.sources + upper.targets) * upper.heads * all;
        // Sums, slots and their gradients are written once and read twice; h is read by three passes, and d_h written.
        let lower_numbers = 6.0 * (lower.targets + slots) * all + 4.0 * lower.sources * row + 3.0 * all * row;
        let upper_numbers = 6.0 * upper.targets * all + 2.0 * upper.targets * row + 3.0 * all * row;
        Some([
            Cost::new(lower_operations, lower_numbers + lower.edge_numbers()),
            Cost::new(upper_operations, upper_numbers + upper.edge_numbers()),
        ])
    }

    fn forward(
        &self,
        [lower, upper]: [PairedLayer<'_, T>; 2],
        [lower_state, upper_state]: [&mut LayerState<T>; 2],
        pair: &mut PairState<T>,
        out: &mut [T],
    ) {
        let (shape, block) = (lower.pass.shape, upper.block);
        let LayerShape { width, heads } = shape;
        let all = heads * width;
        let [.., lower_bias] = cut(lower.pass.parameters, lengths(shape));
        let [weight, att_src, att_dst, bias] = cut(upper.pass.parameters, lengths(shape));
        Gat.sources(lower.pass, 0, &mut lower_state.sources);
        let targets = Targets::of_block(lower.block, lower.pass.h, width);
        let below = aggregate_inputs(lower.pass, &lower_state.sources, targets, &mut lower_state.targets);

        let [source_score, u, packed] = &mut upper_state.sources.buffers;
        prepare(weight, [att_src, att_dst], shape, u, sized(packed, weight.len()));
        let lower_packed = &lower_state.sources.buffers[PACKED];
        score_vectors(&mut pair.buffers[V], u, lower_packed, shape);
        let [v, rows, projected] = &mut pair.buffers;
        let (v_src, v_dst) = v.split_at(heads * all);
        node_scores(sized(source_score, block.num_sources() * heads), below, v_src, heads);
        let mut bias_scores = vec![T::ZERO; heads];
        for (k, u) in u.chunks_exact(width).enumerate() {
            bias_scores[k % heads] += u.iter().zip(lower_bias).map(|(u, bias)| *u * *bias).sum();
        }

        let slots = &slots(block, heads);
        let above = Above { block, slots, shape, below };
        let [aggregate, target_score, _] = &mut upper_state.targets.buffers;
        let alpha = sized(&mut upper_state.targets.alpha, block.num_edges() * heads);
        let count = slots[block.num_targets()];
        let numbers = (
            EdgeRows::new(alpha, block.offsets(), heads),
            Rows::new(sized(target_score, block.num_targets() * heads), heads),
        );
        let wide = (
            EdgeRows::new(sized(rows, count * all), slots, all),
            EdgeRows::new(sized(projected, count * width), slots, width),
            Rows::new(sized(aggregate, block.num_targets() * all), all),
        );
        let outputs = (numbers, wide, Rows::new(out, width));
        above.chunks().run(outputs, |range, ((alpha, target_score), (rows, projected, aggregate), out)| {
            let (alpha, target_score) = (alpha.into_slice(), target_score.into_slice());
            let (rows, projected, aggregate) = (rows.into_slice(), projected.into_slice(), aggregate.into_slice());
            own_scores(target_score, rows_of(below, range.clone(), all), v_dst, &bias_scores);
            attend(above, source_score, range.start, target_score, alpha, rows);
            per_head::average_here(projected, rows, lower_packed, lower_bias, shape);
            collect(above, range.start, alpha, projected, aggregate);
            per_head::average_here(out.into_slice(), aggregate, packed, bias, shape);
        });
    }

    fn backward(
        &self,
        [lower, upper]: [PairedLayer<'_, T>; 2],
        [lower_upstream, upstream]: [Upstream<'_, T>; 2],
        [lower_state, upper_state]: [&mut LayerState<T>; 2],
        pair: &mut PairState<T>,
        [d_lower, d_upper]: [&mut [T]; 2],
        d_h: &mut [T],
    ) {
        let (shape, block) = (lower.pass.shape, upper.block);
        let LayerShape { width, heads } = shape;
        let (all, targets, weights) = (heads * width, block.num_targets(), heads * width * width);
        let [.., lower_bias] = cut(lower.pass.parameters, lengths(shape));
        let [.., d_bias] = cut_mut(d_upper, lengths(shape));
        let [.., d_lower_bias] = cut_mut(d_lower, lengths(shape));
        let PairState { buffers: [v, rows, projected], scratch: [d_rows, d_projected, parts, d_u] } = pair;
        let LayerState { sources, targets: TargetState { alpha, buffers: upper_buffers }, scratch } = upper_state;
        let [d_aggregate, _, d_score, d_node_score, d_v, _] = scratch;
        let [source_score, u, packed] = &sources.buffers;
        let (aggregate, target_score) = (&upper_buffers[AGGREGATE], &upper_buffers[TARGET_SCORE]);
        let [d_below, d_lower_packed, ..] = &mut lower_state.scratch;
        let lower_packed = &lower_state.sources.buffers[PACKED];

        let slots = &slots(block, heads);
        let above = Above { block, slots, shape, below: &lower_state.targets.buffers[AGGREGATE] };
        let (chunks, count) = (above.chunks(), slots[targets]);
        let one_by_one = !upper.pass.h.is_empty();
        if one_by_one {
            score_vectors(v, u, lower_packed, shape);
        }
        let slot_rows = (
            EdgeRows::new(sized(rows, count * all), slots, all),
            EdgeRows::new(sized(projected, count * width), slots, width),
        );
        let parts = sized(parts, chunks.len() * 2 * (weights + width));
        let d_rows = sized(d_rows, count * all);
        let d_score = sized(d_score, block.num_edges() * heads);
        let (d_source_score, d_target_score) =
            sized(d_node_score, (block.num_sources() + targets) * heads).split_at_mut(block.num_sources() * heads);
        let numbers = (EdgeRows::new(d_score, block.offsets(), heads), Rows::new(d_target_score, heads));
        let wide = (
            Rows::new(sized(d_aggregate, targets * all), all),
            EdgeRows::new(sized(d_projected, count * width), slots, width),
            EdgeRows::new(d_rows, slots, all),
        );
        let score = GatScore { source_score, target_score, heads };
        let outputs = ((numbers, slot_rows), wide, ChunkRows::new(parts, &chunks, 2 * (weights + width)));
        chunks.run(outputs, |range, ((numbers, slot_rows), (d_aggregate, d_projected, d_rows), part)| {
            let (d_score, d_target) = (numbers.0.into_slice(), numbers.1.into_slice());
            let (rows, projected) = (slot_rows.0.into_slice(), slot_rows.1.into_slice());
            if one_by_one {
                sum_slots(above, range.clone(), alpha, rows);
                copy_slots(above, range.clone(), upper.pass.h, projected);
            }
            let (d_aggregate, d_projected, d_rows) =
                (d_aggregate.into_slice(), d_projected.into_slice(), d_rows.into_slice());
            let [d_packed, d_lower_packed, d_bias, d_lower_bias] =
                cut_mut(part.into_slice(), [weights, weights, width, width]);
            let d_out = rows_of(upstream.d_out, range.clone(), width);
            let sums = rows_of(aggregate, range.clone(), all);
            per_head::average_backward_here(d_out, sums, packed, shape, d_packed, d_aggregate);
            share_out(above, range.start, alpha, d_aggregate, d_projected);
            per_head::average_backward_here(d_projected, rows, lower_packed, shape, d_lower_packed, d_rows);
            dense::write_column_sums_here(d_bias, d_out);
            dense::write_column_sums_here(d_lower_bias, d_projected);
            let before = Before { alpha, projected, d_attention: upstream.d_attention };
            let gradients = (&*d_aggregate, &*d_rows);
            scores_backward(above, score, before, range.start, gradients, (d_score, d_target));
        });
        let begun = |columns: Range<usize>| Parts::new(parts, 2 * (weights + width), columns);
        let (d_packed, d_lower_parts) = (begun(0..weights), begun(weights..2 * weights));
        let (bias_columns, lower_bias_columns) =
            (2 * weights..2 * weights + width, 2 * weights + width..2 * (weights + width));
        dense::add_parts(d_bias, begun(bias_columns));
        dense::add_parts(d_lower_bias, begun(lower_bias_columns));

        let gradients = SlotGradients { above, alpha, d_rows, d_score };
        let own = NodeScores { u: v, d_target_score, heads, width: all };
        let d_below = sized(d_below, block.num_sources() * all);
        let chunks = aggregate::source_chunks(&block);
        let (d_v, d_v_parts) = sized(d_v, (chunks.len() + 1) * v.len()).split_at_mut(v.len());
        let outputs =
            (Rows::new(d_below, all), Rows::new(d_source_score, heads), ChunkRows::new(d_v_parts, &chunks, v.len()));
        chunks.run(outputs, |range, (d_below, d_source, sums)| {
            let outputs = (d_below.into_slice(), d_source.into_slice(), sums.into_slice());
            below_backward(gradients, own, range.start, outputs);
        });
        dense::write_column_sums_here(d_v, d_v_parts);

        // v = (1/K) u W1, and u . bias1 takes part in every score.
        let mut d_scores = vec![T::ZERO; heads];
        dense::add_column_sums(&mut d_scores, d_target_score);
        let d_u = sized(d_u, 2 * all);
        let mut d_u_columns = vec![T::ZERO; 2 * all];
        let outputs = (Rows::new(sized(d_lower_packed, weights), all), Rows::new(&mut d_u_columns, 2 * heads));
        per_head::weight_chunks(width, all).run(outputs, |range, (d_lower_packed, d_u)| {
            let outputs = (d_lower_packed.into_slice(), d_u.into_slice());
            vectors_backward(lower_packed, d_lower_parts, [u, d_v], shape, range.start, outputs);
        });
        for (k, d_u) in d_u.chunks_exact_mut(width).enumerate() {
            let d_score = d_scores[k % heads];
            for (f, d_u) in d_u.iter_mut().enumerate() {
                *d_u = d_u_columns[f * 2 * heads + k] + d_score * lower_bias[f];
                d_lower_bias[f] += d_score * u[k * width + f];
            }
        }
        weights_backward(upper.pass, d_packed, d_u, d_upper);
        sums_backward(lower.pass, lower.block, lower_upstream.d_attention, lower_state, d_lower, d_h);
    }
}

/// v = (1/K) u W1, for the sources' and the targets' side.
fn score_vectors<T: Real>(v: &mut Vec<T>, u: &[T], lower_packed: &[T], LayerShape { width, heads }: LayerShape) {
    let share = T::ONE / T::from_f64(heads as f64);
    let u_columns: Vec<T> = (0..u.len()).map(|at| share * u[at % (2 * heads) * width + at / (2 * heads)]).collect();
    sum_vectors(sized(v, 2 * heads * heads * width), &u_columns, 2 * heads, lower_packed);
}

/// v_k = sum over the rows of W1 of weight_k row; too short to be shared out.
#[pulp::with_simd(sum_vectors = pulp::Arch::new())]
#[inline(always)]
fn sum_vectors_simd<'a, S: Simd, T: Real>(simd: S, v: &'a mut [T], weights: &'a [T], count: usize, rows: &'a [T]) {
    let width = v.len() / count;
    sums_by_head(simd, v, weights, count, ConsecutiveRows { rows, width });
}

/// The targets' side of the scores, and what the lower layer's bias adds to both sides.
#[pulp::with_simd(own_scores = pulp::Arch::new())]
#[inline(always)]
fn own_scores_simd<'a, S: Simd, T: Real>(
    simd: S,
    scores: &'a mut [T],
    below: &'a [T],
    v_dst: &'a [T],
    bias_scores: &'a [T],
) {
    let heads = bias_scores.len();
    for (scores, below) in scores.chunks_exact_mut(heads).zip(below.chunks_exact(v_dst.len() / heads)) {
        dots_by_head(simd, v_dst, below, scores);
        scores.iter_mut().zip(bias_scores).for_each(|(score, bias)| *score += *bias);
    }
}

/// Attention of some targets, from target `first` on, and the rows of their slots.
#[pulp::with_simd(attend = pulp::Arch::new())]
#[inline(always)]
fn attend_simd<'a, S: Simd, T: Real>(
    simd: S,
    above: Above<'a, T>,
    source_score: &'a [T],
    first: usize,
    target_score: &'a [T],
    alpha: &'a mut [T],
    rows: &'a mut [T],
) {
    let heads = above.shape.heads;
    let score = GatScore { source_score, target_score, heads };
    let begin = above.block.offsets()[first];
    for at in 0..target_score.len() / heads {
        let edges = above.edges(first + at);
        let alpha = rows_of_mut(alpha, edges.start - begin..edges.end - begin, heads);
        score.row(simd, above.shape(), first + at, at, alpha);
        softmax::attention(simd, alpha, heads);
        fill_slots(simd, above, first + at, first, alpha, rows);
    }
}

/// As [`attend`], where attention is known.
#[pulp::with_simd(sum_slots = pulp::Arch::new())]
#[inline(always)]
fn sum_slots_simd<'a, S: Simd, T: Real>(
    simd: S,
    above: Above<'a, T>,
    targets: Range<usize>,
    alpha: &'a [T],
    rows: &'a mut [T],
) {
    for n in targets.clone() {
        fill_slots(simd, above, n, targets.start, rows_of(alpha, above.edges(n), above.shape.heads), rows);
    }
}

/// For targets whose slots hold their sources' rows, the lower layer's outputs of those.
fn copy_slots<T: Real>(above: Above<'_, T>, targets: Range<usize>, outputs: &[T], projected: &mut [T]) {
    let width = above.shape.width;
    for n in targets.clone().filter(|&n| !above.sums(n)) {
        let slots = rows_of_mut(projected, above.slots(n, targets.start), width);
        for (slot, &j) in slots.chunks_exact_mut(width).zip(above.block.in_neighbours(n)) {
            slot.copy_from_slice(rows_of(outputs, j as usize..j as usize + 1, width));
        }
    }
}

#[inline(always)]
fn fill_slots<S: Simd, T: Real>(simd: S, above: Above<'_, T>, n: usize, first: usize, alpha: &[T], rows: &mut [T]) {
    let LayerShape { width, heads } = above.shape;
    let slots = rows_of_mut(rows, above.slots(n, first), heads * width);
    let neighbours = above.shape().neighbours(n);
    if above.sums(n) {
        sums_by_head(simd, slots, alpha, heads, neighbours);
    } else {
        for (at, slot) in slots.chunks_exact_mut(heads * width).enumerate() {
            slot.copy_from_slice(neighbours.row(at));
        }
    }
}

/// The upper layer's sums of some targets, from target `first` on, from what the lower layer made of their slots.
#[pulp::with_simd(collect = pulp::Arch::new())]
#[inline(always)]
fn collect_simd<'a, S: Simd, T: Real>(
    simd: S,
    above: Above<'a, T>,
    first: usize,
    alpha: &'a [T],
    projected: &'a [T],
    aggregate: &'a mut [T],
) {
    let LayerShape { width, heads } = above.shape;
    let begin = above.block.offsets()[first];
    for (at, aggregate) in aggregate.chunks_exact_mut(heads * width).enumerate() {
        let n = first + at;
        let slots = rows_of(projected, above.slots(n, first), width);
        if above.sums(n) {
            aggregate.copy_from_slice(slots);
        } else {
            let edges = above.edges(n);
            let alpha = rows_of(alpha, edges.start - begin..edges.end - begin, heads);
            sums_by_head(simd, aggregate, alpha, heads, ConsecutiveRows { rows: slots, width });
        }
    }
}

/// The way back through [`collect`]. `alpha` is that of all edges.
#[pulp::with_simd(share_out = pulp::Arch::new())]
#[inline(always)]
fn share_out_simd<'a, S: Simd, T: Real>(
    simd: S,
    above: Above<'a, T>,
    first: usize,
    alpha: &'a [T],
    d_aggregate: &'a [T],
    d_projected: &'a mut [T],
) {
    let LayerShape { width, heads } = above.shape;
    for (at, d_aggregate) in d_aggregate.chunks_exact(heads * width).enumerate() {
        let n = first + at;
        let slots = rows_of_mut(d_projected, above.slots(n, first), width);
        if above.sums(n) {
            slots.copy_from_slice(d_aggregate);
        } else {
            for (slot, e) in slots.chunks_exact_mut(width).zip(above.edges(n)) {
                let alpha = rows_of(alpha, e..e + 1, heads);
                sums_by_head(simd, slot, alpha, 1, ConsecutiveRows { rows: d_aggregate, width });
            }
        }
    }
}

/// What the forward pass left: attention of all targets, and what the lower layer made of the slots of those at hand; and a
/// gradient that reaches the scores of the first edges directly.
#[derive(Clone, Copy)]
struct Before<'a, T> {
    alpha: &'a [T],
    projected: &'a [T],
    d_attention: &'a [T],
}

/// The gradients of the scores of some targets' edges, from target `first` on, and of the targets' own scores: from those of
/// their sums and of their slots' rows.
#[pulp::with_simd(scores_backward = pulp::Arch::new())]
#[inline(always)]
fn scores_backward_simd<'a, S: Simd, T: Real>(
    simd: S,
    above: Above<'a, T>,
    score: GatScore<'a, T>,
    before: Before<'a, T>,
    first: usize,
    (d_aggregate, d_rows): (&'a [T], &'a [T]),
    (d_score, d_target): (&'a mut [T], &'a mut [T]),
) {
    let LayerShape { width, heads } = above.shape;
    let all = heads * width;
    let begin = above.block.offsets()[first];
    for (at, d_target) in d_target.chunks_exact_mut(heads).enumerate() {
        let n = first + at;
        let edges = above.edges(n);
        let d_score = rows_of_mut(d_score, edges.start - begin..edges.end - begin, heads);
        if above.sums(n) {
            // bias1 adds the same to all of these, which the softmax does not see.
            let d_rows = rows_of(d_rows, above.slots(n, first), all);
            let neighbours = above.shape().neighbours(n);
            for (at, d_alpha) in d_score.chunks_exact_mut(heads).enumerate() {
                neighbours.ask_ahead(at);
                dots_by_head(simd, d_rows, neighbours.row(at), d_alpha);
            }
        } else {
            let d_aggregate = rows_of(d_aggregate, at..at + 1, all);
            let projected = rows_of(before.projected, above.slots(n, first), width);
            for (d_alpha, projected) in d_score.chunks_exact_mut(heads).zip(projected.chunks_exact(width)) {
                dots_by_head(simd, d_aggregate, projected, d_alpha);
            }
        }
        let values = edges.start * heads..edges.end * heads;
        softmax::scores_backward(values, heads, before.alpha, before.d_attention, d_score);
        score.backward_row(simd, above.shape(), n, d_score, d_target);
    }
}

/// What the lower layer's sums have a gradient from: the slots they went into, and the scores.
#[derive(Clone, Copy)]
struct SlotGradients<'a, T> {
    above: Above<'a, T>,
    alpha: &'a [T],
    d_rows: &'a [T],
    d_score: &'a [T],
}

/// The gradients of some of the lower layer's sums, from `first` on, of their scores, and of v.
#[pulp::with_simd(below_backward = pulp::Arch::new())]
#[inline(always)]
fn below_backward_simd<'a, S: Simd, T: Real>(
    simd: S,
    gradients: SlotGradients<'a, T>,
    own: NodeScores<'a, T>,
    first: usize,
    (d_below, d_source, d_v): (&'a mut [T], &'a mut [T], &'a mut [T]),
) {
    let SlotGradients { above, alpha, d_rows, d_score } = gradients;
    let (block, heads, all) = (above.block, above.shape.heads, above.shape.heads * above.shape.width);
    let ahead = Lookahead::over(d_rows);
    let mut terms = Vec::new();
    let rows = d_below.chunks_exact_mut(all).zip(d_source.chunks_exact_mut(heads));
    for (at, (d_below, d_source)) in rows.enumerate() {
        let source = first + at;
        prefetch_edges(block, source, ahead, [d_score, alpha], heads);
        by_heads!(heads, |first, H| out_edge_sums::<T, H>(block, source, d_score, first, d_source));
        let (later, _) = block.out_edges_from(source);
        terms.clear();
        for (at, (n, e)) in block.out_edges(source).enumerate() {
            if let Some(&later) = later.get(at + ahead.rows)
                && let Some(&slot) = above.slots.get(later as usize)
            {
                prefetch_row(d_rows, slot as u32, all);
            }
            let slots = rows_of(d_rows, above.slots(n, 0), all);
            if above.sums(n) {
                terms.extend(alpha[e * heads..(e + 1) * heads].iter().copied().zip(slots.chunks_exact(all)));
            } else {
                let at = e - block.offsets()[n];
                terms.push((T::ONE, rows_of(slots, at..at + 1, all)));
            }
        }
        terms.extend(own.terms(source, d_source));
        weighted_sums::<S, T, 1>(simd, d_below, Start::Zero, &Terms(&terms));
    }
    own.finish(simd, above.shape(), first, d_source, d_v);
}

/// Rows with their weights.
struct Terms<'a, T>(&'a [(T, &'a [T])]);

impl<T: Real> WeightedRows<T, 1> for Terms<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        for (weight, row) in self.0 {
            sums.add([*weight], row);
        }
    }
}

/// From the gradient of v = (1/K) u W1, and the parts that W1's has otherwise, to those of some rows of W1, from `first` on, and
/// of the same columns of u, written as rows.
#[pulp::with_simd(vectors_backward = pulp::Arch::new())]
#[inline(always)]
fn vectors_backward_simd<'a, S: Simd, T: Real>(
    simd: S,
    lower_packed: &'a [T],
    d_lower_parts: Parts<'a, T>,
    [u, d_v]: [&'a [T]; 2],
    shape: LayerShape,
    first: usize,
    (d_lower_packed, d_u): (&'a mut [T], &'a mut [T]),
) {
    let LayerShape { width, heads } = shape;
    let all = heads * width;
    let share = T::ONE / T::from_f64(heads as f64);
    let rows = d_lower_packed.chunks_exact_mut(all).zip(d_u.chunks_exact_mut(2 * heads));
    for (at, (d_lower_packed, d_u)) in rows.enumerate() {
        let f = first + at;
        d_lower_packed.fill(T::ZERO);
        for part in d_lower_parts.all() {
            vector::add_scaled(simd, d_lower_packed, T::ONE, rows_of(part, f..f + 1, all));
        }
        dots_by_head(simd, d_v, rows_of(lower_packed, f..f + 1, all), d_u);
        for (k, (d_v, d_u)) in d_v.chunks_exact(all).zip(d_u).enumerate() {
            *d_u *= share;
            vector::add_scaled(simd, d_lower_packed, share * u[k * width + f], d_v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Pass;
    use carat_graph::{BlockBuilder, Graph};
    use proptest::prelude::*;

    const WIDTH: usize = 3;

    fn values(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 211) as f64 / 105.0 - 1.0).collect()
    }

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()))
    }

    fn pass<'a>(shape: LayerShape, parameters: &'a [f64], h: &'a [f64]) -> Pass<'a, f64> {
        Pass { shape, parameters, h }
    }

    /// The gradients of both layers' parameters and of the lower one's inputs.
    type Gradients = ([Vec<f64>; 2], Vec<f64>);

    proptest! {
        /// Whether or not it pays, and on any graph: targets with more and with fewer in-edges than heads, and with none.
        #[test]
        fn two_layers_together_equal_one_after_the_other(
            edges in proptest::collection::vec((0u32..12, 0u32..12), 0..40),
            targets in proptest::collection::vec(0u32..12, 1..5),
            heads in 1usize..5,
        ) {
            let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
            let graph = Graph::from_edges(12, &src, &dst).unwrap();
            let blocks = BlockBuilder::new(&graph).build(&targets, 2);
            let [below, above] = [0, 1].map(|l| blocks.layer(l));
            let shape = LayerShape { width: WIDTH, heads };
            let length: usize = lengths(shape).iter().sum();
            let parameters = [1, 2].map(|seed| values(length, seed));
            let h = values(below.num_sources() * WIDTH, 3);
            let d_out = values(above.num_targets() * WIDTH, 4);
            let d_attention = [below, above].map(|block| values(block.num_edges() * heads, 5));

            let mut states = [LayerState::default(), LayerState::default()];
            let mut between = vec![0.0; below.num_targets() * WIDTH];
            let mut out = vec![0.0; above.num_targets() * WIDTH];
            let mut layer = |l: usize, block, input: &[f64], output: &mut [f64]| {
                Gat.sources(pass(shape, &parameters[l], input), 0, &mut states[l].sources);
                let LayerState { sources, targets, .. } = &mut states[l];
                Gat.targets(pass(shape, &parameters[l], input), sources, Targets::of_block(block, input, WIDTH), output, targets);
            };
            layer(0, below, &h, &mut between);
            layer(1, above, &between, &mut out);
            let one_by_one = states.clone();
            let mut expected: Gradients = ([(); 2].map(|()| vec![0.0; length]), vec![0.0; h.len()]);
            let mut d_between = vec![0.0; between.len()];
            let upstream = Upstream { d_out: &d_out, d_attention: &d_attention[1] };
            Gat.backward(pass(shape, &parameters[1], &between), above, upstream, &mut states[1], &mut expected.0[1], &mut d_between);
            let upstream = Upstream { d_out: &d_between, d_attention: &d_attention[0] };
            Gat.backward(pass(shape, &parameters[0], &h), below, upstream, &mut states[0], &mut expected.0[0], &mut expected.1);

            let layers = |between| {
                [PairedLayer { pass: pass(shape, &parameters[0], &h), block: below }, PairedLayer { pass: pass(shape, &parameters[1], between), block: above }]
            };
            let [mut lower, mut upper] = [LayerState::default(), LayerState::default()];
            let mut pair = PairState::default();
            let mut together = vec![f64::NAN; out.len()];
            GatPair.forward(layers(&[]), [&mut lower, &mut upper], &mut pair, &mut together);
            prop_assert!(close(&together, &out));
            prop_assert!(close(&upper.targets.alpha, &one_by_one[1].targets.alpha));
            let after_one_by_one = (layers(&between), one_by_one, PairState::default());
            for (layers, [mut lower, mut upper], mut pair) in
                [(layers(&[]), [lower, upper], pair), after_one_by_one]
            {
                let upstream = [(&[][..], &d_attention[0]), (&d_out[..], &d_attention[1])]
                    .map(|(d_out, d_attention)| Upstream { d_out, d_attention });
                let mut found: Gradients = ([(); 2].map(|()| vec![0.0; length]), vec![f64::NAN; h.len()]);
                let [d_lower, d_upper] = &mut found.0;
                let states = [&mut lower, &mut upper];
                GatPair.backward(layers, upstream, states, &mut pair, [d_lower, d_upper], &mut found.1);
                prop_assert!(close(&found.0[1], &expected.0[1]), "the upper layer's parameters");
                prop_assert!(close(&found.0[0], &expected.0[0]), "the lower layer's parameters");
                prop_assert!(close(&found.1, &expected.1), "the inputs");
            }
        }
    }
}
