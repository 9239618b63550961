//! Training: epochs of mini-batches, early stopping, and a state that can be saved and taken up again.

use std::time::Instant;

use carat_graph::{Dataset, Split};
use carat_nn::Network;

use crate::batches::{Batches, Purpose};
use crate::car::Regulariser;
use crate::car::settings::EntityChoice;
use crate::config::{fits, knows};
use crate::evaluation::{Evaluator, Score};
use crate::learner::Learner;
use crate::stopping::{Best, StepTimes, Stopping};
use crate::{Error, TrainConfig};

/// What one epoch did: a row of `metrics.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochMetrics {
    /// Counted from 1.
    pub epoch: usize,
    /// Mean cross-entropy over the epoch's batches, each before its step.
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

/// Where a run stands between two epochs. Together with the configuration it decides everything that follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Epochs finished.
    pub epoch: usize,
    /// Parameters after the last finished epoch, and after them what the model keeps beside parameters.
    pub parameters: Vec<f32>,
    /// Adam's mean gradients.
    pub adam_first: Vec<f32>,
    /// Adam's mean squared gradients.
    pub adam_second: Vec<f32>,
    /// Adam's steps.
    pub adam_steps: u64,
    /// The epoch of the lowest validation loss so far.
    pub best: Best,
    /// Scores of the last finished epoch.
    pub last: Score,
    /// Seconds spent.
    pub seconds: f64,
    /// The average predictions that unlabelled entities are judged by; empty where there are none.
    pub teacher: Vec<f32>,
}

/// A training run in memory. Call [`Trainer::run`], or [`Trainer::epoch`] until it returns `None`.
#[derive(Debug)]
pub struct Trainer<'a> {
    learner: Learner,
    batches: Batches<'a>,
    validation: Evaluator<'a>,
    stopping: Stopping,
    unfinished: bool,
    steps: StepTimes,
}

/// Batches of the training entities, and of every other node with in-edges where those are entities too.
pub(crate) fn training_batches<'a>(dataset: &'a Dataset, split: &Split, config: &TrainConfig) -> Batches<'a> {
    let purpose = Purpose::Training { fanout: config.fanout.clone(), seed: config.seed };
    let batches = Batches::new(dataset, &split.train, config.batch_size, config.layers, purpose);
    if config.car().is_none_or(|car| car.entities == EntityChoice::Train) {
        return batches;
    }
    let mut training = vec![false; dataset.num_nodes()];
    split.train.iter().for_each(|&n| training[n as usize] = true);
    let entity = |n: &u32| !training[*n as usize] && dataset.graph().in_degree(*n) > 0;
    batches.with_others((0..dataset.num_nodes() as u32).filter(entity).collect())
}

impl<'a> Trainer<'a> {
    /// Prepares a run on `split` of `dataset`.
    pub fn new(dataset: &'a Dataset, split: &Split, config: &TrainConfig) -> Result<Self, Error> {
        config.check()?;
        Self::with_network(dataset, split, config, Network::new(config.network_for(dataset), config.seed)?)
    }

    /// As [`Trainer::new`], from a network of one's own: another attention kind, or weights to go on from. Its sizes
    /// stand in place of the configuration's.
    pub fn with_network(
        dataset: &'a Dataset,
        split: &Split,
        config: &TrainConfig,
        network: Network<f32>,
    ) -> Result<Self, Error> {
        config.check()?;
        config.is_attention()?;
        config.task_for(dataset)?;
        let mut config = config.clone();
        config.layers = network.config().layers;
        config.check()?;
        fits(network.config().features, dataset)?;
        knows(network.config().classes, dataset)?;
        let learner = Learner::new(dataset, split, &config, network);
        let batches = training_batches(dataset, split, &config);
        let validation = Evaluator::new(dataset, &split.val, config.layers, config.batch_size);
        let stopping = Stopping::new(&config, learner.network.parameters().to_vec());
        Ok(Self { learner, batches, validation, stopping, unfinished: false, steps: StepTimes::default() })
    }

