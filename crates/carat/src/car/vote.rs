//! The neighbour-vote classifier of the paper's homophily ablation: its class scores are the shares of the classes
//! among the in-neighbours that have a training label, and all 0 where none has.

use carat_nn::loss;

/// Marks a node without a training label.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Votes of one entity's in-neighbours.
#[derive(Debug, Default)]
pub(crate) struct Vote {
    counts: Vec<f64>,
    scores: Vec<f64>,
    voters: f64,
}

impl Vote {
    /// Counts the training labels of the in-neighbours.
    pub(crate) fn count(&mut self, classes: usize, labels: impl Iterator<Item = u32>) {
        self.counts.clear();
        self.counts.resize(classes, 0.0);
        self.voters = 0.0;
        for label in labels.filter(|label| *label != UNKNOWN) {
            self.counts[label as usize] += 1.0;
            self.voters += 1.0;
        }
    }

    /// ln CE of the vote for `label`, without the vote `left_out` unless that is [`UNKNOWN`].
    pub(crate) fn log_loss(&mut self, label: u32, left_out: u32) -> f64 {
        self.scores.clone_from(&self.counts);
        let mut voters = self.voters;
        if left_out != UNKNOWN {
            self.scores[left_out as usize] -= 1.0;
            voters -= 1.0;
        }
        if voters > 0.0 {
            self.scores.iter_mut().for_each(|score| *score /= voters);
        }
        loss::log_cross_entropy(&self.scores, label as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_by_hand() {
        let mut vote = Vote::default();
        vote.count(3, [0, 1, UNKNOWN, 0].into_iter());
        let ce = |scores: [f64; 3], y: usize| (scores.iter().map(|z| z.exp()).sum::<f64>().ln() - scores[y]).ln();
        assert!((vote.log_loss(0, UNKNOWN) - ce([2.0 / 3.0, 1.0 / 3.0, 0.0], 0)).abs() < 1e-12);
        assert!((vote.log_loss(0, 1) - ce([1.0, 0.0, 0.0], 0)).abs() < 1e-12);
        vote.count(3, [2].into_iter());
        assert!((vote.log_loss(1, 2) - ce([0.0; 3], 1)).abs() < 1e-12);
    }
}
