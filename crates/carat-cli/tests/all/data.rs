//! `carat data`, by the real binary: figures against the published table, errors, exit codes, round trips.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{assert_fails, carat, data_dir, json, stdout};
use serde_json::Value;

struct Published {
    name: &'static str,
    /// Nodes, edges, features, classes, splits.
    sizes: [u64; 5],
    /// Of the first split: train, val, test.
    split: Option<[u64; 3]>,
    homophily: Option<f64>,
}

const fn published(name: &'static str, sizes: [u64; 5], split: Option<[u64; 3]>, homophily: Option<f64>) -> Published {
    Published { name, sizes, split, homophily }
}

const TABLE: [Published; 8] = [
    published("cora", [2_708, 10_556, 1_433, 7, 1], Some([140, 500, 1_000]), Some(0.81)),
    published("citeseer", [3_327, 9_104, 3_703, 6, 1], Some([120, 500, 1_000]), Some(0.74)),
    published("pubmed", [19_717, 88_648, 500, 3, 1], Some([60, 500, 1_000]), Some(0.80)),
    published("cornell", [183, 295, 1_703, 5, 10], None, Some(0.12)),
    published("wisconsin", [251, 499, 1_703, 5, 10], None, Some(0.17)),
    published("chameleon", [2_277, 36_051, 2_325, 5, 10], None, Some(0.23)),
    published("squirrel", [5_201, 216_933, 2_089, 5, 10], None, Some(0.22)),
    published("arxiv-tape", [169_343, 1_166_243, 40, 40, 1], Some([90_941, 29_799, 48_603]), None),
];

/// Name and number of graphs; nodes, edges, features and classes as counted from the files.
const GRAPH_SETS: [(&str, u64, [u64; 4]); 3] = [
    ("MUTAG", 188, [3_371, 7_442, 7, 2]),
    ("PROTEINS", 1_113, [43_471, 162_088, 4, 2]),
    ("NCI1", 4_110, [122_747, 265_506, 37, 2]),
];

fn sizes(document: &Value) -> [u64; 5] {
    ["nodes", "edges", "features", "classes", "splits"].map(|key| document[key].as_u64().unwrap())
}

#[test]
fn info_equals_the_published_table() {
    let Some(data) = data_dir() else { return };
    for row in TABLE {
        let info = json(&data, &["data", "info", row.name]);
        assert_eq!(info["name"], row.name);
        assert_eq!(sizes(&info), row.sizes, "{}", row.name);
        let degree = row.sizes[1] as f64 / row.sizes[0] as f64;
        assert!((info["mean_degree"].as_f64().unwrap() - degree).abs() < 1e-12);
        if let Some(homophily) = row.homophily {
            let found = info["homophily"].as_f64().unwrap();
            assert!((found - homophily).abs() < 0.005, "{}: {found}", row.name);
        }
        if let Some(split) = row.split {
            let found = ["train", "val", "test"].map(|role| info["split_sizes"][0][role].as_u64().unwrap());
            assert_eq!(found, split, "{}", row.name);
        }
        assert!(info.get("graphs").is_none());
    }
}

#[test]
fn info_of_graph_sets_counts_graphs() {
    let Some(data) = data_dir() else { return };
    for (name, graphs, [nodes, edges, features, classes]) in GRAPH_SETS {
        let info = json(&data, &["data", "info", &name.to_lowercase()]);
        assert_eq!(info["name"], name);
        assert_eq!(info["graphs"], graphs);
        assert_eq!(sizes(&info), [nodes, edges, features, classes, 0], "{name}");
        assert!(info["homophily"].is_null());
    }
}

#[test]
fn info_of_the_family_sums_it_up_and_lists_its_members() {
    let Some(data) = data_dir() else { return };
    let info = json(&data, &["data", "info", "syn-cora"]);
    assert_eq!(sizes(&info), [1_490, 5_936, 1_433, 5, 0]);
    let range = [0, 1].map(|end| info["homophily_range"][end].as_f64().unwrap());
    assert!(range[0] < 0.01 && range[1] > 0.99, "{range:?}");
    let members = info["variants"].as_array().unwrap();
    assert_eq!(members.len(), 33);
    let member = members.iter().find(|m| m["name"] == "syn-cora-h0.30-r2").unwrap();
    assert!((member["homophily"].as_f64().unwrap() - 0.3).abs() < 0.02);
    let alone = json(&data, &["data", "info", "syn-cora-h0.30-r2"]);
    assert_eq!(&alone, member);
    let file = data.join("syn-cora/h0.30-r2.npz");
    assert_eq!(sizes(&json(&data, &["data", "info", file.to_str().unwrap()])), sizes(&alone));
}

