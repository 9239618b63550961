//! GATv2: PyG's `GATv2Conv(F, F, heads=K, concat=False, add_self_loops=False)`.
//!
//! ```text
//! l_i = W_l h_i + b_l          r_j = W_r h_j + b_r
//! score_ijk = a_k . LeakyReLU_0.2(l_ik + r_jk)
//! alpha     = softmax of the score over N(j)
//! out_j     = (1/K) sum_k sum_i alpha_ijk l_ik + bias
//! ```
//!
//! The nonlinearity stands between the projection and the attention vector, so sources must be projected. The backward
//! pass recomputes l + r edge by edge instead of keeping it.

use pulp::Simd;

use super::gat::SCORE_SLOPE;
use super::pairs::GatV2Pairs;
use super::{
    Attention, Costs, Layer, LayerShape, LayerState, Original, PairScores, State, TargetState, Targets, Upstream,
};
use crate::buffer::Buffer;
use crate::cost::{Cost, LayerSizes};
use crate::kernels::additive::{HeadColumns, SourceSide, TargetSide};
use crate::kernels::aggregate::{source_chunks, target_chunks};
use crate::kernels::heads::{ListedRows, RowList, dots_by_head};
use crate::kernels::prefetch::{Lookahead, prefetch_edges, prefetch_row};
use crate::kernels::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use crate::kernels::{dense, softmax, vector};
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, EdgeRows, Rows};
use crate::toolkit::{cut, cut_mut, sized};
use carat_graph::Block;

/// The GATv2 layer.
#[derive(Debug, Clone, Copy)]
pub struct GatV2;

/// What is computed for each source: l, sources x heads x F.
#[derive(Debug, Default)]
struct Sources<T> {
    l: Buffer<T>,
}

/// What is computed for each target, besides its attention.
#[derive(Debug, Default)]
struct Projected<T> {
    /// r, targets x heads x F.
    r: Buffer<T>,
    /// One target's sums by head and chunk, where in-edges are subtracted from them.
    sums: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Debug, Default)]
struct Scratch<T> {
    d_l: Buffer<T>,
    d_r: Buffer<T>,
    d_score: Buffer<T>,
    /// By chunk of targets.
    d_att: Buffer<T>,
}

/// Lengths of att, lin_l.{weight,bias}, lin_r.{weight,bias}, bias.
fn lengths(LayerShape { width, heads, .. }: LayerShape) -> [usize; 6] {
    let all = heads * width;
    [all, all * width, all, all * width, all, width]
}

