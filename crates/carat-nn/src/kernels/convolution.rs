//! Sums over in-edges where every edge, and every node itself, has one weight:
//!
//! ```text
//! out_j = own_j h_j + sum over in-edges (i, j) of w_ij h_i
//! ```
//!
//! and its gradients. In a graph convolution degrees decide the weights. Where weights are learned, they have gradients
//! too.

use carat_graph::Block;
use pulp::Simd;

use super::aggregate::{source_chunks, target_chunks};
use super::vector;
use super::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use crate::real::Real;
use crate::rows::{EdgeRows, Rows};

/// The weights of a block's edges and of its targets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights<'a, T> {
    /// w, by position of the edge in the block.
    pub(crate) edges: &'a [T],
    /// The weight of each target's own row.
    pub(crate) own: &'a [T],
}

/// Fills `out` (targets x width) from `h` (sources x width).
pub(crate) fn forward<T: Real>(block: Block<'_>, weights: Weights<'_, T>, h: &[T], width: usize, out: &mut [T]) {
    target_chunks(block.offsets()).run(Rows::new(out, width), |range, out| {
        forward_rows(block, weights, h, range.start, width, out.into_slice());
    });
}

/// From the gradient of `out` to that of `h`, which is overwritten: d_h_i = own_i d_i + sum over out-edges w_ij d_j.
pub(crate) fn backward<T: Real>(block: Block<'_>, weights: Weights<'_, T>, d_out: &[T], width: usize, d_h: &mut [T]) {
    source_chunks(&block).run(Rows::new(d_h, width), |range, d_h| {
        backward_rows(block, weights, d_out, range.start, width, d_h.into_slice());
    });
}

/// From the gradient of `out` to those of the weights: d_w_ij = d_j . h_i, d_own_j = d_j . h_j.
pub(crate) fn backward_weights<T: Real>(
    block: Block<'_>,
    h: &[T],
    d_out: &[T],
    width: usize,
    d_edges: &mut [T],
    d_own: &mut [T],
) {
    let offsets = block.offsets();
    let outputs = (EdgeRows::new(d_edges, offsets, 1), Rows::new(d_own, 1));
    target_chunks(offsets).run(outputs, |range, (d_edges, d_own)| {
        weight_rows(block, h, d_out, range.start, width, d_edges.into_slice(), d_own.into_slice());
    });
}

/// A target's own row and those of its in-neighbours.
struct InRows<'a, T> {
    block: Block<'a>,
    weights: Weights<'a, T>,
    h: &'a [T],
    width: usize,
    target: usize,
}

impl<T: Real> WeightedRows<T, 1> for InRows<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        let Self { block, weights, h, width, target } = *self;
        sums.add([weights.own[target]], &h[target * width..(target + 1) * width]);
        let first = block.offsets()[target];
        for (at, &i) in block.in_neighbours(target).iter().enumerate() {
            sums.add([weights.edges[first + at]], &h[i as usize * width..(i as usize + 1) * width]);
        }
    }
}

/// A source's own row, where it is a target too, and those of its out-neighbours.
struct OutRows<'a, T> {
    block: Block<'a>,
    weights: Weights<'a, T>,
    d_out: &'a [T],
    width: usize,
    source: usize,
}

impl<T: Real> WeightedRows<T, 1> for OutRows<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        let Self { block, weights, d_out, width, source } = *self;
        if source < block.num_targets() {
            sums.add([weights.own[source]], &d_out[source * width..(source + 1) * width]);
        }
        for (j, edge) in block.out_edges(source) {
            sums.add([weights.edges[edge]], &d_out[j * width..(j + 1) * width]);
        }
    }
}

#[pulp::with_simd(forward_rows = T::machine())]
#[inline(always)]
fn forward_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    block: Block<'a>,
    weights: Weights<'a, T>,
    h: &'a [T],
    first: usize,
    width: usize,
    out: &'a mut [T],
) {
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        weighted_sums(simd, out, Start::Zero, &InRows { block, weights, h, width, target: first + row });
    }
}

