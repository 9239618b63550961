//! Settings of a training run: one struct that the library, the command line and `config.toml` share.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use carat_graph::{DataError, Dataset, Split, SplitRatio};
use carat_nn::{AttentionKind, NetworkConfig};
use serde::{Deserialize, Serialize};

use crate::Error;

/// When to stop, and which weights to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Stop after `patience` epochs without a new lowest validation loss; keep that epoch's weights.
    #[default]
    Best,
    /// Stop likewise, but keep the last weights: what the paper's tables come from.
    Paper,
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

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Best => "best",
            Self::Paper => "paper",
        })
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "best" => Ok(Self::Best),
            "paper" => Ok(Self::Paper),
            _ => Err(format!("'{text}' is not a protocol; choose best or paper")),
        }
    }
}

/// Everything that decides a run's result, and so everything needed to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrainConfig {
    /// A catalogue name or a path.
    pub data: String,
    /// Which of the data's splits, or which seeded one where it has none.
    pub split: usize,
    /// Shares for seeded stratified splits; set, it replaces the data's own splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_ratio: Option<String>,
    /// Attention kind.
    pub arch: AttentionKind,
    /// F: width of the encoder and of every layer.
    pub hidden: usize,
    /// K: heads per layer, averaged.
    pub heads: usize,
    /// L: attention layers.
    pub layers: usize,
    /// Adam's learning rate.
    pub lr: f64,
    /// Training nodes per step.
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
    /// Seeds initial weights, batches and fan-out.
    pub seed: u64,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            data: String::new(),
            split: 0,
            split_ratio: None,
            arch: AttentionKind::Gat,
            hidden: 100,
            heads: 3,
            layers: 2,
            lr: 0.01,
            batch_size: 10_000,
            fanout: Vec::new(),
            epochs: 400,
            protocol: Protocol::Best,
            patience: None,
            seed: 0,
        }
    }
}

impl TrainConfig {
    /// Reads settings from the text of a TOML file, whose path is for errors. They are not checked yet, because flags
    /// may replace some of them.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, Error> {
        toml::from_str(text).map_err(|e| {
            let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.matches('\n').count() as u64;
            // Users know numbers; the names of Rust's types are ours.
            let words = [("usize", "a whole number"), ("u64", "a whole number"), ("f64", "a number")];
            let problem = words.iter().fold(e.message().trim().to_string(), |text, (type_name, word)| {
                text.replace(&format!("expected {type_name}"), &format!("expected {word}"))
            });
            DataError::malformed_line(path, line, problem).into()
        })
    }

    /// Checks every setting that can be checked without the data.
    pub fn check(&self) -> Result<(), Error> {
        let config = |problem: String| Err(Error::Config(problem));
        self.network(1, 1).check()?;
        if !(self.lr.is_finite() && self.lr > 0.0) {
            return config(format!("lr must be a number above 0, and {} is not", self.lr));
        }
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

    fn ratio(&self) -> Result<Option<SplitRatio>, Error> {
        let parsed = self.split_ratio.as_deref().map(str::parse).transpose();
        parsed.map_err(|problem| Error::Config(format!("split-ratio {problem}")))
    }

    /// The split to train on: labelled nodes only, because a node without a label has no loss.
    pub fn choose_split(&self, dataset: &Dataset) -> Result<Split, Error> {
        one_graph(dataset)?;
        let ratio = self.ratio()?;
        let mut split = match dataset.splits() {
            splits if ratio.is_none() && !splits.is_empty() => splits.get(self.split).cloned().ok_or_else(|| {
                Error::Config(format!(
                    "{} has {} splits (0 to {}), and no split {}",
                    dataset.name(),
                    splits.len(),
                    splits.len() - 1,
                    self.split
                ))
            })?,
            _ => Split::stratified(dataset.labels(), ratio.unwrap_or_default(), self.split as u64),
        };
        for list in [&mut split.train, &mut split.val, &mut split.test] {
            list.retain(|&n| dataset.labels().get(n).is_some());
        }
        for (name, list) in [("training", &split.train), ("validation", &split.val)] {
            if list.is_empty() {
                return Err(Error::Config(format!(
                    "split {} of {} has no labelled {name} node; mark some, or let --split-ratio 0.6,0.2,0.2 choose",
                    self.split,
                    dataset.name()
                )));
            }
        }
        Ok(split)
    }
}

/// Refuses a set of graphs: its labels and splits are of graphs, and everything here is about nodes.
pub(crate) fn one_graph(dataset: &Dataset) -> Result<(), Error> {
    match dataset.graph_set() {
        None => Ok(()),
        Some(set) => Err(Error::Config(format!(
            "{} is a set of {} graphs, but networks here classify the nodes of one; choose another dataset",
            dataset.name(),
            set.num_graphs()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toml_form_round_trips_and_refuses_unknown_names() {
        let config = TrainConfig { data: "cora".into(), fanout: vec![10, 5], patience: Some(3), ..Default::default() };
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
        ];
        for (config, message) in wrong {
            assert_eq!(config.check().unwrap_err().to_string(), message);
        }
        TrainConfig::default().check().unwrap();
    }
}
