//! Settings of a training run: one struct that the library, the command line and `config.toml` share.

mod models;
mod splits;

use std::path::Path;

use carat_graph::{DataError, Dataset};
use carat_nn::{AttentionKind, GcnNorm, NetworkConfig};
use serde::{Deserialize, Serialize};

use crate::car::settings::{Arm, CarConfig, EntityChoice, Exponent, Interventions, Lambda, Rounds, Target};
use crate::model::ModelKind;
use crate::rewire::Pruning;
use crate::words::words;
use crate::{Error, Task};

words! {
    /// When to stop, and which weights to keep.
    pub enum Protocol, "a protocol" {
        /// Stop after `patience` epochs without a new lowest validation loss; keep that epoch's weights.
        #[default]
        Best = "best",
        /// Stop likewise, but keep the last weights: what the paper's tables come from.
        Paper = "paper",
    }
}

impl Protocol {
    /// Epochs without a new lowest validation loss, where the user names none.
    pub fn default_patience(self) -> usize {
        match self {
            Self::Best => 20,
            Self::Paper => 10,
        }
    }
}

/// Everything that decides a run's result, and so everything needed to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrainConfig {
    /// A catalogue name or a path.
    pub data: String,
    /// What is classified; left out, what the data has labels of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Which of the data's splits, or which seeded one where it has none.
    pub split: usize,
    /// Shares for seeded stratified splits; set, it replaces the data's own splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_ratio: Option<String>,
    /// Folds of a cross-validation, dealt out by the seed and stratified; set, split k tests fold k, stops by the next
    /// and trains on the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// What is trained.
    #[serde(skip_serializing_if = "is_default")]
    pub model: ModelKind,
    /// What an in-edge weighs, where the model is a graph convolution network.
    #[serde(skip_serializing_if = "is_default")]
    pub gcn_norm: GcnNorm,
    /// Strength of CAL's divergence of the context from a uniform prediction; 0.5 where CAL is trained and none is
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda1: Option<f64>,
    /// Strength of CAL's loss of the object in another node's context; 0.5 where CAL is trained and none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda2: Option<f64>,
    /// Attention kind.
    pub arch: AttentionKind,
    /// F: width of the encoder and of every layer.
    pub hidden: usize,
    /// K: heads per layer; averaged, in CAL concatenated.
    pub heads: usize,
    /// L: attention layers.
    pub layers: usize,
    /// Strength of the regulariser, 0 for a plain network: one value, or one per layer.
    pub lambda: Lambda,
    /// Edges deleted per entity and step.
    pub rounds: Rounds,
    /// Where the regulariser's targets come from.
    pub regulariser: Arm,
    /// How the effect of deleting an edge is computed.
    pub interventions: Interventions,
    /// T: the smaller, the sharper effects are told apart.
    pub temperature: f64,
    /// The exponent of the likelihood ratio.
    pub exponent: Exponent,
    /// Losses below this count as this when the effect of an edge is measured; 0 compares them as they are. With it,
    /// nodes that the network has memorised do not turn noise into effects.
    pub loss_floor: f64,
    /// Which nodes have their attention regularised.
    pub entities: EntityChoice,
    /// What attention is compared with.
    pub target: Target,
    /// Bound of d ln rho where the target is a distribution.
    pub clamp: f64,
    /// Epochs before the regulariser starts, where unlabelled nodes are entities.
    pub warm_up: usize,
    /// Share that the average prediction of an unlabelled entity keeps in each step.
    pub teacher: f64,
    /// Adam's learning rate.
    pub lr: f64,
    /// Training nodes, or graphs, per step.
    pub batch_size: usize,
    /// In-edges drawn per node at each hop from the targets; empty: all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fanout: Vec<usize>,
    /// Most epochs to train.
    pub epochs: usize,
    /// When to stop.
    pub protocol: Protocol,
    /// Epochs without a new lowest validation loss; by default 20 with protocol best, 10 with protocol paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Seeds initial weights, batches, fan-out and the regulariser's draws.
    pub seed: u64,
    /// Edges that are left out of the graph before training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<Pruning>,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            data: String::new(),
            task: None,
            split: 0,
            split_ratio: None,
            folds: None,
            model: ModelKind::default(),
            gcn_norm: GcnNorm::default(),
            lambda1: None,
            lambda2: None,
            arch: AttentionKind::Gat,
            hidden: 100,
            heads: 3,
            layers: 2,
            lambda: Lambda::default(),
            rounds: Rounds::default(),
            regulariser: Arm::default(),
            interventions: Interventions::default(),
            temperature: 0.1,
            exponent: Exponent::default(),
            loss_floor: 0.0,
            entities: EntityChoice::default(),
            target: Target::default(),
            clamp: 2.0,
            warm_up: 8,
            teacher: 0.8,
            lr: 0.01,
            batch_size: 10_000,
            fanout: Vec::new(),
            epochs: 400,
            protocol: Protocol::Best,
            patience: None,
            seed: 0,
            prune: None,
        }
    }
}

