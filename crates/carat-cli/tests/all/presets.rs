//! Presets, and what wins over them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{assert_fails, carat, json, model, stdout, workshop};

/// The value of a setting in a run's `config.toml`, as it is written there.
fn setting(run: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(run.join("config.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    table.get(name).map_or(String::new(), ToString::to_string)
}

#[test]
fn flags_win_over_presets_and_a_run_keeps_every_value() {
    let (folder, graph) = workshop(150);
    let at = |name: &str| folder.path().join(name);
    let train = |name: &str, flags: &[&str]| {
        let out = at(name).display().to_string();
        let flags = [&["train", "--data", &graph, "--epochs", "3", "--out", &out], flags].concat();
        stdout(folder.path(), &flags);
        at(name)
    };
    let gat = train("gat", &["--preset", "gat", "--hidden", "16", "--lr", "0.02"]);
    let values = ["hidden", "heads", "lr", "weight-decay", "patience", "select"].map(|name| setting(&gat, name));
    assert_eq!(values, ["16", "8", "0.02", "0.0005", "100", "\"accuracy\""]);
    assert_eq!(setting(&gat, "preset"), "");

    // The file of a run repeats it, without a preset and, as all its values are given, with any.
    let config = gat.join("config.toml").display().to_string();
    assert_eq!(model(&train("again", &["--config", &config])), model(&gat));

    // A preset without the settings that a model does not have.
    let gcn = train("gcn", &["--preset", "gat", "--model", "gcn", "--hidden", "8"]);
    assert_eq!([setting(&gcn, "heads"), setting(&gcn, "weight-decay")], ["3", "0.0005"]);
}

#[test]
fn train_with_nothing_else_is_strong() {
    let (folder, graph) = workshop(150);
    let train = |name: &str, flags: &[&str]| {
        let out = folder.path().join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_carat"));
        command.args(["train", "--data", &graph, "--epochs", "1", "--out"]).arg(&out).args(flags);
        assert!(command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().success());
        std::fs::read_to_string(out.join("config.toml")).unwrap()
    };
    let plain = train("plain", &[]);
    assert_eq!(plain, train("strong", &["--preset", "strong"]));
    assert_ne!(plain, train("paper", &["--preset", "paper"]));
    // CAL has its authors' settings.
    let cal = train("cal", &["--model", "cal", "--hidden", "8"]);
    assert!(!cal.contains("norm = "), "{cal}");
}

#[test]
fn a_preset_may_be_repeated_where_a_run_goes_on_but_not_changed() {
    let (folder, graph) = workshop(150);
    let out = folder.path().join("run").display().to_string();
    let train = |preset: &str| {
        let flags = ["train", "--data", &graph, "--out", &out, "--resume", "--preset", preset, "--epochs", "2"];
        carat(folder.path(), &[&flags[..], &["--hidden", "8"]].concat())
    };
    assert!(train("strong").status.success());
    assert!(train("strong").status.success());
    assert_fails(&train("paper"), 2, &["was started with other settings"]);
}

#[test]
fn presets_that_do_not_fit_are_refused() {
    let (folder, graph) = workshop(150);
    let train = |flags: &[&str]| carat(folder.path(), &[&["train", "--data", &graph], flags].concat());
    assert_fails(&train(&["--preset", "tuned"]), 2, &["there are no tuned settings for", "use preset strong"]);
    assert_fails(&train(&["--preset", "gat", "--model", "cal"]), 2, &["leave it out with model cal"]);
    let output = train(&["--preset", "weak"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("'weak' is not a preset; choose paper, gat, strong or tuned"), "{said}");
}

#[test]
fn sweeps_stand_on_a_preset() {
    let (folder, graph) = workshop(150);
    let grid = folder.path().join("grid.toml");
    std::fs::write(&grid, "hidden = 8\nheads = [2, 4]\nepochs = 2\n").unwrap();
    let (grid, store) = (grid.display().to_string(), folder.path().join("runs.db").display().to_string());
    let sweep = ["sweep", "--data", &graph, "--grid", &grid, "--store", &store, "--preset"];
    let computed = |preset: &str| json(folder.path(), &[&sweep[..], &[preset]].concat())["computed"].clone();
    assert_eq!([computed("gat"), computed("gat"), computed("paper")], [2, 0, 2]);
}
