//! Graph Transformer: PyG's `TransformerConv(F, F, heads=K, concat=False)`.
//!
//! ```text
//! q_jk      = W_q,k h_j + b_q,k
//! score_ijk = q_jk . (W_k,k h_i + b_k,k) / sqrt(F)
//! alpha     = softmax of the score over N(j)
//! out_j     = (1/K) sum_k sum_i alpha_ijk (W_v,k h_i + b_v,k) + W_skip h_j + b_skip
//! ```
//!
//! The score is h_i . t_jk plus a term that is the same for every i and cancels in the softmax, with t_jk = W_k,k^T
//! q_jk / sqrt(F). So keys are never computed, b_k has gradient exactly 0, and values are summed over inputs first: no
//! source is ever projected.
//!
//! Where there are many more nodes than columns, queries are not computed either: t_jk = M_k^T h_j + c_k with M_k =
//! W_q,k^T W_k,k / sqrt(F) and c_k = W_k,k^T b_q,k / sqrt(F) is one product per target instead of two, forward and
//! back.

use carat_graph::Block;
use pulp::Simd;

use super::pairs::TransformerPairs;
use super::{
    Attention, Costs, Layer, LayerShape, LayerState, PairScores, State, TargetState, Targets, Upstream, per_head,
};
use crate::buffer::Buffer;
use crate::cost::{Cost, LayerSizes};
use crate::kernels::aggregate::{self, Gradients, OriginalSums, Saved, Score, Shape, SourceGradient};
use crate::kernels::dense;
use crate::kernels::heads::{RowList, dots_by_head};
use crate::kernels::in_edges::InEdges;
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::weighted::RowSums;
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::toolkit::{cut, cut_mut, sized};

/// Nodes per column from which products with the joint matrices save more than computing these costs.
const JOINT_FROM: usize = 4;

/// Head k's part of matrices that stand side by side, F rows of K x F.
fn side_by_side<T>(joint: &[T], k: usize, LayerShape { width, heads, .. }: LayerShape) -> Matrix<'_, T> {
    Matrix::strided(&joint[k * width..], width, width, heads * width)
}

/// Head k's matrix of those that stand one after another.
fn head_matrix<T>(weight: &[T], k: usize, width: usize) -> Matrix<'_, T> {
    Matrix::new(&weight[k * width * width..(k + 1) * width * width], width, width)
}

/// The Graph Transformer layer.
#[derive(Debug, Clone, Copy)]
pub struct Transformer;

/// What is computed for each source.
#[derive(Debug, Default)]
struct Sources<T> {
    /// The value matrices side by side.
    packed: Buffer<T>,
    /// The M_k side by side, and c; both empty where they save nothing.
    joint: Buffer<T>,
    joint_bias: Buffer<T>,
}

/// What is computed for each target, besides its attention.
#[derive(Debug, Default)]
struct Sums<T> {
    /// sum_i alpha_ijk h_i, targets x heads x F.
    aggregate: Buffer<T>,
    /// t and, without joint matrices, q; both targets x heads x F.
    t: Buffer<T>,
    q: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Debug, Default)]
struct Scratch<T> {
    d_aggregate: Buffer<T>,
    d_score: Buffer<T>,
    d_t: Buffer<T>,
    d_q: Buffer<T>,
    d_packed: Buffer<T>,
    /// Of the M_k, then of c.
    d_joint: Buffer<T>,
}

/// Lengths of lin_key, lin_query, lin_value and lin_skip, each weight then bias.
fn lengths(LayerShape { width, heads, .. }: LayerShape) -> [usize; 8] {
    let (weight, bias) = (heads * width * width, heads * width);
    [weight, bias, weight, bias, weight, bias, width * width, width]
}

