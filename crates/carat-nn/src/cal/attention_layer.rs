//! One attention layer: ReLU(GAT(BN(x))), where GAT is PyG's `GATConv(F, F/K, heads=K)`.
//!
//! ```text
//! v = BN(x) W^T        alpha_ijk = softmax_i(LeakyReLU_0.2(a_src_k . v_ik + a_dst_k . v_jk))
//! out_jk = ReLU(sum_i alpha_ijk v_ik + bias_k)
//! ```
//!
//! As in `GATConv` by default, every node attends to itself too: a self-loop of the data is replaced, and any other
//! node gets one.

use std::ops::Range;

use carat_graph::Block;

use crate::buffer::Buffer;
use crate::kernels::concatenated::{self, Saved, ScoreGradients, Shape};
use crate::layers::SCORE_SLOPE;
use crate::modules::{Backward, BatchNorm, Forward, Layouts, Linear, RELU, Statistics};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::toolkit::{cut, sized};

/// Normalisation and attention.
#[derive(Debug, Clone)]
pub(super) struct AttentionLayer {
    norm: BatchNorm,
    /// a_src and a_dst, one after another.
    vectors: Range<usize>,
    linear: Linear,
    heads: usize,
    hidden: usize,
}

/// The results of a pass.
#[derive(Debug, Clone, Default)]
pub(super) struct AttentionState<T> {
    statistics: Statistics<T>,
    normed: Buffer<T>,
    values: Buffer<T>,
    scores: [Buffer<T>; 2],
    alpha: Buffer<T>,
    pub(super) out: Buffer<T>,
}

impl AttentionLayer {
    pub(super) fn new(layouts: &mut Layouts, number: usize, hidden: usize, heads: usize) -> Self {
        let norm = BatchNorm::new(layouts, &format!("bns_conv.{number}"), hidden);
        let start = layouts.parameters.len();
        for name in ["att_src", "att_dst"] {
            let name = format!("convs.{number}.{name}");
            layouts.parameters.push(Parameter::new(name, &[1, heads, hidden / heads], Init::Glorot));
        }
        let vectors = start..layouts.parameters.len();
        let linear = Linear::convolution(&mut layouts.parameters, &format!("convs.{number}"), hidden, hidden);
        Self { norm, vectors, linear, heads, hidden }
    }

    /// Fills `state.out` from `x`. The block has exactly one self-loop at every node.
    pub(super) fn forward<T: Real>(
        &self,
        pass: &mut Forward<'_, T>,
        block: Block<'_>,
        x: &[T],
        state: &mut AttentionState<T>,
    ) {
        let AttentionState { statistics, normed, values, scores, alpha, out } = state;
        let nodes = block.num_targets();
        self.norm.forward(pass, x, statistics, sized(normed, x.len()));
        self.linear.product(pass.parameters, normed, sized(values, x.len()));
        for (scores, vector) in scores.iter_mut().zip(self.vectors(pass.parameters)) {
            concatenated::node_scores(sized(scores, nodes * self.heads), values, vector, self.heads);
        }
        let (alpha, out) = (sized(alpha, block.num_edges() * self.heads), sized(out, x.len()));
        let bias = &pass.parameters[self.linear.bias.clone()];
        concatenated::forward(self.shape(block, values, scores), bias, alpha, out);
        RELU.forward(out);
    }

    /// Turns the gradient of the output into that of `x`, in place, and writes those of the parameters.
    pub(super) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        block: Block<'_>,
        x: &[T],
        state: &AttentionState<T>,
        gradient: &mut [T],
        scratch: &mut Buffer<T>,
    ) {
        self.linear.bias_relu_backward(pass, &state.out, gradient);
        let shape = self.shape(block, &state.values, &state.scores);
        let saved = Saved { alpha: &state.alpha, d_out: gradient };
        let mut d_score = vec![T::ZERO; state.alpha.len()];
        let mut d_target = vec![T::ZERO; block.num_targets() * self.heads];
        concatenated::backward_targets(shape, saved, &mut d_score, &mut d_target);
        let a = self.vectors(pass.parameters);
        let gradients = ScoreGradients { d_score: &d_score, d_target: &d_target, a };
        let d_values = sized(scratch, x.len());
        let d_vectors = &mut pass.gradient[self.vectors.clone()];
        concatenated::backward_sources(shape, saved, gradients, d_values, d_vectors);
        self.linear.product_backward(pass, &state.normed, d_values, gradient);
        self.norm.backward(pass, x, &state.statistics, gradient);
    }

    fn vectors<'a, T>(&self, parameters: &'a [T]) -> [&'a [T]; 2] {
        cut(&parameters[self.vectors.clone()], [self.hidden; 2])
    }

    fn shape<'a, T: Real>(&self, block: Block<'a>, values: &'a [T], scores: &'a [Buffer<T>; 2]) -> Shape<'a, T> {
        let [source_scores, target_scores] = scores;
        let slope = T::from_f64(SCORE_SLOPE);
        Shape { block, heads: self.heads, width: self.hidden, values, source_scores, target_scores, slope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, blocks, noise, values, weighted};

    #[test]
    fn gradients_are_the_derivatives_for_any_number_of_heads() {
        let looped = blocks().with_self_loops();
        let (block, hidden) = (looped.layer(0), 4);
        for heads in [1, 2, 4] {
            let mut layouts = Layouts::default();
            let layer = AttentionLayer::new(&mut layouts, 0, hidden, heads);
            let (parameters, mut buffers) = values(&layouts);
            let (x, weights) = (noise(7 * hidden, 2), noise(7 * hidden, 3));
            let mut state = AttentionState::default();
            let mut loss = |parameters: &[f64], x: &[f64]| {
                let mut pass = Forward { parameters, buffers: &mut buffers, training: true };
                layer.forward(&mut pass, block, x, &mut state);
                (weighted(&state.out, &weights), state.clone())
            };
            let (_, saved) = loss(&parameters, &x);
            // The isolated node attends only to itself.
            let edge = block.offsets()[6] * heads;
            assert_eq!(saved.alpha[edge..], vec![1.0; heads]);
            let (mut d_parameters, mut d_x) = (vec![f64::NAN; parameters.len()], weights.clone());
            let mut pass = Backward { parameters: &parameters, gradient: &mut d_parameters };
            layer.backward(&mut pass, block, &x, &saved, &mut d_x, &mut Buffer::default());
            let what = format!("{heads} heads");
            assert_gradient(&what, &parameters, &d_parameters, |parameters| loss(parameters, &x).0);
            assert_gradient(&what, &x, &d_x, |x| loss(&parameters, x).0);
        }
    }
}
