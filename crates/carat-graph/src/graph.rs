//! A directed graph, stored by target and on request by source.
//!
//! Edge (i, j) carries a message from i to j. Edges are numbered in the order of the in-edge CSR: by target, then by
//! source. That number is the edge's id everywhere: attention, effects and planted truth are stored by it.

use std::sync::OnceLock;

use crate::{DataError, Storage};

/// Edges as two parallel lists, before they become a [`Graph`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeList {
    /// Where each message comes from.
    pub src: Vec<u32>,
    /// Where each message goes.
    pub dst: Vec<u32>,
}

impl EdgeList {
    /// An empty list with room for `capacity` edges.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { src: Vec::with_capacity(capacity), dst: Vec::with_capacity(capacity) }
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// True when there is no edge.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// Adds edge (src, dst).
    pub fn push(&mut self, src: u32, dst: u32) {
        self.src.push(src);
        self.dst.push(dst);
    }

    /// Adds the reverse of every edge. Duplicates disappear when the graph is built.
    #[must_use]
    pub fn symmetrised(mut self) -> Self {
        let n = self.len();
        self.src.extend_from_within(..n);
        self.dst.extend_from_within(..n);
        self.src[n..].copy_from_slice(&self.dst[..n]);
        let (forward, backward) = self.dst.split_at_mut(n);
        backward.copy_from_slice(&self.src[..n]);
        debug_assert_eq!(forward.len(), backward.len());
        self
    }

    /// Drops every edge from a node to itself.
    #[must_use]
    pub fn without_self_loops(self) -> Self {
        let (src, dst) = self.src.into_iter().zip(self.dst).filter(|(s, d)| s != d).unzip();
        Self { src, dst }
    }
}

/// A directed graph with its in-edges by target (CSR), in memory or in a mapped file. Its out-edges by source (CSC) are
/// indexed in memory on first use; training never uses them. Parallel edges are merged. Self-loops are kept, because a
/// user's may carry meaning (readers of public datasets drop theirs).
#[derive(Debug, Clone)]
pub struct Graph {
    in_offsets: Storage<usize>,
    in_sources: Storage<u32>,
    by_source: OnceLock<BySource>,
    is_undirected: bool,
    adds_self_loops: bool,
}

/// The same edges by source.
#[derive(Debug, Clone)]
struct BySource {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    edges: Vec<u32>,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.in_offsets == other.in_offsets && self.in_sources == other.in_sources
    }
}

impl Eq for Graph {}

impl Graph {
    /// Builds a graph of `num_nodes` nodes from parallel lists of sources and targets.
    pub fn from_edges(num_nodes: usize, src: &[u32], dst: &[u32]) -> Result<Self, DataError> {
        Ok(Self::from_edges_with_origin(num_nodes, src, dst)?.0)
    }

    /// As [`Graph::from_edges`]; also tells, for each edge id, the position in the lists of its first occurrence, so
    /// that edge attributes can follow.
    pub fn from_edges_with_origin(num_nodes: usize, src: &[u32], dst: &[u32]) -> Result<(Self, Vec<u32>), DataError> {
        if src.len() != dst.len() {
            return Err(DataError::Invalid(format!("{} edge sources but {} edge targets", src.len(), dst.len())));
        }
        if num_nodes > u32::MAX as usize || src.len() > u32::MAX as usize {
            return Err(DataError::Invalid("more than 4,294,967,295 nodes or edges".into()));
        }
        if let Some(e) = (0..src.len()).find(|&e| src[e].max(dst[e]) as usize >= num_nodes) {
            let (s, d) = (src[e], dst[e]);
            return Err(DataError::Invalid(format!(
                "edge {e} joins node {s} to node {d}, but there are only {num_nodes} nodes (0 to {})",
                num_nodes.saturating_sub(1)
            )));
        }
        // Two stable counting sorts, by source and then by target, order the edges by (target, source) in linear time.
        let by_source = counting_order(num_nodes, src, None);
        let order = counting_order(num_nodes, dst, Some(&by_source));
        let mut in_offsets = vec![0usize; num_nodes + 1];
        let mut in_sources = Vec::with_capacity(order.len());
        let mut origin: Vec<u32> = Vec::with_capacity(order.len());
        let mut previous = None;
        for &e in &order {
            let edge = (dst[e as usize], src[e as usize]);
            if previous == Some(edge) {
                continue;
            }
            previous = Some(edge);
            in_sources.push(edge.1);
            origin.push(e);
            in_offsets[edge.0 as usize + 1] += 1;
        }
        for j in 0..num_nodes {
            in_offsets[j + 1] += in_offsets[j];
        }
        Ok((Self::from_in_csr(in_offsets, in_sources), origin))
    }

