//! Sets of graphs as a user meets them: training by folds, tables of a run, resuming, sweeps, and the public sets.

use std::path::Path;

use crate::support::samples::{self, f32s, i64s};
use crate::support::{assert_survives_kills, data_dir, json, stdout};

const GRAPHS: usize = 40;

/// Writes rings of 4 to 8 nodes, every second with a chord, which is its class; every tenth has no nodes.
fn write(path: &Path) {
    let (mut src, mut dst, mut offsets) = (Vec::new(), Vec::new(), vec![0i64]);
    for g in 0..GRAPHS as i64 {
        let (first, size) = (offsets[g as usize], if g % 10 == 9 { 0 } else { 4 + g % 5 });
        let mut join = |a: i64, b: i64| {
            src.extend([first + a, first + b]);
            dst.extend([first + b, first + a]);
        };
        (0..size).for_each(|n| join(n, (n + 1) % size));
        if g % 2 == 1 && size > 0 {
            join(0, 2);
        }
        offsets.push(first + size);
    }
    let nodes = offsets[GRAPHS] as usize;
    let degree = |n: usize| dst.iter().filter(|d| **d == n as i64).count() as f32;
    let x: Vec<f32> = (0..nodes).flat_map(|n| [1.0, degree(n) - 2.0]).collect();
    let y: Vec<i64> = (0..GRAPHS as i64).map(|g| g % 2).collect();
    let arrays = [
        ("edge_index", "<i8", &[2, src.len()][..], i64s(&[src.clone(), dst.clone()].concat())),
        ("x", "<f4", &[nodes, 2], f32s(&x)),
        ("y", "<i8", &[GRAPHS], i64s(&y)),
        ("graph_offsets", "<i8", &[GRAPHS + 1], i64s(&offsets)),
    ];
    std::fs::write(path, samples::npz(&arrays)).unwrap();
}

fn workshop() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("rings.npz");
    write(&set);
    (folder, set.display().to_string())
}

const SMALL: [&str; 10] = ["--hidden", "8", "--heads", "2", "--batch-size", "8", "--epochs", "12", "--folds", "4"];

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn a_fold_is_trained_and_its_tables_are_of_graphs() {
    let (folder, set) = workshop();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let run = at("run");
    let flags = ["train", "--data", &set, "--split", "1", "--lambda", "0.5", "--out", &run];
    let summary = json(folder.path(), &[&flags[..], &SMALL].concat());
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.6, "{summary}");
    assert!(summary["attention_kl"].is_null() && summary["attention_auc"].is_null());
    let config = std::fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("task = \"graph\"") && config.contains("folds = 4"), "{config}");

    stdout(folder.path(), &["predict", "--run", &run, "--out", &at("p.csv")]);
    let predictions = lines(&folder.path().join("p.csv"));
    assert_eq!((predictions[0].as_str(), predictions.len()), ("graph,label,predicted,loss,split,p_0,p_1", GRAPHS + 1));

    stdout(folder.path(), &["effects", "--run", &run, "--graphs", "test", "--out", &at("e.csv")]);
    let effects = lines(&folder.path().join("e.csv"));
    assert_eq!(effects[0], "graph,src,dst,edges,loss,loss_without,delta,delta_predicted,flips,rho,effect");
    let graphs: std::collections::BTreeSet<&str> =
        effects[1..].iter().filter_map(|row| row.split(',').next()).collect();
    assert!((6..=10).contains(&graphs.len()), "{graphs:?}");
    // The loss of an edge's graph is the one that is predicted.
    let loss = |row: &str, column: usize| row.split(',').nth(column).unwrap().parse::<f64>().unwrap();
    for row in &effects[1..] {
        let graph: usize = row.split(',').next().unwrap().parse().unwrap();
        let (found, predicted) = (loss(row, 4), loss(&predictions[graph + 1], 3));
        assert!((found - predicted).abs() < 1e-4 * predicted.max(1e-3), "{row}: {predicted}");
    }
    stdout(folder.path(), &["attention", "--run", &run, "--out", &at("a.csv")]);
    assert_eq!(lines(&folder.path().join("a.csv"))[0], "graph,src,dst,layer,head,alpha");
    let bench =
        json(folder.path(), &["bench", "step", "--data", &set, "--lambda", "1", "--steps", "2", "--seconds", "0"]);
    assert!(bench["car_step_ms"].as_f64().unwrap() > 0.0);
    // A finished run that is resumed says what it came to.
    let again = json(folder.path(), &["train", "--out", &run, "--resume"]);
    assert_eq!(again["test_loss"], summary["test_loss"]);
}

#[test]
fn a_run_that_is_killed_arrives_at_the_same_bits() {
    let (folder, set) = workshop();
    let flags = ["--data", &set, "--lambda", "1", "--hidden", "16", "--batch-size", "3", "--epochs", "60"];
    assert_survives_kills(folder.path(), &[&flags[..], &["--folds", "5", "--patience", "60"]].concat());
}

#[test]
fn a_sweep_over_folds_is_a_cross_validation() {
    let (folder, set) = workshop();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let grid = "folds = 4\nsplits = 4\nhidden = 8\nheads = 1\nlambda = [0, 1]\nbatch-size = 16\nepochs = 6\n";
    std::fs::write(folder.path().join("grid.toml"), grid).unwrap();
    let flags = ["sweep", "--data", &set, "--grid", &at("grid.toml"), "--store", &at("s.db")];
    let tally = json(folder.path(), &flags);
    assert_eq!((&tally["computed"], &tally["failed"]), (&8.into(), &0.into()), "{tally}");
    stdout(folder.path(), &["report", &at("s.db"), "--out", &at("report")]);
}

#[test]
fn a_search_repeats_over_folds() {
    let (folder, set) = workshop();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let flags = ["tune", "--data", &set, "--candidates", "4", "--store", &at("t.db"), "--out", &at("t.toml")];
    let printed = json(folder.path(), &[&flags[..], &["--epochs", "6", "--folds", "4", "--hidden", "8"]].concat());
    assert_eq!((&printed["figure"], &printed["repeated_by"]), (&"accuracy".into(), &"splits".into()));
    assert_eq!((&printed["test"]["runs"], printed["candidates"].as_array().unwrap().len()), (&4.into(), 4));
}

#[test]
fn the_public_sets_train() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, epochs, least) in [("mutag", "15", 0.6), ("PROTEINS", "1", 0.0), ("NCI1", "1", 0.0)] {
        let run = folder.path().join(name).display().to_string();
        let flags = ["train", "--data", name, "--folds", "10", "--lambda", "1", "--hidden", "8", "--heads", "1"];
        let summary = json(
            &data,
            &[&flags[..], &["--lr", "0.003", "--batch-size", "64", "--epochs", epochs, "--out", &run]].concat(),
        );
        assert!(summary["test_accuracy"].as_f64().unwrap() > least, "{name}: {summary}");
    }
}
