use std::ops::ControlFlow;

use carat_graph::generators::{InfectionConfig, SpuriousMotifConfig, infection, spurious_motif};
use carat_graph::table::Column;
use carat_graph::{DatasetParts, Graph};
use carat_nn::{Keep, Network, Pass, Workspace, loss};

use super::*;
use crate::{TrainConfig, effects, input, tables};

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn edges() -> Vec<(u32, u32)> {
    let ring = (0..12u32).flat_map(|j| [1, 3, 4, 7].map(move |step| ((j + step) % 12, j)));
    ring.chain([(5, 5), (0, 12), (1, 12), (2, 13)]).collect()
}

fn small(edges: &[(u32, u32)]) -> Dataset {
    let features: Vec<[f32; 3]> = (0..14).map(|n| [1.3, 2.1, 0.4].map(|f| (f * n as f32).sin())).collect();
    let labels: Vec<Option<u32>> = (0..14).map(|n| (n != 4).then_some(n % 3)).collect();
    Dataset::from_rows("small", edges, &features, &labels).unwrap()
}

fn network_for(dataset: &Dataset, arch: &str, layers: usize) -> (TrainConfig, Network<f32>) {
    let config = TrainConfig::default().arch(arch.parse().unwrap()).layers(layers).hidden(6).heads(2);
    let mut network = Network::new(config.network_for(dataset), 3).unwrap();
    // Away from the start, where scores are small and attention is nearly uniform.
    network.parameters_mut().iter_mut().for_each(|value| *value *= 2.5);
    (config, network)
}

/// The class scores of a node on the graph without some edges.
fn scores_without(network: &Network<f32>, gone: &[(u32, u32)], node: u32) -> Vec<f32> {
    let kept: Vec<(u32, u32)> = edges().into_iter().filter(|edge| !gone.contains(edge)).collect();
    let dataset = small(&kept);
    let blocks = carat_graph::BlockBuilder::new(dataset.graph()).build(&[node], network.config().layers);
    let mut work = Workspace::default();
    let rows = input(network.config(), &dataset, &blocks).unwrap();
    network.forward(&blocks, &rows, Keep::Scores, &mut work).scores().to_vec()
}

fn probability(scores: &[f32], class: usize) -> f64 {
    (-f64::from(loss::cross_entropy(scores, class))).exp()
}

#[test]
fn curves_are_those_of_graphs_without_the_edges() {
    let dataset = small(&edges());
    let all: Vec<u32> = (0..14).collect();
    for (arch, layers) in [("gat", 1), ("gatv2", 2), ("transformer", 3)] {
        let (config, network) = network_for(&dataset, arch, layers);
        let settings = EffectSettings::from(&config);
        let observed = Observed::of(&network, &dataset, &all, &settings, &mut go_on).unwrap();
        let attention = observed.read(Reading::Mean);
        let orders = [Order::Highest(&attention), Order::Lowest(&attention)];
        let (curves, entities) =
            deletion_curves(&network, &dataset, &observed, &orders, (100, 1), 5, &mut go_on).unwrap();
        assert_eq!(entities, 13, "all nodes but the one with a single in-edge");
        for (curve, lowest) in curves.iter().zip([false, true]) {
            for (at, share) in SHARES.iter().enumerate() {
                let (mut sum, mut unchanged) = (0.0, 0.0);
                for (row, &node) in observed.rows().zip(&observed.entities).filter(|(row, _)| row.len() > 1) {
                    let mut order: Vec<usize> = row.clone().collect();
                    order.sort_by(|&a, &b| attention[b].total_cmp(&attention[a]));
                    let count = |share: f64| (share * row.len() as f64).round() as usize;
                    let gone = if lowest { &order[count(SHARES[10 - at])..] } else { &order[..count(*share)] };
                    let gone: Vec<(u32, u32)> =
                        gone.iter().map(|&e| (observed.effects.src[e], observed.effects.dst[e])).collect();
                    let class = loss::argmax(&scores_without(&network, &[], node));
                    let scores = scores_without(&network, &gone, node);
                    sum += probability(&scores, class);
                    unchanged += f64::from(u8::from(loss::argmax(&scores) == class));
                }
                let found = (curve.probability[at], curve.unchanged[at]);
                assert!((found.0 - sum / 13.0).abs() < 1e-5, "{arch} {share}: {found:?} for {}", sum / 13.0);
                assert_eq!(found.1, unchanged / 13.0, "{arch} {share}");
            }
        }
        let [highest, lowest] = &curves[..] else { panic!() };
        assert_eq!(highest.probability[0], lowest.probability[0]);
        assert!((highest.probability[10] - lowest.probability[10]).abs() < 1e-12);
        let fidelity = Fidelity::of(highest, lowest);
        assert!((fidelity.plus - (highest.probability[0] - highest.probability[3])).abs() < 1e-15);
        assert_eq!(fidelity.flips_minus, 1.0 - lowest.unchanged[7]);
    }
}

