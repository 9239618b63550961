//! Graph convolution networks on a graph pruned by given scores, and at random.

use std::collections::HashMap;

use carat_graph::{Dataset, Split};
use carat_nn::GcnNetwork;

use super::curves::{Curve, CurvePoint, Curves};
use super::prune::{above, at_random, check_threshold, random_seed};
use crate::{Error, ModelKind, TrainConfig, Trainer, prepare};

/// Most networks; a longer list is a mistake.
const MOST_TRAININGS: usize = 100_000;

/// A way to score edges: pruning leaves out those with low scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// Its name.
    pub name: String,
    /// One score per edge, in the order of their ids.
    pub scores: Vec<f32>,
}

/// Settings of a [`Study`].
#[derive(Debug, Clone, PartialEq)]
pub struct RewireConfig {
    /// Where to prune, ascending.
    pub thresholds: Vec<f64>,
    /// Splits to train on.
    pub splits: Vec<usize>,
    /// Networks per split and pruned graph. Each has its own seed, and its own draw where edges are left out at random.
    pub trials: usize,
    /// Settings of the networks; their model is a GCN.
    pub gcn: TrainConfig,
}

impl RewireConfig {
    /// Settings of a GCN of the same shape as an attention network, trained in the same way and on the same splits. Its
    /// seed is that of the network, which also deals out folds.
    pub fn gcn(attention: &TrainConfig) -> TrainConfig {
        attention.clone().model(ModelKind::Gcn).prune(None).task(None).split(0).reset_unused_settings()
    }

    fn check(&self) -> Result<(), Error> {
        let config = |problem: String| Err(Error::Config(problem));
        self.thresholds.iter().try_for_each(|threshold| check_threshold(*threshold))?;
        if self.thresholds.is_empty() || !self.thresholds.is_sorted_by(|a, b| a < b) {
            return config("thresholds must be ascending, each above the one before, and at least one".into());
        }
        for (name, count) in [("trials", self.trials), ("splits", self.splits.len())] {
            if count == 0 {
                return config(format!("{name} must be at least 1"));
            }
        }
        if self.gcn.model != ModelKind::Gcn {
            return config("pruned graphs are for graph convolution networks; set the model to gcn".into());
        }
        self.gcn.check()
    }
}

/// A graph to train on, among those of one split and trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum KeptEdges {
    All,
    None,
    /// So many edges with the highest scores. Higher thresholds only remove edges, so the number determines them.
    Guided {
        guide: usize,
        count: usize,
    },
    /// So many edges at random, for any guide.
    Random {
        count: usize,
    },
}

/// One network to train.
#[derive(Debug, Clone, Copy)]
struct Work {
    split: usize,
    trial: usize,
    kept: KeptEdges,
    /// The threshold of a guided graph.
    threshold: f64,
}

/// A plan of networks, each trained once, and the curves of their accuracies.
#[derive(Debug)]
pub struct Study<'a> {
    dataset: &'a Dataset,
    guides: Vec<Guide>,
    config: RewireConfig,
    splits: Vec<Split>,
    work: Vec<Work>,
    places: HashMap<(usize, usize, KeptEdges), usize>,
}

impl<'a> Study<'a> {
    /// Plans the study.
    pub fn new(dataset: &'a Dataset, guides: Vec<Guide>, config: RewireConfig) -> Result<Self, Error> {
        config.check()?;
        if let Some(guide) = guides.iter().find(|guide| guide.scores.len() != dataset.graph().num_edges()) {
            let (name, scores, edges) = (&guide.name, guide.scores.len(), dataset.graph().num_edges());
            return Err(Error::Config(format!("{name} scores {scores} edges, but {} has {edges}", dataset.name())));
        }
        let mut splits = Vec::new();
        for &number in &config.splits {
            let split = config.gcn.clone().split(number).choose_split(dataset)?;
            if split.test.is_empty() {
                let name = dataset.name();
                return Err(Error::Config(format!("split {number} of {name} has no labelled test node to measure on")));
            }
            splits.push(split);
        }
        let mut study = Self { dataset, guides, config, splits, work: Vec::new(), places: HashMap::new() };
        study.plan()?;
        Ok(study)
    }

