//! Settings applied to data: checks, and sizes of models.

mod graph;
mod models;
mod splits;

use std::path::Path;

use carat_graph::{DataError, Dataset, EdgeFeatures};
use carat_nn::{BlockConfig, NetworkConfig};

use crate::settings::{Arm, NetworkSettings, RegulariserSettings};
use crate::{Error, ModelKind, TrainConfig};

impl TrainConfig {
    /// Reads settings from the text of a TOML file, whose path is for errors. They are not checked yet, because flags
    /// may replace some of them.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, Error> {
        let config = toml::from_str::<Self>(text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count() as u64;
            // Users think of numbers; names of Rust types mean nothing to them.
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
        self.sizes(1, 1).check()?;
        self.check_settings()?;
        self.check_model()
    }

    /// Sizes of the network for data of this many features and classes, whose edges have no features.
    pub fn sizes(&self, features: usize, classes: usize) -> NetworkConfig {
        let NetworkSettings { arch, hidden, heads, layers } = self.network;
        let message_dropout = self.car().filter(|car| car.arm == Arm::DropMessage).map_or(0.0, |car| car.drop_rate);
        let block = BlockConfig { message_dropout, ..self.block.config() };
        NetworkConfig { arch, features, hidden, heads, layers, classes, edge_features: 0, block }
    }

    /// Sizes of the network for this data.
    pub fn network_for(&self, dataset: &Dataset) -> NetworkConfig {
        let sizes = self.sizes(dataset.features().num_columns(), dataset.labels().num_classes());
        let edge_features = self.edge_features_of(dataset).map_or(0, EdgeFeatures::num_columns);
        NetworkConfig { edge_features, ..sizes }
    }

    /// True where attention is regularised.
    pub fn is_regularised(&self) -> bool {
        let RegulariserSettings { lambda, arm, .. } = &self.regulariser;
        !lambda.is_zero() && *arm != Arm::None && self.model == ModelKind::Attention
    }

    /// The regulariser's settings, with a strength for every layer, and for noise with what it does not read at its
    /// default; `None` where nothing is regularised.
    pub fn car(&self) -> Option<RegulariserSettings> {
        let lambda = self.regulariser.lambda.over_layers(self.network.layers);
        let settings = self.regulariser.clone();
        let settings = if settings.arm.is_noise() { settings.without_unread() } else { settings };
        self.is_regularised().then_some(RegulariserSettings { lambda, ..settings })
    }
}

/// Refuses data whose width is not the model's.
pub(crate) fn check_width(expected: usize, dataset: &Dataset) -> Result<(), Error> {
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

/// Refuses a set of graphs, whose labels are of graphs, where nodes are needed.
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

/// Refuses data with labels of classes that the model does not have.
pub(crate) fn check_classes(expected: usize, dataset: &Dataset) -> Result<(), Error> {
    let found = dataset.labels().num_classes();
    if expected < found {
        return Err(Error::Config(format!(
            "the model knows {expected} classes, but {} has {found}; give it data of the kind it was trained on",
            dataset.name()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lambda, Rounds, Task};

    #[test]
    fn the_toml_form_round_trips_and_refuses_unknown_names() {
        let config = TrainConfig::default().data("cora".into()).fanout(vec![10, 5]).patience(Some(3));
        let config = config.lambda(Lambda::per_layer(vec![0.5, 1.0])).rounds(Rounds::All);
        let config = config.task(Some(Task::Graph)).folds(Some(10));
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), config);
        assert!(toml::from_str::<TrainConfig>("hiden = 3").is_err());
    }

    #[test]
    fn settings_without_meaning_are_named() {
        let wrong = [
            (TrainConfig::default().heads(0), "heads must be between 1 and 1024, and 0 is not"),
            (TrainConfig::default().lr(f64::NAN), "lr must be a number above 0, and NaN is not"),
            (TrainConfig::default().epochs(0), "epochs must be at least 1"),
            (
                TrainConfig::default().fanout(vec![10]),
                "fanout has 1 numbers, but the network has 2 layers; give one per layer, like 10,10",
            ),
            (
                TrainConfig::default().folds(Some(2)),
                "folds must be at least 3: one tests, one validates, the others train",
            ),
            (TrainConfig::default().folds(Some(10)).split(10), "there are 10 folds (split 0 to 9), and no split 10"),
        ];
        for (config, message) in wrong {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
        TrainConfig::default().check().unwrap();
    }
}
