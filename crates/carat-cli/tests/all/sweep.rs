//! `carat sweep` as a user runs it: killed, shared, sharded, failing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{assert_fails, carat, json, stdout, workshop};
use carat::metrics::RunFigures;
use carat_lab::sweep::{Curve, Outcome, Record, Store, merge};
use serde_json::Value;

/// 200 runs, 100 trainings, of a few milliseconds each.
const GRID: &str =
    "lambda = [0, 1]\nprotocol = ['paper', 'best']\nseeds = 50\nhidden = 4\nheads = 2\nlayers = 1\nepochs = 25";

fn grid(folder: &Path, graph: &str, text: &str) -> String {
    let path = folder.join("grid.toml");
    std::fs::write(&path, format!("data = '{graph}'\n{text}\n")).unwrap();
    path.display().to_string()
}

/// A run as a store holds it, without what the clock decides.
fn timeless(record: Record) -> (String, Option<Outcome>) {
    (record.key, record.result.ok().map(|outcome| Outcome { train_seconds: 0.0, ..outcome }))
}

/// All runs and curves of a store, in the order of keys.
fn contents(path: &Path) -> Vec<(String, Option<Outcome>, Option<Curve>)> {
    let store = Store::open_existing(path).unwrap();
    let records = store.records().unwrap().into_iter().map(timeless);
    records.map(|(key, outcome)| (key.clone(), outcome, store.curve(&key).unwrap())).collect()
}

fn sweep(grid: &str, store: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carat"));
    command.args(["sweep", "--grid", grid, "--json", "--store"]).arg(store);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

#[test]
fn a_sweep_killed_ten_times_ends_like_an_undisturbed_one() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, GRID);
    let (calm, hunted) = (folder.path().join("calm.db"), folder.path().join("hunted.db"));
    assert!(sweep(&grid, &calm).status().unwrap().success());
    let expected = contents(&calm);
    assert_eq!(expected.len(), 200);
    assert!(expected.iter().all(|(_, outcome, curve)| outcome.is_some() && curve.is_some()));

    // Each of ten processes dies at another moment once the store has grown, however fast the machine.
    let rows = || Store::open_existing(&hunted).and_then(|store| store.records()).map_or(0, |records| records.len());
    let mut seen = Vec::new();
    for kill in 0..10u64 {
        let before = rows();
        let mut child = sweep(&grid, &hunted).args(["--threads", "1"]).spawn().unwrap();
        for _ in 0..20_000 {
            // The first dies before it has stored anything, the others after one more training at least.
            if kill == 0 || rows() > before || child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(kill * 370));
        assert!(child.try_wait().unwrap().is_none(), "process {kill} ended by itself at {} runs", rows());
        child.kill().unwrap();
        child.wait().unwrap();
        seen.push(rows());
    }
    assert!(seen.iter().all(|rows| *rows < 200) && seen.is_sorted(), "{seen:?}");
    assert!(sweep(&grid, &hunted).status().unwrap().success());
    assert_eq!(contents(&hunted), expected);
    // A process killed while it made its file leaves that file; the others' are gone.
    let left = std::fs::read_dir(folder.path().join("hunted.db-workers")).into_iter().flatten();
    assert!(left.flatten().all(|file| file.file_name().to_string_lossy().starts_with('.')));
}

#[test]
fn two_processes_share_one_store_and_compute_nothing_twice() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, GRID);
    let (calm, shared) = (folder.path().join("calm.db"), folder.path().join("shared.db"));
    let children: Vec<_> = (0..3).map(|_| sweep(&grid, &shared).spawn().unwrap()).collect();
    let mut computed = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let tally: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((tally["runs"].as_u64(), tally["left"].as_u64()), (Some(200), Some(0)));
        computed.push(tally["computed"].as_u64().unwrap());
    }
    assert_eq!(computed.iter().sum::<u64>(), 200, "{computed:?}");
    assert!(sweep(&grid, &calm).status().unwrap().success());
    assert_eq!(contents(&shared), contents(&calm));
}

