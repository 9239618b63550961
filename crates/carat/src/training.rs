//! Training: epochs of mini-batches, early stopping, and a state that can be saved and taken up again.

use std::time::{Duration, Instant};

use carat_graph::{Dataset, Split};
use carat_nn::Network;

use crate::batches::{Batches, Purpose};
use crate::car::Regulariser;
use crate::car::settings::EntityChoice;
use crate::config::{fits, knows};
use crate::evaluation::{Evaluator, Score};
use crate::learner::Learner;
use crate::{Error, Protocol, TrainConfig};

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
    /// Parameters after the last finished epoch.
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

/// The epoch with the lowest validation loss so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Counted from 1; 0 before the first.
    pub epoch: usize,
    /// Its scores.
    pub score: Score,
    /// Its parameters.
    pub parameters: Vec<f32>,
}

/// A training run in memory. Call [`Trainer::run`], or [`Trainer::epoch`] until it returns `None`.
#[derive(Debug)]
pub struct Trainer<'a> {
    config: TrainConfig,
    learner: Learner,
    batches: Batches<'a>,
    validation: Evaluator<'a>,
    epoch: usize,
    best: Best,
    last: Score,
    seconds: f64,
    unfinished: bool,
    steps: Vec<Duration>,
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

/// No score yet.
const NONE: Score = Score { loss: f64::INFINITY, accuracy: 0.0 };

/// Step times kept for the median.
const STEPS_KEPT: usize = 4096;

impl<'a> Trainer<'a> {
    /// Prepares a run on `split` of `dataset`.
    pub fn new(dataset: &'a Dataset, split: &Split, config: &TrainConfig) -> Result<Self, Error> {
        config.check()?;
        Self::with_network(dataset, split, config, Network::new(config.network_for(dataset), config.seed)?)
    }

    /// As [`Trainer::new`], from a network of one's own: another attention kind, or weights to go on from. Its sizes stand
    /// in place of the configuration's.
    pub fn with_network(
        dataset: &'a Dataset,
        split: &Split,
        config: &TrainConfig,
        network: Network<f32>,
    ) -> Result<Self, Error> {
        config.check()?;
        config.task_for(dataset)?;
        let mut config = config.clone();
        config.layers = network.config().layers;
        config.check()?;
        fits(&network, dataset)?;
        knows(&network, dataset)?;
        let learner = Learner::new(dataset, split, &config, network);
        let batches = training_batches(dataset, split, &config);
        let validation = Evaluator::new(dataset, &split.val, config.layers, config.batch_size);
        let best = Best { epoch: 0, score: NONE, parameters: learner.network.parameters().to_vec() };
        Ok(Self {
            config,
            learner,
            batches,
            validation,
            epoch: 0,
            best,
            last: NONE,
            seconds: 0.0,
            unfinished: false,
            steps: Vec::new(),
        })
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
        self.learner.adam.first = progress.adam_first;
        self.learner.adam.second = progress.adam_second;
        self.learner.adam.steps = progress.adam_steps;
        self.epoch = progress.epoch;
        self.best = progress.best;
        self.last = progress.last;
        self.seconds = progress.seconds;
        true
    }

    /// Where the run stands, to be saved; `None` after an epoch that was interrupted half-way.
    pub fn progress(&mut self) -> Option<Progress> {
        let teacher = self.learner.regulariser.as_mut().and_then(Regulariser::teacher);
        let teacher = teacher.map_or_else(Vec::new, |teacher| teacher.average().to_vec());
        (!self.unfinished).then(|| Progress {
            teacher,
            epoch: self.epoch,
            parameters: self.learner.network.parameters().to_vec(),
            adam_first: self.learner.adam.first.clone(),
            adam_second: self.learner.adam.second.clone(),
            adam_steps: self.learner.adam.steps,
            best: self.best.clone(),
            last: self.last,
            seconds: self.seconds,
        })
    }

    /// The network as it stands after the last step.
    pub fn network(&self) -> &Network<f32> {
        &self.learner.network
    }

    /// Number of finished epochs.
    pub fn epochs(&self) -> usize {
        self.epoch
    }

    /// Seconds of training, validation included.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The epoch with the lowest validation loss so far.
    pub fn best(&self) -> &Best {
        &self.best
    }

    /// Trains one epoch. `None` when the run is over, or when `interrupted` turned true half-way through the epoch.
    pub fn epoch(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<EpochMetrics>, Error> {
        if self.is_over() {
            return Ok(None);
        }
        let start = Instant::now();
        let epoch = self.epoch + 1;
        let (mut total, mut causal, mut targets) = (0.0, 0.0, 0usize);
        self.unfinished = true;
        let Self { batches, learner, steps, .. } = self;
        batches.for_each(epoch, |batch| {
            let step = Instant::now();
            let loss = learner.step(batch, epoch)?;
            total += loss.prediction * batch.labels.len() as f64;
            causal += loss.causal * batch.labels.len() as f64;
            targets += batch.labels.len();
            if steps.len() < STEPS_KEPT {
                steps.push(step.elapsed());
            }
            Ok::<bool, Error>(!interrupted())
        })?;
        if targets < self.batches.num_entities() {
            return Ok(None);
        }
        self.last = self.validation.score(&self.learner.network)?.unwrap_or(NONE);
        self.unfinished = false;
        self.epoch = epoch;
        if self.last.loss < self.best.score.loss {
            self.best.epoch = epoch;
            self.best.score = self.last;
            self.best.parameters.copy_from_slice(self.learner.network.parameters());
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(Some(EpochMetrics {
            epoch,
            train_loss: total / targets as f64,
            causal_loss: causal / targets as f64,
            val_loss: self.last.loss,
            val_accuracy: self.last.accuracy,
            seconds: self.seconds,
        }))
    }

    /// Trains to the end and finishes.
    pub fn run(mut self) -> Result<(Network<f32>, Score), Error> {
        while self.epoch(&|| false)?.is_some() {}
        Ok(self.finish())
    }

    /// True when no epoch is left to train.
    pub fn is_over(&self) -> bool {
        self.epoch >= self.config.epochs || self.epoch - self.best.epoch >= self.config.patience()
    }

    /// Median time of a step so far, in milliseconds; 0 before the first.
    pub fn step_ms(&self) -> f64 {
        let mut sorted = self.steps.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map_or(0.0, |step| step.as_secs_f64() * 1e3)
    }

    /// The network that the protocol keeps, and its validation score: the best epoch's or the last one's.
    pub fn finish(mut self) -> (Network<f32>, Score) {
        let (parameters, score) = match self.config.protocol {
            Protocol::Best => (Some(&self.best.parameters), self.best.score),
            Protocol::Paper => (None, self.last),
        };
        if let Some(parameters) = parameters {
            self.learner.network.parameters_mut().copy_from_slice(parameters);
        }
        (self.learner.network, score)
    }
}
