use super::*;
use crate::generators::{PlantedConfig, planted};
use proptest::prelude::*;

/// A source whose features name the node they came from.
fn source(sizes: &[usize]) -> Dataset {
    let labels: Vec<Option<u32>> =
        sizes.iter().enumerate().flat_map(|(class, &size)| vec![Some(class as u32); size]).chain([None]).collect();
    let n = labels.len();
    let features = Features::dense(n, 2, (0..n).flat_map(|node| [node as f32, 1.0]).collect()).unwrap();
    let graph = Graph::from_edges(n, &[], &[]).unwrap();
    let mut parts = DatasetParts::new("source", graph, features, Labels::new(labels, sizes.len()).unwrap());
    parts.class_names = Some((0..sizes.len()).map(|class| format!("class {class}")).collect());
    Dataset::new(parts).unwrap()
}

#[test]
fn the_measured_homophily_is_the_one_asked_for() {
    let source = source(&[300; 5]);
    for step in 0..=10 {
        for seed in 0..3 {
            let h = f64::from(step) / 10.0;
            let config = HomophilyConfig { homophily: h, seed, ..HomophilyConfig::default() };
            let data = homophily(&config, &source).unwrap();
            let measured = data.homophily().unwrap();
            assert!((measured - h).abs() < 0.05, "asked for {h}, measured {measured}");
            let edges = data.graph().num_edges();
            assert!((5930..=5960).contains(&edges), "{edges} edges at {h}");
            assert!((0..1490).all(|n| data.graph().in_degree(n) >= 2));
            // Preferential attachment makes hubs; syn-cora's largest degrees are 48 to 94.
            assert!((0..1490).map(|n| data.graph().in_degree(n)).max().unwrap() > 25);
        }
    }
}

#[test]
fn other_classes_are_linked_by_their_distance_on_the_ring() {
    let config = HomophilyConfig { nodes: 20_000, homophily: 0.0, ..HomophilyConfig::default() };
    let data = homophily(&config, &source(&[10; 5])).unwrap();
    let mut near = 0;
    for (i, j) in data.graph().edges() {
        let (a, b) = (data.labels().get(i).unwrap(), data.labels().get(j).unwrap());
        assert_ne!(a, b);
        near += usize::from(matches!(a.abs_diff(b), 1 | 4));
    }
    assert!((near as f64 / data.graph().num_edges() as f64 - 2.0 / 3.0).abs() < 0.03);
}

#[test]
fn features_come_from_the_same_class_and_each_once_while_possible() {
    // The three largest of five classes: 1, 3 and 4.
    let sizes = [5, 40, 10, 30, 30];
    let config = HomophilyConfig { nodes: 90, classes: Some(3), edges_per_node: 3, ..HomophilyConfig::default() };
    let data = homophily(&config, &source(&sizes)).unwrap();
    assert_eq!(data.class_names().unwrap(), ["class 1", "class 3", "class 4"]);
    let ranges = [5..45, 55..85, 85..115];
    let mut used = std::collections::BTreeSet::new();
    for (node, row) in data.features().to_dense().chunks(2).enumerate() {
        let donor = row[0] as usize;
        assert!(ranges[data.labels().get(node as u32).unwrap() as usize].contains(&donor));
        assert!(used.insert(donor), "donor {donor} is used twice");
    }
    let twice = homophily(&HomophilyConfig { nodes: 120, ..config }, &source(&sizes)).unwrap();
    let donors: std::collections::BTreeSet<usize> =
        twice.features().to_dense().chunks(2).map(|row| row[0] as usize).collect();
    assert_eq!(donors.len(), 100);
}

#[test]
fn sparse_sources_stay_sparse_and_splits_are_made() {
    let source = planted(&PlantedConfig::default()).unwrap();
    let config = HomophilyConfig { nodes: 500, splits: 4, ..HomophilyConfig::default() };
    let data = homophily(&config, &source).unwrap();
    assert!(matches!(data.features(), Features::Sparse(_)));
    assert_eq!(data.splits().len(), 4);
    assert_ne!(data.splits()[0], data.splits()[1]);
    assert_eq!(data.splits()[3].train.len(), 300);
}

#[test]
fn the_same_configuration_gives_the_same_bytes_on_any_number_of_threads() {
    let source = source(&[20; 5]);
    let config = HomophilyConfig { seed: 8, ..HomophilyConfig::default() };
    let make = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| homophily(&config, &source)).unwrap()
    };
    let one = make(1);
    for threads in [2, 3] {
        let other = make(threads);
        assert_eq!((one.graph(), one.features(), one.labels()), (other.graph(), other.features(), other.labels()));
        assert_eq!(one.splits(), other.splits());
    }
    let reseeded = homophily(&HomophilyConfig { seed: 9, ..config }, &source).unwrap();
    assert_ne!(one.graph(), reseeded.graph());
}

#[test]
fn every_bad_value_is_named() {
    let good = HomophilyConfig::default();
    let cases = [
        ("classes", HomophilyConfig { classes: Some(1), ..good.clone() }),
        ("classes", HomophilyConfig { classes: Some(6), ..good.clone() }),
        ("edges_per_node", HomophilyConfig { edges_per_node: 0, ..good.clone() }),
        ("nodes", HomophilyConfig { nodes: 14, ..good.clone() }),
        ("nodes", HomophilyConfig { nodes: usize::MAX, ..good.clone() }),
        ("homophily", HomophilyConfig { homophily: f64::NAN, ..good.clone() }),
        ("splits", HomophilyConfig { splits: 1_000_000, ..good.clone() }),
        (
            "split_ratio.test",
            HomophilyConfig { split_ratio: SplitRatio { test: 3.0, ..good.split_ratio }, ..good.clone() },
        ),
    ];
    for (name, config) in cases {
        let error = homophily(&config, &source(&[10; 5])).unwrap_err().to_string();
        assert!(error.starts_with(name), "{name}: {error}");
    }
    let error = homophily(&good, &source(&[10])).unwrap_err().to_string();
    assert!(error.starts_with("the source's number of classes is 1"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_configuration_keeps_the_invariants_or_is_refused(
        nodes in 0usize..300, classes in proptest::option::of(0usize..6), edges_per_node in 0usize..12,
        homophily_asked in -0.2f64..1.2, splits in 0usize..4, seed: u64,
        sizes in proptest::collection::vec(0usize..9, 1..6),
    ) {
        let config = HomophilyConfig {
            nodes, classes, edges_per_node, homophily: homophily_asked, splits, seed, ..HomophilyConfig::default()
        };
        let source = source(&sizes);
        if let Ok(data) = homophily(&config, &source) {
            prop_assert_eq!(data.num_nodes(), nodes);
            prop_assert_eq!(data.splits().len(), splits);
            prop_assert!(data.graph().num_edges() <= 2 * nodes * edges_per_node);
            for j in 0..nodes as u32 {
                prop_assert!(data.graph().in_degree(j) >= edges_per_node);
                prop_assert_eq!(data.graph().in_neighbours(j), data.graph().out_neighbours(j));
                prop_assert!(!data.graph().in_neighbours(j).contains(&j));
            }
        }
    }
}
