//! Where the real datasets lie, for tests that read them.

pub mod any_dataset;
pub mod damage;
pub mod server;

use std::path::PathBuf;

/// The data folder: `CARAT_DATA`, else `../shared/data` beside the workspace. `None`, and a word on it, without one.
pub fn data_dir() -> Option<PathBuf> {
    let folder = std::env::var_os("CARAT_DATA")
        .map_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into(), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there is no data folder {}; set CARAT_DATA", folder.display());
    None
}
