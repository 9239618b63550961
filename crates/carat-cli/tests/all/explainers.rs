//! `carat explainers` as a user runs it: its scores against those of other commands, and its measures against its own
//! scores.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::csv::rows;
use crate::support::{assert_fails, carat, json, stdout, workshop};

const METHODS: [&str; 8] =
    ["attention", "last-attention", "gatt", "gradient", "integrated-gradients", "gnn-explainer", "random", "effect"];

/// The score of every edge by one method, by target and source.
fn scores(file: &Path, method: &str) -> BTreeMap<(u32, u32), f64> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("src,dst,method,score"));
    let cells = lines.map(|line| line.split(',').collect::<Vec<_>>()).filter(|cells| cells[2] == method);
    cells.map(|c| ((c[1].parse().unwrap(), c[0].parse().unwrap()), c[3].parse().unwrap())).collect()
}

/// A column of another command's table, by target and source.
fn column(file: &Path, name: &str) -> BTreeMap<(u32, u32), f64> {
    rows(file).iter().map(|row| ((row["dst"] as u32, row["src"] as u32), row[name])).collect()
}

fn pearson(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let mean = pairs.iter().fold((0.0, 0.0), |(x, y), pair| (x + pair.0 / n, y + pair.1 / n));
    let sum = |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| f(x - mean.0, y - mean.1)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

fn without_time(mut said: Value) -> Value {
    let methods = said["methods"].as_array_mut().unwrap();
    methods.iter_mut().for_each(|method| method["milliseconds"] = Value::Null);
    said
}

#[test]
fn scores_are_those_of_other_commands_and_measures_those_of_scores() {
    let (folder, data) = workshop(300);
    let folder = folder.path();
    let path = |name: &str| folder.join(name).display().to_string();
    let (run, out) = (path("run"), path("scores.csv"));
    stdout(folder, &["train", "--data", &data, "--epochs", "15", "--hidden", "16", "--out", &run]);
    let all = ["explainers", "--run", &run, "--limit", "1000", "--steps", "5", "--epochs", "10", "--out", &out];
    let said = json(folder, &[&all[..], &["--threads", "1"]].concat());
    let found = said["methods"].as_array().unwrap();
    assert_eq!(found.iter().map(|method| method["method"].as_str().unwrap()).collect::<Vec<_>>(), METHODS);

    stdout(folder, &["effects", "--run", &run, "--nodes", "test", "--out", &path("effects.csv")]);
    let trust = json(folder, &["trust", "--run", &run, "--out", &path("trust")]);
    let deltas = column(&folder.join("effects.csv"), "delta_predicted");
    let attention = column(&folder.join("trust/edges.csv"), "attention");
    for (method, expected) in [("effect", &deltas), ("attention", &attention)] {
        let scores = scores(&folder.join("scores.csv"), method);
        assert_eq!(scores.len() as u64, said["edges"].as_u64().unwrap());
        assert!(scores.iter().all(|(edge, score)| (score - expected[edge]).abs() < 1e-5), "{method}");
    }
    for (method, found) in METHODS.iter().zip(found) {
        let scores = scores(&folder.join("scores.csv"), method);
        let mut by_node: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        scores.iter().for_each(|(edge, score)| by_node.entry(edge.0).or_default().push((*score, deltas[edge])));
        let mean = by_node.values().map(|pairs| pearson(pairs)).sum::<f64>() / by_node.len() as f64;
        let stated = found["self_faithfulness"]["pearson"].as_f64().unwrap();
        assert!((stated - mean).abs() < 1e-4, "{method}: {stated} for {mean}");
        assert!(found["milliseconds"].as_f64().unwrap() > 0.0 && found["planted"]["auc"].is_number());
    }
    let by = |method: &str| &found[METHODS.iter().position(|name| *name == method).unwrap()];
    assert!(by("effect")["self_faithfulness"]["pearson"].as_f64().unwrap() > 0.999);
    assert!(by("gradient")["self_faithfulness"]["pearson"].as_f64().unwrap() > 0.3, "{said}");
    let close = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-4;
    let trusted = &trust["readings"][0];
    assert!(close(&by("attention")["faithfulness"]["spearman"], &trusted["faithfulness"]["spearman"]));
    assert!(close(&by("attention")["deletion_area"], &trust["deletion_area"]));
    assert!(close(&by("attention")["fidelity"]["minus"], &trust["fidelity"]["minus"]));

    let before = std::fs::read(&out).unwrap();
    let again = json(folder, &[&all[..], &["--threads", "2"]].concat());
    assert_eq!(without_time(said), without_time(again), "threads change nothing");
    assert_eq!(before, std::fs::read(&out).unwrap());
}

#[test]
fn some_methods_on_some_nodes_and_on_sets_of_graphs() {
    let (folder, data) = workshop(200);
    let folder = folder.path();
    let run = folder.join("run").display().to_string();
    stdout(folder, &["train", "--data", &data, "--epochs", "3", "--hidden", "8", "--out", &run]);
    let text = stdout(folder, &["explainers", "effect,gatt,gatt", "--run", &run, "--nodes", "all", "--limit", "7"]);
    assert!(text.contains("explanations of 7 nodes"), "{text}");
    let methods: Vec<&str> = text.lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(methods, ["gatt", "effect"]);
    assert_fails(&carat(folder, &["explainers", "saliency", "--run", &run]), 2, &["'saliency' is not a method"]);

    let Some(data) = crate::support::data_dir() else { return };
    let run = folder.join("graphs").display().to_string();
    let sizes = ["--hidden", "8", "--heads", "2", "--epochs", "3", "--out", &run];
    stdout(&data, &[&["train", "--data", "MUTAG"], &sizes[..]].concat());
    let said = json(&data, &["explainers", "--run", &run, "--graphs", "test", "--limit", "3", "--epochs", "5"]);
    assert_eq!((said["task"].as_str(), said["entities"].as_u64()), (Some("graph"), Some(3)));
}
