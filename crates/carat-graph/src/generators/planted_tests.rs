use super::*;
use proptest::prelude::*;

fn is_decoy(data: &Dataset) -> Vec<bool> {
    let mut decoy = vec![true; data.num_nodes()];
    let split = &data.splits()[0];
    for &node in split.train.iter().chain(&split.val).chain(&split.test) {
        decoy[node as usize] = false;
    }
    decoy
}

/// Words of one node in each of `blocks` topics of `topic_words`.
fn topic_counts(data: &Dataset, node: u32, config: &PlantedConfig) -> Vec<usize> {
    let Features::Sparse(matrix) = data.features() else { panic!("a bag of words is sparse") };
    let mut counts = vec![0; 2 * config.classes];
    for &column in matrix.row(node as usize).0 {
        if let Some(count) = counts.get_mut(column as usize / config.topic_words) {
            *count += 1;
        }
    }
    counts
}

fn argmax(counts: &[usize]) -> usize {
    (0..counts.len()).max_by_key(|&k| counts[k]).unwrap_or(0)
}

#[test]
fn counts_and_shares_are_as_asked() {
    for degree_law in [DegreeLaw::Poisson, DegreeLaw::Constant, DegreeLaw::Power { exponent: 3.0 }] {
        let config = PlantedConfig { nodes: 20_000, degree_law, seed: 3, ..PlantedConfig::default() };
        let data = planted(&config).unwrap();
        let split = &data.splits()[0];
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (3600, 3600, 10_800));
        assert!((data.mean_degree() - 10.0).abs() < 0.3, "{degree_law}: {}", data.mean_degree());
        let truth = data.spurious().unwrap();
        let share = truth.count() as f64 / truth.len() as f64;
        assert!((share - 0.4).abs() < 0.02, "{degree_law}: {share}");
        let (mut same, mut useful) = (0usize, 0usize);
        for ((i, j), _) in data.graph().edges().zip(truth.iter()).filter(|(_, spurious)| !*spurious) {
            useful += 1;
            same += usize::from(data.labels().get(i) == data.labels().get(j));
        }
        assert!((same as f64 / useful as f64 - 0.8).abs() < 0.02);
        let per_class = |list: &[u32], class| list.iter().filter(|&&n| data.labels().get(n) == Some(class)).count();
        assert!((0..5).all(|class| per_class(&split.train, class) == 720 && per_class(&split.test, class) == 2160));
    }
}

#[test]
fn the_shortcut_holds_on_training_nodes_and_nowhere_else() {
    // All of a decoy's words are its group's, so that its features tell the group.
    let config = PlantedConfig { nodes: 5000, decoy_signal: 1.0, shortcut: 0.9, seed: 1, ..PlantedConfig::default() };
    let data = planted(&config).unwrap();
    let truth = data.spurious().unwrap();
    let agreement = |nodes: &[u32]| {
        let (mut agree, mut all) = (0.0, 0.0);
        for &j in nodes {
            for e in data.graph().in_edges(j).filter(|&e| truth[e]) {
                let topic = argmax(&topic_counts(&data, data.graph().sources()[e], &config));
                all += 1.0;
                agree += f64::from(topic == config.classes + data.labels().get(j).unwrap() as usize);
            }
        }
        agree / all
    };
    let split = &data.splits()[0];
    // 0.9 of the group of the class, and a fifth of the rest by chance.
    assert!((agreement(&split.train) - 0.92).abs() < 0.02, "{}", agreement(&split.train));
    assert!((agreement(&split.val) - 0.2).abs() < 0.03);
    assert!((agreement(&split.test) - 0.2).abs() < 0.03);
}

#[test]
fn ordinary_words_tell_the_class() {
    let config = PlantedConfig { feature_signal: 0.5, ..PlantedConfig::default() };
    let data = planted(&config).unwrap();
    let test = &data.splits()[0].test;
    let right = test.iter().filter(|&&n| {
        argmax(&topic_counts(&data, n, &config)[..config.classes]) == data.labels().get(n).unwrap() as usize
    });
    assert!(right.count() as f64 > 0.95 * test.len() as f64);
}

#[test]
fn the_same_configuration_gives_the_same_bytes_on_any_number_of_threads() {
    let config = PlantedConfig { nodes: 20_000, seed: 9, ..PlantedConfig::default() };
    let make = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| planted(&config)).unwrap()
    };
    let one = make(1);
    for threads in [2, 3] {
        let other = make(threads);
        assert_eq!((one.graph(), one.features(), one.labels()), (other.graph(), other.features(), other.labels()));
        assert_eq!((one.spurious(), one.splits()), (other.spurious(), other.splits()));
    }
    let reseeded = planted(&PlantedConfig { seed: 10, ..config }).unwrap();
    assert_ne!(one.graph(), reseeded.graph());
}

