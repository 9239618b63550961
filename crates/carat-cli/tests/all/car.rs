//! Training with causal attention regularisation, as a user runs it.

use std::path::{Path, PathBuf};

use crate::support::{assert_survives_kills, json, metrics, model, stdout, workshop};
use serde_json::Value;

fn train(folder: &Path, graph: &str, name: &str, flags: &str) -> (PathBuf, Value) {
    let run = folder.join(name);
    let out = run.display().to_string();
    let mut arguments = vec!["train", "--data", graph, "--out", &out];
    arguments.extend(flags.split_whitespace());
    let summary = json(folder, &arguments);
    (run, summary)
}

/// The causal loss of every epoch.
fn causal_losses(run: &Path) -> Vec<f64> {
    metrics(run)[1..].iter().map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect()
}

/// Every way through the regulariser's code: where targets come from, how effects are computed, what attention is
/// compared with, and how a step's edges come about.
const WAYS: [&str; 22] = [
    "--lambda 1",
    "--lambda 1 --rounds all",
    "--lambda 1 --interventions rounds --loss-floor 0.1",
    "--lambda 1 --interventions rounds --rounds all",
    "--lambda 0.5,2 --target distribution --exponent one",
    "--lambda 1 --target distribution --interventions rounds",
    "--lambda 1 --regulariser vote",
    "--lambda 1 --regulariser vote --target distribution",
    "--lambda 1 --regulariser random",
    "--lambda 1 --regulariser random --target distribution",
    "--lambda 1 --regulariser constant --rounds all",
    "--lambda 1 --entities all --warm-up 1",
    "--lambda 1 --entities all --warm-up 1 --target distribution --batch-size 40",
    "--lambda 1 --entities all --warm-up 1 --batch-size 40 --fanout 4,3",
    "--lambda 1 --regulariser drop-edge",
    "--lambda 1 --regulariser drop-edge --drop-rate 0.5 --batch-size 40 --fanout 4,3 --self-loops",
    "--lambda 1 --regulariser drop-message",
    "--lambda 1 --regulariser drop-message --drop-rate 0.5 --join concat --batch-size 40 --fanout 4,3",
    "--lambda 1 --regulariser edge-prediction",
    "--lambda 0.5,2 --regulariser edge-prediction --entities all --edge-sample 1 --negative-ratio 2",
    "--lambda auto --regulariser edge-prediction --batch-size 40 --fanout 4,3 --join concat --residual linear",
    "--lambda 1 --regulariser edge-prediction --undirected --self-loops",
];

#[test]
fn every_way_gives_the_same_bits_for_any_number_of_threads() {
    let (folder, graph) = workshop(150);
    let mut models = Vec::new();
    for (number, way) in WAYS.iter().enumerate() {
        let arch = ["gat", "gatv2", "transformer"][number % 3];
        let runs = ["1", "2", "3"].map(|threads| {
            let flags = format!("{way} --arch {arch} --hidden 16 --heads 2 --epochs 4 --threads {threads}");
            train(folder.path(), &graph, &format!("{number}-{threads}"), &flags).0
        });
        for run in &runs[1..] {
            assert_eq!(model(run), model(&runs[0]), "{way}");
            assert_eq!(metrics(run), metrics(&runs[0]), "{way}");
        }
        let warm_up = usize::from(way.contains("warm-up"));
        let is_noise = way.contains("drop-");
        for (epoch, loss) in causal_losses(&runs[0]).into_iter().enumerate() {
            assert_eq!(loss > 0.0, epoch >= warm_up && !is_noise, "{way}, epoch {}: {loss}", epoch + 1);
        }
        models.push(model(&runs[0]));
    }
    let distinct: std::collections::BTreeSet<&Vec<u8>> = models.iter().collect();
    assert_eq!(distinct.len(), WAYS.len(), "every way leads elsewhere");
}

#[test]
fn a_network_of_three_layers_gives_the_same_bits_for_any_number_of_threads() {
    let (folder, graph) = workshop(60);
    let runs = ["1", "3"].map(|threads| {
        let flags = format!("--lambda 1 --layers 3 --hidden 8 --heads 2 --epochs 3 --threads {threads}");
        train(folder.path(), &graph, &format!("three-{threads}"), &flags).0
    });
    assert_eq!(model(&runs[0]), model(&runs[1]));
    assert!(causal_losses(&runs[0]).iter().all(|loss| *loss > 0.0));
}

#[test]
fn a_run_with_a_teacher_killed_again_and_again_arrives_at_the_same_bits() {
    let (folder, graph) = workshop(150);
    let sizes = ["--hidden", "16", "--heads", "2", "--epochs", "40", "--patience", "40", "--batch-size", "40"];
    let car = ["--lambda", "1", "--entities", "all", "--target", "distribution", "--warm-up", "4"];
    assert_survives_kills(folder.path(), &[&["--data", &graph], &sizes[..], &car].concat());
}

