//! The loss over the labelled nodes:
//!
//! ```text
//! NLL(object) + lambda1 KL(uniform || context) + lambda2 NLL(combined)
//! ```
//!
//! each a mean over nodes. The object must determine the label, the context must not, and the object must determine the
//! label in any context.

use super::head::HeadState;
use crate::loss;
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows};
use crate::toolkit::sized;
use crate::whole_graph::Labelled;

/// Labelled nodes per chunk.
const CHUNK_NODES: usize = 1024;

/// Mean negative log-likelihood of the labels; fills `state.d_scores` with its gradient times `strength`.
pub(super) fn likelihood<T: Real>(
    labelled: Labelled<'_>,
    classes: usize,
    strength: f64,
    state: &mut HeadState<T>,
) -> f64 {
    let weight = T::from_f64(strength / labelled.nodes.len().max(1) as f64);
    over_labelled(labelled.nodes, classes, state, |range, scores, gradient| {
        loss::cross_entropies(scores, &labelled.labels[range], &[], weight, gradient)
    })
}

/// Mean divergence of the predictions from a uniform distribution, KL(uniform || prediction); fills `state.d_scores`
/// with its gradient times `strength`.
pub(super) fn uniformity<T: Real>(nodes: &[u32], classes: usize, strength: f64, state: &mut HeadState<T>) -> f64 {
    let weight = T::from_f64(strength / nodes.len().max(1) as f64);
    over_labelled(nodes, classes, state, |_, scores, gradient| {
        let rows = scores.chunks_exact(classes).zip(gradient.chunks_exact_mut(classes));
        rows.map(|(scores, gradient)| divergence(scores, weight, gradient)).sum()
    })
}

/// KL(uniform || softmax(z)) = ln sum_k e^z_k - mean(z) - ln C, with gradient softmax(z) - 1/C.
fn divergence<T: Real>(scores: &[T], weight: T, gradient: &mut [T]) -> f64 {
    let classes = scores.len() as f64;
    let largest = scores.iter().fold(f64::NEG_INFINITY, |largest, z| largest.max(z.to_f64()));
    let total: f64 = scores.iter().map(|z| (z.to_f64() - largest).exp()).sum();
    let mean = scores.iter().map(|z| z.to_f64() - largest).sum::<f64>() / classes;
    loss::softmax(scores, gradient);
    gradient.iter_mut().for_each(|g| *g = weight * (*g - T::from_f64(1.0 / classes)));
    total.ln() - mean - classes.ln()
}

/// The mean of a loss over some nodes' scores, and its gradient in `state.d_scores`, which is 0 for all other nodes.
/// `rows` gets the numbers of some of the nodes, their scores and a slice for their gradients, and returns the sum of
/// their losses.
fn over_labelled<T: Real>(
    nodes: &[u32],
    classes: usize,
    state: &mut HeadState<T>,
    rows: impl Fn(std::ops::Range<usize>, &[T], &mut [T]) -> f64 + Sync,
) -> f64 {
    let scores = &state.scores;
    let chunks = Chunks::even(nodes.len(), CHUNK_NODES);
    let (mut gathered, mut totals) = (vec![T::ZERO; nodes.len() * classes], vec![0.0; chunks.len()]);
    let outputs = (Rows::new(&mut gathered, classes), ChunkRows::new(&mut totals, &chunks, 1));
    chunks.run(outputs, |range, (gradient, total)| {
        let row = |node: &u32| &scores[*node as usize * classes..(*node as usize + 1) * classes];
        let scores: Vec<T> = nodes[range.clone()].iter().flat_map(row).copied().collect();
        total.into_slice()[0] = rows(range, &scores, gradient.into_slice());
    });
    let d_scores = sized(&mut state.d_scores, state.scores.len());
    d_scores.fill(T::ZERO);
    for (node, gradient) in nodes.iter().zip(gathered.chunks_exact(classes)) {
        let place = &mut d_scores[*node as usize * classes..(*node as usize + 1) * classes];
        place.iter_mut().zip(gradient).for_each(|(place, gradient)| *place += *gradient);
    }
    totals.iter().sum::<f64>() / nodes.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, noise};

    #[test]
    fn gradients_are_the_derivatives_and_other_nodes_have_none() {
        let (nodes, labels, classes) = ([4u32, 1, 2], [0u32, 2, 1], 3);
        let labelled = Labelled::new(&nodes, &labels);
        let scores: Vec<f64> = noise(5 * classes, 1).iter().map(|z| 3.0 * z).collect();
        let run = |scores: &[f64], uniform: bool| {
            let mut state = HeadState::default();
            state.scores.extend_from_slice(scores);
            let loss = match uniform {
                true => uniformity(&nodes, classes, 0.6, &mut state),
                false => likelihood(labelled, classes, 0.6, &mut state),
            };
            (loss, state.d_scores)
        };
        for uniform in [true, false] {
            let (loss, gradient) = run(&scores, uniform);
            assert_gradient("scores", &scores, &gradient, |scores| 0.6 * run(scores, uniform).0);
            assert_eq!(gradient[..classes], [0.0; 3]);
            let expected = nodes.iter().zip(labels).map(|(node, label)| {
                let row = &scores[*node as usize * classes..(*node as usize + 1) * classes];
                let total: f64 = row.iter().map(|z| z.exp()).sum();
                let log = |class: usize| row[class] - total.ln();
                let uniformly = (0..classes).map(|class| ((1.0f64 / 3.0).ln() - log(class)) / 3.0).sum::<f64>();
                if uniform { uniformly } else { -log(label as usize) }
            });
            assert!((loss - expected.sum::<f64>() / 3.0).abs() < 1e-12);
        }
        assert!(run(&[7.0; 15], true).0.abs() < 1e-12);
    }
}
