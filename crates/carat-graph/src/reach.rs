//! Nodes near a target, against the edges' direction, within the receptive field of some blocks.

use crate::Blocks;

/// Finds nodes within some hops of one target after another, keeping its buffers between calls.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    nodes: Vec<u32>,
    seen: Vec<bool>,
}

impl Reach {
    /// The local numbers of the nodes within `hops` hops of `target`, itself first, the nearer before the farther.
    /// `hops` is less than the number of layers: further out the blocks hold no in-edges.
    pub fn within(&mut self, blocks: &Blocks, target: u32, hops: usize) -> &[u32] {
        assert!(hops < blocks.num_layers(), "{hops} hops in blocks of {} layers", blocks.num_layers());
        let Self { nodes, seen } = self;
        seen.resize(blocks.nodes().len(), false);
        nodes.clear();
        nodes.push(target);
        seen[target as usize] = true;
        // The first layer's block holds the in-edges of every node this close.
        let block = blocks.layer(0);
        let mut done = 0;
        for _ in 0..hops {
            let frontier = done..nodes.len();
            done = nodes.len();
            for at in frontier {
                for &i in block.in_neighbours(nodes[at] as usize) {
                    if !seen[i as usize] {
                        seen[i as usize] = true;
                        nodes.push(i);
                    }
                }
            }
        }
        nodes.iter().for_each(|&n| seen[n as usize] = false);
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockBuilder, Graph};

    #[test]
    fn a_ring_is_walked_backwards() {
        let graph = Graph::from_edges(6, &[0, 1, 2, 3, 4, 5, 2], &[1, 2, 3, 4, 5, 0, 2]).unwrap();
        let blocks = BlockBuilder::new(&graph).build(&[3], 4);
        let mut reach = Reach::default();
        for (hops, expected) in [(0, vec![3]), (1, vec![3, 2]), (2, vec![3, 2, 1]), (3, vec![3, 2, 1, 0])] {
            let found: Vec<u32> = reach.within(&blocks, 0, hops).iter().map(|&n| blocks.nodes()[n as usize]).collect();
            assert_eq!(found, expected);
        }
    }
}
