//! Optimisers and weighted losses against PyTorch's. `tools/golden/make_training_golden.py` makes the files.

use crate::support::{Golden, close, compare_gradient, network, small_graph, small_set};
use carat_graph::{BlockBuilder, Blocks};
use carat_nn::check::{ParameterCheck, whole_graph_gradient};
use carat_nn::{
    Adam, AdamConfig, AttentionKind, GcnConfig, GcnNetwork, GcnNorm, Input, Keep, Labelled, Network, NetworkConfig,
    Pass, WholeGraph, Workspace, loss,
};

#[test]
fn optimisers_step_as_torch_s_do() {
    let golden = Golden::open("optimisers");
    let plain = AdamConfig { learning_rate: 0.05, ..AdamConfig::default() };
    let decayed = AdamConfig { weight_decay: 0.1, ..plain };
    let decoupled = AdamConfig { is_decoupled: true, ..decayed };
    let rates = golden.doubles("rates");
    for (name, config, rates) in [
        ("adam", plain, &[][..]),
        ("adam_decay", decayed, &[]),
        ("adamw", decoupled, &[]),
        ("adamw_cosine", decoupled, &rates),
    ] {
        let mut parameters = golden.doubles("start");
        let len = parameters.len();
        let mut adam = Adam::<f64>::new(config, len);
        let (gradients, expected) = (golden.doubles("gradients"), golden.doubles(&format!("after.{name}")));
        for (step, gradient) in gradients.chunks_exact(len).enumerate() {
            rates.get(step).iter().for_each(|rate| adam.set_learning_rate(**rate));
            adam.step(&mut parameters, gradient);
            for (found, expected) in parameters.iter().zip(&expected[step * len..]) {
                assert!((found - expected).abs() < 1e-12, "{name}, step {step}: {found} where torch has {expected}");
            }
        }
    }
}

#[test]
fn classes_count_what_they_weigh_as_in_torch_s_cross_entropy() {
    let golden = Golden::open("class_weights");
    let (dataset, _, _) = small_graph();
    let config = NetworkConfig {
        arch: AttentionKind::Gat,
        features: 12,
        hidden: 8,
        heads: 3,
        layers: 2,
        classes: 4,
        ..Default::default()
    };
    let network: Network<f32> = network(config, &golden, None);
    let train = &dataset.splits()[0].train;
    let labels: Vec<u32> = train.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    let blocks = BlockBuilder::new(dataset.graph()).build(train, 2);
    let input = Input::for_training(dataset.features(), blocks.nodes());
    let mut work = Workspace::default();
    let mut pass = network.forward(&blocks, &input, Keep::Gradients, &mut work);
    let found = pass.weighted_loss_and_gradient(&labels, &golden.doubles("weights"));
    close(found as f32, golden.doubles("loss")[0] as f32, 1e-5, "loss");
    let layout = network.layout();
    for (parameter, range) in layout.iter() {
        let mut values = vec![0.0; parameter.len()];
        layout.export(parameter, &pass.gradient()[range], &mut values);
        compare_gradient(&values, &golden.floats(&format!("grad.{}", parameter.name)), &parameter.name);
    }
}

const WEIGHTS: [f64; 4] = [0.25, 3.0, 1.0, 1.75];

/// The weighted mean by its definition.
fn weighted_mean(scores: &[f64], labels: &[u32], weights: &[f64]) -> f64 {
    let weight = |label: u32| weights[label as usize];
    let rows = scores.chunks_exact(weights.len()).zip(labels);
    let total: f64 = rows.map(|(row, &label)| weight(label) * loss::cross_entropy(row, label as usize)).sum();
    total / labels.iter().map(|&label| weight(label)).sum::<f64>()
}

#[test]
fn the_weighted_gradient_of_nodes_and_of_graphs_is_that_of_differences() {
    let (small, set) = (small_graph().0, small_set());
    let (nodes, graphs) = ([12, 9, 7, 4, 30, 18], [3, 5, 1, 4, 2, 0]);
    let of_nodes = BlockBuilder::new(small.graph()).build(&nodes, 2);
    let of_graphs = BlockBuilder::new(set.graph()).build_graphs(set.graph_set().unwrap(), &graphs, 2);
    for (data, blocks, entities, classes) in [(&small, of_nodes, nodes, 4), (&set, of_graphs, graphs, 3)] {
        let labels: Vec<u32> = entities.iter().map(|&entity| data.labels().get(entity).unwrap()).collect();
        let arch = AttentionKind::GatV2;
        let config =
            NetworkConfig { arch, features: 12, hidden: 4, heads: 2, layers: 2, classes, ..Default::default() };
        let mut network = Network::<f64>::new(config, 3).unwrap();
        // Biases of 0 would put a node without in-edges onto the corner of a LeakyReLU.
        let parameters = network.parameters_mut().iter_mut().enumerate();
        parameters.for_each(|(at, p)| *p += 0.1 * (7.0 * at as f64).sin());
        let input = Input::for_training(data.features(), blocks.nodes());
        let weights = &WEIGHTS[..classes];
        let run = |network: &Network<f64>, blocks: &Blocks| {
            let mut work = Workspace::default();
            let mut pass = network.forward(blocks, &input, Keep::Gradients, &mut work);
            let found = pass.weighted_loss_and_gradient(&labels, weights);
            assert!((found - weighted_mean(pass.scores(), &labels, weights)).abs() < 1e-12);
            (found, pass.gradient().to_vec())
        };
        let (_, gradient) = run(&network, &blocks);
        let largest = gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
        for (at, &expected) in gradient.iter().enumerate() {
            let mut shifted = |by: f64| {
                network.parameters_mut()[at] += by;
                let (value, _) = run(&network, &blocks);
                network.parameters_mut()[at] -= by;
                value
            };
            let numeric = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!((expected - numeric).abs() < 1e-6 * largest, "parameter {at}: {expected} for {numeric}");
        }
    }
}

#[test]
fn the_weighted_gradient_of_graph_convolutions_is_that_of_differences() {
    let (dataset, _, _) = small_graph();
    let graph = WholeGraph::new(&dataset).unwrap();
    let nodes = [12, 9, 7, 4, 30, 18];
    let labels: Vec<u32> = nodes.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    let labelled = Labelled { nodes: &nodes, labels: &labels, weights: &WEIGHTS };
    let config =
        GcnConfig { norm: GcnNorm::Symmetric, features: 12, hidden: 5, layers: 2, classes: 4, ..Default::default() };
    let mut network = GcnNetwork::<f64>::new(config, 3).unwrap();
    for ParameterCheck { name, error, .. } in whole_graph_gradient(&mut network, &graph, labelled, 0) {
        assert!(error < 1e-6, "{name} is off by {error:e}");
    }
}
