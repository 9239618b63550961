//! What is known of every edge: its differences, averaged over the steps that measured it.
//!
//! ```text
//! m_e <- s m_e + (1 - s) x_e          x_e: ln rho or Delta of the edge under this step's weights and dropout
//! ```
//!
//! One step sees an edge under one mask of dropout and one set of weights. The average says what the edge does to most
//! of them.

/// The average difference of every edge of the data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Memory {
    keep: f32,
    /// By edge; not a number where an edge has not been measured yet.
    averages: Vec<f32>,
}

impl Memory {
    /// A memory of so many edges, none of which has been measured. `keep` is the share of an average that stays when
    /// its edge is measured again.
    pub(crate) fn new(edges: usize, keep: f64) -> Self {
        Self { keep: keep as f32, averages: vec![f32::NAN; edges] }
    }

    /// All averages.
    pub(crate) fn averages(&self) -> &[f32] {
        &self.averages
    }

    /// The same, to be restored.
    pub(crate) fn averages_mut(&mut self) -> &mut [f32] {
        &mut self.averages
    }

    /// Adds a difference of an edge; returns its average.
    pub(crate) fn observe(&mut self, edge: u32, difference: f64) -> f64 {
        let average = &mut self.averages[edge as usize];
        let keep = if average.is_nan() { 0.0 } else { self.keep };
        // Ratios of losses may lie beyond 32 bits.
        let difference = difference.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        *average = if keep == 0.0 { difference } else { keep * *average + (1.0 - keep) * difference };
        f64::from(*average)
    }

    /// The average of an edge, if it has been measured.
    pub(crate) fn recall(&self, edge: u32) -> Option<f64> {
        let average = self.averages[edge as usize];
        (!average.is_nan()).then(|| f64::from(average))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_start_with_the_first_difference_and_move_slowly() {
        let mut memory = Memory::new(2, 0.75);
        assert_eq!(memory.recall(1), None);
        assert_eq!(memory.observe(1, 4.0), 4.0);
        assert_eq!(memory.observe(1, 0.0), 3.0);
        assert_eq!((memory.recall(0), memory.recall(1)), (None, Some(3.0)));
        assert!(memory.observe(0, f64::MAX).is_finite() && memory.observe(0, f64::MIN).is_finite());
    }
}