impl<T: Real> Attention<T> for Transformer {
    fn parameters(&self, LayerShape { width, heads, .. }: LayerShape) -> Vec<Parameter> {
        let init = Init::Linear { fan_in: width };
        let mut parameters = Vec::new();
        for (name, rows) in [
            ("lin_key", heads * width),
            ("lin_query", heads * width),
            ("lin_value", heads * width),
            ("lin_skip", width),
        ] {
            parameters.push(Parameter::new(format!("{name}.weight"), &[rows, width], init));
            parameters.push(Parameter::new(format!("{name}.bias"), &[rows], init));
        }
        parameters
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        if first > 0 {
            return;
        }
        let LayerShape { width, heads, .. } = layer.shape;
        let [key, _, query, query_bias, value, ..] = cut(layer.parameters, lengths(layer.shape));
        let Sources { packed, joint, joint_bias } = state.fill();
        per_head::pack(sized(packed, value.len()), value, layer.shape);
        joint.clear();
        joint_bias.clear();
        if layer.h.len() / width >= JOINT_FROM * width {
            let (joint, joint_bias) = (sized(joint, key.len()), sized(joint_bias, heads * width));
            let scale = T::ONE / T::from_f64(width as f64).sqrt();
            for k in 0..heads {
                let (key, query) = (head_matrix(key, k, width), head_matrix(query, k, width));
                let columns = k * width..(k + 1) * width;
                let out = MatrixMut::strided(&mut joint[columns.start..], width, width, heads * width);
                multiply(out, query.t(), key, scale);
                let (out, bias) = (&mut joint_bias[columns.clone()], &query_bias[columns]);
                multiply(MatrixMut::new(out, 1, width), Matrix::new(bias, 1, width), key, scale);
            }
        }
    }

    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let LayerShape { width, heads, .. } = layer.shape;
        let (rows, all) = (targets.len(), heads * width);
        let [key, _, query, query_bias, _, value_bias, skip, skip_bias] = cut(layer.parameters, lengths(layer.shape));
        let (Sources { packed, joint, joint_bias }, TargetState { alpha, own }) = (sources.read(), state);
        let Sums { aggregate, t, q } = own.fill();
        let original = targets.original.map(|original| (original.lost_edges(), original.state.own.read::<Sums<T>>()));
        let h_targets = Matrix::new(targets.h, rows, width);
        let t = match original {
            Some((_, sums)) => &sums.t[..],
            None if !joint.is_empty() => {
                let t = sized(t, rows * all);
                dense::affine(t, h_targets, Matrix::new(joint, width, all), joint_bias);
                t
            }
            None => {
                let t = sized(t, rows * all);
                let q = sized(q, rows * all);
                dense::affine(q, h_targets, Matrix::new(query, all, width).t(), query_bias);
                let scale = T::ONE / T::from_f64(width as f64).sqrt();
                per_head::multiply_heads(t, q, key, false, scale, layer.shape);
                t
            }
        };

        let alpha = sized(alpha, targets.num_edges() * heads);
        let aggregate = sized(aggregate, rows * all);
        let shape = Shape { targets: targets.edges(), heads, width, h: layer.h };
        let original = original.map(|(edges, sums)| OriginalSums { edges, aggregate: &sums.aggregate });
        aggregate::forward(shape, TransformerScore { t, heads, width }, original, alpha, aggregate);

        per_head::average(out, aggregate, packed, skip_bias, layer.shape);
        multiply_add(MatrixMut::new(out, rows, width), h_targets, Matrix::new(skip, width, width).t(), T::ONE);
        // Attention sums to 1 where there is an in-edge, so the whole of b_v is added there, and nothing elsewhere.
        let mut mean_bias = vec![T::ZERO; width];
        dense::add_column_sums(&mut mean_bias, value_bias);
        let share = T::ONE / T::from_f64(heads as f64);
        for (j, out) in out.chunks_exact_mut(width).enumerate() {
            if !targets.in_neighbours(j).is_empty() {
                out.iter_mut().zip(&mean_bias).for_each(|(out, bias)| *out += share * *bias);
            }
        }
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
        let LayerShape { width, heads, .. } = layer.shape;
        let (targets, all) = (block.num_targets(), heads * width);
        let Upstream { d_out, d_attention } = upstream;
        let [key, _, query, query_bias, value, _, skip, _] = cut(layer.parameters, lengths(layer.shape));
        let [d_key, _, d_query, d_query_bias, d_value, d_value_bias, d_skip, d_skip_bias] =
            cut_mut(d_parameters, lengths(layer.shape));
        let Sources { packed, joint, .. } = state.sources.read();
        let Sums { aggregate, t, q } = state.targets.own.read();
        let alpha = &state.targets.alpha;
        let Scratch { d_aggregate, d_score, d_t, d_q, d_packed, d_joint } = state.scratch.fill();

