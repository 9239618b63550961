//! What attention is pulled towards in one step, and L_c with its gradient: the mean over layers of a loss on head-mean
//! attention. Targets are constants: no gradient flows through them.

use std::ops::Range;

use carat_graph::Block;
use carat_nn::{Deletion, LayerAttention, Pass, Real};
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
    /// True where attention is pulled towards nothing.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty() && self.nodes.is_empty()
    }

    /// By edge: its effect, if it has one, or its share of a distribution.
    pub fn effects(&self) -> Vec<(Deletion, f64)> {
        let edges = self.edges.iter().map(|edge| (edge.deletion, edge.c));
        let nodes = self.nodes.iter().flat_map(|node| {
            let deletion = |at: usize| Deletion { target: node.target, edge: node.first_edge + at as u32 };
            node.q.iter().enumerate().map(move |(at, q)| (deletion(at), *q))
        });
        edges.chain(nodes).collect()
    }

    /// The part of L_c that comes from one layer's attention, before the mean over layers.
    pub fn loss_of_layer<T: Real>(&self, pass: &dyn Pass<T>, layer: usize) -> f64 {
        let (block, heads) = (pass.blocks().layer(pass.config().layers - 1), pass.config().heads);
        self.layer_loss(block, heads, 0.0, pass.attention(layer), &mut vec![T::ZERO; block.num_edges() * heads])
    }

    /// L_c of the attention of a forward pass; leaves its gradient, each layer's times its lambda, in the pass.
    pub fn pull<T: Real>(&self, pass: &mut dyn Pass<T>, lambda: &[f64]) -> f64 {
        let (layers, heads) = (pass.config().layers, pass.config().heads);
        let losses: Vec<f64> = pass
            .attention_and_gradients()
            .into_par_iter()
            .zip(lambda)
            .map(|(LayerAttention { block, alpha, gradient }, lambda)| {
                gradient.clear();
                gradient.resize(block.num_edges() * heads, T::ZERO);
                self.layer_loss(block, heads, lambda / layers as f64, alpha, gradient)
            })
            .collect();
        losses.iter().sum::<f64>() / layers as f64
    }

    fn layer_loss<T: Real>(&self, block: Block<'_>, heads: usize, weight: f64, alpha: &[T], gradient: &mut [T]) -> f64 {
        let layer = Layer { block, heads };
        let of_edge = |EdgeTarget { deletion, c, share }: &EdgeTarget, alpha: &[T], gradient: &mut [T]| {
            let at = deletion.edge as usize - block.offsets()[deletion.target as usize];
            share * bce(alpha, heads, at, *c, weight * share, gradient)
        };
        let of_node = |NodeTarget { q, share, .. }: &NodeTarget, alpha: &[T], gradient: &mut [T]| {
            share * kl(alpha, heads, q, weight * share, gradient)
        };
        layer.total(&self.edges, |edge| edge.deletion.target, alpha, gradient, of_edge)
            + layer.total(&self.nodes, |node| node.target, alpha, gradient, of_node)
    }
}

/// Targets of attention per chunk, at least.
const CHUNK: usize = 128;

/// A layer's edges, each with so many values.
#[derive(Clone, Copy)]
struct Layer<'a> {
    block: Block<'a>,
    heads: usize,
}

impl Layer<'_> {
    /// The values of a target's in-edges.
    fn values(&self, target: u32) -> Range<usize> {
        let offsets = &self.block.offsets()[target as usize..];
        offsets[0] * self.heads..offsets[1] * self.heads
    }

    /// The sum of losses on the attention of some targets, in the order of nodes. Each loss reads the attention of its
    /// node's in-edges and adds to their gradients.
    fn total<T: Real, E: Sync>(
        self,
        targets: &[E],
        node: impl Fn(&E) -> u32 + Sync,
        alpha: &[T],
        gradient: &mut [T],
        loss: impl Fn(&E, &[T], &mut [T]) -> f64 + Sync,
    ) -> f64 {
        // Each thread writes the gradients of other nodes.
        let mut parts = Vec::new();
        let (mut targets, mut gradient, mut start) = (targets, gradient, 0);
        while !targets.is_empty() {
            let mut taken = CHUNK.min(targets.len());
            let last = node(&targets[taken - 1]);
            taken += targets[taken..].iter().take_while(|target| node(target) == last).count();
            let end = self.values(last).end;
            let (part, gradients);
            (part, targets) = targets.split_at(taken);
            (gradients, gradient) = gradient.split_at_mut(end - start);
            parts.push((part, gradients, start));
            start = end;
        }
        let losses = parts.into_par_iter().map(|(part, gradients, start)| {
            let of_one = |target: &E| {
                let values = self.values(node(target));
                loss(target, &alpha[values.clone()], &mut gradients[values.start - start..values.end - start])
            };
            part.iter().map(of_one).sum::<f64>()
        });
        losses.collect::<Vec<f64>>().iter().sum()
    }
}