#[test]
fn text_has_the_same_figures_with_thousands_separators() {
    let Some(data) = data_dir() else { return };
    let text = stdout(&data, &["data", "info", "cora"]);
    for part in ["2,708", "10,556", "1,433", "140 / 500 / 1,000", "0.81"] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
}

#[test]
fn list_shows_every_dataset_and_whether_it_is_here() {
    let empty = tempfile::tempdir().unwrap();
    let listing = json(empty.path(), &["data", "list"]);
    let rows = listing["datasets"].as_array().unwrap();
    assert_eq!(rows.len(), 19);
    assert!(rows.iter().all(|row| row["present"] == false));
    assert!(stdout(empty.path(), &["data", "list"]).contains("1,166,243"));
    // The catalogue's figures are those of the files.
    let Some(data) = data_dir() else { return };
    let listing = json(&data, &["data", "list"]);
    // The large ones of Platonov et al. need not be in a data folder.
    let large = ["roman-empire", "amazon-ratings", "tolokers", "questions"];
    for row in listing["datasets"].as_array().unwrap() {
        if row["present"] == false && large.iter().any(|name| row["name"] == *name) {
            continue;
        }
        assert_eq!(row["present"], true, "{}", row["name"]);
        assert_eq!(
            sizes(row),
            sizes(&json(&data, &["data", "info", row["name"].as_str().unwrap()])),
            "{}",
            row["name"]
        );
    }
}

#[test]
fn wrong_input_is_exit_code_2_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |args: &[&str], parts: &[&str]| assert_fails(&carat(folder.path(), args), 2, parts);
    fails(&["data", "info", "coar"], &["'coar'", "did you mean 'cora'?"]);
    fails(&["data", "get", "cora", "citseer"], &["did you mean 'citeseer'?"]);
    fails(&["data", "info", "cora"], &["not in the data folder", "carat data get cora"]);
    fails(&["data", "info", "no/such/file.npz"], &["no/such/file.npz", "no such file"]);
    fails(&["data", "convert", "syn-cora", "out.npz"], &["family", "syn-cora-h0.00-r1"]);
    fails(&["data", "convert", "cora", "out.csv"], &["out.csv", ".npz"]);
    fails(&["data", "convert", "cora", "out.npz", "--format", "csv"], &["--format"]);
    fails(&["data", "get", "cora", "--mirror", "ftp://x"], &["--mirror", "web address"]);
    fails(&["data", "generate", "planted", "--nodes", "1", "--out", "x.npz"], &["nodes"]);
    let damaged = folder.path().join("damaged.npz");
    fs::write(&damaged, "PK\x03\x04 and then nothing").unwrap();
    fails(&["data", "info", damaged.to_str().unwrap()], &["damaged.npz"]);
    assert!(!Path::new("x.npz").exists());
}

#[test]
fn wrong_flags_are_exit_code_2_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    for (args, part) in [
        (&["data", "info"][..], "<NAME|PATH>"),
        (&["data", "list", "--jsn"], "--json"),
        (&["dat"], "'data'"),
        (&["data", "lst"], "'list'"),
        (&["data", "generate", "planted"], "--out"),
        (&["data", "generate", "planted", "--out", "x", "--nodes", "many"], "--nodes"),
        (&["data", "get"], "<NAME>"),
        (&["data", "get", "cora", "--timeout", "0"], "--timeout"),
    ] {
        let output = carat(folder.path(), args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && said.contains(part), "{args:?}: {said}");
    }
    for args in [&["--help"][..], &["data", "--help"], &["data", "get", "--help"], &["data", "generate", "--help"]] {
        assert!(stdout(folder.path(), args).contains("Examples:"), "{args:?}");
    }
}

