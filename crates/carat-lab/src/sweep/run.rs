//! One run of a sweep, as the store keeps it.

use carat::metrics::RunFigures;
use carat::{ModelKind, Protocol, Setting, TrainConfig};
use carat_nn::AttentionKind;

use super::curve::Curve;
use crate::AttentionOnSpurious;

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything that decided its result. Baselines (lambda 0) carry the defaults of all regulariser settings.
    pub config: TrainConfig,
    /// Its result.
    pub outcome: Outcome,
}

/// A training's curve. Runs that differ only in their protocol share it; the protocol of these settings is meaningless.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingCurve {
    /// The settings.
    pub config: TrainConfig,
    /// Every epoch.
    pub curve: Curve,
}

/// The result of a run. Test figures are missing where the split has no labelled test node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The figures of the weights that were kept.
    pub figures: RunFigures,
    /// Attention on spurious edges. The demo measures it; sweeps and stores do not.
    pub spurious: Option<AttentionOnSpurious>,
    /// Epochs until the protocol stopped.
    pub epochs: usize,
    /// Epoch whose weights were kept.
    pub kept_epoch: usize,
    /// Seconds of training on one thread, validation included, until the protocol stopped.
    pub train_seconds: f64,
}

/// The setting that a regularised run and its baseline share. Two runs with the same key pair.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairKey {
    /// Dataset.
    pub data: String,
    /// Split.
    pub split: usize,
    /// Attention kind by name, or the model where it has no attention.
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
    /// Every setting outside the regulariser, by name. The fields above decide how pairs are sorted and shown.
    pub all: Vec<(&'static str, String)>,
}

/// The settings that differ from the defaults: `data cora, lr 0.5`.
pub fn described(config: &TrainConfig) -> String {
    differences(config, &TrainConfig::default())
}

/// The settings that differ from those of another run: `hidden 64, lr 0.5`.
pub fn differences(config: &TrainConfig, other: &TrainConfig) -> String {
    let settings = Setting::all().filter(|setting| !setting.is_same(config, other));
    let words = settings.map(|setting| match setting.text(config) {
        text if text.is_empty() => format!("no {}", setting.name),
        text => format!("{} {text}", setting.name),
    });
    words.collect::<Vec<_>>().join(", ")
}

impl Run {
    /// The setting that this run shares with its baseline.
    pub fn pair_key(&self) -> PairKey {
        let TrainConfig { data, network, stopping, seed, .. } = &self.config;
        PairKey {
            data: data.name.clone(),
            split: data.split,
            arch: self.config.network_name(),
            hidden: network.hidden,
            heads: network.heads,
            layers: network.layers,
            seed: *seed,
            protocol: stopping.protocol.to_string(),
            all: self.config.pairing_key(),
        }
    }

    /// True where an attention network was trained.
    pub fn is_attention(&self) -> bool {
        self.config.model == ModelKind::Attention
    }

    /// True where the run has no regulariser.
    pub fn is_baseline(&self) -> bool {
        self.config.car().is_none()
    }

    /// The attention kind.
    pub fn arch(&self) -> AttentionKind {
        self.config.network.arch
    }

    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.config.stopping.protocol
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_described_by_what_is_not_the_default() {
        let config = TrainConfig::default().data("cora".into()).lr(0.5).fanout(vec![3, 2]);
        assert_eq!(described(&config), "data cora, lr 0.5, fanout 3,2");
        let other = config.clone().lr(0.1).fanout(Vec::new());
        assert_eq!(differences(&other, &config), "lr 0.1, no fanout");
    }
}
