//! The receptive field of a set of target nodes, in local numbers.
//!
//! An L-layer network's output at the targets depends on the nodes within L hops against the edges' direction, and on
//! the in-edges of those within L - 1. [`Blocks`] numbers these nodes so that every layer's nodes are a prefix of the
//! next wider layer's: targets first, then what is one hop away, then two. One CSR then serves all layers: the layer
//! that computes the nodes within d hops reads its first `num_within(d)` rows.

mod graphs;
mod self_loops;

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::{FileOrder, Graph};

/// Node sets and edges that an L-layer network needs for its targets. Local node numbers throughout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    nodes: Vec<u32>,
    within: Vec<usize>,
    offsets: Vec<usize>,
    sources: Vec<u32>,
    edges: Vec<u32>,
    out_offsets: Vec<usize>,
    out_targets: Vec<u32>,
    out_positions: Vec<u32>,
    /// For blocks of whole graphs, where each graph's targets begin, and their number.
    graphs: Option<Vec<usize>>,
    /// True where a self-loop was added.
    has_added: bool,
    /// In place of `edges` where some of these have no id.
    keys: Vec<u32>,
    /// For blocks that were cut from others, the position of every edge among theirs.
    origins: Vec<u32>,
}

/// The edges of one attention layer: a view into [`Blocks`].
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    num_targets: usize,
    num_sources: usize,
    offsets: &'a [usize],
    sources: &'a [u32],
    out_offsets: &'a [usize],
    out_targets: &'a [u32],
    out_positions: &'a [u32],
}

impl Blocks {
    /// Stands for the id of an edge that the graph does not have: a self-loop that was added, see
    /// [`Graph::with_self_loops`].
    pub const ADDED: u32 = u32::MAX;

    /// All nodes as targets, numbered as in the graph: for prediction on a whole graph.
    pub fn whole(graph: &Graph, layers: usize) -> Self {
        let n = graph.num_nodes();
        let ids = (0..graph.num_edges() as u32).collect();
        let (offsets, sources) = (graph.in_offsets().to_vec(), graph.sources().to_vec());
        let (offsets, sources, ids) = self_loops::added(graph, offsets, sources, ids);
        Self::finish((0..n as u32).collect(), vec![n; layers + 1], offsets, sources, ids)
    }

    /// Number of attention layers L.
    pub fn num_layers(&self) -> usize {
        self.within.len() - 1
    }

    /// The graph's number of every local node, targets first.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The graph's numbers of the target nodes.
    pub fn targets(&self) -> &[u32] {
        &self.nodes[..self.within[0]]
    }

    /// How many nodes lie within `hops` hops of the targets; they have the local numbers below it.
    pub fn num_within(&self, hops: usize) -> usize {
        self.within[hops]
    }

