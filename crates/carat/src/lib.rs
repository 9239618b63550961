//! carat trains graph attention networks.
//!
//! ```
//! use carat::{TrainConfig, Trainer};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 300, ..PlantedConfig::default() })?;
//! let config = TrainConfig { hidden: 16, heads: 2, epochs: 5, ..TrainConfig::default() };
//! let split = config.choose_split(&dataset)?;
//! let mut trainer = Trainer::new(&dataset, &split, &config)?;
//! while let Some(epoch) = trainer.epoch(&|| false)? {
//!     println!("epoch {}: validation loss {:.3}", epoch.epoch, epoch.val_loss);
//! }
//! let (network, validation) = trainer.finish();
//! assert!(validation.accuracy > 0.0);
//! # Ok::<(), carat::Error>(())
//! ```

mod batches;
pub mod bench;
pub mod car;
pub mod checkpoint;
mod config;
mod error;
mod evaluation;
mod learner;
mod memory;
mod run;
pub mod tables;
mod threads;
mod training;
mod words;

pub use car::settings::{Arm, CarConfig, EntityChoice, Exponent, Interventions, Lambda, Rounds, Target};
pub use config::{Protocol, TrainConfig};
pub use error::Error;
pub use evaluation::{Coherence, Evaluator, Score, coherence};
pub use memory::peak_memory_mb;
pub use run::{RunFolder, RunOptions, Summary, run};
pub use threads::with_threads;
pub use training::{Best, EpochMetrics, Progress, Trainer};
