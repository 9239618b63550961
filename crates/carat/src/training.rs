//! Training: epochs of mini-batches, early stopping, and a state that can be saved and restored.

use std::time::Instant;

use carat_graph::{Dataset, Split};
use carat_nn::{Network, WeightsError, WholeGraphModel};

use crate::attention_learner::AttentionLearner;
use crate::evaluation::Score;
use crate::learner::Learner;
use crate::results::Results;
use crate::stopping::{Best, StepTimes, Stopping};
use crate::whole_graph_learner::WholeGraphLearner;
use crate::{Error, Protocol, TrainConfig};

/// The figures of one epoch: a row of `metrics.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochMetrics {
    /// Counted from 1.
    pub epoch: usize,
    /// Mean cross-entropy over the epoch's batches, each before its step, with the weights of classes.
    pub train_loss: f64,
    /// Mean causal loss over the epoch's batches, without lambda; 0 where nothing is regularised.
    pub causal_loss: f64,
    /// Validation loss after the epoch.
    pub val_loss: f64,
    /// Validation accuracy after the epoch.
    pub val_accuracy: f64,
    /// Seconds of training since the run began, interruptions not counted.
    pub seconds: f64,
}

/// The state of a run between two epochs. With the configuration it determines everything that follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Epochs finished.
    pub epoch: usize,
    /// Parameters after the last finished epoch, followed by the model's other values.
    pub parameters: Vec<f32>,
    /// Adam's mean gradients.
    pub adam_first: Vec<f32>,
    /// Adam's mean squared gradients.
    pub adam_second: Vec<f32>,
    /// Adam's steps.
    pub adam_steps: u64,
    /// The best epoch so far.
    pub best: Best,
    /// True once the network had begun to learn.
    pub has_learned: bool,
    /// Scores of the last finished epoch.
    pub last: Score,
    /// Seconds spent.
    pub seconds: f64,
    /// What the regulariser carries from step to step; empty where it carries nothing.
    pub regulariser: Vec<f32>,
}

/// A training run in memory: epochs, early stopping and the weights that are kept, for any model.
///
/// [`Trainer::new`] trains an attention network, [`Trainer::of_model`] a model of the whole graph, and
/// [`crate::training`] the model of the settings. Call [`Trainer::run`], or [`Trainer::epoch`] until it returns `None`.
#[derive(Debug)]
pub struct Trainer<L: ?Sized> {
    stopping: Stopping,
    unfinished: bool,
    steps: StepTimes,
    learner: L,
}

/// A trainer of any model.
pub type AnyTrainer<'a> = Trainer<dyn Learner + 'a>;

impl<L: Learner> Trainer<L> {
    fn over(learner: L, config: &TrainConfig) -> Self {
        let stopping = Stopping::new(config, learner.values().concat());
        Self { stopping, unfinished: false, steps: StepTimes::default(), learner }
    }
}

impl<'a> Trainer<AttentionLearner<'a>> {
    /// Prepares the training of an attention network on `split` of `dataset`.
    pub fn new(dataset: &'a Dataset, split: &Split, config: &TrainConfig) -> Result<Self, Error> {
        config.check()?;
        Self::with_network(dataset, split, config, Network::new(config.network_for(dataset), config.seed)?)
    }

    /// As [`Trainer::new`], from a given network: another attention kind, or weights to train further. Its sizes
    /// replace those of the configuration.
    pub fn with_network(
        dataset: &'a Dataset,
        split: &Split,
        config: &TrainConfig,
        network: Network<f32>,
    ) -> Result<Self, Error> {
        Ok(Self::over(AttentionLearner::new(dataset, split, config, network)?, config))
    }

    /// The network after the last step.
    pub fn network(&self) -> &Network<f32> {
        self.learner.network()
    }

    /// Trains to the end and finishes.
    pub fn run(mut self) -> Result<(Network<f32>, Score), Error> {
        self.train(&|| false)?;
        Ok(self.finish())
    }

    /// The network that the protocol keeps, and its validation score: the best epoch's or the last one's.
    pub fn finish(mut self) -> (Network<f32>, Score) {
        let score = self.keep();
        (self.learner.into_network(), score)
    }
}

impl Trainer<WholeGraphLearner> {
    /// Prepares the training of a model of the whole graph on `split` of `dataset`.
    pub fn of_model(
        dataset: &Dataset,
        split: &Split,
        config: &TrainConfig,
        model: Box<dyn WholeGraphModel<f32>>,
    ) -> Result<Self, Error> {
        Ok(Self::over(WholeGraphLearner::new(dataset, split, config, model)?, config))
    }

    /// The model after the last step.
    pub fn model(&self) -> &dyn WholeGraphModel<f32> {
        self.learner.model()
    }

