//! Names the code that decides results: the crate's version, and a hash of the sources that compute them and of the
//! lock file.
//!
//! The name is part of every key in a store, so results from before a change to a kernel, to training or to sweeps are
//! never mixed with later ones.

use std::collections::BTreeMap;
use std::path::Path;

#[path = "build/fingerprint.rs"]
mod fingerprint;

/// The files and folders that decide a result, relative to this crate's folder: data and its readers, networks,
/// training, sweeps, and attention on spurious edges, which is ranked by `statistics::area_under_curve`.
const SOURCES: [&str; 9] = [
    "../carat-graph/src",
    "../carat-nn/src",
    "../carat/src",
    "src/sweep.rs",
    "src/sweep",
    "src/parallel.rs",
    "src/spurious.rs",
    "../carat-report/src/statistics.rs",
    "../../Cargo.lock",
];

fn main() {
    let mut files = BTreeMap::new();
    for name in SOURCES {
        println!("cargo::rerun-if-changed={name}");
        collect(Path::new(name), &mut files);
    }
    println!("cargo::rerun-if-changed=build");
    // A crate outside the workspace has no sources beside it, so only its version names the code.
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_workspace = files.keys().any(|name| name.starts_with("../carat/"));
    let code = if is_workspace { format!("{version}+{:016x}", fingerprint::fingerprint(&files)) } else { version };
    println!("cargo::rustc-env=CARAT_CODE={code}");
}

fn collect(path: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.for_each(|entry| collect(&entry.path(), files));
    } else if let Ok(bytes) = std::fs::read(path) {
        // The same name and text on every system.
        let name = path.display().to_string().replace('\\', "/");
        files.insert(name, bytes.into_iter().filter(|byte| *byte != b'\r').collect());
    }
}
