//! Networks that read features of edges, from training to effects.

use std::ops::ControlFlow;

use carat::{
    Arm, EdgeEffects, EffectSettings, Interventions, Lambda, ModelKind, Probe, Rounds, TrainConfig, Trainer, effects,
    score, tables, with_threads,
};
use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::table::Column;
use carat_graph::{Dataset, DatasetParts, EdgeFeatures, Features, Graph, Labels, Split};
use carat_nn::{AttentionKind, Network};

fn config() -> TrainConfig {
    TrainConfig::default().hidden(6).heads(2).epochs(2).edge_features(true)
}

/// The data with two numbers for every edge.
fn with_numbers(dataset: Dataset) -> Dataset {
    let values = (0..2 * dataset.graph().num_edges()).map(|v| (5.0 * v as f32 + 1.0).sin()).collect::<Vec<f32>>();
    let mut parts = dataset.into_parts();
    parts.edge_features = Some(EdgeFeatures::new(vec!["amount".into(), "age".into()], values).unwrap());
    Dataset::new(parts).unwrap()
}

fn data() -> Dataset {
    with_numbers(planted(&PlantedConfig { nodes: 120, ..PlantedConfig::default() }).unwrap())
}

/// Three graphs of a set.
fn set() -> Dataset {
    let graph = Graph::from_edges(8, &[0, 1, 2, 3, 4, 5, 6, 0], &[1, 2, 0, 4, 5, 3, 7, 2]).unwrap();
    let features = Features::dense(8, 2, (0..16).map(|v| (v as f32).sin()).collect()).unwrap();
    let mut parts =
        DatasetParts::new("three", graph, features, Labels::new(vec![Some(0), Some(1), Some(1)], 2).unwrap());
    parts.graph_offsets = Some(vec![0, 3, 6, 8]);
    parts.splits = vec![Split { train: vec![0, 2], val: vec![1], test: vec![] }];
    with_numbers(Dataset::new(parts).unwrap())
}

