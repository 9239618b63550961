//! Classifying graphs: the regulariser against deleting edges and running everything, by hand and by finite
//! differences; training the same bits on any number of threads; and what a network says about the graphs of a set.

use std::ops::ControlFlow;

use crate::support::small_set;
use carat::car::{AttentionTargets, Entities, Regulariser, Step, effect};
use carat::{
    Arm, EffectSettings, EntityChoice, Exponent, Interventions, Lambda, RegulariserSettings, Rounds, Target, Task,
    TrainConfig, Trainer, effects, mean_attention, score, tables, with_threads,
};
use carat_graph::table::Column;
use carat_graph::{BlockBuilder, Blocks, Dataset, DatasetParts, Features, Graph, Labels};
use carat_nn::{AttentionKind, Input, Keep, Network, NetworkConfig, NetworkPass, Pass, Workspace, check, loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Six labelled graphs and one without a label. Graphs 1, 3 and 4 have no edges.
const GRAPHS: [u32; 7] = [5, 3, 0, 1, 4, 2, 6];
const LABELLED: usize = 6;

struct Batch {
    dataset: Dataset,
    blocks: Blocks,
    input: Input<f64>,
    labels: Vec<u32>,
}

impl Batch {
    fn new(layers: usize) -> Self {
        let dataset = small_set();
        let blocks = BlockBuilder::new(dataset.graph()).build_graphs(dataset.graph_set().unwrap(), &GRAPHS, layers);
        let input = Input::for_training(dataset.features(), blocks.nodes());
        let labels = GRAPHS[..LABELLED].iter().map(|&g| dataset.labels().get(g).unwrap()).collect();
        Self { dataset, blocks, input, labels }
    }

    fn targets(&self, network: &Network<f64>, config: RegulariserSettings) -> AttentionTargets {
        let pairs = GRAPHS.iter().copied().zip(self.labels.iter().copied());
        let known = Entities::new([self.dataset.num_entities(), self.dataset.graph().num_edges()], 3, pairs);
        let mut work = Workspace::default();
        let step = Step { labels: &self.labels, epoch: 1, seed: 7 };
        Regulariser::new(config, known, 0).targets(&mut self.forward(network, &mut work), step)
    }

    fn forward<'a>(&'a self, network: &'a Network<f64>, work: &'a mut Workspace<f64>) -> NetworkPass<'a, f64> {
        network.forward(&self.blocks, &self.input, Keep::Deletions, work)
    }
}

fn settings(layers: usize, change: impl Fn(&mut TrainConfig)) -> RegulariserSettings {
    let mut config = TrainConfig::default().lambda(Lambda::new(1.0)).rounds(Rounds::All).layers(layers);
    change(&mut config);
    config.check().unwrap();
    config.car().unwrap()
}

fn random_network(arch: AttentionKind, heads: usize, layers: usize) -> Network<f64> {
    let config = NetworkConfig { arch, features: 12, hidden: 4, heads, layers, classes: 3, ..Default::default() };
    let mut network = Network::<f64>::new(config, 3).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    network.parameters_mut().iter_mut().for_each(|p| *p = 0.7 * *p + rng.random_range(-0.1..0.1));
    network
}

/// Cross-entropy of one graph in a set with these edges, all of it computed anew.
fn ce(network: &Network<f64>, dataset: &Dataset, edges: &[(u32, u32)], graph: u32, class: usize) -> f64 {
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
    let mut parts = dataset.clone().into_parts();
    parts.graph = Graph::from_edges(dataset.num_nodes(), &src, &dst).unwrap();
    let cut = Dataset::new(parts).unwrap();
    let blocks =
        BlockBuilder::new(cut.graph()).build_graphs(cut.graph_set().unwrap(), &[graph], network.config().layers);
    let mut work = Workspace::default();
    let input = Input::new(cut.features(), blocks.nodes());
    loss::cross_entropy(network.forward(&blocks, &input, Keep::Deletions, &mut work).scores(), class)
}

