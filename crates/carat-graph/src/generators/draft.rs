//! Graphs under construction: a base, motifs attached to it, and edges at random. Every edge goes both ways.
//!
//! ```text
//! barabasi-albert   m + 1 nodes in a star; each further node joins m nodes that are there, drawn by degree
//! tree              balanced: node k > 0 joins node floor((k - 1) / branches)
//! ladder            two paths of n nodes, the k-th of one joined to the k-th of the other
//! wheel             a cycle of n - 1 nodes, all joined to a hub
//! house             a square with a roof: a cycle of five with one chord
//! crane             a cycle of five with two chords from one node
//! ```

use std::collections::HashSet;
use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::{DataError, EdgeList, Flags, Graph};

/// How many draws of one random edge may hit a pair that is taken before no more are drawn. This happens only where
/// nearly all pairs are taken.
const ATTEMPTS: usize = 1000;

/// A motif: the role of every node, from 1, and the edges.
#[derive(Debug)]
pub(super) struct Motif {
    pub(super) roles: &'static [u32],
    edges: &'static [(u32, u32)],
}

/// Roles: 1 top, 2 middle, 3 bottom.
pub(super) const HOUSE: Motif =
    Motif { roles: &[1, 2, 2, 3, 3], edges: &[(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4)] };

pub(super) const CYCLE_OF_FIVE: Motif = Motif { roles: &[1; 5], edges: &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)] };

pub(super) const CYCLE_OF_SIX: Motif =
    Motif { roles: &[1; 6], edges: &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)] };

pub(super) const CRANE: Motif =
    Motif { roles: &[1; 5], edges: &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (0, 3)] };

/// Three by three.
pub(super) const GRID: Motif = Motif {
    roles: &[1; 9],
    edges: &[(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8)],
};

/// Nodes and edges so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Of every node, 0 outside motifs.
    pub(super) roles: Vec<u32>,
    /// Of every node, the number of its motif.
    motif: Vec<Option<usize>>,
    motifs: usize,
    edges: EdgeList,
    planted: Vec<bool>,
}

impl Draft {
    /// Number of nodes.
    pub(super) fn num_nodes(&self) -> usize {
        self.roles.len()
    }

    fn add_nodes(&mut self, roles: impl IntoIterator<Item = u32>, motif: Option<usize>) -> Range<u32> {
        let first = self.num_nodes();
        self.roles.extend(roles);
        self.motif.resize(self.roles.len(), motif);
        first as u32..self.num_nodes() as u32
    }

    fn add_base(&mut self, nodes: usize) -> Range<u32> {
        self.add_nodes(std::iter::repeat_n(0, nodes), None)
    }

    fn join(&mut self, a: u32, b: u32, is_planted: bool) {
        self.edges.push(a, b);
        self.planted.push(is_planted);
    }

    /// A base of more than `edges_per_node` nodes, which is m.
    pub(super) fn barabasi_albert(&mut self, nodes: usize, m: usize, rng: &mut ChaCha8Rng) -> Range<u32> {
        let base = self.add_base(nodes);
        // Holds a node once for every edge that it has, so that a uniform draw is one by degree.
        let mut urn = Vec::with_capacity(2 * nodes * m);
        let mut drawn: Vec<u32> = Vec::with_capacity(m);
        for node in base.start + m as u32..base.end {
            if urn.is_empty() {
                drawn.extend(base.start..node);
            }
            while drawn.len() < m {
                let other = urn[rng.random_range(0..urn.len())];
                if !drawn.contains(&other) {
                    drawn.push(other);
                }
            }
            for other in drawn.drain(..) {
                self.join(other, node, false);
                urn.extend([other, node]);
            }
        }
        base
    }

    pub(super) fn tree(&mut self, branches: usize, height: u32) -> Range<u32> {
        let base = self.add_base((0..=height).map(|level| branches.pow(level)).sum());
        (1..base.len() as u32).for_each(|k| self.join(base.start + (k - 1) / branches as u32, base.start + k, false));
        base
    }

    pub(super) fn ladder(&mut self, rungs: usize) -> Range<u32> {
        let base = self.add_base(2 * rungs);
        for k in base.clone().step_by(2) {
            self.join(k, k + 1, false);
            if k + 2 < base.end {
                self.join(k, k + 2, false);
                self.join(k + 1, k + 3, false);
            }
        }
        base
    }

    /// Of at least four nodes.
    pub(super) fn wheel(&mut self, nodes: usize) -> Range<u32> {
        let base = self.add_base(nodes);
        let (hub, first) = (base.start, base.start + 1);
        for k in first..base.end {
            self.join(hub, k, false);
            self.join(k, if k + 1 < base.end { k + 1 } else { first }, false);
        }
        base
    }

    /// Adds a motif, whose edges are planted, and joins a random node of it to `place`.
    pub(super) fn attach(&mut self, motif: &Motif, place: u32, rng: &mut ChaCha8Rng) {
        let nodes = self.add_nodes(motif.roles.iter().copied(), Some(self.motifs));
        self.motifs += 1;
        motif.edges.iter().for_each(|&(a, b)| self.join(nodes.start + a, nodes.start + b, true));
        self.join(place, rng.random_range(nodes), false);
    }

