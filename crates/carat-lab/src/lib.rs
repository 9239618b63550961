//! Experiments with carat: many runs side by side, statistics over them, and pages that show them.
//!
//! ```
//! use carat_lab::demo::{self, DemoConfig};
//! use carat_graph::generators::PlantedConfig;
//!
//! let planted = PlantedConfig { nodes: 200, ..PlantedConfig::default() };
//! let config = DemoConfig { planted, seeds: 2, ..DemoConfig::default() };
//! let report = demo::run(&config, &|_| {})?;
//! for arm in &report.arms {
//!     println!("{} {}: accuracy {:.2}", arm.arch, arm.treatment.label(), arm.test_accuracy.mean);
//! }
//! let page = demo::page(&report);
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), carat::Error>(())
//! ```
//!
//! A grid of runs on a graph of one's own, and what it comes to:
//!
//! ```
//! use std::collections::HashMap;
//! use std::path::Path;
//! use carat_graph::generators::{PlantedConfig, planted};
//! use carat_lab::sweep::{self, Grid, Store, SweepOptions};
//! use carat_lab::{report, reproduce};
//!
//! # let folder = tempfile::tempdir()?;
//! let graph = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let datasets = HashMap::from([("mine".to_string(), graph)]);
//! let grid = Grid::new().with("data", ["mine"]).with("hidden", [4]).with("lambda", [0.0, 1.0]).with("epochs", [5]);
//! let store = Store::open(&folder.path().join("runs.db"))?;
//! let options = SweepOptions { shard: (0, 1), retry_failed: false, interrupted: &|| false, on_event: &|_| {} };
//! let tally = sweep::sweep(&store, &datasets, &grid.runs()?, &options)?;
//! assert_eq!((tally.computed, tally.failed), (2, 0));
//!
//! let report = reproduce::report_of(&sweep::merge(&[store])?, Path::new("data"))?;
//! assert!(report::markdown(&report).contains("Does CAR help on mine?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod compare;
pub mod demo;
pub mod explain;
pub mod figures;
pub mod page;
pub mod parallel;
pub mod report;
pub mod reproduce;
pub mod rewiring;
pub mod statistics;
pub mod sweep;
