//! The training of an attention network behind the interface of all trainings.

use carat_graph::{Dataset, Split};
use carat_nn::{Network, WeightsError};

use crate::evaluation::{Coherence, Evaluator, Score, coherence};
use crate::model::Training;
use crate::stopping::Stopping;
use crate::training::{EpochMetrics, Progress, Trainer};
use crate::{Error, Protocol, TrainConfig};

/// A [`Trainer`] and the nodes to test it on.
#[derive(Debug)]
pub(crate) struct AttentionTraining<'a> {
    dataset: &'a Dataset,
    test_nodes: Vec<u32>,
    batch_size: usize,
    trainer: Trainer<'a>,
    /// Made when it is first needed: its blocks may be as large as those of training.
    test: Option<Evaluator<'a>>,
}

impl<'a> AttentionTraining<'a> {
    /// Prepares a training on `split` of `dataset`.
    pub(crate) fn new(dataset: &'a Dataset, split: &Split, config: &TrainConfig) -> Result<Self, Error> {
        let trainer = Trainer::new(dataset, split, config)?;
        Ok(Self {
            dataset,
            test_nodes: split.test.clone(),
            batch_size: config.optimiser.batch_size,
            trainer,
            test: None,
        })
    }
}

impl Training for AttentionTraining<'_> {
    fn stopping(&self) -> &Stopping {
        self.trainer.stopping()
    }

    fn epoch(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<EpochMetrics>, Error> {
        self.trainer.epoch(interrupted)
    }

    fn restore(&mut self, progress: Progress) -> bool {
        self.trainer.restore(progress)
    }

    fn progress(&mut self) -> Option<Progress> {
        self.trainer.progress()
    }

    fn step_ms(&self) -> f64 {
        self.trainer.step_ms()
    }

    fn keep(&mut self) -> Score {
        self.trainer.keep()
    }

    fn test(&mut self) -> Result<Option<Score>, Error> {
        let network = self.trainer.network();
        let Self { dataset, test_nodes, batch_size, .. } = self;
        let new = || Evaluator::new(dataset, test_nodes, network.config().layers, *batch_size);
        self.test.get_or_insert_with(new).score(network)
    }

    fn coherence(&self, protocol: Protocol) -> Result<Option<Coherence>, Error> {
        let network = self.trainer.network();
        let best;
        let kept = match protocol {
            Protocol::Paper => network,
            Protocol::Best => {
                let mut copy = Network::new(network.config(), 0)?;
                copy.parameters_mut().copy_from_slice(&self.trainer.best().parameters);
                best = copy;
                &best
            }
        };
        coherence(kept, self.dataset, &self.test_nodes, self.batch_size)
    }

    fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError> {
        self.trainer.network().to_safetensors()
    }
}
