//! Gradient times input, where the input is the gate of an edge, which is open.
//!
//! ```text
//! score_ij = g_ij d log p(y) / d g_ij    at g = 1        y: the class predicted
//! ```

use carat_nn::Workspace;

use super::case::Case;
use crate::Error;

pub(super) fn scores(case: &Case<'_>, work: &mut Workspace<f32>) -> Result<Vec<f64>, Error> {
    let (mut pass, class) = case.gated(work)?;
    let mut gradient = Vec::new();
    pass.loss_and_gradient(&case.open(), &[class], &mut gradient);
    // The loss is -log p.
    Ok(case.own(&gradient).into_iter().map(|d_loss| -d_loss).collect())
}
