//! Every hand-derived gradient against central differences, in f64.

use carat_graph::{BlockBuilder, Blocks, CsrMatrix, Features, Graph};
use carat_nn::check::{self, ParameterCheck};
use carat_nn::{AttentionKind, Deletion, Input, Keep, Network, NetworkConfig, Pass, Workspace, loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A graph with every shape a kernel may trip over: a hub, isolated nodes, a node with one in-edge, a self-loop.
fn graph(rng: &mut ChaCha8Rng) -> Graph {
    let (mut src, mut dst) = (vec![5, 6], vec![6, 3]);
    for i in 7..20 {
        src.push(i);
        dst.push(4);
    }
    src.push(8);
    dst.push(8);
    for _ in 0..40 {
        src.push(rng.random_range(2..20));
        dst.push(rng.random_range(7..20));
    }
    Graph::from_edges(20, &src, &dst).unwrap()
}

fn sparse_features(rng: &mut ChaCha8Rng) -> Features {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..20 {
        for column in 0..9 {
            if rng.random_range(0.0..1.0) < 0.4 {
                columns.push(column);
                values.push(rng.random_range(-3.0..3.0f32));
            }
        }
        offsets.push(columns.len());
    }
    Features::sparse(CsrMatrix::new(9, offsets, columns, values).unwrap()).unwrap()
}

fn examine(network: &mut Network<f64>, blocks: &Blocks, input: &Input<f64>, labels: &[u32], what: &str) {
    let prediction = check::gradient_with(network, blocks, input, labels, |_| 0.0);
    let with_attention = check::gradient(network, blocks, input, labels);
    for ParameterCheck { name, error, largest, analytic, numeric } in prediction.into_iter().chain(with_attention) {
        if name.ends_with("lin_key.bias") {
            assert_eq!(largest, 0.0, "{what}: {name} cancels exactly");
            assert!(numeric.abs() < 1e-9);
            continue;
        }
        // With few edges all scores of a target may lie on one side of the LeakyReLU, where att_dst cancels.
        assert!(largest > 1e-6 || what.ends_with("fan-out"), "{what}: {name} has no gradient worth checking");
        assert!(error < 1e-6, "{what}: {name} is {analytic}, but differences give {numeric} (relative {error:e})");
    }
}

#[test]
fn every_parameter_of_every_kind() {
    for arch in AttentionKind::ALL {
        // A width of 5, and one so small that there are more than four nodes per column, where kinds may compute
        // differently.
        for (heads, layers, hidden) in [(1, 1, 5), (3, 1, 5), (1, 2, 5), (3, 2, 5), (2, 3, 5), (3, 1, 3), (2, 2, 3)] {
            let mut rng = ChaCha8Rng::seed_from_u64(42 + layers as u64);
            let graph = graph(&mut rng);
            let features = sparse_features(&mut rng);
            let dense = Features::dense(20, 9, features.to_dense()).unwrap();
            let config = NetworkConfig { arch, features: 9, hidden, heads, layers, classes: 3, ..Default::default() };
            let mut network = Network::<f64>::new(config, 3).unwrap();
            // Larger weights make attention far from uniform.
            for p in network.parameters_mut() {
                *p = 1.5 * *p + rng.random_range(-0.2..0.2);
            }
            let targets = [0, 1, 3, 4, 6, 8, 9, 12];
            let labels: Vec<u32> = (0..targets.len() as u32).map(|n| n % 3).collect();
            let blocks = BlockBuilder::new(&graph).build(&targets, layers);
            for (features, form) in [(&features, "sparse"), (&dense, "dense")] {
                let input = Input::for_training(features, blocks.nodes());
                let what = format!("{arch} F={hidden} K={heads} L={layers} {form}");
                examine(&mut network, &blocks, &input, &labels, &what);
            }
            let sampled = BlockBuilder::new(&graph).sample(&targets, &vec![3; layers], 1);
            let input = Input::for_training(&features, sampled.nodes());
            examine(&mut network, &sampled, &input, &labels, &format!("{arch} K={heads} L={layers} fan-out"));
        }
    }
}

/// Few targets with many nodes below them: the shape in which two layers of gat are computed together.
#[test]
fn every_parameter_of_few_targets_and_the_pass_without_inner_outputs() {
    for (arch, heads, layers) in [
        (AttentionKind::Gat, 1, 2),
        (AttentionKind::Gat, 2, 2),
        (AttentionKind::Gat, 3, 2),
        (AttentionKind::Gat, 3, 3),
        (AttentionKind::GatV2, 2, 2),
        (AttentionKind::Transformer, 2, 2),
    ] {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let (graph, features) = (graph(&mut rng), sparse_features(&mut rng));
        let config = NetworkConfig { arch, features: 9, hidden: 40, heads, layers, classes: 3, ..Default::default() };
        let mut network = Network::<f64>::new(config, 3).unwrap();
        for p in network.parameters_mut() {
            *p = 1.2 * *p + rng.random_range(-0.3..0.3);
        }
        // A node without in-edges, a hub, and one that the hub reads.
        let (targets, labels) = ([0, 4, 12], [0, 2]);
        let blocks = BlockBuilder::new(&graph).build(&targets, layers);
        let input = Input::for_training(&features, blocks.nodes());
        examine(&mut network, &blocks, &input, &labels, &format!("few targets, {arch} K={heads} L={layers}"));

        let (mut whole, mut short) = (Workspace::default(), Workspace::default());
        let mut whole = network.forward(&blocks, &input, Keep::Deletions, &mut whole);
        let mut short = network.forward(&blocks, &input, Keep::Gradients, &mut short);
        for pass in [&mut whole, &mut short] {
            let direct: Vec<f64> = (0..13 * heads).map(|e| (e % 5) as f64 - 2.0).collect();
            for layer in pass.attention_and_gradients().into_iter().skip(layers - 2) {
                layer.gradient.clone_from(&direct);
            }
            pass.loss_and_gradient(&labels);
        }
        let same = |a: &[f64], b: &[f64]| {
            assert_eq!(a.len(), b.len());
            assert!(
                a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + a.abs())),
                "{arch} K={heads} L={layers}"
            );
        };
        same(whole.scores(), short.scores());
        (0..layers).for_each(|l| same(whole.attention(l), short.attention(l)));
        same(whole.gradient(), short.gradient());
        // Both passes can compute deletions.
        let [mut found, mut expected] = [Vec::new(), Vec::new()];
        let edges = blocks.layer(layers - 1).num_edges() as u32;
        let deletions: Vec<Deletion> = (0..edges).map(|edge| Deletion::of_edge(&blocks, edge)).collect();
        whole.scores_without(&deletions, &mut expected);
        short.scores_without(&deletions, &mut found);
        same(&expected, &found);
    }
}

