//! Training of models that look at the whole graph: one step per epoch, otherwise as attention networks are trained.

use std::time::Instant;

use carat_graph::{Dataset, Split};
use carat_nn::{Adam, AdamConfig, Labelled, WeightsError, WholeGraph, WholeGraphModel, whole_graph_to_safetensors};

use crate::batches::batch_seed;
use crate::config::{fits, knows, one_graph};
use crate::evaluation::{Coherence, Score, ScoreSum};
use crate::model::Training;
use crate::stopping::{StepTimes, Stopping};
use crate::training::{EpochMetrics, Progress};
use crate::{Error, Protocol, TrainConfig, threads};

/// A training of a model of the whole graph. Call [`WholeGraphTrainer::run`], or [`Training::epoch`] until it returns
/// `None`.
#[derive(Debug)]
pub struct WholeGraphTrainer {
    seed: u64,
    graph: WholeGraph<f32>,
    model: Box<dyn WholeGraphModel<f32>>,
    adam: Adam<f32>,
    gradient: Vec<f32>,
    train: Nodes,
    validation: Nodes,
    test: Nodes,
    /// Class scores of all nodes by the weights in place, unless `stale`.
    scores: Vec<f32>,
    stale: bool,
    stopping: Stopping,
    steps: StepTimes,
}

/// Labelled nodes.
#[derive(Debug)]
struct Nodes {
    nodes: Vec<u32>,
    labels: Vec<u32>,
}

impl Nodes {
    /// Those of the nodes that have a label.
    fn new(dataset: &Dataset, nodes: &[u32]) -> Self {
        let labelled = nodes.iter().filter_map(|&n| Some((n, dataset.labels().get(n)?)));
        let (nodes, labels) = labelled.unzip();
        Self { nodes, labels }
    }

    /// Loss and accuracy by the class scores of all nodes; `None` where there are no nodes.
    fn score(&self, scores: &[f32], classes: usize) -> Option<Score> {
        let mut sum = ScoreSum::default();
        for (&node, &label) in self.nodes.iter().zip(&self.labels) {
            let row = node as usize * classes;
            sum.add(&scores[row..row + classes], label);
        }
        sum.finish()
    }
}

impl WholeGraphTrainer {
    /// Prepares a training of `model` on `split` of `dataset`.
    pub fn new(
        dataset: &Dataset,
        split: &Split,
        config: &TrainConfig,
        model: Box<dyn WholeGraphModel<f32>>,
    ) -> Result<Self, Error> {
        config.check()?;
        one_graph(dataset)?;
        fits(model.features(), dataset)?;
        knows(model.classes(), dataset)?;
        let len = model.parameters().len();
        let adam = Adam::new(AdamConfig { learning_rate: config.lr, ..AdamConfig::default() }, len);
        Ok(Self {
            seed: config.seed,
            graph: WholeGraph::new(dataset)?,
            stopping: Stopping::new(config, [model.parameters(), model.buffers()].concat()),
            model,
            adam,
            gradient: vec![0.0; len],
            train: Nodes::new(dataset, &split.train),
            validation: Nodes::new(dataset, &split.val),
            test: Nodes::new(dataset, &split.test),
            scores: Vec::new(),
            stale: true,
            steps: StepTimes::default(),
        })
    }

    /// The model as it stands after the last step.
    pub fn model(&self) -> &dyn WholeGraphModel<f32> {
        &*self.model
    }

    /// Trains to the end. Returns the model with the weights that the protocol keeps, their validation score and their
    /// test score, if there are test nodes. `interrupted` ends the training early, with an error.
    pub fn run(mut self, interrupted: &dyn Fn() -> bool) -> Result<Finished, Error> {
        while self.epoch(interrupted)?.is_some() {}
        if !self.stopping.is_over() {
            return Err(Error::Interrupted);
        }
        let validation = self.keep();
        let test = self.test()?;
        Ok(Finished { model: self.model, validation, test })
    }

