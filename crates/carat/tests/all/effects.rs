//! Effects measured by the library, against deleting each edge and running everything.

use std::ops::ControlFlow;

use carat::{EffectSettings, Error, Exponent, NodeChoice, TrainConfig, effects};
use carat_graph::{Blocks, Dataset, DatasetParts, Features, Graph, Labels, Split};
use carat_nn::{AttentionKind, Input, Keep, Network, NetworkConfig, Pass, Workspace, loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NODES: usize = 12;
const FEATURES: usize = 4;

/// A hub, a self-loop, a node with one in-edge, one with none, and two without a label.
fn graph() -> Graph {
    let edges =
        [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (0, 1), (2, 1), (2, 2), (0, 2), (7, 3), (8, 7), (0, 8)];
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().chain([(9, 4), (4, 9), (0, 9)]).unzip();
    Graph::from_edges(NODES, &src, &dst).unwrap()
}

fn dataset(graph: Graph) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let values = (0..NODES * FEATURES).map(|_| rng.random_range(-1.0..1.0)).collect();
    let labels: Vec<i64> = (0..NODES as i64).map(|n| if n == 2 || n == 9 { -1 } else { n % 3 }).collect();
    let features = Features::dense(NODES, FEATURES, values).unwrap();
    let mut parts = DatasetParts::new("twelve", graph, features, Labels::from_signed(&labels).unwrap());
    parts.splits = vec![Split { train: vec![0, 1], val: vec![3], test: vec![2, 10] }];
    Dataset::new(parts).unwrap()
}

fn network<T: carat_nn::Real>(arch: AttentionKind, layers: usize, classes: usize) -> Network<T> {
    let config = NetworkConfig { arch, features: FEATURES, hidden: 5, heads: 2, layers, classes, ..Default::default() };
    Network::new(config, 9).unwrap()
}

fn scores<T: carat_nn::Real>(network: &Network<T>, dataset: &Dataset, graph: &Graph, node: u32) -> Vec<f64> {
    let blocks = Blocks::whole(graph, network.config().layers);
    let mut work = Workspace::default();
    let input = Input::new(dataset.features(), blocks.nodes());
    let pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
    let classes = network.config().classes;
    pass.scores()[node as usize * classes..][..classes].iter().map(|z| z.to_f64()).collect()
}

fn on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn every_row_is_what_deleting_the_edge_does() {
    for self_loops in [false, true] {
        every_row_is_what_deleting_does(&dataset(graph()).with_self_loops(self_loops).unwrap());
    }
}

fn every_row_is_what_deleting_does(dataset: &Dataset) {
    let (whole, everyone) = (dataset.graph().clone(), (0..NODES as u32).rev().collect::<Vec<_>>());
    for arch in AttentionKind::ALL {
        for layers in 1..=3 {
            let network = network::<f64>(arch, layers, 3);
            for (exponent, loss_floor, batch_size) in [(Exponent::Degree, 0.0, 100), (Exponent::One, 1.1, 2)] {
                let settings = EffectSettings { temperature: 0.3, exponent, loss_floor, batch_size };
                let found = effects(&network, dataset, &everyone, &settings, &mut on).unwrap();
                let edges: Vec<(u32, u32)> = found.src.iter().copied().zip(found.dst.iter().copied()).collect();
                assert_eq!(edges, whole.edges().collect::<Vec<_>>(), "one row per edge, by id");
                for (e, &(src, dst)) in edges.iter().enumerate() {
                    let (kept_src, kept_dst): (Vec<u32>, Vec<u32>) = whole.edges().filter(|e| *e != (src, dst)).unzip();
                    let cut = Graph::from_edges(NODES, &kept_src, &kept_dst).unwrap();
                    let cut = cut.with_self_loops(whole.adds_self_loops());
                    let with = scores(&network, dataset, &whole, dst);
                    let class = dataset.labels().get(dst).map_or_else(|| loss::argmax(&with), |label| label as usize);
                    let with = loss::cross_entropy(&with, class);
                    let without = loss::cross_entropy(&scores(&network, dataset, &cut, dst), class);
                    let degree = whole.in_degree(dst) as f64;
                    let power = if exponent == Exponent::One { 1.0 } else { degree };
                    let rho = without.max(loss_floor) / with.max(loss_floor);
                    let effect = 1.0 / (1.0 + (-(rho.powf(power) - 1.0) / 0.3).exp());
                    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs().max(1e-3);
                    assert_eq!(found.degree[e] as f64, degree);
                    assert!(near(found.loss[e], with) && near(found.loss_without[e], without), "{arch} {layers} {e}");
                    assert!(near(found.rho[e], rho), "{arch} {layers} {e}");
                    assert!(near(found.effect[e], effect), "{arch} {layers} {e}: {} for {effect}", found.effect[e]);
                }
            }
        }
    }
}

