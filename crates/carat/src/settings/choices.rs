//! Types of settings: words that can be chosen, rounds and strengths.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use carat_nn::words;

words! {
    /// Where the targets of attention come from, or another way to regularise it.
    pub enum Arm, "a regulariser" {
        /// From deleting edges: the method.
        #[default]
        Causal = "causal",
        /// From deleting edges in a vote of the neighbours' training labels: the paper's homophily ablation.
        Vote = "vote",
        /// Drawn afresh every step: a control.
        Random = "random",
        /// The same for every edge: the control for mere smoothing.
        Constant = "constant",
        /// No regularisation at all.
        None = "none",
        /// No targets: attention's scores also tell edges from pairs of nodes without one, as in SuperGAT.
        EdgePrediction = "edge-prediction",
        /// No targets: a share of the edges is left out of every step, the control for mere noise.
        DropEdge = "drop-edge",
        /// No targets: a share of the entries of messages is dropped in every step, the control for finer noise.
        DropMessage = "drop-message",
    }
}

impl Arm {
    /// True where the attention of an entity is pulled towards targets.
    pub fn has_targets(self) -> bool {
        matches!(self, Self::Causal | Self::Vote | Self::Random | Self::Constant)
    }

    /// True where training passes are disturbed and no loss is added.
    pub fn is_noise(self) -> bool {
        matches!(self, Self::DropEdge | Self::DropMessage)
    }
}

words! {
    /// How the effect of deleting an edge is computed.
    pub enum Interventions, "a way to intervene" {
        /// Each edge on its own, exactly; none is ever rejected.
        #[default]
        Exact = "exact",
        /// The paper's Algorithm 1: edges that do not interfere are deleted together, others are rejected.
        Rounds = "rounds",
    }
}

words! {
    /// The exponent of rho.
    pub enum Exponent, "an exponent" {
        /// d(n), the entity's in-degree.
        #[default]
        Degree = "degree",
        /// 1.
        One = "one",
    }
}

impl Exponent {
    /// The exponent of an entity with `degree` in-edges.
    pub fn value(self, degree: usize) -> f64 {
        match self {
            Self::Degree => degree as f64,
            Self::One => 1.0,
        }
    }
}

words! {
    /// What an edge's effect is made of.
    pub enum EffectKind, "a kind of effect" {
        /// rho^d - 1, with rho the loss without the edge over the loss with it: the paper's.
        #[default]
        Ratio = "ratio",
        /// d times the log-likelihood that the edge gives, which stays finite where a loss goes to 0.
        Likelihood = "likelihood",
        /// The same log-likelihood beside that of the entity's other edges, whatever its size.
        Relative = "relative",
    }
}

words! {
    /// Which nodes have their attention regularised.
    pub enum EntityChoice, "a choice of entities" {
        /// Training nodes.
        #[default]
        Train = "train",
        /// Every node with in-edges; those without a training label use the network's own averaged prediction.
        All = "all",
    }
}

words! {
    /// What attention is compared with.
    pub enum Target, "a target" {
        /// Each edge's attention with its effect, by binary cross-entropy.
        #[default]
        Bce = "bce",
        /// All attention of an entity with a distribution made of its edges' effects, by KL divergence.
        Distribution = "distribution",
    }
}

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
    /// Epochs without a new lowest validation loss, if the user gives no number.
    pub fn default_patience(self) -> usize {
        match self {
            Self::Best => 20,
            Self::Paper => 10,
        }
    }
}

words! {
    /// What takes steps along the gradient.
    pub enum OptimiserKind, "an optimiser" {
        /// Weight decay is part of the gradient.
        #[default]
        Adam = "adam",
        /// Weight decay is a step of its own.
        AdamW = "adamw",
    }
}

words! {
    /// How the learning rate changes from epoch to epoch.
    pub enum Schedule, "a schedule" {
        /// Not at all.
        #[default]
        None = "none",
        /// Along half a cosine, to 0 after the last epoch.
        Cosine = "cosine",
    }
}

