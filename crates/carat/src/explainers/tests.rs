use carat_graph::{Blocks, Graph};
use carat_nn::{Input, loss};

use super::*;
use crate::trust::{Observed, Of, Reading, TrustSettings, trust};
use crate::with_threads;

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn small(self_loops: bool) -> Dataset {
    let ring = (0..12u32).flat_map(|j| [1, 3, 4, 7].map(move |step| ((j + step) % 12, j)));
    let edges: Vec<(u32, u32)> = ring.chain([(5, 5), (0, 12), (1, 12), (2, 13)]).collect();
    let features: Vec<[f32; 3]> = (0..14).map(|n| [1.3, 2.1, 0.4].map(|f| (f * n as f32).sin())).collect();
    let labels: Vec<Option<u32>> = (0..14).map(|n| (n != 4).then_some(n % 3)).collect();
    Dataset::from_rows("small", &edges, &features, &labels).unwrap().with_self_loops(self_loops).unwrap()
}

/// Two graphs of a set: a ring of three nodes with a chord, and a path.
fn set() -> Dataset {
    let edges = [(0, 1), (1, 2), (2, 0), (0, 2), (3, 4), (4, 5), (5, 6)];
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
    let features: Vec<f32> = (0..21).map(|n| (1.7 * n as f32).sin()).collect();
    let features = carat_graph::Features::dense(7, 3, features).unwrap();
    let labels = carat_graph::Labels::new(vec![Some(0), Some(1)], 3).unwrap();
    let graph = Graph::from_edges(7, &src, &dst).unwrap();
    let mut parts = carat_graph::DatasetParts::new("set", graph, features, labels);
    parts.graph_offsets = Some(vec![0, 3, 7]);
    Dataset::new(parts).unwrap()
}

