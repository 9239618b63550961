//! Readers, one file per layout. Each treats every byte as hostile: it checks sizes before it allocates, and returns
//! an error that names the file, and the line where there are lines. A new layout is one new file, which declares how
//! it is recognised and read, and its line in [`LAYOUTS`].

pub mod carat;
mod csr;
pub mod folder;
pub mod geom_gcn;
mod guard;
pub mod heterophilous;
pub(crate) mod layout;
pub mod npz;
mod numbers;
pub mod ogb;
mod parquet_file;
pub mod planetoid;
pub(crate) mod rows;
pub mod syn_cora;
pub mod tudataset;

pub use layout::Layout;

/// Every layout, in the order in which a place is asked for them.
pub(crate) static LAYOUTS: [&Layout; 9] = [
    &folder::LAYOUT,
    &ogb::LAYOUT,
    &geom_gcn::LAYOUT,
    &tudataset::LAYOUT,
    &planetoid::LAYOUT,
    &carat::LAYOUT,
    &syn_cora::LAYOUT,
    &heterophilous::LAYOUT,
    &npz::LAYOUT,
];

/// Where a reader keeps the edges of a graph, during and after sorting.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EdgePlace<'a> {
    /// In memory.
    Memory,
    /// In temporary files in this folder, for edge lists larger than memory.
    Disk(&'a std::path::Path),
}
