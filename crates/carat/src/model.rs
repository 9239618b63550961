//! The models that a run can train, and how each is made and read.

use carat_graph::{Dataset, Split};
use carat_nn::{Cal, GcnNetwork, Network, WeightsError, WholeGraphModel};

use crate::{AnyTrainer, Error, TrainConfig, Trainer};
use carat_nn::words;

words! {
    /// What a run trains.
    pub enum ModelKind, "a model" {
        /// A graph attention network, of the kind that `arch` names.
        #[default]
        Attention = "attention",
        /// A graph convolution network: the same encoder and classifier around graph convolutions.
        Gcn = "gcn",
        /// CAL's CausalGAT, which splits nodes and edges into an object, which determines the class, and a context,
        /// which must not.
        Cal = "cal",
    }
}

/// A trained model.
#[derive(Debug)]
pub enum Model {
    /// A graph attention network.
    Attention(Box<Network<f32>>),
    /// A model that computes the whole graph at once.
    WholeGraph(Box<dyn WholeGraphModel<f32>>),
}

impl Model {
    /// A model of this kind from the bytes of its file.
    pub fn from_safetensors(kind: ModelKind, bytes: &[u8]) -> Result<Self, WeightsError> {
        Ok(match kind {
            ModelKind::Attention => Self::Attention(Box::new(Network::from_safetensors(bytes)?)),
            ModelKind::Gcn => Self::WholeGraph(GcnNetwork::from_safetensors(bytes)?.boxed()),
            ModelKind::Cal => Self::WholeGraph(Cal::from_safetensors(bytes)?.boxed()),
        })
    }
}

/// The trainer for these settings, on `split` of `dataset`. Run folders and sweeps train with it.
pub fn training<'a>(dataset: &'a Dataset, split: &Split, config: &TrainConfig) -> Result<Box<AnyTrainer<'a>>, Error> {
    Ok(match config.model {
        ModelKind::Attention => Box::new(Trainer::new(dataset, split, config)?),
        ModelKind::Gcn => {
            let model = GcnNetwork::new(config.gcn_for(dataset), config.seed)?;
            Box::new(Trainer::of_model(dataset, split, config, model.boxed())?)
        }
        ModelKind::Cal => {
            let model = Cal::new(config.cal_for(dataset), config.seed)?;
            Box::new(Trainer::of_model(dataset, split, config, model.boxed())?)
        }
    })
}
