//! `carat train --model gcn` and `carat rewire` as a user runs them.

use std::path::Path;

use crate::support::{assert_survives_kills, json, model, stdout, workshop};
use serde_json::Value;

/// A graph of 300 nodes, and a baseline and a regularised run on it.
fn with_runs() -> (tempfile::TempDir, String) {
    let (folder, graph) = workshop(300);
    for (name, lambda) in [("plain", "0"), ("car", "1")] {
        let out = folder.path().join(name).display().to_string();
        let sizes = ["--hidden", "16", "--heads", "1", "--layers", "1", "--epochs", "20", "--lambda", lambda];
        stdout(folder.path(), &[&["train", "--data", &graph, "--out", &out], &sizes[..]].concat());
    }
    (folder, graph)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn a_graph_convolution_network_is_trained_resumed_and_predicts() {
    let (folder, graph) = workshop(300);
    let folder = folder.path();
    let flags = ["--data", &graph, "--model", "gcn", "--gcn-norm", "none", "--hidden", "32", "--epochs", "200"];
    assert_survives_kills(folder, &[&flags[..], &["--patience", "200"]].concat());
    let run = path(folder, "calm");
    let settings = std::fs::read_to_string(folder.join("calm/config.toml")).unwrap();
    assert!(settings.contains("model = \"gcn\"") && settings.contains("gcn-norm = \"none\""), "{settings}");
    let summary: Value = serde_json::from_slice(&std::fs::read(folder.join("calm/summary.json")).unwrap()).unwrap();
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.4 && summary["attention_kl"].is_null(), "{summary}");
    let out = path(folder, "p.csv");
    let printed = json(folder, &["predict", "--run", &run, "--out", &out]);
    assert_eq!(printed["rows"], 300);
    let table = std::fs::read_to_string(&out).unwrap();
    assert_eq!(table.lines().count(), 301);
    assert!(table.starts_with("node,label,predicted,loss"), "{table}");
    // A second time the same bits, on another number of threads.
    let again = path(folder, "again");
    stdout(folder, &[&["train", "--out", &again, "--threads", "3", "--patience", "200"], &flags[..]].concat());
    assert_eq!(model(&folder.join("again")), model(&folder.join("calm")));
}

#[test]
fn curves_are_the_same_for_any_number_of_threads_and_lie_in_the_folder() {
    let (folder, _) = with_runs();
    let folder = folder.path();
    let (base, car) = (path(folder, "plain"), path(folder, "car"));
    let study = |out: &str, threads: &str| {
        let flags = ["--trials", "2", "--thresholds", "0,0.1,0.2,1.01", "--threads", threads];
        json(folder, &[&["rewire", "--base", &base, "--car", &car, "--out", &path(folder, out)], &flags[..]].concat())
    };
    let (one, three) = (study("one", "1"), study("three", "3"));
    assert_eq!((&one["curves"], &one["unpruned"]), (&three["curves"], &three["unpruned"]));
    let curves = one["curves"].as_array().unwrap();
    let names: Vec<(&str, bool)> =
        curves.iter().map(|curve| (curve["guide"].as_str().unwrap(), curve["random"].as_bool().unwrap())).collect();
    assert_eq!(names, [("baseline", false), ("baseline", true), ("CAR", false), ("CAR", true)]);
    for curve in curves {
        let edges: Vec<u64> =
            curve["points"].as_array().unwrap().iter().map(|point| point["edges"].as_u64().unwrap()).collect();
        assert!(edges.is_sorted_by(|a, b| a >= b) && edges[0] == one["edges"].as_u64().unwrap() && edges[3] == 0);
        assert_eq!(curve["points"][0]["accuracy"], one["unpruned"]);
        assert_eq!(curve["points"][3]["accuracy"], curves[0]["points"][3]["accuracy"]);
    }
    // Per trial: the whole graph, none of it, and at most four ways at two thresholds.
    assert!((4..=2 * (2 + 4 * 2)).contains(&one["trainings"].as_u64().unwrap()), "{}", one["trainings"]);
    let page = std::fs::read_to_string(folder.join("one/index.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Pruning graph by attention"));
    let curve = std::fs::read_to_string(folder.join("one/curve.csv")).unwrap();
    assert_eq!(curve.lines().count(), 5, "{curve}");
    assert!(folder.join("one/areas.csv").exists());

    let text = stdout(
        folder,
        &["rewire", "--car", &car, "--trials", "1", "--thresholds", "0,0.1", "--out", &path(folder, "text")],
    );
    assert!(text.contains("random, as many edges as CAR") && !text.contains("baseline"), "{text}");
    assert!(text.contains("The page: "), "{text}");
}

#[test]
fn a_sweep_trains_on_pruned_graphs_once() {
    let (folder, graph) = workshop(300);
    let folder = folder.path();
    let guide = "guide = { hidden = 4, heads = 1, layers = 1, epochs = 2 }";
    let prune = ["threshold = 0.1", "threshold = 0.1, random = true", "threshold = 1.01"];
    let prune: Vec<String> = prune.iter().map(|words| format!("{{ {words}, {guide} }}")).collect();
    let settings = "model = 'gcn'\nhidden = 8\nepochs = 5\nseeds = 2\nprotocol = ['paper', 'best']";
    let grid = folder.join("grid.toml");
    std::fs::write(&grid, format!("{settings}\nprune = [{}]\n", prune.join(", "))).unwrap();
    let (grid, store) = (grid.display().to_string(), path(folder, "runs.db"));
    let sweep = || json(folder, &["sweep", "--data", &graph, "--grid", &grid, "--store", &store, "--threads", "2"]);
    let first = sweep();
    assert_eq!((&first["runs"], &first["computed"], &first["failed"]), (&12.into(), &12.into(), &0.into()), "{first}");
    let second = sweep();
    assert_eq!((&second["computed"], &second["found"]), (&0.into(), &12.into()), "{second}");
}

#[test]
fn a_pruned_graph_is_written_in_every_form_and_trains() {
    let (folder, graph) = with_runs();
    let folder = folder.path();
    let run = path(folder, "car");
    let edges = |data: &str| json(folder, &["data", "info", data])["edges"].as_u64().unwrap();
    let mut found = Vec::new();
    for name in ["pruned.npz", "pruned.carat", "pruned"] {
        let out = path(folder, name);
        let printed = json(folder, &["rewire", "--run", &run, "--apply", "0.1", "--out", &out]);
        assert_eq!(printed["out"], out.as_str());
        assert_eq!(printed["edges"].as_u64(), Some(edges(&out)));
        found.push(edges(&out));
    }
    assert!(found[0] > 0 && found[0] < edges(&graph) && found.iter().all(|edges| *edges == found[0]), "{found:?}");
    let out = path(folder, "everything.npz");
    stdout(folder, &["rewire", "--run", &run, "--apply", "0", "--out", &out]);
    assert_eq!(edges(&out), edges(&graph));
    let out = path(folder, "nothing.npz");
    stdout(folder, &["rewire", "--run", &run, "--apply", "1.01", "--out", &out]);
    assert_eq!(edges(&out), 0);
    let trained = path(folder, "trained");
    let data = path(folder, "pruned.carat");
    stdout(folder, &["train", "--data", &data, "--model", "gcn", "--epochs", "3", "--hidden", "8", "--out", &trained]);
}
