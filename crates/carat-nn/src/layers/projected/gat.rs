//! GAT with projected values: PyG's `GATConv(F, D, heads=K, concat, edge_dim, add_self_loops=False)`.
//!
//! ```text
//! z_i       = W h_i
//! score_ijk = LeakyReLU_0.2(a_src_k . z_ik + a_dst_k . z_jk + a_edge_k . (W_e e_ij)_k)
//! alpha     = softmax of the score over N(j)
//! out_j     = join_k(sum_i alpha_ijk z_ik) + bias
//! ```
//!
//! A target's and an edge's part of the score need only the vectors u_k = W_k^T a_k, so targets are not projected from
//! their own inputs, and edges not at all.

use carat_graph::Block;
use pulp::Simd;

use super::view::Edge;
use super::{Scores, add_features, all, backward, fold, fold_backward, forward, sum_gradients, view};
use crate::buffer::Buffer;
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::{dense, head_rows, vector};
use crate::layers::gat::{SCORE_SLOPE, node_scores};
use crate::layers::pairs::GatPairs;
use crate::layers::{Attention, Layer, LayerShape, LayerState, PairScores, State, TargetState, Targets, Upstream};
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add, product_here, row_chunks};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::Rows;
use crate::toolkit::{cut, cut_mut, sized};

/// The GAT layer.
#[derive(Debug, Clone, Copy)]
pub(in crate::layers) struct ProjectedGat;

/// What is computed for each source, and from the parameters.
#[derive(Debug, Default)]
struct Sources<T> {
    /// z, sources x K x D.
    values: Buffer<T>,
    /// a_src_k . z_ik, sources x K.
    score: Buffer<T>,
    /// W_k^T a_dst_k, and the same for edges.
    u_dst: Buffer<T>,
    u_edge: Buffer<T>,
}

/// What is computed for each target, besides its attention: a_dst_k . z_jk.
#[derive(Debug, Default)]
struct Own<T> {
    score: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Debug, Default)]
struct Scratch<T> {
    d_sums: Buffer<T>,
    d_score: Buffer<T>,
    d_own: Buffer<T>,
    d_values: Buffer<T>,
    d_source: Buffer<T>,
    d_u: Buffer<T>,
    target_parts: Buffer<T>,
    source_parts: Buffer<T>,
}

/// Lengths of lin.weight, att_src, att_dst, lin_edge.weight, att_edge, bias.
pub(in crate::layers) fn lengths(shape: LayerShape) -> [usize; 6] {
    let (all, features) = (all(shape), shape.edge_features);
    [all * shape.width, all, all, all * features, if features > 0 { all } else { 0 }, shape.width]
}