    /// The edges of attention layer `layer`, counted from the input (0) to the output (L - 1).
    pub fn layer(&self, layer: usize) -> Block<'_> {
        let hops = self.num_layers() - 1 - layer;
        let num_targets = self.within[hops];
        let num_sources = self.within[hops + 1];
        Block {
            num_targets,
            num_sources,
            offsets: &self.offsets[..=num_targets],
            sources: &self.sources[..self.offsets[num_targets]],
            out_offsets: &self.out_offsets[..=num_sources],
            out_targets: &self.out_targets,
            out_positions: &self.out_positions,
        }
    }

    /// The graph's id of every edge, by its position in the blocks' CSR; [`Blocks::ADDED`] for an added self-loop. A
    /// layer's edges are a prefix.
    pub fn edge_ids(&self) -> &[u32] {
        &self.edges
    }

    /// A number for every edge, by its position, that no other edge has: its id, or one made of the node of an added
    /// self-loop.
    pub fn edge_keys(&self) -> &[u32] {
        if self.has_added { &self.keys } else { &self.edges }
    }

    /// The same nodes without the edges at these positions of the CSR, given in ascending order.
    #[must_use]
    pub fn without(&self, edges: &[u32]) -> Self {
        let mut removed = edges.iter().copied().peekable();
        let mut offsets = vec![0];
        let (mut sources, mut origins) = (Vec::with_capacity(self.sources.len()), Vec::with_capacity(self.edges.len()));
        for row in self.offsets.windows(2) {
            for e in row[0]..row[1] {
                if removed.next_if_eq(&(e as u32)).is_none() {
                    sources.push(self.sources[e]);
                    origins.push(e as u32);
                }
            }
            offsets.push(sources.len());
        }
        let cut = Self::finish(self.nodes.clone(), self.within.clone(), offsets, sources, self.ids_at(&origins));
        Self { graphs: self.graphs.clone(), origins, ..cut }
    }

    /// For blocks that [`Blocks::without`] or [`Blocks::copies_without`] has cut from others: the position that every
    /// edge had among theirs.
    pub fn origins(&self) -> &[u32] {
        &self.origins
    }

    /// The ids of the edges at these positions.
    fn ids_at(&self, positions: &[u32]) -> Vec<u32> {
        positions.iter().map(|&e| self.edges[e as usize]).collect()
    }

    /// The same nodes with exactly one self-loop each, whether or not they had one. The edges are renumbered.
    #[must_use]
    pub fn with_self_loops(&self) -> Self {
        let mut offsets = vec![0];
        let mut sources = Vec::with_capacity(self.sources.len() + self.offsets.len());
        for (j, row) in self.offsets.windows(2).enumerate() {
            let (j, row) = (j as u32, &self.sources[row[0]..row[1]]);
            // Sources ascend within a row, and go on doing so.
            sources.extend(row.iter().filter(|i| **i < j));
            sources.push(j);
            sources.extend(row.iter().filter(|i| **i > j));
            offsets.push(sources.len());
        }
        let edges = (0..sources.len() as u32).collect();
        Self::finish(self.nodes.clone(), self.within.clone(), offsets, sources, edges)
    }

    fn finish(nodes: Vec<u32>, within: Vec<usize>, offsets: Vec<usize>, sources: Vec<u32>, edges: Vec<u32>) -> Self {
        let mut out_offsets = vec![0usize; nodes.len() + 1];
        for &i in &sources {
            out_offsets[i as usize + 1] += 1;
        }
        for i in 0..nodes.len() {
            out_offsets[i + 1] += out_offsets[i];
        }
        let mut next = out_offsets.clone();
        let mut out_targets = vec![0; sources.len()];
        let mut out_positions = vec![0; sources.len()];
        for j in 0..offsets.len() - 1 {
            for e in offsets[j]..offsets[j + 1] {
                let slot = &mut next[sources[e] as usize];
                out_targets[*slot] = j as u32;
                out_positions[*slot] = e as u32;
                *slot += 1;
            }
        }
        let has_added = edges.contains(&Self::ADDED);
        let keys = if has_added { self_loops::keys(&nodes, &offsets, &edges) } else { Vec::new() };
        Self {
            keys,
            nodes,
            within,
            offsets,
            sources,
            edges,
            out_offsets,
            out_targets,
            out_positions,
            graphs: None,
            has_added,
            origins: Vec::new(),
        }
    }
}

impl<'a> Block<'a> {
    /// Number of nodes that the layer computes.
    #[inline]
    pub fn num_targets(&self) -> usize {
        self.num_targets
    }

    /// Number of nodes that the layer reads. The targets are the first of them.
    #[inline]
    pub fn num_sources(&self) -> usize {
        self.num_sources
    }

    /// Number of edges.
    #[inline]
    pub fn num_edges(&self) -> usize {
        self.sources.len()
    }

    /// Row offsets: the in-edges of target j stand at `offsets[j]..offsets[j + 1]`.
    #[inline]
    pub fn offsets(&self) -> &'a [usize] {
        self.offsets
    }

    /// Source of every edge.
    #[inline]
    pub fn sources(&self) -> &'a [u32] {
        self.sources
    }

    /// Sources of target j's in-edges.
    #[inline]
    pub fn in_neighbours(&self, target: usize) -> &'a [u32] {
        &self.sources[self.offsets[target]..self.offsets[target + 1]]
    }

    /// (target, position of the edge) of every edge that leaves `source`, by ascending target.
    #[inline]
    pub fn out_edges(&self, source: usize) -> impl Iterator<Item = (usize, usize)> + 'a {
        let range = self.out_offsets[source]..self.out_offsets[source + 1];
        let num_targets = self.num_targets;
        // Targets ascend, and a narrower layer's targets are a prefix, so its edges are a prefix here too.
        self.out_targets[range.clone()]
            .iter()
            .zip(&self.out_positions[range])
            .map(|(&j, &e)| (j as usize, e as usize))
            .take_while(move |&(j, _)| j < num_targets)
    }

    /// Number of edges that leave `source`, including those to nodes beyond the layer's targets.
    #[inline]
    pub fn out_degree(&self, source: usize) -> usize {
        self.out_offsets[source + 1] - self.out_offsets[source]
    }

    /// Targets and positions of the edges that leave `source` and of all edges after them, for passes that prefetch.
    /// Some may lie beyond the layer's targets and edges.
    #[inline]
    pub fn out_edges_from(&self, source: usize) -> (&'a [u32], &'a [u32]) {
        let first = self.out_offsets[source];
        (&self.out_targets[first..], &self.out_positions[first..])
    }
}

