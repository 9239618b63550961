//! `carat effects` as a user runs it: against deleting edges from the graph's file, on real data, and interrupted.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::csv::rows;
use crate::support::samples::{self, f32s, i64s};
use crate::support::{carat, data_dir, json, stdout, workshop};

const NODES: usize = 24;

/// Edges of every awkward kind: a hub, self-loops, nodes with one in-edge and with none.
fn edges() -> Vec<(i64, i64)> {
    let mut edges: Vec<(i64, i64)> = (1..16).map(|i| (i, 0)).collect();
    edges.extend([(0, 0), (5, 5), (3, 5), (0, 16), (16, 17), (17, 18), (18, 17), (2, 18), (21, 22), (22, 21)]);
    edges.extend((1..15).map(|i| (i, (7 * i + 3) % 15)).filter(|(i, j)| i != j));
    edges.extend((1..15).map(|i| ((7 * i + 3) % 15, i)).filter(|(i, j)| i != j));
    edges.sort_by_key(|&(i, j)| (j, i));
    edges.dedup();
    edges
}

/// Writes the graph with these edges; every fifth node has no label.
fn write(path: &Path, edges: &[(i64, i64)]) {
    let index: Vec<i64> = edges.iter().map(|e| e.0).chain(edges.iter().map(|e| e.1)).collect();
    let x: Vec<f32> = (0..NODES * 3).map(|at| ((at * 37 + 11) % 29) as f32 / 14.0 - 1.0).collect();
    let y: Vec<i64> = (0..NODES as i64).map(|n| if n % 5 == 4 { -1 } else { n % 3 }).collect();
    let mask = |role: usize| (0..NODES).map(|n| u8::from(n % 3 == role)).collect::<Vec<u8>>();
    let arrays = [
        ("edge_index", "<i8", &[2, edges.len()][..], i64s(&index)),
        ("x", "<f4", &[NODES, 3], f32s(&x)),
        ("y", "<i8", &[NODES], i64s(&y)),
        ("train_mask", "|b1", &[NODES], mask(0)),
        ("val_mask", "|b1", &[NODES], mask(1)),
        ("test_mask", "|b1", &[NODES], mask(2)),
    ];
    std::fs::write(path, samples::npz(&arrays)).unwrap();
}

/// Cross-entropy of every node's prediction for the given classes, by `carat predict`.
fn losses(folder: &Path, run: &str, graph: &Path, classes: &[usize]) -> Vec<f64> {
    let out = folder.join("predictions.csv");
    let (graph, file) = (graph.display().to_string(), out.display().to_string());
    stdout(folder, &["predict", "--run", run, "--data", &graph, "--out", &file]);
    rows(&out).iter().zip(classes).map(|(row, class)| -row[&format!("p_{class}")].ln()).collect()
}

#[test]
fn effects_are_what_predictions_on_the_cut_graph_say() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (graph, edges) = (folder.join("graph.npz"), edges());
    write(&graph, &edges);
    let data = graph.display().to_string();
    for (arch, layers, exponent, preset, norm) in [
        ("gat", "1", "degree", "paper", "none"),
        ("gatv2", "2", "one", "paper", "none"),
        ("transformer", "3", "degree", "paper", "none"),
        ("gat", "2", "degree", "strong", "layer"),
        ("gatv2", "3", "one", "strong", "batch"),
    ] {
        let run = folder.join(format!("{arch}-{preset}")).display().to_string();
        let sizes = ["--hidden", "6", "--heads", "2", "--epochs", "8", "--patience", "8", "--temperature", "0.4"];
        let settings = ["--arch", arch, "--layers", layers, "--exponent", exponent, "--lambda", "1"];
        let settings = [&settings[..], &["--preset", preset, "--norm", norm]].concat();
        stdout(folder, &[&["train", "--data", &data, "--out", &run], &sizes[..], &settings].concat());
        let out = folder.join("effects.csv");
        let file = out.display().to_string();
        let said = stdout(folder, &["effects", "--run", &run, "--out", &file]);
        assert_eq!(said, format!("{} edges -> {file}\n", edges.len()));
        let header = "src,dst,degree,loss,loss_without,delta,delta_predicted,flips,rho,effect\n";
        assert!(std::fs::read_to_string(&out).unwrap().starts_with(header));
        let measured = rows(&out);
        let order: Vec<(i64, i64)> = measured.iter().map(|row| (row["src"] as i64, row["dst"] as i64)).collect();
        assert_eq!(order, edges, "every edge once, by target and source");

        stdout(folder, &["predict", "--run", &run, "--out", &folder.join("p.csv").display().to_string()]);
        let classes: Vec<usize> = rows(&folder.join("p.csv"))
            .iter()
            .map(|row| if row["label"] < 0.0 { row["predicted"] as usize } else { row["label"] as usize })
            .collect();
        let with = losses(folder, &run, &graph, &classes);
        let predicted: Vec<usize> =
            rows(&folder.join("predictions.csv")).iter().map(|row| row["predicted"] as usize).collect();
        let with_predicted = losses(folder, &run, &graph, &predicted);
        for (at, row) in measured.iter().enumerate().step_by(5) {
            let (src, dst) = edges[at];
            let cut = folder.join("cut.npz");
            write(&cut, &edges.iter().copied().filter(|edge| *edge != (src, dst)).collect::<Vec<_>>());
            let without = losses(folder, &run, &cut, &classes)[dst as usize];
            let with = with[dst as usize];
            let near = |found: f64, expected: f64| (found - expected).abs() < 2e-4 * expected.max(0.05);
            let what = format!("{arch}, {preset} ({src}, {dst})");
            assert!(near(row["loss"], with) && near(row["loss_without"], without), "{what}: {row:?}, {with} {without}");
            assert!(near(row["rho"], row["loss_without"] / row["loss"]), "{what}: {row:?}");
            assert!(near(row["rho"], without / with), "{what}: {row:?}");
            let change = losses(folder, &run, &cut, &predicted)[dst as usize] - with_predicted[dst as usize];
            let close = |found: f64, expected: f64| (found - expected).abs() < 1e-3 * expected.abs().max(0.05);
            assert!(close(row["delta"], without - with) && close(row["delta_predicted"], change), "{what}: {row:?}");
            let now = rows(&folder.join("predictions.csv"))[dst as usize]["predicted"] as usize;
            assert_eq!(row["flips"], f64::from(u8::from(now != predicted[dst as usize])), "{what}: {row:?}");
            let degree = edges.iter().filter(|edge| edge.1 == dst).count() as f64;
            assert_eq!(row["degree"], degree);
            let power = if exponent == "one" { 1.0 } else { degree };
            let effect = 1.0 / (1.0 + (-(row["rho"].powf(power) - 1.0) / 0.4).exp());
            assert!((row["effect"] - effect).abs() < 1e-9, "{what}: {row:?}");
        }
    }
}