words! {
    /// What a training entity counts in the loss.
    pub enum ClassWeights, "a choice of class weights" {
        /// All count alike.
        #[default]
        None = "none",
        /// All classes count alike.
        Balanced = "balanced",
    }
}

words! {
    /// The validation figure that decides which epoch is the best.
    pub enum Select, "a validation figure" {
        /// Mean cross-entropy, the lower the better.
        #[default]
        Loss = "loss",
        /// Share predicted right.
        Accuracy = "accuracy",
        /// Area under the ROC curve; with more than two classes the mean over classes.
        Auc = "auc",
        /// Mean F1 over classes.
        F1 = "f1",
        /// Auc where one class has more than two thirds of the training labels, else accuracy.
        Auto = "auto",
    }
}

words! {
    /// From when on patience counts.
    pub enum PatienceFrom, "where patience starts" {
        /// From the first epoch on.
        #[default]
        Start = "start",
        /// Only once the network has begun to learn.
        Learning = "learning",
    }
}

words! {
    /// Settings that go together.
    pub enum Preset, "a preset" {
        /// The paper's network and training: the defaults of all settings.
        #[default]
        Paper = "paper",
        /// The usual recipe of a graph attention network.
        Gat = "gat",
        /// What serves most data.
        Strong = "strong",
        /// The best settings known for a dataset of the catalogue.
        Tuned = "tuned",
    }
}

/// All draws are in memory at once; for more, use every edge.
const MOST_ROUNDS: usize = 1000;

/// How many in-edges of each entity are deleted in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RoundsForm", into = "RoundsForm")]
pub enum Rounds {
    /// R draws of one edge each.
    Count(usize),
    /// Every edge.
    All,
}

impl Default for Rounds {
    fn default() -> Self {
        Self::Count(5)
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for Rounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(count @ 1..=MOST_ROUNDS) => Ok(Self::Count(count)),
            _ if text == "all" => Ok(Self::All),
            _ => Err(format!("'{text}' is no number of rounds; give a whole number from 1 to {MOST_ROUNDS}, or all")),
        }
    }
}

/// A number, or a word.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "rounds must be a whole number from 1 to 1000, or \"all\"")]
enum RoundsForm {
    Count(usize),
    Word(String),
}

impl From<Rounds> for RoundsForm {
    fn from(rounds: Rounds) -> Self {
        match rounds {
            Rounds::Count(count) => Self::Count(count),
            Rounds::All => Self::Word("all".into()),
        }
    }
}

impl TryFrom<RoundsForm> for Rounds {
    type Error = String;

    fn try_from(form: RoundsForm) -> Result<Self, String> {
        match form {
            RoundsForm::Count(count) => count.to_string().parse(),
            RoundsForm::Word(word) => word.parse(),
        }
    }
}

/// Far above useful values, and far below those whose gradients overflow in 32 bits.
const LARGEST_LAMBDA: f64 = 1e6;

/// The regulariser's strength: one value, one per layer, or found by the run itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LambdaForm", into = "LambdaForm")]
pub struct Lambda {
    values: Vec<f64>,
    is_auto: bool,
}

/// The word for a strength that the run finds by itself.
const AUTO: &str = "auto";

impl Lambda {
    /// The same strength in every layer.
    pub fn new(value: f64) -> Self {
        Self::per_layer(vec![value])
    }

    /// A strength for each layer.
    pub fn per_layer(values: Vec<f64>) -> Self {
        Self { values, is_auto: false }
    }

    /// A strength that follows the gradients, so that nobody has to choose it.
    pub fn auto() -> Self {
        Self { values: vec![1.0], is_auto: true }
    }

    /// True where the strength follows the gradients. The values are 1 then.
    pub fn is_auto(&self) -> bool {
        self.is_auto
    }