    /// Joins up to `count` random pairs, one node of each range, that are not joined and not of one motif: motifs stay
    /// what they are.
    pub(super) fn join_at_random(&mut self, one: Range<u32>, other: Range<u32>, count: usize, rng: &mut ChaCha8Rng) {
        let mut taken: HashSet<(u32, u32)> =
            self.edges.src.iter().zip(&self.edges.dst).map(|(&a, &b)| (a.min(b), a.max(b))).collect();
        for _ in 0..count {
            let pair = (0..ATTEMPTS).find_map(|_| {
                let (a, b) = (rng.random_range(one.clone()), rng.random_range(other.clone()));
                let motifs = [a, b].map(|node| self.motif[node as usize]);
                let is_free = a != b && (motifs[0].is_none() || motifs[0] != motifs[1]);
                (is_free && taken.insert((a.min(b), a.max(b)))).then_some((a, b))
            });
            let Some((a, b)) = pair else { break };
            self.join(a, b, false);
        }
    }

    /// The graph, and for each edge id whether the edge was *not* planted, as [`crate::Dataset::spurious`] has it.
    pub(super) fn finish(self) -> Result<(Graph, Flags), DataError> {
        let (nodes, count) = (self.num_nodes(), self.edges.len());
        let edges = self.edges.symmetrised();
        let (graph, origin) = Graph::from_edges_with_origin(nodes, &edges.src, &edges.dst)?;
        let others = origin.iter().map(|&at| !self.planted[at as usize % count]).collect();
        Ok((graph, others))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sampling::{Purpose, stream};
    use super::*;

    fn degrees(draft: Draft) -> Vec<usize> {
        let graph = draft.finish().unwrap().0;
        (0..graph.num_nodes() as u32).map(|node| graph.in_degree(node)).collect()
    }

    fn degrees_of(make: impl FnOnce(&mut Draft) -> Range<u32>) -> Vec<usize> {
        let mut draft = Draft::default();
        make(&mut draft);
        let mut degrees = degrees(draft);
        degrees.sort_unstable();
        degrees
    }

    #[test]
    fn bases_have_the_degrees_of_their_shapes() {
        let counts = |degrees: &[usize], of: usize| degrees.iter().filter(|&&degree| degree == of).count();
        let tree = degrees_of(|draft| draft.tree(2, 8));
        assert_eq!((tree.len(), counts(&tree, 1), counts(&tree, 2), counts(&tree, 3)), (511, 256, 1, 254));
        let ternary = degrees_of(|draft| draft.tree(3, 2));
        assert_eq!((ternary.len(), counts(&ternary, 1), counts(&ternary, 4)), (13, 9, 3));
        assert_eq!(degrees_of(|draft| draft.tree(3, 0)), [0]);
        let ladder = degrees_of(|draft| draft.ladder(8));
        assert_eq!((ladder.len(), counts(&ladder, 2), counts(&ladder, 3)), (16, 4, 12));
        let wheel = degrees_of(|draft| draft.wheel(15));
        assert_eq!((wheel.len(), counts(&wheel, 3), wheel[14]), (15, 14, 14));
        let mut rng = stream(1, Purpose::Layout, 0);
        let grown = degrees_of(|draft| draft.barabasi_albert(300, 5, &mut rng));
        assert_eq!((grown.len(), grown.iter().sum::<usize>()), (300, 2 * 5 * 295));
        // The star's leaves begin with one edge, and later nodes with five; a few grow large.
        assert!(counts(&grown, 5) > 80 && grown[299] > 30, "{grown:?}");
    }

    #[test]
    fn motifs_have_the_degrees_of_their_shapes_and_all_their_edges_are_planted() {
        let shapes = [
            (&HOUSE, vec![2, 2, 2, 3, 3]),
            (&CYCLE_OF_FIVE, vec![2; 5]),
            (&CYCLE_OF_SIX, vec![2; 6]),
            (&CRANE, vec![2, 2, 3, 3, 4]),
            (&GRID, vec![2, 2, 2, 2, 3, 3, 3, 3, 4]),
        ];
        for (motif, expected) in shapes {
            let mut draft = Draft::default();
            let place = draft.tree(2, 0).start;
            draft.attach(motif, place, &mut stream(1, Purpose::Layout, 0));
            let (graph, others) = draft.finish().unwrap();
            let planted = |node: u32| graph.in_edges(node).filter(|&edge| !others[edge]).count();
            let mut degrees: Vec<usize> = (1..graph.num_nodes() as u32).map(planted).collect();
            degrees.sort_unstable();
            assert_eq!(degrees, expected);
            // The edge that attaches it, both ways.
            assert_eq!((others.count(), planted(0), graph.in_degree(0)), (2, 0, 1));
        }
    }

    #[test]
    fn random_edges_leave_motifs_as_they_are_and_stop_where_all_pairs_are_taken() {
        let mut rng = stream(3, Purpose::Layout, 0);
        let mut draft = Draft::default();
        let base = draft.tree(2, 1);
        (0..2).for_each(|_| draft.attach(&HOUSE, base.start, &mut rng));
        let nodes = 0..draft.num_nodes() as u32;
        draft.join_at_random(nodes.clone(), nodes, 1000, &mut rng);
        let graph = draft.finish().unwrap().0;
        // 13 nodes with 78 pairs, less the four of each house that are not joined.
        assert_eq!(graph.num_edges(), 2 * (78 - 2 * 4));
        assert!(graph.edges().all(|(i, j)| i != j));
    }
}
