//! GNNExplainer against PyG's, from the same mask. `tools/golden/make_gates_golden.py` makes the file.

use carat::explainers::GnnExplainer;
use carat_graph::BlockBuilder;
use carat_nn::{AttentionKind, GatedNetwork, Input, Network, NetworkConfig, Workspace, loss};

use crate::support::{Golden, network, small_graph};

#[test]
fn learned_masks_are_pygs() {
    let (dataset, ..) = small_graph();
    let golden = Golden::open("gates");
    let initial = golden.floats("initial");
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (1, 2), (3, 1), (3, 2)] {
            let name = format!("{arch}_k{heads}_l{layers}");
            let sizes = NetworkConfig { features: 12, hidden: 8, heads, layers, classes: 4, ..Default::default() };
            let weights = Golden::open(&format!("small_{name}"));
            let network: Network<f64> = network(NetworkConfig { arch, ..sizes }, &weights, None);
            let gated = GatedNetwork::new(&network).unwrap();
            let learned = golden.floats(&format!("learned.{name}"));
            for (&node, expected) in golden.integers("explained").iter().zip(learned.chunks_exact(initial.len())) {
                let blocks = BlockBuilder::new(dataset.graph()).build(&[node], layers);
                let (input, mut work) = (Input::new(dataset.features(), blocks.nodes()), Workspace::default());
                let mut pass = gated.pass(&blocks, &input, &mut work);
                let shut = vec![0.0; blocks.edge_ids().len()];
                let class = loss::argmax(pass.scores(&vec![1.0; shut.len()])) as u32;
                let theta = blocks.edge_ids().iter().map(|&id| f64::from(initial[id as usize])).collect();
                let found = GnnExplainer::default().learn(&mut pass, &shut, class, theta);
                assert!(found.iter().any(|&gate| gate > 0.0), "{name}, node {node}: nothing to compare");
                for (&id, found) in blocks.edge_ids().iter().zip(&found) {
                    let expected = f64::from(expected[id as usize]);
                    assert!((found - expected).abs() < 1e-6, "{name}, node {node}: {found} where PyG has {expected}");
                }
                let outside = expected.iter().filter(|&&gate| gate > 0.0).count();
                assert_eq!(outside, found.iter().filter(|&&gate| gate > 0.0).count());
            }
        }
    }
}
