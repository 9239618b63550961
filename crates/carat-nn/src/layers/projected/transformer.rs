//! Graph Transformer with projected values: PyG's `TransformerConv(F, D, heads=K, concat, edge_dim)`.
//!
//! ```text
//! q_j = W_q h_j + b_q        k_i = W_k h_i        v_i = W_v h_i + b_v
//! score_ijk = q_jk . (k_ik + (W_e e_ij)_k) / sqrt(D)
//! alpha     = softmax of the score over N(j)
//! out_j     = join_k(sum_i alpha_ijk (v_ik + (W_e e_ij)_k)) + W_skip h_j + b_skip
//! ```
//!
//! b_k adds the same to the scores of all in-edges of a target and cancels in the softmax. So it is not read, and its
//! gradient is exactly 0.

use carat_graph::Block;
use pulp::Simd;

use super::view::Edge;
use super::{Scores, add_transposed, all, backward, forward, sum_gradients, transpose, view};
use crate::buffer::Buffer;
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::{dense, head_rows};
use crate::layers::gatv2::project;
use crate::layers::pairs::TransformerPairs;
use crate::layers::{Attention, Layer, LayerShape, LayerState, PairScores, State, TargetState, Targets, Upstream};
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::toolkit::{cut, cut_mut, sized};

/// The Graph Transformer layer.
#[derive(Debug, Clone, Copy)]
pub(in crate::layers) struct ProjectedTransformer;

/// What is computed for each source, and from the parameters.
#[derive(Debug, Default)]
struct Sources<T> {
    /// k and v, both sources x K x D.
    k: Buffer<T>,
    v: Buffer<T>,
    /// W_e transposed.
    edge_weight: Buffer<T>,
}

/// What is computed for each target, besides its attention: q, targets x K x D.
#[derive(Debug, Default)]
struct Own<T> {
    q: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Debug, Default)]
struct Scratch<T> {
    d_sums: Buffer<T>,
    d_score: Buffer<T>,
    d_q: Buffer<T>,
    d_k: Buffer<T>,
    d_v: Buffer<T>,
    parts: Buffer<T>,
}

/// Lengths of lin_key, lin_query and lin_value, each weight then bias, lin_edge.weight, and lin_skip.{weight,bias}.
pub(in crate::layers) fn lengths(shape: LayerShape) -> [usize; 9] {
    let (all, width) = (all(shape), shape.width);
    let weight = all * width;
    [weight, all, weight, all, weight, all, all * shape.edge_features, width * width, width]
}

impl<T: Real> Attention<T> for ProjectedTransformer {
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter> {
        let (all, width) = (all(shape), shape.width);
        let mut parameters = Vec::new();
        let mut push = |name: &str, rows: usize, columns: usize, bias: bool| {
            let init = Init::Linear { fan_in: columns };
            parameters.push(Parameter::new(format!("{name}.weight"), &[rows, columns], init));
            if bias {
                parameters.push(Parameter::new(format!("{name}.bias"), &[rows], init));
            }
        };
        for name in ["lin_key", "lin_query", "lin_value"] {
            push(name, all, width, true);
        }
        if shape.edge_features > 0 {
            push("lin_edge", all, shape.edge_features, false);
        }
        push("lin_skip", width, width, true);
        parameters
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        let (width, all) = (layer.shape.width, all(layer.shape));
        let [key, _, _, _, value, value_bias, weight_e, ..] = cut(layer.parameters, lengths(layer.shape));
        let Sources { k, v, edge_weight } = state.fill();
        if first == 0 {
            transpose(edge_weight, weight_e, layer.shape.edge_features);
        }
        let rows = layer.h.len() / width;
        let h = Matrix::new(&layer.h[first * width..], rows - first, width);
        let k = MatrixMut::new(&mut sized(k, rows * all)[first * all..], rows - first, all);
        multiply(k, h, Matrix::new(key, all, width).t(), T::ONE);
        let v = &mut sized(v, rows * all)[first * all..];
        project(v, &layer.h[first * width..], value, value_bias);
    }

    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let LayerShape { heads, edge_features, .. } = layer.shape;
        let [_, _, query, query_bias, _, _, _, skip, skip_bias] = cut(layer.parameters, lengths(layer.shape));
        let (Sources { k, v, edge_weight }, TargetState { alpha, own }) = (sources.read(), state);
        let q = match targets.original {
            Some(original) => &original.state.own.read::<Own<T>>().q[..],
            None => {
                let Own { q } = own.fill();
                let q = sized(q, targets.len() * all(layer.shape));
                project(q, targets.h, query, query_bias);
                q
            }
        };
        project(out, targets.h, skip, skip_bias);
        let scores = TransformerScores::new(layer.shape, k, q);
        let alpha = sized(alpha, targets.num_edges() * heads);
        forward::forward(view(layer, v, edge_weight, edge_features > 0), scores, targets, alpha, out);
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
        let LayerShape { width, heads, edge_features, .. } = layer.shape;
        let (sources, targets, all) = (block.num_sources(), block.num_targets(), all(layer.shape));
        let [key, _, query, _, value, _, _, skip, _] = cut(layer.parameters, lengths(layer.shape));
        let [d_key, _, d_query, d_query_bias, d_value, d_value_bias, d_weight_e, d_skip, d_skip_bias] =
            cut_mut(d_parameters, lengths(layer.shape));
        let (Sources { k, v, edge_weight }, Own { q }) = (state.sources.read(), state.targets.own.read());
        let Scratch { d_sums, d_score, d_q, d_k, d_v, parts } = state.scratch.fill();

