//! Trust: may the attention of a network be read as an explanation?
//!
//! An attention coefficient is trustworthy if it tells what the edge does, and what an edge does can be measured
//! exactly, by deleting it. [`trust`] compares the two in several ways:
//!
//! - [`Faithfulness`]: the correlation of attention with the log-likelihood that each edge gives, to the true class or
//!   to the predicted one. The second needs no labels.
//! - [`Curve`]: what becomes of predictions while edges are deleted, the most attended first, the least attended first,
//!   by chance, and in the best order; and [`Fidelity`], two points of these.
//! - [`Planted`]: on generated data, whether attention finds the edges that matter.
//! - [`Verdict`]: the answer in a sentence.
//!
//! All of them take any scores, so other explanations are measured on the same scale ([`Observed`]).
//!
//! ```
//! use std::ops::ControlFlow;
//! use carat::trust::{TrustSettings, trust};
//! use carat::{TrainConfig, Trainer};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().hidden(8).epochs(5);
//! let split = config.choose_split(&dataset)?;
//! let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
//!
//! let settings = TrustSettings::from(&config);
//! let (found, _) = trust(&network, &dataset, &split.test, &settings, &mut |_, _| ControlFlow::Continue(()))?;
//! println!("{}. {}", found.verdict.title(), found.sentence());
//! # assert!(found.mean().self_faithfulness.pearson.is_some() && found.planted.is_some());
//! # Ok::<(), carat::Error>(())
//! ```

mod correlation;
mod curves;
mod faithfulness;
mod nodes;
mod observed;
mod of_run;
mod planted;
mod verdict;

use std::fmt;
use std::ops::ControlFlow;

use carat_graph::Dataset;
use carat_nn::Network;
use serde::{Serialize, Serializer};

pub use curves::{Curve, Fidelity, Order, SHARES, best_order, deletion_curves};
pub use faithfulness::{Faithfulness, Of};
pub use nodes::JudgedEntity;
pub use observed::{Observed, Reading};
pub(crate) use of_run::of_run;
pub use planted::Planted;
pub use verdict::Verdict;

use crate::{EffectSettings, Error, Task, TrainConfig};

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustSettings {
    /// How losses become effects, and how many entities are computed together.
    pub effects: EffectSettings,
    /// Most entities whose edges are deleted for curves.
    pub curve_entities: usize,
    /// Seeds the draw of these and of the random order.
    pub seed: u64,
}

impl From<&TrainConfig> for TrustSettings {
    fn from(config: &TrainConfig) -> Self {
        Self { effects: EffectSettings::from(config), curve_entities: 1000, seed: 0 }
    }
}

/// How far one reading of attention can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReadingTrust {
    /// Which attention.
    pub reading: Reading,
    /// Agreement with what edges do to the true class.
    pub faithfulness: Faithfulness,
    /// Agreement with what edges do to the predicted class.
    pub self_faithfulness: Faithfulness,
    /// Whether it finds planted edges, where the data has some.
    pub planted: Option<Planted>,
}

/// The curves of attention and of what it is compared with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// The most attended edges first.
    pub highest: Curve,
    /// The least attended first.
    pub lowest: Curve,
    /// By chance.
    pub random: Curve,
    /// By what they do to the prediction: nearly the best.
    pub best: Curve,
}

/// The answer for a network on some nodes, or graphs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trust {
    /// What is classified.
    #[serde(serialize_with = "as_text")]
    pub task: Task,
    /// The answer.
    pub verdict: Verdict,
    /// Nodes, or graphs, that have edges.
    pub entities: usize,
    /// Their edges.
    pub edges: usize,
    /// Attention averaged over layers and heads, then of every layer, then of every head.
    pub readings: Vec<ReadingTrust>,
    /// What becomes of predictions while edges are deleted.
    pub curves: Curves,
    /// Entities that the curves are over.
    pub curve_entities: usize,
    /// The area between the curves of a random order and of attention.
    pub deletion_area: f64,
    /// The same of the best order.
    pub best_area: f64,
    /// How needed and how sufficient the most attended edges are.
    pub fidelity: Fidelity,
    /// How well the exact effects find planted edges, where the data has some.
    pub planted: Option<Planted>,
}

