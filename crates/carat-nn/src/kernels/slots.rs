//! Sums over in-edges of rows that are still to be multiplied by a matrix, arranged so that it multiplies few rows.
//!
//! A target j has K heads and sums the same rows r_i for each, with weights alpha_ijk. It needs the sums of W r_i + b:
//!
//! ```text
//! slot_jk = sum_i alpha_ijk r_i         agg_jk = W slot_jk + b                          more in-edges than heads
//! slot_ji = r_i                         agg_jk = sum_i alpha_ijk (W slot_ji + b)        else
//! ```
//!
//! Either way W multiplies one row for each head or for each in-edge of a target, whichever are fewer: the target's
//! slots.

use std::ops::Range;

use carat_graph::Block;
use pulp::Simd;

use super::aggregate::{Score, Shape, SumGradients};
use super::heads::{ConsecutiveRows, RowList, dots_by_head, sums_by_head};
use super::in_edges::InEdges;
use super::prefetch::prefetch_row;
use super::softmax;
use super::weighted::RowSums;
use crate::real::Real;

/// The targets of a block with their slots.
#[derive(Clone, Copy)]
pub(crate) struct Slots<'a, T> {
    pub(crate) block: Block<'a>,
    /// Where each target's slots begin, and their number: [`begins`].
    pub(crate) begins: &'a [usize],
    pub(crate) heads: usize,
    /// The length of rows after the product with the matrix.
    pub(crate) width: usize,
    /// The rows to sum, which are `heads` x `width` long.
    pub(crate) rows: &'a [T],
}

/// Where the slots of every target begin: one for each head, or for each in-edge if those are fewer.
pub(crate) fn begins(block: Block<'_>, heads: usize) -> Vec<usize> {
    let mut begins = Vec::with_capacity(block.num_targets() + 1);
    let mut end = 0;
    begins.push(end);
    for ends in block.offsets().windows(2) {
        end += (ends[1] - ends[0]).min(heads);
        begins.push(end);
    }
    begins
}

/// Number of in-edges of the targets that have more of them than heads.
pub(crate) fn summed_edges(block: Block<'_>, heads: usize) -> usize {
    block.offsets().windows(2).map(|ends| ends[1] - ends[0]).filter(|&edges| edges > heads).sum()
}

/// Some rows of a matrix.
pub(crate) fn rows_of<T>(rows: &[T], range: Range<usize>, width: usize) -> &[T] {
    &rows[range.start * width..range.end * width]
}

fn rows_of_mut<T>(rows: &mut [T], range: Range<usize>, width: usize) -> &mut [T] {
    &mut rows[range.start * width..range.end * width]
}

impl<'a, T: Real> Slots<'a, T> {
    pub(crate) fn count(&self) -> usize {
        self.begins[self.begins.len() - 1]
    }

    /// A target's in-edges.
    pub(crate) fn edges(&self, target: usize) -> Range<usize> {
        self.block.offsets()[target]..self.block.offsets()[target + 1]
    }

    /// The same, counted from the first in-edge of target `first`.
    fn edges_from(&self, target: usize, first: usize) -> Range<usize> {
        let begin = self.block.offsets()[first];
        self.block.offsets()[target] - begin..self.block.offsets()[target + 1] - begin
    }

    /// Whether a target's slots hold its heads' sums; else they hold its sources' rows.
    pub(crate) fn sums(&self, target: usize) -> bool {
        self.edges(target).len() > self.heads
    }

    /// A target's slots, counted from the first slot of target `first`.
    pub(crate) fn of(&self, target: usize, first: usize) -> Range<usize> {
        self.begins[target] - self.begins[first]..self.begins[target + 1] - self.begins[first]
    }

    /// What every pass over the edges reads.
    pub(crate) fn edge_shape(&self) -> Shape<'a, T> {
        let width = self.heads * self.width;
        Shape { targets: InEdges::of_block(self.block), heads: self.heads, width, h: self.rows }
    }
}