#[test]
fn every_effect_is_what_deleting_the_edge_does_by_either_strategy() {
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (2, 2), (1, 3)] {
            let (network, batch) = (random_network(arch, heads, layers), Batch::new(layers));
            let edges: Vec<(u32, u32)> = batch.dataset.graph().edges().collect();
            let set = batch.dataset.graph_set().unwrap();
            for exponent in [Exponent::Degree, Exponent::One] {
                let by = |interventions| {
                    let config = settings(layers, |c| {
                        (c.regulariser.interventions, c.regulariser.exponent) = (interventions, exponent)
                    });
                    batch.targets(&network, config).effects()
                };
                let (exact, rounds) = (by(Interventions::Exact), by(Interventions::Rounds));
                // Every edge of every labelled graph, and none of the last.
                let own = set.nodes(6);
                assert_eq!(exact.len(), edges.iter().filter(|edge| !own.contains(&edge.1)).count());
                assert_eq!(exact.len(), rounds.len());
                for ((deletion, c), (other, by_rounds)) in exact.iter().zip(&rounds) {
                    assert_eq!(deletion, other);
                    assert!((c - by_rounds).abs() < 1e-9, "{arch} L={layers}: {c} exactly, {by_rounds} by rounds");
                    let edge = edges[batch.blocks.edge_ids()[deletion.edge as usize] as usize];
                    let graph = set.graph_of(edge.1);
                    let class = batch.dataset.labels().get(graph).unwrap() as usize;
                    let cut: Vec<(u32, u32)> = edges.iter().copied().filter(|e| *e != edge).collect();
                    let rho = ce(&network, &batch.dataset, &cut, graph, class)
                        / ce(&network, &batch.dataset, &edges, graph, class);
                    let size = edges.iter().filter(|e| set.graph_of(e.1) == graph).count();
                    let expected = effect(rho.ln(), exponent.value(size), 0.1);
                    assert!((c - expected).abs() < 1e-8, "{arch} L={layers} {edge:?}: {c} for {expected}");
                }
            }
        }
    }
}

/// Mean over graphs of the mean over their edges, and with rounds the mean over rounds and graphs; both by hand.
#[test]
fn the_causal_loss_is_the_mean_over_graphs() {
    let (layers, heads) = (2, 2);
    let (network, batch) = (random_network(AttentionKind::GatV2, heads, layers), Batch::new(layers));
    let mut work = Workspace::default();
    let mut pass = batch.forward(&network, &mut work);
    let bce = |deletion: carat_nn::Deletion, c: f64, pass: &dyn Pass<f64>| {
        let block = batch.blocks.layer(layers - 1);
        let row = block.offsets()[deletion.target as usize]..block.offsets()[deletion.target as usize + 1];
        let of_layer = |l: usize| {
            let mean = |e: usize| pass.attention(l)[e * heads..(e + 1) * heads].iter().sum::<f64>() / heads as f64;
            let rest: f64 = row.clone().filter(|&e| e != deletion.edge as usize).map(mean).sum();
            let log = |x: f64| x.ln().max(-100.0);
            -(c * log(mean(deletion.edge as usize)) + (1.0 - c) * log(rest))
        };
        (0..layers).map(of_layer).sum::<f64>() / layers as f64
    };
    let all = batch.targets(&network, settings(layers, |_| {}));
    let entities = (0..LABELLED).filter(|&e| !batch.blocks.entity_edges(e).is_empty()).count();
    assert_eq!(entities, 3);
    let share = |deletion: carat_nn::Deletion| {
        let entity = batch.blocks.entity_of(deletion.target as usize);
        1.0 / (entities * batch.blocks.entity_edges(entity).len()) as f64
    };
    let expected: f64 = all.effects().iter().map(|&(d, c)| share(d) * bce(d, c, &pass)).sum();
    let found = all.pull(&mut pass, &[1.0, 1.0]);
    assert!((found - expected).abs() < 1e-10 * expected, "{found} for {expected}");

    // One draw per round and graph, the same by either strategy; edges drawn again have their shares added up.
    let drawn = |interventions| {
        let config = settings(layers, |c| {
            (c.regulariser.rounds, c.regulariser.interventions) = (Rounds::Count(4), interventions)
        });
        batch.targets(&network, config)
    };
    let [by_rounds, exact] = [Interventions::Rounds, Interventions::Exact].map(drawn);
    assert!(by_rounds.effects().len() <= 4 * entities && by_rounds.effects().len() > entities);
    let loss = |targets: &AttentionTargets| targets.loss_of_layer(&pass, 1);
    assert!((loss(&by_rounds) - loss(&exact)).abs() < 1e-9);
    let constant = batch.targets(&network, settings(layers, |c| c.regulariser.arm = Arm::Constant));
    assert!(constant.effects().len() == all.effects().len() && constant.effects().iter().all(|(_, c)| *c == 0.5));
    let random = batch.targets(&network, settings(layers, |c| c.regulariser.arm = Arm::Random));
    assert!(random.effects().iter().any(|(_, c)| (c - 0.5).abs() > 0.2));
}

