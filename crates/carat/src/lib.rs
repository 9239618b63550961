//! carat trains graph attention networks, and with causal attention regularisation (CAR) networks whose attention can
//! be trusted: during training it deletes single edges, measures how much each deletion hurts, and pulls attention
//! towards those effects.
//!
//! # A network on your own graph
//!
//! A [`Dataset`] is edges, one row of features per node, and the classes that are known. Messages flow along each
//! (source, target). Files are read by [`carat_graph::open`]; here a small graph is generated.
//!
//! ```
//! use carat::{TrainConfig, Trainer, score};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 300, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().hidden(16).heads(2).epochs(20);
//! let split = config.choose_split(&dataset)?;
//! let (network, validation) = Trainer::new(&dataset, &split, &config)?.run()?;
//! println!("validation: {validation}, test: {}", score(&network, &dataset, &split.test)?);
//! # assert!(validation.accuracy > 0.2);
//! # Ok::<(), carat::Error>(())
//! ```
//!
//! # Causal attention regularisation
//!
//! It needs one more setting, [`TrainConfig::lambda`]. Others choose how many edges are deleted in a step, how
//! effects become targets, and the controls that distinguish a causal signal from mere smoothing ([`Arm`]). This
//! example trains one epoch at a time, to see both losses.
//!
//! ```
//! use carat::{Lambda, TrainConfig, Trainer};
//! # use carat_graph::generators::{PlantedConfig, planted};
//!
//! # let dataset = planted(&PlantedConfig { nodes: 300, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().lambda(Lambda::new(1.0)).hidden(16).heads(2).epochs(5);
//! let split = config.choose_split(&dataset)?;
//! let mut trainer = Trainer::new(&dataset, &split, &config)?;
//! while let Some(epoch) = trainer.epoch(&|| false)? {
//!     println!("epoch {}: loss {:.3}, causal loss {:.3}", epoch.epoch, epoch.train_loss, epoch.causal_loss);
//! #   assert!(epoch.causal_loss > 0.0);
//! }
//! let (network, validation) = trainer.finish();
//! # assert!(validation.loss.is_finite());
//! # Ok::<(), carat::Error>(())
//! ```
//!
//! # Reading attention
//!
//! [`attention_to`] lists the in-neighbours that one node attends to, [`tables::attention`] has the attention of all
//! nodes, and [`coherence`] says how well it agrees with the labels around some nodes.
//!
//! ```
//! use carat::{Dataset, TrainConfig, Trainer, attention_to};
//!
//! let edges = [(0, 1), (1, 0), (2, 1), (2, 3), (3, 2), (0, 3)];
//! let features = [[1.0, 0.1], [0.9, 0.0], [0.1, 1.0], [0.0, 0.8]];
//! let dataset = Dataset::from_rows("tiny", &edges, &features, &[Some(0), Some(0), Some(1), Some(1)])?;
//! let config = TrainConfig::default().split_ratio(Some("0.5,0.5,0".into())).hidden(8).epochs(10);
//! let split = config.choose_split(&dataset)?;
//! let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
//! let attention = attention_to(&network, &dataset, 1)?;
//! assert_eq!(attention.iter().map(|(source, _)| *source).collect::<Vec<_>>(), [0, 2]);
//! assert!((attention[0].1 + attention[1].1 - 1.0).abs() < 1e-6);
//! # Ok::<(), carat::Error>(())
//! ```
//!
//! [`effects()`] measures the effect of every edge on the predictions, by deleting it; a [`Probe`] answers the same
//! questions for one node after another; [`mod@explain`] compares two networks edge by edge. [`explainers`] scores
//! edges by attention, gradients, learned masks and more, and says what each is worth and costs; [`mod@trust`] judges
//! attention alone.
//!
//! # Pruning
//!
//! [`rewire`] leaves out the edges with the least attention, and measures how that changes graph convolution networks.
//!
//! # More
//!
//! - [`run()`] trains into a folder that can be resumed and shared, as `carat train` does.
//! - `examples/own_graph.rs` trains on a graph from your own tables; `examples/own_attention.rs` adds an attention kind
//!   by implementing [`carat_nn::Attention`], and checks it with [`carat_nn::check`].

mod attention;
mod attention_learner;
mod batches;
pub mod bench;
pub mod car;
pub mod checkpoint;
mod class_weights;
mod config;
mod effects;
mod entity;
mod error;
mod evaluation;
pub mod explain;
pub mod explainers;
mod inputs;
mod json;
mod learner;
mod memory;
pub mod metrics;
mod model;
mod prepare;
mod probe;
mod results;
pub mod rewire;
mod run;
mod schedule;
mod selection;
pub mod settings;
mod stepper;
mod stopping;
pub mod tables;
mod threads;
mod training;
pub mod trust;
mod whole_graph_learner;

pub use attention::{attention_to, mean_attention};
pub use attention_learner::AttentionLearner;
pub use carat_graph::{Dataset, Encoding, Normalise};
pub use effects::{EdgeEffects, EffectSettings, Influence, NodeChoice, effects};
pub use entity::Task;
pub use error::Error;
pub use evaluation::{Coherence, Evaluator, Score, coherence, score};
pub use inputs::input;
pub use json::to_json;
pub use learner::{EpochLoss, Learner};
pub use memory::peak_memory_mb;
pub use model::{Model, ModelKind, training};
pub use prepare::prepare;
pub use probe::{DeletionAnswer, NodeAnswer, Probe};
pub use results::Results;
pub use run::{RunFolder, RunOptions, Summary, run};
pub use selection::Validation;
pub use settings::{
    Arm, EffectKind, EntityChoice, Exponent, Interventions, Lambda, Preset, Protocol, RegulariserSettings, Rounds,
    Setting, Target, TrainConfig,
};
pub use stopping::{Best, StepTimes, Stopping};
pub use threads::with_threads;
pub use training::{AnyTrainer, EpochMetrics, Progress, Trainer};
pub use whole_graph_learner::WholeGraphLearner;
