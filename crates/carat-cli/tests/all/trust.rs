//! `carat trust` as a user runs it: its tables against its own figures, and what it refuses.

use std::collections::BTreeMap;

use crate::support::csv::rows;
use crate::support::{carat, json, stdout};

fn correlation(rows: &[&BTreeMap<String, f64>], of: &str) -> f64 {
    let mean = |name: &str| rows.iter().map(|row| row[name]).sum::<f64>() / rows.len() as f64;
    let (a, d) = (mean("attention"), mean(of));
    let sum = |f: &dyn Fn(f64, f64) -> f64| rows.iter().map(|row| f(row["attention"] - a, row[of] - d)).sum::<f64>();
    sum(&|a, d| a * d) / (sum(&|a, _| a * a) * sum(&|_, d| d * d)).sqrt()
}

#[test]
fn figures_are_those_of_the_tables_and_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = |name: &str| folder.join(name).display().to_string();
    let data = path("planted.npz");
    stdout(folder, &["data", "generate", "planted", "--nodes", "400", "--out", &data]);
    let run = path("run");
    let text = stdout(folder, &["train", "--data", &data, "--epochs", "15", "--hidden", "16", "--out", &run]);
    assert!(text.contains("attention and effects of edges: correlation "), "{text}");
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("run/summary.json")).unwrap()).unwrap();

    let out = path("trust");
    let said = json(folder, &["trust", "--run", &run, "--out", &out, "--threads", "1"]);
    for file in ["index.html", "report.md", "trust.json", "edges.csv", "nodes.csv", "curves.csv", "readings.csv"] {
        assert!(folder.join("trust").join(file).exists(), "{file}");
    }
    let mean = &said["readings"][0];
    for (name, of) in [("faithfulness", "delta"), ("self_faithfulness", "delta_predicted")] {
        let edges = rows(&folder.join("trust/edges.csv"));
        let nodes = rows(&folder.join("trust/nodes.csv"));
        let mut sum = 0.0;
        for node in &nodes {
            let of_node: Vec<&BTreeMap<String, f64>> = edges.iter().filter(|e| e["dst"] == node["node"]).collect();
            let expected = correlation(&of_node, of);
            assert!((node[name] - expected).abs() < 1e-6, "{node:?}: {expected}");
            sum += node[name];
        }
        let found = mean[name]["pearson"].as_f64().unwrap();
        assert!((found - sum / nodes.len() as f64).abs() < 1e-9);
        // All test nodes are few enough to be measured after training, too.
        assert!((summary[name].as_f64().unwrap() - found).abs() < 1e-6, "{name}: {summary}");
    }
    assert!((summary["planted_auc"].as_f64().unwrap() - mean["planted"]["auc"].as_f64().unwrap()).abs() < 1e-9);
    assert!(said["sentence"].as_str().unwrap().contains("correlate by"), "{said}");
    let again = json(folder, &["trust", "--run", &run, "--out", &out, "--threads", "2"]);
    assert_eq!(said["curves"], again["curves"], "threads change nothing");

    let page = std::fs::read_to_string(folder.join("trust/index.html")).unwrap();
    assert!(page.contains("May this attention be read as an explanation?") && page.contains("by effect"));
}

#[test]
fn sets_of_graphs_and_other_data_have_an_answer_and_models_without_attention_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = |name: &str| folder.join(name).display().to_string();
    let (data, other) = (path("planted.npz"), path("other.npz"));
    for (seed, file) in [("0", &data), ("1", &other)] {
        stdout(folder, &["data", "generate", "planted", "--nodes", "200", "--seed", seed, "--out", file]);
    }
    let (run, gcn) = (path("run"), path("gcn"));
    stdout(folder, &["train", "--data", &data, "--epochs", "3", "--hidden", "8", "--out", &run]);
    stdout(folder, &["train", "--data", &data, "--model", "gcn", "--epochs", "3", "--out", &gcn]);
    let out = path("trust");
    let on_other = ["trust", "--run", &run, "--data", &other, "--nodes", "all", "--out", &out, "--curve-nodes", "0"];
    let text = stdout(folder, &on_other);
    assert!(text.contains("attention") && !text.contains("order of deletion"), "{text}");
    let refused = carat(folder, &["trust", "--run", &gcn, "--out", &path("none")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has no attention"), "{refused:?}");
    assert!(!folder.join("none").exists());
    let refused = carat(folder, &["trust", "--run", &path("nothing")]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

/// Small graphs of every kind that plants reasons.
const KINDS: [(&str, &[&str]); 6] = [
    ("ba-shapes", &["--base-nodes", "60", "--motifs", "20"]),
    ("ba-community", &["--base-nodes", "40", "--motifs", "10", "--bridges", "30"]),
    ("tree-cycles", &["--height", "4", "--motifs", "15"]),
    ("tree-grid", &["--height", "4", "--motifs", "15", "--paper-features"]),
    ("infection", &["--nodes", "300", "--edge-probability", "0.012"]),
    ("spurious-motif", &["--train", "12", "--val", "9", "--test", "9", "--bias", "0.5", "--small-test"]),
];

#[test]
fn generated_reasons_are_stored_and_judged_without_further_flags() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (kind, flags) in KINDS {
        let path = |ending: &str| folder.join(format!("{kind}{ending}")).display().to_string();
        let make = |seed: &str, out: &str| {
            json(folder, &[&["data", "generate", kind, "--seed", seed, "--out", out][..], flags].concat())
        };
        let (data, again, other) = (path(".npz"), path("-again.npz"), path("-other.npz"));
        let made = make("1", &data);
        make("1", &again);
        make("2", &other);
        assert_eq!(std::fs::read(&data).unwrap(), std::fs::read(&again).unwrap(), "{kind}");
        assert_ne!(std::fs::read(&data).unwrap(), std::fs::read(&other).unwrap(), "{kind}");
        // What is mapped is what is read.
        let mapped = path(".carat");
        json(folder, &["data", "convert", &data, &mapped]);
        let info = json(folder, &["data", "info", &mapped]);
        for key in ["nodes", "edges", "spurious_edges", "split_sizes", "class_sizes", "homophily"] {
            assert_eq!(info[key], made[key], "{key} of {kind}");
        }
        let run = path("-run");
        let summary = json(folder, &["train", "--data", &data, "--epochs", "2", "--hidden", "8", "--out", &run]);
        let said = json(folder, &["trust", "--run", &run, "--curve-nodes", "0", "--out", &path("-trust")]);
        let planted = &said["planted"];
        assert!(planted["entities"].as_u64().unwrap() >= 5, "{kind}: {planted}");
        assert_eq!(summary["planted_auc_of_effects"], planted["auc"], "{kind}");
        let text = stdout(folder, &["trust", "--run", &run, "--curve-nodes", "0", "--out", &path("-trust")]);
        let entities = planted["entities"].as_u64().unwrap();
        assert!(
            text.contains("the exact effects") && text.contains(&format!("planted AUC over {entities} ")),
            "{text}"
        );
    }
}