    /// The strengths: one, or one per layer.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// True where nothing is regularised.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0.0)
    }

    /// The strength in every one of `layers` layers.
    pub fn of_layers(&self, layers: usize) -> Vec<f64> {
        if self.values.len() == 1 { vec![self.values[0]; layers] } else { self.values.clone() }
    }

    /// The same with a value for every one of `layers` layers.
    #[must_use]
    pub(crate) fn over_layers(&self, layers: usize) -> Self {
        Self { values: self.of_layers(layers), is_auto: self.is_auto }
    }

    /// Says what is wrong with the strengths for a network of `layers` layers.
    pub(crate) fn check(&self, layers: usize) -> Result<(), String> {
        if let Some(value) = self.values.iter().find(|value| !(0.0..=LARGEST_LAMBDA).contains(*value)) {
            return Err(format!(
                "lambda must lie between 0 (no regularisation) and {LARGEST_LAMBDA}, and {value:?} does not; the paper \
                 has 0.1 to 5"
            ));
        }
        if self.values.len() != 1 && self.values.len() != layers {
            let found = self.values.len();
            return Err(format!(
                "lambda has {found} values, but the network has {layers} layers; give one, or one per layer"
            ));
        }
        Ok(())
    }
}

impl Default for Lambda {
    fn default() -> Self {
        Self::new(0.0)
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_auto {
            return f.write_str(AUTO);
        }
        let words: Vec<String> = self.values.iter().map(f64::to_string).collect();
        f.write_str(&words.join(","))
    }
}

impl FromStr for Lambda {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(Self::auto());
        }
        let value = |word: &str| {
            let number = word.trim().parse::<f64>();
            number.map_err(|_| format!("'{word}' is not a number; give one, one per layer like 0.5,1, or {AUTO}"))
        };
        Ok(Self::per_layer(text.split(',').map(value).collect::<Result<_, _>>()?))
    }
}

/// A number, a list of numbers, or a word.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "lambda must be a number like 0.5, a list of one per layer like [0.5, 1.0], or \"auto\"")]
enum LambdaForm {
    One(f64),
    Many(Vec<f64>),
    Word(String),
}

impl From<Lambda> for LambdaForm {
    fn from(lambda: Lambda) -> Self {
        match &lambda.values[..] {
            _ if lambda.is_auto => Self::Word(AUTO.into()),
            [one] => Self::One(*one),
            _ => Self::Many(lambda.values),
        }
    }
}

impl TryFrom<LambdaForm> for Lambda {
    type Error = String;

    fn try_from(form: LambdaForm) -> Result<Self, String> {
        match form {
            LambdaForm::One(value) => Ok(Self::new(value)),
            LambdaForm::Many(values) => Ok(Self::per_layer(values)),
            LambdaForm::Word(word) => word.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_they_know() {
        assert_eq!("vote".parse::<Arm>().unwrap(), Arm::Vote);
        let problem = "causel".parse::<Arm>().unwrap_err();
        let expected = "'causel' is not a regulariser; choose causal, vote, random, constant, none, edge-prediction, \
                        drop-edge or drop-message";
        assert_eq!(problem, expected);
        assert!("0".parse::<Rounds>().is_err() && "all".parse::<Rounds>() == Ok(Rounds::All));
    }

    #[test]
    fn lambda_is_one_value_or_one_per_layer() {
        assert_eq!("0.5".parse::<Lambda>().unwrap().of_layers(3), [0.5; 3]);
        assert_eq!("0.5,1".parse::<Lambda>().unwrap().of_layers(2), [0.5, 1.0]);
        assert!(Lambda::per_layer(vec![1.0, 2.0]).check(3).is_err());
        assert!(Lambda::new(f64::NAN).check(1).is_err() && Lambda::new(-1.0).check(1).is_err());
        assert!(Lambda::per_layer(vec![0.0, 0.0]).is_zero());
        let auto: Lambda = "auto".parse().unwrap();
        assert!(auto.is_auto() && !auto.is_zero() && auto != Lambda::new(1.0));
        assert_eq!(serde_json::from_str::<Lambda>("\"auto\"").unwrap(), auto);
    }
}
