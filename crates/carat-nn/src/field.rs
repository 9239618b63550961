//! The receptive field of a pass: its blocks, and the features of their edges.

use carat_graph::Blocks;

use crate::encoder::Input;
use crate::modules::Mode;
use crate::network::NetworkConfig;
use crate::real::Real;

/// What the layers of a pass read besides their inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a, T> {
    pub(crate) blocks: &'a Blocks,
    /// One row per edge of the blocks; empty where edges have no features.
    pub(crate) edge_features: &'a [T],
    /// One factor per edge of the blocks; empty where messages are not multiplied.
    pub(crate) gates: &'a [T],
    pub(crate) mode: Mode,
}

impl<'a, T: Real> Field<'a, T> {
    /// Blocks with the input that was made for them.
    pub(crate) fn new(config: NetworkConfig, blocks: &'a Blocks, input: &'a Input<T>, mode: Mode) -> Self {
        assert_eq!(input.num_rows(), blocks.nodes().len(), "the input is for other blocks");
        // A network that reads no edge features takes inputs that have some.
        let edge_features = if config.edge_features > 0 { input.edge_features() } else { &[] };
        let width = blocks.edge_ids().len() * config.edge_features;
        assert_eq!(edge_features.len(), width, "the input lacks the edge features of these blocks");
        Self { blocks, edge_features, gates: &[], mode }
    }

    /// The same for blocks that were cut from these, without gates; their edges' rows go to `rows`.
    pub(crate) fn cut<'b>(&self, cut: &'b Blocks, rows: &'b mut Vec<T>) -> Field<'b, T> {
        rows.clear();
        rows.extend(rows_of_cut(self.edge_features, self.blocks.edge_ids().len(), cut));
        Field { blocks: cut, edge_features: rows, gates: &[], mode: self.mode }
    }
}

/// The edges' rows of blocks that were cut from blocks of `edges` edges.
pub(crate) fn rows_of_cut<'a, T: Copy>(rows: &'a [T], edges: usize, cut: &'a Blocks) -> impl Iterator<Item = T> + 'a {
    let width = rows.len().checked_div(edges).unwrap_or(0);
    cut.origins().iter().flat_map(move |&edge| &rows[edge as usize * width..][..width]).copied()
}
