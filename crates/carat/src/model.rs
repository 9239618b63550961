//! The models that a run can train, and how each is made and read.

use carat_graph::{Dataset, Split};
use carat_nn::{Cal, GcnNetwork, Network, WeightsError, WholeGraphModel};

use crate::attention_training::AttentionTraining;
use crate::evaluation::{Coherence, Score};
use crate::stopping::Stopping;
use crate::training::{EpochMetrics, Progress};
use crate::whole_graph::WholeGraphTrainer;
use crate::words::words;
use crate::{Error, Protocol, TrainConfig};

words! {
    /// What a run trains.
    pub enum ModelKind, "a model" {
        /// A graph attention network, of the kind that `arch` names.
        #[default]
        Attention = "attention",
        /// A graph convolution network: the same encoder and classifier around graph convolutions.
        Gcn = "gcn",
        /// CAL's CausalGAT, which splits nodes and edges into an object that tells the class and a context that must
        /// not.
        Cal = "cal",
    }
}

/// A trained model.
#[derive(Debug)]
pub enum Model {
    /// A graph attention network.
    Attention(Box<Network<f32>>),
    /// A model that looks at the whole graph at once.
    WholeGraph(Box<dyn WholeGraphModel<f32>>),
}

impl Model {
    /// A model of this kind from the bytes of its file.
    pub fn from_safetensors(kind: ModelKind, bytes: &[u8]) -> Result<Self, WeightsError> {
        Ok(match kind {
            ModelKind::Attention => Self::Attention(Box::new(Network::from_safetensors(bytes)?)),
            ModelKind::Gcn => Self::WholeGraph(Box::new(GcnNetwork::from_safetensors(bytes)?)),
            ModelKind::Cal => Self::WholeGraph(Box::new(Cal::from_safetensors(bytes)?)),
        })
    }
}

/// A training under way, whatever it trains: what run folders and sweeps do with it.
pub trait Training: Send {
    /// How far it is, and when it is over.
    fn stopping(&self) -> &Stopping;

    /// Trains one epoch. `None` when the training is over, or when `interrupted` turned true before the epoch's end.
    fn epoch(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<EpochMetrics>, Error>;

    /// Takes up a saved training of the same settings. False, and nothing changed, where it is another model's.
    fn restore(&mut self, progress: Progress) -> bool;

    /// Where the training stands, to be saved; `None` after an epoch that was interrupted half-way.
    fn progress(&mut self) -> Option<Progress>;

    /// Median time of a step so far, in milliseconds; 0 before the first.
    fn step_ms(&self) -> f64;

    /// Puts the weights that the protocol keeps in place, and returns their validation score.
    fn keep(&mut self) -> Score;

    /// Loss and accuracy of the model as it stands on the split's test nodes; `None` where it has none.
    fn test(&mut self) -> Result<Option<Score>, Error>;

    /// How the attention of the weights that a protocol keeps agrees with the labels around test nodes; `None` for a
    /// model without attention.
    fn coherence(&self, protocol: Protocol) -> Result<Option<Coherence>, Error>;

    /// The model as it stands, as a file.
    fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError>;
}

/// The training that the settings name, on `split` of `dataset`.
pub fn training<'a>(
    dataset: &'a Dataset,
    split: &Split,
    config: &TrainConfig,
) -> Result<Box<dyn Training + 'a>, Error> {
    Ok(match config.model {
        ModelKind::Attention => Box::new(AttentionTraining::new(dataset, split, config)?),
        ModelKind::Gcn => {
            let model = GcnNetwork::new(config.gcn_for(dataset), config.seed)?;
            Box::new(WholeGraphTrainer::new(dataset, split, config, Box::new(model))?)
        }
        ModelKind::Cal => {
            let model = Cal::new(config.cal_for(dataset), config.seed)?;
            Box::new(WholeGraphTrainer::new(dataset, split, config, Box::new(model))?)
        }
    })
}
