//! SuperGAT's regulariser (Kim & Oh, ICLR 2021): attention's scores before the softmax also have to tell edges from
//! pairs of nodes without one.
//!
//! ```text
//! L_c = mean over layers l of mean over pairs (i, j) of BCE(sigmoid(s^l_ij), [i -> j is an edge])
//! s^l_ij = mean over heads of score^l_ijk              d score_ijk = (sigmoid(s_ij) - [edge]) / (K pairs)
//! ```
//!
//! Every step draws pairs for each layer: a share of the edges of its block, and for each of them some pairs of a
//! target and a source of the block that no edge joins in either direction, as PyG's SuperGATConv does. Where graphs
//! are classified, both are nodes of one graph. Self-loops that were added are no edges of the graph, and no node is
//! paired with itself. An own loop of the data is an edge like others.

use std::sync::Arc;

use carat_graph::{Block, Blocks, Graph};
use carat_nn::{NodePairs, Pass, Real};
use rand::{Rng, RngExt};

use crate::settings::RegulariserSettings;

/// Pairs that are drawn at most for every pair without an edge that is wanted: in a dense graph there may be none.
const DRAWS: usize = 20;

/// The pairs that one step's attention has to tell apart.
#[derive(Debug, Clone)]
pub struct EdgePrediction {
    layers: Vec<LayerPairs>,
}

/// Pairs of a layer, of which the first are edges.
#[derive(Debug, Clone)]
struct LayerPairs {
    pairs: Arc<NodePairs>,
    edges: usize,
}

impl EdgePrediction {
    /// Edges and other pairs for every layer of some blocks, as (source, target) in local numbers.
    pub fn of_pairs(blocks: &Blocks, layers: Vec<[Vec<[u32; 2]>; 2]>) -> Self {
        let layers = layers.into_iter().enumerate().map(|(layer, [edges, others])| LayerPairs {
            edges: edges.len(),
            pairs: Arc::new(NodePairs::new(blocks.layer(layer), [edges, others].concat())),
        });
        Self { layers: layers.collect() }
    }

    /// Draws the pairs of a step over blocks of `graph`.
    pub(crate) fn draw(blocks: &Blocks, graph: &Graph, config: &RegulariserSettings, rng: &mut impl Rng) -> Self {
        let of_layer = |layer: usize| {
            let block = blocks.layer(layer);
            let edges = draw_edges(blocks, block, config.edge_sample, rng);
            // As many as the drawn edges would have on average.
            let wanted = (config.negative_ratio * config.edge_sample * block.num_edges() as f64) as usize;
            let others = draw_others(blocks, block, graph, wanted, rng);
            [edges, others]
        };
        Self::of_pairs(blocks, (0..blocks.num_layers()).map(of_layer).collect())
    }

    /// True where there is nothing to tell apart.
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| layer.pairs.is_empty())
    }

    /// L_c of a forward pass; leaves its gradient, each layer's times its lambda, in the pass.
    pub fn pull<T: Real>(&self, pass: &mut dyn Pass<T>, lambda: &[f64]) -> f64 {
        let total: f64 = (0..self.layers.len()).map(|layer| self.pull_layer(pass, layer, lambda[layer])).sum();
        total / self.layers.len() as f64
    }

    /// The part of L_c that comes from one layer, before the mean over layers. Leaves lambda times the gradient of its
    /// share in the pass.
    pub fn pull_layer<T: Real>(&self, pass: &mut dyn Pass<T>, layer: usize, lambda: f64) -> f64 {
        let LayerPairs { pairs, edges } = &self.layers[layer];
        if pairs.is_empty() {
            return 0.0;
        }
        let heads = pass.config().heads;
        let mut scores = pass.pair_scores(layer, pairs);
        let (mut total, count) = (0.0, pairs.len() as f64);
        let weight = lambda / (self.layers.len() as f64 * count * heads as f64);
        for (pair, scores) in scores.chunks_exact_mut(heads).enumerate() {
            let mean = scores.iter().map(|score| score.to_f64()).sum::<f64>() / heads as f64;
            let label = if pair < *edges { 1.0 } else { 0.0 };
            total += mean.max(0.0) - label * mean + (-mean.abs()).exp().ln_1p();
            scores.fill(T::from_f64(weight * (sigmoid(mean) - label)));
        }
        pass.set_pair_gradient(layer, Arc::clone(pairs), scores);
        total / count
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Each edge of a block with this probability.
fn draw_edges(blocks: &Blocks, block: Block<'_>, share: f64, rng: &mut impl Rng) -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for j in 0..block.num_targets() {
        for e in block.offsets()[j]..block.offsets()[j + 1] {
            if blocks.edge_ids()[e] != Blocks::ADDED && rng.random_bool(share) {
                edges.push([block.sources()[e], j as u32]);
            }
        }
    }
    edges
}

