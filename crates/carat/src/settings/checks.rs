//! Which values of settings are refused, and which settings a run does not read.

use super::{Arm, EffectKind, EntityChoice, RegulariserSettings, Rounds, Target};
use crate::rewire::Pruning;
use crate::{Error, Lambda, ModelKind, TrainConfig};

fn refused(problem: String) -> Result<(), Error> {
    Err(Error::Config(problem))
}

pub(super) fn above_zero(name: &str, value: &f64, _: &TrainConfig) -> Result<(), Error> {
    if value.is_finite() && *value > 0.0 {
        return Ok(());
    }
    refused(format!("{name} must be a number above 0, and {value} is not"))
}

pub(super) fn zero_or_more(name: &str, value: &f64, _: &TrainConfig) -> Result<(), Error> {
    if value.is_finite() && *value >= 0.0 {
        return Ok(());
    }
    refused(format!("{name} must be 0 or more, and {value} is not"))
}

/// A share that is below the whole.
pub(super) fn below_one(name: &str, value: &f64, _: &TrainConfig) -> Result<(), Error> {
    if (0.0..1.0).contains(value) {
        return Ok(());
    }
    refused(format!("{name} must be at least 0 and below 1, and {value} is not"))
}

/// A share that is not nothing.
pub(super) fn share(name: &str, value: &f64, _: &TrainConfig) -> Result<(), Error> {
    if *value > 0.0 && *value <= 1.0 {
        return Ok(());
    }
    refused(format!("{name} must be above 0 and at most 1, and {value} is not"))
}

pub(super) fn at_least_one(name: &str, value: &usize, _: &TrainConfig) -> Result<(), Error> {
    if *value == 0 { refused(format!("{name} must be at least 1")) } else { Ok(()) }
}

pub(super) fn patience(name: &str, value: &Option<usize>, config: &TrainConfig) -> Result<(), Error> {
    value.map_or(Ok(()), |value| at_least_one(name, &value, config))
}

/// Larger exponents separate only edges that e^100 separates already, and overflow in the end.
const LARGEST_CLAMP: f64 = 100.0;

pub(super) fn clamp(name: &str, value: &f64, config: &TrainConfig) -> Result<(), Error> {
    above_zero(name, value, config)?;
    if *value <= LARGEST_CLAMP {
        return Ok(());
    }
    refused(format!("{name} must be at most {LARGEST_CLAMP}, and {value} is not"))
}

pub(super) fn lambda(_: &str, value: &Lambda, config: &TrainConfig) -> Result<(), Error> {
    let arm = config.regulariser.arm;
    if arm.is_noise() && (value.is_auto() || value.values().len() > 1) {
        return refused(format!(
            "regulariser {arm} adds no loss that lambda could weigh; give lambda 1 to switch it on, and set drop-rate"
        ));
    }
    value.check(config.network.layers).map_err(Error::Config)
}

pub(super) fn fanout(name: &str, value: &[usize], config: &TrainConfig) -> Result<(), Error> {
    let layers = config.network.layers;
    if !value.is_empty() && value.len() != layers {
        return refused(format!(
            "{name} has {} numbers, but the network has {layers} layers; give one per layer, like {}",
            value.len(),
            vec!["10"; layers].join(",")
        ));
    }
    if value.contains(&0) {
        return refused(format!("{name} must be at least 1 at every hop"));
    }
    Ok(())
}

pub(super) fn cross_fit(name: &str, value: &usize, _: &TrainConfig) -> Result<(), Error> {
    if *value == 1 {
        return refused(format!("{name} must be 0, or at least 2: with one fold, nothing would be left to train on"));
    }
    Ok(())
}

/// One to test, one to validate, one to train.
const FEWEST_FOLDS: usize = 3;

pub(super) fn folds(name: &str, value: &Option<usize>, config: &TrainConfig) -> Result<(), Error> {
    let split = config.data.split;
    match *value {
        Some(_) if config.data.split_ratio.is_some() => {
            refused(format!("{name} and split-ratio both make splits; leave one of them out"))
        }
        Some(folds) if folds < FEWEST_FOLDS => {
            refused(format!("{name} must be at least {FEWEST_FOLDS}: one tests, one validates, the others train"))
        }
        Some(folds) if split >= folds => {
            refused(format!("there are {folds} folds (split 0 to {}), and no split {split}", folds - 1))
        }
        _ => Ok(()),
    }
}

pub(super) fn self_loops(name: &str, value: &bool, config: &TrainConfig) -> Result<(), Error> {
    if *value && config.car().is_some_and(|car| car.target == Target::Distribution) {
        return refused(format!(
            "{name} and target distribution do not go together: an added self-loop takes part of the attention, \
             but is no edge to deal out; use target bce, or leave {name} out"
        ));
    }
    Ok(())
}

pub(super) fn split_ratio(_: &str, _: &Option<String>, config: &TrainConfig) -> Result<(), Error> {
    config.ratio().map(|_| ())
}

