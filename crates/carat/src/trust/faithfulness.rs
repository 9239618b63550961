//! Faithfulness: does attention say what the edges do?
//!
//! ```text
//! faithfulness of j = correlation over j's edges of attention with Delta
//! Delta_ij          = log p(y_j | all edges) - log p(y_j | without (i, j))
//! ```
//!
//! Of a set of scores it is the mean over the entities with at least two edges whose Deltas differ. An entity whose
//! scores are all equal says nothing and counts as 0, so uniform attention scores 0.

use serde::Serialize;

use super::Observed;
use super::correlation::{pearson, spearman, varies};

/// How well scores of edges agree with what the edges do.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Faithfulness {
    /// Mean of Pearson's correlation; `None` where no entity can be judged.
    pub pearson: Option<f64>,
    /// Mean of Spearman's.
    pub spearman: Option<f64>,
    /// Standard error of the mean of Pearson's.
    pub error: Option<f64>,
    /// Entities judged.
    pub entities: usize,
    /// Of these, those with equal scores, which count as 0.
    pub uniform: usize,
    /// Entities with several edges that are left out, because their edges all do the same.
    pub left_out: usize,
}

/// The log-likelihood of which class an edge changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Of {
    /// The true class, or the predicted one where there is no label: what helps to be right.
    Label,
    /// The class that the network predicts: what the network relies on.
    Prediction,
}

impl Observed {
    /// Delta of every edge.
    pub fn deltas(&self, of: Of) -> &[f64] {
        match of {
            Of::Label => &self.effects.delta,
            Of::Prediction => &self.effects.delta_predicted,
        }
    }

    /// Pearson's and Spearman's correlation of every entity; `None` for those that cannot be judged.
    pub fn correlations(&self, scores: &[f64], of: Of) -> Vec<Option<[f64; 2]>> {
        let deltas = self.deltas(of);
        let of_row = |row: std::ops::Range<usize>| {
            let (scores, deltas) = (&scores[row.clone()], &deltas[row.clone()]);
            if row.len() < 2 || !varies(deltas, self.loss_scale(row.start)) {
                return None;
            }
            let is_uniform = !varies(scores, 0.0);
            Some(if is_uniform { [0.0; 2] } else { [pearson(scores, deltas), spearman(scores, deltas)] })
        };
        self.rows().map(of_row).collect()
    }

    /// The size of the numbers that an entity's Deltas are differences of.
    fn loss_scale(&self, edge: usize) -> f64 {
        self.effects.loss[edge]
    }

    /// Faithfulness of some scores, one per edge.
    pub fn faithfulness(&self, scores: &[f64], of: Of) -> Faithfulness {
        let correlations = self.correlations(scores, of);
        let judged: Vec<[f64; 2]> = correlations.iter().flatten().copied().collect();
        let n = judged.len() as f64;
        let mean = |which: usize| (n > 0.0).then(|| judged.iter().map(|found| found[which]).sum::<f64>() / n);
        let pearson = mean(0);
        let error = pearson.filter(|_| n > 1.0).map(|mean| {
            let squares: f64 = judged.iter().map(|found| (found[0] - mean).powi(2)).sum();
            (squares / (n - 1.0) / n).sqrt()
        });
        let several = self.rows().filter(|row| row.len() > 1).count();
        let is_uniform = |(row, found): &(std::ops::Range<usize>, &Option<[f64; 2]>)| {
            found.is_some() && !varies(&scores[row.clone()], 0.0)
        };
        Faithfulness {
            pearson,
            spearman: mean(1),
            error,
            entities: judged.len(),
            uniform: self.rows().zip(&correlations).filter(is_uniform).count(),
            left_out: several - judged.len(),
        }
    }
}
