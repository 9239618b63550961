//! The in-edges of targets, and the in-edges that some of them have lost.

use carat_graph::Block;

use crate::real::Real;

/// Targets with their in-edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InEdges<'a> {
    /// The in-edges of target j stand at `offsets[j]..offsets[j + 1]`.
    pub(crate) offsets: &'a [usize],
    /// Source of every edge.
    pub(crate) sources: &'a [u32],
}

impl<'a> InEdges<'a> {
    /// All edges of a block.
    pub(crate) fn of_block(block: Block<'a>) -> Self {
        Self { offsets: block.offsets(), sources: block.sources() }
    }

    /// Sources of target j's in-edges.
    #[inline(always)]
    pub(crate) fn in_neighbours(&self, target: usize) -> &'a [u32] {
        &self.sources[self.offsets[target]..self.offsets[target + 1]]
    }

    /// Sources of target j's in-edges and of all edges after them, for passes that look ahead.
    #[inline(always)]
    pub(crate) fn neighbours_from(&self, target: usize) -> &'a [u32] {
        &self.sources[self.offsets[target]..]
    }
}

/// Targets that have lost one in-edge since their originals were computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LostEdges<'a, T> {
    /// The block of the originals.
    pub(crate) block: Block<'a>,
    /// The attention of its edges, edges x heads.
    pub(crate) alpha: &'a [T],
    /// For each target, the number of its original.
    pub(crate) rows: &'a [u32],
    /// The in-edge that each target has lost.
    pub(crate) lost: &'a [u32],
}

/// The largest attention of a lost in-edge for which subtraction gives the sum over the others. It loses two bits at
/// most.
const MOST_LOST: f64 = 0.75;

impl<'a, T: Real> LostEdges<'a, T> {
    /// The source of the in-edge that a target has lost, and the attention it had, by head. `None` where one head had
    /// nearly all its attention on it, so that subtraction would leave only rounding errors.
    ///
    /// The attention a of another in-edge becomes a / (1 - lost). So a sum of the sources' values becomes (sum - lost *
    /// value) / (1 - lost), where `value` is that of the lost in-edge's source.
    #[inline(always)]
    pub(crate) fn lost(&self, target: usize, heads: usize) -> Option<(u32, &'a [T])> {
        let edge = self.lost[target] as usize;
        let alpha = &self.alpha[edge * heads..(edge + 1) * heads];
        let most = T::from_f64(MOST_LOST);
        alpha.iter().all(|alpha| *alpha <= most).then(|| (self.block.sources()[edge], alpha))
    }
}
