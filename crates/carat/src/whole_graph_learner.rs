//! Training of a model of the whole graph: one step per epoch, and one pass that scores every node.

use std::time::Instant;

use carat_graph::{Dataset, Split};
use carat_nn::{Adam, AdamConfig, Labelled, WeightsError, WholeGraph, WholeGraphModel, whole_graph_to_safetensors};

use crate::batches::batch_seed;
use crate::config::{check_classes, check_width, one_graph};
use crate::evaluation::{Coherence, Score, ScoreSum};
use crate::learner::{EpochLoss, Learner};
use crate::stopping::StepTimes;
use crate::{Error, TrainConfig, threads};

/// A model of the whole graph in training.
#[derive(Debug)]
pub struct WholeGraphLearner {
    seed: u64,
    graph: WholeGraph<f32>,
    model: Box<dyn WholeGraphModel<f32>>,
    adam: Adam<f32>,
    gradient: Vec<f32>,
    train: Nodes,
    validation: Nodes,
    test: Nodes,
    /// Class scores of all nodes by the current values, unless `stale`.
    scores: Vec<f32>,
    stale: bool,
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

impl WholeGraphLearner {
    pub(crate) fn new(
        dataset: &Dataset,
        split: &Split,
        config: &TrainConfig,
        model: Box<dyn WholeGraphModel<f32>>,
    ) -> Result<Self, Error> {
        config.check()?;
        config.is_prepared(dataset)?;
        one_graph(dataset)?;
        check_width(model.features(), dataset)?;
        check_classes(model.classes(), dataset)?;
        let len = model.parameters().len();
        let adam = Adam::new(AdamConfig { learning_rate: config.optimiser.lr, ..AdamConfig::default() }, len);
        Ok(Self {
            seed: config.seed,
            graph: WholeGraph::new(dataset)?,
            model,
            adam,
            gradient: vec![0.0; len],
            train: Nodes::new(dataset, &split.train),
            validation: Nodes::new(dataset, &split.val),
            test: Nodes::new(dataset, &split.test),
            scores: Vec::new(),
            stale: true,
        })
    }

    /// The current model.
    pub(crate) fn model(&self) -> &dyn WholeGraphModel<f32> {
        &*self.model
    }

    /// The current model, by value.
    pub(crate) fn into_model(self) -> Box<dyn WholeGraphModel<f32>> {
        self.model
    }

    fn step(&mut self, epoch: usize) -> Result<f64, Error> {
        let Self { graph, model, adam, gradient, train, .. } = self;
        let labelled = Labelled { nodes: &train.nodes, labels: &train.labels };
        let seed = batch_seed(self.seed, epoch, 0);
        threads::keep_awake(|| {
            let loss = model.loss_and_gradient(graph, labelled, seed, gradient);
            if !loss.is_finite() {
                return Err(Error::Diverged { epoch, loss });
            }
            adam.step(model.parameters_mut(), gradient);
            Ok(loss)
        })
    }

    /// Updates `scores` to the current values.
    fn predict(&mut self) {
        if self.stale {
            self.model.predict(&self.graph, &mut self.scores);
            self.stale = false;
        }
    }
}

impl Learner for WholeGraphLearner {
    /// One step, too short to be interrupted.
    fn epoch(&mut self, epoch: usize, steps: &mut StepTimes, _: &dyn Fn() -> bool) -> Result<Option<EpochLoss>, Error> {
        let start = Instant::now();
        let train = self.step(epoch)?;
        steps.push(start);
        self.stale = true;
        Ok(Some(EpochLoss { train, causal: 0.0 }))
    }

    fn validate(&mut self) -> Result<Option<Score>, Error> {
        self.predict();
        Ok(self.validation.score(&self.scores, self.model.classes()))
    }

    fn test(&mut self) -> Result<Option<Score>, Error> {
        self.predict();
        Ok(self.test.score(&self.scores, self.model.classes()))
    }

    fn coherence(&self, _: Option<&[f32]>) -> Result<Option<Coherence>, Error> {
        Ok(None)
    }

    fn values(&self) -> [&[f32]; 2] {
        [self.model.parameters(), self.model.buffers()]
    }

    fn place(&mut self, values: &[f32]) {
        let (parameters, buffers) = values.split_at(self.model.parameters().len());
        self.model.parameters_mut().copy_from_slice(parameters);
        self.model.buffers_mut().copy_from_slice(buffers);
        self.stale = true;
    }

    fn optimiser(&self) -> &Adam<f32> {
        &self.adam
    }

    fn set_optimiser(&mut self, first: &[f32], second: &[f32], steps: u64) {
        self.adam.first.copy_from_slice(first);
        self.adam.second.copy_from_slice(second);
        self.adam.steps = steps;
    }

    fn to_safetensors(&self) -> Result<Vec<u8>, WeightsError> {
        whole_graph_to_safetensors(&*self.model)
    }
}
