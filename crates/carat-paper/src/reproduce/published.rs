//! Published 10-fold accuracies of comparable networks on sets of graphs, as their tables print them, in percent.
//!
//! - Xu et al. 2019: How Powerful are Graph Neural Networks? ICLR, Table 1. One epoch is chosen for all folds by the
//!   mean test accuracy at that epoch, so the figures are optimistic.
//! - Errica et al. 2020: A Fair Comparison of Graph Neural Networks for Graph Classification, ICLR, Table 3. Sizes and
//!   epochs are chosen on held-out parts of the training folds, as here.
//! - Hassani and Khasahmadi 2020: Contrastive Multi-View Representation Learning on Graphs, ICML, Table 3, for GAT.

use carat_report::statistics::Spread;

/// The sets of graphs, in the order of the columns.
pub(super) const SETS: [&str; 3] = ["MUTAG", "PROTEINS", "NCI1"];

/// One network of one publication.
pub(super) struct Published {
    /// The network.
    pub(super) network: &'static str,
    /// Where its figures are from.
    pub(super) source: &'static str,
    accuracy: [Option<(f64, f64)>; 3],
}

impl Published {
    /// Its accuracy on a set, as a share.
    pub(super) fn on(&self, data: &str) -> Option<Spread> {
        let place = SETS.iter().position(|set| *set == data)?;
        let (mean, deviation) = self.accuracy[place]?;
        Some(Spread { mean: mean / 100.0, deviation: Some(deviation / 100.0) })
    }
}

const XU: &str = "Xu et al. 2019";
const ERRICA: &str = "Errica et al. 2020";

/// The networks that are compared with ours.
pub(super) const PUBLISHED: [Published; 7] = [
    Published { network: "GIN", source: XU, accuracy: [Some((89.4, 5.6)), Some((76.2, 2.8)), Some((82.7, 1.7))] },
    Published { network: "GCN", source: XU, accuracy: [Some((85.6, 5.8)), Some((76.0, 3.2)), Some((80.2, 2.0))] },
    Published { network: "GraphSAGE", source: XU, accuracy: [Some((85.1, 7.6)), Some((75.9, 3.2)), Some((77.7, 1.5))] },
    Published { network: "GAT", source: "Hassani and Khasahmadi 2020", accuracy: [Some((89.4, 6.1)), None, None] },
    Published { network: "GIN", source: ERRICA, accuracy: [None, Some((73.3, 4.0)), Some((80.0, 1.4))] },
    Published { network: "GraphSAGE", source: ERRICA, accuracy: [None, Some((73.0, 4.5)), Some((76.0, 1.8))] },
    Published { network: "DGCNN", source: ERRICA, accuracy: [None, Some((72.9, 3.5)), Some((76.4, 1.7))] },
];

/// Errica et al.'s baseline, which sums the nodes' features and uses no edges.
pub(super) const WITHOUT_EDGES: Published = Published {
    network: "sums of features, no edges",
    source: ERRICA,
    accuracy: [None, Some((75.8, 3.7)), Some((69.8, 2.2))],
};
