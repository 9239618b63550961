//! `carat report` and `carat reproduce` as a user runs them.

use std::path::Path;

use crate::support::{carat, data_dir, json, stdout, workshop};
use serde_json::Value;

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_user_learns_whether_it_helps_on_their_graph() {
    let (folder, graph) = workshop(300);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let grid = "hidden = 6\nheads = 1\nlayers = 1\nlambda = [0, 1]\nregulariser = ['causal', 'constant']\nseeds = \
        4\nepochs = 30";
    std::fs::write(at("grid.toml"), format!("{grid}\nprotocol = ['paper', 'best']\n")).unwrap();
    stdout(folder.path(), &["sweep", "--data", &graph, "--grid", &at("grid.toml"), "--store", &at("store.db")]);
    let said = stdout(folder.path(), &["report", &at("store.db"), "--out", &at("report")]);
    // Both protocols, a strength, and how sure it is; wherever the lines break.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["graph", "protocol paper", "protocol best", "lambda 1", "24 finished runs", "No run failed"] {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
    let report = folder.path().join("report");
    let markdown = read(&report, "report.md");
    assert!(markdown.contains("Does CAR help on") && markdown.contains("| protocol"), "{markdown}");
    assert!(read(&report, "index.html").contains("Does CAR help on"));
    let tables = std::fs::read_dir(&report).unwrap().filter(|file| {
        let path = file.as_ref().unwrap().path();
        path.extension().is_some_and(|ending| ending == "csv")
            && std::fs::read_to_string(path).unwrap().lines().count() > 1
    });
    assert!(tables.count() >= 2);
    // The paper's items are about other data.
    assert!(!markdown.contains("Table 1: test loss"));
}

#[test]
fn hostile_names_stay_text() {
    let (folder, graph) = workshop(120);
    let hostile = "a<img src=x onerror=alert(1)>&\"'|`*.npz";
    std::fs::rename(&graph, folder.path().join(hostile)).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("grid.toml"), "hidden = 3\nheads = 1\nlayers = 1\nlambda = [0, 1]\nseeds = 2\nepochs = 3")
        .unwrap();
    stdout(folder.path(), &["sweep", "--data", &at(hostile), "--grid", &at("grid.toml"), "--store", &at("s.db")]);
    stdout(folder.path(), &["report", &at("s.db"), "--out", &at("report")]);
    let page = read(&folder.path().join("report"), "index.html");
    assert!(!page.contains("<img") && page.contains("&lt;img"));
}

#[test]
fn reproduce_lists_its_items() {
    let folder = tempfile::tempdir().unwrap();
    let items = json(folder.path(), &["reproduce"]);
    let names: Vec<&str> = items.as_array().unwrap().iter().map(|item| item["item"].as_str().unwrap()).collect();
    let expected = [
        "datasets",
        "table1",
        "accuracy",
        "figure2",
        "lambda",
        "figure3",
        "ablation",
        "transductive",
        "rounds",
        "cal",
        "homophily",
        "graphs",
        "rewiring",
        "interpretation",
        "runtime",
    ];
    assert_eq!(names, expected);
}

/// The real thing on the smallest dataset: the quick grid, every item that needs no other data.
#[test]
fn the_paper_on_cornell() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let reproduce = |items: &[&str]| -> Value {
        let flags = ["--quick", "--data", "cornell", "--store", &at("store.db"), "--out", &at("out")];
        json(&data, &[&["reproduce"], items, &flags[..]].concat())
    };
    let shown = reproduce(&["datasets", "table1", "figure2", "ablation"]);
    assert_eq!(shown["failed"], 0);
    // 3 kinds, 2 depths, 2 widths, both protocols: baselines, and lambda 1 and 5 with four arms.
    assert_eq!(shown["runs"], 3 * 2 * 2 * 2 * (1 + 2 * 4));
    let markdown = read(&folder.path().join("out"), "report.md");
    for part in ["Table 1: test loss", "183", "1.19 ± 0.23", "protocol best", "Holm"] {
        assert!(markdown.contains(part), "'{part}' is not in the report");
    }
    // Everything is there already.
    let output = carat(
        &data,
        &["reproduce", "table1", "--quick", "--data", "cornell", "--store", &at("store.db"), "--out", &at("again")],
    );
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("72 runs, 72 of them in the store"));
}