        // Skip connection.
        let h_targets = Matrix::new(layer.h, targets, width);
        let d_rows = Matrix::new(d_out, targets, width);
        dense::add_column_sums(d_skip_bias, d_out);
        multiply_add(MatrixMut::new(d_skip, width, width), d_rows.t(), h_targets, T::ONE);

        // Values.
        let share = T::ONE / T::from_f64(heads as f64);
        let mut mean_bias = vec![T::ZERO; width];
        for (j, d_out) in d_out.chunks_exact(width).enumerate() {
            if !block.in_neighbours(j).is_empty() {
                mean_bias.iter_mut().zip(d_out).for_each(|(sum, d_out)| *sum += share * *d_out);
            }
        }
        for d_head in d_value_bias.chunks_exact_mut(width) {
            d_head.iter_mut().zip(&mean_bias).for_each(|(d_bias, sum)| *d_bias += *sum);
        }
        let d_aggregate = sized(d_aggregate, targets * all);
        let d_packed = sized(d_packed, value.len());
        per_head::average_backward(d_out, aggregate, packed, layer.shape, [d_packed, d_aggregate]);
        per_head::unpack(d_value, d_packed, layer.shape);

        // Attention.
        let shape = Shape { targets: InEdges::of_block(block), heads, width, h: layer.h };
        let score = TransformerScore { t, heads, width };
        let d_score = sized(d_score, block.num_edges() * heads);
        let d_t = sized(d_t, targets * all);
        let saved = Saved { alpha, d_aggregate, d_attention };
        aggregate::backward_targets(shape, score, saved, d_score, d_t);
        let gradients = Gradients { alpha, d_aggregate, d_score };
        aggregate::backward_sources(block, shape, score, gradients, d_h, &mut [], &mut []);

        let scale = T::ONE / T::from_f64(width as f64).sqrt();
        multiply_add(MatrixMut::new(d_h, targets, width), d_rows, Matrix::new(skip, width, width), T::ONE);
        if !joint.is_empty() {
            // t = M^T h + c, M = W_q^T W_k / sqrt(F), c = W_k^T b_q / sqrt(F).
            let d_t_rows = &*d_t;
            let d_t = Matrix::new(d_t_rows, targets, all);
            multiply_add(MatrixMut::new(d_h, targets, width), d_t, Matrix::new(joint, width, all).t(), T::ONE);
            let d_joint = sized(d_joint, key.len() + all);
            let (d_joint, d_joint_bias) = d_joint.split_at_mut(key.len());
            multiply(MatrixMut::new(d_joint, width, all), h_targets.t(), d_t, scale);
            d_joint_bias.fill(T::ZERO);
            dense::add_column_sums(d_joint_bias, d_t_rows);
            let parts = d_key.chunks_exact_mut(width * width).zip(d_query.chunks_exact_mut(width * width));
            for (k, ((d_key, d_query), d_query_bias)) in parts.zip(d_query_bias.chunks_exact_mut(width)).enumerate() {
                let (key, query) = (head_matrix(key, k, width), head_matrix(query, k, width));
                let d_joint = side_by_side(d_joint, k, layer.shape);
                let (bias, d_bias) = (&query_bias[k * width..][..width], &d_joint_bias[k * width..][..width]);
                multiply_add(MatrixMut::new(d_query, width, width), key, d_joint.t(), T::ONE);
                multiply_add(MatrixMut::new(d_key, width, width), query, d_joint, T::ONE);
                let (bias, d_bias) = (Matrix::new(bias, width, 1), Matrix::new(d_bias, width, 1));
                multiply_add(MatrixMut::new(d_key, width, width), bias, d_bias.t(), scale);
                multiply_add(MatrixMut::new(d_query_bias, width, 1), key, d_bias, scale);
            }
            return;
        }
        // t = W_k^T q / sqrt(F), q = W_q h + b_q.
        let d_q = sized(d_q, targets * all);
        per_head::add_gradient(d_key, q, d_t, scale, layer.shape);
        per_head::multiply_heads(d_q, d_t, key, true, scale, layer.shape);
        dense::add_column_sums(d_query_bias, d_q);
        let d_q = Matrix::new(d_q, targets, all);
        multiply_add(MatrixMut::new(d_query, all, width), d_q.t(), h_targets, T::ONE);
        multiply_add(MatrixMut::new(d_h, targets, width), d_q, Matrix::new(query, all, width), T::ONE);
    }

    fn as_costs(&self) -> Option<&dyn Costs> {
        Some(self)
    }

    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        Some(&TransformerPairs)
    }
}

