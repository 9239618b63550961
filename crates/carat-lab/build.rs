//! Gives the lab a name for the code that decides results: the version and a hash of the sources that compute them and
//! of the versions of all crates they use.
//!
//! Stores keep results by it, so that a change to a kernel, to training or to sweeps is never mixed up with results
//! from before.

use std::collections::BTreeMap;
use std::path::Path;

#[path = "build/fingerprint.rs"]
mod fingerprint;

/// Files and folders, from this crate's.
const SOURCES: [&str; 7] = [
    "../carat-graph/src",
    "../carat-nn/src",
    "../carat/src",
    "src/sweep.rs",
    "src/sweep",
    "src/spurious.rs",
    "../../Cargo.lock",
];

fn main() {
    let mut files = BTreeMap::new();
    for name in SOURCES {
        println!("cargo::rerun-if-changed={name}");
        collect(Path::new(name), &mut files);
    }
    println!("cargo::rerun-if-changed=build");
    // Outside the workspace there are no sources beside us: the version alone says which code it is.
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