impl<T: Real> Attention<T> for GatV2 {
    fn parameters(&self, LayerShape { width, heads, .. }: LayerShape) -> Vec<Parameter> {
        let all = heads * width;
        vec![
            Parameter::new("att", &[1, heads, width], Init::Glorot),
            Parameter::new("lin_l.weight", &[all, width], Init::Glorot),
            Parameter::new("lin_l.bias", &[all], Init::Zeros),
            Parameter::new("lin_r.weight", &[all, width], Init::Glorot),
            Parameter::new("lin_r.bias", &[all], Init::Zeros),
            Parameter::new("bias", &[width], Init::Zeros),
        ]
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        let LayerShape { width, heads, .. } = layer.shape;
        let [_, weight_l, bias_l, ..] = cut(layer.parameters, lengths(layer.shape));
        let Sources { l } = state.fill();
        let l = sized(l, layer.h.len() * heads);
        project(&mut l[first * heads * width..], &layer.h[first * width..], weight_l, bias_l);
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
        let [att, _, _, weight_r, bias_r, bias] = cut(layer.parameters, lengths(layer.shape));
        let (Sources { l }, TargetState { alpha, own }) = (sources.read(), state);
        let Projected { r, sums } = own.fill();
        let r = match targets.original {
            Some(original) => &original.state.own.read::<Projected<T>>().r[..],
            None => {
                let r = sized(r, targets.len() * heads * width);
                project(r, targets.h, weight_r, bias_r);
                r
            }
        };
        let alpha = sized(alpha, targets.num_edges() * heads);
        let view = View { targets, heads, width, att, l, r };
        let chunks = target_chunks(targets.offsets);
        let sum_width = if targets.original.is_some() { heads * width } else { 0 };
        let sums = sized(sums, chunks.len() * sum_width);
        let outputs = (
            EdgeRows::new(alpha, targets.offsets, heads),
            Rows::new(out, width),
            ChunkRows::new(sums, &chunks, sum_width),
        );
        chunks.run(outputs, |range, (alpha, out, sums)| {
            let outputs = (alpha.into_slice(), out.into_slice(), sums.into_slice());
            forward_rows(view, range.start, bias, outputs);
        });
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
        let all = heads * width;
        let (sources, targets) = (block.num_sources(), block.num_targets());
        let [att, weight_l, _, weight_r, _, _] = cut(layer.parameters, lengths(layer.shape));
        let [d_att, d_weight_l, d_bias_l, d_weight_r, d_bias_r, d_bias] = cut_mut(d_parameters, lengths(layer.shape));
        let (Sources { l }, Projected { r, .. }) = (state.sources.read(), state.targets.own.read());
        let alpha = &state.targets.alpha[..];
        let Scratch { d_l, d_r, d_score, d_att: d_att_parts } = state.scratch.fill();
        dense::add_column_sums(d_bias, upstream.d_out);

        let view = View { targets: Targets::of_block(block, layer.h, width), heads, width, att, l, r };
        let d_score = sized(d_score, block.num_edges() * heads);
        let d_r = sized(d_r, targets * all);
        let chunks = target_chunks(block.offsets());
        let d_att_parts = sized(d_att_parts, chunks.len() * all);
        let outputs = (
            EdgeRows::new(d_score, block.offsets(), heads),
            Rows::new(d_r, all),
            ChunkRows::new(d_att_parts, &chunks, all),
        );
        chunks.run(outputs, |range, (d_score, d_r, d_att)| {
            let outputs = (d_score.into_slice(), d_r.into_slice(), d_att.into_slice());
            backward_rows(view, range.start, alpha, upstream, outputs);
        });
        dense::add_column_sums(d_att, d_att_parts);
        let d_score = &*d_score;
        let d_l = sized(d_l, sources * all);
        let gradients = Gradients { alpha, d_out: upstream.d_out, d_score };
        source_chunks(&block).run(Rows::new(d_l, all), |range, d_l| {
            backward_source_rows(view, block, range.start, gradients, d_l.into_slice());
        });

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

    fn as_costs(&self) -> Option<&dyn Costs> {
        Some(self)
    }

    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        Some(&GatV2Pairs)
    }
}

impl Costs for GatV2 {
    fn cost(&self, sizes: LayerSizes) -> Cost {
        let LayerSizes { width, heads, sources, targets, edges } = sizes;
        let (row, all, nodes) = (width, heads * width, sources + targets);
        // Both projections, forward and for both gradients. Per edge and column: 4 operations for the score, 2 for the
        // value, 2 for d_alpha, 5 on the targets' side and 6 on the sources'.
        let operations = 6.0 * nodes * all * width + 19.0 * edges * all;
        // l and r are written once and read by three passes; their gradients are written once and read twice.
        let numbers =
            7.0 * nodes * all + 2.0 * nodes * row + 2.0 * sources * row + 2.0 * targets * row + 6.0 * all * width;
        Cost::new(operations, numbers + sizes.edge_numbers())
    }
}

/// projected = h W^T + b
pub(super) fn project<T: Real>(projected: &mut [T], h: &[T], weight: &[T], bias: &[T]) {
    let (all, width) = (bias.len(), weight.len() / bias.len());
    let rows = h.len() / width;
    dense::affine(projected, Matrix::new(h, rows, width), Matrix::new(weight, all, width).t(), bias);
}

/// What every pass over the edges reads.
#[derive(Clone, Copy)]
struct View<'a, T> {
    targets: Targets<'a, T>,
    heads: usize,
    width: usize,
    att: &'a [T],
    l: &'a [T],
    r: &'a [T],
}

