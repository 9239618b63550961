//! Gates against PyG's edge masks, for exactly PyG's weights. `tools/golden/make_gates_golden.py` makes the file.

use crate::support::{Golden, close, compare_gradient, network, small_graph};
use carat_graph::BlockBuilder;
use carat_nn::{AttentionKind, GatedNetwork, Input, Network, NetworkConfig, Workspace};

#[test]
fn the_gradient_is_that_of_pygs_edge_mask() {
    let (dataset, ..) = small_graph();
    let golden = Golden::open("gates");
    let gates = golden.floats("gates");
    let train = &dataset.splits()[0].train;
    let labels: Vec<u32> = train.iter().map(|&n| dataset.labels().get(n).unwrap()).collect();
    for arch in AttentionKind::ALL {
        for (heads, layers) in [(1, 1), (1, 2), (3, 1), (3, 2)] {
            let name = format!("{arch}_k{heads}_l{layers}");
            let sizes = NetworkConfig { features: 12, hidden: 8, heads, layers, classes: 4, ..Default::default() };
            let weights = Golden::open(&format!("small_{name}"));
            let network: Network<f32> = network(NetworkConfig { arch, ..sizes }, &weights, None);
            let gated = GatedNetwork::new(&network).unwrap();
            let blocks = BlockBuilder::new(dataset.graph()).build(train, layers);
            let (input, mut work) = (Input::new(dataset.features(), blocks.nodes()), Workspace::default());
            let here: Vec<f32> = blocks.edge_ids().iter().map(|&id| gates[id as usize]).collect();
            let mut gradient = Vec::new();
            let loss = gated.pass(&blocks, &input, &mut work).loss_and_gradient(&here, &labels, &mut gradient);
            close(loss as f32, golden.floats(&format!("loss.{name}"))[0], 1e-5, &name);
            // PyG's gradient of an edge outside the receptive field is 0.
            let mut found = vec![0.0; gates.len()];
            blocks.edge_ids().iter().zip(gradient).for_each(|(&id, value)| found[id as usize] = value);
            compare_gradient(&found, &golden.floats(&format!("grad.{name}")), &name);
        }
    }
}
