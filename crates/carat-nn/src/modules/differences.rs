//! Gradients of single modules against central differences, for their tests.

use carat_graph::{Blocks, Graph};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Layouts;
use crate::check::difference;

/// Asserts that `analytic` is the gradient of `loss` at `values`, relative to its largest entry.
pub(crate) fn assert_gradient(what: &str, values: &[f64], analytic: &[f64], mut loss: impl FnMut(&[f64]) -> f64) {
    let mut at = values.to_vec();
    let scale = analytic.iter().fold(1e-3, |scale: f64, g| scale.max(g.abs()));
    assert_eq!(values.len(), analytic.len(), "{what}");
    assert!(analytic.iter().any(|g| g.abs() > 1e-6), "{what}: no gradient worth checking");
    for (place, value) in values.iter().enumerate() {
        let numeric = difference(analytic[place], |shift| {
            at[place] = value + shift;
            loss(&at)
        });
        at[place] = *value;
        let error = (numeric - analytic[place]).abs() / scale;
        assert!(error < 1e-7, "{what} {place}: {} is off by {error:e}", analytic[place]);
    }
}

/// Numbers in -1 to 1, the same for the same seed.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// sum of weight times value: a loss whose gradient is the weights.
pub(crate) fn weighted(values: &[f64], weights: &[f64]) -> f64 {
    assert_eq!(values.len(), weights.len());
    values.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// Seven nodes: a hub, an isolated one (6), a self-loop (2), one that only sends (5).
pub(crate) fn blocks() -> Blocks {
    let edges = [(0, 1), (2, 1), (3, 1), (4, 1), (5, 1), (1, 0), (2, 2), (3, 2), (5, 3), (0, 4), (1, 4)];
    let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
    Blocks::whole(&Graph::from_edges(7, &src, &dst).unwrap(), 1)
}

/// Parameters and running statistics of a layout.
pub(crate) fn values(layouts: &Layouts) -> (Vec<f64>, Vec<f64>) {
    (noise(layouts.parameters.len(), 1), vec![1.0; layouts.buffers.len()])
}
