//! The least that one training step must compute and move, phase by phase: the work of the algorithm, whatever the
//! code.
//!
//! Operations count a multiply-add as two. Bytes count every array once for each pass that has to read or write it, as
//! if rows that several edges share were fetched once; a machine whose caches are too small fetches more.

use std::ops::Add;

use carat_graph::{Block, Blocks};
use serde::Serialize;

use crate::encoder::Input;
use crate::layers::LayerShape;
use crate::network::{Network, NetworkConfig};
use crate::real::Real;

/// Operations and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Floating-point operations.
    pub operations: f64,
    /// Bytes read and written.
    pub bytes: f64,
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { operations: self.operations + other.operations, bytes: self.bytes + other.bytes }
    }
}

/// Sizes of a layer's block, as floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerSizes {
    /// F.
    pub width: f64,
    /// K.
    pub heads: f64,
    /// Nodes whose inputs the layer reads.
    pub sources: f64,
    /// Nodes that it computes.
    pub targets: f64,
    /// Edges between them.
    pub edges: f64,
}

impl LayerSizes {
    pub(crate) fn of(LayerShape { width, heads, .. }: LayerShape, block: Block<'_>) -> Self {
        Self {
            width: width as f64,
            heads: heads as f64,
            sources: block.num_sources() as f64,
            targets: block.num_targets() as f64,
            edges: block.num_edges() as f64,
        }
    }

    /// Numbers per edge that every kind moves: attention is written once and read twice, the scores' gradient written
    /// and read, and the edges' ends are read by three passes.
    pub(crate) fn edge_numbers(&self) -> f64 {
        self.edges * (5.0 * self.heads + 3.0)
    }
}

/// Bytes of a number, and of an index.
const NUMBER: f64 = 4.0;

/// Adam's operations per parameter.
const ADAM: f64 = 12.0;

impl Cost {
    /// Operations, and numbers of four bytes.
    pub fn new(operations: f64, numbers: f64) -> Self {
        Self { operations, bytes: NUMBER * numbers }
    }
}

