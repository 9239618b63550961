//! What kernels know of the targets at hand: their in-edges, and what they came to with one more.

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

    /// Sources of target j's in-edges and of all that stand after them, for passes that look ahead.
    #[inline(always)]
    pub(crate) fn neighbours_from(&self, target: usize) -> &'a [u32] {
        &self.sources[self.offsets[target]..]
    }
}

/// Targets that were computed before, when they had one in-edge more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before<'a, T> {
    /// The block whose targets they were.
    pub(crate) block: Block<'a>,
    /// The attention of its edges, edges x heads.
    pub(crate) alpha: &'a [T],
    /// For each target of now, its number then.
    pub(crate) rows: &'a [u32],
    /// The in-edge that it has lost since.
    pub(crate) lost: &'a [u32],
}

/// Attention up to which the other in-edges' sum is found by subtraction: it then loses two bits at most.
const MOST_LOST: f64 = 0.75;

impl<'a, T: Real> Before<'a, T> {
    /// The source of the in-edge that a target has lost and the attention it had, by head; nothing where one head had
    /// nearly all its attention on it, so that subtraction would leave nothing but rounding errors.
    ///
    /// Attention a that the other in-edges had becomes a / (1 - lost), and so sums of what they offer become
    /// (sum - lost * offer) / (1 - lost).
    #[inline(always)]
    pub(crate) fn lost(&self, target: usize, heads: usize) -> Option<(u32, &'a [T])> {
        let edge = self.lost[target] as usize;
        let alpha = &self.alpha[edge * heads..(edge + 1) * heads];
        let most = T::from_f64(MOST_LOST);
        alpha.iter().all(|alpha| *alpha <= most).then(|| (self.block.sources()[edge], alpha))
    }
}