#[test]
fn shares_of_a_grid_merge_into_the_whole() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, "lambda = [0, 1]\nseeds = 12\nhidden = 4\nepochs = 3");
    let shares: Vec<_> = (1..=3)
        .map(|share| {
            let store = folder.path().join(format!("{share}.db"));
            assert!(sweep(&grid, &store).args(["--shard", &format!("{share}/3")]).status().unwrap().success());
            store
        })
        .collect();
    let stores: Vec<Store> = shares.iter().map(|path| Store::open_existing(path).unwrap()).collect();
    let sizes: Vec<usize> = stores.iter().map(|store| store.records().unwrap().len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 24, "{sizes:?}");
    let merged = merge(&stores).unwrap();
    assert_eq!((merged.runs.len(), merged.failures.len(), merged.left_out), (24, 0, 0));
}

#[test]
fn a_run_of_a_sweep_has_the_figures_of_carat_train() {
    let (folder, graph) = workshop(300);
    let text = "lambda = [0, 1]\nprotocol = ['paper', 'best']\nhidden = 8\nepochs = 60\nseed = 3\narch = ['gat', \
        'transformer']";
    let grid = grid(folder.path(), &graph, text);
    let path = folder.path().join("store.db");
    assert!(sweep(&grid, &path).status().unwrap().success());
    let store = Store::open_existing(&path).unwrap();
    let records = store.records().unwrap();
    assert_eq!(records.len(), 8);
    for record in records {
        let (config, outcome) = (record.config, record.result.unwrap());
        let out = folder.path().join(&record.key).display().to_string();
        let (lambda, arch, protocol) = (
            config.regulariser.lambda.to_string(),
            config.network.arch.to_string(),
            config.stopping.protocol.to_string(),
        );
        let summary = json(
            folder.path(),
            &[
                "train",
                "--data",
                &graph,
                "--hidden",
                "8",
                "--epochs",
                "60",
                "--seed",
                "3",
                "--lambda",
                &lambda,
                "--arch",
                &arch,
                "--protocol",
                &protocol,
                "--out",
                &out,
            ],
        );
        let figure = |name: &str| summary[name].as_f64();
        assert_eq!(figure("test_loss"), outcome.figures.test.loss, "{arch} {lambda} {protocol}");
        assert_eq!(figure("test_accuracy"), outcome.figures.test.accuracy);
        assert_eq!(figure("val_loss"), outcome.figures.val.loss);
        assert_eq!(figure("attention_kl"), outcome.figures.attention_kl);
        assert_eq!(figure("attention_auc"), outcome.figures.attention_auc);
        assert_eq!(serde_json::from_value::<RunFigures>(summary.clone()).unwrap(), outcome.figures);
        assert_eq!(summary["epochs"].as_u64(), Some(outcome.epochs as u64));
        let curve = store.curve(&record.key).unwrap().unwrap();
        let kept = curve.points[outcome.kept_epoch - 1];
        assert_eq!((Some(kept.test_loss), Some(kept.val_loss)), (outcome.figures.test.loss, outcome.figures.val.loss));
    }
}

