//! Recomputes the paper's tables and figures ([`reproduce`]), and a demo on graphs whose spurious edges are known
//! ([`demo`]).
//!
//! ```
//! use carat_paper::demo::{self, DemoConfig};
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
//! The report on any store:
//!
//! ```
//! use std::path::Path;
//! use carat_lab::sweep::{Store, merge};
//! use carat_paper::reproduce;
//!
//! # let folder = tempfile::tempdir()?;
//! let store = Store::open(&folder.path().join("runs.db"))?;
//! let report = reproduce::report_of(&merge(&[store])?, Path::new("data"))?;
//! assert!(carat_report::html(&report).starts_with("<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod demo;
pub mod reproduce;