#[test]
fn sure_networks_and_networks_of_one_class_have_finite_effects() {
    let dataset = dataset(graph());
    let everyone: Vec<u32> = (0..NODES as u32).collect();
    let settings = EffectSettings::default();
    for (classes, scale) in [(1, 1.0), (3, 30.0), (3, 300.0), (3, 3000.0)] {
        let mut network = network::<f32>(AttentionKind::Gat, 2, classes);
        network.parameters_mut().iter_mut().for_each(|p| *p *= scale);
        let found = effects(&network, &dataset, &everyone, &settings, &mut on).unwrap();
        for values in [&found.loss, &found.loss_without, &found.rho, &found.effect] {
            assert!(values.iter().all(|x| x.is_finite() && *x >= 0.0), "{classes} {scale}: {values:?}");
        }
        if classes == 1 {
            assert!(found.rho.iter().all(|rho| *rho == 1.0) && found.effect.iter().all(|c| *c == 0.5));
            assert!(found.loss.iter().all(|loss| *loss == 0.0));
        }
        if scale == 3000.0 {
            assert!(found.rho.contains(&f64::MAX) && found.loss.contains(&0.0), "{found:?}");
        }
    }
    let mut network = network::<f32>(AttentionKind::Gat, 2, 3);
    network.parameters_mut().iter_mut().for_each(|p| *p *= 1e20);
    let refused = effects(&network, &dataset, &everyone, &settings, &mut on).unwrap_err();
    assert!(refused.to_string().contains("smaller --lr") && !refused.is_input_error(), "{refused}");
}

#[test]
fn progress_counts_to_the_end_and_can_stop_the_work() {
    let dataset = dataset(graph());
    let network = network::<f32>(AttentionKind::GatV2, 2, 3);
    let settings = EffectSettings { batch_size: 3, ..EffectSettings::default() };
    let everyone: Vec<u32> = (0..NODES as u32).collect();
    let mut told = Vec::new();
    let found = effects(&network, &dataset, &everyone, &settings, &mut |done, total| {
        told.push((done, total));
        ControlFlow::Continue(())
    });
    let edges = dataset.graph().num_edges();
    assert_eq!(found.unwrap().len(), edges);
    assert!(told.len() > 2 && told.windows(2).all(|w| w[0].0 < w[1].0) && told.last() == Some(&(edges, edges)));
    let stopped = effects(&network, &dataset, &everyone, &settings, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn nodes_are_chosen_by_the_split_whether_labelled_or_not() {
    let dataset = dataset(graph());
    let config = TrainConfig::default();
    assert_eq!(NodeChoice::Train.nodes(&dataset, &config).unwrap(), [0, 1]);
    assert_eq!(NodeChoice::Val.nodes(&dataset, &config).unwrap(), [3]);
    assert_eq!(NodeChoice::Test.nodes(&dataset, &config).unwrap(), [2, 10], "2 has no label");
    assert_eq!(NodeChoice::All.nodes(&dataset, &config).unwrap().len(), NODES);
    let network = network::<f32>(AttentionKind::Gat, 1, 3);
    let settings = EffectSettings::default();
    // 10 has no in-edges; a node named twice is measured once.
    let found = effects(&network, &dataset, &[10, 2, 2], &settings, &mut on).unwrap();
    assert_eq!((found.src, found.dst), (vec![0, 2], vec![2, 2]));
    assert!(effects(&network, &dataset, &[10], &settings, &mut on).unwrap().is_empty());
    let missing = effects(&network, &dataset, &[0, 12], &settings, &mut on).unwrap_err();
    assert_eq!(missing.to_string(), "there is no node 12 in twelve, which has 12");
    let settings = EffectSettings { batch_size: 0, ..settings };
    assert!(effects(&network, &dataset, &[0], &settings, &mut on).unwrap_err().is_input_error());
}
