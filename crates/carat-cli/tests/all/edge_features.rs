//! Columns of edges.csv from training to every command that uses a run: a class that only the edges tell.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{assert_fails, carat, json, stdout};
use serde_json::Value;

const NODES: u32 = 150;

/// Every account is paid by a shop and by a bank. The larger payment, which is of another kind, tells its class.
fn export(folder: &Path, header: &str, row: impl Fn(&str, u32, u32, &str) -> String) {
    let mut nodes = "id,label,shop,bank\nshop,,1,0\nbank,,0,1\n".to_string();
    let mut edges = format!("{header}\n");
    for n in 0..NODES {
        let class = n * 7 % 5 % 2;
        writeln!(nodes, "a{n},{},0,0", ["retail", "finance"][class as usize]).unwrap();
        for (source, name) in [(0, "shop"), (1, "bank")] {
            let (amount, kind) = if source == class { (900 + n, "salary") } else { (10 + n % 9, "card") };
            writeln!(edges, "{}", row(name, n, amount, kind)).unwrap();
        }
    }
    std::fs::create_dir(folder).unwrap();
    std::fs::write(folder.join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.join("edges.csv"), edges).unwrap();
}

const SIZES: [&str; 12] = [
    "--layers",
    "1",
    "--hidden",
    "16",
    "--epochs",
    "80",
    "--patience",
    "80",
    "--weight-decay",
    "0.0005",
    "--dropout",
    "0.2",
];

struct Bank {
    folder: tempfile::TempDir,
}

impl Bank {
    fn new() -> Self {
        let bank = Self { folder: tempfile::tempdir().unwrap() };
        export(&bank.path("week0"), "src,dst,amount,kind", |source, n, amount, kind| {
            format!("{source},a{n},{amount},{kind}")
        });
        bank
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// What a command says on stderr and prints; paths are relative to the folder.
    fn run(&self, args: &[&str]) -> (String, String) {
        let output = carat(self.folder.path(), args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {said}");
        (said, String::from_utf8(output.stdout).unwrap())
    }

    fn train(&self, run: &str, flags: &[&str]) -> String {
        let (data, out) = (self.at("week0"), self.at(run));
        self.run(&[&["train", "--data", &data, "--out", &out, "--preset", "strong"], &SIZES[..], flags].concat()).0
    }

    fn accuracy(&self, run: &str) -> f64 {
        let summary = std::fs::read(self.path(run).join("summary.json")).unwrap();
        serde_json::from_slice::<Value>(&summary).unwrap()["test_accuracy"].as_f64().unwrap()
    }
}

#[test]
fn what_only_edges_tell_is_learnt_and_predicted_in_other_data() {
    let bank = Bank::new();
    for arch in ["gat", "gatv2", "transformer"] {
        assert_eq!(bank.train(arch, &["--arch", arch]), "");
        assert!(bank.accuracy(arch) > 0.95, "{arch}: {}", bank.accuracy(arch));
    }
    let said = bank.train("blind", &["--edge-features=false"]);
    assert!(said.contains("note: the edges of week0 have features (3), which attention does not read"), "{said}");
    assert!(bank.accuracy("blind") < 0.8);
    let said = bank.train("gcn", &["--model", "gcn"]);
    assert!(said.contains("which a gcn does not read"), "{said}");
    let encoding = std::fs::read_to_string(bank.path("gat/encoding.toml")).unwrap();
    assert!(encoding.contains("[[edges]]\nname = \"amount\"\nkind = \"number\""), "{encoding}");

    let (run, out) = (bank.at("gat"), bank.at("out.csv"));
    let predict = |data: &str| carat(bank.folder.path(), &["predict", "--run", &run, "--out", &out, "--data", data]);
    export(&bank.path("week1"), "kind,amount,dst,src", |source, n, amount, kind| {
        let kind = if n == 3 { "gift" } else { kind };
        format!("{kind},{},a{n},{source}", amount * 2)
    });
    let output = predict(&bank.at("week1"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("note: edges: column 'kind': 2 rows have a text"), "{said}");
    let rows = std::fs::read_to_string(&out).unwrap();
    let right = rows.lines().filter(|row| row.matches("retail").count() == 2 || row.matches("finance").count() == 2);
    assert!(right.count() > 140, "{rows}");
    export(&bank.path("week2"), "src,dst,amount", |source, n, amount, _| format!("{source},a{n},{amount}"));
    let lacks = "the table of edges of week2 lacks columns of the training data: 'kind'";
    assert_fails(&predict(&bank.at("week2")), 2, &[lacks]);
}

#[test]
fn every_command_works_on_a_run_that_reads_edge_features() {
    let bank = Bank::new();
    let folder = bank.folder.path();
    let info = stdout(folder, &["data", "info", &bank.at("week0")]);
    let lines: Vec<&str> = info.lines().skip_while(|line| !line.starts_with("edge column")).collect();
    assert!(lines.len() == 3 && lines[1].starts_with("amount") && lines[2].starts_with("kind"), "{info}");
    assert_eq!(json(folder, &["data", "info", &bank.at("week0")])["edge_columns"][1]["features"], 2);

    bank.train("plain", &["--residual", "linear"]);
    bank.train("car", &["--residual", "linear", "--lambda", "1"]);
    let (plain, car, out) = (bank.at("plain"), bank.at("car"), bank.at("out.csv"));
    for (command, rows) in [("predict", NODES + 2), ("attention", 2 * NODES * 4), ("effects", 2 * NODES)] {
        assert_eq!(json(folder, &[command, "--run", &car, "--out", &out])["rows"], rows, "{command}");
    }
    // The salary decides, and so the edges of salaries help.
    let effects = std::fs::read_to_string(&out).unwrap();
    assert!(effects.starts_with("src,src_id,dst,dst_id,"), "{effects}");
    bank.run(&["explain", "--base", &plain, "--car", &car, "--out", &bank.at("explained")]);
    let node = bank.at("node.html");
    bank.run(&["explore", &plain, &car, "--node", "a7", "--export", &node]);
    bank.run(&["rewire", "--run", &car, "--apply", "0.3", "--out", &bank.at("pruned")]);
    let pruned = std::fs::read_to_string(bank.path("pruned/edges.csv")).unwrap();
    assert!(pruned.starts_with("src,dst,amount,kind\n") && pruned.contains(",salary"), "{pruned}");
    bank.run(&[
        "train",
        "--data",
        &bank.at("pruned"),
        "--preset",
        "strong",
        "--epochs",
        "2",
        "--out",
        &bank.at("again"),
    ]);

    bank.train("blind", &["--edge-features=false"]);
    let output = carat(folder, &["explain", "--base", &bank.at("blind"), "--car", &car, "--out", &bank.at("no")]);
    assert_fails(&output, 2, &["undirected, self-loops and edge-features must be the same"]);
}

#[test]
fn a_run_from_before_edge_features_goes_on_without_them() {
    let bank = Bank::new();
    let (data, run) = (bank.at("week0"), bank.at("old"));
    bank.run(&["train", "--data", &data, "--epochs", "2", "--hidden", "8", "--out", &run]);
    let config = std::fs::read_to_string(bank.path("old/config.toml")).unwrap();
    assert!(!config.contains("edge-features"), "{config}");
    let (said, _) = bank.run(&["predict", "--run", &run, "--out", &bank.at("p.csv")]);
    assert_eq!(said, "");
    let same = stdout(bank.folder.path(), &["train", "--resume", "--out", &run]);
    assert!(same.contains("2 epochs"), "{same}");
}