/// Builds [`Blocks`] for one set of targets after another, keeping its node index between calls.
#[derive(Debug, Clone)]
pub struct BlockBuilder<'a> {
    graph: &'a Graph,
    local: Vec<u32>,
}

/// The index entry of a node without a local number.
const OUTSIDE: u32 = u32::MAX;

impl<'a> BlockBuilder<'a> {
    /// A builder for one graph.
    pub fn new(graph: &'a Graph) -> Self {
        Self { graph, local: vec![OUTSIDE; graph.num_nodes()] }
    }

    /// Blocks with all neighbours to depth `layers`. A target named twice counts once.
    pub fn build(&mut self, targets: &[u32], layers: usize) -> Blocks {
        self.expand(targets, layers, |_, degree, chosen| chosen.extend(0..degree))
    }

    /// Blocks with at most `fanout[d]` in-edges for a node d hops from the targets, drawn uniformly without
    /// replacement, the same for the same `seed`. A node keeps its drawn edges in every layer. Added self-loops come on
    /// top.
    pub fn sample(&mut self, targets: &[u32], fanout: &[usize], seed: u64) -> Blocks {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        self.expand(targets, fanout.len(), |hops, degree, chosen| {
            if degree <= fanout[hops] {
                chosen.extend(0..degree);
            } else {
                chosen.extend(index::sample(&mut rng, degree, fanout[hops]));
                chosen.sort_unstable();
            }
        })
    }

    /// Breadth-first expansion; `choose(hops, degree, chosen)` picks which of a node's in-edges to follow.
    fn expand(
        &mut self,
        targets: &[u32],
        layers: usize,
        mut choose: impl FnMut(usize, usize, &mut Vec<usize>),
    ) -> Blocks {
        let mut nodes: Vec<u32> = Vec::with_capacity(targets.len());
        for &n in targets {
            self.number(n, &mut nodes);
        }
        let mut within = vec![nodes.len()];
        let mut offsets = vec![0];
        let (mut sources, mut edges) = (Vec::new(), Vec::new());
        let mut chosen = Vec::new();
        let graph = self.graph;
        let graph_sources = graph.sources();
        for hops in 0..layers {
            // Data that may lie in a file is read in the order of the file and written in the order of the nodes.
            let first = offsets.len() - 1;
            let order = FileOrder::of(&nodes[first..within[hops]]);
            let mut in_edges = vec![0..0; within[hops] - first];
            for (node, at) in order.iter() {
                in_edges[at] = graph.in_edges(node);
            }
            for range in &in_edges {
                chosen.clear();
                choose(hops, range.len(), &mut chosen);
                edges.extend(chosen.iter().map(|c| (range.start + c) as u32));
                offsets.push(edges.len());
            }
            let first_edge = sources.len();
            sources.resize(edges.len(), 0);
            for (_, at) in order.iter() {
                let row = offsets[first + at]..offsets[first + at + 1];
                for (source, &e) in sources[row.clone()].iter_mut().zip(&edges[row]) {
                    *source = graph_sources[e as usize];
                }
            }
            for source in &mut sources[first_edge..] {
                *source = self.number(*source, &mut nodes);
            }
            within.push(nodes.len());
        }
        for &n in &nodes {
            self.local[n as usize] = OUTSIDE;
        }
        let (offsets, sources, edges) = self_loops::added(graph, offsets, sources, edges);
        Blocks::finish(nodes, within, offsets, sources, edges)
    }

