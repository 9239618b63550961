//! Symmetric normalisation of weighted edges with a self-loop of weight 1 at every node.
//!
//! ```text
//! degree_j = 1 + sum over in-edges of w_ij        r = degree^(-1/2)
//! norm_ij  = r_i w_ij r_j                         own_j = r_j^2
//! ```
//!
//! Weights are learned, so the gradient flows through the degrees too:
//!
//! ```text
//! d_r_n      = sum over out-edges of d_norm_nj w_nj r_j + sum over in-edges of d_norm_in w_in r_i + 2 r_n d_own_n
//! d_degree_n = -1/2 r_n^3 d_r_n
//! d_w_ij     = d_norm_ij r_i r_j + d_degree_j
//! ```

use carat_graph::Block;

use crate::buffer::Buffer;
use crate::kernels::aggregate::{source_chunks, target_chunks};
use crate::real::Real;
use crate::rows::{EdgeRows, Rows};
use crate::toolkit::sized;

/// The results of a pass.
#[derive(Debug, Clone, Default)]
pub(super) struct Normalised<T> {
    /// r, by node.
    roots: Buffer<T>,
    /// norm, by edge.
    pub(super) edges: Buffer<T>,
    /// The weight of each node's own row.
    pub(super) own: Buffer<T>,
}

impl<T: Real> Normalised<T> {
    /// Fills all from the edges' weights.
    pub(super) fn fill(&mut self, block: Block<'_>, weights: &[T]) {
        let (nodes, offsets) = (block.num_targets(), block.offsets());
        let outputs = (Rows::new(sized(&mut self.roots, nodes), 1), Rows::new(sized(&mut self.own, nodes), 1));
        target_chunks(offsets).run(outputs, |range, (roots, own)| {
            for ((target, root), own) in range.zip(roots.into_slice()).zip(own.into_slice()) {
                let degree = T::ONE + weights[offsets[target]..offsets[target + 1]].iter().copied().sum::<T>();
                *own = T::ONE / degree;
                *root = own.sqrt();
            }
        });
        let roots = &self.roots;
        let edges = EdgeRows::new(sized(&mut self.edges, weights.len()), offsets, 1);
        target_chunks(offsets).run(edges, |range, edges| {
            let mut edges = edges.into_slice().iter_mut();
            for target in range {
                let weights = &weights[offsets[target]..offsets[target + 1]];
                for ((&source, weight), edge) in block.in_neighbours(target).iter().zip(weights).zip(&mut edges) {
                    *edge = roots[source as usize] * *weight * roots[target];
                }
            }
        });
    }

    /// From the gradients of the normalised weights, by edge and by node, to that of the weights.
    pub(super) fn backward(&self, block: Block<'_>, weights: &[T], d_edges: &[T], d_own: &[T], d_weights: &mut [T]) {
        let (roots, offsets, sources) = (&self.roots, block.offsets(), block.sources());
        let mut d_degrees = vec![T::ZERO; block.num_targets()];
        source_chunks(&block).run(Rows::new(&mut d_degrees, 1), |range, d_degrees| {
            for (node, d_degree) in range.zip(d_degrees.into_slice()) {
                let of_edge = |edge: usize, other: usize| d_edges[edge] * weights[edge] * roots[other];
                let from: T = block.out_edges(node).map(|(target, edge)| of_edge(edge, target)).sum();
                let to: T = (offsets[node]..offsets[node + 1]).map(|edge| of_edge(edge, sources[edge] as usize)).sum();
                let root = roots[node];
                let d_root = from + to + (root + root) * d_own[node];
                *d_degree = T::from_f64(-0.5) * root * root * root * d_root;
            }
        });
        target_chunks(offsets).run(EdgeRows::new(d_weights, offsets, 1), |range, d_weights| {
            let mut d_weights = d_weights.into_slice().iter_mut();
            for target in range {
                for (edge, d_weight) in (offsets[target]..offsets[target + 1]).zip(&mut d_weights) {
                    *d_weight = d_edges[edge] * roots[sources[edge] as usize] * roots[target] + d_degrees[target];
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, blocks, noise, weighted};

    #[test]
    fn weights_and_their_gradients_equal_the_definition() {
        let blocks = blocks();
        let block = blocks.layer(0);
        let weights: Vec<f64> = noise(block.num_edges(), 1).iter().map(|weight| weight.abs()).collect();
        let (of_edges, of_own) = (noise(block.num_edges(), 2), noise(7, 3));
        let mut found = Normalised::default();
        found.fill(block, &weights);
        let degree = |node: usize| 1.0 + weights[block.offsets()[node]..block.offsets()[node + 1]].iter().sum::<f64>();
        for j in 0..7 {
            assert!((found.own[j] - 1.0 / degree(j)).abs() < 1e-12);
            for (e, weight) in (block.offsets()[j]..block.offsets()[j + 1]).map(|e| (e, weights[e])) {
                let i = block.sources()[e] as usize;
                assert!((found.edges[e] - weight / (degree(i) * degree(j)).sqrt()).abs() < 1e-12);
            }
        }
        let mut gradient = vec![f64::NAN; weights.len()];
        found.backward(block, &weights, &of_edges, &of_own, &mut gradient);
        assert_gradient("weights", &weights, &gradient, |weights| {
            found.fill(block, weights);
            weighted(&found.edges, &of_edges) + weighted(&found.own, &of_own)
        });
    }
}
