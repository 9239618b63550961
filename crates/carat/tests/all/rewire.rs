//! Pruned graphs: what is trained once, how curves are computed, and that informed attention beats chance.

use carat::rewire::{Guide, Pruning, RewireConfig, Study, at_random, scores};
use carat::{Dataset, TrainConfig};
use carat_graph::generators::{PlantedConfig, planted};

fn dataset() -> Dataset {
    planted(&PlantedConfig { nodes: 300, ..PlantedConfig::default() }).unwrap()
}

fn settings(thresholds: &[f64], trials: usize) -> RewireConfig {
    let attention = TrainConfig::default().hidden(16).layers(1).epochs(40);
    RewireConfig { thresholds: thresholds.to_vec(), splits: vec![0], trials, gcn: RewireConfig::gcn(&attention) }
}

/// A guide that knows which edges the generator planted as spurious.
fn truth(dataset: &Dataset) -> Guide {
    let score = |spurious: bool| if spurious { 0.2 } else { 0.8 };
    Guide { name: "truth".into(), scores: dataset.spurious().unwrap().iter().map(score).collect() }
}

#[test]
fn equal_graphs_are_trained_once_and_knowledge_beats_chance() {
    let dataset = dataset();
    // Below 0.2 no edge is left out, from 0.8 on every one is.
    let config = settings(&[0.0, 0.1, 0.3, 0.5, 0.7, 1.01], 2);
    let study = Study::new(&dataset, vec![truth(&dataset)], config).unwrap();
    // Per trial: the whole graph, the useful edges, as many at random, no edge.
    assert_eq!(study.trainings(), 2 * 4);
    let accuracies: Vec<f64> = (0..8).map(|number| study.train(number, &|| false).unwrap()).collect();
    let curves = study.curves(&accuracies);
    assert_eq!(curves.unpruned, [[accuracies[0], accuracies[4]]]);
    let [guided, random] = &curves.curves[..] else { panic!("two curves") };
    assert!(!guided.random && random.random);
    let useful = dataset.spurious().unwrap().iter().filter(|spurious| !spurious).count();
    let edges: Vec<usize> = guided.points.iter().map(|point| point.edges.unwrap()).collect();
    let all = dataset.graph().num_edges();
    assert_eq!(edges, [all, all, useful, useful, useful, 0]);
    for (guided, random) in guided.points.iter().zip(&random.points) {
        assert_eq!(guided.edges, random.edges);
    }
    assert_eq!(guided.points[1].accuracies, curves.unpruned);
    assert_eq!(guided.points[2].accuracies, guided.points[4].accuracies);
    assert_eq!(guided.points[5].accuracies, random.points[5].accuracies);
    assert!(guided.points[2].mean() > random.points[2].mean() + 0.02, "{curves:?}");
    assert!(curves.signed_areas(0)[0] > curves.signed_areas(1)[0]);
}

#[test]
fn settings_that_make_no_study_are_named() {
    let dataset = dataset();
    let refused =
        |config: RewireConfig| Study::new(&dataset, vec![truth(&dataset)], config).map(|_| ()).unwrap_err().to_string();
    let order = "thresholds must be ascending, each above the one before, and at least one";
    assert_eq!(refused(settings(&[0.5, 0.1], 1)), order);
    assert_eq!(refused(settings(&[], 1)), order);
    assert_eq!(refused(settings(&[-0.1], 1)), "a threshold of attention is a number from 0 on, and -0.1 is not");
    assert_eq!(refused(settings(&[0.1], 0)), "trials must be at least 1");
    assert!(refused(settings(&[0.1], 90_000)).contains("more than 100000"));
    let no_split = RewireConfig { splits: vec![7], ..settings(&[0.1], 1) };
    assert!(refused(no_split).contains("no split 7"), "{}", dataset.splits().len());
    let short = Guide { name: "short".into(), scores: vec![0.5] };
    let error = Study::new(&dataset, vec![short], settings(&[0.1], 1)).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("short scores 1 edges, but"), "{error}");
    let study = Study::new(&dataset, vec![truth(&dataset)], settings(&[0.1], 1)).unwrap();
    assert!(study.train(99, &|| false).is_err());
    assert!(matches!(study.train(0, &|| true), Err(carat::Error::Interrupted)));
}

#[test]
fn a_run_s_graph_follows_from_its_settings() {
    let dataset = dataset();
    let guide = TrainConfig::default().hidden(8).heads(1).layers(1).epochs(3);
    let run = settings(&[0.1], 1).gcn.seed(4);
    let pruning = Pruning { threshold: 0.1, random: false, guide: Box::new(guide) };
    let guide = pruning.guide_of(&run);
    assert_eq!(guide.seed, 4);
    let scores = scores(&dataset, &guide, &|| false).unwrap().unwrap();
    let pruned = pruning.apply(&dataset, &scores, &run).unwrap();
    let kept = scores.iter().filter(|score| f64::from(**score) >= 0.1).count();
    assert!(kept > 0 && kept < scores.len());
    assert_eq!(pruned.graph().num_edges(), kept);
    let random = Pruning { random: true, ..pruning }.apply(&dataset, &scores, &run).unwrap();
    assert_eq!(random.graph().num_edges(), kept);
    assert_ne!(random.graph(), pruned.graph());
    assert_ne!(at_random(scores.len(), kept, 0), at_random(scores.len(), kept, 1));
    assert!(carat::rewire::scores(&dataset, &guide, &|| true).unwrap().is_none());
}

#[test]
fn gcns_and_guides_have_the_folds_of_the_run() {
    let dataset = dataset();
    let run = TrainConfig::default().folds(Some(5)).split(2).seed(7);
    let split = run.choose_split(&dataset).unwrap();
    let gcn = RewireConfig::gcn(&run).split(2);
    assert_eq!(gcn.choose_split(&dataset).unwrap(), split);
    let pruning = Pruning { threshold: 0.1, random: false, guide: Box::default() };
    assert_eq!(pruning.guide_of(&gcn).choose_split(&dataset).unwrap(), split);
    let other = run.seed(8);
    assert_ne!(other.choose_split(&dataset).unwrap(), split);
}
