//! Gives the lab a name for the code that decides results: the version and a hash of the sources of the crates below.
//!
//! Stores keep results by it, so that a change to a kernel or to training is never mixed up with results from before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

const CRATES: [&str; 3] = ["carat-graph", "carat-nn", "carat"];

fn main() {
    let mut sources = BTreeMap::new();
    for name in CRATES {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut sources);
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    // Outside the workspace there are no sources beside us: the version alone says which code it is.
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let code = if sources.is_empty() { version } else { format!("{version}+{:016x}", hash(&sources)) };
    println!("cargo::rustc-env=CARAT_CODE={code}");
}

fn collect(folder: &Path, sources: &mut BTreeMap<String, Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, sources);
        } else if let Ok(bytes) = std::fs::read(&path) {
            // The same name on every system.
            sources.insert(path.display().to_string().replace('\\', "/"), bytes);
        }
    }
}

/// Not for safety, only for telling versions apart; std's hash with fixed keys is the same for one compiler, and
/// another compiler may compute other bits anyway.
fn hash(sources: &BTreeMap<String, Vec<u8>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    hasher.finish()
}
