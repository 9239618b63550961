//! Labels for entities that have no training label: the network's own predictions, averaged over steps.
//!
//! ```text
//! p_n <- s p_n + (1 - s) softmax(scores of n)          label: argmax p_n          confidence: max p_n
//! ```

use carat_nn::{Real, loss};

/// The average prediction of every node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Teacher {
    classes: usize,
    keep: f32,
    /// Nodes x classes; a row of zeros has no prediction yet.
    average: Vec<f32>,
}

impl Teacher {
    /// A teacher without predictions. `keep` is the share of the average that stays in each step.
    pub(crate) fn new(nodes: usize, classes: usize, keep: f64) -> Self {
        Self { classes, keep: keep as f32, average: vec![0.0; nodes * classes] }
    }

    /// All averages, nodes x classes.
    pub(crate) fn average(&self) -> &[f32] {
        &self.average
    }

    /// Restores as many averages.
    pub(crate) fn restore(&mut self, average: &[f32]) {
        self.average.copy_from_slice(average);
    }

    /// Adds a prediction of `node` to its average; returns the label and the confidence in it.
    pub(crate) fn observe<T: Real>(&mut self, node: u32, scores: &[T], probabilities: &mut Vec<T>) -> (u32, f64) {
        probabilities.resize(self.classes, T::ZERO);
        loss::softmax(scores, probabilities);
        let row = &mut self.average[node as usize * self.classes..(node as usize + 1) * self.classes];
        let keep = if row.iter().all(|p| *p == 0.0) { 0.0 } else { self.keep };
        for (average, p) in row.iter_mut().zip(probabilities) {
            *average = keep * *average + (1.0 - keep) * p.to_f64() as f32;
        }
        let label = loss::argmax(row);
        (label as u32, f64::from(row[label]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_move_slowly_after_the_first() {
        let mut teacher = Teacher::new(2, 2, 0.8);
        let mut room = Vec::new();
        let (label, confidence) = teacher.observe(1, &[3f64.ln(), 0.0], &mut room);
        assert_eq!(label, 0);
        assert!((confidence - 0.75).abs() < 1e-6);
        let (label, confidence) = teacher.observe(1, &[0.0, 3f64.ln()], &mut room);
        assert_eq!(label, 0);
        assert!((confidence - (0.8 * 0.75 + 0.2 * 0.25)).abs() < 1e-6);
        assert_eq!(teacher.average()[..2], [0.0, 0.0]);
    }
}
