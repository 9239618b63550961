//! The demo: does causal attention regularisation turn attention away from spurious edges? It uses graphs whose
//! spurious edges are known.
//!
//! Every seed draws a planted graph ([`carat_graph::generators::planted`]) at several strengths of the shortcut that
//! its spurious edges offer. On each graph every attention kind is trained once per [`Treatment`]. Runs of one seed,
//! strength and kind share the graph, the split, the initial weights and the batches, so they pair, and each of the
//! [`MEASURES`] is compared pair by pair. A new treatment is one more variant and a new measure one more entry of the
//! list; tables, figures and sentences follow.

mod chart;
mod measure;
mod page;
mod report;
mod sentences;
mod tables;
mod treatment;

use std::sync::atomic::{AtomicUsize, Ordering};

use carat::{Error, Lambda, TrainConfig, Trainer};
use carat_graph::Dataset;
use carat_graph::generators::{PlantedConfig, planted};
use carat_lab::attention_on_spurious;
use carat_lab::parallel::in_parallel;
use carat_lab::sweep::{Outcome, Run};
use carat_nn::AttentionKind;
use serde::Serialize;

pub use measure::MEASURES;
pub use page::page;
pub use report::{ArmReport, CaseReport, DemoReport, GraphReport, Verdict};
pub use sentences::{ATTENTION, FAITHFULNESS, conclusion, cost, planted_graph, statistics, treatments};
pub use tables::{measured, summary};
pub use treatment::Treatment;

/// The most seeds. The report keeps the runs of every seed.
const MOST_SEEDS: usize = 1000;

/// Settings of [`run`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemoConfig {
    /// The graph (the generator's defaults); its seed and its shortcut are replaced.
    pub planted: PlantedConfig,
    /// The strengths of the shortcut (0.2, 0.5, 0.8). Below about 0.5, effects measured on training nodes distinguish
    /// useful from spurious edges. Above, they confuse the two; the generator's file has the figures.
    pub shortcuts: Vec<f64>,
    /// The network and its training: `train`'s defaults with a width of 32 and one head, which keep the demo short.
    /// Treatments replace the attention kind, the seed and some settings of the regulariser. Its lambda, the strength
    /// of every regulariser, is 5: of the paper's 0.1, 0.5, 1 and 5 the one with the lowest mean validation loss on
    /// other graphs (seeds 1000 to 1003 at the default strengths, mean over kinds), for CAR and for its control alike.
    pub train: TrainConfig,
    /// Attention kinds to compare (all).
    pub kinds: Vec<AttentionKind>,
    /// Whether to train CAR at every node and its control too (no). It takes about five times as long as CAR.
    pub every_node: bool,
    /// The first seed (0).
    pub first_seed: u64,
    /// Number of graphs at each strength, and of runs per arm (8).
    pub seeds: usize,
}

impl Default for DemoConfig {
    fn default() -> Self {
        let train = TrainConfig::default().data("planted".into()).hidden(32).heads(1);
        Self {
            planted: PlantedConfig::default(),
            shortcuts: vec![0.2, 0.5, 0.8],
            train: train.lambda(Lambda::new(5.0)),
            kinds: AttentionKind::ALL.to_vec(),
            every_node: false,
            first_seed: 0,
            seeds: 8,
        }
    }
}

/// One attention kind under one treatment, on graphs of one strength of the shortcut.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Setting {
    shortcut: Option<f64>,
    kind: AttentionKind,
    treatment: Treatment,
}

impl DemoConfig {
    /// Checks every value.
    pub fn check(&self) -> Result<(), Error> {
        if self.seeds == 0 || self.seeds > MOST_SEEDS {
            return Err(Error::Config(format!("seeds must be between 1 and {MOST_SEEDS}, and {} is not", self.seeds)));
        }
        for (name, empty) in [("kinds", self.kinds.is_empty()), ("shortcuts", self.shortcuts.is_empty())] {
            if empty {
                return Err(Error::Config(format!("{name} is empty; name at least one")));
            }
        }
        for &shortcut in &self.shortcuts {
            PlantedConfig { shortcut, ..self.planted.clone() }.check()?;
        }
        self.train.check()?;
        if self.train.regulariser.lambda.is_zero() {
            return Err(Error::Config(
                "lambda must be above 0, or there is nothing to compare with the baseline".into(),
            ));
        }
        Ok(())
    }