    /// The model with the weights that the protocol keeps, and their validation score.
    pub fn finish(mut self) -> (Box<dyn WholeGraphModel<f32>>, Score) {
        let score = self.keep();
        (self.learner.into_model(), score)
    }
}

impl<L: Learner + ?Sized> Trainer<L> {
    /// How far the run is, and when it ends.
    pub fn stopping(&self) -> &Stopping {
        &self.stopping
    }

    /// Number of finished epochs.
    pub fn epochs(&self) -> usize {
        self.stopping.epochs()
    }

    /// Seconds of training, validation included.
    pub fn seconds(&self) -> f64 {
        self.stopping.seconds()
    }

    /// The best epoch so far.
    pub fn best(&self) -> &Best {
        self.stopping.best()
    }

    /// True when no epoch is left to train.
    pub fn is_over(&self) -> bool {
        self.stopping.is_over()
    }

    /// Median time of a step so far, in milliseconds; 0 before the first.
    pub fn step_ms(&self) -> f64 {
        self.steps.median_ms()
    }

    /// Trains one epoch. `None` when the run is over, or when `interrupted` turned true before the epoch's end.
    pub fn epoch(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<EpochMetrics>, Error> {
        if self.is_over() || interrupted() {
            return Ok(None);
        }
        let start = Instant::now();
        let epoch = self.stopping.epochs() + 1;
        self.unfinished = true;
        let Some(loss) = self.learner.epoch(epoch, &mut self.steps, interrupted)? else { return Ok(None) };
        let validation = self.learner.validate()?;
        self.unfinished = false;
        self.stopping.finish_epoch(start, validation, &self.learner.values());
        let last = self.stopping.last();
        Ok(Some(EpochMetrics {
            epoch,
            train_loss: loss.train,
            causal_loss: loss.causal,
            val_loss: last.loss,
            val_accuracy: last.accuracy,
            seconds: self.stopping.seconds(),
        }))
    }

    /// Trains to the end; an error where `interrupted` turned true before it.
    pub fn train(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), Error> {
        while self.epoch(interrupted)?.is_some() {}
        if self.is_over() { Ok(()) } else { Err(Error::Interrupted) }
    }

    /// Continues a saved run of the same configuration. Returns false, and changes nothing, where it is another
    /// model's.
    pub fn restore(&mut self, progress: Progress) -> bool {
        let [parameters, beside] = self.learner.values().map(<[f32]>::len);
        let all = parameters + beside;
        let Progress { adam_first, adam_second, best, .. } = &progress;
        let lengths =
            [(&progress.parameters, all), (adam_first, parameters), (adam_second, parameters), (&best.parameters, all)];
        if lengths.iter().any(|(values, len)| values.len() != *len) {
            return false;
        }
        if let Some(regulariser) = self.learner.regulariser()
            && !regulariser.restore(&progress.regulariser)
        {
            return false;
        }
        self.learner.place(&progress.parameters);
        self.learner.set_optimiser(adam_first, adam_second, progress.adam_steps);
        self.stopping.restore(progress);
        true
    }

    /// The state of the run, to be saved; `None` after an interrupted epoch.
    pub fn progress(&mut self) -> Option<Progress> {
        if self.unfinished {
            return None;
        }
        let regulariser = self.learner.regulariser().map_or_else(Vec::new, |regulariser| regulariser.state());
        let adam = self.learner.optimiser();
        Some(Progress {
            epoch: self.stopping.epochs(),
            parameters: self.learner.values().concat(),
            adam_first: adam.first.clone(),
            adam_second: adam.second.clone(),
            adam_steps: adam.steps,
            best: self.stopping.best().clone(),
            has_learned: self.stopping.has_learned(),
            last: self.stopping.last(),
            seconds: self.stopping.seconds(),
            regulariser,
        })
    }

    /// Restores the weights that the protocol keeps, the best epoch's or the last one's, and returns their validation
    /// score.
    pub fn keep(&mut self) -> Score {
        let (values, score) = self.stopping.kept();
        if let Some(values) = values {
            self.learner.place(values);
        }
        score
    }

    /// Loss and accuracy of the current model on the split's test entities; `None` where it has none.
    pub fn test(&mut self) -> Result<Option<Score>, Error> {
        self.learner.test()
    }

    /// All figures of the weights that a protocol keeps. The current weights stay as they are.
    pub fn results(&mut self, protocol: Protocol) -> Result<Results, Error> {
        let current = self.learner.values().concat();
        if protocol == Protocol::Best {
            self.learner.place(&self.stopping.best().parameters);
        }
        let results = Results::of(&mut self.learner);
        self.learner.place(&current);
        results
    }

    /// The current model, as a file.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError> {
        self.learner.to_safetensors()
    }
}
