//! What must hold for every setting, whatever settings there are.

use std::collections::BTreeSet;
use std::path::Path;

use carat_nn::{AttentionKind, GcnNorm};

use super::*;
use crate::Task;

/// Values of every type that a setting has, as files have them.
const VALUES: [&str; 30] = [
    "true",
    "7",
    "0.25",
    "\"x\"",
    "\"graph\"",
    "\"add\"",
    "\"batch\"",
    "\"elu\"",
    "\"concat\"",
    "\"last\"",
    "\"0.5,0.25,0.25\"",
    "\"gcn\"",
    "\"cal\"",
    "\"vote\"",
    "\"none\"",
    "\"gatv2\"",
    "\"rounds\"",
    "\"one\"",
    "\"all\"",
    "\"distribution\"",
    "\"paper\"",
    "\"adamw\"",
    "\"cosine\"",
    "\"balanced\"",
    "\"accuracy\"",
    "\"learning\"",
    "\"row\"",
    "\"likelihood\"",
    "[5, 4]",
    "{ threshold = 0.5, guide = {} }",
];

/// Some settings with one of them at another value, which is read from a file.
fn with_other(setting: &Setting, config: &TrainConfig) -> TrainConfig {
    let other = VALUES.iter().filter_map(|value| {
        let read: TrainConfig = toml::from_str(&format!("{} = {value}", setting.name)).ok()?;
        let mut other = config.clone();
        (setting.copy)(&read, &mut other);
        (!setting.is_same(config, &other)).then_some(other)
    });
    other.into_iter().next().unwrap_or_else(|| panic!("no other value of {} is known", setting.name))
}

#[test]
fn runs_pair_only_if_they_differ_in_the_regulariser_alone() {
    let config = TrainConfig::default();
    for setting in Setting::all() {
        let other = with_other(setting, &config);
        let is_paired = other.pairing_key() == config.pairing_key();
        assert_eq!(is_paired, setting.is_of_regulariser, "{}", setting.name);
    }
}

#[test]
fn the_regulariser_has_the_settings_of_its_group_and_no_others() {
    let config = TrainConfig::default();
    for setting in Setting::all() {
        let TrainConfig { regulariser, .. } = with_other(setting, &config);
        assert_eq!(regulariser != config.regulariser, setting.is_of_regulariser, "{}", setting.name);
    }
}

#[test]
fn every_setting_has_a_name_of_its_own_and_survives_files() {
    let names: BTreeSet<&str> = Setting::all().map(|setting| setting.name).collect();
    assert_eq!(names.len(), Setting::all().count());
    for setting in Setting::all() {
        let other = with_other(setting, &TrainConfig::default());
        let text = toml::to_string(&other).unwrap();
        assert!(text.lines().any(|line| line.trim_matches(['[', ']']).starts_with(setting.name)), "{text}");
        assert_eq!(toml::from_str::<TrainConfig>(&text).unwrap(), other);
        let text = serde_json::to_string(&other).unwrap();
        assert_eq!(serde_json::from_str::<TrainConfig>(&text).unwrap(), other);
    }
}

#[test]
fn every_setting_survives_its_flag() {
    for setting in Setting::all() {
        let other = with_other(setting, &TrainConfig::default());
        let mut read = TrainConfig::default();
        setting.set(&mut read, &setting.text(&other)).unwrap();
        assert_eq!(read, other, "{}", setting.name);
    }
}

