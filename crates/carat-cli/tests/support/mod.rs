//! Running the real binary.
#![allow(dead_code, reason = "every test file takes what it needs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Where the public datasets lie, if they do; tests that need them say that they were skipped.
pub fn data_dir() -> Option<PathBuf> {
    let beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).to_path_buf();
    let found = std::env::var_os("CARAT_DATA").map(PathBuf::from).into_iter().chain([beside]).find(|d| d.is_dir());
    if found.is_none() {
        eprintln!("skipped: no data in CARAT_DATA or ../shared/data");
    }
    found
}

/// Runs `carat` with the datasets of `data_dir`.
pub fn carat(data_dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(args)
        .env("CARAT_DATA", data_dir)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Stdout of a command that must succeed.
pub fn stdout(data_dir: &Path, args: &[&str]) -> String {
    let output = carat(data_dir, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "carat {args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one JSON document that a command with `--json` prints. Anything before or after it is an error.
pub fn json(data_dir: &Path, args: &[&str]) -> Value {
    let text = stdout(data_dir, &[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("carat {args:?}: {e}\n{text}"))
}

/// Asserts the exit code and that stderr is one or two lines with every `part`, and that stdout is empty.
pub fn assert_fails(output: &Output, code: i32, parts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty());
    assert!(said.starts_with("error: ") && said.lines().count() <= 2, "{said}");
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
}