#[test]
fn a_regularised_run_differs_from_its_baseline_in_nothing_but_the_regulariser() {
    let (folder, graph) = workshop(300);
    let flags = "--hidden 16 --heads 2 --epochs 12 --patience 12 --protocol paper";
    let (plain, summary) = train(folder.path(), &graph, "plain", flags);
    assert!(causal_losses(&plain).iter().all(|loss| *loss == 0.0));
    let drop_edge = "--regulariser drop-edge --drop-rate";
    for off in [
        "--lambda 0",
        "--lambda 0,0 --entities all",
        "--lambda 5 --regulariser none",
        "--lambda 0 --regulariser edge-prediction",
        &format!("--lambda 0 {drop_edge} 0.5"),
        &format!("--lambda 1 --entities all {drop_edge} 0"),
        "--lambda 1 --regulariser drop-message --drop-rate 0",
    ] {
        let name = off.replace(' ', "");
        let (run, _) = train(folder.path(), &graph, &name, &format!("{flags} {off}"));
        assert_eq!(model(&run), model(&plain), "{off}");
        assert_eq!(metrics(&run), metrics(&plain), "{off}");
    }

    let (car, regularised) = train(folder.path(), &graph, "car", &format!("{flags} --lambda 5"));
    assert!(causal_losses(&car).iter().all(|loss| *loss > 0.0));
    // The same weights and batches to begin with: the first epoch's training loss is the baseline's.
    let train_loss = |run: &Path| metrics(run)[1].split(',').nth(1).unwrap().to_string();
    assert_eq!(train_loss(&car), train_loss(&plain));
    assert_ne!(model(&car), model(&plain));
    let keys = ["test_loss", "test_accuracy", "attention_kl", "uniform_kl", "attention_auc", "step_ms"];
    for key in keys {
        assert!(regularised[key].is_number(), "{key}: {regularised}");
    }
    assert_eq!(regularised["uniform_kl"], summary["uniform_kl"], "a figure of the graph alone");
    assert_ne!(regularised["attention_kl"], summary["attention_kl"]);

    // What config.toml holds repeats the run.
    let config = car.join("config.toml").display().to_string();
    let again = folder.path().join("again").display().to_string();
    stdout(folder.path(), &["train", "--config", &config, "--out", &again]);
    assert_eq!(model(Path::new(&again)), model(&car));
}

#[test]
fn attention_goes_where_it_is_pulled() {
    let (folder, graph) = workshop(300);
    let flags = "--hidden 16 --heads 2 --epochs 40 --patience 40 --protocol paper";
    let beyond_uniform = |name: &str, car: &str| {
        let (run, summary) = train(folder.path(), &graph, name, &format!("{flags} {car}"));
        let figure = |key: &str| summary[key].as_f64().unwrap();
        (causal_losses(&run), (figure("attention_kl") - figure("uniform_kl")).abs())
    };
    let (_, plain) = beyond_uniform("plain", "");
    let (losses, smooth) = beyond_uniform("smooth", "--lambda 5 --regulariser constant --target distribution");
    assert!(losses[39] < losses[0] / 2.0, "{losses:?}");
    assert!(plain > 0.01 && smooth < plain / 10.0, "{smooth} with a pull towards uniform attention, {plain} without");
}

#[test]
fn settings_of_the_regulariser_are_read_from_toml_and_written_back() {
    let (folder, graph) = workshop(60);
    let settings = "hidden = 4\nheads = 1\nepochs = 2\nlambda = [0.5, 1]\nrounds = \"all\"\nregulariser = \"vote\"\n\
                    interventions = \"rounds\"\ntemperature = 1\nexponent = \"one\"\nloss-floor = 0.01\nentities \
                    = \"all\"\ntarget = \"distribution\"\nclamp = 3\nwarm-up = 0\nteacher = 0.5\n";
    let path = folder.path().join("settings.toml");
    std::fs::write(&path, format!("data = '{graph}'\n{settings}")).unwrap();
    let (path, run) = (path.display().to_string(), folder.path().join("run"));
    stdout(folder.path(), &["train", "--config", &path, "--rounds", "3", "--out", &run.display().to_string()]);
    let written: toml::Table = std::fs::read_to_string(run.join("config.toml")).unwrap().parse().unwrap();
    let asked: toml::Table = settings.parse().unwrap();
    for (key, value) in asked {
        let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|n| n as f64));
        match (key.as_str(), number(&value)) {
            ("rounds", _) => assert_eq!(written["rounds"].as_integer(), Some(3), "the flag wins"),
            ("lambda", _) => assert_eq!(written["lambda"].to_string(), "[0.5, 1.0]"),
            (_, Some(value)) => assert_eq!(number(&written[&key]), Some(value), "{key}"),
            (_, None) => assert_eq!(written[&key], value, "{key}"),
        }
    }
    assert!(causal_losses(&run).iter().all(|loss| *loss > 0.0));
}

#[test]
fn bench_times_plain_and_regularised_steps() {
    let (folder, graph) = workshop(150);
    let arguments = ["bench", "step", "--data", &graph, "--hidden", "16", "--steps", "3", "--seconds", "0"];
    let plain = json(folder.path(), &arguments);
    assert!(plain["step_ms"].as_f64().unwrap() > 0.0 && plain["car_step_ms"].is_null() && plain["ratio"].is_null());
    for extra in [&["--lambda", "1"][..], &["--lambda", "1", "--entities", "all"]] {
        let both = json(folder.path(), &[&arguments[..], extra].concat());
        let (step, car) = (both["step_ms"].as_f64().unwrap(), both["car_step_ms"].as_f64().unwrap());
        assert!((both["ratio"].as_f64().unwrap() - car / step).abs() < 1e-9, "{both}");
        assert!(both["peak_memory_mb"].as_f64().unwrap() > 0.0);
    }
}