    fn plan(&mut self) -> Result<(), Error> {
        let Self { config, .. } = self;
        let most = (1 + 2 * self.guides.len() * config.thresholds.len())
            .saturating_mul(config.splits.len())
            .saturating_mul(config.trials);
        if most > MOST_TRAININGS {
            let problem =
                format!("these settings need up to {most} networks, more than {MOST_TRAININGS}; shorten a list");
            return Err(Error::Config(problem));
        }
        let mut graphs = vec![(KeptEdges::All, 0.0)];
        for guide in 0..self.guides.len() {
            for &threshold in &self.config.thresholds {
                graphs.extend([false, true].map(|random| (self.kept(guide, threshold, random), threshold)));
            }
        }
        for split in 0..self.splits.len() {
            for trial in 0..self.config.trials {
                for &(kept, threshold) in &graphs {
                    self.places.entry((split, trial, kept)).or_insert_with(|| {
                        self.work.push(Work { split, trial, kept, threshold });
                        self.work.len() - 1
                    });
                }
            }
        }
        Ok(())
    }

    /// The edges that stay at a threshold of a guide.
    fn kept(&self, guide: usize, threshold: f64, random: bool) -> KeptEdges {
        let all = self.guides[guide].scores.len();
        match above(&self.guides[guide].scores, threshold).iter().filter(|keep| **keep).count() {
            count if count == all => KeptEdges::All,
            0 => KeptEdges::None,
            count if random => KeptEdges::Random { count },
            count => KeptEdges::Guided { guide, count },
        }
    }

    /// How many networks there are to train.
    pub fn trainings(&self) -> usize {
        self.work.len()
    }

    /// Trains one of them, counted from 0, and returns its test accuracy. Trainings are independent of each other.
    pub fn train(&self, number: usize, interrupted: &dyn Fn() -> bool) -> Result<f64, Error> {
        let Some(&Work { split, trial, kept, threshold }) = self.work.get(number) else {
            return Err(Error::Config(format!("there is no training {number} among {}", self.work.len())));
        };
        let edges = self.dataset.graph().num_edges();
        let seed = self.config.gcn.seed.wrapping_add(trial as u64);
        let pruned;
        let dataset = match kept {
            KeptEdges::All => self.dataset,
            KeptEdges::None => {
                pruned = self.dataset.with_edges(&vec![false; edges])?;
                &pruned
            }
            KeptEdges::Guided { guide, .. } => {
                pruned = self.dataset.with_edges(&above(&self.guides[guide].scores, threshold))?;
                &pruned
            }
            KeptEdges::Random { count } => {
                let seed = random_seed(seed, self.config.splits[split]);
                pruned = self.dataset.with_edges(&at_random(edges, count, seed))?;
                &pruned
            }
        };
        let config = self.config.gcn.clone().seed(seed).split(self.config.splits[split]);
        let (dataset, _) = prepare(dataset, &self.splits[split], &config)?;
        let model = GcnNetwork::new(config.gcn_for(&dataset), seed)?;
        let mut trainer = Trainer::of_model(&dataset, &self.splits[split], &config, model.boxed())?;
        trainer.train(interrupted)?;
        trainer.keep();
        trainer.test()?.map(|score| score.accuracy).ok_or_else(|| Error::Config("no test node has a label".into()))
    }

    /// The curves, given the accuracy of every training: for each guide its own, then the random one. Missing
    /// accuracies count as NaN.
    pub fn curves(&self, accuracies: &[f64]) -> Curves {
        let of = |kept: KeptEdges| {
            let of_split = |split: usize| {
                let place = |trial: usize| self.places.get(&(split, trial, kept));
                let accuracy = |trial: usize| place(trial).and_then(|place| accuracies.get(*place));
                (0..self.config.trials).map(|trial| accuracy(trial).copied().unwrap_or(f64::NAN)).collect()
            };
            (0..self.splits.len()).map(of_split).collect()
        };
        let curve = |(guide, random): (usize, bool)| {
            let point = |&threshold: &f64| {
                let keep = above(&self.guides[guide].scores, threshold);
                CurvePoint {
                    threshold,
                    edges: Some(keep.iter().filter(|keep| **keep).count()),
                    accuracies: of(self.kept(guide, threshold, random)),
                }
            };
            let points = self.config.thresholds.iter().map(point).collect();
            Curve { guide: self.guides[guide].name.clone(), random, points }
        };
        let ways = (0..self.guides.len()).flat_map(|guide| [(guide, false), (guide, true)]);
        Curves { unpruned: of(KeptEdges::All), curves: ways.map(curve).collect() }
    }
}