/// What is there is not computed again, and the other protocol joins it.
#[test]
fn a_sweep_adds_what_is_missing() {
    let (folder, graph) = workshop(150);
    let store = folder.path().join("store.db");
    let tally = |protocols: &str| -> Value {
        let grid = grid(folder.path(), &graph, &format!("hidden = 4\nseeds = 6\nprotocol = [{protocols}]"));
        let output = sweep(&grid, &store).output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let numbers =
        |tally: &Value| ["runs", "found", "computed", "failed", "left"].map(|name| tally[name].as_u64().unwrap());
    assert_eq!(numbers(&tally("'best'")), [6, 0, 6, 0, 0]);
    let before = contents(&store);
    assert_eq!(numbers(&tally("'paper', 'best'")), [12, 6, 6, 0, 0]);
    let after = contents(&store);
    assert!(before.iter().all(|row| after.contains(row)), "a run was changed");
    assert_eq!(numbers(&tally("'paper', 'best'")), [12, 12, 0, 0, 0]);
}

/// Weights beyond all numbers: every run ends, as a failure or not, and none holds the sweep up.
#[test]
fn divergence_does_not_hang() {
    let (folder, graph) = workshop(120);
    let text = "lr = [1e5, 1e6, 1e7]\nseeds = 4\nhidden = 4\nheads = 1\nepochs = 40\narch = ['gat', 'gatv2']\nprotocol \
        = ['paper', 'best']";
    let grid = grid(folder.path(), &graph, text);
    let store = folder.path().join("store.db");
    let output = sweep(&grid, &store).output().unwrap();
    let tally: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((tally["runs"].as_u64(), tally["left"].as_u64()), (Some(48), Some(0)), "{tally}");
    for record in Store::open_existing(&store).unwrap().records().unwrap() {
        match record.result {
            Ok(outcome) => assert!(outcome.figures.val.loss.unwrap().is_finite(), "{outcome:?}"),
            Err(error) => assert!(error.contains("smaller"), "{error}"),
        }
    }
}

/// The same graph at two places is one dataset: shares of two machines make one whole.
#[test]
fn shares_do_not_depend_on_where_the_data_lies() {
    let (folder, graph) = workshop(120);
    let stores: Vec<Store> = ["one", "another one"]
        .iter()
        .enumerate()
        .map(|(number, place)| {
            let place = folder.path().join(place);
            std::fs::create_dir(&place).unwrap();
            let copy = place.join("graph.npz");
            std::fs::copy(&graph, &copy).unwrap();
            let grid = grid(&place, copy.to_str().unwrap(), "hidden = 4\nepochs = 3\nseeds = 20\nlambda = [0, 1]");
            let store = place.join("store.db");
            let shard = format!("{}/2", number + 1);
            assert!(sweep(&grid, &store).args(["--shard", &shard]).status().unwrap().success());
            Store::open_existing(&store).unwrap()
        })
        .collect();
    let merged = merge(&stores).unwrap();
    assert_eq!((merged.runs.len(), merged.left_out), (40, 0));
    assert!(merged.runs.iter().all(|run| run.config.data == merged.runs[0].config.data));
}

#[test]
fn a_failed_run_is_recorded_and_does_not_stop_the_sweep() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, "lr = [0.01, 1e30]\nhidden = 4\nepochs = 10\nseeds = 3");
    let store = folder.path().join("store.db");
    let path = store.display().to_string();
    let sweep = |flags: &[&str]| carat(folder.path(), &[&["sweep", "--grid", &grid, "--store", &path], flags].concat());
    let output = sweep(&["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("3 of 6 runs failed"), "{said}");
    let records = Store::open_existing(&store).unwrap().records().unwrap();
    assert_eq!(records.len(), 6);
    for record in &records {
        assert_eq!(record.result.is_err(), record.config.optimiser.lr > 1.0, "{:?}", record.result);
    }
    // Known by now, and not computed again unless asked.
    let tally =
        |flags: &[&str]| serde_json::from_slice::<Value>(&sweep(&[&["--json"], flags].concat()).stdout).unwrap();
    assert_eq!(tally(&[])["computed"], 0);
    assert_eq!(tally(&["--retry-failed"])["computed"], 3);
}

#[test]
fn changed_data_is_other_data() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, "hidden = 4\nepochs = 3");
    let store = folder.path().join("store.db").display().to_string();
    let computed = || json(folder.path(), &["sweep", "--grid", &grid, "--store", &store])["computed"].as_u64();
    assert_eq!([computed(), computed()], [Some(1), Some(0)]);
    stdout(folder.path(), &["data", "generate", "planted", "--nodes", "150", "--seed", "6", "--out", &graph]);
    assert_eq!([computed(), computed()], [Some(1), Some(0)]);
    // Runs on other contents never pair: the later ones are shown.
    let merged = merge(&[Store::open_existing(Path::new(&store)).unwrap()]).unwrap();
    assert_eq!((merged.runs.len(), merged.left_out), (1, 1));
}

