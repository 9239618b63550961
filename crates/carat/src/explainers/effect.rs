//! The exact effect: what deleting the edge, and only it, takes from the prediction.
//!
//! ```text
//! score_ij = Delta_ij = log p(y | all edges) - log p(y | without (i, j))        y: the class predicted
//! ```

use carat_nn::{Keep, Workspace};

use super::case::Case;
use crate::effects::{Deleted, EdgeEffects, delete_each};
use crate::{EffectSettings, Error};

pub(super) fn scores(case: &Case<'_>, settings: &EffectSettings, work: &mut Workspace<f32>) -> Result<Vec<f64>, Error> {
    let mut pass = case.network.forward(&case.blocks, &case.input, Keep::Deletions, work);
    let (mut found, mut scores) = (EdgeEffects::default(), Vec::new());
    delete_each(&mut pass, case.dataset, &[case.entity], &mut scores, &mut |deleted| {
        let Deleted { pass, deletions, scores, references } = deleted;
        found.append(pass, deletions, scores, references, settings)
    })?;
    Ok(found.delta_predicted)
}
