//! DropEdge (Rong et al., ICLR 2020): every training step leaves out a share p of the edges, the same in every layer.
//! It adds no loss and knows nothing of causes: the control for mere noise on the graph.
//!
//! ```text
//! E_t   = edges e with m(seed, t, e) = 1                  m: 0 with probability p, else 1, a pure function
//! alpha = softmax over the in-edges that are in E_t       a step on the graph with the edges E_t alone
//! ```
//!
//! Where every node attends to itself, self-loops stay. Evaluation, effects and attention of a trained network use all
//! edges.

use std::borrow::Cow;

use carat_graph::{Blocks, Graph};
use carat_nn::{Input, Masks, Place, Real};

use crate::settings::{Arm, RegulariserSettings};

/// Leaves edges out of training steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DropEdge {
    rate: f64,
}

impl DropEdge {
    /// With these settings, if they ask for it.
    pub(crate) fn new(config: &RegulariserSettings) -> Option<Self> {
        (config.arm == Arm::DropEdge).then_some(Self { rate: config.drop_rate })
    }

    /// The blocks and the input of a step with these masks over blocks of `graph`.
    pub(crate) fn apply<'a, T: Real>(
        self,
        graph: &Graph,
        blocks: &'a Blocks,
        input: &'a Input<T>,
        masks: Masks,
    ) -> (Cow<'a, Blocks>, Cow<'a, Input<T>>) {
        let Some(mask) = masks.at(Place::Edges, self.rate) else {
            return (Cow::Borrowed(blocks), Cow::Borrowed(input));
        };
        let (block, ids) = (blocks.layer(0), blocks.edge_ids());
        let stays = |j: usize, e: usize| graph.adds_self_loops() && block.sources()[e] as usize == j;
        let is_left_out = |e: usize| mask.row::<f32>(ids[e]).factor(0) == 0.0;
        let left_out: Vec<u32> = (0..block.num_targets())
            .flat_map(|j| (block.offsets()[j]..block.offsets()[j + 1]).filter(move |&e| !stays(j, e) && is_left_out(e)))
            .map(|e| e as u32)
            .collect();
        let cut = blocks.without(&left_out);
        let input = match input.edge_features() {
            [] => Cow::Borrowed(input),
            _ => Cow::Owned(input.of_cut(blocks, &cut)),
        };
        (Cow::Owned(cut), input)
    }
}

#[cfg(test)]
mod tests {
    use carat_graph::{BlockBuilder, EdgeFeatures, Features};
    use carat_nn::{
        AttentionKind, BlockConfig, Join, Keep, Network, NetworkConfig, Norm, Pass, Residual, Workspace, check,
    };

    use super::*;

    const NODES: usize = 14;
    const RATE: f64 = 0.4;
    const LABELS: [u32; 4] = [0, 1, 2, 0];

    fn graph() -> Graph {
        let (src, dst): (Vec<u32>, Vec<u32>) =
            (0..60u32).map(|e| ((e * e + 3 * e) % NODES as u32, (5 * e + e / 7) % NODES as u32)).unzip();
        Graph::from_edges(NODES, &src, &dst).unwrap()
    }

    fn features() -> Features {
        Features::dense(NODES, 3, (0..NODES * 3).map(|v| (2.0 * v as f32).sin()).collect()).unwrap()
    }

    fn edge_features(rows: impl Iterator<Item = u32>) -> EdgeFeatures {
        let values = rows.flat_map(|edge| [(3.0 * edge as f32).cos(), (edge as f32).sin()]);
        EdgeFeatures::new(vec!["a".into(), "b".into()], values.collect::<Vec<f32>>()).unwrap()
    }

    /// Input of the first layer for blocks of a graph whose edges were those of another under these numbers.
    fn input(config: NetworkConfig, graph: &Graph, blocks: &Blocks, ids: &[u32]) -> Input<f64> {
        let input = Input::new(&features(), blocks.nodes());
        if config.edge_features == 0 {
            return input;
        }
        input.with_edge_features(&edge_features(ids.iter().copied()).of_blocks(graph, blocks).unwrap())
    }

    fn networks() -> impl Iterator<Item = Network<f64>> {
        let block = BlockConfig {
            residual: Residual::Linear,
            norm: Norm::Layer,
            join: Join::Concat,
            dropout: 0.3,
            ..BlockConfig::default()
        };
        let blocks = [(BlockConfig::default(), 0), (block, 0), (block, 2)];
        let kinds = AttentionKind::ALL.into_iter().flat_map(|arch| (1..=3).map(move |layers| (arch, layers)));
        kinds.flat_map(move |(arch, layers)| {
            blocks.map(|(block, edge_features)| {
                let sizes =
                    NetworkConfig { arch, features: 3, hidden: 4, heads: 2, layers, classes: 3, ..Default::default() };
                Network::new(NetworkConfig { edge_features, block, ..sizes }, 5).unwrap()
            })
        })
    }

