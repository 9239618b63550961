//! The demo: what spurious edges cost a graph attention network, on graphs whose truth is known.
//!
//! Every seed draws a planted graph ([`carat_graph::generators::planted`]). On it every attention kind is trained once
//! per [`Treatment`]. Runs of one seed and kind share the graph's nodes, split, initial weights and batches, so that they
//! pair. A further treatment is one more variant of [`Treatment`]; tables, figures and comparisons follow.

mod attention;
mod page;
mod report;
mod words;

use std::sync::atomic::{AtomicUsize, Ordering};

use carat::{Error, Evaluator, TrainConfig, Trainer};
use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::{Dataset, Graph};
use carat_nn::AttentionKind;
use rayon::prelude::*;
use serde::Serialize;

pub use attention::{AttentionHistogram, AttentionOnSpurious};
pub use page::page;
pub use report::{ArmReport, Comparison, CurvePoint, DemoReport, GraphReport, RunReport};
pub use words::{HEADINGS, findings, meaning, planted_graph, rows};

/// Most seeds; every one keeps its learning curves in the report.
const MOST_SEEDS: usize = 1000;

/// Settings of [`run`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemoConfig {
    /// The graph (the generator's defaults); its seed is replaced by each seed in turn.
    pub planted: PlantedConfig,
    /// The network and its training: `train`'s defaults, except for a width of 32, which keeps the demo short. Attention
    /// kind and seed are replaced.
    pub train: TrainConfig,
    /// Attention kinds to compare (all).
    pub kinds: Vec<AttentionKind>,
    /// Number of graphs and of runs per arm, with the seeds 0, 1, ... (5).
    pub seeds: usize,
}

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            planted: PlantedConfig::default(),
            train: TrainConfig { data: "planted".into(), hidden: 32, ..TrainConfig::default() },
            kinds: AttentionKind::ALL.to_vec(),
            seeds: 5,
        }
    }
}

impl DemoConfig {
    /// Checks every value.
    pub fn check(&self) -> Result<(), Error> {
        if self.seeds == 0 || self.seeds > MOST_SEEDS {
            return Err(Error::Config(format!("seeds must be between 1 and {MOST_SEEDS}, and {} is not", self.seeds)));
        }
        if self.kinds.is_empty() {
            return Err(Error::Config("kinds is empty; name at least one attention kind".into()));
        }
        self.planted.check()?;
        self.train.check()
    }

    /// How many networks [`run`] trains.
    pub fn runs(&self) -> usize {
        (self.kinds.len() * Treatment::ALL.len()).saturating_mul(self.seeds)
    }
}

/// What is done about the spurious edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Treatment {
    /// Nothing: the network trains and is tested on the planted graph.
    Baseline,
    /// All of them are taken out before training and before testing. No method could know them; the figure tells what
    /// they cost.
    Oracle,
}

impl Treatment {
    /// Every treatment; the first is what the others are compared with.
    pub const ALL: [Self; 2] = [Self::Baseline, Self::Oracle];

    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Oracle => "oracle",
        }
    }

    /// What tables and legends say.
    pub fn label(self) -> &'static str {
        match self {
            Self::Baseline => "all edges",
            Self::Oracle => "useful edges only",
        }
    }

    fn dataset(self, graphs: &Graphs) -> &Dataset {
        match self {
            Self::Baseline => &graphs.planted,
            Self::Oracle => &graphs.useful_only,
        }
    }
}

/// One seed's data.
struct Graphs {
    planted: Dataset,
    useful_only: Dataset,
}

impl Graphs {
    fn draw(config: &DemoConfig, seed: u64) -> Result<Self, Error> {
        let planted = planted(&PlantedConfig { seed, ..config.planted.clone() })?;
        let useful_only = without_spurious(&planted)?;
        Ok(Self { planted, useful_only })
    }
}

/// The same nodes, words, labels and split with the useful edges only.
fn without_spurious(dataset: &Dataset) -> Result<Dataset, Error> {
    let truth = dataset.spurious().unwrap_or_default();
    let useful = dataset.graph().edges().zip(truth).filter(|(_, spurious)| !**spurious).map(|(edge, _)| edge);
    let (sources, targets): (Vec<u32>, Vec<u32>) = useful.unzip();
    let mut parts = dataset.clone().into_parts();
    parts.graph = Graph::from_edges(dataset.num_nodes(), &sources, &targets)?;
    parts.spurious = None;
    Ok(Dataset::new(parts)?)
}

/// Draws the graphs, trains every arm on each, in parallel, and sums up. The report depends on `config` alone.
/// `finished` is told after each of the [`DemoConfig::runs`] how many are done.
pub fn run(config: &DemoConfig, finished: &(dyn Fn(usize) + Sync)) -> Result<DemoReport, Error> {
    config.check()?;
    let graphs: Vec<Graphs> =
        (0..config.seeds as u64).map(|seed| Graphs::draw(config, seed)).collect::<Result<_, Error>>()?;
    let arms = config.kinds.iter().flat_map(|&kind| Treatment::ALL.map(|treatment| (kind, treatment)));
    let arms: Vec<(AttentionKind, Treatment)> = arms.collect();
    let done = AtomicUsize::new(0);
    let runs: Vec<(RunReport, Option<AttentionHistogram>)> = (0..config.runs())
        .into_par_iter()
        .map(|number| {
            let ((kind, treatment), seed) = (arms[number / config.seeds], number % config.seeds);
            let run = train(config, kind, treatment.dataset(&graphs[seed]), seed as u64);
            finished(done.fetch_add(1, Ordering::Relaxed) + 1);
            run
        })
        .collect::<Result<_, Error>>()?;
    let mut runs = runs.into_iter();
    let arms = arms
        .into_iter()
        .filter_map(|(kind, treatment)| ArmReport::of(kind, treatment, runs.by_ref().take(config.seeds)))
        .collect();
    Ok(DemoReport::new(config.clone(), GraphReport::of(graphs.iter().map(|graph| &graph.planted)), arms))
}

/// One run and what its attention does. Attention is measured where the run's graph has spurious edges.
fn train(
    config: &DemoConfig,
    kind: AttentionKind,
    dataset: &Dataset,
    seed: u64,
) -> Result<(RunReport, Option<AttentionHistogram>), Error> {
    let settings = TrainConfig { arch: kind, seed, ..config.train.clone() };
    let split = settings.choose_split(dataset)?;
    let mut trainer = Trainer::new(dataset, &split, &settings)?;
    let mut curve = Vec::new();
    while let Some(epoch) = trainer.epoch(&|| false)? {
        curve.push(CurvePoint::from(&epoch));
    }
    let best_epoch = trainer.best().epoch;
    let (network, _) = trainer.finish();
    let test = Evaluator::new(dataset, &split.test, settings.layers, settings.batch_size).score(&network);
    let test = test.ok_or_else(|| Error::Config("the planted graph has no test node; raise nodes".into()))?;
    let attention = attention::measure(&network, dataset, &split.test);
    let (attention, histogram) = attention.unzip();
    let run = RunReport { seed, test_loss: test.loss, test_accuracy: test.accuracy, attention, best_epoch, curve };
    Ok((run, histogram))
}

#[cfg(test)]
mod tests;
