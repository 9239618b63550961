//! Self-loops that are added to blocks, and the edges that are the graph's own.
//!
//! An added self-loop is no edge of the graph: it has no id, is never drawn or deleted, and is in no table. It stands
//! behind the other in-edges of its node, so that the own ones stand as they do in the graph.

use super::Blocks;
use crate::Graph;

/// The same rows, each with one edge from the node itself where the graph asks for it. A node's own one counts.
pub(super) fn added(
    graph: &Graph,
    offsets: Vec<usize>,
    sources: Vec<u32>,
    ids: Vec<u32>,
) -> (Vec<usize>, Vec<u32>, Vec<u32>) {
    if !graph.adds_self_loops() {
        return (offsets, sources, ids);
    }
    let rows = offsets.len() - 1;
    let mut all = (vec![0], Vec::with_capacity(sources.len() + rows), Vec::with_capacity(ids.len() + rows));
    for (j, row) in offsets.windows(2).enumerate() {
        let own = &sources[row[0]..row[1]];
        all.1.extend_from_slice(own);
        all.2.extend_from_slice(&ids[row[0]..row[1]]);
        if !own.contains(&(j as u32)) {
            all.1.push(j as u32);
            all.2.push(Blocks::ADDED);
        }
        all.0.push(all.1.len());
    }
    all
}

/// See [`Blocks::edge_keys`]: numbers of added self-loops go down from the largest.
pub(super) fn keys(nodes: &[u32], offsets: &[usize], edges: &[u32]) -> Vec<u32> {
    let mut keys = edges.to_vec();
    for (row, node) in offsets.windows(2).zip(nodes) {
        for key in &mut keys[row[0]..row[1]] {
            if *key == Blocks::ADDED {
                *key = u32::MAX - node;
            }
        }
    }
    keys
}

impl Blocks {
    /// True for an edge of the graph, by its position; false for an added self-loop.
    pub fn is_own(&self, position: usize) -> bool {
        self.edges[position] != Self::ADDED
    }

    /// Positions of an entity's edges that are edges of the graph, ascending.
    pub fn own_edges(&self, entity: usize) -> impl Iterator<Item = usize> + '_ {
        self.entity_edges(entity).filter(|&e| self.is_own(e))
    }

    /// Their number.
    pub fn num_own_edges(&self, entity: usize) -> usize {
        if self.has_added { self.own_edges(entity).count() } else { self.entity_edges(entity).len() }
    }

    /// The position of the one of them that has this place among them, which is below their number.
    pub fn own_edge(&self, entity: usize, place: usize) -> usize {
        let first = self.entity_edges(entity).start;
        if self.has_added { self.own_edges(entity).nth(place).unwrap_or(first) } else { first + place }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BlockBuilder, Blocks, Graph};

    #[test]
    fn every_node_reads_itself_once_and_own_edges_stay_in_place() {
        let graph = Graph::from_edges(4, &[0, 2, 1, 3], &[1, 1, 1, 2]).unwrap();
        let looped = graph.clone().with_self_loops(true);
        for (blocks, plain) in [
            (Blocks::whole(&looped, 2), Blocks::whole(&graph, 2)),
            (BlockBuilder::new(&looped).build(&[1, 2], 2), BlockBuilder::new(&graph).build(&[1, 2], 2)),
            (
                BlockBuilder::new(&looped).sample(&[1, 2], &[1, 1], 7),
                BlockBuilder::new(&graph).sample(&[1, 2], &[1, 1], 7),
            ),
        ] {
            assert_eq!(blocks.nodes(), plain.nodes());
            let keys: std::collections::BTreeSet<u32> = blocks.edge_keys().iter().copied().collect();
            assert_eq!(keys.len(), blocks.edge_ids().len());
            let (block, without) = (blocks.layer(0), plain.layer(0));
            for j in 0..block.num_targets() {
                let row = block.in_neighbours(j);
                assert_eq!(row.iter().filter(|i| **i as usize == j).count(), 1);
                assert!(row.starts_with(without.in_neighbours(j)));
                let own: Vec<u32> = blocks.own_edges(j).map(|e| blocks.edge_ids()[e]).collect();
                let ids = &plain.edge_ids()[without.offsets()[j]..without.offsets()[j + 1]];
                assert_eq!((&own[..], blocks.num_own_edges(j)), (ids, ids.len()));
                for (place, id) in ids.iter().enumerate() {
                    assert_eq!(blocks.edge_ids()[blocks.own_edge(j, place)], *id);
                }
            }
        }
        // Node 1 has a self-loop of its own, which keeps its id.
        assert!(Blocks::whole(&looped, 1).own_edges(1).count() == 3);
    }
}