/// Pairs of a source and a target of a block that no edge of the graph joins: as many as wanted, if they are found.
fn draw_others(blocks: &Blocks, block: Block<'_>, graph: &Graph, wanted: usize, rng: &mut impl Rng) -> Vec<[u32; 2]> {
    let nodes = blocks.nodes();
    let is_edge = |i: u32, j: u32| graph.in_neighbours(nodes[j as usize]).binary_search(&nodes[i as usize]).is_ok();
    let mut pairs = Vec::with_capacity(wanted);
    let draws = if block.num_targets() > 0 { DRAWS * wanted } else { 0 };
    for _ in 0..draws {
        if pairs.len() == wanted {
            break;
        }
        let j = rng.random_range(0..block.num_targets());
        let sources = match blocks.graphs() {
            None => 0..block.num_sources(),
            Some(_) => blocks.entity(blocks.entity_of(j)),
        };
        let (i, j) = (rng.random_range(sources) as u32, j as u32);
        if i != j && !is_edge(i, j) && !is_edge(j, i) {
            pairs.push([i, j]);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use carat_graph::{BlockBuilder, Dataset, DatasetParts, Features, Labels};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn graph(nodes: u32) -> Graph {
        let (src, dst): (Vec<u32>, Vec<u32>) =
            (0..3 * nodes).map(|e| ((e * e + 3 * e) % nodes, (5 * e + e / 7) % nodes)).unzip();
        Graph::from_edges(nodes as usize, &src, &dst).unwrap()
    }

    fn drawn(blocks: &Blocks, graph: &Graph, [sample, ratio]: [f64; 2]) -> EdgePrediction {
        let config = RegulariserSettings { edge_sample: sample, negative_ratio: ratio, ..Default::default() };
        EdgePrediction::draw(blocks, graph, &config, &mut ChaCha8Rng::seed_from_u64(5))
    }

    #[test]
    fn drawn_pairs_are_edges_and_pairs_without_one_in_either_direction() {
        for loops in [false, true] {
            let graph = graph(40).with_self_loops(loops);
            for blocks in [
                BlockBuilder::new(&graph).build(&[3, 9, 20, 1], 2),
                BlockBuilder::new(&graph).sample(&[3, 9, 20, 1, 7], &[2, 2], 1),
            ] {
                let prediction = drawn(&blocks, &graph, [1.0, 2.0]);
                for (l, LayerPairs { pairs, edges }) in prediction.layers.iter().enumerate() {
                    let own = (0..blocks.layer(l).num_edges()).filter(|e| blocks.edge_ids()[*e] != Blocks::ADDED);
                    assert_eq!(*edges, own.count());
                    assert_eq!(pairs.len() - edges, 2 * blocks.layer(l).num_edges());
                    for (at, pair) in pairs.pairs().iter().enumerate() {
                        let [i, j] = pair.map(|n| blocks.nodes()[n as usize]);
                        let joins = |i: u32, j: u32| graph.in_neighbours(j).contains(&i);
                        assert_eq!(joins(i, j) || joins(j, i), at < *edges, "{i} {j}");
                        assert!(at < *edges || i != j);
                    }
                }
            }
        }
        let (graph, all) = (graph(2000), (0..2000).collect::<Vec<u32>>());
        let blocks = BlockBuilder::new(&graph).build(&all, 1);
        let prediction = drawn(&blocks, &graph, [0.8, 0.5]);
        let (edges, count) = (prediction.layers[0].edges as f64, graph.num_edges() as f64);
        assert!((edges / count - 0.8).abs() < 0.03, "{edges} of {count}");
        assert_eq!(prediction.layers[0].pairs.len() - prediction.layers[0].edges, (0.4 * count) as usize);
    }

    #[test]
    fn a_complete_graph_has_no_other_pairs_and_a_graph_without_edges_no_pairs() {
        let (src, dst): (Vec<u32>, Vec<u32>) = (0..25).map(|e| (e / 5, e % 5)).unzip();
        let complete = Graph::from_edges(5, &src, &dst).unwrap();
        let prediction = drawn(&Blocks::whole(&complete, 1), &complete, [1.0, 1.0]);
        assert_eq!((prediction.layers[0].edges, prediction.layers[0].pairs.len()), (25, 25));
        let empty = Graph::from_edges(5, &[], &[]).unwrap();
        assert!(drawn(&Blocks::whole(&empty, 2), &empty, [1.0, 1.0]).is_empty());
    }

    #[test]
    fn pairs_of_a_set_stay_in_their_graph() {
        let (src, dst) = ([0, 1, 2, 6, 7, 8], [1, 2, 3, 7, 8, 9]);
        let graph = Graph::from_edges(12, &src, &dst).unwrap();
        let labels = Labels::new(vec![Some(0); 3], 1).unwrap();
        let mut parts = DatasetParts::new("set", graph, Features::dense(12, 1, vec![1.0; 12]).unwrap(), labels);
        parts.graph_offsets = Some(vec![0, 6, 11, 12]);
        let dataset = Dataset::new(parts).unwrap();
        let blocks = BlockBuilder::new(dataset.graph()).build_graphs(dataset.graph_set().unwrap(), &[2, 1, 0], 2);
        let prediction = drawn(&blocks, dataset.graph(), [0.5, 4.0]);
        let mut others = 0;
        for LayerPairs { pairs, edges } in &prediction.layers {
            others += pairs.len() - edges;
            assert!(pairs.pairs().iter().all(|pair| {
                let [i, j] = pair.map(|node| blocks.entity_of(node as usize));
                i == j
            }));
        }
        assert!(others > 10);
    }
}