/// Attention of some targets, and their slots.
#[pulp::with_simd(attend = T::machine())]
#[inline(always)]
pub(crate) fn attend_simd<'a, S: Simd, T: Real, C: Score<T>>(
    simd: S,
    slots: Slots<'a, T>,
    score: C,
    targets: Range<usize>,
    alpha: &'a mut [T],
    filled: &'a mut [T],
) {
    let first = targets.start;
    for n in targets {
        let alpha = rows_of_mut(alpha, slots.edges_from(n, first), slots.heads);
        score.row(simd, slots.edge_shape(), n, n, alpha);
        softmax::attention(simd, alpha, slots.heads);
        fill_target(simd, slots, n, first, alpha, filled);
    }
}

/// The slots of some targets, given the attention of all.
#[pulp::with_simd(fill = T::machine())]
#[inline(always)]
pub(crate) fn fill_simd<'a, S: Simd, T: Real>(
    simd: S,
    slots: Slots<'a, T>,
    targets: Range<usize>,
    alpha: &'a [T],
    filled: &'a mut [T],
) {
    let first = targets.start;
    for n in targets {
        fill_target(simd, slots, n, first, rows_of(alpha, slots.edges(n), slots.heads), filled);
    }
}

#[inline(always)]
fn fill_target<S: Simd, T: Real>(simd: S, slots: Slots<'_, T>, n: usize, first: usize, alpha: &[T], filled: &mut [T]) {
    let Slots { heads, width, .. } = slots;
    let filled = rows_of_mut(filled, slots.of(n, first), heads * width);
    let neighbours = slots.edge_shape().neighbours(n);
    if slots.sums(n) {
        sums_by_head(simd, filled, alpha, heads, neighbours);
    } else {
        for (at, slot) in filled.chunks_exact_mut(heads * width).enumerate() {
            slot.copy_from_slice(neighbours.row(at));
        }
    }
}

/// The products of the matrix with the slots of some targets, where these hold their sources' rows: copied from
/// `outputs`, the products with all sources.
pub(crate) fn copy_projected<T: Real>(slots: Slots<'_, T>, targets: Range<usize>, outputs: &[T], projected: &mut [T]) {
    let (first, width) = (targets.start, slots.width);
    for n in targets.filter(|&n| !slots.sums(n)) {
        let projected = rows_of_mut(projected, slots.of(n, first), width);
        for (slot, &i) in projected.chunks_exact_mut(width).zip(slots.block.in_neighbours(n)) {
            slot.copy_from_slice(rows_of(outputs, i as usize..i as usize + 1, width));
        }
    }
}

/// agg of some targets, from target `first` on, from their attention and the products of their slots with the matrix.
#[pulp::with_simd(collect = T::machine())]
#[inline(always)]
pub(crate) fn collect_simd<'a, S: Simd, T: Real>(
    simd: S,
    slots: Slots<'a, T>,
    first: usize,
    alpha: &'a [T],
    projected: &'a [T],
    aggregate: &'a mut [T],
) {
    let Slots { heads, width, .. } = slots;
    for (at, aggregate) in aggregate.chunks_exact_mut(heads * width).enumerate() {
        let n = first + at;
        let projected = rows_of(projected, slots.of(n, first), width);
        if slots.sums(n) {
            aggregate.copy_from_slice(projected);
        } else {
            let alpha = rows_of(alpha, slots.edges_from(n, first), heads);
            sums_by_head(simd, aggregate, alpha, heads, ConsecutiveRows { rows: projected, width });
        }
    }
}

/// The backward pass of [`collect`], given the attention of all targets.
#[pulp::with_simd(share_out = T::machine())]
#[inline(always)]
pub(crate) fn share_out_simd<'a, S: Simd, T: Real>(
    simd: S,
    slots: Slots<'a, T>,
    first: usize,
    alpha: &'a [T],
    d_aggregate: &'a [T],
    d_projected: &'a mut [T],
) {
    let Slots { heads, width, .. } = slots;
    for (at, d_aggregate) in d_aggregate.chunks_exact(heads * width).enumerate() {
        let n = first + at;
        let d_projected = rows_of_mut(d_projected, slots.of(n, first), width);
        if slots.sums(n) {
            d_projected.copy_from_slice(d_aggregate);
        } else {
            for (slot, e) in d_projected.chunks_exact_mut(width).zip(slots.edges(n)) {
                let alpha = rows_of(alpha, e..e + 1, heads);
                sums_by_head(simd, slot, alpha, 1, ConsecutiveRows { rows: d_aggregate, width });
            }
        }
    }
}

