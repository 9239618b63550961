//! How much attention lies on spurious edges.
//!
//! Means are over the test nodes j that have in-edges of both kinds; other nodes leave attention no choice. a_ij is the
//! mean over heads of the last layer's attention, as in carat's other attention figures:
//!
//! ```text
//! share      mean over j of  sum over spurious i of a_ij
//! uniform    mean over j of  #spurious in-edges / d(j), the share of uniform attention
//! auc        mean over j of  P(a of a useful in-edge > a of a spurious in-edge), ties half
//! ```

use carat::{Error, input};
use carat_graph::{Blocks, Dataset};
use carat_nn::{Keep, Network, Pass, Workspace};
use carat_report::statistics::area_under_curve;
use serde::{Deserialize, Serialize};

/// Attention of one network on the spurious in-edges of test nodes. The top of this file defines the figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AttentionOnSpurious {
    /// Mean attention that a node spends on spurious in-edges.
    pub share: f64,
    /// The same for uniform attention.
    pub uniform: f64,
    /// Mean probability that attention ranks a useful in-edge above a spurious one.
    pub auc: f64,
}

/// Attention of the network's last layer over the in-edges of `nodes`. `None` where the data marks no spurious edges,
/// or no node has in-edges of both kinds.
pub fn attention_on_spurious(
    network: &Network<f32>,
    dataset: &Dataset,
    nodes: &[u32],
) -> Result<Option<AttentionOnSpurious>, Error> {
    let Some(truth) = dataset.spurious() else { return Ok(None) };
    let alpha = last_layer_attention(network, dataset)?;
    let (mut share, mut uniform, mut auc, mut counted) = (0.0, 0.0, 0.0, 0usize);
    for &node in nodes {
        let edges = dataset.graph().in_edges(node);
        let degree = edges.len() as f64;
        let of_kind = |kind: bool| edges.clone().filter(|&e| truth[e] == kind).map(|e| alpha[e]).collect::<Vec<f64>>();
        let (useful, spurious) = (of_kind(false), of_kind(true));
        let Some(node_auc) = area_under_curve(&useful, &spurious) else { continue };
        counted += 1;
        share += spurious.iter().sum::<f64>();
        uniform += spurious.len() as f64 / degree;
        auc += node_auc;
    }
    let n = counted as f64;
    let found = AttentionOnSpurious { share: share / n, uniform: uniform / n, auc: auc / n };
    Ok((counted > 0).then_some(found))
}

/// Head mean of the last layer's attention, by edge id.
fn last_layer_attention(network: &Network<f32>, dataset: &Dataset) -> Result<Vec<f64>, Error> {
    let (layers, heads) = (network.config().layers, network.config().heads);
    let blocks = Blocks::whole(dataset.graph(), layers);
    let mut work = Workspace::default();
    let input = input(network.config(), dataset, &blocks)?;
    let pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
    let of_heads = pass.attention(layers - 1).chunks_exact(heads);
    let own = of_heads.enumerate().filter(|(e, _)| blocks.is_own(*e));
    Ok(own.map(|(_, alphas)| alphas.iter().map(|&a| f64::from(a)).sum::<f64>() / heads as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_graph::{DatasetParts, Features, Graph, Labels};
    use carat_nn::{AttentionKind, NetworkConfig};

    #[test]
    fn equal_neighbours_get_uniform_attention() {
        // Node 0 has three in-neighbours with the same features, one of them spurious. Node 1 has only a useful one.
        let graph = Graph::from_edges(4, &[1, 2, 3, 2], &[0, 0, 0, 1]).unwrap();
        let features = Features::dense(4, 1, vec![1.0; 4]).unwrap();
        let mut parts = DatasetParts::new("small", graph, features, Labels::new(vec![Some(0); 4], 2).unwrap());
        parts.spurious = Some(vec![false, false, true, false].into());
        let dataset = Dataset::new(parts).unwrap();
        let sizes = NetworkConfig {
            arch: AttentionKind::Transformer,
            features: 1,
            hidden: 4,
            heads: 2,
            layers: 1,
            classes: 2,
            ..Default::default()
        };
        let network = Network::new(sizes, 7).unwrap();
        let found = attention_on_spurious(&network, &dataset, &[0, 1]).unwrap().unwrap();
        assert!((found.share - 1.0 / 3.0).abs() < 1e-6 && (found.uniform - 1.0 / 3.0).abs() < 1e-12);
        assert!((found.auc - 0.5).abs() < 1e-12);
        assert_eq!(attention_on_spurious(&network, &dataset, &[1]).unwrap(), None);
    }
}