#[test]
fn failed_work_is_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    assert_fails(&carat(folder.path(), &["data", "get", "arxiv-tape"]), 1, &["no public address", "--mirror"]);
    let blocked = folder.path().join("blocked");
    fs::write(&blocked, "a file, not a folder").unwrap();
    let out = blocked.join("x.npz");
    let args = ["data", "generate", "planted", "--nodes", "100", "--out", out.to_str().unwrap()];
    assert_fails(&carat(folder.path(), &args), 1, &["blocked", "cannot write"]);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(["data", "list", "--json"])
        .env("CARAT_DATA", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(said, "");
}

#[test]
fn converting_back_and_forth_changes_nothing() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (first, csv, parquet, second) = (at("first.npz"), at("csv"), at("parquet"), at("second.npz"));
    let original = json(&data, &["data", "info", "cora"]);
    let written = json(&data, &["data", "convert", "cora", &first]);
    assert_eq!(written["out"], first.as_str());
    json(&data, &["data", "convert", &first, &csv]);
    json(&data, &["data", "convert", &csv, &parquet, "--format", "parquet"]);
    json(&data, &["data", "convert", &parquet, &second]);
    assert!(Path::new(&csv).join("edges.csv").is_file() && Path::new(&parquet).join("nodes.parquet").is_file());
    for path in [&first, &csv, &parquet, &second] {
        let info = json(&data, &["data", "info", path]);
        for key in ["nodes", "edges", "features", "classes", "splits", "split_sizes", "mean_degree", "homophily"] {
            assert_eq!(info[key], original[key], "{key} of {path}");
        }
    }
}

#[test]
fn generated_graphs_repeat_by_seed_and_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let make = |name: &str, seed: &str| {
        let args = ["data", "generate", "planted", "--nodes", "300", "--mean-degree", "5", "--seed", seed];
        json(folder.path(), &[&args[..], &["--out", &at(name)]].concat())
    };
    let (first, other) = (make("a.npz", "1"), make("c.npz", "2"));
    make("b.npz", "1");
    assert_eq!(first["nodes"], 300);
    assert!(first["spurious_edges"].as_u64().unwrap() > 0);
    assert_eq!(fs::read(at("a.npz")).unwrap(), fs::read(at("b.npz")).unwrap());
    assert_ne!(fs::read(at("a.npz")).unwrap(), fs::read(at("c.npz")).unwrap());
    assert_eq!(sizes(&json(folder.path(), &["data", "info", &at("a.npz")])), sizes(&first));
    assert_eq!(other["classes"], 5);
    let source = at("a.npz");
    let args = ["data", "generate", "homophily", "--source", &source, "--nodes", "200", "--homophily", "0.8"];
    let grown = json(folder.path(), &[&args[..], &["--classes", "all", "--out", &at("grown")]].concat());
    assert_eq!(grown["nodes"], 200);
    assert!((grown["homophily"].as_f64().unwrap() - 0.8).abs() < 0.1);
    assert_eq!(sizes(&json(folder.path(), &["data", "info", &at("grown")])), sizes(&grown));
}

/// Serves the files of a folder over HTTP until the process ends.
fn serve(root: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let path = lines.next().unwrap_or_default().split(' ').nth(1).unwrap_or("/").to_string();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let (status, body) = match fs::read(root.join(path.trim_start_matches('/'))) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // The client may hang up when it has seen enough.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

#[test]
fn get_fetches_from_a_mirror_and_the_result_can_be_read() {
    let Some(data) = data_dir() else { return };
    let mirror = serve(data.clone());
    let folder = tempfile::tempdir().unwrap();
    let get = ["data", "get", "cornell", "chameleon", "syn-cora-h1.00-r3", "mutag", "--mirror", &mirror];
    let report = json(folder.path(), &get);
    let fetched: Vec<usize> =
        report["datasets"].as_array().unwrap().iter().map(|d| d["fetched"].as_array().unwrap().len()).collect();
    assert_eq!(fetched, [12, 12, 1, 5]);
    assert!(stdout(folder.path(), &get).contains("cornell: 12 files there already"));
    for name in ["cornell", "chameleon", "syn-cora-h1.00-r3", "MUTAG"] {
        let here = json(folder.path(), &["data", "info", name]);
        assert_eq!(here, json(&data, &["data", "info", name]));
    }
    // The rest of the family is still missing, and the error says so.
    assert_fails(&carat(folder.path(), &["data", "info", "syn-cora"]), 2, &["carat data get"]);
    assert_fails(&carat(folder.path(), &["data", "get", "cora", "--mirror", &format!("{mirror}/none")]), 1, &["404"]);
}