    /// Takes up a saved run of the same configuration. False, and nothing changed, where it is another network's.
    pub fn restore(&mut self, progress: Progress) -> bool {
        let len = self.learner.network.parameters().len();
        let Progress { parameters, adam_first, adam_second, best, .. } = &progress;
        if [parameters, adam_first, adam_second, &best.parameters].iter().any(|values| values.len() != len) {
            return false;
        }
        if let Some(teacher) = self.learner.regulariser.as_mut().and_then(Regulariser::teacher)
            && !teacher.restore(&progress.teacher)
        {
            return false;
        }
        self.learner.network.parameters_mut().copy_from_slice(parameters);
        self.learner.adam.first.copy_from_slice(adam_first);
        self.learner.adam.second.copy_from_slice(adam_second);
        self.learner.adam.steps = progress.adam_steps;
        self.stopping.restore(progress);
        true
    }

    /// Where the run stands, to be saved; `None` after an epoch that was interrupted half-way.
    pub fn progress(&mut self) -> Option<Progress> {
        let teacher = self.learner.regulariser.as_mut().and_then(Regulariser::teacher);
        let teacher = teacher.map_or_else(Vec::new, |teacher| teacher.average().to_vec());
        (!self.unfinished).then(|| Progress {
            teacher,
            epoch: self.stopping.epochs(),
            parameters: self.learner.network.parameters().to_vec(),
            adam_first: self.learner.adam.first.clone(),
            adam_second: self.learner.adam.second.clone(),
            adam_steps: self.learner.adam.steps,
            best: self.stopping.best().clone(),
            last: self.stopping.last(),
            seconds: self.stopping.seconds(),
        })
    }

    /// The network as it stands after the last step.
    pub fn network(&self) -> &Network<f32> {
        &self.learner.network
    }

    /// How far the run is, and when it is over.
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

    /// The epoch with the lowest validation loss so far.
    pub fn best(&self) -> &Best {
        self.stopping.best()
    }

    /// Trains one epoch. `None` when the run is over, or when `interrupted` turned true half-way through the epoch.
    pub fn epoch(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<EpochMetrics>, Error> {
        if self.is_over() {
            return Ok(None);
        }
        let start = Instant::now();
        let epoch = self.stopping.epochs() + 1;
        let (mut total, mut causal, mut targets) = (0.0, 0.0, 0usize);
        self.unfinished = true;
        let Self { batches, learner, steps, .. } = self;
        batches.for_each(epoch, |batch| {
            let step = Instant::now();
            let loss = learner.step(batch, epoch)?;
            total += loss.prediction * batch.labels.len() as f64;
            causal += loss.causal * batch.labels.len() as f64;
            targets += batch.labels.len();
            steps.push(step);
            Ok::<bool, Error>(!interrupted())
        })?;
        if targets < self.batches.num_entities() {
            return Ok(None);
        }
        let score = self.validation.score(&self.learner.network)?;
        self.unfinished = false;
        self.stopping.finish_epoch(start, score, &[self.learner.network.parameters()]);
        let last = self.stopping.last();
        Ok(Some(EpochMetrics {
            epoch,
            train_loss: total / targets as f64,
            causal_loss: causal / targets as f64,
            val_loss: last.loss,
            val_accuracy: last.accuracy,
            seconds: self.stopping.seconds(),
        }))
    }

    /// Trains to the end and finishes.
    pub fn run(mut self) -> Result<(Network<f32>, Score), Error> {
        while self.epoch(&|| false)?.is_some() {}
        Ok(self.finish())
    }

    /// True when no epoch is left to train.
    pub fn is_over(&self) -> bool {
        self.stopping.is_over()
    }

    /// Median time of a step so far, in milliseconds; 0 before the first.
    pub fn step_ms(&self) -> f64 {
        self.steps.median_ms()
    }

    /// Puts the weights that the protocol keeps in place, the best epoch's or the last one's, and returns their
    /// validation score.
    pub(crate) fn keep(&mut self) -> Score {
        let (parameters, score) = self.stopping.kept();
        if let Some(parameters) = parameters {
            self.learner.network.parameters_mut().copy_from_slice(parameters);
        }
        score
    }

    /// The network that the protocol keeps, and its validation score: the best epoch's or the last one's.
    pub fn finish(mut self) -> (Network<f32>, Score) {
        let score = self.keep();
        (self.learner.network, score)
    }
}