#[test]
fn faithfulness_is_the_correlation_of_two_tables() {
    let dataset = small(&edges());
    let all: Vec<u32> = (0..14).collect();
    let (config, network) = network_for(&dataset, "gatv2", 2);
    let (found, observed) = trust(&network, &dataset, &all, &TrustSettings::from(&config), &mut go_on).unwrap();
    let effects = effects(&network, &dataset, &all, &EffectSettings::from(&config), &mut go_on).unwrap();
    assert_eq!(observed.effects, effects);
    let table = tables::attention(&network, &dataset, 5).unwrap();
    let Some(Column::F32(alpha)) = table.column("alpha") else { panic!("no attention") };
    assert!(observed.attention.iter().zip(alpha).all(|(a, b)| (a - b).abs() < 1e-6));
    assert_eq!(found.readings.len(), 1 + 2 + 4);
    for reading in &found.readings {
        let scores = observed.read(reading.reading);
        for (of, faithfulness) in [(Of::Label, reading.faithfulness), (Of::Prediction, reading.self_faithfulness)] {
            let rows: Vec<_> = observed.rows().filter(|row| row.len() > 1).collect();
            let mean = |correlation: fn(&[f64], &[f64]) -> f64| {
                let of_row =
                    |row: &std::ops::Range<usize>| correlation(&scores[row.clone()], &observed.deltas(of)[row.clone()]);
                rows.iter().map(of_row).sum::<f64>() / rows.len() as f64
            };
            assert_eq!((faithfulness.entities, faithfulness.left_out), (13, 0));
            assert!((faithfulness.pearson.unwrap() - mean(correlation::pearson)).abs() < 1e-12);
            assert!((faithfulness.spearman.unwrap() - mean(correlation::spearman)).abs() < 1e-12);
        }
    }
    // Scores that are the effects themselves are perfect, and equal ones say nothing.
    let perfect = observed.faithfulness(&observed.effects.delta, Of::Label);
    assert!((perfect.pearson.unwrap() - 1.0).abs() < 1e-12 && perfect.error.unwrap() < 1e-9);
    let uniform = observed.faithfulness(&vec![0.25; observed.num_edges()], Of::Label);
    assert_eq!((uniform.pearson, uniform.uniform), (Some(0.0), 13));
    // The best order changes predictions faster than any other here.
    assert!(found.best_area >= found.deletion_area && found.best_area > 0.0);
}

#[test]
fn planted_truth_is_ranked_node_by_node() {
    let edges = edges();
    let features: Vec<[f32; 2]> = (0..14).map(|n| [(n as f32).sin(), (n as f32).cos()]).collect();
    let plain = Dataset::from_rows("planted", &edges, &features, &[Some(0); 14]).unwrap();
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
    let graph = Graph::from_edges(14, &src, &dst).unwrap();
    let spurious: Vec<bool> = graph.edges().map(|(i, j)| i > j).collect();
    let mut parts = DatasetParts::new("planted", graph, plain.features().clone(), plain.labels().clone());
    parts.spurious = Some(spurious.clone().into());
    let dataset = Dataset::new(parts).unwrap();
    let (config, network) = network_for(&dataset, "gat", 1);
    let all: Vec<u32> = (0..14).collect();
    let (found, observed) = trust(&network, &dataset, &all, &TrustSettings::from(&config), &mut go_on).unwrap();
    let matters = observed.planted(&dataset).unwrap();
    assert_eq!(matters, spurious.iter().map(|flag| !flag).collect::<Vec<_>>());
    let perfect: Vec<f64> = matters.iter().map(|&matters| f64::from(u8::from(matters))).collect();
    let truth = observed.planted_auc(&perfect, &matters).unwrap();
    assert_eq!(truth.auc, 1.0);
    assert_eq!(found.mean().planted.unwrap().entities, truth.entities);
    assert!(observed.planted(&plain).is_none());
}