/// True for what files leave out: settings that came later are not in the files of runs from before, whose names must
/// stay the same.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Exponents beyond it would tell edges apart that e^100 tells apart already, and overflow in the end.
const LARGEST_CLAMP: f64 = 100.0;

impl TrainConfig {
    /// Reads settings from the text of a TOML file, whose path is for errors. They are not checked yet, because flags
    /// may replace some of them.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, Error> {
        let config = toml::from_str::<Self>(text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count() as u64;
            // Users know numbers; the names of Rust's types are ours.
            let count = "a whole number, 0 or more";
            let words = [("usize", count), ("u64", count), ("f64", "a number")];
            let problem = words.iter().fold(e.message().trim().to_string(), |text, (type_name, word)| {
                text.replace(&format!("expected {type_name}"), &format!("expected {word}"))
            });
            Error::from(DataError::malformed_line(path, line, problem))
        })?;
        let given: toml::Table = toml::from_str(text).unwrap_or_default();
        Ok(config.with_model_defaults(|name| given.contains_key(name)))
    }

    /// Checks every setting that can be checked without the data.
    pub fn check(&self) -> Result<(), Error> {
        let config = |problem: String| Err(Error::Config(problem));
        self.network(1, 1).check()?;
        for (name, value) in [("lr", self.lr), ("temperature", self.temperature), ("clamp", self.clamp)] {
            if !(value.is_finite() && value > 0.0) {
                return config(format!("{name} must be a number above 0, and {value} is not"));
            }
        }
        if !(self.loss_floor.is_finite() && self.loss_floor >= 0.0) {
            return config(format!("loss-floor must be 0 or more, and {} is not", self.loss_floor));
        }
        if self.clamp > LARGEST_CLAMP {
            return config(format!("clamp must be at most {LARGEST_CLAMP}, and {} is not", self.clamp));
        }
        if !(0.0..1.0).contains(&self.teacher) {
            return config(format!("teacher must be at least 0 and below 1, and {} is not", self.teacher));
        }
        self.lambda.check(self.layers).map_err(Error::Config)?;
        for (name, value) in [("batch-size", self.batch_size), ("epochs", self.epochs), ("patience", self.patience())] {
            if value == 0 {
                return config(format!("{name} must be at least 1"));
            }
        }
        if !self.fanout.is_empty() && self.fanout.len() != self.layers {
            return config(format!(
                "fanout has {} numbers, but the network has {} layers; give one per layer, like {}",
                self.fanout.len(),
                self.layers,
                vec!["10"; self.layers].join(",")
            ));
        }
        if self.fanout.contains(&0) {
            return config("fanout must be at least 1 at every hop".into());
        }
        self.check_folds()?;
        self.check_model()?;
        self.ratio().map(|_| ())
    }

    /// The patience in force.
    pub fn patience(&self) -> usize {
        self.patience.unwrap_or_else(|| self.protocol.default_patience())
    }

    /// Sizes of the network for data of this many features and classes.
    pub fn network(&self, features: usize, classes: usize) -> NetworkConfig {
        NetworkConfig {
            arch: self.arch,
            features,
            hidden: self.hidden,
            heads: self.heads,
            layers: self.layers,
            classes,
        }
    }

    /// Sizes of the network for this data.
    pub fn network_for(&self, dataset: &Dataset) -> NetworkConfig {
        self.network(dataset.features().num_columns(), dataset.labels().num_classes())
    }

    /// The regulariser's settings; `None` where it has nothing to do.
    pub fn car(&self) -> Option<CarConfig> {
        let regularised = !self.lambda.is_zero() && self.regulariser != Arm::None;
        (regularised && self.model == ModelKind::Attention).then(|| CarConfig {
            lambda: self.lambda.of_layers(self.layers),
            arm: self.regulariser,
            rounds: self.rounds,
            interventions: self.interventions,
            temperature: self.temperature,
            exponent: self.exponent,
            loss_floor: self.loss_floor,
            entities: self.entities,
            target: self.target,
            clamp: self.clamp,
            warm_up: self.warm_up,
            teacher: self.teacher,
        })
    }
}

