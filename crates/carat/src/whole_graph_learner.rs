//! Training of a model of the whole graph: one step per epoch, and one pass that scores every node.

use std::time::Instant;

use carat_graph::{Dataset, Split};
use carat_nn::{Adam, Labelled, WeightsError, WholeGraph, WholeGraphModel, whole_graph_to_safetensors};

use crate::batches::batch_seed;
use crate::config::{check_classes, check_width, one_graph};
use crate::evaluation::{Coherence, Score, ScoreSum};
use crate::learner::{EpochLoss, Learner};
use crate::metrics::{Predictions, Subset};
use crate::selection::{Judge, Validation};
use crate::stopping::StepTimes;
use crate::{Error, TrainConfig, threads};

/// A model of the whole graph in training.
#[derive(Debug)]
pub struct WholeGraphLearner {
    /// What decides the learning rates and seeds the steps.
    config: TrainConfig,
    graph: WholeGraph<f32>,
    model: Box<dyn WholeGraphModel<f32>>,
    adam: Adam<f32>,
    gradient: Vec<f32>,
    train: Nodes,
    judge: Judge,
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

    /// Every node's class scores, out of those of all nodes, and its label.
    fn rows<'a>(&'a self, scores: &'a [f32], classes: usize) -> impl Iterator<Item = (&'a [f32], u32)> {
        let labelled = self.nodes.iter().zip(&self.labels);
        labelled.map(move |(&node, &label)| (&scores[node as usize * classes..][..classes], label))
    }

    /// What the class scores of all nodes predict for these.
    fn predictions(&self, scores: &[f32], classes: usize) -> Predictions {
        let mut predictions = Predictions::new(classes);
        self.rows(scores, classes).for_each(|(scores, label)| predictions.add(scores, label));
        predictions
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
        config.check_scaling(dataset)?;
        one_graph(dataset)?;
        config.check_edges(dataset)?;
        check_width(model.features(), dataset)?;
        check_classes(model.classes(), dataset)?;
        let len = model.parameters().len();
        let (train, validation) = (Nodes::new(dataset, &split.train), Nodes::new(dataset, &split.val));
        Ok(Self {
            judge: Judge::new(config, model.classes(), &train.labels, &validation.labels),
            config: config.clone(),
            graph: WholeGraph::new(dataset)?,
            model,
            adam: Adam::new(config.optimiser.adam(), len),
            gradient: vec![0.0; len],
            train,
            validation,
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
        let Self { graph, model, adam, gradient, train, config, judge, .. } = self;
        let labelled = Labelled { nodes: &train.nodes, labels: &train.labels, weights: judge.class_weights() };
        let seed = batch_seed(config.seed, epoch, 0);
        adam.set_learning_rate(config.learning_rate(epoch));
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

    fn validate(&mut self) -> Result<Option<Validation>, Error> {
        self.predict();
        let mut epoch = self.judge.epoch();
        let rows = self.validation.rows(&self.scores, self.model.classes());
        rows.for_each(|(scores, label)| epoch.add(scores, label));
        Ok(epoch.finish())
    }

    fn test(&mut self) -> Result<Option<Score>, Error> {
        self.predict();
        let mut sum = ScoreSum::default();
        let rows = self.test.rows(&self.scores, self.model.classes());
        rows.for_each(|(scores, label)| sum.add(scores, label));
        Ok(sum.finish())
    }

    fn predictions(&mut self, subset: Subset) -> Result<Predictions, Error> {
        self.predict();
        let nodes = match subset {
            Subset::Train => &self.train,
            Subset::Validation => &self.validation,
            Subset::Test => &self.test,
        };
        Ok(nodes.predictions(&self.scores, self.model.classes()))
    }

    fn coherence(&self) -> Result<Option<Coherence>, Error> {
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
