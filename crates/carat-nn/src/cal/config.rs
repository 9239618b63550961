//! Sizes and strengths of a model, checked once.

use serde::{Deserialize, Serialize};

use crate::sizes::{self, SizeError};

/// Sizes of the model and strengths of its losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalConfig {
    /// Features per node.
    pub features: usize,
    /// F': width of all hidden layers.
    pub hidden: usize,
    /// K: heads per attention layer, concatenated, so that K divides F'.
    pub heads: usize,
    /// L: number of attention layers.
    pub layers: usize,
    /// Number of classes.
    pub classes: usize,
    /// Strength of KL(uniform || context).
    pub lambda1: f64,
    /// Strength of NLL(combined).
    pub lambda2: f64,
}

/// What is wrong with sizes or strengths.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalError {
    /// A size out of range.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// Heads that do not divide the width.
    #[error(
        "cal concatenates its heads, so that hidden must be a multiple of heads, and {hidden} is not one of {heads}"
    )]
    Heads {
        /// F'.
        hidden: usize,
        /// K.
        heads: usize,
    },
    /// A strength that is out of range.
    #[error("{name} must be 0 or more, and {value} is not")]
    Strength {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

impl CalConfig {
    /// Checks every size and strength.
    pub fn check(&self) -> Result<(), CalError> {
        let Self { features, hidden, heads, layers, classes, lambda1, lambda2 } = *self;
        sizes::FEATURES.check(features)?;
        sizes::HIDDEN.check(hidden)?;
        sizes::HEADS.check(heads)?;
        sizes::LAYERS.check(layers)?;
        sizes::CLASSES.check(classes)?;
        if !hidden.is_multiple_of(heads) {
            return Err(CalError::Heads { hidden, heads });
        }
        for (name, value) in [("lambda1", lambda1), ("lambda2", lambda2)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(CalError::Strength { name, value });
            }
        }
        Ok(())
    }
}