/// What the gradients of some targets' scores depend on: the attention of all targets and the gradient that reaches the
/// scores of the first edges directly; and of these targets the products of their slots with the matrix, and the
/// gradients of agg and of the slots.
#[derive(Clone, Copy)]
pub(crate) struct Saved<'a, T> {
    pub(crate) alpha: &'a [T],
    pub(crate) d_attention: &'a [T],
    pub(crate) projected: &'a [T],
    pub(crate) d_aggregate: &'a [T],
    pub(crate) d_slots: &'a [T],
}

/// The gradients of the scores of some targets' in-edges, from target `first` on, and of the targets' own values.
#[pulp::with_simd(backward_targets = T::machine())]
#[inline(always)]
pub(crate) fn backward_targets_simd<'a, S: Simd, T: Real, C: Score<T>>(
    simd: S,
    slots: Slots<'a, T>,
    score: C,
    saved: Saved<'a, T>,
    first: usize,
    (d_score, d_target): (&'a mut [T], &'a mut [T]),
) {
    let Slots { heads, width, .. } = slots;
    let all = heads * width;
    for (at, d_target) in d_target.chunks_exact_mut(score.target_width()).enumerate() {
        let n = first + at;
        let d_score = rows_of_mut(d_score, slots.edges_from(n, first), heads);
        if slots.sums(n) {
            // b adds the same to all of these, so it cancels in the softmax.
            let d_slots = rows_of(saved.d_slots, slots.of(n, first), all);
            let neighbours = slots.edge_shape().neighbours(n);
            for (at, d_alpha) in d_score.chunks_exact_mut(heads).enumerate() {
                neighbours.ask_ahead(at);
                dots_by_head(simd, d_slots, neighbours.row(at), d_alpha);
            }
        } else {
            let d_aggregate = rows_of(saved.d_aggregate, at..at + 1, all);
            let projected = rows_of(saved.projected, slots.of(n, first), width);
            for (d_alpha, projected) in d_score.chunks_exact_mut(heads).zip(projected.chunks_exact(width)) {
                dots_by_head(simd, d_aggregate, projected, d_alpha);
            }
        }
        let values = slots.edges(n).start * heads..slots.edges(n).end * heads;
        softmax::scores_backward(values, heads, saved.alpha, saved.d_attention, d_score);
        score.backward_row(simd, slots.edge_shape(), n, d_score, d_target);
    }
}

/// Where the gradients of the summed rows come from.
#[derive(Clone, Copy)]
pub(crate) struct SlotGradients<'a, T> {
    pub(crate) slots: Slots<'a, T>,
    pub(crate) alpha: &'a [T],
    pub(crate) d_slots: &'a [T],
    pub(crate) d_score: &'a [T],
}

impl<T: Real> SumGradients<T> for SlotGradients<'_, T> {
    #[inline(always)]
    fn by_edge(&self) -> [&[T]; 2] {
        [self.alpha, self.d_score]
    }

    #[inline(always)]
    fn rows(&self) -> &[T] {
        self.d_slots
    }

    #[inline(always)]
    fn ask_for(&self, shape: Shape<'_, T>, target: u32) {
        if let Some(&slot) = self.slots.begins.get(target as usize) {
            prefetch_row(self.d_slots, slot as u32, shape.width);
        }
    }

    #[inline(always)]
    fn edge_rows(&self, shape: Shape<'_, T>, target: usize, edge: usize, d_rows: &mut impl RowSums<T, 1>) {
        let d_slots = rows_of(self.d_slots, self.slots.of(target, 0), shape.width);
        if self.slots.sums(target) {
            let alpha = rows_of(self.alpha, edge..edge + 1, shape.heads);
            for (d_slot, &alpha) in d_slots.chunks_exact(shape.width).zip(alpha) {
                d_rows.add([alpha], d_slot);
            }
        } else {
            let at = edge - self.slots.edges(target).start;
            d_rows.add([T::ONE], rows_of(d_slots, at..at + 1, shape.width));
        }
    }
}
