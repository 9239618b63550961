//! Generated graphs with known ground truth. The same configuration gives the same bytes on any number of threads.
//!
//! - [`planted`]: classes, useful edges and spurious edges that offer a shortcut on training nodes only.
//! - [`homophily`]: a real dataset's features on a graph of chosen homophily, after H2GCN's syn-cora.
//! - [`random`]: no structure at all, of any size, for benchmarks.
//! - [`ba_shapes`], [`ba_community`], [`tree_cycles`], [`tree_grid`]: motifs on a base, where a node's class is its
//!   place in a motif; after GNNExplainer.
//! - [`infection`]: a node's class is the length of the shortest path from an infected node.
//! - [`spurious_motif`]: a set of graphs whose class is a motif, on bases that go with it in training only; after DIR.
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
mod degree_features;
mod degrees;
mod draft;
mod homophily;
mod infection;
mod motifs;
mod planted;
mod random;
mod sampling;
mod spurious_motif;

pub use degrees::DegreeLaw;
pub use homophily::{HomophilyConfig, homophily};
pub use infection::{InfectionConfig, infection};
pub use motifs::{
    BaCommunityConfig, BaShapesConfig, MotifConfig, TreeConfig, ba_community, ba_shapes, tree_cycles, tree_grid,
};
pub use planted::{PlantedConfig, planted};
pub use random::{RandomConfig, random};
pub use spurious_motif::{SpuriousMotifConfig, spurious_motif};
