//! Planted truth: where it is known which edges matter, do scores find them?
//!
//! ```text
//! AUC of an entity = P(score of an edge that matters > score of another of its edges), ties half
//! ```
//!
//! A generator marks the edges that do not matter: those that it planted as spurious, or all that lie outside of what
//! it planted. An entity's edges are the in-edges of a node, which share a softmax, or all edges of a graph; the edges
//! of its receptive field that lie farther away are not ranked. The mean is over entities with edges of both kinds; the
//! others leave scores no choice. Nodes whose reason is not known, such as those outside motifs and those to which
//! several shortest paths lead, have no edge that matters, so they never count.

use carat_graph::Dataset;
use serde::Serialize;

use super::Observed;
use crate::metrics::roc_auc;

/// How well some scores find the edges that matter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Planted {
    /// Mean probability that an edge that matters has the higher score; 0.5 is chance.
    pub auc: f64,
    /// Entities with edges of both kinds.
    pub entities: usize,
}

impl Observed {
    /// Whether each edge matters, where the data knows.
    pub fn planted(&self, dataset: &Dataset) -> Option<Vec<bool>> {
        let truth = dataset.spurious()?;
        let edge = |(&src, &dst): (&u32, &u32)| {
            let neighbours = dataset.graph().in_neighbours(dst);
            neighbours.binary_search(&src).map(|at| dataset.graph().in_edges(dst).start + at)
        };
        let found = self.effects.src.iter().zip(&self.effects.dst).map(edge);
        found.map(|edge| edge.ok().map(|edge| !truth[edge])).collect()
    }

    /// Of some scores, one per edge; `None` where no entity has edges of both kinds.
    pub fn planted_auc(&self, scores: &[f64], matters: &[bool]) -> Option<Planted> {
        let of_row = |row: std::ops::Range<usize>| roc_auc(row.map(|edge| (scores[edge], matters[edge])));
        let found: Vec<f64> = self.rows().filter_map(of_row).collect();
        let entities = found.len();
        (entities > 0).then(|| Planted { auc: found.iter().sum::<f64>() / entities as f64, entities })
    }
}