impl<T> View<'_, T> {
    #[inline(always)]
    fn l(&self, source: usize) -> &[T] {
        let all = self.heads * self.width;
        &self.l[source * all..(source + 1) * all]
    }

    #[inline(always)]
    fn r(&self, target: usize) -> &[T] {
        let all = self.heads * self.width;
        &self.r[target * all..(target + 1) * all]
    }
}

impl<T: Real> View<'_, T> {
    /// The l of a target's in-neighbours, followed by those of the next targets'.
    #[inline(always)]
    fn neighbours(&self, target: usize) -> ListedRows<'_, T> {
        let list = self.targets.edges().neighbours_from(target);
        ListedRows { list, h: self.l, width: self.heads * self.width, ahead: Lookahead::over(self.l) }
    }

    /// sum_i alpha_ijk l_ik by head, of a target with all its in-edges.
    #[inline(always)]
    fn sums<S: Simd>(&self, simd: S, original: Original<'_, T>, target: usize, sums: &mut [T]) {
        let first = original.block.offsets()[target];
        sums.fill(T::ZERO);
        for (at, &i) in original.block.in_neighbours(target).iter().enumerate() {
            let alpha = &original.state.alpha[(first + at) * self.heads..(first + at + 1) * self.heads];
            let rows = sums.chunks_exact_mut(self.width).zip(self.l(i as usize).chunks_exact(self.width));
            for ((sum, l), &alpha) in rows.zip(alpha) {
                vector::add_scaled(simd, sum, alpha, l);
            }
        }
    }
}

/// What the pass over sources reads, by edge or by target.
#[derive(Clone, Copy)]
struct Gradients<'a, T> {
    alpha: &'a [T],
    d_out: &'a [T],
    d_score: &'a [T],
}

#[pulp::with_simd(forward_rows = T::machine())]
#[inline(always)]
fn forward_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    view: View<'a, T>,
    first: usize,
    bias: &'a [T],
    outputs: (&'a mut [T], &'a mut [T], &'a mut [T]),
) {
    let (alpha, out, sums) = outputs;
    let (heads, width) = (view.heads, view.width);
    let slope = T::from_f64(SCORE_SLOPE);
    let share = T::ONE / T::from_f64(heads as f64);
    let offsets = view.targets.offsets;
    let mut summed = usize::MAX;
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        let j = first + row;
        let alpha = &mut alpha[(offsets[j] - offsets[first]) * heads..(offsets[j + 1] - offsets[first]) * heads];
        let mut own = j;
        if let Some(original) = view.targets.original {
            own = original.rows[j] as usize;
            if let Some((source, lost)) = original.lost_edges().lost(j, heads) {
                // Deletions of one target follow each other and share its sums.
                if summed != own {
                    view.sums(simd, original, own, sums);
                    summed = own;
                }
                out.copy_from_slice(bias);
                let rows = sums.chunks_exact(width).zip(view.l(source as usize).chunks_exact(width));
                for ((sum, l), &lost) in rows.zip(lost) {
                    vector::add_without_share(simd, out, share, sum, lost, l);
                }
                continue;
            }
        }
        let r = view.r(own);
        let (neighbours, sources) = (view.targets.in_neighbours(j), view.neighbours(j));
        for (at, scores) in alpha.chunks_exact_mut(heads).enumerate() {
            sources.ask_ahead(at);
            let l = sources.row(at);
            for (k, score) in scores.iter_mut().enumerate() {
                let head = k * width..(k + 1) * width;
                *score = vector::leaky_dot(simd, &view.att[head.clone()], &l[head.clone()], &r[head], slope);
            }
        }
        softmax::attention(simd, alpha, heads);
        weighted_sums::<S, T, 1>(simd, out, Start::Row(bias), &Values { view, neighbours, alpha, share });
    }
}

