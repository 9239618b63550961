//! What attention is pulled towards in one step, and L_c with its gradient: the mean over layers of a loss on head-mean
//! attention. Once made, targets are constants: no gradient flows through them.

use std::ops::Range;

use carat_graph::{Block, Blocks};
use carat_nn::{Deletion, Real, Workspace};
use rayon::prelude::*;

use super::attention_loss::{bce, kl};

/// An edge, the effect its attention is pulled towards, and its share of the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EdgeTarget {
    pub(crate) deletion: Deletion,
    pub(crate) c: f64,
    pub(crate) share: f64,
}

/// A target, the distribution over its in-edges that attention is pulled towards, and its share of the mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeTarget {
    pub(crate) target: u32,
    pub(crate) first_edge: u32,
    pub(crate) q: Vec<f64>,
    pub(crate) share: f64,
}

/// Targets of attention in one step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AttentionTargets {
    pub(crate) edges: Vec<EdgeTarget>,
    pub(crate) nodes: Vec<NodeTarget>,
}

impl AttentionTargets {
    /// The effect of every edge that has one, or its share of a distribution, in the order of edges.
    pub fn effects(&self) -> Vec<(Deletion, f64)> {
        let edges = self.edges.iter().map(|edge| (edge.deletion, edge.c));
        let nodes = self.nodes.iter().flat_map(|node| {
            let deletion = |at: usize| Deletion { target: node.target, edge: node.first_edge + at as u32 };
            node.q.iter().enumerate().map(move |(at, q)| (deletion(at), *q))
        });
        edges.chain(nodes).collect()
    }

    /// The part of L_c that one layer's attention has, before the mean over layers.
    pub fn loss_of_layer<T: Real>(&self, blocks: &Blocks, heads: usize, layer: usize, work: &Workspace<T>) -> f64 {
        let block = blocks.layer(blocks.num_layers() - 1);
        self.layer_loss(block, heads, 0.0, work.attention(layer), &mut vec![T::ZERO; block.num_edges() * heads])
    }

    /// L_c of the attention that a forward pass over `blocks` left in `work`; its gradient, each layer's times its lambda, is
    /// left there for the backward pass.
    pub fn pull<T: Real>(&self, blocks: &Blocks, heads: usize, lambda: &[f64], work: &mut Workspace<T>) -> f64 {
        let layers = blocks.num_layers();
        let block = blocks.layer(layers - 1);
        let mut gradients: Vec<Vec<T>> = (0..layers).map(|l| std::mem::take(work.attention_gradient(l))).collect();
        let attention = &*work;
        let losses: Vec<f64> = gradients
            .par_iter_mut()
            .zip(lambda)
            .enumerate()
            .map(|(l, (gradient, lambda))| {
                gradient.clear();
                gradient.resize(block.num_edges() * heads, T::ZERO);
                self.layer_loss(block, heads, lambda / layers as f64, attention.attention(l), gradient)
            })
            .collect();
        for (l, gradient) in gradients.into_iter().enumerate() {
            *work.attention_gradient(l) = gradient;
        }
        losses.iter().sum::<f64>() / layers as f64
    }

    fn layer_loss<T: Real>(&self, block: Block<'_>, heads: usize, weight: f64, alpha: &[T], gradient: &mut [T]) -> f64 {
        let row = |target: u32| block.offsets()[target as usize]..block.offsets()[target as usize + 1];
        let values = |edges: Range<usize>| edges.start * heads..edges.end * heads;
        let mut total = 0.0;
        for EdgeTarget { deletion, c, share } in &self.edges {
            let edges = row(deletion.target);
            let at = deletion.edge as usize - edges.start;
            let values = values(edges);
            total += share * bce(&alpha[values.clone()], heads, at, *c, weight * share, &mut gradient[values]);
        }
        for NodeTarget { target, q, share, .. } in &self.nodes {
            let values = values(row(*target));
            total += share * kl(&alpha[values.clone()], heads, q, weight * share, &mut gradient[values]);
        }
        total
    }
}
