//! Entities are what a network classifies: the targets, or whole graphs.
//!
//! In blocks of whole graphs every node is a target. The nodes of a graph are consecutive, and so are their in-edges.
//! An entity is therefore a range of targets and its edges a range of the CSR in both cases.

use std::ops::Range;

use super::{BlockBuilder, Blocks};
use crate::GraphSet;

impl Blocks {
    /// For blocks of whole graphs, where each graph's targets begin, and the number of targets after that.
    pub fn graphs(&self) -> Option<&[usize]> {
        self.graphs.as_deref()
    }

    /// Number of entities: targets, or graphs.
    pub fn num_entities(&self) -> usize {
        self.graphs.as_ref().map_or(self.within[0], |graphs| graphs.len() - 1)
    }

    /// The targets of one entity: itself, or the nodes of the graph.
    pub fn entity(&self, entity: usize) -> Range<usize> {
        match &self.graphs {
            None => entity..entity + 1,
            Some(graphs) => graphs[entity]..graphs[entity + 1],
        }
    }

    /// The entity that a target is or belongs to.
    pub fn entity_of(&self, target: usize) -> usize {
        // Of graphs that begin at the same place all but the last are empty.
        self.graphs.as_ref().map_or(target, |graphs| graphs.partition_point(|&first| first <= target) - 1)
    }

    /// Positions in the CSR of the in-edges of an entity's targets.
    pub fn entity_edges(&self, entity: usize) -> Range<usize> {
        let Range { start, end } = self.entity(entity);
        self.offsets[start]..self.offsets[end]
    }

    /// Copies of graphs without some edges, side by side: for each cut, the graph of this node without the edges at
    /// these positions, which ascend. Only for blocks of whole graphs.
    #[must_use]
    pub fn copies_without<'a>(&self, cuts: impl IntoIterator<Item = (u32, &'a [u32])>) -> Self {
        let (mut nodes, mut offsets, mut graphs) = (Vec::new(), vec![0], vec![0]);
        let (mut sources, mut origins) = (Vec::new(), Vec::new());
        for (node, cut) in cuts {
            let targets = self.entity(self.entity_of(node as usize));
            // Maps numbers in these blocks to numbers in the copy.
            let renumbered = |i: u32| (i as usize - targets.start + nodes.len()) as u32;
            for row in self.offsets[targets.start..=targets.end].windows(2) {
                for e in (row[0]..row[1]).filter(|&e| cut.binary_search(&(e as u32)).is_err()) {
                    sources.push(renumbered(self.sources[e]));
                    origins.push(e as u32);
                }
                offsets.push(sources.len());
            }
            nodes.extend_from_slice(&self.nodes[targets]);
            graphs.push(nodes.len());
        }
        let within = vec![nodes.len(); self.within.len()];
        let copies = Self::finish(nodes, within, offsets, sources, self.ids_at(&origins));
        Self { graphs: Some(graphs), origins, ..copies }
    }
}