/// Refuses data of another width than the model's.
pub(crate) fn fits(expected: usize, dataset: &Dataset) -> Result<(), Error> {
    let found = dataset.features().num_columns();
    if expected != found {
        return Err(Error::Config(format!(
            "the model reads {expected} features per node, but {} has {found}; give it data of the kind it was trained \
             on",
            dataset.name()
        )));
    }
    Ok(())
}

/// Refuses a set of graphs, whose labels are of graphs, where nodes are asked about.
pub(crate) fn one_graph(dataset: &Dataset) -> Result<(), Error> {
    match dataset.graph_set() {
        None => Ok(()),
        Some(set) => Err(Error::Config(format!(
            "{} is a set of {} graphs, and this is about the nodes of one; choose other data",
            dataset.name(),
            set.num_graphs()
        ))),
    }
}

/// Refuses data with labels of classes that the model does not tell apart.
pub(crate) fn knows(known: usize, dataset: &Dataset) -> Result<(), Error> {
    let found = dataset.labels().num_classes();
    if known < found {
        return Err(Error::Config(format!(
            "the model knows {known} classes, but {} has {found}; give it data of the kind it was trained on",
            dataset.name()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toml_form_round_trips_and_refuses_unknown_names() {
        let config = TrainConfig { data: "cora".into(), fanout: vec![10, 5], patience: Some(3), ..Default::default() };
        let config = TrainConfig { lambda: Lambda::per_layer(vec![0.5, 1.0]), rounds: Rounds::All, ..config };
        let config = TrainConfig { task: Some(Task::Graph), folds: Some(10), ..config };
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), config);
        assert!(toml::from_str::<TrainConfig>("hiden = 3").is_err());
    }

    #[test]
    fn settings_without_meaning_are_named() {
        let wrong = [
            (TrainConfig { heads: 0, ..Default::default() }, "heads must be between 1 and 1024, and 0 is not"),
            (TrainConfig { lr: f64::NAN, ..Default::default() }, "lr must be a number above 0, and NaN is not"),
            (TrainConfig { epochs: 0, ..Default::default() }, "epochs must be at least 1"),
            (
                TrainConfig { fanout: vec![10], ..Default::default() },
                "fanout has 1 numbers, but the network has 2 layers; give one per layer, like 10,10",
            ),
            (
                TrainConfig { folds: Some(2), ..Default::default() },
                "folds must be at least 3: one tests, one validates, the others train",
            ),
            (
                TrainConfig { folds: Some(10), split: 10, ..Default::default() },
                "there are 10 folds (split 0 to 9), and no split 10",
            ),
        ];
        for (config, message) in wrong {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
        TrainConfig::default().check().unwrap();
    }
}
