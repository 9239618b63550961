//! The graph convolution network: against PyG's GCNConv, and its gradients against central differences.

use crate::support::{Golden, close, compare_gradient, data_dir, fill, small_graph};
use carat_graph::Dataset;
use carat_nn::check::{ParameterCheck, whole_graph_gradient};
use carat_nn::{GcnConfig, GcnNetwork, GcnNorm, Labelled, Real, WholeGraph, WholeGraphModel};

const HIDDEN: usize = 8;

fn configurations() -> impl Iterator<Item = (GcnNorm, usize)> {
    GcnNorm::ALL.into_iter().flat_map(|norm| [(norm, 1), (norm, 2)])
}

fn network<T: Real>(dataset: &Dataset, norm: GcnNorm, layers: usize, files: &[&Golden]) -> GcnNetwork<T> {
    let (features, classes) = (dataset.features().num_columns(), dataset.labels().num_classes());
    let config = GcnConfig { norm, features, hidden: HIDDEN, layers, classes, ..Default::default() };
    let mut network = GcnNetwork::new(config, 0).unwrap();
    let layout = network.layout().clone();
    fill(&layout, network.parameters_mut(), files);
    network
}

/// Logits of the nodes that the file has, the loss, and every gradient that it has.
fn examine(dataset: &Dataset, norm: GcnNorm, layers: usize, golden: &Golden, files: &[&Golden], what: &str) {
    let mut network: GcnNetwork<f32> = network(dataset, norm, layers, files);
    let graph = WholeGraph::new(dataset).unwrap();
    let classes = network.classes();
    let mut scores = Vec::new();
    network.predict(&graph, &mut scores);
    let nodes = if golden.has("logit_nodes") {
        golden.integers("logit_nodes")
    } else {
        (0..dataset.num_nodes() as u32).collect()
    };
    let found = nodes.iter().flat_map(|&n| &scores[n as usize * classes..(n as usize + 1) * classes]);
    let expected = golden.floats("logits");
    assert_eq!(expected.len(), nodes.len() * classes);
    // A sum over a hub's in-edges is large, and so is its rounding.
    let scale = expected.iter().fold(1.0f32, |m, v| m.max(v.abs()));
    for (&found, expected) in found.zip(expected) {
        close(found / scale, expected / scale, 1e-5, &format!("{what} logits"));
    }

    let train = &dataset.splits()[0].train;
    let labels: Vec<u32> = train.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    let mut gradient = vec![f32::NAN; network.parameters().len()];
    let loss = network.loss_and_gradient(&graph, Labelled::new(train, &labels), 0, &mut gradient);
    let expected = golden.floats("loss")[0];
    close(loss as f32 / expected, 1.0, 1e-5, &format!("{what} loss"));
    for (parameter, range) in network.layout().iter() {
        let mut found = vec![0.0; parameter.len()];
        network.layout().export(parameter, &gradient[range], &mut found);
        let name = format!("grad.{}", parameter.name);
        if golden.has(&name) {
            compare_gradient(&found, &golden.floats(&name), &format!("{what} {name}"));
        } else {
            assert_eq!(name, "grad.encoder.weight");
            assert!(found.iter().all(|value| value.is_finite()));
        }
    }
}

#[test]
fn a_small_graph_with_every_awkward_shape() {
    let (dataset, _, _) = small_graph();
    for (norm, layers) in configurations() {
        let golden = Golden::open(&format!("small_gcn_{norm}_l{layers}"));
        examine(&dataset, norm, layers, &golden, &[&golden], &format!("{norm} L={layers}"));
    }
}

#[test]
fn cora() {
    let Some(folder) = data_dir() else { return };
    let dataset = carat_graph::readers::planetoid::read(&folder.join("planetoid"), "cora").unwrap();
    let encoder = Golden::open("cora_encoder");
    for (norm, layers) in configurations() {
        let golden = Golden::open(&format!("cora_gcn_{norm}_l{layers}"));
        examine(&dataset, norm, layers, &golden, &[&golden, &encoder], &format!("cora {norm} L={layers}"));
    }
}

#[test]
fn every_gradient_is_that_of_differences() {
    let (dataset, _, _) = small_graph();
    let graph = WholeGraph::new(&dataset).unwrap();
    // Not in order, and the node with a self-loop, the hub and an isolated one among them.
    let nodes = [12, 9, 7, 4, 30, 18];
    let labels: Vec<u32> = nodes.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    for (norm, layers) in configurations().chain(GcnNorm::ALL.map(|norm| (norm, 3))) {
        let config = GcnConfig { norm, features: 12, hidden: 5, layers, classes: 4, ..Default::default() };
        let mut network = GcnNetwork::<f64>::new(config, 3).unwrap();
        let checked = whole_graph_gradient(&mut network, &graph, Labelled::new(&nodes, &labels), 0);
        assert_eq!(checked.len(), 4 + 2 * layers);
        for ParameterCheck { name, error, largest, analytic, numeric } in checked {
            assert!(largest > 1e-6, "{norm} L={layers}: {name} has no gradient worth checking");
            assert!(error < 1e-6, "{norm} L={layers}: {name} is {analytic}, but differences give {numeric}");
        }
    }
}

#[test]
fn nothing_is_taken_over_from_other_parameters_or_another_graph() {
    let (dataset, _, _) = small_graph();
    let fewer = dataset.with_edges(&vec![false; dataset.graph().num_edges()]).unwrap();
    let config =
        GcnConfig { norm: GcnNorm::Symmetric, features: 12, hidden: 5, layers: 2, classes: 4, ..Default::default() };
    // One network that is used again and again, against new ones.
    let mut network = GcnNetwork::<f32>::new(config, 1).unwrap();
    for (seed, data) in [(1, &dataset), (1, &fewer), (2, &fewer), (2, &dataset), (3, &dataset), (3, &dataset)] {
        let graph = WholeGraph::new(data).unwrap();
        let mut new = GcnNetwork::<f32>::new(config, seed).unwrap();
        if network.parameters() != new.parameters() {
            network.parameters_mut().copy_from_slice(new.parameters());
        }
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        network.predict(&graph, &mut found);
        new.predict(&graph, &mut expected);
        assert_eq!(found, expected);
        let (mut gradient, mut expected) = (vec![0.0; new.parameters().len()], vec![0.0; new.parameters().len()]);
        let labelled = Labelled::new(&[3, 12], &[0, 1]);
        network.loss_and_gradient(&graph, labelled, 0, &mut gradient);
        GcnNetwork::new(config, seed).unwrap().loss_and_gradient(&graph, labelled, 0, &mut expected);
        assert_eq!(gradient, expected);
    }
}

#[test]
fn norms_are_read_as_they_are_written() {
    for norm in GcnNorm::ALL {
        assert_eq!(norm.to_string().parse(), Ok(norm));
    }
    let error = "both".parse::<GcnNorm>().unwrap_err();
    assert_eq!(error, "'both' is not a norm of a graph convolution; choose symmetric or none");
}
