//! Writers, one file per layout. Each output appears whole or not at all.

pub mod carat;
pub mod folder;
pub mod npz;
