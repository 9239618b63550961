//! What every pass over the edges reads, whatever the kind.

use std::ops::Range;

use pulp::Simd;

use crate::kernels::{head_rows, vector};
use crate::layers::{Join, LayerEdges, LayerShape};
use crate::real::Real;

/// Projected values, and the edges of the layer's block.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a, T> {
    pub(super) shape: LayerShape,
    /// v: one row of K x D per source.
    pub(super) values: &'a [T],
    pub(super) edges: LayerEdges<'a, T>,
    /// W_e transposed, one row of K x D per feature, where every edge's W_e e is needed; or empty.
    pub(super) edge_weight: &'a [T],
    /// W_e e is added to the values.
    pub(super) in_values: bool,
}

/// An edge as scores see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge<'a, T> {
    /// A row of what the kind computed for sources.
    pub(super) source: usize,
    /// A row of what it computed for targets.
    pub(super) own: usize,
    /// The edge's features.
    pub(super) features: &'a [T],
    /// What [`View::fill_row`] has filled; empty where edges are not projected.
    pub(super) row: &'a [T],
}

impl<'a, T: Real> View<'a, T> {
    /// K x D
    #[inline(always)]
    pub(super) fn all(&self) -> usize {
        self.shape.heads * self.shape.head_width()
    }

    /// The values of a source.
    #[inline(always)]
    pub(super) fn value(&self, source: usize) -> &'a [T] {
        let all = self.all();
        &self.values[source * all..(source + 1) * all]
    }

    /// The features of the edge at a position of the block.
    #[inline(always)]
    pub(super) fn features(&self, position: usize) -> &'a [T] {
        let width = self.shape.edge_features;
        &self.edges.features[position * width..(position + 1) * width]
    }

    /// Values of a row that [`View::fill_row`] fills.
    pub(super) fn row_width(&self) -> usize {
        if self.edge_weight.is_empty() { 0 } else { self.all() }
    }

    /// Fills `row` with W_e e, or with W_e e plus `more` if that is given, where it is needed.
    #[inline(always)]
    pub(super) fn fill_row<S: Simd>(&self, simd: S, position: usize, more: &[T], row: &mut [T]) {
        if !row.is_empty() {
            if more.is_empty() {
                row.fill(T::ZERO)
            } else {
                row.copy_from_slice(more)
            }
            for (&feature, weight) in self.features(position).iter().zip(self.edge_weight.chunks_exact(row.len())) {
                vector::add_scaled(simd, row, feature, weight);
            }
        }
    }

    /// What the values of the edge at a position are multiplied by: its attention, or 0 where that is dropped, times
    /// its gate.
    #[inline(always)]
    pub(super) fn weigh(&self, position: usize, alpha: &[T], weights: &mut [T]) {
        weights.copy_from_slice(alpha);
        self.drop(position, weights);
        self.gate(position, weights);
    }

    /// Drops some heads of the edge at a position.
    #[inline(always)]
    pub(super) fn drop(&self, position: usize, heads: &mut [T]) {
        if let Some(dropout) = self.edges.dropout {
            dropout.apply(self.edges.keys[position], heads);
        }
    }

    /// Multiplies all heads of the edge at a position by its gate.
    #[inline(always)]
    pub(super) fn gate(&self, position: usize, heads: &mut [T]) {
        if let Some(&gate) = self.edges.gates.get(position) {
            heads.iter_mut().for_each(|head| *head *= gate);
        }
    }

    /// A row for [`View::fill_message`]; empty where messages are not dropped.
    pub(super) fn message_row(&self) -> Vec<T> {
        vec![T::ZERO; if self.edges.messages.is_some() { self.all() } else { 0 }]
    }

    /// Drops entries of the K x D values of the edge at a position. Also takes the gradient of what is left to theirs.
    #[inline(always)]
    pub(super) fn drop_entries(&self, position: usize, values: &mut [T]) {
        if let Some(messages) = self.edges.messages {
            messages.apply(self.edges.keys[position], values);
        }
    }

    /// Fills `message` with what is left of v_i + W_e e, where messages are dropped; `row` as in [`View::add_value`].
    #[inline(always)]
    pub(super) fn fill_message(&self, position: usize, source: usize, row: &[T], message: &mut [T]) {
        message.copy_from_slice(self.value(source));
        if self.in_values {
            message.iter_mut().zip(row).for_each(|(message, row)| *message += *row);
        }
        self.drop_entries(position, message);
    }

    /// sum_k += weight_k (v_ik + (W_e e)_k), where the second part is there, or of what is left of that. `message` is
    /// scratch of [`View::message_row`].
    #[inline(always)]
    pub(super) fn add_value<S: Simd>(
        &self,
        simd: S,
        sum: &mut [T],
        weights: &[T],
        (position, source): (usize, usize),
        row: &[T],
        message: &mut [T],
    ) {
        let columns = self.shape.head_width();
        if !message.is_empty() {
            self.fill_message(position, source, row, message);
            return head_rows::add_scaled(simd, sum, weights, message, columns);
        }
        head_rows::add_scaled(simd, sum, weights, self.value(source), columns);
        if self.in_values {
            head_rows::add_scaled(simd, sum, weights, row, columns);
        }
    }

    /// The columns of head k in rows of K x D, and in rows of outputs.
    #[inline(always)]
    fn columns(&self, k: usize) -> [Range<usize>; 2] {
        let width = self.shape.head_width();
        let head = k * width..(k + 1) * width;
        match self.shape.join {
            Join::Mean => [head, 0..width],
            Join::Concat => [head.clone(), head],
        }
    }

    /// The factor of a head in the output: 1/K where heads are averaged.
    #[inline(always)]
    pub(super) fn share(&self) -> T {
        match self.shape.join {
            Join::Mean => T::ONE / T::from_f64(self.shape.heads as f64),
            Join::Concat => T::ONE,
        }
    }

    /// Adds the heads' sums to a target's output.
    #[inline(always)]
    pub(super) fn add_heads<S: Simd>(&self, simd: S, out: &mut [T], sums: &[T]) {
        self.add_scaled_heads(simd, out, sums, |_| self.share());
    }

    /// out += scale_k row_k for all heads, each at its place in the output.
    #[inline(always)]
    pub(super) fn add_scaled_heads<S: Simd>(&self, simd: S, out: &mut [T], row: &[T], scale: impl Fn(usize) -> T) {
        for k in 0..self.shape.heads {
            let [head, place] = self.columns(k);
            vector::add_scaled(simd, &mut out[place], scale(k), &row[head]);
        }
    }
}