/// Networks away from their start, where scores are small and attention is nearly uniform.
fn networks(dataset: &Dataset) -> Vec<(ExplainerSettings, Network<f32>)> {
    let of = |(arch, layers): (&str, usize)| {
        let config = TrainConfig::default().arch(arch.parse().unwrap()).layers(layers).hidden(6).heads(2);
        let mut network = Network::new(config.network_for(dataset), 3).unwrap();
        network.parameters_mut().iter_mut().for_each(|value| *value *= 2.5);
        (ExplainerSettings::from(&config), network)
    };
    [("gat", 1), ("gatv2", 2), ("transformer", 3)].map(of).into()
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn attention_and_effects_are_those_that_trust_observes() {
    for dataset in [small(false), small(true), set()] {
        let all: Vec<u32> = (0..dataset.num_entities() as u32).collect();
        for (settings, network) in networks(&dataset) {
            let observed = Observed::of(&network, &dataset, &all, &settings.effects, &mut go_on).unwrap();
            let found = |method| scores(&network, &dataset, &all, method, &settings, &mut go_on).unwrap();
            assert!(close(&found(Method::Attention), &observed.read(Reading::Mean)));
            let last = Reading::Layer(network.config().layers - 1);
            assert!(close(&found(Method::LastAttention), &observed.read(last)));
            assert!(close(&found(Method::Effect), observed.deltas(Of::Prediction)));
            if network.config().layers == 1 {
                assert!(close(&found(Method::Gatt), &observed.read(last)), "one layer leads nowhere back");
            } else {
                assert!(!close(&found(Method::Gatt), &observed.read(last)));
            }
        }
    }
}

#[test]
fn the_gradient_is_how_a_gate_changes_log_p() {
    for dataset in [small(true), set()] {
        for (settings, network) in networks(&dataset) {
            let mut builder = EntityBlocks::new(&dataset, Task::of(&dataset));
            let gated = GatedNetwork::new(&network).unwrap();
            let case = Case::new(&network, Some(&gated), &dataset, 1, &mut builder).unwrap();
            let found = Method::Gradient.scores(&case, &settings, &mut Workspace::default()).unwrap();
            let mut work = Workspace::default();
            let (mut pass, class) = case.gated(&mut work).unwrap();
            let mut log_p = |edge: usize, gate: f32| {
                let mut gates = case.open();
                gates[edge] = gate;
                -f64::from(loss::cross_entropy(pass.scores(&gates), class as usize))
            };
            let difference = |edge| (log_p(edge, 1.02) - log_p(edge, 0.98)) / 0.04;
            let expected: Vec<f64> = case.blocks.own_edges(0).map(difference).collect();
            let largest = expected.iter().fold(0.0f64, |largest, score| largest.max(score.abs()));
            assert!(largest > 1e-2, "{expected:?}");
            let error = |(a, b): (&f64, &f64)| (a - b).abs() / largest;
            assert!(found.iter().zip(&expected).all(|pair| error(pair) < 1e-2), "{found:?} for {expected:?}");
        }
    }
}

#[test]
fn integrated_gradients_add_up_to_what_the_edges_do_together() {
    for dataset in [small(false), small(true), set()] {
        for (_, network) in networks(&dataset) {
            let config = network.config();
            let mut network = Network::<f64>::new(config, 3).unwrap();
            network.parameters_mut().iter_mut().for_each(|value| *value *= 2.5);
            let gated = GatedNetwork::new(&network).unwrap();
            let mut builder = EntityBlocks::new(&dataset, Task::of(&dataset));
            let blocks = builder.build(&[1], config.layers);
            let (input, mut work) = (Input::new(dataset.features(), blocks.nodes()), Workspace::default());
            let mut pass = gated.pass(&blocks, &input, &mut work);
            let shut: Vec<f64> = blocks.edge_ids().iter().map(|&id| f64::from(id == Blocks::ADDED)).collect();
            let found = integrated_gradients(&mut pass, &shut, 2, 2000);
            let mut log_p = |gates: &[f64]| -loss::cross_entropy(pass.scores(gates), 2);
            let expected = log_p(&vec![1.0; shut.len()]) - log_p(&shut);
            let sum: f64 = found.iter().sum();
            assert!(expected.abs() > 0.05, "{expected}");
            assert!((sum - expected).abs() < 1e-3 * expected.abs(), "{sum} for {expected}");
            assert!(found.iter().zip(&shut).all(|(score, &shut)| shut == 0.0 || *score == 0.0));
        }
    }
}

#[test]
fn a_learned_mask_serves_the_prediction_and_costs_little() {
    let dataset = small(true);
    for (_, network) in networks(&dataset) {
        let gated = GatedNetwork::new(&network).unwrap();
        let mut builder = EntityBlocks::new(&dataset, Task::Node);
        let case = Case::new(&network, Some(&gated), &dataset, 3, &mut builder).unwrap();
        let mut work = Workspace::default();
        let (mut pass, class) = case.gated(&mut work).unwrap();
        let free = GnnExplainer { epochs: 500, learning_rate: 0.03, size: 0.0, entropy: 0.0 };
        let mut loss_of = |explainer: GnnExplainer| {
            let gates = explainer.learn(&mut pass, &case.shut(), class, vec![0.0; case.shut().len()]);
            let with_loops: Vec<f32> =
                gates.iter().zip(case.shut()).map(|(gate, shut)| shut.max(*gate as f32)).collect();
            (loss::cross_entropy(pass.scores(&with_loops), class as usize), gates)
        };
        let (start, _) = loss_of(GnnExplainer { epochs: 1, learning_rate: 0.0, ..free });
        let (best, _) = loss_of(free);
        assert!(best < 0.9 * start, "{best} from {start}");
        let (_, costly) = loss_of(GnnExplainer { size: 100.0, ..free });
        assert!(costly.iter().all(|gate| *gate < 0.01), "{costly:?}");
    }
}

/// Scores do not depend on threads, nor on which other nodes are explained; draws depend on the seed.
#[test]
fn scores_are_the_same_for_any_threads_and_company() {
    let dataset = small(true);
    let all: Vec<u32> = (0..14).collect();
    let (settings, network) = networks(&dataset).remove(1);
    let settings = ExplainerSettings { steps: 3, ..settings };
    for method in Method::ALL {
        let of = |nodes: &[u32], threads, settings: &ExplainerSettings| {
            let found = || scores(&network, &dataset, nodes, method, settings, &mut |_, _| ControlFlow::Continue(()));
            with_threads(Some(threads), found).unwrap().unwrap()
        };
        let one = of(&all, 1, &settings);
        assert_eq!(one, of(&all, 2, &settings), "{method}");
        let of_node = dataset.graph().in_edges(7);
        assert_eq!(one[of_node], of(&[7], 1, &settings), "{method}");
        let draws = matches!(method, Method::Random | Method::GnnExplainer);
        assert_eq!(one != of(&all, 1, &ExplainerSettings { seed: 1, ..settings }), draws, "{method}");
    }
}

#[test]
fn measures_are_those_of_trust() {
    for dataset in [small(false), set()] {
        let all: Vec<u32> = (0..dataset.num_entities() as u32).collect();
        for (settings, network) in networks(&dataset) {
            let go_on_with = &mut |_: &str, _, _| ControlFlow::Continue(());
            let (found, behind) = compare(&network, &dataset, &all, &Method::ALL, &settings, go_on_with).unwrap();
            let judged = TrustSettings { effects: settings.effects, curve_entities: 100, seed: settings.seed };
            let (trusted, _) = trust(&network, &dataset, &all, &judged, &mut go_on).unwrap();
            let of = |method| found.methods.iter().find(|found| found.method == method).unwrap();
            let (attention, effect) = (of(Method::Attention), of(Method::Effect));
            let same = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() < 1e-4;
            assert!(same(attention.faithfulness.pearson, trusted.mean().faithfulness.pearson));
            assert!(same(attention.self_faithfulness.spearman, trusted.mean().self_faithfulness.spearman));
            assert!((attention.deletion_area - trusted.deletion_area).abs() < 1e-6);
            assert!((found.best_area - trusted.best_area).abs() < 1e-12);
            assert!(effect.self_faithfulness.pearson.unwrap() > 0.9999);
            assert!(found.methods.iter().all(|found| found.milliseconds > 0.0));
            let table = behind.table().unwrap();
            assert_eq!(table.num_rows(), Method::ALL.len() * found.edges);
            assert_eq!(table.column("graph").is_some(), dataset.graph_set().is_some());
        }
    }
}

#[test]
fn attention_of_ones_own_has_no_gates_and_work_can_be_stopped() {
    let dataset = small(false);
    let (settings, network) = networks(&dataset).remove(0);
    let own = Network::with_attention(network.config(), Box::new(carat_nn::Gat), 3).unwrap();
    let of = |method| scores(&own, &dataset, &[0, 1], method, &settings, &mut go_on);
    assert!(of(Method::Gatt).is_ok() && of(Method::Effect).is_ok());
    let error = of(Method::Gradient).unwrap_err();
    assert!(error.is_input_error() && error.to_string().contains("attention of one's own"), "{error}");
    let stop = scores(&network, &dataset, &[0, 1], Method::Gatt, &settings, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stop, Err(Error::Interrupted)));
    let none = ExplainerSettings { steps: 0, ..settings };
    assert!(scores(&network, &dataset, &[0], Method::Gradient, &none, &mut go_on).is_err());
}
