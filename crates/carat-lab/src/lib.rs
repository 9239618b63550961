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

pub mod compare;
pub mod demo;
pub mod figures;
pub mod page;
pub mod parallel;
pub mod report;
pub mod reproduce;
pub mod statistics;
pub mod sweep;