impl BlockBuilder<'_> {
    /// Blocks of whole graphs of a set, every node of which is a target. The set is that of the builder's graph; a
    /// graph named twice counts once.
    pub fn build_graphs(&mut self, set: GraphSet<'_>, graphs: &[u32], layers: usize) -> Blocks {
        let mut seen = vec![false; set.num_graphs()];
        let (mut targets, mut begins) = (Vec::new(), vec![0]);
        for &graph in graphs {
            if !std::mem::replace(&mut seen[graph as usize], true) {
                targets.extend(set.nodes(graph as usize));
                begins.push(targets.len());
            }
        }
        let blocks = self.build(&targets, layers);
        assert_eq!(blocks.nodes.len(), targets.len(), "an edge leaves its graph");
        Blocks { graphs: Some(begins), ..blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, DatasetParts, Features, Graph, Labels};
    use proptest::prelude::*;

    /// A set of graphs of these sizes. Edges are (graph, source, target), each taken modulo the number there is.
    fn set_of(sizes: &[usize], raw: &[(usize, usize, usize)]) -> Dataset {
        let mut offsets = vec![0u32];
        sizes.iter().for_each(|size| offsets.push(offsets[offsets.len() - 1] + *size as u32));
        // One more graph, so that there is a node.
        offsets.push(offsets[sizes.len()] + 1);
        let nodes = offsets[sizes.len() + 1] as usize;
        let edge = |&(g, s, d): &(usize, usize, usize)| {
            let (first, size) = (offsets[g % sizes.len()], sizes[g % sizes.len()]);
            (size > 0).then(|| (first + (s % size) as u32, first + (d % size) as u32))
        };
        let (src, dst): (Vec<u32>, Vec<u32>) = raw.iter().filter_map(edge).unzip();
        let graph = Graph::from_edges(nodes, &src, &dst).unwrap();
        let labels = Labels::new(vec![Some(0); sizes.len() + 1], 1).unwrap();
        let mut parts = DatasetParts::new("set", graph, Features::dense(nodes, 1, vec![1.0; nodes]).unwrap(), labels);
        parts.graph_offsets = Some(offsets);
        Dataset::new(parts).unwrap()
    }

    #[test]
    fn a_graph_named_twice_counts_once() {
        let set = set_of(&[2, 0, 3], &[(0, 0, 1), (2, 1, 2)]);
        let blocks = BlockBuilder::new(set.graph()).build_graphs(set.graph_set().unwrap(), &[2, 1, 2, 0], 1);
        assert_eq!(blocks.graphs(), Some(&[0, 3, 3, 5][..]));
        assert_eq!((blocks.entity_of(2), blocks.entity_of(3)), (0, 2));
    }

    proptest! {
        #[test]
        fn copies_of_graphs_lack_some_edges_each(
            sizes in proptest::collection::vec(0usize..5, 1..5),
            raw in proptest::collection::vec((0usize..5, 0usize..5, 0usize..5), 0..40),
        ) {
            let set = set_of(&sizes, &raw);
            let graphs: Vec<u32> = (0..sizes.len() as u32).rev().collect();
            let mut builder = BlockBuilder::new(set.graph());
            let blocks = builder.build_graphs(set.graph_set().unwrap(), &graphs, 2);
            prop_assert_eq!(blocks.num_entities(), sizes.len());
            let whole: Vec<usize> = graphs.iter().map(|&g| sizes[g as usize]).collect();
            prop_assert_eq!((0..sizes.len()).map(|e| blocks.entity(e).len()).collect::<Vec<_>>(), whole);
            for entity in 0..sizes.len() {
                prop_assert!(blocks.entity(entity).all(|target| blocks.entity_of(target) == entity));
            }
            let edges: Vec<u32> = (0..blocks.edge_ids().len() as u32).collect();
            let target_of = |edge: u32| {
                let offsets = blocks.layer(0).offsets();
                (0..blocks.nodes().len()).find(|&j| offsets[j + 1] > edge as usize).unwrap()
            };
            // Each cut is an edge, with the next one if that is of the same graph.
            let of_graph = |edge: u32| blocks.entity_of(target_of(edge));
            let cut = |at: usize| match edges.get(at + 1) {
                Some(&next) if at.is_multiple_of(2) && of_graph(next) == of_graph(edges[at]) => &edges[at..at + 2],
                _ => &edges[at..at + 1],
            };
            let copies = blocks.copies_without((0..edges.len()).map(|at| (target_of(edges[at]) as u32, cut(at))));
            prop_assert_eq!(copies.num_entities(), edges.len());
            prop_assert_eq!(blocks.ids_at(copies.origins()), copies.edge_ids());
            for (copy, &edge) in edges.iter().enumerate() {
                let (one, entity) = (blocks.without(cut(copy)), of_graph(edge));
                let nodes = |blocks: &Blocks, of: Range<usize>| blocks.nodes()[of].to_vec();
                prop_assert_eq!(nodes(&copies, copies.entity(copy)), nodes(&one, one.entity(entity)));
                let ids = |blocks: &Blocks, entity: usize| blocks.edge_ids()[blocks.entity_edges(entity)].to_vec();
                prop_assert_eq!(ids(&copies, copy), ids(&one, entity));
                let local = |blocks: &Blocks, of: Range<usize>, entity: usize| -> Vec<usize> {
                    of.map(|e| blocks.layer(0).sources()[e] as usize - blocks.entity(entity).start).collect()
                };
                let found = local(&copies, copies.entity_edges(copy), copy);
                prop_assert_eq!(found, local(&one, one.entity_edges(entity), entity));
            }
        }
    }
}
