//! One run of a sweep, as the store keeps it.

use carat::{Protocol, TrainConfig};
use carat_nn::AttentionKind;
use serde::{Deserialize, Serialize};

use super::curve::Curve;

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything that decided its result. Baselines (lambda 0) carry the defaults of all regulariser settings.
    pub config: TrainConfig,
    /// What it came to.
    pub outcome: Outcome,
}

/// A training's curve. Runs that differ in their protocol alone share it; its own protocol means nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingCurve {
    /// The settings.
    pub config: TrainConfig,
    /// Every epoch.
    pub curve: Curve,
}

/// What a run came to. Test figures are missing where the split has no labelled test node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Mean cross-entropy over the test nodes.
    pub test_loss: Option<f64>,
    /// Share of test nodes predicted right.
    pub test_accuracy: Option<f64>,
    /// Validation loss of the weights that were kept.
    pub val_loss: f64,
    /// Validation accuracy of the weights that were kept.
    pub val_accuracy: f64,
    /// See [`carat::Coherence`].
    pub attention_kl: Option<f64>,
    /// See [`carat::Coherence`].
    pub uniform_kl: Option<f64>,
    /// See [`carat::Coherence`].
    pub attention_auc: Option<f64>,
    /// Epochs that the protocol trained.
    pub epochs: usize,
    /// Epoch whose weights were kept.
    pub kept_epoch: usize,
    /// Seconds of training on one thread, validation included, to the epoch at which the protocol stopped.
    pub train_seconds: f64,
}

/// What a regularised run and its baseline have in common: two runs with the same setting pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    /// Dataset.
    pub data: String,
    /// Split.
    pub split: usize,
    /// Attention kind, by name.
    pub arch: &'static str,
    /// F.
    pub hidden: usize,
    /// K.
    pub heads: usize,
    /// L.
    pub layers: usize,
    /// Seed.
    pub seed: u64,
    /// Protocol, by name.
    pub protocol: String,
    /// Everything else that is not about the regulariser, as text.
    pub rest: String,
}

impl Run {
    /// What this run and its baseline have in common.
    pub fn setting(&self) -> Setting {
        let c = &self.config;
        Setting {
            data: c.data.clone(),
            split: c.split,
            arch: c.arch.name(),
            hidden: c.hidden,
            heads: c.heads,
            layers: c.layers,
            seed: c.seed,
            protocol: c.protocol.to_string(),
            rest: format!("{:?} {} {} {:?} {} {:?}", c.split_ratio, c.lr, c.batch_size, c.fanout, c.epochs, c.patience),
        }
    }

    /// True where nothing is regularised.
    pub fn is_baseline(&self) -> bool {
        self.config.car().is_none()
    }

    /// The attention kind.
    pub fn arch(&self) -> AttentionKind {
        self.config.arch
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.config.protocol
    }
}