        let view = view(layer, v, edge_weight, edge_features > 0);
        let scores = TransformerScores::new(layer.shape, k, q);
        let d_sums = sum_gradients(layer.shape, upstream.d_out, d_sums);
        let saved = backward::Saved { alpha: &state.targets.alpha, d_sums, upstream };
        let (d_score, d_q) = (sized(d_score, block.num_edges() * heads), sized(d_q, targets * all));
        let outputs = (&mut *d_score, &mut *d_q, &mut state.d_gates);
        let (_, d_edge) = backward::backward_targets(view, scores, block, saved, outputs, parts);
        add_transposed(d_weight_e, d_edge, edge_features);
        let (d_k, d_v) = (sized(d_k, sources * all), sized(d_v, sources * all));
        backward::backward_sources(view, scores, block, (saved, d_score), (&mut *d_v, &mut *d_k), parts);

        dense::add_column_sums(d_query_bias, d_q);
        dense::add_column_sums(d_value_bias, d_v);
        dense::add_column_sums(d_skip_bias, upstream.d_out);
        let products = [
            (sources, all, &*d_v, value, d_value),
            (sources, all, &*d_k, key, d_key),
            (targets, all, &*d_q, query, d_query),
            (targets, width, upstream.d_out, skip, d_skip),
        ];
        for (at, (rows, columns, d_projected, weight, d_weight)) in products.into_iter().enumerate() {
            let (h, d_projected) = (Matrix::new(layer.h, rows, width), Matrix::new(d_projected, rows, columns));
            multiply_add(MatrixMut::new(d_weight, columns, width), d_projected.t(), h, T::ONE);
            // The first overwrites.
            let product = if at == 0 { multiply } else { multiply_add };
            product(MatrixMut::new(d_h, rows, width), d_projected, Matrix::new(weight, columns, width), T::ONE);
        }
    }

    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        Some(&TransformerPairs)
    }
}

/// score_ijk = q_jk . (k_ik + (W_e e_ij)_k) / sqrt(D)
#[derive(Clone, Copy)]
struct TransformerScores<'a, T> {
    shape: LayerShape,
    k: &'a [T],
    q: &'a [T],
    scale: T,
}

impl<'a, T: Real> TransformerScores<'a, T> {
    fn new(shape: LayerShape, k: &'a [T], q: &'a [T]) -> Self {
        Self { shape, k, q, scale: T::ONE / T::from_f64(shape.head_width() as f64).sqrt() }
    }

    #[inline(always)]
    fn key(&self, source: usize) -> &'a [T] {
        let all = all(self.shape);
        &self.k[source * all..(source + 1) * all]
    }

    #[inline(always)]
    fn query(&self, own: usize) -> &'a [T] {
        let all = all(self.shape);
        &self.q[own * all..(own + 1) * all]
    }
}

impl<T: Real> Scores<T> for TransformerScores<'_, T> {
    const SOURCES_READ_ROWS: bool = false;

    #[inline(always)]
    fn row_begins_with(&self, _: usize) -> &[T] {
        &[]
    }

    fn own_width(&self) -> usize {
        all(self.shape)
    }

    /// d_k
    fn source_width(&self) -> usize {
        all(self.shape)
    }

    fn target_sums(&self) -> usize {
        0
    }

    fn source_sums(&self) -> usize {
        0
    }

    #[inline(always)]
    fn ask_for_source(&self, source: u32) {
        prefetch_row(self.k, source, all(self.shape));
    }

    #[inline(always)]
    fn ask_for_target(&self, target: u32) {
        prefetch_row(self.q, target, all(self.shape));
    }

    #[inline(always)]
    fn score<S: Simd>(&self, simd: S, edge: Edge<'_, T>, scores: &mut [T]) {
        let (query, columns) = (self.query(edge.own), self.shape.head_width());
        head_rows::dots(simd, query, self.key(edge.source), columns, scores);
        if !edge.row.is_empty() {
            head_rows::add_dots(simd, query, edge.row, columns, scores);
        }
        scores.iter_mut().for_each(|score| *score *= self.scale);
    }

    /// Leaves the gradients of the products before they are divided by sqrt(D).
    #[inline(always)]
    fn backward_target<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &mut [T], d_own: &mut [T], _: &mut [T]) {
        let columns = self.shape.head_width();
        d_score.iter_mut().for_each(|d_score| *d_score *= self.scale);
        head_rows::add_scaled(simd, d_own, d_score, self.key(edge.source), columns);
        if !edge.row.is_empty() {
            head_rows::add_scaled(simd, d_own, d_score, edge.row, columns);
        }
    }

    #[inline(always)]
    fn backward_row<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &[T], d_row: &mut [T]) {
        head_rows::add_scaled(simd, d_row, d_score, self.query(edge.own), self.shape.head_width());
    }

    #[inline(always)]
    fn backward_source<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &[T], _: &mut [T], d_source: &mut [T]) {
        head_rows::add_scaled(simd, d_source, d_score, self.query(edge.own), self.shape.head_width());
    }

    #[inline(always)]
    fn finish_source<S: Simd>(&self, _: S, _: usize, _: &mut [T], _: &[T], _: &mut [T]) {}
}
