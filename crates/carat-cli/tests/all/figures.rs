//! Figures of predictions as a user meets them: two classes, one of them rare.

use std::fmt::Write;
use std::path::Path;

use crate::support::{assert_fails, carat, json, stdout};
use serde_json::Value;

/// A folder with payments, of which one in ten is fraud and has a larger first feature.
fn payments() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("payments");
    std::fs::create_dir(&data).unwrap();
    let (mut nodes, mut edges) = ("id,label,amount,noise\n".to_string(), "src,dst\n".to_string());
    for node in 0..300 {
        let noise = f64::from(node * 37 % 101) / 101.0;
        let amount = if node % 10 == 0 { 1.0 + noise } else { 1.6 * f64::from(node * 53 % 97) / 97.0 };
        writeln!(nodes, "{node},{},{amount},{noise}", u8::from(node % 10 == 0)).unwrap();
        writeln!(edges, "{node},{}\n{},{node}", (node * 7 + 3) % 300, (node * 11 + 5) % 300).unwrap();
    }
    std::fs::write(data.join("nodes.csv"), nodes).unwrap();
    std::fs::write(data.join("edges.csv"), edges).unwrap();
    let path = data.display().to_string();
    (folder, path)
}

fn train(folder: &Path, data: &str, out: &str, more: &[&str]) -> String {
    let flags = ["train", "--data", data, "--hidden", "8", "--heads", "1", "--epochs", "30", "--lr", "0.02"];
    stdout(folder, &[&flags, more, &["--out", out]].concat())
}

#[test]
fn a_rare_class_is_judged_by_its_ranking() {
    let (folder, data) = payments();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let said = train(folder.path(), &data, &at("run"), &[]);
    let place = |word: &str| said.find(word).unwrap_or_else(|| panic!("{word} is not in: {said}"));
    assert!(place("ROC AUC") < place("average precision") && place("average precision") < place("loss"), "{said}");
    assert!(said.contains("class 1 (6 of 60): precision "), "{said}");

    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("run/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["lead"], "ranking");
    for figure in ["test_roc_auc", "val_average_precision", "train_macro_f1", "test_calibration_error"] {
        let value = summary[figure].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&value), "{figure}: {value}");
    }
    let confusion: Vec<Vec<u64>> = serde_json::from_value(summary["test"]["confusion"].clone()).unwrap();
    assert_eq!(confusion.iter().flatten().sum::<u64>(), 60);
    let accuracy = (confusion[0][0] + confusion[1][1]) as f64 / 60.0;
    assert_eq!(summary["test_accuracy"].as_f64(), Some(accuracy));

    // Predictions on the run's own data have the figures of its training; on other data, those of all labels.
    let predict =
        |more: &[&str]| json(folder.path(), &[&["predict", "--run", &at("run"), "--out", &at("p.csv")], more].concat());
    let own = predict(&[]);
    for (set, prefix) in [("test", "test"), ("validation", "val"), ("training", "train")] {
        for figure in ["loss", "accuracy", "roc_auc", "average_precision", "brier"] {
            let trained = summary[format!("{prefix}_{figure}")].as_f64().unwrap();
            assert!((own["figures"][set][figure].as_f64().unwrap() - trained).abs() < 1e-6, "{set} {figure}");
        }
    }
    let copy = at("copy");
    std::fs::create_dir(&copy).unwrap();
    for file in ["nodes.csv", "edges.csv"] {
        std::fs::copy(Path::new(&data).join(file), Path::new(&copy).join(file)).unwrap();
    }
    let other = predict(&["--data", &copy]);
    assert!(other["figures"]["labelled"]["roc_auc"].is_number() && other["figures"]["test"].is_null(), "{other}");
}

#[test]
fn runs_and_sweeps_are_reported_with_chosen_figures() {
    let (folder, data) = payments();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for seed in ["0", "1"] {
        train(folder.path(), &data, &at(&format!("run{seed}")), &["--seed", seed]);
    }
    let report = |more: &[&str]| stdout(folder.path(), &[&["report", "--out", &at("report")], more].concat());
    let said = report(&[&at("run0")]);
    assert!(said.contains("ROC AUC is 0.") && said.contains("of class 1"), "{said}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join("report").join(name)).unwrap();
    let page = read("index.html");
    for part in ["Confusion matrix", "Calibration", "cell series-1"] {
        assert!(page.contains(part), "'{part}' is not in the page");
    }
    report(&[&at("run0"), &at("run1"), "--figures", "test_macro_f1,train_brier"]);
    assert!(read("report.md").contains("| test macro F1 | training Brier score |"), "{}", read("report.md"));

    std::fs::write(at("grid.toml"), "hidden = [4, 8]\nheads = 1\nepochs = 5\nseeds = 2\n").unwrap();
    stdout(folder.path(), &["sweep", "--data", &data, "--grid", &at("grid.toml"), "--store", &at("s.db")]);
    report(&[&at("s.db"), "--figures", "test_roc_auc,test_average_precision"]);
    let markdown = read("report.md");
    assert!(markdown.contains("Figures by setting") && markdown.contains("test ROC AUC"), "{markdown}");
    let refused = |args: &[&str], parts: &[&str]| assert_fails(&carat(folder.path(), args), 2, parts);
    refused(&["report", &at("s.db"), "--figures", "auc"], &["auc", "test_roc_auc"]);
    refused(&["report", &at("s.db"), &at("run0")], &["give run folders or stores, not both"]);
    refused(&["report", &at("payments")], &["neither a store nor a run folder"]);
}