#[test]
fn nodes_formats_and_threads() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (graph, edges) = (folder.join("graph.npz"), edges());
    write(&graph, &edges);
    let (data, run) = (graph.display().to_string(), folder.join("run").display().to_string());
    stdout(folder, &["train", "--data", &data, "--hidden", "6", "--epochs", "3", "--out", &run]);
    let path = |name: &str| folder.join(name).display().to_string();
    stdout(folder, &["effects", "--run", &run, "--out", &path("all.csv"), "--threads", "1"]);
    stdout(folder, &["effects", "--run", &run, "--out", &path("again.csv"), "--threads", "3"]);
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(bytes("all.csv"), bytes("again.csv"), "whatever the number of threads");
    let all = rows(&folder.join("all.csv"));
    for (role, nodes) in ["train", "val", "test"].iter().enumerate() {
        let out = path(&format!("{nodes}.csv"));
        let report = json(folder, &["effects", "--run", &run, "--nodes", nodes, "--out", &out]);
        let found = rows(Path::new(&out));
        let expected: Vec<_> = all.iter().filter(|row| row["dst"] as usize % 3 == role).collect();
        assert_eq!(found.len(), expected.len());
        // The same up to the rounding of another batch.
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5 * b.abs().max(1e-2);
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.values().zip(expected.values()).all(near), "{found:?} for {expected:?}");
        }
        assert_eq!((report["rows"].as_u64(), report["out"].as_str()), (Some(found.len() as u64), Some(out.as_str())));
    }
    for ending in ["parquet", "npz", "csv.gz"] {
        let out = path(&format!("effects.{ending}"));
        let report = json(folder, &["effects", "--run", &run, "--out", &out]);
        assert_eq!(report["rows"], edges.len());
        assert!(std::fs::metadata(&out).unwrap().len() > 0);
    }
}

#[test]
fn effects_on_cora() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let run = path("run");
    let flags = ["--hidden", "16", "--heads", "2", "--epochs", "30", "--lambda", "1"];
    stdout(&data, &[&["train", "--data", "cora", "--out", &run], &flags[..]].concat());
    for (nodes, expected) in [("all", 10_556), ("train", 638)] {
        let out = path(&format!("{nodes}.csv"));
        assert_eq!(json(&data, &["effects", "--run", &run, "--nodes", nodes, "--out", &out])["rows"], expected);
        let rows = rows(Path::new(&out));
        assert!(rows.iter().flat_map(BTreeMap::values).all(|value| value.is_finite()));
        assert!(rows.iter().all(|row| (0.0..=1.0).contains(&row["effect"]) && row["rho"] >= 0.0));
        let helpful = rows.iter().filter(|row| row["effect"] > 0.5).count();
        assert!(helpful > expected / 10 && helpful < expected * 9 / 10, "{helpful} of {expected}");
    }
}

/// Waits until a process has taken over Ctrl-C; before that, one would end it as it ends any program.
#[cfg(target_os = "linux")]
fn wait_for_handler(process: u32) {
    const INTERRUPT: u64 = 1 << 1;
    for _ in 0..6000 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        if u64::from_str_radix(caught.trim(), 16).unwrap() & INTERRUPT != 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the process never takes over Ctrl-C");
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_writes_no_file_and_keeps_the_old_one() {
    use std::process::{Command, Stdio};
    // Three layers make every deletion touch the neighbours' neighbours too: work for minutes, were it not stopped.
    let (folder, _) = workshop(60);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (graph, run, out) = (path("large.npz"), path("run"), path("effects.csv"));
    stdout(folder.path(), &["data", "generate", "planted", "--nodes", "3000", "--mean-degree", "60", "--out", &graph]);
    let sizes = ["--hidden", "32", "--layers", "3", "--heads", "3", "--epochs", "1", "--batch-size", "50"];
    stdout(folder.path(), &[&["train", "--data", &graph, "--out", &run, "--fanout", "5,5,5"], &sizes[..]].concat());
    std::fs::write(&out, "what was there before").unwrap();
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let child = Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(["effects", "--run", &run, "--out", &out])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_handler(child.id());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("error: interrupted before the work was done; nothing was written\n"), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "what was there before");
    assert_eq!(names(), before);
}

#[test]
fn help_tells_what_the_columns_are() {
    let folder = tempfile::tempdir().unwrap();
    let output = carat(folder.path(), &["effects", "--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    for word in ["loss_without", "rho", "effect", "without a label", "[default: all]", "Examples:"] {
        assert!(help.contains(word), "'{word}' is not in: {help}");
    }
}
