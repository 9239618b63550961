use carat_graph::{BlockBuilder, Features, Graph};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::check::difference;
use crate::pass::Pass;
use crate::{Activation, AttentionKind, BlockConfig, ClassifierInput, Join, Norm, Residual, loss};

/// Blocks of two layers about: an edge that a node far away has, a hub, a node with one in-edge, and a self-loop.
fn graph(rng: &mut ChaCha8Rng) -> Graph {
    let mut edges: Vec<(u32, u32)> = (3..10).map(|i| (i, 2)).chain([(1, 3), (8, 8), (11, 0)]).collect();
    edges.extend((0..30).map(|_| (rng.random_range(0..12), rng.random_range(0..10))));
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
    Graph::from_edges(12, &src, &dst).unwrap()
}

fn block(join: Join, norm: Norm) -> BlockConfig {
    let block = BlockConfig { join, norm, ..BlockConfig::default() };
    match norm {
        Norm::None => block,
        _ => BlockConfig {
            residual: Residual::Linear,
            activation: Activation::Elu,
            classifier: ClassifierInput::Last,
            attention_dropout: 0.3,
            dropout: 0.5,
            ..block
        },
    }
}

/// A network away from its start, where attention is nearly uniform and running statistics are 0 and 1.
fn network(config: NetworkConfig, rng: &mut ChaCha8Rng) -> Network<f64> {
    let mut network = Network::<f64>::new(config, 3).unwrap();
    network.parameters_mut().iter_mut().for_each(|p| *p = 1.5 * *p + rng.random_range(-0.2..0.2));
    network.buffers_mut().iter_mut().for_each(|value| *value += rng.random_range(0.0..0.5));
    network
}

/// Every gate of every kind, one to three layers, both joins and all norms, with added self-loops and features of
/// edges.
#[test]
fn gradients_are_those_of_differences() {
    for arch in AttentionKind::ALL {
        for (layers, heads, join, norm, edge_features, loops) in [
            (1, 1, Join::Mean, Norm::None, 0, false),
            (1, 3, Join::Mean, Norm::Layer, 0, false),
            (2, 3, Join::Mean, Norm::None, 0, false),
            (2, 2, Join::Concat, Norm::Layer, 0, true),
            (3, 2, Join::Concat, Norm::Batch, 0, false),
            (3, 2, Join::Mean, Norm::None, 2, false),
            (2, 2, Join::Concat, Norm::Batch, 2, true),
        ] {
            let what = format!("{arch} L={layers} K={heads} {join} {norm} features {edge_features} loops {loops}");
            let mut rng = ChaCha8Rng::seed_from_u64(layers as u64);
            let graph = graph(&mut rng).with_self_loops(loops);
            let mut values = |count| (0..count).map(|_| rng.random_range(-1.0..1.0f32)).collect::<Vec<_>>();
            let features = Features::dense(12, 5, values(60)).unwrap();
            let sizes = NetworkConfig { features: 5, hidden: 6, heads, layers, classes: 3, ..Default::default() };
            let config = NetworkConfig { arch, edge_features, block: block(join, norm), ..sizes };
            let blocks = BlockBuilder::new(&graph).build(&[2, 0], layers);
            let edges = blocks.edge_ids().len();
            let of_edges: Vec<f32> = values(edges * edge_features);
            let input = Input::new(&features, blocks.nodes());
            let input = if edge_features > 0 { input.with_edge_features(&of_edges) } else { input };
            let network = network(config, &mut rng);
            let gated = GatedNetwork::new(&network).unwrap();
            let (mut work, mut gradient) = (Workspace::default(), Vec::new());
            let mut pass = gated.pass(&blocks, &input, &mut work);

            // With all gates open it is the network itself.
            let open = vec![1.0; edges];
            let mut plain = Workspace::default();
            let plain = network.forward(&blocks, &input, Keep::Scores, &mut plain);
            for (found, expected) in pass.scores(&open).iter().zip(plain.scores()) {
                assert!((found - expected).abs() < 1e-12, "{what}: {found} for {expected}");
            }

            let labels = [1, 2];
            let mut at: Vec<f64> = (0..edges).map(|_| rng.random_range(0.2..1.2)).collect();
            let value = pass.loss_and_gradient(&at, &labels, &mut gradient);
            assert_eq!(gradient.len(), edges);
            let mut loss = |gates: &[f64]| {
                let rows = pass.scores(gates).chunks_exact(3).zip(labels);
                rows.map(|(scores, label)| loss::cross_entropy(scores, label as usize)).sum::<f64>() / 2.0
            };
            assert!((value - loss(&at)).abs() < 1e-14);
            let scale = gradient.iter().fold(0.0f64, |scale, g| scale.max(g.abs()));
            assert!(scale > 1e-3, "{what}: no gradient worth checking");
            for (e, &analytic) in gradient.iter().enumerate() {
                let here = at[e];
                let numeric = difference(analytic, |shift| {
                    at[e] = here + shift;
                    loss(&at)
                });
                at[e] = here;
                let error = (analytic - numeric).abs() / scale;
                assert!(error < 1e-7, "{what}: gate {e} is {analytic}, but differences give {numeric}");
            }
        }
    }
}

/// One layer, by hand: a closed gate takes alpha times the value away, and the other messages stay as they are.
#[test]
fn a_closed_gate_leaves_the_other_messages() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let graph = Graph::from_edges(4, &[0, 1, 2], &[3, 3, 3]).unwrap();
    let features = Features::dense(4, 3, (0..12).map(|n| (n as f32).sin()).collect()).unwrap();
    let block = BlockConfig { classifier: ClassifierInput::Last, ..BlockConfig::default() };
    let sizes = NetworkConfig { features: 3, hidden: 4, heads: 1, layers: 1, classes: 2, ..Default::default() };
    let network = network(NetworkConfig { block, ..sizes }, &mut rng);
    let gated = GatedNetwork::new(&network).unwrap();
    let blocks = BlockBuilder::new(&graph).build(&[3], 1);
    let (input, mut work) = (Input::new(&features, blocks.nodes()), Workspace::default());
    let mut pass = gated.pass(&blocks, &input, &mut work);
    // Scores are linear in the gates here, and what each gate lets through does not depend on the others.
    let mut scores = |gates: [f64; 3]| pass.scores(&gates)[0];
    let all = scores([1.0; 3]);
    let none = scores([0.0; 3]);
    let single = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|gates| scores(gates) - none);
    assert!((all - none - single.iter().sum::<f64>()).abs() < 1e-12);
    assert!((scores([0.5, 1.0, 0.0]) - none - 0.5 * single[0] - single[1]).abs() < 1e-12);
    assert!(single.iter().all(|part| part.abs() > 1e-3), "{single:?}");
}