#[test]
fn the_total_loss_has_the_gradient_of_its_finite_differences() {
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (3, 2)] {
            let (mut network, batch) = (random_network(arch, heads, layers), Batch::new(layers));
            let targets = batch.targets(&network, settings(layers, |_| {}));
            let lambda: Vec<f64> = (0..layers).map(|l| 0.5 + l as f64).collect();
            let on_attention = |pass: &mut dyn Pass<f64>| {
                let part = |l: usize| lambda[l] * targets.loss_of_layer(pass, l);
                let total = (0..layers).map(part).sum::<f64>() / layers as f64;
                targets.pull(pass, &lambda);
                total
            };
            let checked = check::gradient_with(&mut network, &batch.blocks, &batch.input, &batch.labels, on_attention);
            for parameter in checked {
                assert!(parameter.error < 1e-6, "{arch} K={heads} L={layers}: {parameter:?}");
            }
        }
    }
}

/// Rings, half of them with a chord, which decides the class. Every seventh is empty or has no edges.
fn rings(count: usize) -> Dataset {
    let (mut src, mut dst, mut offsets, mut labels) = (Vec::new(), Vec::new(), vec![0u32], Vec::new());
    for g in 0..count as u32 {
        let (first, size) = (offsets[g as usize], [5, 6, 7, 8, 5, 6, 0][g as usize % 7]);
        let mut join = |a: u32, b: u32| {
            src.extend([first + a, first + b]);
            dst.extend([first + b, first + a]);
        };
        (0..size).for_each(|n| join(n, (n + 1) % size));
        if g % 2 == 1 && size > 0 {
            (2..size - 1).for_each(|n| join(0, n));
        }
        labels.push(Some(g % 2));
        offsets.push(first + size);
    }
    let nodes = offsets[count] as usize;
    let graph = Graph::from_edges(nodes, &src, &dst).unwrap();
    let degrees = (0..nodes as u32).flat_map(|n| [1.0, graph.in_degree(n) as f32 / 3.0]).collect();
    let features = Features::dense(nodes, 2, degrees).unwrap();
    let mut parts = DatasetParts::new("rings", graph, features, Labels::new(labels, 2).unwrap());
    parts.graph_offsets = Some(offsets);
    Dataset::new(parts).unwrap()
}

#[test]
fn training_learns_and_has_the_same_bits_on_any_number_of_threads() {
    let dataset = rings(70);
    let base = TrainConfig::default().hidden(8).heads(2).batch_size(16).epochs(25).folds(Some(5));
    for (lambda, interventions, arm) in [
        (0.0, Interventions::Exact, Arm::Causal),
        (1.0, Interventions::Exact, Arm::Causal),
        (1.0, Interventions::Rounds, Arm::Causal),
        (1.0, Interventions::Exact, Arm::DropEdge),
        (1.0, Interventions::Exact, Arm::DropMessage),
        (0.2, Interventions::Exact, Arm::EdgePrediction),
    ] {
        let config = base.clone().lambda(Lambda::new(lambda)).interventions(interventions).arm(arm).split(2);
        let split = config.choose_split(&dataset).unwrap();
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (42, 14, 14));
        let train = || Trainer::new(&dataset, &split, &config).unwrap().run().unwrap();
        let (one, validation) = with_threads(Some(1), train).unwrap();
        let (three, _) = with_threads(Some(3), train).unwrap();
        assert_eq!(one.parameters(), three.parameters(), "lambda {lambda}, {interventions}, {arm}");
        let test = score(&one, &dataset, &split.test).unwrap();
        // One graph in seven has no nodes, so nothing distinguishes the classes.
        assert!(test.accuracy > 0.8 && validation.accuracy > 0.8, "{arm}, lambda {lambda}: {test}, {validation}");
        assert!(carat::coherence(&one, &dataset, &split.test, 100).unwrap().is_none());
    }
}

