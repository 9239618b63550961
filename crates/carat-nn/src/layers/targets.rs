//! The nodes that a layer computes.

use carat_graph::Block;

use super::state::TargetState;
use crate::kernels::in_edges::{InEdges, LostEdges};

/// Nodes to compute: each with its in-edges and its own input.
///
/// In training they are the layer's targets. To measure the effect of deleting an edge, they are copies of these nodes
/// with one in-edge fewer or with a changed input. A kind need not know which.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a, T> {
    /// Row offsets: the in-edges of target j stand at `offsets[j]..offsets[j + 1]`.
    pub offsets: &'a [usize],
    /// Source of every edge: a row of [`Layer::h`](crate::Layer::h).
    pub sources: &'a [u32],
    /// Position of every in-edge in the layer's block ([`LayerEdges`](crate::LayerEdges)), where it is not its position
    /// in `sources`.
    pub positions: Option<&'a [u32]>,
    /// The targets' own inputs, one row of F each.
    pub h: &'a [T],
    /// In place of `h`, its products with the vectors of [`Products::own_vectors`](crate::Products::own_vectors). Only
    /// for kinds that implement [`Products`](crate::Products).
    pub products: Option<&'a [T]>,
    /// Given where each target is a copy of an original that has one more in-edge. A kind may derive the target from
    /// its original instead of computing it anew, and need not fill the state's attention then.
    pub original: Option<Original<'a, T>>,
}

/// The originals of targets that have lost one in-edge.
#[derive(Debug, Clone, Copy)]
pub struct Original<'a, T> {
    /// Their results.
    pub state: &'a TargetState<T>,
    /// Their block.
    pub block: Block<'a>,
    /// For each target, the number of its original.
    pub rows: &'a [u32],
    /// The in-edge that each target has lost.
    pub lost: &'a [u32],
}

impl<'a, T> Original<'a, T> {
    /// The same for kernels.
    pub(crate) fn lost_edges(&self) -> LostEdges<'a, T> {
        LostEdges { block: self.block, alpha: &self.state.alpha, rows: self.rows, lost: self.lost }
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

    /// Position in the layer's block of the in-edge at `edge` of [`Targets::sources`].
    #[inline]
    pub fn position(&self, edge: usize) -> usize {
        self.positions.map_or(edge, |positions| positions[edge] as usize)
    }

    /// The in-edges, for kernels.
    pub(crate) fn edges(&self) -> InEdges<'a> {
        InEdges { offsets: self.offsets, sources: self.sources }
    }

    /// The targets of a layer's block. They are its first sources, so their inputs are the first rows of `h`.
    pub fn of_block(block: Block<'a>, h: &'a [T], width: usize) -> Self {
        let h = &h[..block.num_targets() * width];
        Self { offsets: block.offsets(), sources: block.sources(), positions: None, h, products: None, original: None }
    }
}
