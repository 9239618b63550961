//! `carat train --model cal` and what is done with its runs, as a user does it.

use std::path::Path;

use crate::support::{assert_fails, assert_survives_kills, carat, data_dir, json, metrics, model, stdout, workshop};
use serde_json::Value;

/// Small enough to train in a moment.
const SMALL: [&str; 8] = ["--model", "cal", "--hidden", "16", "--heads", "2", "--epochs", "20"];

fn train(folder: &Path, graph: &str, out: &str, more: &[&str]) -> Value {
    let out = folder.join(out).display().to_string();
    json(folder, &[&["train", "--data", graph, "--out", &out], &SMALL[..], more].concat())
}

#[test]
fn it_trains_to_the_same_bits_for_any_number_of_threads() {
    let (folder, graph) = workshop(600);
    let summary = train(folder.path(), &graph, "one", &["--threads", "1"]);
    let losses: Vec<f64> = metrics(&folder.path().join("one"))[1..]
        .iter()
        .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(losses.last().unwrap() < &(0.5 * losses[0]), "{losses:?}");
    assert!(summary["attention_kl"].is_null() && summary["attention_auc"].is_null(), "{summary}");
    for (out, threads) in [("two", "2"), ("three", "3")] {
        train(folder.path(), &graph, out, &["--threads", threads]);
        assert_eq!(model(&folder.path().join(out)), model(&folder.path().join("one")));
        assert_eq!(metrics(&folder.path().join(out)), metrics(&folder.path().join("one")));
    }
    // Its strengths and its seed, which also draws the permutations, decide the result.
    for (out, more) in [("seed", ["--seed", "1"]), ("first", ["--lambda1", "0.9"]), ("second", ["--lambda2", "0.9"])] {
        train(folder.path(), &graph, out, &more);
        assert_ne!(model(&folder.path().join(out)), model(&folder.path().join("one")), "{out}");
    }
    let config = std::fs::read_to_string(folder.path().join("first/config.toml")).unwrap();
    assert!(config.contains("model = \"cal\"") && config.contains("lambda1 = 0.9"), "{config}");
}

#[test]
fn it_has_sizes_of_its_own_unless_told_otherwise() {
    let (folder, graph) = workshop(150);
    let out = folder.path().join("run").display().to_string();
    stdout(folder.path(), &["train", "--data", &graph, "--model", "cal", "--epochs", "2", "--out", &out]);
    let config = std::fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("hidden = 128") && config.contains("heads = 4"), "{config}");
}

#[test]
fn a_run_predicts_what_its_training_scored() {
    let (folder, graph) = workshop(400);
    let summary = train(folder.path(), &graph, "run", &[]);
    let (run, out) = (folder.path().join("run").display().to_string(), folder.path().join("predictions.csv"));
    stdout(folder.path(), &["predict", "--run", &run, "--out", &out.display().to_string()]);
    let text = std::fs::read_to_string(&out).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 401);
    assert_eq!(rows[0][..4], ["node", "label", "predicted", "loss"]);
    // The test nodes are not marked in the table; over all nodes the accuracy is of the same order.
    let right = rows[1..].iter().filter(|row| row[1] == row[2]).count() as f64 / 400.0;
    assert!((right - summary["test_accuracy"].as_f64().unwrap()).abs() < 0.25, "{right}, {summary}");
}

#[test]
fn attention_and_effects_are_refused_with_a_reason() {
    let (folder, graph) = workshop(150);
    train(folder.path(), &graph, "run", &[]);
    let run = folder.path().join("run").display().to_string();
    for command in ["attention", "effects"] {
        let output = carat(folder.path(), &[command, "--run", &run, "--out", "x.csv"]);
        assert_fails(&output, 2, &["the run's model is cal, whose attention is of another kind", "carat predict"]);
    }
}

#[test]
fn a_run_killed_again_and_again_arrives_at_the_same_bits() {
    let (folder, graph) = workshop(300);
    let flags = ["--data", &graph, "--hidden", "64", "--model", "cal", "--epochs", "120", "--patience", "120"];
    assert_survives_kills(folder.path(), &flags);
}

#[test]
fn sweeps_take_its_strengths_as_lists_and_have_the_figures_of_train() {
    let (folder, graph) = workshop(150);
    let grid = folder.path().join("grid.toml");
    let text = format!(
        "data = '{graph}'\nmodel = 'cal'\nhidden = 16\nheads = 2\nepochs = 20\nlambda1 = [0.2, 1]\nlambda2 = \
         [0.4]\nprotocol = ['paper', 'best']"
    );
    std::fs::write(&grid, text).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let swept = json(folder.path(), &["sweep", "--grid", &at("grid.toml"), "--store", &at("store.db")]);
    assert_eq!((&swept["runs"], &swept["failed"]), (&Value::from(4), &Value::from(0)), "{swept}");
    let summary = train(folder.path(), &graph, "run", &["--lambda1", "1", "--lambda2", "0.4"]);
    let store = carat_lab::sweep::Store::open_existing(&folder.path().join("store.db")).unwrap();
    let records = store.records().unwrap();
    let losses: Vec<f64> = records
        .into_iter()
        .filter_map(|record| record.result.ok())
        .filter_map(|outcome| outcome.figures.test.loss)
        .collect();
    let loss = summary["test_loss"].as_f64().unwrap();
    assert!(losses.iter().any(|found| (found - loss).abs() < 1e-12), "{loss} is not in {losses:?}");
}

/// The item on the smallest dataset.
#[test]
fn cal_s_row_on_cornell() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let flags = ["--quick", "--data", "cornell", "--store", &at("store.db"), "--out", &at("out")];
    let shown = json(&data, &[&["reproduce", "cal"], &flags[..]].concat());
    // L, and two strengths each, under both protocols.
    assert_eq!((&shown["runs"], &shown["failed"]), (&Value::from(16), &Value::from(0)), "{shown}");
    let report = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    for part in ["CAL's CausalGAT", "0.51", "16 runs of 16 are here", "no runs of GAT + CAR", "F' 128, K 4"] {
        assert!(report.contains(part) || report.contains(&part.replacen('n', "N", 1)), "'{part}' is not in the report");
    }
}