pub(super) fn prune(name: &str, value: &Option<Pruning>, config: &TrainConfig) -> Result<(), Error> {
    match value {
        None => Ok(()),
        Some(pruning) if config.model == ModelKind::Gcn => pruning.check(),
        Some(_) => refused(format!("{name} is a setting of graph convolution networks; set the model to gcn")),
    }
}

/// Why a run does not read a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unused {
    /// Nothing is regularised. The setting may be given nevertheless.
    Unregularised,
    /// It has no meaning for the model, for this reason.
    Meaningless(&'static str),
    /// It belongs to another model.
    Foreign(ModelKind),
}

pub(crate) const NO_ATTENTION: &str = "it has no attention";
pub(crate) const OWN_ATTENTION: &str = "its attention is of another kind";
const OWN_NETWORK: &str = "its network is fixed";
const OWN_LOSS: &str = "its losses count all nodes alike";
const OWN_LOOPS: &str = "it adds self-loops by itself";
const WHOLE_GRAPH: &str = "every step looks at the whole graph";

pub(super) fn never(_: &TrainConfig) -> Option<Unused> {
    None
}

pub(super) fn without_gcn(config: &TrainConfig) -> Option<Unused> {
    (config.model != ModelKind::Gcn).then_some(Unused::Foreign(ModelKind::Gcn))
}

pub(super) fn without_cal(config: &TrainConfig) -> Option<Unused> {
    (config.model != ModelKind::Cal).then_some(Unused::Foreign(ModelKind::Cal))
}

pub(super) fn with_own_attention(config: &TrainConfig) -> Option<Unused> {
    match config.model {
        ModelKind::Attention => None,
        ModelKind::Gcn => Some(Unused::Meaningless(NO_ATTENTION)),
        ModelKind::Cal => Some(Unused::Meaningless(OWN_ATTENTION)),
    }
}

pub(super) fn without_attention(config: &TrainConfig) -> Option<Unused> {
    with_own_attention(config).filter(|_| config.model == ModelKind::Gcn)
}

/// CAL's network has no room for settings.
pub(super) fn with_own_network(config: &TrainConfig) -> Option<Unused> {
    (config.model == ModelKind::Cal).then_some(Unused::Meaningless(OWN_NETWORK))
}

pub(super) fn adds_own_loops(config: &TrainConfig) -> Option<Unused> {
    (config.model != ModelKind::Attention).then_some(Unused::Meaningless(OWN_LOOPS))
}

pub(super) fn on_whole_graphs(config: &TrainConfig) -> Option<Unused> {
    (config.model != ModelKind::Attention).then_some(Unused::Meaningless(WHOLE_GRAPH))
}

pub(super) fn with_own_loss(config: &TrainConfig) -> Option<Unused> {
    (config.model == ModelKind::Cal).then_some(Unused::Meaningless(OWN_LOSS))
}

pub(super) fn unregularised(config: &TrainConfig) -> Option<Unused> {
    (!config.is_regularised()).then_some(Unused::Unregularised)
}

/// The strength is refused where a model cannot be regularised; the settings that come with it are ignored.
pub(super) fn lambda_unread(config: &TrainConfig) -> Option<Unused> {
    with_own_attention(config).or_else(|| unregularised(config))
}

/// What every regulariser reads.
pub(crate) fn always_read(_: &RegulariserSettings) -> bool {
    false
}

pub(super) fn without_targets(settings: &RegulariserSettings) -> bool {
    !settings.arm.has_targets()
}

/// Controls have no effects to compute.
pub(super) fn without_effects(settings: &RegulariserSettings) -> bool {
    matches!(settings.arm, Arm::Constant | Arm::Random) || without_targets(settings)
}

pub(super) fn with_noise(settings: &RegulariserSettings) -> bool {
    settings.arm.is_noise()
}

pub(super) fn without_noise(settings: &RegulariserSettings) -> bool {
    !settings.arm.is_noise()
}

pub(super) fn without_pairs(settings: &RegulariserSettings) -> bool {
    settings.arm != Arm::EdgePrediction
}

/// Random targets are exponents, too.
pub(super) fn without_exponents(settings: &RegulariserSettings) -> bool {
    settings.arm == Arm::Constant || without_targets(settings) || settings.target == Target::Bce
}

/// Effects that are compared with each other have no use for the number of edges.
pub(super) fn without_degrees(settings: &RegulariserSettings) -> bool {
    without_effects(settings) || settings.effect == EffectKind::Relative
}

pub(super) fn effect(_: &str, value: &EffectKind, config: &TrainConfig) -> Result<(), Error> {
    let RegulariserSettings { target, rounds, .. } = &config.regulariser;
    if (*value, *target) == (EffectKind::Relative, Target::Bce) && *rounds != Rounds::All {
        return refused(
            "effect relative compares all edges of a node, so it needs rounds all, or target distribution".into(),
        );
    }
    Ok(())
}

pub(super) fn with_given_lambda(settings: &RegulariserSettings) -> bool {
    !settings.lambda.is_auto()
}

pub(super) fn without_unlabelled_entities(settings: &RegulariserSettings) -> bool {
    settings.entities == EntityChoice::Train || without_targets(settings)
}