#[pulp::with_simd(backward_rows = T::machine())]
#[inline(always)]
fn backward_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    block: Block<'a>,
    weights: Weights<'a, T>,
    d_out: &'a [T],
    first: usize,
    width: usize,
    d_h: &'a mut [T],
) {
    for (row, d_h) in d_h.chunks_exact_mut(width).enumerate() {
        weighted_sums(simd, d_h, Start::Zero, &OutRows { block, weights, d_out, width, source: first + row });
    }
}

#[pulp::with_simd(weight_rows = T::machine())]
#[inline(always)]
#[allow(clippy::too_many_arguments)] // One call from one place; a struct would only rename them.
fn weight_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    block: Block<'a>,
    h: &'a [T],
    d_out: &'a [T],
    first: usize,
    width: usize,
    d_edges: &'a mut [T],
    d_own: &'a mut [T],
) {
    let mut d_edges = d_edges.iter_mut();
    for (row, d_own) in d_own.iter_mut().enumerate() {
        let target = first + row;
        let d_row = &d_out[target * width..(target + 1) * width];
        *d_own = vector::dot(simd, &h[target * width..(target + 1) * width], d_row);
        for (&i, d_edge) in block.in_neighbours(target).iter().zip(&mut d_edges) {
            *d_edge = vector::dot(simd, &h[i as usize * width..(i as usize + 1) * width], d_row);
        }
    }
}

#[cfg(test)]
mod tests {
    use carat_graph::{Blocks, Graph};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The pass is linear in rows and in weights, so one dense product proves it and both of its gradients.
        #[test]
        fn sums_and_gradients_equal_the_definition(
            edges in proptest::collection::vec((0u32..9, 0u32..9), 0..40),
            width in 1usize..20,
            seed in 0u64..1000,
        ) {
            let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
            let graph = Graph::from_edges(9, &src, &dst).unwrap();
            let blocks = Blocks::whole(&graph, 1);
            let block = blocks.layer(0);
            let value = |at: usize, salt: f64| ((at as f64 + seed as f64) * salt).sin();
            let w: Vec<f64> = (0..block.num_edges()).map(|e| value(e, 0.7)).collect();
            let own: Vec<f64> = (0..9).map(|j| value(j, 1.3)).collect();
            let h: Vec<f64> = (0..9 * width).map(|at| value(at, 2.1)).collect();
            let d_out: Vec<f64> = (0..9 * width).map(|at| value(at, 3.7)).collect();
            let weights = Weights { edges: &w, own: &own };

            let (mut out, mut d_h) = (vec![0.0; 9 * width], vec![f64::NAN; 9 * width]);
            let (mut d_w, mut d_own) = (vec![0.0; w.len()], vec![0.0; 9]);
            forward(block, weights, &h, width, &mut out);
            backward(block, weights, &d_out, width, &mut d_h);
            backward_weights(block, &h, &d_out, width, &mut d_w, &mut d_own);

            let (mut expected, mut expected_d_h) = (vec![0.0; 9 * width], vec![0.0; 9 * width]);
            for j in 0..9 {
                let dot = |i: usize| (0..width).map(|c| h[i * width + c] * d_out[j * width + c]).sum::<f64>();
                prop_assert!((d_own[j] - dot(j)).abs() < 1e-12);
                let in_edges = block.offsets()[j]..block.offsets()[j + 1];
                let in_edges = in_edges.map(|e| (block.sources()[e] as usize, w[e], Some(e)));
                for (i, weight, edge) in in_edges.chain([(j, own[j], None)]) {
                    for c in 0..width {
                        expected[j * width + c] += weight * h[i * width + c];
                        expected_d_h[i * width + c] += weight * d_out[j * width + c];
                    }
                    if let Some(edge) = edge {
                        prop_assert!((d_w[edge] - dot(i)).abs() < 1e-12);
                    }
                }
            }
            for (found, expected) in out.iter().chain(&d_h).zip(expected.iter().chain(&expected_d_h)) {
                prop_assert!((found - expected).abs() < 1e-12);
            }
        }
    }
}