    fn number(&mut self, node: u32, nodes: &mut Vec<u32>) -> u32 {
        let slot = &mut self.local[node as usize];
        if *slot == OUTSIDE {
            *slot = nodes.len() as u32;
            nodes.push(node);
        }
        *slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn arbitrary_graph() -> impl Strategy<Value = (Graph, Vec<u32>)> {
        (2u32..30, proptest::collection::vec((0u32..30, 0u32..30), 0..120), proptest::collection::vec(0u32..30, 1..6))
            .prop_map(|(n, raw, targets)| {
                let (src, dst): (Vec<u32>, Vec<u32>) = raw.iter().map(|&(s, d)| (s % n, d % n)).unzip();
                (Graph::from_edges(n as usize, &src, &dst).unwrap(), targets.iter().map(|t| t % n).collect())
            })
    }

    proptest! {
        #[test]
        fn blocks_hold_exactly_the_receptive_field((graph, targets) in arbitrary_graph(), layers in 1usize..4) {
            let mut builder = BlockBuilder::new(&graph);
            let blocks = builder.build(&targets, layers);
            prop_assert_eq!(&builder.build(&targets, layers), &blocks);
            let mut reached: BTreeSet<u32> = targets.iter().copied().collect();
            for hops in 0..=layers {
                let numbered: BTreeSet<u32> = blocks.nodes()[..blocks.num_within(hops)].iter().copied().collect();
                prop_assert_eq!(&numbered, &reached);
                let grown: Vec<u32> = reached.iter().flat_map(|&j| graph.in_neighbours(j)).copied().collect();
                reached.extend(grown);
            }
            for layer in 0..layers {
                let block = blocks.layer(layer);
                prop_assert_eq!(block.num_targets(), blocks.num_within(layers - 1 - layer));
                for j in 0..block.num_targets() {
                    let global: Vec<u32> = block.in_neighbours(j).iter().map(|&i| blocks.nodes()[i as usize]).collect();
                    prop_assert_eq!(&global[..], graph.in_neighbours(blocks.nodes()[j]));
                }
                let mut seen = 0;
                for i in 0..block.num_sources() {
                    for (j, e) in block.out_edges(i) {
                        prop_assert_eq!(block.sources()[e] as usize, i);
                        prop_assert!((block.offsets()[j]..block.offsets()[j + 1]).contains(&e));
                        seen += 1;
                    }
                }
                prop_assert_eq!(seen, block.num_edges());
            }
        }

        #[test]
        fn blocks_without_edges_keep_the_others((graph, targets) in arbitrary_graph(), keep in 1usize..5) {
            let blocks = BlockBuilder::new(&graph).build(&targets, 2);
            let edges = 0..blocks.edge_ids().len() as u32;
            let removed: Vec<u32> = edges.filter(|e| (*e as usize).is_multiple_of(keep)).collect();
            let cut = blocks.without(&removed);
            prop_assert_eq!(cut.nodes(), blocks.nodes());
            let (block, whole) = (cut.layer(0), blocks.layer(0));
            for j in 0..whole.num_targets() {
                let left: Vec<u32> = (whole.offsets()[j]..whole.offsets()[j + 1])
                    .filter(|e| e % keep != 0)
                    .map(|e| whole.sources()[e])
                    .collect();
                prop_assert_eq!(block.in_neighbours(j), &left[..]);
            }
            prop_assert_eq!(cut.edge_ids().len() + removed.len(), blocks.edge_ids().len());
            prop_assert_eq!(blocks.ids_at(cut.origins()), cut.edge_ids());
        }

        #[test]
        fn self_loops_are_one_each((graph, _) in arbitrary_graph()) {
            let looped = Blocks::whole(&graph, 1).with_self_loops();
            for j in 0..graph.num_nodes() as u32 {
                let mut expected: BTreeSet<u32> = graph.in_neighbours(j).iter().copied().collect();
                expected.insert(j);
                let row = looped.layer(0).in_neighbours(j as usize);
                prop_assert!(row.iter().eq(&expected));
            }
        }

        #[test]
        fn sampled_blocks_keep_the_fanout((graph, targets) in arbitrary_graph(), fanout in 1usize..5, seed: u64) {
            let mut builder = BlockBuilder::new(&graph);
            let blocks = builder.sample(&targets, &[fanout, fanout + 1], seed);
            prop_assert_eq!(&builder.sample(&targets, &[fanout, fanout + 1], seed), &blocks);
            let block = blocks.layer(0);
            for j in 0..block.num_targets() {
                let hops = usize::from(j >= blocks.num_within(0));
                let node = blocks.nodes()[j];
                let edges = &blocks.edge_ids()[block.offsets()[j]..block.offsets()[j + 1]];
                prop_assert_eq!(edges.len(), graph.in_degree(node).min(fanout + hops));
                prop_assert!(edges.windows(2).all(|w| w[0] < w[1]));
                prop_assert!(edges.iter().all(|&e| graph.in_edges(node).contains(&(e as usize))));
            }
        }
    }
}
