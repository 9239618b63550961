//! The central test: computing again only what a deletion changes equals deleting the edge and running everything.

use carat_graph::{BlockBuilder, Blocks, Features, Graph};
use carat_nn::{AttentionKind, Deletion, Input, Keep, Network, NetworkConfig, Pass, Workspace, loss};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CLASSES: usize = 3;

/// Graphs with a hub (node 0 reads every node), degree-1 nodes, isolated nodes, self-loops, reciprocal and one-way
/// edges.
fn arbitrary_graph() -> impl Strategy<Value = Graph> {
    let edges = proptest::collection::vec((0u32..14, 0u32..10), 1..40);
    (edges, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(edges, hub, loops, symmetric)| {
        // A graph without any self-loop is computed in fewer steps.
        let (mut src, mut dst): (Vec<u32>, Vec<u32>) = edges.into_iter().filter(|(i, j)| loops || i != j).unzip();
        if hub {
            src.extend(1..13);
            dst.extend([0; 12]);
        }
        if loops {
            src.extend([0, 3, 5]);
            dst.extend([0, 3, 5]);
        }
        if symmetric {
            let (s, d) = (src.clone(), dst.clone());
            src.extend(d);
            dst.extend(s);
        }
        // Node 14 has one in-edge and node 15 none at all.
        src.push(2);
        dst.push(14);
        Graph::from_edges(16, &src, &dst).unwrap()
    })
}

fn network(arch: AttentionKind, heads: usize, layers: usize, rng: &mut ChaCha8Rng) -> Network<f64> {
    let config = NetworkConfig { arch, features: 6, hidden: 4, heads, layers, classes: CLASSES, ..Default::default() };
    let mut network = Network::<f64>::new(config, 5).unwrap();
    // Biases away from zero and attention far from uniform.
    for p in network.parameters_mut() {
        *p = 1.5 * *p + rng.random_range(-0.3..0.3);
    }
    network
}

fn features(rng: &mut ChaCha8Rng) -> Features {
    Features::dense(16, 6, (0..96).map(|_| rng.random_range(-1.5..1.5f32)).collect()).unwrap()
}

/// Scores of every target after deleting one edge from the graph itself.
fn brute_force(network: &Network<f64>, graph: &Graph, features: &Features, edge: (u32, u32)) -> Vec<f64> {
    let (src, dst): (Vec<u32>, Vec<u32>) = graph.edges().filter(|e| *e != edge).unzip();
    let cut = Graph::from_edges(graph.num_nodes(), &src, &dst).unwrap();
    let blocks = Blocks::whole(&cut, network.config().layers);
    let mut work = Workspace::default();
    let input = Input::new(features, blocks.nodes());
    network.forward(&blocks, &input, Keep::Deletions, &mut work).scores().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_deletion_equals_delete_and_rerun(graph in arbitrary_graph(), seed: u64, whole: bool) {
        for arch in AttentionKind::ALL {
            for (heads, layers) in [(1, 1), (3, 1), (1, 2), (3, 2), (1, 3), (3, 3)] {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let network = network(arch, heads, layers, &mut rng);
                let features = features(&mut rng);
                let blocks = if whole {
                    Blocks::whole(&graph, layers)
                } else {
                    BlockBuilder::new(&graph).build(&[9, 0, 3, 14, 15, 5], layers)
                };
                let mut work = Workspace::default();
                let input = Input::new(&features, blocks.nodes());
                let mut pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
                let (scores, attention) = (pass.scores().to_vec(), pass.attention(0).to_vec());

                let block = blocks.layer(layers - 1);
                let targets = 0..blocks.targets().len();
                let deletions: Vec<Deletion> = targets
                    .flat_map(|j| (block.offsets()[j]..block.offsets()[j + 1]).map(move |e| (j, e)))
                    .map(|(j, e)| Deletion { target: j as u32, edge: e as u32 })
                    .collect();
                let mut found = Vec::new();
                // Twice: the second time buffers hold the first's leftovers.
                pass.scores_without(&deletions[deletions.len() / 2..], &mut found);
                pass.scores_without(&deletions, &mut found);
                prop_assert_eq!(pass.scores(), &scores[..], "the pass with all edges is unchanged");
                prop_assert_eq!(pass.attention(0), &attention[..]);

                for (deletion, found) in deletions.iter().zip(found.chunks_exact(CLASSES)) {
                    let node = blocks.targets()[deletion.target as usize];
                    let source = blocks.nodes()[block.sources()[deletion.edge as usize] as usize];
                    let expected = brute_force(&network, &graph, &features, (source, node));
                    let expected = &expected[node as usize * CLASSES..(node as usize + 1) * CLASSES];
                    for label in 0..CLASSES {
                        let (ce, exact) = (loss::cross_entropy(found, label), loss::cross_entropy(expected, label));
                        let error = (ce - exact).abs() / exact;
                        prop_assert!(error < 1e-9, "{arch} K={heads} L={layers} edge ({source}, {node}): {ce} for \
                            {exact}");
                    }
                }
            }
        }
    }
}
