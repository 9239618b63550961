//! Settings of the block: what stands around the attention layers of a network.
//!
//! ```text
//! h_0    = drop(act(W1 drop_in(x) + b1))                                    encoder
//! h_l    = drop(act(norm(attention_l(h_l-1) + residual(h_l-1))))            layers, heads joined by mean or concat
//! scores = W2 h_L + b2, or W2 act([h_0 || h_L]) + b2                        classifier
//! ```

use serde::{Deserialize, Serialize};

use crate::classifier::ClassifierInput;
use crate::layers::Join;
use crate::modules::{Activation, Norm, Residual};
use crate::sizes::{self, SizeError};

/// What stands around the attention layers. The default is the paper's network.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockConfig {
    /// What is added to a layer's output.
    pub residual: Residual,
    /// How that is normalised.
    pub norm: Norm,
    /// What is applied to it then.
    pub activation: Activation,
    /// How a layer joins its heads.
    pub join: Join,
    /// What the classifier reads.
    pub classifier: ClassifierInput,
    /// Share of the encoder's and the layers' outputs that is dropped in training.
    pub dropout: f64,
    /// Share of the features that is dropped in training.
    pub input_dropout: f64,
    /// Share of the attention that is dropped in training.
    pub attention_dropout: f64,
    /// Share of the entries of messages that is dropped in training, each edge and column by itself (DropMessage).
    /// Model files from before are without it.
    #[serde(skip_serializing_if = "is_zero")]
    pub message_dropout: f64,
}

fn is_zero(rate: &f64) -> bool {
    *rate == 0.0
}

impl BlockConfig {
    /// Whether it is the paper's.
    pub fn is_paper(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses rates of dropout that leave nothing.
    pub(crate) fn check_rates(&self) -> Result<(), SizeError> {
        let Self { dropout, input_dropout, attention_dropout, message_dropout, .. } = *self;
        sizes::check_rate("dropout", dropout)?;
        sizes::check_rate("input-dropout", input_dropout)?;
        sizes::check_rate("attention-dropout", attention_dropout)?;
        sizes::check_rate("drop-rate", message_dropout)
    }

    /// Whether training passes differ from predictions.
    pub(crate) fn differs_in_training(&self) -> bool {
        let Self { norm, dropout, input_dropout, attention_dropout, message_dropout, .. } = *self;
        let rates = [dropout, input_dropout, attention_dropout, message_dropout];
        norm == Norm::Batch || rates.iter().any(|rate| *rate > 0.0)
    }
}