/// The AUC of the exact effects by all pairs of an entity's edges, and the number of entities that have some.
fn planted_by_pairs(observed: &Observed, dataset: &Dataset, matters: &[bool]) -> (f64, usize) {
    let place = |edge: usize| (observed.effects.src[edge], observed.effects.dst[edge]);
    let truth: std::collections::BTreeMap<(u32, u32), bool> =
        dataset.graph().edges().zip(dataset.spurious().unwrap().iter()).collect();
    let deltas = observed.deltas(Of::Prediction);
    let mut found = Vec::new();
    for row in observed.rows() {
        assert!(row.clone().all(|edge| matters[edge] != truth[&place(edge)]));
        let (good, other): (Vec<usize>, Vec<usize>) = row.partition(|&edge| matters[edge]);
        let pairs: Vec<f64> = good
            .iter()
            .flat_map(|&a| other.iter().map(move |&b| (a, b)))
            .map(|(a, b)| [0.0, 0.5, 1.0][(deltas[a].total_cmp(&deltas[b]) as i8 + 1) as usize])
            .collect();
        if !pairs.is_empty() {
            found.push(pairs.iter().sum::<f64>() / pairs.len() as f64);
        }
    }
    (found.iter().sum::<f64>() / found.len() as f64, found.len())
}

#[test]
fn entities_without_a_known_reason_do_not_count_and_graphs_are_judged_by_all_their_edges() {
    let nodes =
        InfectionConfig { nodes: 120, edge_probability: 0.03, infected: 8, max_distance: 2, ..Default::default() };
    let graphs = SpuriousMotifConfig { train: 6, val: 3, test: 3, ..Default::default() };
    for dataset in [infection(&nodes).unwrap(), spurious_motif(&graphs).unwrap()] {
        let (config, network) = network_for(&dataset, "gat", 2);
        let all: Vec<u32> = (0..dataset.num_entities() as u32).collect();
        let (found, observed) = trust(&network, &dataset, &all, &TrustSettings::from(&config), &mut go_on).unwrap();
        let matters = observed.planted(&dataset).unwrap();
        let (auc, entities) = planted_by_pairs(&observed, &dataset, &matters);
        let of_effects = found.planted.unwrap();
        assert!((of_effects.auc - auc).abs() < 1e-12, "{of_effects:?}: {auc}");
        assert_eq!(of_effects.entities, entities);
        match dataset.graph_set() {
            Some(set) => assert_eq!(entities, set.num_graphs()),
            None => {
                let truth = dataset.spurious().unwrap();
                // One in-edge is the last of the only shortest path, and there is another.
                let has_choice = |&&j: &&u32| {
                    let edges = dataset.graph().in_edges(j);
                    edges.len() > 1 && edges.into_iter().any(|edge| !truth[edge])
                };
                assert_eq!(entities, all.iter().filter(has_choice).count());
                assert!((20..100).contains(&entities), "{entities}");
            }
        }
    }
}

#[test]
fn the_verdict_follows_the_worse_of_two_measures() {
    assert_eq!(Verdict::of(Some(0.7), 100, Some(0.8)), Verdict::Yes);
    assert_eq!(Verdict::of(Some(0.7), 100, Some(0.3)), Verdict::Partly);
    assert_eq!(Verdict::of(Some(0.1), 100, Some(0.9)), Verdict::No);
    assert_eq!(Verdict::of(Some(-0.4), 100, Some(0.0)), Verdict::Reversed);
    assert_eq!(Verdict::of(Some(0.6), 100, None), Verdict::Yes);
    assert_eq!(Verdict::of(Some(0.9), 3, Some(0.9)), Verdict::Unknown);
    assert_eq!(Verdict::of(None, 100, None), Verdict::Unknown);
}

#[test]
fn curve_entities_are_drawn_alike_whatever_the_batch() {
    let dataset = small(&edges());
    let (config, network) = network_for(&dataset, "gat", 2);
    let all: Vec<u32> = (0..14).collect();
    let settings = TrustSettings { curve_entities: 4, seed: 9, ..TrustSettings::from(&config) };
    let (one, _) = trust(&network, &dataset, &all, &settings, &mut go_on).unwrap();
    let small_batches = EffectSettings { batch_size: 3, ..settings.effects };
    let (other, _) =
        trust(&network, &dataset, &all, &TrustSettings { effects: small_batches, ..settings }, &mut go_on).unwrap();
    assert_eq!((one.curve_entities, other.curve_entities), (4, 4));
    assert!((one.deletion_area - other.deletion_area).abs() < 1e-6);
    assert_eq!(one.curves.random.unchanged, other.curves.random.unchanged);
    let stop = trust(&network, &dataset, &all, &settings, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stop, Err(Error::Interrupted)));
}