    /// The number of networks that [`run`] trains.
    pub fn runs(&self) -> usize {
        self.settings().len().saturating_mul(self.seeds)
    }

    /// The treatments, in the order of tables.
    pub fn treatments(&self) -> impl Iterator<Item = Treatment> {
        let every_node = [Treatment::EveryNode, Treatment::EveryNodeControl];
        Treatment::ALL.into_iter().filter(move |treatment| self.every_node || !every_node.contains(treatment))
    }

    /// Every arm, sorted by strength and kind. Arms whose graph has no spurious edges, and so no shortcut, come last.
    fn settings(&self) -> Vec<Setting> {
        let shortcuts = self.shortcuts.iter().copied().map(Some).chain([None]);
        let cells = shortcuts.flat_map(|shortcut| self.kinds.iter().map(move |&kind| (shortcut, kind)));
        let arms = cells.flat_map(|(shortcut, kind)| {
            let treatments = self.treatments().filter(move |t| t.has_spurious_edges() == shortcut.is_some());
            treatments.map(move |treatment| Setting { shortcut, kind, treatment })
        });
        arms.collect()
    }

    /// The graph of one seed. Without a shortcut it has the useful edges of the first strength; these edges are the
    /// same for all strengths.
    fn graph(&self, shortcut: Option<f64>, seed: u64) -> Result<Dataset, Error> {
        let any = self.shortcuts.first().copied().unwrap_or(self.planted.shortcut);
        let config = PlantedConfig { seed, shortcut: shortcut.unwrap_or(any), ..self.planted.clone() };
        let dataset = planted(&config)?;
        if shortcut.is_some() { Ok(dataset) } else { without_spurious(&dataset) }
    }
}

/// The same nodes, features, labels and split with only the useful edges.
fn without_spurious(dataset: &Dataset) -> Result<Dataset, Error> {
    let truth = dataset.spurious().cloned().unwrap_or_default();
    let useful: Vec<bool> = truth.iter().map(|spurious| !spurious).collect();
    let mut parts = dataset.with_edges(&useful)?.into_parts();
    parts.spurious = None;
    Ok(Dataset::new(parts)?)
}

/// Draws the graphs, trains every arm on each of them in parallel, and reports the results, which depend only on
/// `config`. `finished` is called with the number of finished runs after each of the [`DemoConfig::runs`].
pub fn run(config: &DemoConfig, finished: &(dyn Fn(usize) + Sync)) -> Result<DemoReport, Error> {
    config.check()?;
    let first = config.graph(config.shortcuts.first().copied(), config.first_seed)?;
    let settings = config.settings();
    let done = AtomicUsize::new(0);
    let runs = in_parallel(config.runs(), |number| {
        let setting = settings[number / config.seeds];
        let seed = config.first_seed.wrapping_add((number % config.seeds) as u64);
        let run = train(config, setting, seed)?;
        finished(done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(run)
    })?;
    let mut runs = runs.into_iter();
    let arms = settings
        .into_iter()
        .filter_map(|setting| ArmReport::of(setting, runs.by_ref().take(config.seeds).collect()))
        .collect();
    Ok(DemoReport::new(config.clone(), GraphReport::of(&first), arms))
}

/// Trains one run, and measures its attention.
fn train(config: &DemoConfig, setting: Setting, seed: u64) -> Result<Run, Error> {
    let dataset = config.graph(setting.shortcut, seed)?;
    let settings = setting.treatment.settings(&config.train).arch(setting.kind).seed(seed);
    let split = settings.choose_split(&dataset)?;
    let mut trainer = Trainer::new(&dataset, &split, &settings)?;
    while trainer.epoch(&|| false)?.is_some() {}
    let (epochs, best_epoch) = (trainer.epochs(), trainer.best().epoch);
    let results = trainer.results(settings.stopping.protocol)?;
    if results.test.is_none() {
        return Err(Error::Config("the planted graph has no test node; raise nodes".into()));
    }
    let (network, _) = trainer.finish();
    let outcome = Outcome {
        figures: results.figures,
        spurious: attention_on_spurious(&network, &dataset, &split.test)?,
        epochs,
        kept_epoch: best_epoch,
        // Not timed, because the report depends only on the settings.
        train_seconds: 0.0,
    };
    Ok(Run { config: settings, outcome })
}

#[cfg(test)]
mod tests;
