//! GATv2 with projected values: PyG's `GATv2Conv(F, D, heads=K, concat, edge_dim, add_self_loops=False)`.
//!
//! ```text
//! l_i = W_l h_i + b_l          r_j = W_r h_j + b_r
//! score_ijk = a_k . LeakyReLU_0.2(l_ik + r_jk + (W_e e_ij)_k)
//! alpha     = softmax of the score over N(j)
//! out_j     = join_k(sum_i alpha_ijk l_ik) + bias
//! ```

use carat_graph::Block;
use pulp::Simd;

use super::view::Edge;
use super::{Scores, add_transposed, all, backward, forward, sum_gradients, transpose, view};
use crate::buffer::Buffer;
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::{dense, head_rows};
use crate::layers::gat::SCORE_SLOPE;
use crate::layers::gatv2::project;
use crate::layers::pairs::GatV2Pairs;
use crate::layers::{Attention, Layer, LayerShape, LayerState, PairScores, State, TargetState, Targets, Upstream};
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::toolkit::{cut, cut_mut, sized};

/// The GATv2 layer.
#[derive(Debug, Clone, Copy)]
pub(in crate::layers) struct ProjectedGatV2;

/// What is computed for each source, and from the parameters.
#[derive(Debug, Default)]
struct Sources<T> {
    /// l, sources x K x D.
    l: Buffer<T>,
    /// W_e transposed.
    edge_weight: Buffer<T>,
}

/// What is computed for each target, besides its attention: r, targets x K x D.
#[derive(Debug, Default)]
struct Own<T> {
    r: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Debug, Default)]
struct Scratch<T> {
    d_sums: Buffer<T>,
    d_score: Buffer<T>,
    d_l: Buffer<T>,
    d_r: Buffer<T>,
    parts: Buffer<T>,
}

/// Lengths of att, lin_l.{weight,bias}, lin_r.{weight,bias}, lin_edge.weight, bias.
pub(in crate::layers) fn lengths(shape: LayerShape) -> [usize; 7] {
    let all = all(shape);
    [all, all * shape.width, all, all * shape.width, all, all * shape.edge_features, shape.width]
}

impl<T: Real> Attention<T> for ProjectedGatV2 {
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter> {
        let all = all(shape);
        let mut parameters = vec![
            Parameter::new("att", &[1, shape.heads, shape.head_width()], Init::Glorot),
            Parameter::new("lin_l.weight", &[all, shape.width], Init::Glorot),
            Parameter::new("lin_l.bias", &[all], Init::Zeros),
            Parameter::new("lin_r.weight", &[all, shape.width], Init::Glorot),
            Parameter::new("lin_r.bias", &[all], Init::Zeros),
        ];
        if shape.edge_features > 0 {
            parameters.push(Parameter::new("lin_edge.weight", &[all, shape.edge_features], Init::Glorot));
        }
        parameters.push(Parameter::new("bias", &[shape.width], Init::Zeros));
        parameters
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        let (width, all) = (layer.shape.width, all(layer.shape));
        let [_, weight_l, bias_l, _, _, weight_e, _] = cut(layer.parameters, lengths(layer.shape));
        let Sources { l, edge_weight } = state.fill();
        if first == 0 {
            transpose(edge_weight, weight_e, layer.shape.edge_features);
        }
        let l = sized(l, layer.h.len() / width * all);
        project(&mut l[first * all..], &layer.h[first * width..], weight_l, bias_l);
    }

    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let [att, _, _, weight_r, bias_r, _, bias] = cut(layer.parameters, lengths(layer.shape));
        let (Sources { l, edge_weight }, TargetState { alpha, own }) = (sources.read(), state);
        let r = match targets.original {
            Some(original) => &original.state.own.read::<Own<T>>().r[..],
            None => {
                let Own { r } = own.fill();
                let r = sized(r, targets.len() * all(layer.shape));
                project(r, targets.h, weight_r, bias_r);
                r
            }
        };
        dense::fill_rows(out, bias);
        let scores = GatV2Scores { shape: layer.shape, l, r, att };
        let alpha = sized(alpha, targets.num_edges() * layer.shape.heads);
        forward::forward(view(layer, l, edge_weight, false), scores, targets, alpha, out);
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
        let [att, weight_l, _, weight_r, ..] = cut(layer.parameters, lengths(layer.shape));
        let [d_att, d_weight_l, d_bias_l, d_weight_r, d_bias_r, d_weight_e, d_bias] =
            cut_mut(d_parameters, lengths(layer.shape));
        let (Sources { l, edge_weight }, Own { r }) = (state.sources.read(), state.targets.own.read());
        let Scratch { d_sums, d_score, d_l, d_r, parts } = state.scratch.fill();
        dense::add_column_sums(d_bias, upstream.d_out);

