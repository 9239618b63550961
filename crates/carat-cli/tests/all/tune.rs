//! `carat tune` as a user runs it: to the end, killed, interrupted, on any number of threads.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{assert_fails, carat, json, stdout, workshop};
use carat_lab::sweep::Store;
use serde_json::Value;

const SMALL: [&str; 8] = ["--epochs", "6", "--hidden", "8", "--heads", "2", "--seeds", "3"];

/// Tunes on a graph with `name.db` and `name.toml`; gives what is printed, without those names.
fn tuned(folder: &Path, graph: &str, name: &str, flags: &[&str]) -> Value {
    let [store, out] = ["db", "toml"].map(|ending| folder.join(format!("{name}.{ending}")).display().to_string());
    let command = ["tune", "--data", graph, "--store", &store, "--out", &out];
    let mut printed = json(folder, &[&command[..], &SMALL, flags].concat());
    assert_eq!((&printed["store"], &printed["out"]), (&store.into(), &out.into()));
    let object = printed.as_object_mut().unwrap();
    object.retain(|name, _| name != "store" && name != "out");
    printed
}

#[test]
fn the_best_settings_are_ranked_compared_and_written() {
    let (folder, graph) = workshop(150);
    let printed = tuned(folder.path(), &graph, "tuned", &["--candidates", "9", "--lr", "0.02"]);
    let candidates = printed["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 9);
    assert!(candidates.iter().enumerate().all(|(place, row)| row["rank"] == place + 1));
    let base = candidates.iter().find(|row| row["origin"] == "base").unwrap();
    let (mean, of_base) = (candidates[0]["mean"].as_f64().unwrap(), base["mean"].as_f64().unwrap());
    assert!(mean >= of_base && base["repetitions"] == candidates[0]["repetitions"], "{printed:#}");
    assert_eq!((&base["settings"], &printed["figure"]), (&"".into(), &"accuracy".into()));
    // What is given as a flag is not searched.
    let searches = |name: &str| candidates.iter().any(|row| row["settings"].as_str().unwrap().contains(name));
    assert!(searches("dropout ") && !searches("lr ") && !searches("hidden "), "{printed:#}");
    assert_eq!(printed["test"]["runs"], 3);
    let accuracy = &printed["test"]["figures"][0];
    assert!(accuracy["figure"] == "accuracy" && accuracy["base"]["mean"].is_f64() && accuracy["winner"].is_object());

    let (run, settings) = (folder.path().join("run"), folder.path().join("tuned.toml"));
    let flags = ["train", "--data", &graph, "--config", settings.to_str().unwrap(), "--out", run.to_str().unwrap()];
    stdout(folder.path(), &flags);
    let read = |path: &Path| toml::from_str::<toml::Table>(&std::fs::read_to_string(path).unwrap()).unwrap();
    let trained = read(&run.join("config.toml"));
    assert_eq!(read(&settings), trained);
    assert_eq!(serde_json::to_value(trained).unwrap(), printed["winner"]);
}

#[test]
fn threads_and_what_a_store_has_do_not_change_the_result() {
    let (folder, graph) = workshop(150);
    let tuned = |name: &str, flags: &[&str]| {
        tuned(folder.path(), &graph, name, &[&["--candidates", "14", "--figure", "f1"], flags].concat())
    };
    let one = tuned("one", &["--threads", "1"]);
    assert_eq!(one, tuned("two", &["--threads", "2"]));
    assert_eq!(one, tuned("two", &[]));
    assert_eq!((&one["winner"]["select"], &one["figure"]), (&"f1".into(), &"macro F1".into()));
    assert_ne!(one["candidates"], tuned("other", &["--seed", "1"])["candidates"]);
}

#[test]
fn a_killed_search_goes_on_and_ends_like_an_undisturbed_one() {
    let (folder, graph) = workshop(150);
    let flags = ["--candidates", "14"];
    let calm = tuned(folder.path(), &graph, "calm", &flags);
    let at = |name: &str| folder.path().join(name);
    let records = |name: &str| {
        let records = Store::open_existing(&at(name)).and_then(|store| store.records()).unwrap_or_default();
        records.into_iter().map(|record| record.key).collect::<Vec<_>>()
    };
    for most in [1, 8, 20] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_carat"))
            .args(["tune", "--data", &graph, "--threads", "1"])
            .args([&SMALL[..], &flags].concat())
            .args(["--store".as_ref(), at("hunted.db").as_os_str(), "--out".as_ref(), at("hunted.toml").as_os_str()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while records("hunted.db").len() < most && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(tuned(folder.path(), &graph, "hunted", &flags), calm);
    assert_eq!(records("hunted.db"), records("calm.db"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_search_with_what_it_knows() {
    let (folder, graph) = workshop(150);
    let (store, out) = (folder.path().join("tune.db"), folder.path().join("tuned.toml"));
    let child = Command::new(env!("CARGO_BIN_EXE_carat"))
        .args(["tune", "--data", &graph, "--candidates", "5000", "--epochs", "6", "--hidden", "8", "--json"])
        .args(["--store".as_ref(), store.as_os_str(), "--out".as_ref(), out.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while Store::open_existing(&store).and_then(|store| store.records()).map_or(0, |records| records.len()) < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(printed["interrupted"] == true && printed["test"].is_null());
    assert!(printed["candidates"].as_array().unwrap().len() >= 3 && out.exists());
}

#[test]
fn minutes_end_a_search_and_too_few_are_an_error() {
    let (folder, graph) = workshop(150);
    let printed = tuned(folder.path(), &graph, "short", &["--minutes", "0.01"]);
    assert!(!printed["candidates"].as_array().unwrap().is_empty());
    let out = folder.path().join("none.toml");
    let flags = ["--minutes", "0.0001", "--epochs", "100000", "--patience", "100000", "--out", out.to_str().unwrap()];
    let store = folder.path().join("none.db").display().to_string();
    let output = carat(folder.path(), &[&["tune", "--data", &graph, "--store", &store][..], &flags].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("preset strong alone takes longer than --minutes here") && !out.exists(), "{said}");
}

#[test]
fn mistakes_are_errors_and_leave_no_store() {
    let (folder, graph) = workshop(100);
    let (store, space) = (folder.path().join("tune.db"), folder.path().join("space.toml"));
    let (store_flag, space_flag) = (store.display().to_string(), space.display().to_string());
    let fails = |text: &str, flags: &[&str], parts: &[&str]| {
        std::fs::write(&space, text).unwrap();
        let command = ["tune", "--data", &graph, "--store", &store_flag, "--space", &space_flag];
        assert_fails(&carat(folder.path(), &[&command[..], flags].concat()), 2, parts);
        assert!(!store.exists());
    };
    fails("hiden = [8]", &[], &["space.toml", "did you mean 'hidden'?"]);
    fails("hidden = [8, 0]", &[], &["space.toml", "hidden must be between 1"]);
    fails("hidden = [8]", &["--hidden", "4"], &["there is nothing to search"]);
    fails("hidden = [9]", &["--heads", "4"], &["no combination of the values to search is possible", "9"]);
    fails("hidden = [8]", &["--minutes", "0"], &["a number above 0 is needed"]);
    fails("hidden = [8]", &["--figure", "speed"], &["'speed' is not a validation figure"]);
    fails("hidden = [8]", &["--out", "no/such/tuned.toml"], &["--out", "there is no folder"]);
}
