//! Logits, attention, loss and gradients against PyG's, for exactly PyG's weights. `tools/golden` makes the files.

use std::path::{Path, PathBuf};

use carat_graph::{BlockBuilder, Blocks, Dataset, DatasetParts, Features, Graph, Labels, Split};
use carat_nn::{AttentionKind, Input, Network, NetworkConfig, Workspace};
use safetensors::SafeTensors;

const LOGITS: f64 = 1e-4;
const ATTENTION: f64 = 1e-5;
const GRADIENT: f64 = 1e-4;
const HIDDEN: usize = 8;

struct Golden(Vec<u8>);

impl Golden {
    fn open(name: &str) -> Self {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"));
        Self(std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap())
    }

    fn tensors(&self) -> SafeTensors<'_> {
        SafeTensors::deserialize(&self.0).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.tensors().tensor(name).is_ok()
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        tensor.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }

    fn integers(&self, name: &str) -> Vec<u32> {
        let tensors = self.tensors();
        let tensor = tensors.tensor(name).unwrap();
        tensor.data().as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b) as u32).collect()
    }
}

fn close(found: f32, expected: f32, tolerance: f64, what: &str) {
    let difference = (f64::from(found) - f64::from(expected)).abs();
    assert!(difference <= tolerance, "{what}: {found} where PyG has {expected}");
}

/// A network with PyG's weights; parameters missing from `golden` come from `fallback`.
fn network(config: NetworkConfig, golden: &Golden, fallback: Option<&Golden>) -> Network<f32> {
    let mut network = Network::new(config, 0).unwrap();
    let layout = network.layout().clone();
    for (parameter, range) in layout.iter() {
        let name = format!("param.{}", parameter.name);
        let file = if golden.has(&name) { golden } else { fallback.unwrap() };
        let values = file.floats(&name);
        layout.store(parameter, &values, &mut network.parameters_mut()[range]);
    }
    network
}

/// Name, shape and values.
type Named = (String, Vec<usize>, Vec<f32>);

/// The gradient of the mean training loss, per parameter in PyG's order, and the loss itself.
fn gradients(network: &Network<f32>, dataset: &Dataset) -> (f64, Vec<Named>) {
    let train = &dataset.splits()[0].train;
    let labels: Vec<u32> = train.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    let blocks = BlockBuilder::new(dataset.graph()).build(train, network.config().layers);
    let input = Input::for_training(dataset.features(), blocks.nodes());
    let mut work = Workspace::default();
    let mut gradient = vec![0.0; network.parameters().len()];
    network.forward(&blocks, &input, &mut work);
    let loss = network.loss_and_gradient(&blocks, &input, &labels, &mut work, &mut gradient);
    let layout = network.layout();
    let named = layout.iter().map(|(parameter, range)| {
        let mut values = vec![0.0; parameter.len()];
        layout.export(parameter, &gradient[range], &mut values);
        (parameter.name.clone(), parameter.shape.clone(), values)
    });
    (loss, named.collect())
}

/// Relative to the largest entry of the tensor, as one judges a gradient.
fn compare_gradient(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0f32, |m, g| m.max(g.abs()));
    // A key bias shifts every score of a target alike; its gradient is 0 up to PyG's rounding.
    let floor = if what.ends_with("lin_key.bias") { 1.0 } else { f64::from(scale) };
    assert!(floor > 0.0, "{what}: no gradient to compare");
    for (f, e) in found.iter().zip(expected) {
        close(*f, *e, GRADIENT * floor, what);
    }
}

fn configurations() -> impl Iterator<Item = (AttentionKind, usize, usize)> {
    AttentionKind::ALL.into_iter().flat_map(|arch| [(1, 1), (1, 2), (3, 1), (3, 2)].map(|(k, l)| (arch, k, l)))
}

#[test]
fn a_small_graph_with_every_awkward_shape() {
    let file = Golden::open("small");
    let (edges, labels) = (file.integers("edge_index"), file.integers("y"));
    let (src, dst) = edges.split_at(edges.len() / 2);
    let graph = Graph::from_edges(40, src, dst).unwrap();
    assert_eq!(graph.num_edges(), src.len());
    let features = Features::dense(40, 12, file.floats("x")).unwrap();
    let labels = Labels::new(labels.into_iter().map(Some).collect(), 4).unwrap();
    let mut parts = DatasetParts::new("small", graph, features, labels);
    parts.splits = vec![Split { train: file.integers("train"), ..Split::default() }];
    let dataset = Dataset::new(parts).unwrap();

    for (arch, heads, layers) in configurations() {
        let what = format!("{arch} K={heads} L={layers}");
        let golden = Golden::open(&format!("small_{arch}_k{heads}_l{layers}"));
        let config = NetworkConfig { arch, features: 12, hidden: HIDDEN, heads, layers, classes: 4 };
        let network = network(config, &golden, None);
        let blocks = Blocks::whole(dataset.graph(), layers);
        let mut work = Workspace::default();
        network.forward(&blocks, &Input::new(dataset.features(), blocks.nodes()), &mut work);
        for (found, expected) in work.scores().iter().zip(golden.floats("logits")) {
            close(*found, expected, LOGITS, &format!("{what} logits"));
        }
        for l in 0..layers {
            let expected = golden.floats(&format!("attention.{l}"));
            for (edge, (&s, &d)) in src.iter().zip(dst).enumerate() {
                let place = dataset.graph().in_neighbours(d).binary_search(&s).unwrap();
                let id = dataset.graph().in_edges(d).start + place;
                for k in 0..heads {
                    let found = work.attention(l)[id * heads + k];
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

fn data_dir() -> Option<PathBuf> {
    let candidates = [
        std::env::var_os("CARAT_DATA").map(PathBuf::from),
        Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"))),
    ];
    let found = candidates.into_iter().flatten().find(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no data in CARAT_DATA or ../shared/data");
    }
    found
}

#[test]
fn cora() {
    let Some(folder) = data_dir() else { return };
    let dataset = carat_graph::readers::planetoid::read(&folder.join("planetoid"), "cora").unwrap();
    let encoder = Golden::open("cora_encoder");
    for (arch, heads, layers) in configurations() {
        let what = format!("cora {arch} K={heads} L={layers}");
        let golden = Golden::open(&format!("cora_{arch}_k{heads}_l{layers}"));
        let config = NetworkConfig { arch, features: 1433, hidden: HIDDEN, heads, layers, classes: 7 };
        let network = network(config, &golden, Some(&encoder));

        // Predicted in one go over the whole graph, and for the sampled nodes alone: both must be PyG's.
        let nodes = golden.integers("logit_nodes");
        let expected = golden.floats("logits");
        let whole = Blocks::whole(dataset.graph(), layers);
        let mut work = Workspace::default();
        network.forward(&whole, &Input::new(dataset.features(), whole.nodes()), &mut work);
        let alone = BlockBuilder::new(dataset.graph()).build(&nodes, layers);
        let mut alone_work = Workspace::default();
        network.forward(&alone, &Input::new(dataset.features(), alone.nodes()), &mut alone_work);
        for (at, &n) in nodes.iter().enumerate() {
            for c in 0..7 {
                close(work.scores()[n as usize * 7 + c], expected[at * 7 + c], LOGITS, &format!("{what} logits"));
                close(alone_work.scores()[at * 7 + c], expected[at * 7 + c], LOGITS, &format!("{what} logits, cut"));
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
                    let found = work.attention(l)[id * heads + k];
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