    fn step(&mut self, epoch: usize) -> Result<f64, Error> {
        let Self { graph, model, adam, gradient, train, .. } = self;
        let labelled = Labelled { nodes: &train.nodes, labels: &train.labels };
        let seed = batch_seed(self.seed, epoch, 0);
        threads::awake(|| {
            let loss = model.loss_and_gradient(graph, labelled, seed, gradient);
            if !loss.is_finite() {
                return Err(Error::Diverged { epoch, loss });
            }
            adam.step(model.parameters_mut(), gradient);
            Ok(loss)
        })
    }

    /// Puts parameters, followed by the model's buffers, in place.
    fn place(&mut self, parameters: &[f32]) {
        let (parameters, buffers) = parameters.split_at(self.model.parameters().len());
        self.model.parameters_mut().copy_from_slice(parameters);
        self.model.buffers_mut().copy_from_slice(buffers);
        self.stale = true;
    }

    /// Makes `scores` those of the weights in place.
    fn predict(&mut self) {
        if self.stale {
            self.model.predict(&self.graph, &mut self.scores);
            self.stale = false;
        }
    }
}

/// What a training of a model of the whole graph came to.
#[derive(Debug)]
pub struct Finished {
    /// With the weights that the protocol keeps.
    pub model: Box<dyn WholeGraphModel<f32>>,
    /// On the validation nodes.
    pub validation: Score,
    /// On the test nodes, if there are any.
    pub test: Option<Score>,
}

impl Training for WholeGraphTrainer {
    fn stopping(&self) -> &Stopping {
        &self.stopping
    }

    fn epoch(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<EpochMetrics>, Error> {
        if self.stopping.is_over() || interrupted() {
            return Ok(None);
        }
        let start = Instant::now();
        let epoch = self.stopping.epochs() + 1;
        let train_loss = self.step(epoch)?;
        self.steps.push(start);
        self.stale = true;
        self.predict();
        let score = self.validation.score(&self.scores, self.model.classes());
        self.stopping.finish_epoch(start, score, &[self.model.parameters(), self.model.buffers()]);
        let last = self.stopping.last();
        Ok(Some(EpochMetrics {
            epoch,
            train_loss,
            causal_loss: 0.0,
            val_loss: last.loss,
            val_accuracy: last.accuracy,
            seconds: self.stopping.seconds(),
        }))
    }

    fn restore(&mut self, progress: Progress) -> bool {
        let own = self.gradient.len();
        let all = own + self.model.buffers().len();
        let Progress { parameters, adam_first, adam_second, best, .. } = &progress;
        let lengths = [(parameters, all), (adam_first, own), (adam_second, own), (&best.parameters, all)];
        if lengths.iter().any(|(values, len)| values.len() != *len) {
            return false;
        }
        self.place(parameters);
        self.adam.first.copy_from_slice(adam_first);
        self.adam.second.copy_from_slice(adam_second);
        self.adam.steps = progress.adam_steps;
        self.stopping.restore(progress);
        true
    }

    fn progress(&mut self) -> Option<Progress> {
        Some(Progress {
            epoch: self.stopping.epochs(),
            parameters: [self.model.parameters(), self.model.buffers()].concat(),
            adam_first: self.adam.first.clone(),
            adam_second: self.adam.second.clone(),
            adam_steps: self.adam.steps,
            best: self.stopping.best().clone(),
            last: self.stopping.last(),
            seconds: self.stopping.seconds(),
            teacher: Vec::new(),
        })
    }

    fn step_ms(&self) -> f64 {
        self.steps.median_ms()
    }

    fn keep(&mut self) -> Score {
        let (parameters, score) = self.stopping.kept();
        if let Some(parameters) = parameters.map(<[f32]>::to_vec) {
            self.place(&parameters);
        }
        score
    }

    fn test(&mut self) -> Result<Option<Score>, Error> {
        self.predict();
        Ok(self.test.score(&self.scores, self.model.classes()))
    }

    fn coherence(&self, _: Protocol) -> Result<Option<Coherence>, Error> {
        Ok(None)
    }

    fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError> {
        whole_graph_to_safetensors(&*self.model)
    }
}
