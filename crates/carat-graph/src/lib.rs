//! Graphs, features, splits and the files they come from.
//!
//! Everything that reaches a network passes through [`Dataset`], which is checked once, when it is made: every edge
//! joins nodes that exist, every feature is finite, every label names a class. All other code relies on it. The
//! exception is the features of a mapped `.carat` file, which may be larger than memory: [`Features::check_rows`]
//! checks the rows that are about to be used.
//!
//! ```
//! use carat_graph::{Dataset, DatasetParts, Features, Graph, Labels};
//!
//! // Messages flow from the first list to the second: 0 -> 1, 2 -> 1, 1 -> 0.
//! let graph = Graph::from_edges(3, &[0, 2, 1], &[1, 1, 0])?;
//! assert_eq!(graph.in_neighbours(1), &[0, 2]);
//!
//! let features = Features::dense(3, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])?;
//! let labels = Labels::new(vec![Some(0), Some(1), None], 2)?;
//! let dataset = Dataset::new(DatasetParts::new("tiny", graph, features, labels))?;
//! assert_eq!(dataset.num_nodes(), 3);
//! # Ok::<(), carat_graph::DataError>(())
//! ```

mod blocks;
mod carat_file;
pub mod catalogue;
mod data_dir;
mod dataset;
mod dates;
pub mod download;
mod edge_features;
mod edge_sorter;
mod encoding;
mod error;
mod features;
mod file_order;
pub mod files;
mod flags;
pub mod generators;
mod graph;
mod labels;
pub mod link;
mod npy;
mod open;
mod pickle;
mod raw_table;
mod reach;
pub mod readers;
mod splits;
mod storage;
pub mod table;
pub mod writers;

pub use blocks::{Block, BlockBuilder, Blocks};
pub use data_dir::data_dir;
pub use dataset::{Dataset, DatasetParts, GraphSet};
pub use edge_features::EdgeFeatures;
pub use encoding::{ColumnEncoding, ColumnKind, Encoding, MOST_CATEGORIES, Normalise, Scale};
pub use error::{DataError, Place, printable};
pub use features::{CsrMatrix, Features};
pub use file_order::FileOrder;
pub use flags::Flags;
pub use graph::{EdgeList, Graph};
pub use labels::Labels;
pub use open::{is_folder_of_tables, open, open_entry, open_on_disk, open_verified};
pub use raw_table::{RawColumn, RawTable, RawValues};
pub use reach::Reach;
pub use splits::{Split, SplitRatio};
pub use storage::Storage;