#[test]
fn every_bad_value_is_named() {
    let good = PlantedConfig::default();
    let ratio = |train, val, test| SplitRatio { train, val, test };
    let cases = [
        ("classes", PlantedConfig { classes: 1, ..good.clone() }),
        ("nodes", PlantedConfig { nodes: 9, ..good.clone() }),
        ("nodes", PlantedConfig { nodes: usize::MAX, ..good.clone() }),
        ("features", PlantedConfig { features: 0, ..good.clone() }),
        ("features", PlantedConfig { features: 199, ..good.clone() }),
        ("topic_words", PlantedConfig { topic_words: 0, ..good.clone() }),
        ("words_per_node", PlantedConfig { words_per_node: 0, ..good.clone() }),
        ("feature_signal", PlantedConfig { feature_signal: 1.1, ..good.clone() }),
        ("decoy_signal", PlantedConfig { decoy_signal: -0.1, ..good.clone() }),
        ("mean_degree", PlantedConfig { mean_degree: f64::NAN, ..good.clone() }),
        ("mean_degree", PlantedConfig { mean_degree: 2000.0, ..good.clone() }),
        ("degree_law", PlantedConfig { degree_law: DegreeLaw::Power { exponent: 2.0 }, ..good.clone() }),
        ("homophily", PlantedConfig { homophily: 1.5, ..good.clone() }),
        ("spurious_share", PlantedConfig { spurious_share: f64::INFINITY, ..good.clone() }),
        ("shortcut", PlantedConfig { shortcut: -1.0, ..good.clone() }),
        ("decoy_share", PlantedConfig { decoy_share: 2.0, ..good.clone() }),
        ("decoy_share", PlantedConfig { decoy_share: 0.001, ..good.clone() }),
        ("decoy_share", PlantedConfig { decoy_share: 1.0, ..good.clone() }),
        ("split_ratio.train", PlantedConfig { split_ratio: ratio(0.0, 0.5, 0.5), ..good.clone() }),
        ("split_ratio.train", PlantedConfig { split_ratio: ratio(0.0001, 0.5, 0.3), ..good.clone() }),
        ("split_ratio.val", PlantedConfig { split_ratio: ratio(0.1, f64::NAN, 0.3), ..good.clone() }),
        ("split_ratio", PlantedConfig { split_ratio: ratio(0.5, 0.5, 0.5), ..good.clone() }),
        ("nodes and mean_degree", PlantedConfig { nodes: MOST_NODES, mean_degree: 1000.0, ..good.clone() }),
    ];
    for (name, config) in cases {
        let error = planted(&config).unwrap_err().to_string();
        assert!(error.starts_with(name), "{name}: {error}");
    }
    let error = planted(&PlantedConfig { homophily: 1.5, ..good }).unwrap_err();
    assert_eq!(error.to_string(), "homophily is 1.5; it must lie between 0 and 1");
}

#[test]
fn a_configuration_survives_json_and_misspelt_names_are_refused() {
    let config = PlantedConfig { degree_law: DegreeLaw::Power { exponent: 2.5 }, seed: 4, ..PlantedConfig::default() };
    let json = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<PlantedConfig>(&json).unwrap(), config);
    assert_eq!(serde_json::from_str::<PlantedConfig>("{}").unwrap(), PlantedConfig::default());
    assert!(serde_json::from_str::<PlantedConfig>(r#"{"homofily": 0.3}"#).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn any_configuration_keeps_the_invariants_or_is_refused(
        (nodes, classes, features) in (0usize..400, 0usize..7, 0usize..200),
        (topic_words, words_per_node) in (0usize..8, 0usize..30),
        shares in proptest::collection::vec(0.0f64..=1.0, 6),
        mean_degree in 0.0f64..60.0,
        law in 0usize..3,
        seed: u64,
    ) {
        let config = PlantedConfig {
            nodes, classes, features, topic_words, words_per_node, mean_degree, seed,
            feature_signal: shares[0],
            decoy_signal: shares[1],
            homophily: shares[2],
            spurious_share: shares[3],
            shortcut: shares[4],
            decoy_share: shares[5] * 0.6,
            degree_law: [DegreeLaw::Poisson, DegreeLaw::Constant, DegreeLaw::Power { exponent: 2.2 }][law],
            // Everything ordinary is in the split, so that the rest are the decoys.
            split_ratio: SplitRatio { train: 0.5, val: 0.0, test: 0.5 },
        };
        match planted(&config) {
            Err(_) => prop_assert!(config.check().is_err()),
            Ok(data) => {
                prop_assert_eq!(data.num_nodes(), nodes);
                prop_assert_eq!(data.features().num_columns(), features);
                prop_assert_eq!(data.labels().num_classes(), classes);
                let decoy = is_decoy(&data);
                // Rounding both halves of an odd number up or down can leave one ordinary node over.
                let over = decoy.iter().filter(|d| **d).count().abs_diff(config.num_decoys());
                prop_assert!(over <= 1);
                let truth = data.spurious().unwrap();
                for ((i, j), spurious) in data.graph().edges().zip(truth.iter()) {
                    prop_assert_ne!(i, j);
                    prop_assert!(over > 0 || spurious == decoy[i as usize]);
                }
                prop_assert!(data.graph().in_offsets().windows(2).all(|w| w[1] - w[0] < nodes));
                // The graph that was built directly equals the one that the general constructor builds.
                let (src, dst): (Vec<u32>, Vec<u32>) = data.graph().edges().unzip();
                prop_assert_eq!(&Graph::from_edges(nodes, &src, &dst).unwrap(), data.graph());
            }
        }
    }
}