    /// A graph from an in-edge CSR of at most `u32::MAX` edges, whose sources exist and ascend strictly within each
    /// row. Generators that draw edges by target come here directly and save the sort.
    pub(crate) fn from_in_csr(in_offsets: impl Into<Storage<usize>>, in_sources: impl Into<Storage<u32>>) -> Self {
        Self {
            in_offsets: in_offsets.into(),
            in_sources: in_sources.into(),
            by_source: OnceLock::new(),
            is_undirected: false,
            adds_self_loops: false,
        }
    }

    /// The same from untrusted numbers, all of which are checked.
    pub(crate) fn from_unchecked_csr(in_offsets: Storage<usize>, in_sources: Storage<u32>) -> Result<Self, DataError> {
        let num_nodes = in_offsets.len().saturating_sub(1);
        if num_nodes > u32::MAX as usize || in_sources.len() > u32::MAX as usize {
            return Err(DataError::Invalid("more than 4,294,967,295 nodes or edges".into()));
        }
        check_offsets(&in_offsets, in_sources.len())?;
        let sources = &in_sources[..];
        for (target, row) in in_offsets.windows(2).enumerate() {
            let row = &sources[row[0]..row[1]];
            if row.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(DataError::Invalid(format!("the sources of the edges to node {target} do not ascend")));
            }
            if let Some(last) = row.last().filter(|&&last| last as usize >= num_nodes) {
                return Err(DataError::Invalid(format!(
                    "an edge joins node {last} to node {target}, but there are only {num_nodes} nodes"
                )));
            }
        }
        Ok(Self::from_in_csr(in_offsets, in_sources))
    }

    /// The same graph with the reverse of every edge; edges that are there both ways stay as they are. Also tells, for
    /// each edge id, which edge of this graph it comes from, so that edge attributes can follow.
    pub fn undirected(&self) -> Result<(Self, Vec<u32>), DataError> {
        let edges = EdgeList { src: self.in_sources.to_vec(), dst: self.targets() }.symmetrised();
        let (graph, mut origin) = Self::from_edges_with_origin(self.num_nodes(), &edges.src, &edges.dst)?;
        let own = self.num_edges() as u32;
        origin.iter_mut().filter(|edge| **edge >= own).for_each(|edge| *edge -= own);
        Ok((graph.like(self).marked_undirected(), origin))
    }

    /// True where the edges were made to go both ways by [`Graph::undirected`], also if some were left out afterwards.
    pub fn is_undirected(&self) -> bool {
        self.is_undirected
    }

    /// Notes that every edge has its reverse.
    pub(crate) fn marked_undirected(self) -> Self {
        Self { is_undirected: true, ..self }
    }

    /// The same graph; blocks made of it will have an edge from every node to itself, or no longer. These self-loops
    /// are not edges of the graph: they have no ids, and where a node has one of its own, none is added.
    #[must_use]
    pub fn with_self_loops(self, added: bool) -> Self {
        Self { adds_self_loops: added, ..self }
    }

    /// True where blocks have an edge from every node to itself.
    pub fn adds_self_loops(&self) -> bool {
        self.adds_self_loops
    }

    /// Other edges of a graph that was changed in the same ways as `other`.
    pub(crate) fn like(self, other: &Self) -> Self {
        Self { is_undirected: other.is_undirected, adds_self_loops: other.adds_self_loops, ..self }
    }

    /// True where the edges lie in a mapped file.
    pub fn is_mapped(&self) -> bool {
        self.in_sources.file().is_some()
    }

    fn by_source(&self) -> &BySource {
        self.by_source.get_or_init(|| {
            let num_nodes = self.num_nodes();
            let mut offsets = vec![0usize; num_nodes + 1];
            for &i in &self.in_sources[..] {
                offsets[i as usize + 1] += 1;
            }
            for i in 0..num_nodes {
                offsets[i + 1] += offsets[i];
            }
            let mut next = offsets.clone();
            let mut targets = vec![0u32; self.num_edges()];
            let mut edges = vec![0u32; self.num_edges()];
            for (e, (i, j)) in self.edges().enumerate() {
                let slot = &mut next[i as usize];
                targets[*slot] = j;
                edges[*slot] = e as u32;
                *slot += 1;
            }
            BySource { offsets, targets, edges }
        })
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.in_offsets.len() - 1
    }

    /// Number of directed edges.
    pub fn num_edges(&self) -> usize {
        self.in_sources.len()
    }

    /// d(j): how many edges point at `node`.
    pub fn in_degree(&self, node: u32) -> usize {
        self.in_edges(node).len()
    }

    /// Ids of the edges that point at `node`.
    pub fn in_edges(&self, node: u32) -> std::ops::Range<usize> {
        self.in_offsets[node as usize]..self.in_offsets[node as usize + 1]
    }

    /// N(j): sources of the edges that point at `node`, ascending, in the order of [`Graph::in_edges`].
    pub fn in_neighbours(&self, node: u32) -> &[u32] {
        &self.in_sources[self.in_edges(node)]
    }

    /// Targets of the edges that leave `node`, ascending. The first call indexes all edges by source, in memory.
    pub fn out_neighbours(&self, node: u32) -> &[u32] {
        let by_source = self.by_source();
        &by_source.targets[by_source.range(node)]
    }

    /// Ids of the edges that leave `node`, in the order of [`Graph::out_neighbours`].
    pub fn out_edges(&self, node: u32) -> &[u32] {
        let by_source = self.by_source();
        &by_source.edges[by_source.range(node)]
    }

    /// The CSR's row offsets: in-edges of node j have the ids `offsets[j]..offsets[j + 1]`.
    pub fn in_offsets(&self) -> &[usize] {
        &self.in_offsets
    }

    /// Source of every edge, by edge id.
    pub fn sources(&self) -> &[u32] {
        &self.in_sources
    }

    /// Target of every edge, by edge id.
    pub fn targets(&self) -> Vec<u32> {
        let mut targets = Vec::with_capacity(self.num_edges());
        for j in 0..self.num_nodes() {
            targets.resize(self.in_offsets[j + 1], j as u32);
        }
        targets
    }

    /// Every edge as (source, target), in the order of edge ids.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.num_nodes() as u32).flat_map(|j| self.in_neighbours(j).iter().map(move |&i| (i, j)))
    }
}