    #[test]
    fn a_step_equals_one_on_the_graph_whose_edges_were_deleted() {
        let graph = graph();
        let masks = Masks::new(3, 1);
        let mask = masks.at(Place::Edges, RATE).unwrap();
        let edges: Vec<(u32, u32)> = graph.edges().collect();
        let own_loops = edges.iter().filter(|(src, dst)| src == dst).count();
        let all: Vec<u32> = (0..graph.num_edges() as u32).collect();
        for loops in [false, true] {
            let is_kept = |&edge: &u32| {
                let (src, dst) = edges[edge as usize];
                mask.row::<f64>(edge).factor(0) > 0.0 || loops && src == dst
            };
            let kept: Vec<u32> = all.iter().copied().filter(is_kept).collect();
            assert!(own_loops > 1 && kept.len() > 10 && kept.len() + 10 < graph.num_edges());
            let (src, dst): (Vec<u32>, Vec<u32>) = kept.iter().map(|&edge| edges[edge as usize]).unzip();
            let deleted = Graph::from_edges(NODES, &src, &dst).unwrap().with_self_loops(loops);
            let graph = graph.clone().with_self_loops(loops);
            // Features of an added self-loop are made of those of all edges, dropped ones included.
            for network in networks().filter(|network| !loops || network.config().edge_features == 0) {
                let (config, targets) = (network.config(), [1, 4, 8, 2, 0]);
                let blocks = BlockBuilder::new(&graph).build(&targets, config.layers);
                let rows = input(config, &graph, &blocks, &all);
                let (cut, rows) = DropEdge { rate: RATE }.apply(&graph, &blocks, &rows, masks);
                let without = BlockBuilder::new(&deleted).build(&targets, config.layers);
                let other = input(config, &deleted, &without, &kept);
                let mut gradients = [(&*cut, &*rows), (&without, &other)].map(|(blocks, rows)| {
                    let mut work = Workspace::default();
                    let mut pass = network.training_pass(blocks, rows, masks, Keep::Gradients, &mut work);
                    let loss = pass.loss_and_gradient(&LABELS);
                    let mut all = pass.gradient().to_vec();
                    all.push(loss);
                    all
                });
                let scale = gradients[0].iter().fold(0.0f64, |scale, value| scale.max(value.abs()));
                let [found, expected] = &mut gradients;
                for (found, expected) in found.iter().zip(expected) {
                    assert!((*found - *expected).abs() < 1e-12 * scale, "{config:?}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let graph = graph();
        let masks = Masks::new(9, 4);
        for mut network in networks() {
            let blocks = BlockBuilder::new(&graph).build(&[1, 4, 8, 2, 0], network.config().layers);
            let ids: Vec<u32> = (0..graph.num_edges() as u32).collect();
            let rows = input(network.config(), &graph, &blocks, &ids);
            let (cut, rows) = DropEdge { rate: RATE }.apply(&graph, &blocks, &rows, masks);
            for parameter in check::training_gradient(&mut network, &cut, &rows, &LABELS, masks) {
                assert!(parameter.error < 1e-6, "{:?}: {parameter:?}", network.config());
            }
        }
    }

    #[test]
    fn masks_are_of_edges_and_steps_and_self_loops_stay() {
        let graph = graph().with_self_loops(true);
        let kept = |targets: &[u32], step: u64| {
            let blocks = BlockBuilder::new(&graph).build(targets, 2);
            let rows = Input::<f32>::new(&features(), blocks.nodes());
            let (cut, _) = DropEdge { rate: RATE }.apply(&graph, &blocks, &rows, Masks::new(1, step));
            let loops = |blocks: &Blocks| blocks.edge_ids().iter().filter(|id| **id == Blocks::ADDED).count();
            assert!(loops(&blocks) > 0 && loops(&cut) == loops(&blocks));
            let ids = |blocks: &Blocks| {
                let mut ids = blocks.edge_ids().to_vec();
                ids.sort_unstable();
                ids
            };
            (ids(&cut), ids(&blocks))
        };
        let ((all, _), (some, of_some)) = (kept(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], 0), kept(&[3, 5], 0));
        // An edge is kept or not, whatever else is in the batch.
        let expected: Vec<u32> = of_some.iter().copied().filter(|id| all.binary_search(id).is_ok()).collect();
        assert_eq!(some, expected);
        assert_ne!(kept(&[3, 5], 1).0, some);
    }
}
