//! The edge prediction of SuperGAT: against PyG's SuperGATConv, and its gradient against finite differences.

use crate::support::{Golden, compare_gradient, small_graph};
use carat::car::EdgePrediction;
use carat_graph::{BlockBuilder, Blocks, Dataset};
use carat_nn::{
    Activation, AttentionKind, BlockConfig, Input, Join, Keep, Masks, Network, NetworkConfig, Norm, Pass, Residual,
    Workspace, check,
};

fn golden(name: &str) -> Golden {
    Golden::open_in(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"), name)
}

/// PyG's scaled dot-product scores nodes by one matrix, so it is the transformer whose keys and queries are the same.
#[test]
fn the_loss_and_its_gradients_are_those_of_supergat() {
    let (dataset, src, dst) = small_graph();
    for join in [Join::Concat, Join::Mean] {
        let golden = golden(&format!("supergat_{join}"));
        let block = BlockConfig { join, ..BlockConfig::default() };
        let sizes = NetworkConfig { features: 12, hidden: 8, heads: 2, layers: 1, classes: 4, ..Default::default() };
        let config = NetworkConfig { arch: AttentionKind::Transformer, block, ..sizes };
        let mut network = Network::<f32>::new(config, 0).unwrap();
        let layout = network.layout().clone();
        let shared = ["layers.0.lin_key.weight", "layers.0.lin_query.weight"];
        for (parameter, range) in layout.iter() {
            let values = match &parameter.name[..] {
                name if shared.contains(&name) => golden.floats("param.lin.weight"),
                "layers.0.lin_key.bias" | "layers.0.lin_query.bias" => vec![0.0; parameter.len()],
                _ => continue,
            };
            layout.store(parameter, &values, &mut network.parameters_mut()[range]);
        }
        let encoder: Vec<_> = layout.iter().filter(|(parameter, _)| parameter.name.starts_with("encoder")).collect();
        for (parameter, range) in encoder {
            let values = golden.floats(&format!("param.{}", parameter.name));
            layout.store(parameter, &values, &mut network.parameters_mut()[range]);
        }

        let blocks = Blocks::whole(dataset.graph(), 1);
        let input = Input::new(dataset.features(), blocks.nodes());
        let pairs = |src: &[u32], dst: &[u32]| src.iter().zip(dst).map(|(i, j)| [*i, *j]).collect::<Vec<_>>();
        let others = golden.integers("neg_edge_index");
        let (others_src, others_dst) = others.split_at(others.len() / 2);
        let prediction = EdgePrediction::of_pairs(&blocks, vec![[pairs(&src, &dst), pairs(others_src, others_dst)]]);
        let mut work = Workspace::default();
        let mut pass = network.forward(&blocks, &input, Keep::Layers, &mut work);
        pass.loss_and_gradient(&[0]);
        let plain = pass.gradient().to_vec();
        let loss = prediction.pull(&mut pass, &[1.0]);
        let expected = f64::from(golden.floats("loss")[0]);
        assert!((loss - expected).abs() < 1e-5 * expected, "{join}: {loss} where PyG has {expected}");
        pass.loss_and_gradient(&[0]);
        let gradient: Vec<f32> = pass.gradient().iter().zip(&plain).map(|(both, plain)| both - plain).collect();
        let of = |name: &str| {
            let (parameter, range) = layout.iter().find(|(parameter, _)| parameter.name == name).unwrap();
            let mut values = vec![0.0; parameter.len()];
            layout.export(parameter, &gradient[range], &mut values);
            values
        };
        let [key, query] = shared.map(of);
        let lin: Vec<f32> = key.iter().zip(&query).map(|(key, query)| key + query).collect();
        compare_gradient(&lin, &golden.floats("grad.lin.weight"), "lin.weight");
        for name in ["encoder.weight", "encoder.bias"] {
            compare_gradient(&of(name), &golden.floats(&format!("grad.{name}")), name);
        }
    }
}

/// Edges and other pairs of every layer, some of them twice.
fn pairs(dataset: &Dataset, blocks: &Blocks) -> EdgePrediction {
    let layers = (0..blocks.num_layers()).map(|l| {
        let block = blocks.layer(l);
        let edge = |e: usize| [block.sources()[e], (block.offsets().partition_point(|first| *first <= e) - 1) as u32];
        let edges: Vec<[u32; 2]> = (0..block.num_edges()).filter(|e| e % 3 != l).map(edge).collect();
        let (sources, targets) = (block.num_sources(), block.num_targets());
        let others = (0..30).map(|e| [(7 * e + l) as u32 % sources as u32, (3 * e + e / 5) as u32 % targets as u32]);
        [edges, others.collect()]
    });
    assert!(dataset.num_nodes() >= blocks.nodes().len());
    EdgePrediction::of_pairs(blocks, layers.collect())
}

#[test]
fn the_total_loss_has_the_gradient_of_its_finite_differences() {
    let (dataset, ..) = small_graph();
    let labels: Vec<u32> = [4, 9, 13, 2, 6].iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    let modern = |join, residual, norm, activation| BlockConfig {
        join,
        residual,
        norm,
        activation,
        dropout: 0.3,
        attention_dropout: 0.4,
        ..BlockConfig::default()
    };
    let settings = [
        BlockConfig::default(),
        modern(Join::Concat, Residual::Linear, Norm::Layer, Activation::Elu),
        modern(Join::Mean, Residual::Add, Norm::Batch, Activation::None),
        modern(Join::Concat, Residual::None, Norm::None, Activation::Relu),
    ];
    for arch in AttentionKind::ALL {
        for (block, layers) in settings.into_iter().flat_map(|block| (1..=3).map(move |layers| (block, layers))) {
            let sizes =
                NetworkConfig { arch, features: 12, hidden: 4, heads: 2, layers, classes: 4, ..Default::default() };
            let mut network = Network::<f64>::new(NetworkConfig { block, ..sizes }, 3).unwrap();
            let mut builder = BlockBuilder::new(dataset.graph());
            for blocks in
                [builder.build(&[4, 9, 13, 2, 6], layers), builder.sample(&[4, 9, 13, 2, 6], &vec![3; layers], 1)]
            {
                let input = Input::for_training(dataset.features(), blocks.nodes());
                let prediction = pairs(&dataset, &blocks);
                let lambda: Vec<f64> = (0..layers).map(|l| 0.5 + l as f64).collect();
                let on_pairs = |pass: &mut dyn Pass<f64>| {
                    let part = |l: usize| lambda[l] * prediction.pull_layer(pass, l, lambda[l]);
                    (0..layers).map(part).sum::<f64>() / layers as f64
                };
                let checked =
                    check::gradient_with_pairs(&mut network, &blocks, &input, &labels, Masks::new(2, 1), on_pairs);
                for parameter in checked {
                    assert!(parameter.error < 1e-6, "{arch} {layers} {block:?}: {parameter:?}");
                    let is_read = arch != AttentionKind::Transformer || !parameter.name.ends_with("lin_key.bias");
                    assert!(is_read || parameter.largest > 0.0, "the keys' bias is part of the scores of pairs");
                }
            }
        }
    }
}

/// A pair that is an edge has the score that the softmax reads.
#[test]
fn attention_is_the_softmax_of_the_scores_of_edges() {
    let (dataset, ..) = small_graph();
    for (arch, join) in
        AttentionKind::ALL.into_iter().flat_map(|arch| Join::ALL.into_iter().map(move |join| (arch, join)))
    {
        let block = BlockConfig { join, ..BlockConfig::default() };
        let sizes =
            NetworkConfig { arch, features: 12, hidden: 4, heads: 2, layers: 2, classes: 4, ..Default::default() };
        let network = Network::<f64>::new(NetworkConfig { block, ..sizes }, 3).unwrap();
        let blocks = BlockBuilder::new(dataset.graph()).build(&[4, 9, 12, 2, 6], 2);
        let input = Input::for_training(dataset.features(), blocks.nodes());
        let mut work = Workspace::default();
        let pass = network.forward(&blocks, &input, Keep::Layers, &mut work);
        for l in 0..2 {
            let block = blocks.layer(l);
            let targets =
                (0..block.num_targets()).flat_map(|j| block.in_neighbours(j).iter().map(move |i| [*i, j as u32]));
            let scores = pass.pair_scores(l, &carat_nn::NodePairs::new(block, targets.collect()));
            for (row, k) in block.offsets().windows(2).flat_map(|row| [(row, 0), (row, 1)]) {
                let exponentials: Vec<f64> = (row[0]..row[1]).map(|e| scores[2 * e + k].exp()).collect();
                let total: f64 = exponentials.iter().sum();
                for (e, exponential) in (row[0]..row[1]).zip(exponentials) {
                    assert!((pass.attention(l)[2 * e + k] - exponential / total).abs() < 1e-12, "{arch} {join} {l}");
                }
            }
        }
    }
}
