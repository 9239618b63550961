//! The nodes that a layer computes.

use carat_graph::Block;

use super::state::TargetState;
use crate::kernels::in_edges::{Before, InEdges};

/// Nodes to compute: each with its in-edges and an input of its own.
///
/// In training they are the layer's targets. To measure what deleting an edge does, they are the same nodes once more,
/// with one in-edge fewer or with a changed input. A kind need not know which.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a, T> {
    /// Row offsets: the in-edges of target j stand at `offsets[j]..offsets[j + 1]`.
    pub offsets: &'a [usize],
    /// Source of every edge: a row of [`Layer::h`](crate::Layer::h).
    pub sources: &'a [u32],
    /// The targets' own inputs, one row of F each.
    pub h: &'a [T],
    /// In place of `h`, its products with the vectors of [`Products::own_vectors`](crate::Products::own_vectors). Only
    /// kinds that implement that are given it.
    pub products: Option<&'a [T]>,
    /// Where each target is one that was computed before, less one in-edge: what that came to. A kind may work from
    /// there instead of computing the target anew, and need not fill the state's attention then.
    pub known: Option<Known<'a, T>>,
}

/// Targets that were computed before, when they had one in-edge more.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a, T> {
    /// What they came to.
    pub state: &'a TargetState<T>,
    /// The block whose targets they are.
    pub block: Block<'a>,
    /// For each target of now, its number then.
    pub rows: &'a [u32],
    /// The in-edge that it has lost since.
    pub lost: &'a [u32],
}

impl<'a, T> Known<'a, T> {
    /// The same, as kernels know it.
    pub(crate) fn before(&self) -> Before<'a, T> {
        Before { block: self.block, alpha: &self.state.alpha, rows: self.rows, lost: self.lost }
    }
}

impl<'a, T> Targets<'a, T> {
    /// Number of targets.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of in-edges of all targets.
    pub fn num_edges(&self) -> usize {
        self.sources.len()
    }

    /// Sources of target j's in-edges.
    #[inline]
    pub fn in_neighbours(&self, target: usize) -> &'a [u32] {
        self.edges().in_neighbours(target)
    }

    /// The in-edges alone, for kernels.
    pub(crate) fn edges(&self) -> InEdges<'a> {
        InEdges { offsets: self.offsets, sources: self.sources }
    }

    /// The targets of a layer's block. They are its first sources, so their inputs are the first rows of `h`.
    pub fn of_block(block: Block<'a>, h: &'a [T], width: usize) -> Self {
        let h = &h[..block.num_targets() * width];
        Self { offsets: block.offsets(), sources: block.sources(), h, products: None, known: None }
    }
}
