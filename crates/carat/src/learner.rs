//! A network with its optimiser, its regulariser and its buffers: what a training step changes.

use carat_graph::{Dataset, Split};
use carat_nn::{Adam, AdamConfig, Keep, Network, Pass, Workspace};

use crate::batches::{Batch, batch_seed};
use crate::car::{Entities, Regulariser, Step};
use crate::{Error, TrainConfig, threads};

/// Takes training steps.
#[derive(Debug)]
pub(crate) struct Learner {
    pub(crate) network: Network<f32>,
    pub(crate) adam: Adam<f32>,
    pub(crate) regulariser: Option<Regulariser<f32>>,
    seed: u64,
    work: Workspace<f32>,
}

/// The losses of a step, before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepLoss {
    /// L_p: mean cross-entropy.
    pub(crate) prediction: f64,
    /// L_c, without lambda; 0 where nothing is regularised.
    pub(crate) causal: f64,
}

/// Keeps the regulariser's draws apart from those of batches and fan-out.
const DRAWS: u64 = 0x6361_7573_616c;

impl Learner {
    /// A learner that starts from `network`.
    pub(crate) fn new(dataset: &Dataset, split: &Split, config: &TrainConfig, network: Network<f32>) -> Self {
        let len = network.parameters().len();
        let adam = Adam::new(AdamConfig { learning_rate: config.optimiser.lr, ..AdamConfig::default() }, len);
        let regulariser = config.car().map(|car| {
            let labels = split.train.iter().filter_map(|&n| Some((n, dataset.labels().get(n)?)));
            Regulariser::new(car, Entities::new(dataset.num_entities(), network.config().classes, labels))
        });
        Self { network, adam, regulariser, seed: config.seed, work: Workspace::default() }
    }

    /// One step on one batch.
    pub(crate) fn step(&mut self, batch: &Batch, epoch: usize) -> Result<StepLoss, Error> {
        let Self { network, adam, regulariser, seed, work } = self;
        let Batch { blocks, input, labels, number } = batch;
        threads::awake(|| {
            let keep = regulariser.as_ref().map_or(Keep::Gradients, Regulariser::keep);
            let mut pass = network.forward(blocks, input, keep, work);
            let causal = regulariser.as_mut().map_or(0.0, |regulariser| {
                let seed = batch_seed(*seed ^ DRAWS, epoch, *number);
                regulariser.apply(&mut pass, Step { labels, epoch, seed })
            });
            let prediction = pass.loss_and_gradient(labels);
            if !(prediction + causal).is_finite() {
                return Err(Error::Diverged { epoch, loss: prediction + causal });
            }
            adam.step(network.parameters_mut(), work.gradient());
            Ok(StepLoss { prediction, causal })
        })
    }
}
