//! Draws, stages and files of spaces, without any training.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use carat::metrics::{Metric, RunFigures};
use carat::{Error, Preset, TrainConfig};
use carat_graph::Dataset;
use carat_graph::generators::{PlantedConfig, planted};

use super::search::Evaluate;
use super::*;
use crate::sweep::Outcome;

fn strong() -> TrainConfig {
    TrainConfig::preset(Preset::Strong, "x").unwrap()
}

fn space(text: &str) -> Result<Space, String> {
    Space::from_toml(text, Path::new("mine.toml")).map_err(|e| e.to_string())
}

/// All of them are trained, and wider is better by more than seeds make of it.
fn by_width(runs: &[TrainConfig]) -> Vec<Option<Score>> {
    runs.iter().map(|run| Some(run.network.hidden as f64 + 0.1 * run.seed as f64 + run.block.dropout)).collect()
}

fn graph() -> Dataset {
    planted(&PlantedConfig { nodes: 50, ..PlantedConfig::default() }).unwrap()
}

fn draws(space: Space) -> Draws<'static> {
    Draws::new(&strong(), space, &|_| Ok(())).unwrap()
}

fn search(budget: Budget, evaluate: &Evaluate<'_>) -> Result<Vec<Candidate>, Error> {
    search_by(draws(Space::built_in().unwrap()), None, budget, evaluate)
}

fn search_by(
    draws: Draws<'_>,
    tuned: Option<TrainConfig>,
    budget: Budget,
    evaluate: &Evaluate<'_>,
) -> Result<Vec<Candidate>, Error> {
    let repetitions = Repetitions::of(&strong(), &graph(), false);
    Search { draws, tuned, repetitions, budget, evaluate }.run()
}

#[test]
fn every_candidate_can_be_trained_and_is_drawn_once() {
    let candidates = search(Budget::Candidates(200), &|_, runs, _| Ok(by_width(runs))).unwrap();
    assert_eq!(candidates.len(), 200);
    for candidate in &candidates {
        candidate.config.check().unwrap();
        let network = &candidate.config.network;
        assert!(network.hidden.is_multiple_of(network.heads));
    }
    let mut texts: Vec<String> = candidates.iter().map(|c| toml::to_string(&c.config).unwrap()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 200);
}

#[test]
fn the_best_third_and_ninth_are_repeated_and_the_base_stays() {
    let asked = RefCell::new(Vec::new());
    let candidates = search(Budget::Candidates(40), &|stage, runs, _| {
        asked.borrow_mut().push((stage.candidates, stage.repetitions, runs.len()));
        Ok(by_width(runs))
    });
    let candidates = candidates.unwrap();
    // 14 and 5 candidates, and the base in any case.
    let stages = [(12, 1, 12), (24, 1, 12), (36, 1, 12), (40, 1, 4), (15, 3, 30), (6, 9, 36)];
    assert_eq!(asked.into_inner(), stages);
    let repetitions: Vec<usize> = candidates.iter().map(|candidate| candidate.scores.len()).collect();
    assert_eq!(repetitions.iter().filter(|count| **count == 9).count(), 6);
    assert_eq!(repetitions.iter().filter(|count| **count == 3).count(), 9);
    assert!(repetitions.is_sorted_by(|a, b| a >= b));
    let base = candidates.iter().find(|candidate| candidate.origin == Origin::Base).unwrap();
    assert_eq!((base.config.clone(), base.scores.len()), (strong(), 9));
    assert_eq!(candidates[0].config.network.hidden, 256);
    assert!(candidates[..6].is_sorted_by(|a, b| a.score() >= b.score()));
}

#[test]
fn candidates_depend_on_the_seed_and_time_only_ends_their_sequence() {
    let all = |count| {
        let mut configs = Vec::new();
        let seen = RefCell::new(&mut configs);
        let evaluate = |stage: Stage, runs: &[TrainConfig], _: Limits| {
            if stage.repetitions == 1 {
                seen.borrow_mut().extend_from_slice(runs);
            }
            Ok(by_width(runs))
        };
        search(Budget::Candidates(count), &evaluate).unwrap();
        configs
    };
    let (few, many) = (all(20), all(30));
    assert_eq!(few[..], many[..20]);
    assert_ne!(few[1], few[2]);
}

#[test]
fn settings_that_are_known_for_the_dataset_come_second() {
    let first = RefCell::new(Vec::new());
    let evaluate = |_: Stage, runs: &[TrainConfig], _: Limits| {
        first.borrow_mut().extend_from_slice(runs);
        Ok(by_width(runs))
    };
    let draws = draws(Space::built_in().unwrap());
    let candidates = search_by(draws, Some(strong().hidden(512)), Budget::Candidates(2), &evaluate).unwrap();
    assert_eq!(first.borrow()[..2], [strong(), strong().hidden(512)]);
    assert_eq!(candidates.iter().map(|c| c.origin).collect::<Vec<_>>(), [Origin::Tuned, Origin::Base]);
}

