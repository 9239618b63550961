//! The receptive field of a pass: its blocks, and the features of their edges.

use carat_graph::Blocks;

use crate::modules::Mode;

/// What the layers of a pass read besides their inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a, T> {
    pub(crate) blocks: &'a Blocks,
    /// One row per edge of the blocks; empty where edges have no features.
    pub(crate) edge_features: &'a [T],
    pub(crate) mode: Mode,
}

impl<T: Copy> Field<'_, T> {
    /// The same for blocks that were cut from these; their edges' rows go to `rows`.
    pub(crate) fn cut<'b>(&self, cut: &'b Blocks, rows: &'b mut Vec<T>) -> Field<'b, T> {
        rows.clear();
        rows.extend(rows_of_cut(self.edge_features, self.blocks.edge_ids().len(), cut));
        Field { blocks: cut, edge_features: rows, mode: self.mode }
    }
}

/// The edges' rows of blocks that were cut from blocks of `edges` edges.
pub(crate) fn rows_of_cut<'a, T: Copy>(rows: &'a [T], edges: usize, cut: &'a Blocks) -> impl Iterator<Item = T> + 'a {
    let width = rows.len().checked_div(edges).unwrap_or(0);
    cut.origins().iter().flat_map(move |&edge| &rows[edge as usize * width..][..width]).copied()
}