/// All heads' values of a target's in-neighbours, weighted by attention.
struct Values<'a, T> {
    view: View<'a, T>,
    neighbours: &'a [u32],
    alpha: &'a [T],
    share: T,
}

impl<T: Real> WeightedRows<T, 1> for Values<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        for (&i, alpha) in self.neighbours.iter().zip(self.alpha.chunks_exact(self.view.heads)) {
            for (l, &alpha) in self.view.l(i as usize).chunks_exact(self.view.width).zip(alpha) {
                sums.add([self.share * alpha], l);
            }
        }
    }
}

/// Over targets: the gradients of the scores, of r and (one sum per chunk) of the attention vector.
#[pulp::with_simd(backward_rows = T::machine())]
#[inline(always)]
fn backward_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    view: View<'a, T>,
    first: usize,
    alpha: &'a [T],
    upstream: Upstream<'a, T>,
    outputs: (&'a mut [T], &'a mut [T], &'a mut [T]),
) {
    let (d_score, d_r, d_att) = outputs;
    let (heads, width) = (view.heads, view.width);
    let slope = T::from_f64(SCORE_SLOPE);
    let share = T::ONE / T::from_f64(heads as f64);
    let offsets = view.targets.offsets;
    d_att.fill(T::ZERO);
    for (row, d_r) in d_r.chunks_exact_mut(heads * width).enumerate() {
        let j = first + row;
        let d_score = &mut d_score[(offsets[j] - offsets[first]) * heads..(offsets[j + 1] - offsets[first]) * heads];
        let d_out = &upstream.d_out[j * width..(j + 1) * width];
        let (neighbours, sources) = (view.targets.in_neighbours(j), view.neighbours(j));
        for (at, d_alpha) in d_score.chunks_exact_mut(heads).enumerate() {
            sources.ask_ahead(at);
            dots_by_head(simd, sources.row(at), d_out, d_alpha);
            d_alpha.iter_mut().for_each(|d_alpha| *d_alpha *= share);
        }
        let values = offsets[j] * heads..offsets[j + 1] * heads;
        softmax::scores_backward(values, heads, alpha, upstream.d_attention, d_score);
        let parts = d_r.chunks_exact_mut(width).zip(d_att.chunks_exact_mut(width));
        for (head, (d_r, d_att)) in parts.enumerate() {
            let columns = head * width..(head + 1) * width;
            let (r, att) = (&view.r(j)[columns.clone()], &view.att[columns]);
            let l = HeadColumns { rows: view.l, heads, width, head };
            TargetSide { simd, l, r, att, slope, neighbours, d_score, d_r, d_att }.run();
        }
    }
}

/// Over sources: the gradient of l, as a value and as part of the scores.
#[pulp::with_simd(backward_source_rows = T::machine())]
#[inline(always)]
fn backward_source_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    view: View<'a, T>,
    block: Block<'a>,
    first: usize,
    gradients: Gradients<'a, T>,
    d_l: &'a mut [T],
) {
    let (heads, width) = (view.heads, view.width);
    let slope = T::from_f64(SCORE_SLOPE);
    let share = T::ONE / T::from_f64(heads as f64);
    let Gradients { alpha, d_out, d_score } = gradients;
    let ahead = Lookahead::over(view.r);
    for (row, d_l) in d_l.chunks_exact_mut(heads * width).enumerate() {
        let source = first + row;
        let (targets, _) = block.out_edges_from(source);
        for &later in targets.iter().skip(ahead.rows).take(block.out_degree(source)) {
            prefetch_row(view.r, later, heads * width);
            prefetch_row(d_out, later, width);
        }
        prefetch_edges(block, source, ahead, [d_score, alpha], heads);
        for (head, d_l) in d_l.chunks_exact_mut(width).enumerate() {
            let columns = head * width..(head + 1) * width;
            let (l, att) = (&view.l(source)[columns.clone()], &view.att[columns]);
            let r = HeadColumns { rows: view.r, heads, width, head };
            SourceSide { simd, l, r, att, slope, block, source, alpha, d_score, d_out, share, d_l }.run();
        }
    }
}
