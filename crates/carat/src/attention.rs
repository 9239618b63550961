//! Attention as a reader asks for it: whom does a node listen to?

use carat_graph::{BlockBuilder, Dataset};
use carat_nn::{Input, Network, Workspace};

use crate::Error;
use crate::config::{existing, fits, one_graph};

/// Sources of the in-edges of `node`, ascending, each with the attention that the last layer gives it: the mean over
/// heads. It sums to 1; a node without in-edges listens to nobody. [`crate::tables::attention`] has every layer and head
/// of all edges.
pub fn attention_to(network: &Network<f32>, dataset: &Dataset, node: u32) -> Result<Vec<(u32, f32)>, Error> {
    one_graph(dataset)?;
    fits(network, dataset)?;
    existing(dataset, &[node])?;
    let (layers, heads) = (network.config().layers, network.config().heads);
    let blocks = BlockBuilder::new(dataset.graph()).build(&[node], layers);
    let mut work = Workspace::default();
    network.forward(&blocks, &Input::checked(dataset.features(), blocks.nodes())?, &mut work);
    let attention =
        work.attention(layers - 1).chunks_exact(heads).map(|alpha| alpha.iter().sum::<f32>() / heads as f32);
    Ok(dataset.graph().in_neighbours(node).iter().copied().zip(attention).collect())
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
        let config = TrainConfig { hidden: 6, heads: 2, ..TrainConfig::default() };
        let network = Network::new(config.network_for(&dataset), 3).unwrap();
        let table = tables::attention(&network, &dataset, 10).unwrap();
        let Some((_, Column::F32(alpha))) = table.columns().iter().find(|(name, _)| name == "alpha") else {
            panic!("no column of attention")
        };
        let found: Vec<(u32, f32)> = (0..5).flat_map(|n| attention_to(&network, &dataset, n).unwrap()).collect();
        assert_eq!(found.len(), 7);
        // Two layers of two heads per edge; the last layer's stand second.
        for ((source, mean), (edge, alpha)) in found.iter().zip(dataset.graph().edges().zip(alpha.chunks_exact(4))) {
            assert_eq!(*source, edge.0);
            assert!((mean - (alpha[2] + alpha[3]) / 2.0).abs() < 1e-6);
        }
        assert!(attention_to(&network, &dataset, 4).unwrap().is_empty());
        let error = attention_to(&network, &dataset, 5).unwrap_err();
        assert_eq!(error.to_string(), "there is no node 5 in tiny, which has 5");
    }
}
