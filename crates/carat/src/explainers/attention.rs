//! Attention as an explanation.
//!
//! ```text
//! score_ij = mean over layers from `first` on, and over heads, of alpha_ijk
//! ```

use carat_nn::{Keep, Pass, Workspace};

use super::case::Case;
use crate::Error;

pub(super) fn scores(case: &Case<'_>, first: usize, work: &mut Workspace<f32>) -> Result<Vec<f64>, Error> {
    let (layers, heads) = (case.network.config().layers, case.network.config().heads);
    let pass = case.network.forward(&case.blocks, &case.input, Keep::Scores, work);
    let mean = |edge: usize| {
        let alpha = (first..layers).flat_map(|layer| &pass.attention(layer)[edge * heads..(edge + 1) * heads]);
        alpha.map(|&alpha| f64::from(alpha)).sum::<f64>() / ((layers - first) * heads) as f64
    };
    Ok(case.blocks.own_edges(0).map(mean).collect())
}