impl Trust {
    /// Of attention averaged over layers and heads.
    pub fn mean(&self) -> &ReadingTrust {
        &self.readings[0]
    }

    /// Of the last layer's attention, averaged over heads.
    pub fn last(&self) -> &ReadingTrust {
        let mut layers = self.readings.iter().filter(|found| matches!(found.reading, Reading::Layer(_)));
        layers.next_back().unwrap_or(&self.readings[0])
    }

    /// The deletion area as a share of the best; `None` where no order changes much.
    pub fn share_of_best(&self) -> Option<f64> {
        (self.best_area > 1e-3).then(|| self.deletion_area / self.best_area)
    }

    /// Node or graph.
    pub fn entity_word(&self) -> &'static str {
        match self.task {
            Task::Node => "node",
            Task::Graph => "graph",
        }
    }
}

/// Measures how far the attention of a network can be trusted over the edges of some nodes, or of some graphs. Returns
/// what every edge does, too.
///
/// `progress` gets the number of edges, then of entities for curves, done and in all; if it breaks, the work ends with
/// [`Error::Interrupted`].
pub fn trust(
    network: &Network<f32>,
    dataset: &Dataset,
    entities: &[u32],
    settings: &TrustSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<(Trust, Observed), Error> {
    let observed = Observed::of(network, dataset, entities, &settings.effects, progress)?;
    let matters = observed.planted(dataset);
    let of_reading = |reading: Reading| {
        let scores = observed.read(reading);
        ReadingTrust {
            reading,
            faithfulness: observed.faithfulness(&scores, Of::Label),
            self_faithfulness: observed.faithfulness(&scores, Of::Prediction),
            planted: matters.as_ref().and_then(|matters| observed.planted_auc(&scores, matters)),
        }
    };
    let readings: Vec<ReadingTrust> = observed.readings().into_iter().map(of_reading).collect();
    let attention = observed.read(Reading::Mean);
    let orders = [Order::Highest(&attention), Order::Lowest(&attention), Order::Random, best_order(&observed)];
    let (most, batch_size) = ((settings.curve_entities, settings.seed), settings.effects.batch_size);
    let (curves, curve_entities) = deletion_curves(network, dataset, &observed, &orders, most, batch_size, progress)?;
    let Ok([highest, lowest, random, best]) = <[Curve; 4]>::try_from(curves) else {
        unreachable!("as many curves as orders")
    };
    let (deletion_area, best_area) = (random.area_above(&highest), random.area_above(&best));
    let mut found = Trust {
        task: observed.task,
        verdict: Verdict::Unknown,
        entities: observed.entities.len(),
        edges: observed.num_edges(),
        readings,
        fidelity: Fidelity::of(&highest, &lowest),
        curves: Curves { highest, lowest, random, best },
        curve_entities,
        deletion_area,
        best_area,
        planted: matters.and_then(|matters| observed.planted_auc(observed.deltas(Of::Prediction), &matters)),
    };
    let mean = found.mean().self_faithfulness;
    found.verdict = Verdict::of(mean.pearson, mean.entities, found.share_of_best());
    Ok((found, observed))
}

impl Observed {
    /// Every reading of attention: the mean, every layer, and every head where layers have several.
    pub fn readings(&self) -> Vec<Reading> {
        let layers = (0..self.layers).map(Reading::Layer);
        let heads = (0..self.layers).flat_map(|layer| (0..self.heads).map(move |head| Reading::Head(layer, head)));
        let heads = heads.filter(|_| self.heads > 1);
        std::iter::once(Reading::Mean).chain(layers).chain(heads).collect()
    }
}

impl fmt::Display for Reading {
    /// Layers and heads are counted from 1, as users do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean of layers and heads"),
            Self::Layer(layer) => write!(f, "layer {}", layer + 1),
            Self::Head(layer, head) => write!(f, "layer {}, head {}", layer + 1, head + 1),
        }
    }
}

impl Serialize for Reading {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn as_text<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(task)
}

#[cfg(test)]
mod tests;
