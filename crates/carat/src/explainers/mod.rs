//! Explainers: ways to say which edges a prediction rests on, on one scale.
//!
//! An explainer gives every edge of a node, or of a graph, a score. [`scores`] computes those of one [`Method`];
//! [`compare`] judges several by the measures of [`mod@crate::trust`], and says what each costs.
//!
//! | method | score of an edge |
//! |---|---|
//! | `attention` | attention, the mean over layers and heads |
//! | `last-attention` | attention in the last layer, the mean over heads |
//! | `gatt` | attention led back through the layers, over all paths to the node |
//! | `gradient` | gradient of log p times the edge's gate, which is open |
//! | `integrated-gradients` | the mean of that gradient while all gates open |
//! | `gnn-explainer` | a gate that was learned to be small where the prediction does not need it |
//! | `random` | a seeded draw |
//! | `effect` | the exact change of log p when the edge is deleted |
//!
//! All of them explain the class that the network predicts. Each entity is explained by itself, from its receptive
//! field alone, as if it were the only question.
//!
//! ```
//! use std::ops::ControlFlow;
//! use carat::explainers::{ExplainerSettings, Method, compare};
//! use carat::{TrainConfig, Trainer};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().hidden(8).epochs(5);
//! let split = config.choose_split(&dataset)?;
//! let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
//!
//! let methods = [Method::Attention, Method::Gradient, Method::Effect];
//! let settings = ExplainerSettings::from(&config);
//! let go_on = &mut |_: &str, _, _| ControlFlow::Continue(());
//! let (found, _) = compare(&network, &dataset, &split.test[..20], &methods, &settings, go_on)?;
//! for explained in &found.methods {
//!     println!("{}: {:.2} ms per node", explained.method, explained.milliseconds);
//! }
//! # assert!(found.methods[2].self_faithfulness.pearson.unwrap() > 0.99);
//! # Ok::<(), carat::Error>(())
//! ```

mod attention;
mod case;
mod comparison;
mod effect;
mod gatt;
mod gnn_explainer;
mod gradient;
mod integrated_gradients;
mod random;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use carat_graph::Dataset;
use carat_nn::{GatedNetwork, Network, Workspace, words};
use rayon::prelude::*;

pub use comparison::{Comparison, Explained, Explanations, compare};
pub use gnn_explainer::GnnExplainer;
pub use integrated_gradients::integrated_gradients;

use crate::effects::measured;
use crate::entity::EntityBlocks;
use crate::inputs::check_inputs;
use crate::{EffectSettings, Error, Task, TrainConfig};
use case::Case;

words! {
    /// A way to explain predictions by edges.
    pub enum Method, "a method" {
        /// Attention, averaged over layers and heads.
        #[default]
        Attention = "attention",
        /// Attention in the last layer, averaged over heads.
        LastAttention = "last-attention",
        /// Attention led back through the layers (GAtt).
        Gatt = "gatt",
        /// Gradient times input, on gates of edges.
        Gradient = "gradient",
        /// The same gradient, averaged while all gates open.
        IntegratedGradients = "integrated-gradients",
        /// A learned mask.
        GnnExplainer = "gnn-explainer",
        /// A draw.
        Random = "random",
        /// Deletion of the edge.
        Effect = "effect",
    }
}

impl Method {
    /// Whether it multiplies messages by gates.
    fn needs_gates(self) -> bool {
        matches!(self, Self::Gradient | Self::IntegratedGradients | Self::GnnExplainer)
    }

    /// Scores of the case's own edges.
    fn scores(
        self,
        case: &Case<'_>,
        settings: &ExplainerSettings,
        work: &mut Workspace<f32>,
    ) -> Result<Vec<f64>, Error> {
        match self {
            Self::Attention => attention::scores(case, 0, work),
            Self::LastAttention => attention::scores(case, case.network.config().layers - 1, work),
            Self::Gatt => gatt::scores(case, work),
            Self::Gradient => gradient::scores(case, work),
            Self::IntegratedGradients => integrated_gradients::scores(case, settings.steps, work),
            Self::GnnExplainer => settings.gnn_explainer.scores(case, settings.seed, work),
            Self::Random => Ok(random::scores(case, settings.seed)),
            Self::Effect => effect::scores(case, &settings.effects, work),
        }
    }
}

/// How explainers work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExplainerSettings {
    /// Steps of integrated gradients.
    pub steps: usize,
    /// How GNNExplainer learns.
    pub gnn_explainer: GnnExplainer,
    /// Seeds what is drawn: random scores, and the masks that GNNExplainer starts from.
    pub seed: u64,
    /// How effects are measured.
    pub effects: EffectSettings,
}

impl From<&TrainConfig> for ExplainerSettings {
    fn from(config: &TrainConfig) -> Self {
        let effects = EffectSettings::from(config);
        Self { steps: 20, gnn_explainer: GnnExplainer::default(), seed: 0, effects }
    }
}

impl ExplainerSettings {
    /// Refuses invalid values.
    fn check(&self) -> Result<(), Error> {
        if self.steps == 0 || self.gnn_explainer.epochs == 0 {
            return Err(Error::Config("explainers need at least one step and one epoch".into()));
        }
        self.effects.check()
    }
}

/// Entities that a thread explains between two calls of `progress`.
const PER_THREAD: usize = 4;

/// The scores that one method gives the in-edges of some nodes, or the edges of some graphs of a set: one entity after
/// another, ascending, and of each in the order of their ids, as [`crate::effects()`] lists them. The same for any
/// number of threads.
///
/// `progress` gets the number of entities done and in all. If it breaks, the work ends with [`Error::Interrupted`].
pub fn scores(
    network: &Network<f32>,
    dataset: &Dataset,
    entities: &[u32],
    method: Method,
    settings: &ExplainerSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Vec<f64>, Error> {
    settings.check()?;
    check_inputs(network.config(), dataset)?;
    let entities = measured(dataset, entities, &settings.effects)?;
    let gated = match method.needs_gates() {
        false => None,
        true => Some(GatedNetwork::new(network).ok_or_else(|| own_attention(method))?),
    };
    // Threads lend each other what they have no use for.
    let idle = Mutex::new(Vec::new());
    let explained = |&entity: &u32| {
        let lent = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (mut builder, mut work) =
            lent.unwrap_or_else(|| (EntityBlocks::new(dataset, Task::of(dataset)), Workspace::default()));
        let case = Case::new(network, gated.as_ref(), dataset, entity, &mut builder)?;
        let scores = method.scores(&case, settings, &mut work);
        idle.lock().unwrap_or_else(PoisonError::into_inner).push((builder, work));
        scores
    };
    let mut scores = Vec::new();
    let mut done = 0;
    for entities_now in entities.chunks(PER_THREAD * rayon::current_num_threads()) {
        let found: Vec<Result<Vec<f64>, Error>> = entities_now.par_iter().map(explained).collect();
        for found in found {
            scores.extend(found?);
        }
        done += entities_now.len();
        if progress(done, entities.len()).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(scores)
}

fn own_attention(method: Method) -> Error {
    Error::Config(format!(
        "{method} multiplies messages by gates, which attention of one's own does not know; choose attention, gatt, \
         random or effect"
    ))
}

#[cfg(test)]
mod tests;
