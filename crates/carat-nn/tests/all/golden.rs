//! Logits, attention, loss and gradients against PyG's, for exactly PyG's weights. `tools/golden` makes the files.

use crate::support::{Golden, close, compare_gradient, data_dir, network, small_graph, small_set};
use carat_graph::{BlockBuilder, Blocks, Dataset, EdgeFeatures};
use carat_nn::{AttentionKind, Input, Keep, Network, NetworkConfig, Pass, Workspace};

const LOGITS: f64 = 1e-4;
const ATTENTION: f64 = 1e-5;
const HIDDEN: usize = 8;

/// Name, shape and values.
type Named = (String, Vec<usize>, Vec<f32>);

/// What training reads of some blocks, features of edges included where the data has some.
fn input(dataset: &Dataset, blocks: &Blocks) -> Input<f32> {
    let input = Input::for_training(dataset.features(), blocks.nodes());
    match dataset.edge_features() {
        None => input,
        Some(features) => input.with_edge_features(&features.of_blocks(dataset.graph(), blocks).unwrap()),
    }
}

/// The gradient of the mean training loss, per parameter in PyG's order, and the loss itself.
fn gradients(network: &Network<f32>, dataset: &Dataset) -> (f64, Vec<Named>) {
    let train = &dataset.splits()[0].train;
    let labels: Vec<u32> = train.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    let blocks = BlockBuilder::new(dataset.graph()).build(train, network.config().layers);
    gradients_on(network, dataset, &blocks, &labels)
}

/// The same of the first entities of some blocks.
fn gradients_on(network: &Network<f32>, dataset: &Dataset, blocks: &Blocks, labels: &[u32]) -> (f64, Vec<Named>) {
    let input = input(dataset, blocks);
    let mut work = Workspace::default();
    let mut pass = network.forward(blocks, &input, Keep::Deletions, &mut work);
    let loss = pass.loss_and_gradient(labels);
    let layout = network.layout();
    let named = layout.iter().map(|(parameter, range)| {
        let mut values = vec![0.0; parameter.len()];
        layout.export(parameter, &pass.gradient()[range], &mut values);
        (parameter.name.clone(), parameter.shape.clone(), values)
    });
    (loss, named.collect())
}

fn configurations() -> impl Iterator<Item = (AttentionKind, usize, usize)> {
    AttentionKind::ALL.into_iter().flat_map(|arch| [(1, 1), (1, 2), (3, 1), (3, 2)].map(|(k, l)| (arch, k, l)))
}

#[test]
fn a_small_graph_with_every_awkward_shape() {
    let (dataset, src, dst) = small_graph();

    for (arch, heads, layers) in configurations() {
        let what = format!("{arch} K={heads} L={layers}");
        let golden = Golden::open(&format!("small_{arch}_k{heads}_l{layers}"));
        let config =
            NetworkConfig { arch, features: 12, hidden: HIDDEN, heads, layers, classes: 4, ..Default::default() };
        let network: Network<f32> = network(config, &golden, None);
        let blocks = Blocks::whole(dataset.graph(), layers);
        let mut work = Workspace::default();
        let input = Input::new(dataset.features(), blocks.nodes());
        let pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
        for (found, expected) in pass.scores().iter().zip(golden.floats("logits")) {
            close(*found, expected, LOGITS, &format!("{what} logits"));
        }
        for l in 0..layers {
            let expected = golden.floats(&format!("attention.{l}"));
            for (edge, (&s, &d)) in src.iter().zip(&dst).enumerate() {
                let place = dataset.graph().in_neighbours(d).binary_search(&s).unwrap();
                let id = dataset.graph().in_edges(d).start + place;
                for k in 0..heads {
                    let found = pass.attention(l)[id * heads + k];
                    close(found, expected[edge * heads + k], ATTENTION, &format!("{what} attention {l}"));
                }
            }
        }
        let (loss, gradients) = gradients(&network, &dataset);
        close(loss as f32, golden.floats("loss")[0], 1e-5, &format!("{what} loss"));
        for (name, _, found) in gradients {
            let expected = golden.floats(&format!("grad.{name}"));
            compare_gradient(&found, &expected, &format!("{what} {name}"));
        }
    }
}

#[test]
fn edges_with_features_and_self_loops_with_their_means() {
    let (plain, ..) = small_graph();
    let mut parts = plain.into_parts();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    parts.edge_features = Some(EdgeFeatures::new(names, Golden::open("small_edges").floats("edge_attr")).unwrap());
    let plain = Dataset::new(parts).unwrap();
    for (arch, loops) in AttentionKind::ALL.into_iter().flat_map(|arch| [(arch, false), (arch, true)]) {
        // PyG's transformer adds no self-loops.
        if loops && arch == AttentionKind::Transformer {
            continue;
        }
        let name = format!("small_edges_{arch}{}", if loops { "_loops" } else { "" });
        let golden = Golden::open(&name);
        let dataset = plain.clone().with_self_loops(loops).unwrap();
        let sizes = NetworkConfig { arch, features: 12, hidden: HIDDEN, heads: 3, layers: 2, ..Default::default() };
        let network: Network<f32> = network(NetworkConfig { classes: 4, edge_features: 3, ..sizes }, &golden, None);
        let blocks = Blocks::whole(dataset.graph(), 2);
        let (input, mut work) = (input(&dataset, &blocks), Workspace::default());
        let pass = network.forward(&blocks, &input, Keep::Scores, &mut work);
        for (found, expected) in pass.scores().iter().zip(golden.floats("logits")) {
            close(*found, expected, LOGITS, &format!("{name} logits"));
        }
        let (loss, gradients) = gradients(&network, &dataset);
        close(loss as f32, golden.floats("loss")[0], 1e-5, &format!("{name} loss"));
        assert!(gradients.iter().any(|(parameter, ..)| parameter == "layers.1.lin_edge.weight"));
        for (parameter, _, found) in gradients {
            compare_gradient(&found, &golden.floats(&format!("grad.{parameter}")), &format!("{name} {parameter}"));
        }
    }
}