impl BySource {
    fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }
}

/// Checks untrusted row offsets: from 0 to the number of values, never falling.
pub(crate) fn check_offsets(offsets: &[usize], num_values: usize) -> Result<(), DataError> {
    if offsets.first() != Some(&0) || offsets.last() != Some(&num_values) {
        return Err(DataError::Invalid(format!("the row offsets do not go from 0 to {num_values}")));
    }
    match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        None => Ok(()),
        Some(row) => Err(DataError::Invalid(format!("the offsets of row {row} fall"))),
    }
}

/// Indices of `keys` in ascending order of key, stable with respect to `order` (default: as they stand).
fn counting_order(num_keys: usize, keys: &[u32], order: Option<&[u32]>) -> Vec<u32> {
    let mut next = vec![0usize; num_keys + 1];
    for &k in keys {
        next[k as usize + 1] += 1;
    }
    for k in 0..num_keys {
        next[k + 1] += next[k];
    }
    let mut sorted = vec![0u32; keys.len()];
    let mut place = |e: u32| {
        let slot = &mut next[keys[e as usize] as usize];
        sorted[*slot] = e;
        *slot += 1;
    };
    match order {
        Some(order) => order.iter().for_each(|&e| place(e)),
        None => (0..keys.len() as u32).for_each(place),
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn symmetrised_adds_every_reverse() {
        let edges = EdgeList { src: vec![0, 1], dst: vec![2, 0] }.symmetrised();
        assert_eq!(edges.src, [0, 1, 2, 0]);
        assert_eq!(edges.dst, [2, 0, 0, 1]);
    }

    #[test]
    fn an_edge_to_a_missing_node_is_refused() {
        let error = Graph::from_edges(3, &[0, 3], &[1, 1]).unwrap_err();
        assert_eq!(error.to_string(), "edge 1 joins node 3 to node 1, but there are only 3 nodes (0 to 2)");
    }

    #[test]
    fn an_untrusted_csr_is_checked() {
        let said = |offsets: &[usize], sources: &[u32]| {
            let graph = Graph::from_unchecked_csr(offsets.to_vec().into(), sources.to_vec().into());
            graph.map(|graph| graph.num_edges()).map_err(|e| e.to_string())
        };
        assert_eq!(said(&[0, 2, 2, 3], &[0, 2, 1]), Ok(3));
        assert_eq!(said(&[0, 0], &[]), Ok(0));
        let wrong: [(&[usize], &[u32], &str); 7] = [
            (&[], &[], "do not go from 0 to 0"),
            (&[0, 1], &[0, 0], "do not go from 0 to 2"),
            (&[1, 2], &[0, 0], "do not go from 0 to 2"),
            (&[0, 2, 1, 2], &[0, 1], "the offsets of row 1 fall"),
            (&[0, usize::MAX, 1], &[0], "the offsets of row 1 fall"),
            (&[0, 2, 2], &[1, 1], "the edges to node 0 do not ascend"),
            (&[0, 0, 2], &[0, 2], "joins node 2 to node 1, but there are only 2 nodes"),
        ];
        for (offsets, sources, problem) in wrong {
            let error = said(offsets, sources).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    proptest! {
        #[test]
        fn the_graph_holds_exactly_the_distinct_edges(
            n in 1u32..40,
            raw in proptest::collection::vec((0u32..40, 0u32..40), 0..200),
        ) {
            let (src, dst): (Vec<u32>, Vec<u32>) = raw.iter().map(|&(s, d)| (s % n, d % n)).unzip();
            let (graph, origin) = Graph::from_edges_with_origin(n as usize, &src, &dst).unwrap();
            let expected: BTreeSet<(u32, u32)> = src.iter().copied().zip(dst.iter().copied()).collect();
            let found: BTreeSet<(u32, u32)> = graph.edges().collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(graph.num_edges(), expected.len());
            // Edge ids agree between the two indices, the target list and the origin of each edge.
            let targets = graph.targets();
            for (e, (s, d)) in graph.edges().enumerate() {
                prop_assert_eq!((graph.sources()[e], targets[e]), (s, d));
                prop_assert_eq!((src[origin[e] as usize], dst[origin[e] as usize]), (s, d));
            }
            for i in 0..n {
                for (&j, &e) in graph.out_neighbours(i).iter().zip(graph.out_edges(i)) {
                    prop_assert_eq!((graph.sources()[e as usize], targets[e as usize]), (i, j));
                }
            }
            prop_assert_eq!((0..n).map(|i| graph.out_neighbours(i).len()).sum::<usize>(), graph.num_edges());
        }
    }
}
