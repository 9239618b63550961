//! One of the two branches: nodes scaled by their share, normalised, and convolved along edges weighted by theirs.
//!
//! ```text
//! out = ReLU(A (BN(share x) W^T) + bias)        A: the edges' shares, symmetrically normalised with self-loops
//! ```

use carat_graph::Block;
use pulp::Simd;

use super::normalisation::Normalised;
use crate::buffer::Buffer;
use crate::kernels::convolution::{self, Weights};
use crate::kernels::vector;
use crate::modules::{Backward, BatchNorm, Forward, Layouts, Linear, Statistics};
use crate::real::Real;
use crate::rows::{Chunks, Rows};
use crate::toolkit::sized;

/// Rows per chunk.
const CHUNK_ROWS: usize = 128;

/// Normalisation and convolution.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    norm: BatchNorm,
    linear: Linear,
    hidden: usize,
}

/// The results of a pass.
#[derive(Debug, Clone, Default)]
pub(super) struct BranchState<T> {
    scaled: Buffer<T>,
    statistics: Statistics<T>,
    normed: Buffer<T>,
    values: Buffer<T>,
    normalised: Normalised<T>,
    pub(super) out: Buffer<T>,
}

/// The input of a branch: all nodes, and the shares of nodes and edges in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchInput<'a, T> {
    pub(super) block: Block<'a>,
    pub(super) x: &'a [T],
    pub(super) nodes: &'a [T],
    pub(super) edges: &'a [T],
}

/// Where the gradients of a branch's input go.
#[derive(Debug)]
pub(super) struct BranchGradients<'a, T> {
    /// Added to.
    pub(super) x: &'a mut [T],
    /// Overwritten.
    pub(super) nodes: &'a mut Buffer<T>,
    /// Overwritten.
    pub(super) edges: &'a mut Buffer<T>,
}

impl Branch {
    pub(super) fn new(layouts: &mut Layouts, norm: &str, convolution: &str, hidden: usize) -> Self {
        let norm = BatchNorm::new(layouts, norm, hidden);
        Self { norm, linear: Linear::convolution(&mut layouts.parameters, convolution, hidden, hidden), hidden }
    }

    /// Fills `state.out`.
    pub(super) fn forward<T: Real>(
        &self,
        pass: &mut Forward<'_, T>,
        input: BranchInput<'_, T>,
        state: &mut BranchState<T>,
    ) {
        let BranchInput { block, x, nodes, edges } = input;
        let BranchState { scaled, statistics, normed, values, normalised, out } = state;
        let width = self.hidden;
        Chunks::even(nodes.len(), CHUNK_ROWS).run(Rows::new(sized(scaled, x.len()), width), |range, scaled| {
            let x = &x[range.start * width..range.end * width];
            scale_rows(x, &nodes[range], scaled.into_slice());
        });
        self.norm.forward(pass, scaled, statistics, sized(normed, x.len()));
        self.linear.product(pass.parameters, normed, sized(values, x.len()));
        normalised.fill(block, edges);
        let out = sized(out, x.len());
        let weights = Weights { edges: &normalised.edges, own: &normalised.own };
        convolution::forward(block, weights, values, width, out);
        let bias = &pass.parameters[self.linear.bias.clone()];
        Chunks::even(nodes.len(), CHUNK_ROWS)
            .run(Rows::new(out, width), |_, out| add_bias_relu(out.into_slice(), bias));
    }

    /// From the gradient of the output (overwritten) to those of the parameters and of the input.
    pub(super) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        input: BranchInput<'_, T>,
        state: &BranchState<T>,
        gradient: &mut [T],
        gradients: BranchGradients<'_, T>,
        scratch: &mut Buffer<T>,
    ) {
        let BranchInput { block, x, nodes, edges } = input;
        let width = self.hidden;
        self.linear.bias_relu_backward(pass, &state.out, gradient);
        let weights = Weights { edges: &state.normalised.edges, own: &state.normalised.own };
        let (mut d_edges, mut d_own) = (vec![T::ZERO; edges.len()], vec![T::ZERO; nodes.len()]);
        convolution::backward_weights(block, &state.values, gradient, width, &mut d_edges, &mut d_own);
        state.normalised.backward(block, edges, &d_edges, &d_own, sized(gradients.edges, edges.len()));
        let d_values = sized(scratch, x.len());
        convolution::backward(block, weights, gradient, width, d_values);
        self.linear.product_backward(pass, &state.normed, d_values, gradient);
        self.norm.backward(pass, &state.scaled, &state.statistics, gradient);
        let outputs = (Rows::new(gradients.x, width), Rows::new(sized(gradients.nodes, nodes.len()), 1));
        let d_scaled = &*gradient;
        Chunks::even(nodes.len(), CHUNK_ROWS).run(outputs, |range, (d_x, d_nodes)| {
            let rows = range.start * width..range.end * width;
            let (d_x, d_nodes) = (d_x.into_slice(), d_nodes.into_slice());
            scale_rows_backward(&x[rows.clone()], &nodes[range], &d_scaled[rows], d_x, d_nodes);
        });
    }
}

