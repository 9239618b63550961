//! `carat train`, `predict`, `attention` and `bench` as a user runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::{self, assert_survives_kills, metrics, model};
use serde_json::Value;

fn carat(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carat")).args(support::as_in_paper(arguments)).output().unwrap()
}

fn succeed(arguments: &[&str]) -> String {
    let output = carat(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a generated graph in it.
fn workshop() -> (tempfile::TempDir, String) {
    support::workshop(400)
}

#[test]
fn the_same_settings_give_the_same_bits_for_any_number_of_threads() {
    let (folder, graph) = workshop();
    for arch in ["gat", "gatv2", "transformer"] {
        let mut runs: Vec<PathBuf> = Vec::new();
        for (number, threads) in ["1", "2", "3", "1"].iter().enumerate() {
            let run = folder.path().join(format!("{arch}-{number}"));
            let out = run.display().to_string();
            let flags =
                ["--hidden", "32", "--epochs", "12", "--batch-size", "100", "--fanout", "8,5", "--threads", threads];
            let mut arguments = vec!["train", "--data", &graph, "--arch", arch, "--out", &out];
            arguments.extend(flags);
            succeed(&arguments);
            runs.push(run);
        }
        for run in &runs[1..] {
            assert_eq!(model(run), model(&runs[0]), "{arch}");
            assert_eq!(metrics(run), metrics(&runs[0]), "{arch}");
        }
    }
}

#[test]
fn a_mapped_file_trains_to_the_same_bits_as_the_file_it_came_from() {
    let (folder, graph) = workshop();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (mapped, tables, back) = (path("graph.carat"), path("tables"), path("back.carat"));
    succeed(&["data", "convert", &graph, &mapped, "--to", "mmap"]);
    succeed(&["data", "info", &mapped, "--verify"]);
    // Through a folder of tables, whose edges are sorted on disk.
    succeed(&["data", "convert", &mapped, &tables]);
    succeed(&["data", "convert", &tables, &back]);
    let train = |data: &str, out: &str, more: &[&str]| {
        let flags = ["--hidden", "16", "--epochs", "6", "--lambda", "1", "--batch-size", "60"];
        succeed(&[&["train", "--data", data, "--out", &path(out)], &flags[..], more].concat());
        (model(&folder.path().join(out)), metrics(&folder.path().join(out)))
    };
    for (name, more) in [("full", &[][..]), ("fanout", &["--fanout", "6,4"])] {
        let whole = train(&graph, &format!("{name}-npz"), more);
        assert_eq!(train(&mapped, &format!("{name}-mapped"), &[more, &["--threads", "2"]].concat()), whole);
        assert_eq!(train(&mapped, &format!("{name}-alone"), &[more, &["--threads", "1"]].concat()), whole);
        assert_eq!(train(&back, &format!("{name}-back"), more), whole);
    }
    for command in ["predict", "attention", "effects"] {
        let run = |name: &str| {
            let (run, out) = (path(&format!("full-{name}")), path(&format!("{command}-{name}.csv")));
            succeed(&[command, "--run", &run, "--out", &out]);
            std::fs::read(out).unwrap()
        };
        assert_eq!(run("mapped"), run("npz"), "{command}");
    }
}

#[test]
fn a_run_killed_again_and_again_arrives_at_the_same_bits() {
    let (folder, graph) = workshop();
    let sizes = ["--hidden", "32", "--epochs", "60", "--patience", "60", "--batch-size", "150"];
    assert_survives_kills(folder.path(), &[&["--data", &graph], &sizes[..]].concat());
}

/// Waits until a run has written more than `epochs` epochs, however slow the machine.
#[cfg(unix)]
fn wait_for_epochs(run: &Path, epochs: u64) {
    for _ in 0..6000 {
        let text = std::fs::read_to_string(run.join("metrics.csv")).unwrap_or_default();
        if text.lines().count() as u64 > epochs + 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} does not get beyond {epochs} epochs", run.display());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_with_what_it_has_and_resume_goes_on() {
    let (folder, graph) = workshop();
    let flags = ["--hidden", "32", "--epochs", "300000", "--patience", "300000", "--checkpoint-every", "0"];
    let out = folder.path().join("stopped");
    let out_text = out.display().to_string();
    let mut arguments = vec!["train", "--data", &graph, "--out", &out_text, "--json"];
    arguments.extend(flags);
    let child = Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(support::as_in_paper(&arguments))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_epochs(&out, 0);
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["interrupted"], true);
    let epochs = summary["epochs"].as_u64().unwrap();
    assert!(epochs > 0 && epochs < 300_000, "{epochs}");
    // What it has is usable.
    let predictions = folder.path().join("p.csv").display().to_string();
    succeed(&["predict", "--run", &out_text, "--out", &predictions]);

    // Going on needs no flags but the folder; the settings are the run's. Stop it again, later.
    let child = Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(["train", "--out", &out_text, "--resume", "--checkpoint-every", "0", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_epochs(&out, epochs);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let summary: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert!(summary["epochs"].as_u64().unwrap() > epochs);
    assert_eq!(
        std::fs::read_to_string(out.join("metrics.csv")).unwrap().lines().count() as u64 - 1,
        summary["epochs"].as_u64().unwrap()
    );
}

#[test]
fn a_run_folder_holds_what_the_manual_says() {
    let (folder, graph) = workshop();
    let run = folder.path().join("run");
    let out = run.display().to_string();
    let text = succeed(&["train", "--data", &graph, "--hidden", "16", "--epochs", "5", "--out", &out, "--json"]);
    let printed: Value = serde_json::from_str(&text).unwrap();
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(run.join("summary.json")).unwrap()).unwrap();
    let keys = [
        "test_loss",
        "test_accuracy",
        "val_loss",
        "val_accuracy",
        "attention_kl",
        "uniform_kl",
        "attention_auc",
        "epochs",
        "train_seconds",
        "step_ms",
        "peak_memory_mb",
    ];
    for key in keys {
        assert!(summary[key].is_number(), "{key}: {summary}");
        assert_eq!(summary[key], printed[key]);
    }
    let header = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
    assert!(header.starts_with("epoch,train_loss,causal_loss,val_loss,val_accuracy,seconds\n1,"));
    let config: toml::Table = std::fs::read_to_string(run.join("config.toml")).unwrap().parse().unwrap();
    assert_eq!(config["hidden"].as_integer(), Some(16));

    // The configuration repeats the run, from another folder and with nothing else.
    let again = folder.path().join("again");
    let config_path = run.join("config.toml").display().to_string();
    succeed(&["train", "--config", &config_path, "--out", &again.display().to_string()]);
    assert_eq!(model(&again), model(&run));

    // A finished run is not overwritten; resuming it says what it came to.
    let refused = carat(&["train", "--data", &graph, "--hidden", "16", "--epochs", "5", "--out", &out]);
    assert_eq!(refused.status.code(), Some(2));
    let resumed: Value = serde_json::from_str(&succeed(&["train", "--out", &out, "--resume", "--json"])).unwrap();
    assert_eq!(resumed["test_loss"], summary["test_loss"]);
}

#[test]
fn protocols_keep_the_best_or_the_last_weights() {
    let (folder, graph) = workshop();
    let mut losses = Vec::new();
    for protocol in ["best", "paper"] {
        let run = folder.path().join(protocol);
        let out = run.display().to_string();
        let text =
            succeed(&["train", "--data", &graph, "--protocol", protocol, "--patience", "10", "--out", &out, "--json"]);
        let summary: Value = serde_json::from_str(&text).unwrap();
        let metrics = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
        let curve: Vec<f64> =
            metrics.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse().unwrap()).collect();
        let best = curve.iter().copied().fold(f64::INFINITY, f64::min);
        let kept = if protocol == "best" { best } else { *curve.last().unwrap() };
        assert_eq!(summary["val_loss"].as_f64(), Some(kept));
        // Ten epochs without a new lowest loss, and not one more.
        assert_eq!(curve.len() - 1 - curve.iter().position(|l| *l == best).unwrap(), 10);
        losses.push(curve);
    }
    assert_eq!(losses[0], losses[1], "the protocols differ in what they keep, not in how they train");
}

#[test]
fn predictions_and_attention_are_probabilities_in_every_format() {
    let (folder, graph) = workshop();
    let run = folder.path().join("run").display().to_string();
    succeed(&["train", "--data", &graph, "--hidden", "16", "--heads", "2", "--epochs", "3", "--out", &run]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let csv = path("predictions.csv");
    succeed(&["predict", "--run", &run, "--out", &csv]);
    let text = std::fs::read_to_string(&csv).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(header[..5], ["node", "label", "predicted", "loss", "split"]);
    for (node, line) in lines.enumerate() {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let probabilities = &cells[4..];
        assert_eq!(cells.len() + 1, header.len());
        assert_eq!(cells[0], node as f64);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-5);
        let own = probabilities[cells[1] as usize];
        assert!((cells[3] + own.ln()).abs() < 1e-4 * (1.0 + cells[3]), "loss is -ln p of the label");
        let largest = probabilities.iter().copied().fold(0.0, f64::max);
        assert_eq!(probabilities[cells[2] as usize], largest);
    }
    let attention = path("attention.csv");
    succeed(&["attention", "--run", &run, "--out", &attention]);
    let text = std::fs::read_to_string(&attention).unwrap();
    assert!(text.starts_with("src,dst,layer,head,alpha\n"));
    let mut sums = std::collections::BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        *sums.entry((cells[1], cells[2], cells[3])).or_insert(0.0) += cells[4].parse::<f64>().unwrap();
    }
    assert!(sums.len() > 400 && sums.values().all(|sum| (sum - 1.0).abs() < 1e-5));
    for ending in ["parquet", "npz", "csv.gz"] {
        let out = path(&format!("predictions.{ending}"));
        let report = succeed(&["predict", "--run", &run, "--out", &out, "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["rows"], 400);
        assert!(std::fs::metadata(&out).unwrap().len() > 0);
    }
}

#[test]
fn flags_win_over_the_configuration_file() {
    let (folder, graph) = workshop();
    let config = folder.path().join("settings.toml");
    std::fs::write(&config, format!("data = '{graph}'\nhidden = 8\nheads = 1\nepochs = 2\n")).unwrap();
    let run = folder.path().join("run");
    let (config, out) = (config.display().to_string(), run.display().to_string());
    succeed(&["train", "--config", &config, "--hidden", "12", "--out", &out]);
    let written: toml::Table = std::fs::read_to_string(run.join("config.toml")).unwrap().parse().unwrap();
    assert_eq!((written["hidden"].as_integer(), written["heads"].as_integer()), (Some(12), Some(1)));
}

#[test]
fn bench_step_prints_one_document() {
    let (_folder, graph) = workshop();
    let text = succeed(&["bench", "step", "--data", &graph, "--steps", "3", "--seconds", "0", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert!(report["step_ms"].as_f64().unwrap() > 0.0);
    assert!(report["peak_memory_mb"].as_f64().unwrap() > 0.0);
    let roofline = ["bench", "roofline", "--data", &graph, "--steps", "3", "--seconds", "0", "--preset"];
    let bound = succeed(&[&roofline[..], &["paper", "--json"]].concat());
    assert!(serde_json::from_str::<Value>(&bound).unwrap()["bound_ms"].as_f64().unwrap() > 0.0);
    support::assert_fails(&carat(&[&roofline[..], &["strong"]].concat()), 2, &["give --preset paper"]);
}
