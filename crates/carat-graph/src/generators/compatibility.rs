//! Which classes link to which: the ring of MixHop and of H2GCN's syn-cora.
//!
//! With C classes on a ring and dist(a, b) = min(|a - b|, C - |a - b|), a node of class a links to class b with weight
//!
//! ```text
//! H[a, a] = h
//! H[a, b] = (1 - h) 2^-dist(a, b) / sum over k != a of 2^-dist(a, k)      for b != a
//! ```
//!
//! Links to other classes thus still carry information: classes near on the ring are more likely. Every row of H is the
//! first one shifted, so only one row is stored, by offset (b - a) mod C.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// H, by offset on the ring.
#[derive(Debug, Clone)]
pub(super) struct Compatibility {
    weights: Vec<f64>,
    cumulative: Vec<f64>,
}

impl Compatibility {
    /// H for at least two classes and homophily `h` in 0..=1.
    pub(super) fn new(classes: usize, h: f64) -> Self {
        let decay = |offset: usize| (-(offset.min(classes - offset) as f64)).exp2();
        let total: f64 = (1..classes).map(decay).sum();
        let weights: Vec<f64> =
            (0..classes).map(|offset| if offset == 0 { h } else { (1.0 - h) * decay(offset) / total }).collect();
        let mut sum = 0.0;
        let cumulative = weights.iter().map(|w| {
            sum += w;
            sum
        });
        Self { cumulative: cumulative.collect(), weights }
    }

    /// H[from, to].
    pub(super) fn weight(&self, from: usize, to: usize) -> f64 {
        let classes = self.weights.len();
        self.weights[(to + classes - from) % classes]
    }

    /// A class drawn from row `from` of H.
    pub(super) fn draw(&self, from: usize, rng: &mut ChaCha8Rng) -> usize {
        let classes = self.weights.len();
        let point = rng.random::<f64>();
        // Rounding can leave the last sum slightly below 1. A point above it goes to the nearest class that can be
        // drawn, which is never the own class when h = 0 nor another when h = 1.
        let offset = self.cumulative.partition_point(|&c| c <= point);
        let offset = if offset < classes { offset } else { self.weights.iter().rposition(|&w| w > 0.0).unwrap_or(0) };
        (from + offset) % classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn rows_add_up_to_one_and_decay_along_the_ring() {
        let h = Compatibility::new(5, 0.2);
        for from in 0..5 {
            let sum: f64 = (0..5).map(|to| h.weight(from, to)).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!(h.weight(3, 3), 0.2);
        // Class 0's neighbours on the ring are 1 and 4, twice as likely as 2 and 3.
        assert!((h.weight(0, 4) - 0.8 / 3.0).abs() < 1e-12);
        assert!((h.weight(0, 2) - 0.8 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let h = Compatibility::new(4, 0.5);
        let mut counts = [0usize; 4];
        for _ in 0..40_000 {
            counts[h.draw(1, &mut rng)] += 1;
        }
        for (to, &count) in counts.iter().enumerate() {
            assert!((count as f64 / 40_000.0 - h.weight(1, to)).abs() < 0.01, "{counts:?}");
        }
        let extremes = [Compatibility::new(3, 0.0), Compatibility::new(3, 1.0)];
        assert!((0..1000).all(|_| extremes[0].draw(2, &mut rng) != 2 && extremes[1].draw(2, &mut rng) == 2));
    }
}
