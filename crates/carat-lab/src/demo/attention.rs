//! How much attention lies on spurious edges.
//!
//! Over the test nodes j with in-edges of both kinds (elsewhere attention has no choice), with a_ij the head mean of the
//! last layer's attention, as in carat's other attention figures:
//!
//! ```text
//! share      mean over j of  sum over spurious i of a_ij
//! uniform    mean over j of  #spurious in-edges / d(j), the same for attention that treats all in-edges alike
//! auc        mean over j of  P(a of a useful in-edge > a of a spurious in-edge), ties half
//! relative   d(j) a_ij, attention as a multiple of uniform attention; its distribution is the histogram
//! ```

use carat_graph::{Blocks, Dataset};
use carat_nn::{Input, Network, Workspace};
use serde::Serialize;

use crate::statistics::area_under_curve;

/// Attention of one network on the spurious in-edges of test nodes; the top of this file defines the figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AttentionOnSpurious {
    /// Mean attention that a node spends on spurious in-edges.
    pub share: f64,
    /// The same for uniform attention.
    pub uniform: f64,
    /// Mean probability that attention ranks a useful in-edge above a spurious one.
    pub auc: f64,
}

/// Numbers of edges by their attention relative to uniform attention, in steps of a quarter of a doubling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttentionHistogram {
    /// Useful edges per bin.
    pub useful: Vec<u64>,
    /// Spurious edges per bin.
    pub spurious: Vec<u64>,
}

impl AttentionHistogram {
    /// log2 of the lowest bin's lower bound; the lowest bin also holds everything below.
    pub const LOWEST: f64 = -3.0;
    /// log2 of the highest bin's upper bound; the highest bin also holds everything above.
    pub const HIGHEST: f64 = 3.0;
    /// log2 of the ratio of a bin's bounds.
    pub const STEP: f64 = 0.25;

    fn new() -> Self {
        let bins = ((Self::HIGHEST - Self::LOWEST) / Self::STEP) as usize;
        Self { useful: vec![0; bins], spurious: vec![0; bins] }
    }

    fn add(&mut self, spurious: bool, relative: f64) {
        let bins = if spurious { &mut self.spurious } else { &mut self.useful };
        // Attention 0 has logarithm minus infinity; the conversion saturates at 0, the lowest bin.
        let bin = ((relative.log2() - Self::LOWEST) / Self::STEP).floor() as usize;
        let last = bins.len() - 1;
        bins[bin.min(last)] += 1;
    }

    /// Adds another network's edges.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.useful, &other.useful), (&mut self.spurious, &other.spurious)] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }
}

/// Attention of the network's last layer over the in-edges of `nodes`. `None` where the data knows no spurious edges or
/// none of the nodes has in-edges of both kinds.
pub(super) fn measure(
    network: &Network<f32>,
    dataset: &Dataset,
    nodes: &[u32],
) -> Option<(AttentionOnSpurious, AttentionHistogram)> {
    let truth = dataset.spurious()?;
    let alpha = last_layer_attention(network, dataset);
    let mut histogram = AttentionHistogram::new();
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
        useful.iter().for_each(|a| histogram.add(false, a * degree));
        spurious.iter().for_each(|a| histogram.add(true, a * degree));
    }
    let n = counted as f64;
    let found = AttentionOnSpurious { share: share / n, uniform: uniform / n, auc: auc / n };
    (counted > 0).then_some((found, histogram))
}

/// Head mean of the last layer's attention, by edge id.
fn last_layer_attention(network: &Network<f32>, dataset: &Dataset) -> Vec<f64> {
    let (layers, heads) = (network.config().layers, network.config().heads);
    let blocks = Blocks::whole(dataset.graph(), layers);
    let mut work = Workspace::default();
    network.forward(&blocks, &Input::new(dataset.features(), blocks.nodes()), &mut work);
    let of_heads = work.attention(layers - 1).chunks_exact(heads);
    of_heads.map(|alphas| alphas.iter().map(|&a| f64::from(a)).sum::<f64>() / heads as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_graph::{DatasetParts, Features, Graph, Labels};
    use carat_nn::{AttentionKind, NetworkConfig};

    #[test]
    fn bins_hold_their_bounds_and_the_ends_hold_the_rest() {
        let mut histogram = AttentionHistogram::new();
        assert_eq!(histogram.useful.len(), 24);
        for relative in [0.0, 1e-30, 0.125, 1.0, 7.99, 8.0, 100.0] {
            histogram.add(false, relative);
        }
        let filled: Vec<(usize, u64)> =
            histogram.useful.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(0, 3), (12, 1), (23, 3)]);
        assert_eq!(histogram.spurious.iter().sum::<u64>(), 0);
        let copy = histogram.clone();
        histogram.merge(&copy);
        assert_eq!(histogram.useful[12], 2);
    }

    #[test]
    fn equal_neighbours_get_uniform_attention() {
        // Node 0 hears three nodes with the same words, one of them spurious; node 1 hears only a useful one.
        let graph = Graph::from_edges(4, &[1, 2, 3, 2], &[0, 0, 0, 1]).unwrap();
        let features = Features::dense(4, 1, vec![1.0; 4]).unwrap();
        let mut parts = DatasetParts::new("small", graph, features, Labels::new(vec![Some(0); 4], 2).unwrap());
        parts.spurious = Some(vec![false, false, true, false]);
        let dataset = Dataset::new(parts).unwrap();
        let sizes =
            NetworkConfig { arch: AttentionKind::Transformer, features: 1, hidden: 4, heads: 2, layers: 1, classes: 2 };
        let network = Network::new(sizes, 7).unwrap();
        let (found, histogram) = measure(&network, &dataset, &[0, 1]).unwrap();
        assert!((found.share - 1.0 / 3.0).abs() < 1e-6 && (found.uniform - 1.0 / 3.0).abs() < 1e-12);
        assert!((found.auc - 0.5).abs() < 1e-12);
        assert_eq!((histogram.useful.iter().sum::<u64>(), histogram.spurious.iter().sum::<u64>()), (2, 1));
        assert_eq!(measure(&network, &dataset, &[1]), None);
    }
}