impl<T: Real> Network<T> {
    /// The least cost of a step on these blocks, by phase; `None` for a kind that does not state its own.
    pub fn step_costs(&self, blocks: &Blocks, input: &Input<T>) -> Option<Vec<(String, Cost)>> {
        let kind = self.attention.as_costs()?;
        let NetworkConfig { features, hidden, layers, classes, .. } = self.config();
        let shape = self.config().shape();
        let (width, classes) = (hidden as f64, classes as f64);
        let nodes = blocks.nodes().len() as f64;
        // h is written, and read with its gradient; a sparse value has an index.
        let numbers = if input.is_sparse() { 2.0 } else { 1.0 };
        let values = input.num_values() as f64;
        let encoder = Cost::new(
            4.0 * values * width,
            2.0 * values * numbers + 2.0 * features as f64 * width + 3.0 * nodes * width,
        );
        let mut costs = vec![("encoder".to_string(), encoder)];
        let mut layer_costs = Vec::new();
        let pair = self.pair(blocks).map(|pair| (pair, [layers - 2, layers - 1].map(|l| blocks.layer(l))));
        for l in 0..if pair.is_some() { layers - 2 } else { layers } {
            layer_costs.push(kind.cost(LayerSizes::of(shape, blocks.layer(l))));
        }
        if let Some((pair, blocks)) = pair {
            layer_costs.extend(pair.costs(shape, blocks));
        }
        costs.extend(layer_costs.into_iter().enumerate().map(|(l, cost)| (format!("layer {}", l + 1), cost)));
        let (targets, entities) = (blocks.targets().len() as f64, blocks.num_entities() as f64);
        let classifier = Cost::new(12.0 * entities * width * classes, 6.0 * targets * width + 4.0 * entities * classes);
        costs.push(("classifier".to_string(), classifier));
        let parameters = self.parameters().len() as f64;
        costs.push(("Adam".to_string(), Cost::new(ADAM * parameters, 7.0 * parameters)));
        Some(costs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AttentionKind;
    use carat_graph::{BlockBuilder, Features, Graph};

    #[test]
    fn a_tiny_step_costs_what_a_count_by_hand_says() {
        let graph = Graph::from_edges(3, &[1, 2, 2], &[0, 0, 1]).unwrap();
        let features = Features::dense(3, 5, vec![1.0; 15]).unwrap();
        let blocks = BlockBuilder::new(&graph).build(&[0], 1);
        let input = Input::<f32>::for_training(&features, blocks.nodes());
        for (arch, layer) in [
            // One target, three sources, two edges, F = 2, K = 3: the value matrices thrice, the edges thrice, the
            // scores.
            (AttentionKind::Gat, 6.0 * 12.0 + 6.0 * 12.0 + 6.0 * 4.0 * 6.0),
            (AttentionKind::GatV2, 6.0 * 4.0 * 12.0 + 19.0 * 12.0),
            (AttentionKind::Transformer, 6.0 * (24.0 + 12.0 + 4.0) + 12.0 * 12.0),
        ] {
            let config =
                NetworkConfig { arch, features: 5, hidden: 2, heads: 3, layers: 1, classes: 4, ..Default::default() };
            let network = Network::<f32>::new(config, 0).unwrap();
            let costs = network.step_costs(&blocks, &input).unwrap();
            assert_eq!(
                costs.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(),
                ["encoder", "layer 1", "classifier", "Adam"]
            );
            assert_eq!(costs[0].1, Cost { operations: 4.0 * 15.0 * 2.0, bytes: 4.0 * (30.0 + 20.0 + 18.0) });
            assert_eq!(costs[1].1.operations, layer, "{arch}");
            assert_eq!(costs[2].1.operations, 3.0 * 2.0 * 4.0 * 4.0);
            assert_eq!(costs[3].1.bytes, 28.0 * network.parameters().len() as f64);
        }
    }
    #[test]
    fn two_layers_together_cost_what_a_count_by_hand_says() {
        // Four nodes read by one, and a fifth read by each of them.
        let graph = Graph::from_edges(6, &[1, 2, 3, 4, 5, 5, 5, 5], &[0, 0, 0, 0, 1, 2, 3, 4]).unwrap();
        let features = Features::dense(6, 5, vec![1.0; 30]).unwrap();
        let layers = |targets: &[u32], arch| {
            let blocks = BlockBuilder::new(&graph).build(targets, 2);
            let input = Input::<f32>::for_training(&features, blocks.nodes());
            let config =
                NetworkConfig { arch, features: 5, hidden: 20, heads: 2, layers: 2, classes: 4, ..Default::default() };
            let network = Network::<f32>::new(config, 0).unwrap();
            let costs = network.step_costs(&blocks, &input).unwrap();
            [1, 2].map(|l| costs[l].1.operations)
        };
        // Two slots; eight edges; scores of six sources and five targets. One target; four edges with rows of both
        // heads; scores of five sources and one target with such rows.
        let lower = 6.0 * 2.0 * 40.0 * 20.0 + 6.0 * 8.0 * 40.0 + 6.0 * 11.0 * 40.0;
        let upper = 6.0 * 40.0 * 20.0 + 6.0 * 4.0 * 2.0 * 40.0 + 6.0 * 6.0 * 2.0 * 40.0;
        assert_eq!(layers(&[0], AttentionKind::Gat), [lower, upper]);
        // Where all nodes are targets, each is computed once.
        let one_layer = |targets: f64, sources: f64, edges: f64| {
            6.0 * targets * 40.0 * 20.0 + 6.0 * edges * 40.0 + 6.0 * (targets + sources) * 40.0
        };
        let every = [0, 1, 2, 3, 4, 5];
        assert_eq!(layers(&every, AttentionKind::Gat), [one_layer(6.0, 6.0, 8.0), one_layer(6.0, 6.0, 8.0)]);
    }
}
