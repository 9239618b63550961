//! Every hand-derived gradient against central differences, in f64.

use carat_graph::{BlockBuilder, Blocks, CsrMatrix, Features, Graph};
use carat_nn::{AttentionKind, Input, Network, NetworkConfig, Workspace};
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

fn loss(network: &Network<f64>, blocks: &Blocks, input: &Input<f64>, labels: &[u32]) -> f64 {
    let mut work = Workspace::default();
    network.forward(blocks, input, &mut work);
    let classes = network.config().classes;
    let rows = work.scores().chunks_exact(classes).zip(labels);
    rows.map(|(scores, &y)| carat_nn::loss::cross_entropy(scores, y as usize)).sum::<f64>() / labels.len() as f64
}

fn check(network: &mut Network<f64>, blocks: &Blocks, input: &Input<f64>, labels: &[u32], what: &str) {
    let mut work = Workspace::default();
    let mut gradient = vec![0.0; network.parameters().len()];
    network.forward(blocks, input, &mut work);
    let value = network.loss_and_gradient(blocks, input, labels, &mut work, &mut gradient);
    assert!((value - loss(network, blocks, input, labels)).abs() < 1e-14);
    let layout = network.layout().clone();
    for (parameter, range) in layout.iter() {
        let mut numeric = Vec::with_capacity(range.len());
        for at in range.clone() {
            let original = network.parameters()[at];
            // Five points cancel the error of third order, so that the step can be large and rounding small. A step
            // across the corner of a LeakyReLU spoils the difference, so smaller ones are tried too; a wrong gradient
            // disagrees with all of them.
            let differences = [1e-4, 1e-5, 1e-6].map(|step| {
                let mut shifted = |steps: f64| {
                    network.parameters_mut()[at] = original + steps * step;
                    loss(network, blocks, input, labels)
                };
                let difference = 8.0 * (shifted(1.0) - shifted(-1.0)) - (shifted(2.0) - shifted(-2.0));
                difference / (12.0 * step)
            });
            network.parameters_mut()[at] = original;
            let distance = |d: &f64| (d - gradient[at]).abs();
            numeric.push(differences.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap());
        }
        let analytic = &gradient[range];
        let scale = numeric.iter().chain(analytic).fold(0.0f64, |m, g| m.max(g.abs()));
        let name = &parameter.name;
        if name.ends_with("lin_key.bias") {
            assert_eq!(analytic.iter().fold(0.0f64, |m, g| m.max(g.abs())), 0.0, "{what}: {name} cancels exactly");
            assert!(scale < 1e-9);
            continue;
        }
        // With few edges all scores of a target may lie on one side of the LeakyReLU, where att_dst cancels.
        assert!(scale > 1e-6 || what.ends_with("fan-out"), "{what}: {name} has no gradient worth checking");
        for (a, n) in analytic.iter().zip(&numeric) {
            let error = (a - n).abs() / scale.max(1e-6);
            assert!(error < 1e-6, "{what}: {name} is {a}, but differences give {n} (relative {error:e})");
        }
    }
}

#[test]
fn every_parameter_of_every_kind() {
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (3, 1), (1, 2), (3, 2), (2, 3)] {
            let mut rng = ChaCha8Rng::seed_from_u64(42 + layers as u64);
            let graph = graph(&mut rng);
            let features = sparse_features(&mut rng);
            let dense = Features::dense(20, 9, features.to_dense()).unwrap();
            let config = NetworkConfig { arch, features: 9, hidden: 5, heads, layers, classes: 3 };
            let mut network = Network::<f64>::new(config, 3).unwrap();
            // Zero biases would hide mistakes in them; larger weights make attention far from uniform.
            for p in network.parameters_mut() {
                *p = 1.5 * *p + rng.random_range(-0.2..0.2);
            }
            let targets = [0, 1, 3, 4, 6, 8, 9, 12];
            let labels: Vec<u32> = (0..targets.len() as u32).map(|n| n % 3).collect();
            let blocks = BlockBuilder::new(&graph).build(&targets, layers);
            for (features, form) in [(&features, "sparse"), (&dense, "dense")] {
                let input = Input::for_training(features, blocks.nodes());
                let what = format!("{arch} K={heads} L={layers} {form}");
                check(&mut network, &blocks, &input, &labels, &what);
            }
            let sampled = BlockBuilder::new(&graph).sample(&targets, &vec![3; layers], 1);
            let input = Input::for_training(&features, sampled.nodes());
            check(&mut network, &sampled, &input, &labels, &format!("{arch} K={heads} L={layers} fan-out"));
        }
    }
}
