//! Running the real binary.

pub mod browser;
pub mod csv;
pub mod hostile;
pub mod samples;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

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

/// The same arguments, with the paper's settings for a new run that names no others. Tests were written for those.
pub fn as_in_paper<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let at = match args {
        ["train", ..] => 1,
        ["bench", "step", ..] => 2,
        _ => return args.to_vec(),
    };
    if args.iter().any(|arg| ["--preset", "--config", "--resume"].contains(arg)) {
        return args.to_vec();
    }
    [&args[..at], &["--preset", "paper"], &args[at..]].concat()
}

/// Runs `carat` with the datasets of `data_dir`.
pub fn carat(data_dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(as_in_paper(args))
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

/// A folder with a generated graph of this many nodes in it, and the graph's path.
pub fn workshop(nodes: usize) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph.npz").display().to_string();
    let nodes = nodes.to_string();
    stdout(folder.path(), &["data", "generate", "planted", "--nodes", &nodes, "--seed", "5", "--out", &graph]);
    (folder, graph)
}

/// The weights that a run came to, bit for bit.
pub fn model(run: &Path) -> Vec<u8> {
    std::fs::read(run.join("model.safetensors")).unwrap()
}

/// Metrics without the seconds, which are the clock's.
pub fn metrics(run: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
    text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect()
}

/// Trains with these flags in `folder`, once left alone and once killed again and again; both must arrive at the same
/// bits.
pub fn assert_survives_kills(folder: &Path, flags: &[&str]) {
    let train = |out: &Path, resume: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_carat"));
        command.args(as_in_paper(&["train"])).args(flags).args(["--checkpoint-every", "0", "--out"]).arg(out);
        if resume {
            command.arg("--resume");
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let calm = folder.join("calm");
    assert!(train(&calm, false).status().unwrap().success());

    let hunted = folder.join("hunted");
    let (mut kills, mut epochs_seen) = (0, std::collections::BTreeSet::new());
    for attempt in 0u64.. {
        let mut child = train(&hunted, true).spawn().unwrap();
        // Growing patience: early attempts die before the first epoch, later ones make headway.
        std::thread::sleep(Duration::from_millis(5 + attempt * 17 % 90 + attempt));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let metrics = std::fs::read_to_string(hunted.join("metrics.csv")).unwrap_or_default();
        epochs_seen.insert(metrics.lines().count());
        assert!(attempt < 2000, "the run makes no headway");
    }
    assert!(kills >= 3 && epochs_seen.len() >= 3, "{kills} kills at {epochs_seen:?}: not much of a hunt");
    assert_eq!(model(&hunted), model(&calm));
    assert_eq!(metrics(&hunted), metrics(&calm));
    let mut left: Vec<_> = std::fs::read_dir(&hunted).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["config.toml", "encoding.toml", "metrics.csv", "model.safetensors", "summary.json"]);
}
