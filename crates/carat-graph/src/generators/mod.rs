//! Generated graphs with known ground truth. The same configuration gives the same bytes on any number of threads.
//!
//! - [`planted`]: classes, useful edges and spurious edges that offer a shortcut on training nodes only.
//! - [`homophily`]: a real dataset's features on a graph of chosen homophily, after H2GCN's syn-cora.
//! - [`random`]: no structure at all, of any size, for benchmarks.
//!
//! ```
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 500, seed: 7, ..PlantedConfig::default() })?;
//! let spurious = dataset.spurious().map_or(0, |truth| truth.count());
//! assert!(spurious > 0 && spurious < dataset.graph().num_edges());
//! # Ok::<(), carat_graph::DataError>(())
//! ```

mod checks;
mod compatibility;
mod degrees;
mod homophily;
mod planted;
mod random;
mod sampling;

pub use degrees::DegreeLaw;
pub use homophily::{HomophilyConfig, homophily};
pub use planted::{PlantedConfig, planted};
pub use random::{RandomConfig, random};