impl Costs for Transformer {
    fn cost(&self, sizes: LayerSizes) -> Cost {
        let LayerSizes { width, heads, sources, targets, edges } = sizes;
        let (row, all) = (width, heads * width);
        // Queries with keys, values and the skip connection, forward and for both gradients, and the joint matrices of
        // queries and keys, where these save something. Per edge and column: the score, the sum, d_alpha and d_t, 2
        // operations each, and 4 for d_h.
        let (joint, apart) = (targets * all * width + all * width * width, 2.0 * targets * all * width);
        let operations = 6.0 * (joint.min(apart) + targets * (all + width) * width) + 12.0 * edges * all;
        // t, the aggregate and their gradients: each is written once and read twice, t thrice.
        let numbers = 13.0 * targets * all + 5.0 * sources * row + 4.0 * targets * row + 9.0 * all * width;
        Cost::new(operations, numbers + sizes.edge_numbers())
    }
}

/// score_ijk = t_jk . h_i
#[derive(Clone, Copy)]
struct TransformerScore<'a, T> {
    t: &'a [T],
    heads: usize,
    width: usize,
}

impl<T> TransformerScore<'_, T> {
    #[inline(always)]
    fn own(&self, target: usize) -> &[T] {
        &self.t[target * self.heads * self.width..(target + 1) * self.heads * self.width]
    }
}

impl<T: Real> Score<T> for TransformerScore<'_, T> {
    fn target_width(&self) -> usize {
        self.heads * self.width
    }

    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, shape: Shape<'_, T>, target: usize, own: usize, scores: &mut [T]) {
        let (own, sources) = (self.own(own), shape.neighbours(target));
        for (at, scores) in scores.chunks_exact_mut(self.heads).enumerate() {
            sources.ask_ahead(at);
            dots_by_head(simd, own, sources.row(at), scores);
        }
    }

    #[inline(always)]
    fn backward_row<S: Simd>(
        &self,
        simd: S,
        shape: Shape<'_, T>,
        target: usize,
        d_score: &mut [T],
        d_target: &mut [T],
    ) {
        aggregate::neighbour_sums(simd, shape, target, d_score, d_target);
    }
}

impl<T: Real> SourceGradient<T> for TransformerScore<'_, T> {
    fn source_width(&self) -> usize {
        0
    }

    fn sum_width(&self) -> usize {
        0
    }

    #[inline(always)]
    fn ask_for(&self, target: u32) {
        prefetch_row(self.t, target, self.heads * self.width);
    }

    #[inline(always)]
    fn edge_rows(&self, target: usize, d_score: &[T], d_h: &mut impl RowSums<T, 1>) {
        for (t, &d_score) in self.own(target).chunks_exact(self.width).zip(d_score) {
            d_h.add([d_score], t);
        }
    }

    #[inline(always)]
    fn source_rows(&self, _: usize, _: &[T], _: &mut impl RowSums<T, 1>) {}

    #[inline(always)]
    fn finish<S: Simd>(&self, _: S, _: Shape<'_, T>, _: usize, _: &[T], _: &mut [T]) {}
}