#[test]
fn tables_are_of_graphs() {
    let dataset = rings(9);
    let config = TrainConfig::default().hidden(4).heads(2);
    let network = Network::new(config.network_for(&dataset), 1).unwrap();
    let predictions = tables::predictions(&network, &dataset, 4).unwrap();
    let names: Vec<&str> = predictions.columns().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["graph", "label", "predicted", "loss", "p_0", "p_1"]);
    assert_eq!(predictions.num_rows(), 9);
    let attention = tables::attention(&network, &dataset, 5).unwrap();
    let (name, Column::U32(graphs)) = &attention.columns()[0] else { panic!("{attention:?}") };
    assert_eq!((name.as_str(), attention.num_rows()), ("graph", dataset.graph().num_edges() * 4));
    assert!(graphs.is_sorted() && graphs.first() == Some(&0) && graphs.last() == Some(&8) && !graphs.contains(&6));
    assert_eq!(mean_attention(&network, &dataset, 5).unwrap().len(), dataset.graph().num_edges());

    let settings = EffectSettings { batch_size: 2, ..EffectSettings::default() };
    let mut told = Vec::new();
    let found = effects(&network, &dataset, &[3, 1, 6, 3], &settings, &mut |done, total| {
        told.push((done, total));
        ControlFlow::Continue(())
    })
    .unwrap();
    let edges: Vec<(u32, u32)> = dataset.graph().edges().collect();
    let set = dataset.graph_set().unwrap();
    let expected: Vec<(u32, u32)> = edges.iter().copied().filter(|e| [1, 3].contains(&set.graph_of(e.1))).collect();
    assert_eq!(found.src.iter().copied().zip(found.dst.iter().copied()).collect::<Vec<_>>(), expected);
    assert_eq!(told.last(), Some(&(expected.len(), expected.len())));
    let graph = found.graph.clone().unwrap();
    for e in 0..found.len() {
        assert_eq!(graph[e], set.graph_of(found.dst[e]));
        assert_eq!(found.degree[e] as usize, graph.iter().filter(|g| **g == graph[e]).count());
        assert!((found.rho[e] - found.loss_without[e] / found.loss[e]).abs() < 1e-9);
    }
    let table = found.into_table().unwrap();
    let names: Vec<&str> = table.columns().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["graph", "src", "dst", "edges", "loss", "loss_without", "delta", "delta_predicted", "flips", "rho", "effect"]
    );
    let error = effects(&network, &dataset, &[9], &settings, &mut |_, _| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.to_string(), "there is no graph 9 in rings, which has 9");
}

#[test]
fn what_does_not_fit_graphs_is_refused() {
    let set = rings(20);
    let base = TrainConfig::default();
    assert_eq!(base.task_for(&set).unwrap(), Task::Graph);
    let refusal = |config: &TrainConfig, data: &Dataset| config.choose_split(data).unwrap_err().to_string();
    let cases = [
        (base.clone().fanout(vec![3, 3]), "fanout"),
        (base.clone().entities(EntityChoice::All), "entities all"),
        (base.clone().target(Target::Distribution), "target distribution"),
        (base.clone().arm(Arm::Vote), "regulariser vote"),
    ];
    for (config, setting) in cases {
        let expected = format!("{setting} is for classifying nodes, but rings is a set of graphs; leave it out");
        assert_eq!(refusal(&config, &set), expected);
    }
    let node = base.clone().task(Some(Task::Node));
    let expected = "rings is a set of 20 graphs, but task node classifies the nodes of one graph; choose other data";
    assert_eq!(refusal(&node, &set), expected);
    let one = Dataset::from_rows("one", &[(0, 1)], &[[1.0], [0.0]], &[Some(0), Some(1)]).unwrap();
    let graph = base.clone().task(Some(Task::Graph));
    let expected = "one is one graph, but task graph classifies the graphs of a set; choose other data, such as MUTAG";
    assert_eq!(refusal(&graph, &one), expected);
    let many = base.folds(Some(30));
    assert_eq!(refusal(&many, &set), "30 folds are too many for the 20 labelled graphs of rings");
}
