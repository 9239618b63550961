//! The block: gradients against differences, and deletions against passes without the edge, for random settings.

use carat_graph::{BlockBuilder, Blocks, Dataset, DatasetParts, EdgeFeatures, Features, Graph, Labels};
use carat_nn::{
    Activation, AttentionKind, BlockConfig, ClassifierInput, GcnConfig, GcnNetwork, GcnNorm, Input, Join, Keep,
    Labelled, Masks, Network, NetworkConfig, Norm, Pass, Residual, WholeGraph, Workspace, check,
};
use proptest::prelude::*;
use proptest::sample::select;

const NODES: u32 = 9;

fn blocks_settings() -> impl Strategy<Value = BlockConfig> {
    let words = (
        select(&Residual::ALL[..]),
        select(&Norm::ALL[..]),
        select(&Activation::ALL[..]),
        select(&Join::ALL[..]),
        select(&[ClassifierInput::Skip, ClassifierInput::Last][..]),
    );
    let rate = || select(&[0.0, 0.3, 0.6][..]);
    let rates = (rate(), rate(), rate(), rate());
    (words, rates).prop_map(|(words, (dropout, input_dropout, attention_dropout, message_dropout))| {
        let (residual, norm, activation, join, classifier) = words;
        let words = BlockConfig { residual, norm, activation, join, classifier, ..BlockConfig::default() };
        BlockConfig { dropout, input_dropout, attention_dropout, message_dropout, ..words }
    })
}

fn network_settings() -> impl Strategy<Value = NetworkConfig> {
    let kinds = (select(&AttentionKind::ALL[..]), 1usize..5, select(&[0, 1, 3][..]));
    (blocks_settings(), kinds).prop_map(|(block, (arch, layers, edge_features))| NetworkConfig {
        arch,
        features: 4,
        hidden: 6,
        heads: 2,
        layers,
        classes: 3,
        edge_features,
        block,
    })
}

/// Edges, and whether self-loops are added.
type Edges = (Vec<(u32, u32)>, bool);

fn edges() -> impl Strategy<Value = Edges> {
    (proptest::collection::vec((0..NODES, 0..NODES), 4..24), any::<bool>())
}

fn graph((edges, loops): &Edges) -> Graph {
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
    Graph::from_edges(NODES as usize, &src, &dst).unwrap().with_self_loops(*loops)
}

/// Dense features, or sparse ones.
fn features(sparse: bool) -> Features {
    let value = |i: usize| if sparse && !i.is_multiple_of(5) { 0.0 } else { (5.0 * i as f32 + 1.0).sin() };
    let dense = Features::dense(NODES as usize, 4, (0..NODES as usize * 4).map(value).collect()).unwrap();
    if sparse { dense.compacted() } else { dense }
}

/// What a network of these sizes reads of some blocks.
fn input(config: NetworkConfig, graph: &Graph, blocks: &Blocks, sparse: bool) -> Input<f64> {
    let input = Input::new(&features(sparse), blocks.nodes());
    if config.edge_features == 0 {
        return input;
    }
    let names = (0..config.edge_features).map(|k| format!("column {k}")).collect();
    let values = (0..graph.num_edges() * config.edge_features).map(|v| (7.0 * v as f32 + 2.0).cos());
    let rows = EdgeFeatures::new(names, values.collect::<Vec<f32>>()).unwrap();
    input.with_edge_features(&rows.of_blocks(graph, blocks).unwrap())
}

fn gradients_are_right(network: &mut Network<f64>, blocks: &Blocks, input: &Input<f64>, labels: &[u32]) {
    let settings = network.config();
    for parameter in check::training_gradient(network, blocks, input, labels, Masks::new(1, 2)) {
        assert!(parameter.error < 1e-6, "{settings:?}: {parameter:?}");
    }
    for parameter in check::gradient(network, blocks, input, labels) {
        assert!(parameter.error < 1e-6, "prediction, {settings:?}: {parameter:?}");
    }
}