#[test]
fn every_parameter_through_the_readout_of_graphs() {
    let set = crate::support::small_set();
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (3, 1), (2, 2), (1, 3)] {
            let config =
                NetworkConfig { arch, features: 12, hidden: 4, heads, layers, classes: 3, ..Default::default() };
            let mut network = Network::<f64>::new(config, 8).unwrap();
            // Graphs this small have few edges per node; larger weights bring scores to both sides of the LeakyReLU.
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            network.parameters_mut().iter_mut().for_each(|p| *p = 1.5 * *p + rng.random_range(-0.5..0.5));
            // The last graph has no label; an empty graph, one without edges and a single node have one.
            let graphs = [3, 5, 1, 4, 2, 0, 6];
            let blocks = BlockBuilder::new(set.graph()).build_graphs(set.graph_set().unwrap(), &graphs, layers);
            let labels: Vec<u32> = graphs[..6].iter().map(|&g| set.labels().get(g).unwrap()).collect();
            let input = Input::for_training(set.features(), blocks.nodes());
            examine(&mut network, &blocks, &input, &labels, &format!("graphs, {arch} K={heads} L={layers}"));
            let error = check::deletions(&network, &blocks, &input);
            assert!(error < 1e-9, "{arch} K={heads} L={layers}: copies without an edge are off by {error:e}");
        }
    }
}

#[test]
fn the_loss_is_the_mean_cross_entropy_of_the_labelled_targets() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (graph, features) = (graph(&mut rng), sparse_features(&mut rng));
    let config = NetworkConfig {
        arch: AttentionKind::Gat,
        features: 9,
        hidden: 5,
        heads: 2,
        layers: 2,
        classes: 3,
        ..Default::default()
    };
    let network = Network::<f64>::new(config, 3).unwrap();
    let blocks = BlockBuilder::new(&graph).build(&[0, 3, 4, 8], 2);
    let input = Input::for_training(&features, blocks.nodes());
    let mut work = Workspace::default();
    let mut pass = network.forward(&blocks, &input, Keep::Gradients, &mut work);
    let value = pass.loss_and_gradient(&[2, 0, 1]);
    let rows = pass.scores().chunks_exact(3).zip([2, 0, 1]);
    let mean = rows.map(|(scores, label)| loss::cross_entropy(scores, label)).sum::<f64>() / 3.0;
    assert!((value - mean).abs() < 1e-14);
}
