//! Readers, one file per layout. Each treats every byte as hostile: it checks sizes before it allocates, and returns
//! an error that names the file, and the line where there are lines. A new layout is one new file and one line here.

mod csr;
pub mod geom_gcn;
pub mod npz;
pub mod planetoid;
pub mod syn_cora;