/// Moves parameters away from 0 and 1, and running statistics from those of no data.
fn move_values(network: &mut Network<f64>) {
    for (i, value) in network.parameters_mut().iter_mut().enumerate() {
        *value += 0.1 * (3.0 * i as f64).sin();
    }
    for (i, value) in network.buffers_mut().iter_mut().enumerate() {
        *value += 0.2 * (i as f64).sin();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn gradients_are_derivatives_for_all_settings(config in network_settings(), edges in edges(), sparse: bool) {
        let graph = graph(&edges);
        let mut network = Network::<f64>::new(config, 3).unwrap();
        move_values(&mut network);
        let blocks = BlockBuilder::new(&graph).build(&[0, 1, 2, 5, 7], config.layers);
        let input = input(config, &graph, &blocks, sparse).with_columns();
        gradients_are_right(&mut network, &blocks, &input, &[0, 1, 2, 0]);
    }

    #[test]
    fn deletions_equal_passes_without_the_edge(config in network_settings(), edges in edges()) {
        let graph = graph(&edges);
        let mut network = Network::<f64>::new(config, 3).unwrap();
        move_values(&mut network);
        let blocks = BlockBuilder::new(&graph).build(&[0, 1, 2, 5], config.layers);
        let input = input(config, &graph, &blocks, false);
        prop_assert!(check::deletions(&network, &blocks, &input) < 1e-9);
        let worst = check::training_deletions(&mut network, &blocks, &input, Masks::new(5, 1));
        prop_assert!(worst < 1e-9, "{worst:e}");
    }

    #[test]
    fn many_deletions_together_equal_a_pass_without_the_edges(config in network_settings(), edges in edges()) {
        let graph = graph(&edges);
        let mut network = Network::<f64>::new(config, 3).unwrap();
        move_values(&mut network);
        let blocks = BlockBuilder::new(&graph).sample(&[0, 1, 2, 5], &[2, 3, 3, 3][..config.layers], 7);
        let input = input(config, &graph, &blocks, false);
        let every_third: Vec<u32> = (0..blocks.edge_ids().len() as u32).step_by(3).collect();
        let cut = blocks.without(&every_third);
        let (mut work, mut found) = (Workspace::default(), Vec::new());
        network.forward(&blocks, &input, Keep::Scores, &mut work).scores_without_all(&every_third, &mut found);
        let input = input.of_cut(&blocks, &cut);
        let pass = network.forward(&cut, &input, Keep::Scores, &mut work);
        prop_assert!(found.iter().zip(pass.scores()).all(|(found, expected)| (found - expected).abs() < 1e-9));
    }

    #[test]
    fn graphs_are_classified_with_the_block(config in network_settings(), edges in edges()) {
        // Graphs of four and of five nodes.
        let within = edges.0.into_iter().filter(|(i, j)| (*i < 4) == (*j < 4)).collect();
        let labels = Labels::new(vec![Some(0), Some(2)], 3).unwrap();
        let mut parts = DatasetParts::new("set", graph(&(within, edges.1)), features(false), labels);
        parts.graph_offsets = Some(vec![0, 4, NODES]);
        let set = Dataset::new(parts).unwrap();
        let blocks =
            BlockBuilder::new(set.graph()).build_graphs(set.graph_set().unwrap(), &[1, 0], config.layers);
        let mut network = Network::<f64>::new(config, 3).unwrap();
        move_values(&mut network);
        let input = input(config, set.graph(), &blocks, false);
        gradients_are_right(&mut network, &blocks, &input, &[2, 0]);
        prop_assert!(check::deletions(&network, &blocks, &input) < 1e-9);
        prop_assert!(check::training_deletions(&mut network, &blocks, &input, Masks::new(5, 1)) < 1e-9);
    }

    #[test]
    fn graph_convolutions_have_the_block(block in blocks_settings(), edges in edges(), layers in 1usize..4) {
        let labels = Labels::new((0..NODES).map(|n| Some(n % 3)).collect(), 3).unwrap();
        let dataset = Dataset::new(DatasetParts::new("one", graph(&edges), features(false), labels)).unwrap();
        let whole = WholeGraph::new(&dataset).unwrap();
        let config = GcnConfig { norm: GcnNorm::Symmetric, features: 4, hidden: 6, layers, classes: 3, block };
        let mut network = GcnNetwork::<f64>::new(config, 3).unwrap();
        let labelled = Labelled { nodes: &[0, 2, 3, 8], labels: &[0, 2, 0, 2], weights: &[] };
        for parameter in check::whole_graph_gradient(&mut network, &whole, labelled, 7) {
            prop_assert!(parameter.error < 1e-6, "{block:?}: {parameter:?}");
        }
    }
}

#[test]
fn training_moves_running_statistics_and_a_file_keeps_them() {
    let graph = graph(&(vec![(0, 1), (1, 2), (2, 0), (3, 0), (4, 5), (5, 4)], false));
    let block = BlockConfig { norm: Norm::Batch, dropout: 0.5, ..BlockConfig::default() };
    let config = NetworkConfig { features: 4, hidden: 6, heads: 2, layers: 2, classes: 3, block, ..Default::default() };
    let mut network = Network::<f32>::new(config, 3).unwrap();
    let blocks = Blocks::whole(&graph, 2);
    let input = Input::new(&features(false), blocks.nodes());
    let before = network.buffers().to_vec();
    let mut work = Workspace::default();
    let scores = |network: &Network<f32>| {
        network.forward(&blocks, &input, Keep::Scores, &mut Workspace::default()).scores().to_vec()
    };
    let first = scores(&network);
    let drawn = network.training_pass(&blocks, &input, Masks::new(0, 0), Keep::Gradients, &mut work);
    assert_ne!(drawn.scores(), first);
    network.update_statistics(&work);
    assert_ne!(network.buffers(), before);
    assert_ne!(scores(&network), first);
    let copy = Network::from_safetensors(&network.to_safetensors().unwrap()).unwrap();
    assert_eq!((copy.buffers(), scores(&copy)), (network.buffers(), scores(&network)));
}

#[test]
fn sizes_and_rates_that_do_not_fit_are_refused() {
    let fits = NetworkConfig { features: 4, hidden: 6, heads: 4, layers: 2, classes: 3, ..Default::default() };
    let with = |block| NetworkConfig { block, ..fits }.check().map_err(|e| e.to_string());
    assert_eq!(with(BlockConfig::default()), Ok(()));
    assert_eq!(
        with(BlockConfig { join: Join::Concat, ..Default::default() }).unwrap_err(),
        "heads that are concatenated share the width: hidden must be a multiple of heads, and 6 is none of 4"
    );
    for dropout in [1.0, -0.1, f64::NAN] {
        let error = with(BlockConfig { dropout, ..Default::default() }).unwrap_err();
        assert_eq!(error, format!("dropout must be at least 0 and below 1, and {dropout} is not"));
    }
}