#[test]
fn mistakes_are_errors_and_leave_no_store() {
    let (folder, graph) = workshop(100);
    let store = folder.path().join("store.db");
    let path = store.display().to_string();
    let fails = |arguments: &[&str], parts: &[&str]| {
        let output = carat(folder.path(), &[&["sweep", "--store", &path], arguments].concat());
        assert_fails(&output, 2, parts);
        assert!(!store.exists());
    };
    fails(&[], &["--grid small needs --data"]);
    fails(&["--data", "coraa"], &["coraa", "cora"]);
    fails(&["--data", &graph, "--grid", "papr"], &["neither a built-in grid (paper, small) nor a file"]);
    fails(&["--data", &graph, "--shard", "3/2"], &["a share like 2/8 is needed"]);
    fails(&["--data", &graph, "--splits", "3"], &["has 1 splits (0 to 0), and no split 1"]);
    let wrong = grid(folder.path(), &graph, "hidden = [4, 0]");
    fails(&["--grid", &wrong], &["grid.toml", "hidden must be between 1"]);
    let nowhere = folder.path().join("none/store.db").display().to_string();
    let output = carat(folder.path(), &["sweep", "--data", &graph, "--store", &nowhere]);
    assert_fails(&output, 2, &["--store", "there is no folder"]);
    std::fs::write(&store, "not a database, but long enough to be taken for one by a careless program").unwrap();
    let output = carat(folder.path(), &["sweep", "--data", &graph, "--store", &path]);
    assert_fails(&output, 2, &["store.db", "is not a store of 'carat sweep'"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_sweep_with_what_it_has() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, "hidden = 4\nseeds = 3000\nepochs = 400\npatience = 400");
    let store = folder.path().join("store.db");
    let child = sweep(&grid, &store).spawn().unwrap();
    let records = || Store::open_existing(&store).and_then(|store| store.records()).map_or(0, |records| records.len());
    for _ in 0..3000 {
        if records() >= 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let tally: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (computed, left) = (tally["computed"].as_u64().unwrap(), tally["left"].as_u64().unwrap());
    assert!(computed >= 2 && left > 0 && computed + left == 3000, "{tally}");
    assert_eq!(records() as u64, computed);
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, graph) = workshop(100);
    let grid = grid(folder.path(), &graph, "hidden = 4\nseeds = 3\nepochs = 3");
    let shut = folder.path().join("shut, 100 % ?#");
    std::fs::create_dir(&shut).unwrap();
    let store = shut.join("store.db");
    assert!(sweep(&grid, &store).status().unwrap().success());
    let set = |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    set(&store, 0o444);
    set(&shut, 0o555);
    // For the superuser nothing is shut; then this is a read like any other.
    let records = Store::open_existing(&store).unwrap().records().unwrap();
    set(&shut, 0o755);
    assert_eq!(records.len(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_a_sweep_and_what_is_stored_stays_whole() {
    let (folder, graph) = workshop(150);
    let grid = grid(folder.path(), &graph, "hidden = 4\nseeds = 60\nepochs = 25");
    let (calm, full) = (folder.path().join("calm.db"), folder.path().join("full.db"));
    assert!(sweep(&grid, &calm).status().unwrap().success());
    // No file may grow beyond 100 kB: a disk that fills up. Without the trap the signal of the limit would end the
    // process.
    let output = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"")
        .arg(env!("CARGO_BIN_EXE_carat"))
        .args(["sweep", "--grid", &grid, "--store"])
        .arg(&full)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("full.db: cannot write"), "{said}");
    assert!(sweep(&grid, &full).status().unwrap().success());
    assert_eq!(contents(&full), contents(&calm));
}
