//! Scores by chance: what an explanation is worth that knows nothing.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::case::Case;

pub(super) fn scores(case: &Case<'_>, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed, case.entity);
    case.blocks.own_edges(0).map(|_| rng.random()).collect()
}

/// A generator for each entity.
pub(super) fn rng(seed: u64, entity: u32) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed ^ (u64::from(entity) << 32 | 3))
}