/// The deadline passes in the third round, or with the base alone.
#[test]
fn a_search_without_time_compares_what_it_has() {
    for (most, known) in [(30, 30), (1, 1)] {
        let left = RefCell::new(most);
        let evaluate = |_: Stage, runs: &[TrainConfig], limits: Limits| {
            assert!(limits.begin.is_some() && limits.begin <= limits.end);
            let trained = by_width(runs).into_iter().map(|score| {
                let is_trained = *left.borrow() > 0;
                *left.borrow_mut() -= usize::from(is_trained);
                score.filter(|_| is_trained)
            });
            Ok(trained.collect())
        };
        let candidates = search(Budget::Time(Duration::from_secs(600)), &evaluate).unwrap();
        assert_eq!(candidates.len(), known);
        assert!(candidates.iter().all(|candidate| candidate.scores.len() == 1));
    }
    let nothing = search(Budget::Candidates(5), &|_, runs, _| Ok(vec![None; runs.len()]));
    assert!(matches!(nothing, Err(Error::Interrupted)));
}

/// Only repetitions that all of them have are compared, so that no candidate has easier seeds.
#[test]
fn a_stage_that_is_cut_short_counts_whole_repetitions() {
    let evaluate = |stage: Stage, runs: &[TrainConfig], _: Limits| {
        let done = if stage.repetitions == 9 { 2 * stage.candidates + 1 } else { runs.len() };
        let scores = by_width(runs).into_iter().enumerate();
        Ok(scores.map(|(number, score)| score.filter(|_| number < done)).collect())
    };
    let candidates = search(Budget::Candidates(40), &evaluate).unwrap();
    let repetitions = candidates.iter().map(|candidate| candidate.scores.len()).max();
    assert_eq!(repetitions, Some(5));
}

#[test]
fn failed_runs_are_last() {
    let fails = |run: &TrainConfig| run.network.hidden == 256;
    let candidates = search(Budget::Candidates(30), &|_, runs, _| {
        let scores = by_width(runs).into_iter().zip(runs);
        Ok(scores.map(|(score, run)| if fails(run) { Some(f64::NEG_INFINITY) } else { score }).collect())
    });
    let candidates = candidates.unwrap();
    assert_eq!(candidates[0].config.network.hidden, 128);
    assert!(candidates[0].spread(Metric::Accuracy).is_some());
    assert!(
        candidates
            .iter()
            .filter(|c| fails(&c.config))
            .all(|c| c.scores.len() == 1 && c.spread(Metric::Accuracy).is_none())
    );
}

