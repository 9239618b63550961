//! Experiments with carat: grids of runs, kept in a store, comparisons of paired runs, and searches for settings.
//!
//! Does CAR help on your own graph?
//!
//! ```
//! use std::collections::HashMap;
//! use carat_graph::generators::{PlantedConfig, planted};
//! use carat_lab::sections;
//! use carat_lab::sweep::{self, Grid, Store, SweepOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! let graph = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let datasets = HashMap::from([("mine".to_string(), graph)]);
//! let grid = Grid::new().with("data", ["mine"]).with("hidden", [4]).with("lambda", [0.0, 1.0]).with("epochs", [5]);
//! let store = Store::open(&folder.path().join("runs.db"))?;
//! let options = SweepOptions {
//!     shard: (0, 1),
//!     retry_failed: false,
//!     deadline: None,
//!     interrupted: &|| false,
//!     on_event: &|_| {},
//! };
//! let tally = sweep::sweep(&store, &datasets, &grid.runs()?, &options)?;
//! assert_eq!((tally.computed, tally.failed), (2, 0));
//!
//! let answers = sections::verdict(&sweep::merge(&[store])?.runs);
//! assert_eq!(answers[0].title, "Does CAR help on mine?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod compare;
pub mod parallel;
pub mod sections;
mod settings_file;
mod spurious;
pub mod sweep;
pub mod tune;

pub use spurious::{AttentionOnSpurious, attention_on_spurious};