impl<T: Real> Attention<T> for ProjectedGat {
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter> {
        let (all, att) = (all(shape), [1, shape.heads, shape.head_width()]);
        let mut parameters = vec![
            Parameter::new("lin.weight", &[all, shape.width], Init::Glorot),
            Parameter::new("att_src", &att, Init::Glorot),
            Parameter::new("att_dst", &att, Init::Glorot),
        ];
        if shape.edge_features > 0 {
            parameters.push(Parameter::new("lin_edge.weight", &[all, shape.edge_features], Init::Glorot));
            parameters.push(Parameter::new("att_edge", &att, Init::Glorot));
        }
        parameters.push(Parameter::new("bias", &[shape.width], Init::Zeros));
        parameters
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        let LayerShape { width, heads, edge_features, .. } = layer.shape;
        let all = all(layer.shape);
        let [weight, att_src, att_dst, edge_weight, att_edge, _] = cut(layer.parameters, lengths(layer.shape));
        let Sources { values, score, u_dst, u_edge } = state.fill();
        if first == 0 {
            fold(u_dst, weight, att_dst, heads, width);
            if edge_features > 0 {
                fold(u_edge, edge_weight, att_edge, heads, edge_features);
            }
        }
        let rows = layer.h.len() / width;
        let values = &mut sized(values, rows * all)[first * all..];
        let score = &mut sized(score, rows * heads)[first * heads..];
        let h = Matrix::new(&layer.h[first * width..], rows - first, width);
        let weight = Matrix::new(weight, all, width).t();
        row_chunks(rows - first, all * width).run((Rows::new(values, all), Rows::new(score, heads)), |range, rows| {
            let (values, score) = (rows.0.into_slice(), rows.1.into_slice());
            product_here(MatrixMut::new(values, range.len(), all), h.rows(range), weight, T::ONE, false);
            source_scores(layer.shape, att_src, values, score);
        });
    }

    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let heads = layer.shape.heads;
        let [_, att_src, .., bias] = cut(layer.parameters, lengths(layer.shape));
        let (sources, TargetState { alpha, own }) = (sources.read::<Sources<T>>(), state);
        let own = match targets.original {
            Some(original) => &original.state.own.read::<Own<T>>().score[..],
            None => {
                let Own { score } = own.fill();
                let score = sized(score, targets.len() * heads);
                node_scores(score, targets.h, &sources.u_dst, heads);
                score
            }
        };
        dense::fill_rows(out, bias);
        let scores = GatScores::new(layer.shape, sources, own, att_src);
        let alpha = sized(alpha, targets.num_edges() * heads);
        forward::forward(view(layer, &sources.values, &[], false), scores, targets, alpha, out);
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
        let (rows, targets, all) = (block.num_sources(), block.num_targets(), all(layer.shape));
        let [weight, att_src, att_dst, edge_weight, att_edge, _] = cut(layer.parameters, lengths(layer.shape));
        let [d_weight, d_att_src, d_att_dst, d_edge_weight, d_att_edge, d_bias] =
            cut_mut(d_parameters, lengths(layer.shape));
        let (sources, Own { score: own }) = (state.sources.read::<Sources<T>>(), state.targets.own.read());
        let Scratch { d_sums, d_score, d_own, d_values, d_source, d_u, target_parts, source_parts } =
            state.scratch.fill();
        dense::add_column_sums(d_bias, upstream.d_out);

        let view = view(layer, &sources.values, &[], false);
        let scores = GatScores::new(layer.shape, sources, own, att_src);
        let d_sums = sum_gradients(layer.shape, upstream.d_out, d_sums);
        let saved = backward::Saved { alpha: &state.targets.alpha, d_sums, upstream };
        let d_score = sized(d_score, block.num_edges() * heads);
        let d_own = sized(d_own, targets * heads);
        let outputs = (&mut *d_score, &mut *d_own, &mut state.d_gates);
        let (d_u_edge, _) = backward::backward_targets(view, scores, block, saved, outputs, target_parts);
        if edge_features > 0 {
            let outputs = [d_edge_weight, d_att_edge];
            fold_backward([edge_weight, att_edge, d_u_edge], outputs, heads, edge_features);
        }
        let (d_values, d_source) = (sized(d_values, rows * all), sized(d_source, rows * heads));
        let outputs = (&mut *d_values, d_source);
        let sums = backward::backward_sources(view, scores, block, (saved, d_score), outputs, source_parts);
        d_att_src.iter_mut().zip(sums).for_each(|(d_att, sum)| *d_att += *sum);

        let (h, d_values) = (Matrix::new(layer.h, rows, width), Matrix::new(d_values, rows, all));
        let (h_targets, d_own) = (Matrix::new(layer.h, targets, width), Matrix::new(d_own, targets, heads));
        multiply_add(MatrixMut::new(d_weight, all, width), d_values.t(), h, T::ONE);
        multiply(MatrixMut::new(d_h, rows, width), d_values, Matrix::new(weight, all, width), T::ONE);
        let u = Matrix::new(&sources.u_dst, heads, width);
        multiply_add(MatrixMut::new(d_h, targets, width), d_own, u, T::ONE);
        let d_u = sized(d_u, heads * width);
        multiply(MatrixMut::new(d_u, heads, width), d_own.t(), h_targets, T::ONE);
        fold_backward([weight, att_dst, d_u], [d_weight, d_att_dst], heads, width);
    }

    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        Some(&GatPairs)
    }
}

/// score_ik = a_src_k . z_ik
#[pulp::with_simd(source_scores = T::machine())]
#[inline(always)]
fn source_scores_simd<'a, S: Simd, T: Real>(
    simd: S,
    shape: LayerShape,
    att_src: &'a [T],
    values: &'a [T],
    score: &'a mut [T],
) {
    for (values, score) in values.chunks_exact(att_src.len()).zip(score.chunks_exact_mut(shape.heads)) {
        head_rows::dots(simd, values, att_src, shape.head_width(), score);
    }
}