        let view = view(layer, l, edge_weight, false);
        let scores = GatV2Scores { shape: layer.shape, l, r, att };
        let d_sums = sum_gradients(layer.shape, upstream.d_out, d_sums);
        let saved = backward::Saved { alpha: &state.targets.alpha, d_sums, upstream };
        let (d_score, d_r) = (sized(d_score, block.num_edges() * heads), sized(d_r, targets * all));
        let outputs = (&mut *d_score, &mut *d_r, &mut state.d_gates);
        let (sums, d_edge) = backward::backward_targets(view, scores, block, saved, outputs, parts);
        d_att.iter_mut().zip(sums).for_each(|(d_att, sum)| *d_att += *sum);
        add_transposed(d_weight_e, d_edge, edge_features);
        let d_l = sized(d_l, sources * all);
        backward::backward_sources(view, scores, block, (saved, d_score), (&mut *d_l, &mut []), parts);

        for (rows, d_projected, d_weight, d_bias) in
            [(sources, &*d_l, d_weight_l, d_bias_l), (targets, &*d_r, d_weight_r, d_bias_r)]
        {
            dense::add_column_sums(d_bias, d_projected);
            let h = Matrix::new(layer.h, rows, width);
            multiply_add(MatrixMut::new(d_weight, all, width), Matrix::new(d_projected, rows, all).t(), h, T::ONE);
        }
        let (d_l, d_r) = (Matrix::new(d_l, sources, all), Matrix::new(d_r, targets, all));
        multiply(MatrixMut::new(d_h, sources, width), d_l, Matrix::new(weight_l, all, width), T::ONE);
        multiply_add(MatrixMut::new(d_h, targets, width), d_r, Matrix::new(weight_r, all, width), T::ONE);
    }

    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        Some(&GatV2Pairs)
    }
}

/// score_ijk = a_k . LeakyReLU(l_ik + r_jk + (W_e e_ij)_k)
#[derive(Clone, Copy)]
struct GatV2Scores<'a, T> {
    shape: LayerShape,
    l: &'a [T],
    r: &'a [T],
    att: &'a [T],
}

impl<'a, T: Real> GatV2Scores<'a, T> {
    #[inline(always)]
    fn own(&self, own: usize) -> &'a [T] {
        let all = self.att.len();
        &self.r[own * all..(own + 1) * all]
    }

    /// l_i, and what is added to it before the LeakyReLU.
    #[inline(always)]
    fn terms<'b>(&self, edge: Edge<'b, T>) -> [&'b [T]; 2]
    where
        'a: 'b,
    {
        let all = self.att.len();
        let more = if edge.row.is_empty() { self.own(edge.own) } else { edge.row };
        [&self.l[edge.source * all..(edge.source + 1) * all], more]
    }

    #[inline(always)]
    fn slope() -> T {
        T::from_f64(SCORE_SLOPE)
    }
}

impl<T: Real> Scores<T> for GatV2Scores<'_, T> {
    const SOURCES_READ_ROWS: bool = true;

    #[inline(always)]
    fn row_begins_with(&self, own: usize) -> &[T] {
        self.own(own)
    }

    fn own_width(&self) -> usize {
        self.att.len()
    }

    fn source_width(&self) -> usize {
        0
    }

    /// d_a
    fn target_sums(&self) -> usize {
        self.att.len()
    }

    fn source_sums(&self) -> usize {
        0
    }

    #[inline(always)]
    fn ask_for_source(&self, _: u32) {}

    #[inline(always)]
    fn ask_for_target(&self, target: u32) {
        prefetch_row(self.r, target, self.att.len());
    }

    #[inline(always)]
    fn score<S: Simd>(&self, simd: S, edge: Edge<'_, T>, scores: &mut [T]) {
        head_rows::leaky_dots(simd, self.att, self.terms(edge), Self::slope(), self.shape.head_width(), scores);
    }

    #[inline(always)]
    fn backward_target<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &mut [T], d_own: &mut [T], sums: &mut [T]) {
        let (terms, columns) = (self.terms(edge), self.shape.head_width());
        head_rows::leaky_dots_terms(simd, self.att, terms, Self::slope(), d_score, columns, d_own);
        head_rows::leaky_dots_factors(simd, terms, Self::slope(), d_score, columns, sums);
    }

    #[inline(always)]
    fn backward_row<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &[T], d_row: &mut [T]) {
        let (terms, columns) = (self.terms(edge), self.shape.head_width());
        head_rows::leaky_dots_terms(simd, self.att, terms, Self::slope(), d_score, columns, d_row);
    }

    #[inline(always)]
    fn backward_source<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &[T], d_values: &mut [T], _: &mut [T]) {
        let (terms, columns) = (self.terms(edge), self.shape.head_width());
        head_rows::leaky_dots_terms(simd, self.att, terms, Self::slope(), d_score, columns, d_values);
    }

    #[inline(always)]
    fn finish_source<S: Simd>(&self, _: S, _: usize, _: &mut [T], _: &[T], _: &mut [T]) {}
}
