//! Integrated gradients (Sundararajan, Taly and Yan, 2017) on the gates of edges, from shut to open.
//!
//! ```text
//! score_ij = (1 - b_ij) integral over t in (0, 1) of d log p(y) / d g_ij    at g = b + t (1 - b)
//! ```
//!
//! b is 0 for every edge, and 1 for self-loops that were added. The integral is the mean over the midpoints of equal
//! steps. Over all edges of the receptive field, the scores sum up to log p(y) with all gates open minus that with all
//! shut.

use carat_nn::{GatedPass, Real, Workspace};

use super::case::Case;
use crate::Error;

pub(super) fn scores(case: &Case<'_>, steps: usize, work: &mut Workspace<f32>) -> Result<Vec<f64>, Error> {
    let shut = case.shut();
    let (mut pass, class) = case.gated(work)?;
    Ok(case.own(&integrated_gradients(&mut pass, &shut, class, steps)))
}

/// Scores of all edges of the pass's blocks for the class of its first entity, with gates that open from `shut` to 1.
pub fn integrated_gradients<T: Real>(pass: &mut GatedPass<'_, T>, shut: &[T], class: u32, steps: usize) -> Vec<f64> {
    let mut scores = vec![0.0; shut.len()];
    let (mut gates, mut gradient) = (shut.to_vec(), Vec::new());
    for step in 0..steps {
        let t = T::from_f64((step as f64 + 0.5) / steps as f64);
        gates.iter_mut().zip(shut).for_each(|(gate, &shut)| *gate = shut + t * (T::ONE - shut));
        pass.loss_and_gradient(&gates, &[class], &mut gradient);
        for ((score, d_loss), shut) in scores.iter_mut().zip(&gradient).zip(shut) {
            *score -= d_loss.to_f64() * (1.0 - shut.to_f64()) / steps as f64;
        }
    }
    scores
}
