//! Which in-edges are deleted in a step.
//!
//! A draw picks one edge of every entity, uniformly: an in-edge of a node, or any edge of a graph. Exact interventions
//! measure each edge by itself, so none is ever rejected. In the paper's rounds the edges of a draw are deleted
//! together, so an edge only joins the round if it is independent of it: deleting (i, n) changes the prediction of
//! every entity that n lies within L - 1 hops of, so no two chosen entities may lie that close. Graphs of a set never
//! interfere. Self-loops that were added are no edges of the data, so they are never deleted.

use carat_graph::{Blocks, Reach};
use carat_nn::Deletion;
use rand::{Rng, RngExt};

/// Draws one edge of each of these entities, all of which have some.
pub(crate) fn draw<R: Rng>(blocks: &Blocks, entities: impl Iterator<Item = u32>, rng: &mut R) -> Vec<Deletion> {
    let draw = |entity: u32| {
        let place = rng.random_range(0..blocks.num_own_edges(entity as usize));
        deletion(blocks, entity, blocks.own_edge(entity as usize, place))
    };
    entities.map(draw).collect()
}

/// Every edge of each of these entities.
pub(crate) fn every_edge(blocks: &Blocks, entities: impl Iterator<Item = u32>) -> Vec<Deletion> {
    let of_entity = |entity: u32| blocks.own_edges(entity as usize).map(move |edge| deletion(blocks, entity, edge));
    entities.flat_map(of_entity).collect()
}

/// Rounds with one edge of every graph each: the first round has the first edges, and so on.
pub(crate) fn edges_in_turn(blocks: &Blocks, graphs: impl Iterator<Item = u32>) -> Vec<Vec<Deletion>> {
    let mut rounds: Vec<Vec<Deletion>> = Vec::new();
    for graph in graphs {
        for (round, edge) in blocks.own_edges(graph as usize).enumerate() {
            if round == rounds.len() {
                rounds.push(Vec::new());
            }
            rounds[round].push(deletion(blocks, graph, edge));
        }
    }
    rounds
}

fn deletion(blocks: &Blocks, entity: u32, edge: usize) -> Deletion {
    match blocks.graphs() {
        None => Deletion { target: entity, edge: edge as u32 },
        Some(_) => Deletion::of_edge(blocks, edge as u32),
    }
}

/// Finds independent deletions. Reused from round to round.
#[derive(Debug, Default)]
pub(crate) struct Independence {
    /// 1 + the number of the round in which a node was covered: it lies within L - 1 hops of a chosen entity.
    covered: Vec<u32>,
    /// The same for chosen entities.
    chosen: Vec<u32>,
    reach: Reach,
    round: u32,
}

impl Independence {
    /// Starts a round, in which nothing is chosen yet.
    pub(crate) fn start(&mut self, blocks: &Blocks) {
        let nodes = blocks.nodes().len();
        self.covered.resize(nodes, 0);
        self.chosen.resize(nodes, 0);
        if self.round == u32::MAX {
            self.covered.fill(0);
            self.chosen.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    /// Chooses `target` if it is independent of everything chosen in this round, and returns whether it is.
    pub(crate) fn choose(&mut self, blocks: &Blocks, target: u32) -> bool {
        if self.covered[target as usize] == self.round {
            return false;
        }
        let Self { covered, chosen, reach, round } = self;
        let near = reach.within(blocks, target, blocks.num_layers() - 1);
        if near.iter().any(|&j| chosen[j as usize] == *round) {
            return false;
        }
        near.iter().for_each(|&j| covered[j as usize] = *round);
        chosen[target as usize] = *round;
        true
    }

    /// The deletions of a draw that can be made together, in their order.
    pub(crate) fn independent(&mut self, blocks: &Blocks, drawn: &[Deletion]) -> Vec<Deletion> {
        self.start(blocks);
        drawn.iter().copied().filter(|deletion| self.choose(blocks, deletion.target)).collect()
    }

    /// Distributes all deletions over rounds, so that those of one round can be made together.
    pub(crate) fn share_out(&mut self, blocks: &Blocks, deletions: &[Deletion]) -> Vec<Vec<Deletion>> {
        let mut left = deletions.to_vec();
        let mut rounds = Vec::new();
        while !left.is_empty() {
            self.start(blocks);
            // The first deletion of a round has nothing to depend on, so every round has at least one.
            let (round, rest) = left.into_iter().partition(|deletion| self.choose(blocks, deletion.target));
            rounds.push(round);
            left = rest;
        }
        rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_graph::{BlockBuilder, Graph};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeSet;

    /// Nodes within `hops` hops of `node`.
    fn within(graph: &Graph, node: u32, hops: usize) -> BTreeSet<u32> {
        let mut reached = BTreeSet::from([node]);
        for _ in 0..hops {
            let more: Vec<u32> = reached.iter().flat_map(|&j| graph.in_neighbours(j)).copied().collect();
            reached.extend(more);
        }
        reached
    }

    proptest! {
        #[test]
        fn no_two_chosen_edges_interfere_and_rejections_have_a_reason(
            edges in proptest::collection::vec((0u32..25, 0u32..25), 1..60), layers in 1usize..4, seed: u64,
        ) {
            let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
            let graph = Graph::from_edges(25, &src, &dst).unwrap();
            let entities: Vec<u32> = (0..25).filter(|&n| graph.in_degree(n) > 0).collect();
            let blocks = BlockBuilder::new(&graph).build(&entities, layers);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut independence = Independence::default();
            let interfere = |a: u32, b: u32| {
                let (a, b) = (blocks.nodes()[a as usize], blocks.nodes()[b as usize]);
                within(&graph, a, layers - 1).contains(&b) || within(&graph, b, layers - 1).contains(&a)
            };
            for _ in 0..3 {
                let drawn = draw(&blocks, 0..entities.len() as u32, &mut rng);
                let chosen = independence.independent(&blocks, &drawn);
                for (at, a) in chosen.iter().enumerate() {
                    prop_assert!(chosen[..at].iter().all(|b| !interfere(a.target, b.target)));
                }
                for d in drawn.iter().filter(|d| !chosen.contains(d)) {
                    prop_assert!(chosen.iter().any(|c| interfere(d.target, c.target)));
                }
                prop_assert!(layers > 1 || chosen.len() == drawn.len());
            }
            let all = every_edge(&blocks, 0..entities.len() as u32);
            prop_assert_eq!(all.len(), graph.num_edges());
            let rounds = independence.share_out(&blocks, &all);
            let mut together: Vec<Deletion> = rounds.concat();
            together.sort_unstable();
            prop_assert_eq!(together, all);
            for round in rounds {
                for (at, a) in round.iter().enumerate() {
                    prop_assert!(round[..at].iter().all(|b| !interfere(a.target, b.target)));
                }
            }
        }
    }

    #[test]
    fn draws_are_uniform() {
        let graph = Graph::from_edges(5, &[0, 1, 2, 3], &[4, 4, 4, 4]).unwrap();
        let blocks = BlockBuilder::new(&graph).build(&[4], 2);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0usize; 4];
        for _ in 0..4000 {
            counts[draw(&blocks, [0].into_iter(), &mut rng)[0].edge as usize] += 1;
        }
        // Four standard deviations of a binomial are 110.
        assert!(counts.iter().all(|c| c.abs_diff(1000) < 110), "{counts:?}");
    }
}
