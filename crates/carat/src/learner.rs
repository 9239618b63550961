//! What a trainer trains: a model with its optimiser, its data and the sets it is scored on.

use std::fmt;

use carat_nn::{Adam, WeightsError};

use crate::Error;
use crate::car::Regulariser;
use crate::evaluation::{Coherence, Score};
use crate::metrics::{Predictions, Subset};
use crate::selection::Validation;
use crate::stopping::StepTimes;
use crate::trust::Trust;

/// A model that a [`Trainer`](crate::Trainer) trains.
pub trait Learner: fmt::Debug + Send {
    /// Trains one epoch, counted from 1. `None` where `interrupted` turned true before its end.
    fn epoch(
        &mut self,
        epoch: usize,
        steps: &mut StepTimes,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<EpochLoss>, Error>;

    /// What the validation entities say of the current model; `None` where there are none.
    fn validate(&mut self) -> Result<Option<Validation>, Error>;

    /// Loss and accuracy of the current model on the test entities; `None` where there are none.
    fn test(&mut self) -> Result<Option<Score>, Error>;

    /// What the current model predicts for the labelled entities of a part of the split.
    fn predictions(&mut self, subset: Subset) -> Result<Predictions, Error>;

    /// How the current model's attention agrees with the labels around test nodes; `None` for a model without
    /// attention.
    fn coherence(&self) -> Result<Option<Coherence>, Error>;

    /// How far the current model's attention can be trusted over a part of the split, by some of its entities; `None`
    /// for a model without attention.
    fn trust(&self, _: Subset) -> Result<Option<Trust>, Error> {
        Ok(None)
    }

    /// All parameters, followed by the model's other values.
    fn values(&self) -> [&[f32]; 2];

    /// Replaces those, in the same order.
    fn place(&mut self, values: &[f32]);

    /// The current state of the optimiser.
    fn optimiser(&self) -> &Adam<f32>;

    /// Replaces the optimiser's averages and its number of steps.
    fn set_optimiser(&mut self, first: &[f32], second: &[f32], steps: u64);

    /// The regulariser, where there is one.
    fn regulariser(&mut self) -> Option<&mut Regulariser<f32>> {
        None
    }

    /// The current model, as a file.
    fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError>;
}

/// Mean losses over an epoch's steps, each before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochLoss {
    /// Of the prediction.
    pub train: f64,
    /// L_c, without lambda; 0 where nothing is regularised.
    pub causal: f64,
}