/// score_ijk = LeakyReLU(source_ik + own_jk + u_edge_k . e_ij)
#[derive(Clone, Copy)]
struct GatScores<'a, T> {
    shape: LayerShape,
    values: &'a [T],
    source: &'a [T],
    own: &'a [T],
    u_edge: &'a [T],
    att_src: &'a [T],
}

impl<'a, T: Real> GatScores<'a, T> {
    fn new(shape: LayerShape, sources: &'a Sources<T>, own: &'a [T], att_src: &'a [T]) -> Self {
        let Sources { values, score, u_edge, .. } = sources;
        Self { shape, values, source: score, own, u_edge, att_src }
    }

    /// The sums that the LeakyReLU takes.
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S, edge: Edge<'_, T>, sums: &mut [T]) {
        let heads = sums.len();
        let (source, own) = (&self.source[edge.source * heads..][..heads], &self.own[edge.own * heads..][..heads]);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = source[k] + own[k];
        }
        add_features(simd, edge.features, self.u_edge, sums);
    }
}

impl<T: Real> Scores<T> for GatScores<'_, T> {
    const SOURCES_READ_ROWS: bool = false;

    #[inline(always)]
    fn row_begins_with(&self, _: usize) -> &[T] {
        &[]
    }

    fn own_width(&self) -> usize {
        self.shape.heads
    }

    fn source_width(&self) -> usize {
        self.shape.heads
    }

    /// d_u_edge
    fn target_sums(&self) -> usize {
        self.shape.heads * self.shape.edge_features
    }

    /// d_a_src
    fn source_sums(&self) -> usize {
        self.att_src.len()
    }

    #[inline(always)]
    fn ask_for_source(&self, source: u32) {
        prefetch_row(self.source, source, self.shape.heads);
    }

    #[inline(always)]
    fn ask_for_target(&self, _: u32) {}

    #[inline(always)]
    fn score<S: Simd>(&self, simd: S, edge: Edge<'_, T>, scores: &mut [T]) {
        self.sums(simd, edge, scores);
        let slope = T::from_f64(SCORE_SLOPE);
        scores.iter_mut().for_each(|score| *score = vector::leaky_relu(*score, slope));
    }

    #[inline(always)]
    fn backward_target<S: Simd>(&self, simd: S, edge: Edge<'_, T>, d_score: &mut [T], d_own: &mut [T], sums: &mut [T]) {
        let (heads, slope) = (d_score.len(), T::from_f64(SCORE_SLOPE));
        let (source, own) = (&self.source[edge.source * heads..][..heads], &self.own[edge.own * heads..][..heads]);
        let width = edge.features.len();
        for (k, (d_score, d_own)) in d_score.iter_mut().zip(d_own).enumerate() {
            let mut sum = source[k] + own[k];
            if width > 0 {
                sum += vector::dot(simd, &self.u_edge[k * width..(k + 1) * width], edge.features);
            }
            *d_score *= vector::leaky_relu_gradient(sum, slope);
            *d_own += *d_score;
            if width > 0 {
                vector::add_scaled(simd, &mut sums[k * width..(k + 1) * width], *d_score, edge.features);
            }
        }
    }

    #[inline(always)]
    fn backward_row<S: Simd>(&self, _: S, _: Edge<'_, T>, _: &[T], _: &mut [T]) {}

    #[inline(always)]
    fn backward_source<S: Simd>(&self, _: S, _: Edge<'_, T>, d_score: &[T], _: &mut [T], d_source: &mut [T]) {
        d_source.iter_mut().zip(d_score).for_each(|(d_source, d_score)| *d_source += *d_score);
    }

    #[inline(always)]
    fn finish_source<S: Simd>(&self, simd: S, source: usize, d_values: &mut [T], d_source: &[T], sums: &mut [T]) {
        let (all, columns) = (self.att_src.len(), self.shape.head_width());
        head_rows::add_scaled(simd, d_values, d_source, self.att_src, columns);
        head_rows::add_scaled(simd, sums, d_source, &self.values[source * all..(source + 1) * all], columns);
    }
}
