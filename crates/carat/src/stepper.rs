//! Training steps of an attention network: an engine and, where attention is regularised, the regulariser.

use std::borrow::Cow;

use carat_graph::{Dataset, Graph, Split};
use carat_nn::loss::LEFT_OUT;
use carat_nn::{CpuEngine, Engine, Keep, Masks, Network};

use crate::batches::{Batch, batch_seed};
use crate::car::{DropEdge, Entities, Regulariser, Step};
use crate::{Error, TrainConfig, threads};

/// Takes training steps.
#[derive(Debug)]
pub(crate) struct Stepper {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) regulariser: Option<Regulariser<f32>>,
    drop_edge: Option<DropEdge>,
    /// What a training entity counts in the loss, by its class; empty where all count 1.
    class_weights: Vec<f64>,
    seed: u64,
}

/// The losses of a step, computed before its update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepLoss {
    /// L_p: mean cross-entropy, with the classes' weights.
    pub(crate) prediction: f64,
    /// L_c, without lambda; 0 where nothing is regularised.
    pub(crate) causal: f64,
    /// Entities whose labels L_p has read.
    pub(crate) in_loss: usize,
}

/// Separates the random draws of the regulariser from those of batches and fan-out.
const DRAWS: u64 = 0x6361_7573_616c;

/// Separates the masks of dropout from all other draws.
const MASKS: u64 = 0x006d_6173_6b73;

impl Stepper {
    /// Steps that start from `network`.
    pub(crate) fn new(
        dataset: &Dataset,
        split: &Split,
        config: &TrainConfig,
        network: Network<f32>,
        class_weights: Vec<f64>,
    ) -> Self {
        let car = config.car();
        let drop_edge = car.as_ref().and_then(DropEdge::new);
        let regulariser = car.filter(|car| !car.arm.is_noise()).map(|car| {
            let labels = split.train.iter().filter_map(|&n| Some((n, dataset.labels().get(n)?)));
            let sizes = [dataset.num_entities(), dataset.graph().num_edges()];
            Regulariser::new(car, Entities::new(sizes, network.config().classes, labels), config.seed)
        });
        let engine = Box::new(CpuEngine::new(network, config.optimiser.adam()));
        Self { engine, regulariser, drop_edge, class_weights, seed: config.seed }
    }

    /// One step on one batch of `graph`.
    pub(crate) fn step(&mut self, graph: &Graph, batch: &Batch, epoch: usize) -> Result<StepLoss, Error> {
        let Self { engine, regulariser, drop_edge, class_weights, seed } = self;
        let Batch { blocks, input, labels, number } = batch;
        threads::keep_awake(|| {
            let keep = regulariser.as_ref().map_or(Keep::Gradients, Regulariser::keep);
            let masks = Masks::new(batch_seed(*seed ^ MASKS, epoch, *number), 0);
            let (blocks, input) = match drop_edge {
                Some(drop_edge) => drop_edge.apply(graph, blocks, input, masks),
                None => (Cow::Borrowed(blocks), Cow::Borrowed(input)),
            };
            let mut pass = engine.training_pass(&blocks, &input, masks, keep);
            let in_loss = match &regulariser {
                Some(regulariser) => regulariser.labels_in_loss(&blocks, labels, epoch),
                None => labels.into(),
            };
            let causal = regulariser.as_mut().map_or(0.0, |regulariser| {
                let seed = batch_seed(*seed ^ DRAWS, epoch, *number);
                regulariser.apply(&mut *pass, graph, Step { labels, epoch, seed }, |pass| {
                    pass.weighted_loss_and_gradient(&in_loss, class_weights);
                })
            });
            let prediction = pass.weighted_loss_and_gradient(&in_loss, class_weights);
            drop(pass);
            if !(prediction + causal).is_finite() {
                return Err(Error::Diverged { epoch, loss: prediction + causal });
            }
            engine.step();
            let in_loss = in_loss.iter().filter(|label| **label != LEFT_OUT).count();
            Ok(StepLoss { prediction, causal, in_loss })
        })
    }
}