fn effects_of(network: &Network<f64>, dataset: &Dataset) -> EdgeEffects {
    let everything: Vec<u32> = (0..dataset.num_entities() as u32).collect();
    let settings = EffectSettings { batch_size: 50, ..EffectSettings::from(&config()) };
    effects(network, dataset, &everything, &settings, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// Every node has an edge from a node of each kind. Which of the two edges is marked decides its class, and nothing
/// else does.
fn marked() -> Dataset {
    let targets = 60u32;
    let class = |n: u32| n * 7 % 5 % 2;
    let (mut src, mut dst, mut marks) = (Vec::new(), Vec::new(), Vec::new());
    for n in 2..2 + targets {
        for source in [0, 1] {
            src.push(source);
            dst.push(n);
            marks.push(if class(n) == source { 1.0f32 } else { 0.0 });
        }
    }
    let nodes = targets as usize + 2;
    let kind = |n: usize| [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][n.min(2)];
    let features = Features::dense(nodes, 3, (0..nodes).flat_map(kind).collect()).unwrap();
    let labels = (0..nodes as u32).map(|n| (n > 1).then(|| class(n))).collect();
    let graph = Graph::from_edges(nodes, &src, &dst).unwrap();
    let mut parts = DatasetParts::new("marked", graph, features, Labels::new(labels, 2).unwrap());
    parts.edge_features = Some(EdgeFeatures::new(vec!["mark".into()], marks).unwrap());
    parts.splits = vec![Split { train: (2..32).collect(), val: (32..42).collect(), test: (42..62).collect() }];
    Dataset::new(parts).unwrap()
}

#[test]
fn labels_that_only_edges_tell_are_learnt_from_them_and_not_without() {
    let dataset = marked();
    for arch in AttentionKind::ALL {
        for reads in [true, false] {
            let config = config().arch(arch).hidden(8).layers(1).epochs(200).patience(Some(200)).lr(0.02);
            let config = config.edge_features(reads);
            let split = config.choose_split(&dataset).unwrap();
            let (network, _) = Trainer::new(&dataset, &split, &config).unwrap().run().unwrap();
            assert_eq!(network.config().edge_features, usize::from(reads));
            let accuracy = score(&network, &dataset, &split.test).unwrap().accuracy;
            let expected = if reads { 0.99..1.01 } else { 0.2..0.8 };
            assert!(expected.contains(&accuracy), "{arch}, edge features {reads}: {accuracy}");
        }
    }
}

#[test]
fn effects_are_those_of_data_without_the_edge() {
    for dataset in [data(), set()] {
        for (arch, layers) in AttentionKind::ALL.into_iter().zip([3, 1, 2]) {
            let sizes = config().arch(arch).layers(layers).network_for(&dataset);
            let network = Network::<f64>::new(sizes, 3).unwrap();
            let found = effects_of(&network, &dataset);
            assert_eq!(found.len(), dataset.graph().num_edges());
            for edge in (0..found.len()).step_by(1 + found.len() / 12) {
                let kept: Vec<bool> = (0..found.len()).map(|other| other != edge).collect();
                let cut = effects_of(&network, &dataset.with_edges(&kept).unwrap());
                let entity = |of: &EdgeEffects, e: usize| of.graph.as_ref().map_or(of.dst[e], |graph| graph[e]);
                // Any other edge of the entity says what the prediction is without the first.
                let other = (0..cut.len()).find(|&other| entity(&cut, other) == entity(&found, edge));
                if let Some(other) = other {
                    let error = (cut.loss[other] - found.loss_without[edge]).abs();
                    assert!(error < 1e-9, "{arch}, {layers} layers, edge {edge}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn attention_predictions_and_the_probe_agree_whatever_the_batch() {
    let dataset = config().self_loops(true).prepare_edges(data()).unwrap();
    let network = Network::<f32>::new(config().network_for(&dataset), 3).unwrap();
    let column = |table: carat_graph::table::Table, name: &str| match table.column(name) {
        Some(Column::F32(values)) => values.clone(),
        _ => panic!("no {name}"),
    };
    let alpha = |batch| column(tables::attention(&network, &dataset, batch).unwrap(), "alpha");
    let probability = |batch| column(tables::predictions(&network, &dataset, batch).unwrap(), "p_0");
    let close = |one: &[f32], other: &[f32]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-6)
    };
    assert!(close(&alpha(7), &alpha(1000)));
    assert!(close(&probability(7), &probability(1000)));
    let mut probe = Probe::new(&network, &dataset, EffectSettings::from(&config())).unwrap();
    let answers: Vec<f32> = (0..20).flat_map(|node| probe.node(node).unwrap().attention).collect();
    assert!(close(&answers, &alpha(1000)[..answers.len()]));
}

#[test]
fn every_regulariser_trains_alike_on_any_number_of_threads() {
    let node = data();
    let base = config().lambda(Lambda::new(1.0)).arch(AttentionKind::GatV2);
    let runs = [
        (base.clone().rounds(Rounds::All), &node),
        (base.clone().fanout(vec![3, 2]).batch_size(20).interventions(Interventions::Rounds), &node),
        (base.clone().self_loops(true), &config().self_loops(true).prepare_edges(node.clone()).unwrap()),
        (base.clone().interventions(Interventions::Rounds), &set()),
        (base.clone().rounds(Rounds::All), &set()),
        (base.clone().arm(Arm::DropEdge), &node),
        (base.clone().arm(Arm::DropMessage), &node),
        (base.clone().arm(Arm::EdgePrediction), &node),
        (base.clone().arm(Arm::DropEdge), &set()),
    ];
    for (config, dataset) in runs {
        let trained = |threads| {
            with_threads(Some(threads), || {
                let split = config.choose_split(dataset).unwrap();
                let (network, score) = Trainer::new(dataset, &split, &config).unwrap().run().unwrap();
                assert!(score.loss.is_finite());
                network.parameters().to_vec()
            })
            .unwrap()
        };
        assert_eq!(trained(1), trained(3));
    }
}

#[test]
fn data_without_the_features_is_refused_and_other_models_say_so() {
    let dataset = data();
    let network = Network::<f32>::new(config().network_for(&dataset), 3).unwrap();
    let plain = planted(&PlantedConfig { nodes: 120, ..PlantedConfig::default() }).unwrap();
    let error = score(&network, &plain, &[0]).unwrap_err().to_string();
    assert!(error.starts_with("the model reads 2 features per edge, but planted has 0; give it"), "{error}");
    let note = |config: TrainConfig| config.unread_edge_features(&dataset).unwrap_or_default();
    assert_eq!(note(config()), "");
    assert!(note(TrainConfig::default()).contains("(2), which attention does not read; --edge-features lets it"));
    assert!(note(TrainConfig::default_of(ModelKind::Gcn)).contains("which a gcn does not read"));
    assert_eq!(TrainConfig::default().network_for(&dataset).edge_features, 0);
    let error = TrainConfig::default_of(ModelKind::Gcn).edge_features(true).check().unwrap_err().to_string();
    assert_eq!(error, "edge-features has no meaning with model gcn: it has no attention; leave it out");
}
