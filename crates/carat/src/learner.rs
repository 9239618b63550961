//! A network with its optimiser and buffers: what a training step changes.

use carat_graph::Dataset;
use carat_nn::{Adam, AdamConfig, Network, Workspace};

use crate::batches::Batch;
use crate::{Error, TrainConfig, threads};

/// Takes training steps.
#[derive(Debug)]
pub(crate) struct Learner {
    pub(crate) network: Network<f32>,
    pub(crate) adam: Adam<f32>,
    work: Workspace<f32>,
    gradient: Vec<f32>,
}

impl Learner {
    /// Initial weights for `dataset`, seeded by the configuration.
    pub(crate) fn new(dataset: &Dataset, config: &TrainConfig) -> Result<Self, Error> {
        let sizes = config.network(dataset.features().num_columns(), dataset.labels().num_classes());
        let network = Network::new(sizes, config.seed)?;
        let len = network.parameters().len();
        let adam = Adam::new(AdamConfig { learning_rate: config.lr, ..AdamConfig::default() }, len);
        Ok(Self { network, adam, work: Workspace::default(), gradient: vec![0.0; len] })
    }

    /// One step on one batch; returns the loss before it. `epoch` is for the error.
    pub(crate) fn step(&mut self, batch: &Batch, epoch: usize) -> Result<f64, Error> {
        let Self { network, adam, work, gradient } = self;
        threads::awake(|| {
            network.forward(&batch.blocks, &batch.input, work);
            let loss = network.loss_and_gradient(&batch.blocks, &batch.input, &batch.labels, work, gradient);
            if !loss.is_finite() {
                return Err(Error::Diverged { epoch, loss });
            }
            adam.step(network.parameters_mut(), gradient);
            Ok(loss)
        })
    }
}