#[pulp::with_simd(scale_rows = T::machine())]
#[inline(always)]
fn scale_rows_simd<'a, S: Simd, T: Real>(simd: S, x: &'a [T], shares: &'a [T], out: &'a mut [T]) {
    let _ = simd;
    let width = x.len() / shares.len().max(1);
    for ((x, out), share) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(shares) {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = *share * *x);
    }
}

/// d_x += share d_scaled and d_share = x . d_scaled
#[pulp::with_simd(scale_rows_backward = T::machine())]
#[inline(always)]
fn scale_rows_backward_simd<'a, S: Simd, T: Real>(
    simd: S,
    x: &'a [T],
    shares: &'a [T],
    d_scaled: &'a [T],
    d_x: &'a mut [T],
    d_shares: &'a mut [T],
) {
    let width = x.len() / shares.len().max(1);
    let rows = x.chunks_exact(width).zip(d_scaled.chunks_exact(width)).zip(d_x.chunks_exact_mut(width));
    for (((x, d_scaled), d_x), (share, d_share)) in rows.zip(shares.iter().zip(d_shares)) {
        vector::add_scaled(simd, d_x, *share, d_scaled);
        *d_share = vector::dot(simd, x, d_scaled);
    }
}

#[pulp::with_simd(add_bias_relu = T::machine())]
#[inline(always)]
fn add_bias_relu_simd<'a, S: Simd, T: Real>(simd: S, rows: &'a mut [T], bias: &'a [T]) {
    let _ = simd;
    for row in rows.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(value, bias)| *value = vector::leaky_relu(*value + *bias, T::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, blocks, noise, values, weighted};

    #[test]
    fn gradients_are_the_derivatives() {
        let (blocks, hidden) = (blocks(), 4);
        let block = blocks.layer(0);
        let mut layouts = Layouts::default();
        let branch = Branch::new(&mut layouts, "bn", "convolution", hidden);
        let (parameters, mut buffers) = values(&layouts);
        let shares = |len: usize, seed: u64| noise(len, seed).iter().map(|x| x.abs()).collect::<Vec<f64>>();
        let (x, nodes, edges) = (noise(7 * hidden, 2), shares(7, 3), shares(block.num_edges(), 4));
        let weights = noise(7 * hidden, 5);
        let mut state = BranchState::default();
        let mut loss = |parameters: &[f64], x: &[f64], nodes: &[f64], edges: &[f64]| {
            let mut pass = Forward { parameters, buffers: &mut buffers, training: true };
            branch.forward(&mut pass, BranchInput { block, x, nodes, edges }, &mut state);
            (weighted(&state.out, &weights), state.clone())
        };
        let (_, saved) = loss(&parameters, &x, &nodes, &edges);
        assert!(saved.out.contains(&0.0) && saved.out.iter().any(|out| *out > 0.0));
        let mut d_parameters = vec![f64::NAN; parameters.len()];
        let (mut d_x, mut d_nodes, mut d_edges) = (vec![1.0; x.len()], Buffer::default(), Buffer::default());
        let gradients = BranchGradients { x: &mut d_x, nodes: &mut d_nodes, edges: &mut d_edges };
        let mut pass = Backward { parameters: &parameters, gradient: &mut d_parameters };
        let input = BranchInput { block, x: &x, nodes: &nodes, edges: &edges };
        branch.backward(&mut pass, input, &saved, &mut weights.clone(), gradients, &mut Buffer::default());
        // What reaches x is added to what is there.
        d_x.iter_mut().for_each(|d_x| *d_x -= 1.0);
        assert_gradient("parameters", &parameters, &d_parameters, |p| loss(p, &x, &nodes, &edges).0);
        assert_gradient("x", &x, &d_x, |x| loss(&parameters, x, &nodes, &edges).0);
        assert_gradient("nodes", &nodes, &d_nodes, |nodes| loss(&parameters, &x, nodes, &edges).0);
        assert_gradient("edges", &edges, &d_edges, |edges| loss(&parameters, &x, &nodes, edges).0);
    }
}
