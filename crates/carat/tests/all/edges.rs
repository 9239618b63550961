//! Runs on data whose edges the settings change: both ways, with self-loops.

use std::ops::ControlFlow;

use carat::{
    Arm, Dataset, EffectSettings, Interventions, Lambda, Rounds, Target, TrainConfig, Trainer, effects, mean_attention,
    score, tables,
};
use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::{DatasetParts, Features, Graph, Labels};
use carat_nn::{AttentionKind, Network};

fn data() -> Dataset {
    planted(&PlantedConfig { nodes: 150, ..PlantedConfig::default() }).unwrap()
}

fn config() -> TrainConfig {
    TrainConfig::default().hidden(6).heads(2).epochs(2).self_loops(true)
}

/// The same with self-loops as edges of the data.
fn with_own_loops(dataset: &Dataset) -> Dataset {
    let (mut src, mut dst): (Vec<u32>, Vec<u32>) = dataset.graph().edges().unzip();
    src.extend(0..dataset.num_nodes() as u32);
    dst.extend(0..dataset.num_nodes() as u32);
    let mut parts = dataset.clone().into_parts();
    parts.graph = Graph::from_edges(dataset.num_nodes(), &src, &dst).unwrap();
    parts.spurious = None;
    Dataset::new(parts).unwrap()
}

#[test]
fn added_self_loops_are_attended_to_as_own_ones_are_and_are_in_no_table() {
    let plain = data();
    let own = with_own_loops(&plain);
    let looped = config().prepare_edges(own.clone()).unwrap();
    assert_eq!(looped.graph(), plain.graph());
    let everyone: Vec<u32> = (0..plain.num_nodes() as u32).collect();
    for arch in AttentionKind::ALL {
        let network = Network::<f32>::new(config().arch(arch).network_for(&plain), 3).unwrap();
        let [with, expected] = [&looped, &own].map(|dataset| score(&network, dataset, &everyone).unwrap());
        assert!((with.loss - expected.loss).abs() < 1e-5, "{arch}: {} for {}", with.loss, expected.loss);
        let edges = plain.graph().num_edges();
        assert_eq!(mean_attention(&network, &looped, 40).unwrap().len(), edges);
        assert_eq!(tables::attention(&network, &looped, 40).unwrap().num_rows(), edges * 4);
        let settings = EffectSettings::from(&config());
        let found = effects(&network, &looped, &everyone, &settings, &mut |_, _| ControlFlow::Continue(())).unwrap();
        assert!(found.src.iter().copied().zip(found.dst.iter().copied()).eq(plain.graph().edges()));
    }
}

#[test]
fn every_regulariser_trains_with_self_loops() {
    let dataset = config().undirected(true).prepare_edges(data()).unwrap();
    let base = config().undirected(true).lambda(Lambda::new(1.0));
    let runs = [
        base.clone(),
        base.clone().rounds(Rounds::All),
        base.clone().interventions(Interventions::Rounds).fanout(vec![3, 2]).batch_size(20),
        base.clone().interventions(Interventions::Rounds).rounds(Rounds::All),
        base.clone().arm(Arm::Vote),
        base.clone().arm(Arm::Random),
        base.clone().arm(Arm::DropEdge),
        base.clone().arm(Arm::DropMessage),
        base.clone().arm(Arm::EdgePrediction).fanout(vec![3, 2]).batch_size(20),
        // What the arm does not read is no reason to refuse it.
        base.clone().arm(Arm::DropEdge).target(Target::Distribution),
    ];
    for config in runs {
        let split = config.choose_split(&dataset).unwrap();
        let (_, score) = Trainer::new(&dataset, &split, &config).unwrap().run().unwrap();
        assert!(score.loss.is_finite());
    }
    let error = base.target(Target::Distribution).check().unwrap_err().to_string();
    assert!(error.starts_with("self-loops and target distribution do not go together"), "{error}");
}

#[test]
fn graphs_of_a_set_have_self_loops_too() {
    // Two triangles and a graph of one node, which has no edge of its own.
    let graph = Graph::from_edges(7, &[0, 1, 2, 3, 4, 5], &[1, 2, 0, 4, 5, 3]).unwrap();
    let features = Features::dense(7, 2, (0..14).map(|v| (v as f32).sin()).collect()).unwrap();
    let labels = Labels::new(vec![Some(0), Some(1), Some(1)], 2).unwrap();
    let mut parts = DatasetParts::new("three", graph, features, labels);
    parts.graph_offsets = Some(vec![0, 3, 6, 7]);
    parts.splits = vec![carat_graph::Split { train: vec![0, 2], val: vec![1], test: vec![] }];
    let config = config().lambda(Lambda::new(1.0));
    let dataset = config.prepare_edges(Dataset::new(parts).unwrap()).unwrap();
    for interventions in [Interventions::Exact, Interventions::Rounds] {
        for rounds in [Rounds::Count(2), Rounds::All] {
            let config = config.clone().interventions(interventions).rounds(rounds);
            let split = config.choose_split(&dataset).unwrap();
            let (network, _) = Trainer::new(&dataset, &split, &config).unwrap().run().unwrap();
            let settings = EffectSettings::from(&config);
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let found = effects(&network, &dataset, &[0, 1, 2], &settings, go_on).unwrap();
            assert_eq!((found.len(), &found.degree[..]), (6, &[3; 6][..]));
        }
    }
}

#[test]
fn data_that_is_not_prepared_is_refused() {
    let dataset = data();
    let split = config().choose_split(&dataset).unwrap();
    for config in [config(), TrainConfig::default().undirected(true)] {
        let error = Trainer::new(&dataset, &split, &config).unwrap_err().to_string();
        assert!(error.contains("TrainConfig::prepare_edges"), "{error}");
    }
}