#[test]
fn graphs_are_read_out_as_by_global_add_pool() {
    let dataset = small_set();
    let set = dataset.graph_set().unwrap();
    let labels: Vec<u32> = (0..6).map(|g| dataset.labels().get(g).unwrap()).collect();
    for (arch, heads, layers) in configurations() {
        let what = format!("{arch} K={heads} L={layers}");
        let golden = Golden::open(&format!("set_{arch}_k{heads}_l{layers}"));
        let config =
            NetworkConfig { arch, features: 12, hidden: HIDDEN, heads, layers, classes: 3, ..Default::default() };
        let network: Network<f32> = network(config, &golden, None);
        let mut builder = BlockBuilder::new(dataset.graph());
        let blocks = builder.build_graphs(set, &[0, 1, 2, 3, 4, 5, 6], layers);
        let mut work = Workspace::default();
        let input = Input::new(dataset.features(), blocks.nodes());
        let pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
        let expected = golden.floats("logits");
        assert_eq!(pass.scores().len(), expected.len());
        for (found, expected) in pass.scores().iter().zip(&expected) {
            close(*found, *expected, LOGITS, &format!("{what} logits"));
        }
        // By itself or in another order a graph has the same scores.
        let some = builder.build_graphs(set, &[5, 3, 0], layers);
        let input = Input::new(dataset.features(), some.nodes());
        let pass = network.forward(&some, &input, Keep::Deletions, &mut work);
        for (found, g) in pass.scores().chunks_exact(3).zip([5, 3, 0]) {
            for (found, expected) in found.iter().zip(&expected[g * 3..]) {
                close(*found, *expected, LOGITS, &format!("{what} logits, by itself"));
            }
        }
        let (loss, gradients) = gradients_on(&network, &dataset, &blocks, &labels);
        close(loss as f32, golden.floats("loss")[0], 1e-5, &format!("{what} loss"));
        for (name, _, found) in gradients {
            compare_gradient(&found, &golden.floats(&format!("grad.{name}")), &format!("{what} {name}"));
        }
    }
}

#[test]
fn cora() {
    let Some(folder) = data_dir() else { return };
    let dataset = carat_graph::readers::planetoid::read(&folder.join("planetoid"), "cora").unwrap();
    let encoder = Golden::open("cora_encoder");
    for (arch, heads, layers) in configurations() {
        let what = format!("cora {arch} K={heads} L={layers}");
        let golden = Golden::open(&format!("cora_{arch}_k{heads}_l{layers}"));
        let config =
            NetworkConfig { arch, features: 1433, hidden: HIDDEN, heads, layers, classes: 7, ..Default::default() };
        let network: Network<f32> = network(config, &golden, Some(&encoder));

        // Predicted in one go over the whole graph, and for the sampled nodes only: both must be PyG's.
        let nodes = golden.integers("logit_nodes");
        let expected = golden.floats("logits");
        let whole = Blocks::whole(dataset.graph(), layers);
        let mut work = Workspace::default();
        let input = Input::new(dataset.features(), whole.nodes());
        let pass = network.forward(&whole, &input, Keep::Deletions, &mut work);
        let sampled = BlockBuilder::new(dataset.graph()).build(&nodes, layers);
        let mut sampled_work = Workspace::default();
        let input = Input::new(dataset.features(), sampled.nodes());
        let sampled_pass = network.forward(&sampled, &input, Keep::Deletions, &mut sampled_work);
        for (at, &n) in nodes.iter().enumerate() {
            for c in 0..7 {
                close(pass.scores()[n as usize * 7 + c], expected[at * 7 + c], LOGITS, &format!("{what} logits"));
                close(sampled_pass.scores()[at * 7 + c], expected[at * 7 + c], LOGITS, &format!("{what} logits, cut"));
            }
        }
        let edges = golden.integers("attention_edges");
        let (src, dst) = edges.split_at(edges.len() / 2);
        for l in 0..layers {
            let expected = golden.floats(&format!("attention.{l}"));
            for (at, (&s, &d)) in src.iter().zip(dst).enumerate() {
                let place = dataset.graph().in_neighbours(d).binary_search(&s).unwrap();
                let id = dataset.graph().in_edges(d).start + place;
                for k in 0..heads {
                    let found = pass.attention(l)[id * heads + k];
                    close(found, expected[at * heads + k], ATTENTION, &format!("{what} attention {l}"));
                }
            }
        }
        let (loss, gradients) = gradients(&network, &dataset);
        close(loss as f32, golden.floats("loss")[0], 1e-5, &format!("{what} loss"));
        for (name, shape, found) in gradients {
            let expected = golden.floats(&format!("grad.{name}"));
            let found: Vec<f32> = if name == "encoder.weight" {
                let columns = golden.integers("grad.encoder.weight.columns");
                (0..shape[0])
                    .flat_map(|r| columns.iter().map(move |&c| (r, c as usize)))
                    .map(|(r, c)| found[r * shape[1] + c])
                    .collect()
            } else {
                found
            };
            compare_gradient(&found, &expected, &format!("{what} {name}"));
        }
    }
}
