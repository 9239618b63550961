//! Attention by node and by edge: which in-neighbours does a node attend to?

use carat_graph::{BlockBuilder, Dataset};
use carat_nn::{Keep, Network, Pass, Workspace};

use crate::entity::existing;
use crate::inputs::check_inputs;
use crate::tables::for_all_nodes;
use crate::{Error, Task, input};

/// Sources of the in-edges of `node`, ascending, each with its attention in the last layer: the mean over heads. It
/// sums to 1; a node without in-edges has none. [`crate::tables::attention`] has every layer and head of all edges.
pub fn attention_to(network: &Network<f32>, dataset: &Dataset, node: u32) -> Result<Vec<(u32, f32)>, Error> {
    check_inputs(network.config(), dataset)?;
    existing(dataset, Task::Node, &[node])?;
    let (layers, heads) = (network.config().layers, network.config().heads);
    let blocks = BlockBuilder::new(dataset.graph()).build(&[node], layers);
    let mut work = Workspace::default();
    let input = input(network.config(), dataset, &blocks)?;
    let pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
    let attention =
        pass.attention(layers - 1).chunks_exact(heads).map(|alpha| alpha.iter().sum::<f32>() / heads as f32);
    Ok(dataset.graph().in_neighbours(node).iter().copied().zip(attention).collect())
}

/// Attention of every edge, in the order of their ids: the mean over layers and heads. Ranking, drawing and pruning of
/// edges use it. At most `batch_size` nodes are computed together.
pub fn mean_attention(network: &Network<f32>, dataset: &Dataset, batch_size: usize) -> Result<Vec<f32>, Error> {
    check_inputs(network.config(), dataset)?;
    let (layers, heads) = (network.config().layers, network.config().heads);
    let mut means = Vec::with_capacity(dataset.graph().num_edges());
    for_all_nodes(network, dataset, batch_size, |pass| {
        // Every layer's block begins with the targets' own in-edges, which are in the order of their ids.
        let edges = 0..pass.blocks().layer(layers - 1).num_edges();
        means.extend(edges.filter(|&e| pass.blocks().is_own(e)).map(|e| {
            let alpha = (0..layers).flat_map(|l| &pass.attention(l)[e * heads..(e + 1) * heads]);
            alpha.sum::<f32>() / (layers * heads) as f32
        }));
    })?;
    Ok(means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TrainConfig, tables};
    use carat_graph::table::Column;

    #[test]
    fn it_is_the_head_mean_of_the_last_layer_in_the_whole_table() {
        let edges = [(0, 3), (1, 3), (2, 3), (3, 3), (3, 0), (2, 1), (0, 2)];
        let features: Vec<[f32; 2]> = (0..5).map(|n| [(n as f32).sin(), (3.0 * n as f32).cos()]).collect();
        let dataset = Dataset::from_rows("tiny", &edges, &features, &[Some(0), Some(1), None, None, None]).unwrap();
        let config = TrainConfig::default().hidden(6).heads(2);
        let network = Network::new(config.network_for(&dataset), 3).unwrap();
        let table = tables::attention(&network, &dataset, 10).unwrap();
        let Some((_, Column::F32(alpha))) = table.columns().iter().find(|(name, _)| name == "alpha") else {
            panic!("no column of attention")
        };
        let found: Vec<(u32, f32)> = (0..5).flat_map(|n| attention_to(&network, &dataset, n).unwrap()).collect();
        assert_eq!(found.len(), 7);
        // Two layers of two heads per edge; the last layer's come second.
        for ((source, mean), (edge, alpha)) in found.iter().zip(dataset.graph().edges().zip(alpha.chunks_exact(4))) {
            assert_eq!(*source, edge.0);
            assert!((mean - (alpha[2] + alpha[3]) / 2.0).abs() < 1e-6);
        }
        let means = mean_attention(&network, &dataset, 2).unwrap();
        assert_eq!(means.len(), 7);
        for (mean, alpha) in means.iter().zip(alpha.chunks_exact(4)) {
            assert!((mean - alpha.iter().sum::<f32>() / 4.0).abs() < 1e-6);
        }
        assert!(attention_to(&network, &dataset, 4).unwrap().is_empty());
        let error = attention_to(&network, &dataset, 5).unwrap_err();
        assert_eq!(error.to_string(), "there is no node 5 in tiny, which has 5");
    }
}