#[test]
fn what_is_given_is_not_searched() {
    let space = Space::built_in().unwrap().without(|name| name != "hidden" && name != "heads");
    let refuses_narrow = |config: &TrainConfig| match config.network.hidden {
        32 | 64 => Err(Error::Config("narrow".into())),
        _ => Ok(()),
    };
    let draws = Draws::new(&strong(), space.clone(), &refuses_narrow).unwrap();
    let candidates = search_by(draws, None, Budget::Candidates(100), &|_, runs, _| Ok(by_width(runs))).unwrap();
    // Two widths and four numbers of heads, one of which is the base.
    assert_eq!(candidates.len(), 2 * 4);

    let problem = |space: Space, check: &dyn Fn(&TrainConfig) -> Result<(), Error>| {
        Draws::new(&strong(), space, check).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let empty = space.clone().without(|_| true);
    assert!(problem(empty, &|_| Ok(())).starts_with("there is nothing to search"));
    let refused = problem(space, &|_| Err(Error::Config("no".into())));
    assert_eq!(refused, "no combination of the values to search is possible: no");
}

#[test]
fn ranges_hold_their_ends() {
    let text = "layers = { from = 2, to = 4, scale = 'linear' }\nlr = { from = 0.001, to = 0.1, scale = 'log' }";
    let draws = draws(space(text).unwrap());
    let candidates = search_by(draws, None, Budget::Candidates(150), &|_, runs, _| Ok(by_width(runs))).unwrap();
    let count = |layers| candidates.iter().filter(|c| c.config.network.layers == layers).count();
    assert_eq!(count(2) + count(3) + count(4), 150);
    assert!([2, 3, 4].iter().all(|&layers| count(layers) > 20));
    let small = candidates.iter().filter(|c| c.config.optimiser.lr < 0.01).count();
    assert!((40..110).contains(&small), "{small} of 150 are in the lower of two orders of magnitude");
    assert!(candidates.iter().all(|c| (0.001..=0.1).contains(&c.config.optimiser.lr)));
}

#[test]
fn repetitions_go_over_splits_first_and_fresh_ones_are_others() {
    let dataset = graph();
    let places = |config: &TrainConfig, is_given| {
        let repetitions = Repetitions::of(config, &dataset, is_given);
        let run = |config: TrainConfig| (config.data.split, config.seed);
        let searched: Vec<_> = (0..4).map(|number| run(repetitions.run(config, number))).collect();
        (searched, run(repetitions.fresh(config, Search::REPETITIONS, 1)))
    };
    assert_eq!(places(&strong().seed(5), false), (vec![(0, 5), (0, 6), (0, 7), (0, 8)], (0, 15)));
    let folds = strong().folds(Some(3));
    assert_eq!(places(&folds, false), (vec![(0, 0), (1, 0), (2, 0), (0, 1)], (1, 9)));
    assert_eq!(places(&folds.split(2), true), (vec![(2, 0), (2, 1), (2, 2), (2, 3)], (2, 10)));
}

#[test]
fn validation_alone_decides_and_lower_losses_are_better() {
    let outcome = |loss: f64, test: f64| {
        let mut figures = RunFigures::default();
        (figures.val.loss, figures.val.accuracy, figures.test.accuracy) = (Some(loss), Some(0.5), Some(test));
        Ok(Outcome { figures, spurious: None, epochs: 1, kept_epoch: 1, train_seconds: 0.0 })
    };
    assert!(score(&outcome(0.5, 0.0), Metric::Loss) > score(&outcome(0.6, 1.0), Metric::Loss));
    assert_eq!(score(&outcome(0.5, 0.0), Metric::Accuracy), score(&outcome(0.6, 1.0), Metric::Accuracy));
    let failed = [outcome(f64::NAN, 1.0), Err("diverged".into())].map(|result| score(&result, Metric::Loss));
    assert_eq!(failed, [f64::NEG_INFINITY; 2]);
    let scores = vec![score(&outcome(0.5, 0.0), Metric::Loss), score(&outcome(0.7, 0.0), Metric::Loss)];
    let candidate = Candidate { config: strong(), origin: Origin::Base, scores };
    assert_eq!(candidate.spread(Metric::Loss).map(|spread| spread.mean), Some(0.6));
}

#[test]
fn the_comparison_pairs_runs_and_leaves_out_what_has_no_test_figure() {
    let outcome = |accuracy: Option<f64>| {
        let mut figures = RunFigures::default();
        figures.test.accuracy = accuracy;
        Outcome { figures, spurious: None, epochs: 1, kept_epoch: 1, train_seconds: 0.0 }
    };
    let pairs = [(0.5, 0.75), (0.25, 1.0)].map(|(base, winner)| (outcome(Some(base)), outcome(Some(winner))));
    let comparison = Comparison::of(&pairs, &[Metric::Accuracy, Metric::Loss]);
    assert_eq!((comparison.runs, comparison.figures.len()), (2, 1));
    let Pair { figure, base, winner, difference } = &comparison.figures[0];
    assert_eq!((*figure, base.mean, winner.mean), ("accuracy", 0.375, 0.875));
    assert_eq!(difference.map(|difference| difference.mean), Some(0.5));
}

#[test]
fn errors_of_spaces_name_the_file() {
    for (text, problem) in [
        ("", "names no setting to search"),
        ("hidden = [", "mine.toml:1: unclosed array"),
        ("hiden = [3]", "there is no setting 'hiden'; did you mean 'hidden'?"),
        ("seed = [1, 2]", "seed: says what is measured"),
        ("hidden = []", "hidden: has no value"),
        ("hidden = 64", "hidden: 64 is neither a list of values nor a range like { from"),
        ("hidden = [64, 'wide']", "hidden: invalid type: string \"wide\", expected a whole number, 0 or more"),
        ("heads = [1, 0]", "heads must be between 1 and 1024, and 0 is not"),
        ("dropout = { from = 0.5, to = 1.5, scale = 'linear' }", "dropout must be at least 0 and below 1, and 1.5 is"),
        ("arch = { from = 'gat', to = 'gatv2', scale = 'log' }", "arch: from \"gat\" and to \"gatv2\" must be numbers"),
        ("lr = { from = 0.1, to = 0.01, scale = 'log' }", "lr: from 0.1 must be below to 0.01"),
        ("weight-decay = { from = 0, to = 0.1, scale = 'log' }", "weight-decay: from 0 must be above 0 with scale"),
        ("lr = { from = 0.1, to = 1.0 }", "lr: missing field `scale`; a range is { from"),
        ("lr = { from = 0.1, to = 1.0, scale = 'cubic' }", "lr: unknown variant `cubic`, expected `linear` or `log`"),
        ("hidden = { from = 0.5, to = 64, scale = 'log' }", "hidden: invalid type: floating point `0.5`"),
    ] {
        let error = space(text).unwrap_err();
        assert!(error.contains("mine.toml") && error.contains(problem), "{text}: {error}");
    }
}
