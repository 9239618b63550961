//! Pruning a graph by attention, and what that does to graph convolution networks.
//!
//! ```text
//! score of edge (i, j)   its attention, mean over layers and heads
//! pruned at t            the graph without the edges whose score is below t
//! curve                  test accuracy of GCNs that are trained and tested on the pruned graph, against t
//! area                   what lies below the curve and above the accuracy of GCNs on the whole graph
//! ```
//!
//! A GCN weighs all in-neighbours alike. If attention finds the useful edges, leaving out the others should help; and
//! if attention is the cause, leaving out as many edges at random should not.
//!
//! ```
//! use carat::rewire::{Guide, RewireConfig, Study};
//! use carat::{TrainConfig, Trainer, mean_attention};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().hidden(8).heads(1).layers(1).epochs(5);
//! let split = config.choose_split(&dataset)?;
//! let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
//! let guide = Guide { name: "gat".into(), scores: mean_attention(&network, &dataset, 1000)? };
//!
//! let gcn = RewireConfig::gcn(&config);
//! let settings = RewireConfig { thresholds: vec![0.0, 0.3], trials: 1, splits: vec![0], gcn };
//! let study = Study::new(&dataset, vec![guide], settings)?;
//! let trainings = 0..study.trainings();
//! let accuracies = trainings.map(|number| study.train(number, &|| false)).collect::<Result<Vec<_>, _>>()?;
//! let curves = study.curves(&accuracies);
//! println!("area of the gat: {:.4}, at random: {:.4}", curves.area_above(0), curves.area_above(1));
//! # assert_eq!(curves.curves.len(), 2);
//! # Ok::<(), carat::Error>(())
//! ```

mod area;
mod curves;
mod prune;
mod study;

pub use area::{area_above, area_between};
pub use curves::{Curve, CurvePoint, Curves};
pub use prune::{Pruning, above, at_random, check_threshold, scores};
pub use study::{Guide, RewireConfig, Study};

/// The thresholds of the paper's figure. At the last no edge is left.
pub const THRESHOLDS: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01];
