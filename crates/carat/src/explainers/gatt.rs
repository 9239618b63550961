//! GAtt (Shin, Li, Cao and Shin, "Faithful and accurate self-attention attribution for message passing neural networks
//! via the computation tree viewpoint", AAAI 2025): attention led back through the layers.
//!
//! ```text
//! score_ij = sum over layers l of w^l_j abar^l_ij            every occurrence of the edge in v's computation tree
//! w^L      = 1 at v, or at every node of a graph             w^(l-1)_i = sum_j w^l_j abar^l_ij
//! ```
//!
//! abar is the mean of attention over heads. w^l_j is the sum over all paths from j in layer l to v of the product of
//! the attention on the way.

use carat_graph::Blocks;
use carat_nn::{Keep, Pass, Workspace};

use super::case::Case;
use crate::Error;

pub(super) fn scores(case: &Case<'_>, work: &mut Workspace<f32>) -> Result<Vec<f64>, Error> {
    let (layers, heads) = (case.network.config().layers, case.network.config().heads);
    let pass = case.network.forward(&case.blocks, &case.input, Keep::Scores, work);
    let mean = |alpha: &[f32]| alpha.iter().map(|&alpha| f64::from(alpha)).sum::<f64>() / heads as f64;
    let attention: Vec<Vec<f64>> =
        (0..layers).map(|layer| pass.attention(layer).chunks_exact(heads).map(mean).collect()).collect();
    Ok(case.own(&led_back(&case.blocks, &attention)))
}

/// The score of every edge, from the attention that every layer gives the edges of its block.
fn led_back(blocks: &Blocks, attention: &[Vec<f64>]) -> Vec<f64> {
    let mut scores = vec![0.0; blocks.edge_ids().len()];
    let mut weights = vec![1.0; blocks.num_within(0)];
    for (layer, attention) in attention.iter().enumerate().rev() {
        let block = blocks.layer(layer);
        let mut below = vec![0.0; block.num_sources()];
        for (j, weight) in weights.iter().enumerate() {
            for e in block.offsets()[j]..block.offsets()[j + 1] {
                let share = weight * attention[e];
                scores[e] += share;
                below[block.sources()[e] as usize] += share;
            }
        }
        weights = below;
    }
    scores
}

#[cfg(test)]
mod tests {
    use carat_graph::{BlockBuilder, Graph};

    use super::*;

    /// Adds the attention of every edge on every walk that ends at a node in this layer, by enumeration.
    fn walk(blocks: &Blocks, attention: &[Vec<f64>], layer: usize, node: usize, product: f64, scores: &mut [f64]) {
        let block = blocks.layer(layer);
        for e in block.offsets()[node]..block.offsets()[node + 1] {
            let product = product * attention[layer][e];
            scores[e] += product;
            if layer > 0 {
                walk(blocks, attention, layer - 1, block.sources()[e] as usize, product, scores);
            }
        }
    }

    #[test]
    fn scores_are_those_of_the_computation_tree() {
        // Two ways to node 0, a cycle through it, a self-loop and a double path.
        let edges = [(1, 0), (2, 0), (0, 1), (2, 1), (3, 2), (3, 1), (2, 2), (0, 3), (4, 3)];
        let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
        let graph = Graph::from_edges(5, &src, &dst).unwrap();
        for layers in 1..=4 {
            let blocks = BlockBuilder::new(&graph).build(&[0], layers);
            let of_layer = |layer: usize| {
                (0..blocks.layer(layer).num_edges()).map(|e| (1.0 + (3 * layer + 5 * e) as f64).sin().abs()).collect()
            };
            let attention: Vec<Vec<f64>> = (0..layers).map(of_layer).collect();
            let mut expected = vec![0.0; blocks.edge_ids().len()];
            walk(&blocks, &attention, layers - 1, 0, 1.0, &mut expected);
            let found = led_back(&blocks, &attention);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} for {expected:?}");
            assert!(expected.iter().all(|&score| score > 0.0), "every edge of the field is in the tree");
        }
    }
}