/// Settings that runs of a kind do not read fall back to their defaults; others stay.
#[test]
fn a_run_keeps_what_it_reads_and_nothing_else() {
    let regularised = TrainConfig::default().lambda(Lambda::new(1.0));
    let plain = TrainConfig::default();
    let gcn = TrainConfig::default_of(ModelKind::Gcn);
    let cal = TrainConfig::default_of(ModelKind::Cal);
    let read_by = |config: &TrainConfig| {
        let is_kept = |setting: &&Setting| {
            let other = with_other(setting, config);
            // Another model reads other settings.
            setting.name == "model" || setting.is_same(&other.clone().reset_unused_settings(), &other)
        };
        Setting::all().filter(is_kept).map(|setting| setting.name).collect::<BTreeSet<_>>()
    };
    let all: BTreeSet<&str> = Setting::all().map(|setting| setting.name).collect();
    let but = |names: &[&str]| -> BTreeSet<&str> { all.iter().copied().filter(|name| !names.contains(name)).collect() };
    let regulariser = || Setting::all().filter(|setting| setting.is_of_regulariser).map(|setting| setting.name);
    let foreign = ["gcn-norm", "lambda1", "lambda2"];
    assert_eq!(read_by(&regularised), but(&foreign));
    // Here another strength regularises.
    let unused: Vec<&str> = regulariser().filter(|name| *name != "lambda").chain(foreign).collect();
    assert_eq!(read_by(&plain), but(&unused));
    let whole_graph = ["arch", "batch-size", "fanout", "self-loops"];
    let unused: Vec<&str> = regulariser().chain(whole_graph).collect();
    let of_attention = ["edge-features", "join", "attention-dropout"];
    assert_eq!(read_by(&gcn), but(&[&unused[..], &of_attention, &["heads", "lambda1", "lambda2"]].concat()));
    let block = ["residual", "norm", "activation", "classifier", "dropout", "input-dropout"];
    assert_eq!(read_by(&cal), but(&[&unused[..], &of_attention, &block, &["gcn-norm", "class-weights"]].concat()));
}

#[test]
fn help_tells_the_default() {
    let help = |name: &str| Setting::named(name).unwrap().help();
    assert_eq!(help("seed").rsplit_once(" [").unwrap().1, "default: 0]");
    assert_eq!(help("lr"), "Adam's learning rate [default: 0.005; paper: 0.01]");
    assert_eq!(help("hidden"), "F, the width of every layer [default: 128; paper: 100; gat: 64; --model cal: 128]");
    let patience = help("patience");
    assert!(patience.ends_with("[default: 100; paper: 20 with best, 10 with paper]"), "{patience}");
    assert!(help("data").ends_with("or a folder"));
}

/// Files written before settings were a tree (commit 8046d23).
#[test]
fn files_from_before_are_read_and_written_byte_for_byte() {
    let car = include_str!("../../tests/fixtures/settings/car.toml");
    let gcn = include_str!("../../tests/fixtures/settings/gcn.toml");
    let graphs = include_str!("../../tests/fixtures/settings/graphs.toml");
    for text in [car, gcn, graphs] {
        assert_eq!(toml::to_string(&toml::from_str::<TrainConfig>(text).unwrap()).unwrap(), text);
    }
    let config = TrainConfig::default().data("wisconsin".into()).split(2).arch(AttentionKind::GatV2).seed(7);
    let config = config.hidden(4).heads(2).layers(1).fanout(vec![5]).epochs(3).patience(Some(3));
    let config = config.lambda(Lambda::new(0.5)).entities(EntityChoice::All).target(Target::Distribution);
    assert_eq!(toml::from_str::<TrainConfig>(car).unwrap(), config.clamp(1.0).warm_up(1));
    let read: TrainConfig = toml::from_str(gcn).unwrap();
    assert_eq!((read.model, read.gcn.norm), (ModelKind::Gcn, GcnNorm::None));
    let read: TrainConfig = toml::from_str(graphs).unwrap();
    assert_eq!((read.data.task, read.data.folds), (Some(Task::Graph), Some(10)));
    assert_eq!(read.regulariser.lambda, Lambda::per_layer(vec![0.5, 1.0]));
}

#[test]
fn mistakes_in_files_are_told_with_their_line() {
    let problem = |text: &str| TrainConfig::from_toml(text, Path::new("a.toml")).unwrap_err().to_string();
    assert!(
        problem("data = 'x'\nhiden = 3").starts_with("a.toml:2: unknown field `hiden`, expected one of `data`, `task`")
    );
    assert!(problem("\n\nhidden = 'wide'").starts_with("a.toml:3: invalid type: string"));
    let nested = problem("model = 'gcn'\n[prune]\nthreshold = 0.5\n[prune.guide]\nheds = 3");
    assert!(nested.starts_with("a.toml:5: unknown field `heds`"), "{nested}");
    let error = serde_json::from_str::<TrainConfig>("{\"hidden\": 3, \"hidden\": 4}").unwrap_err().to_string();
    assert!(error.starts_with("duplicate field `hidden`"), "{error}");
}
