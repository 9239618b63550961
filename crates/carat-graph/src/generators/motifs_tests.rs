use super::*;
use proptest::prelude::*;

/// The number of nodes of every class.
fn class_sizes(data: &Dataset) -> Vec<usize> {
    let of_class = |class| (0..data.num_nodes() as u32).filter(|&n| data.labels().get(n) == Some(class)).count();
    (0..data.labels().num_classes() as u32).map(of_class).collect()
}

fn num_planted(data: &Dataset) -> usize {
    data.spurious().unwrap().iter().filter(|spurious| !spurious).count()
}

#[test]
fn sizes_are_the_papers() {
    let shapes = ba_shapes(&BaShapesConfig::default()).unwrap();
    assert_eq!(class_sizes(&shapes), [300, 80, 160, 160]);
    // The base's 5 (300 - 5), six of each house, one to attach it, and 0.1 times 700 at random, all both ways.
    assert_eq!(shapes.graph().num_edges(), 2 * (1475 + 480 + 80 + 70));
    assert_eq!(num_planted(&shapes), 2 * 480);

    let community = ba_community(&BaCommunityConfig::default()).unwrap();
    assert_eq!(class_sizes(&community), [300, 80, 160, 160, 300, 80, 160, 160]);
    assert_eq!(community.graph().num_edges(), 2 * (2 * (1475 + 480 + 80 + 70) + 350));
    assert_eq!(num_planted(&community), 2 * 2 * 480);

    let cycles = tree_cycles(&TreeConfig::default()).unwrap();
    assert_eq!(class_sizes(&cycles), [511, 480]);
    assert_eq!(cycles.graph().num_edges(), 2 * (510 + 480 + 80 + 99));
    assert_eq!(num_planted(&cycles), 2 * 480);
    // The authors' code has 60 cycles, and so 871 nodes.
    let sixty = TreeConfig { motifs: MotifConfig { motifs: 60, ..Default::default() }, ..Default::default() };
    assert_eq!(tree_cycles(&sixty).unwrap().num_nodes(), 871);

    let grid = tree_grid(&TreeConfig::default()).unwrap();
    assert_eq!(class_sizes(&grid), [511, 720]);
    assert_eq!(grid.num_nodes(), 1231);
    assert_eq!(num_planted(&grid), 2 * 80 * 12);
}

#[test]
fn features_of_communities_tell_the_community_and_the_paper_s_features_nothing_else() {
    let motifs = MotifConfig { degrees: false, ..Default::default() };
    let shapes = BaShapesConfig { motifs, ..Default::default() };
    let constant = ba_shapes(&shapes).unwrap();
    assert_eq!(constant.features().to_dense(), vec![1.0; 700]);
    let data = ba_community(&BaCommunityConfig { shapes, ..Default::default() }).unwrap();
    let values = data.features().to_dense();
    let mean = |nodes: std::ops::Range<usize>, column: usize| {
        nodes.clone().map(|node| f64::from(values[10 * node + column])).sum::<f64>() / nodes.len() as f64
    };
    for column in 0..2 {
        assert!((mean(0..700, column) + 1.0).abs() < 0.08 && (mean(700..1400, column) - 1.0).abs() < 0.08);
    }
    assert!((2..10).all(|column| mean(0..700, column).abs() < 0.16 && mean(700..1400, column).abs() < 0.16));
    let square: f64 = values.chunks_exact(10).map(|row| f64::from(row[9]).powi(2)).sum();
    assert!((square / 1400.0 - 1.0).abs() < 0.15, "{square}");
}

#[test]
fn degrees_are_features() {
    let data = ba_shapes(&BaShapesConfig::default()).unwrap();
    let values = data.features().to_dense();
    for node in 0..700 {
        let row = &values[12 * node..12 * (node + 1)];
        let degree = data.graph().in_degree(node as u32).min(10);
        assert!(row[0] == 1.0 && (0..11).all(|column| row[1 + column] == f32::from(column == degree)));
    }
    assert_eq!(data.feature_names().unwrap()[11], "degree 10 or more");
}

#[test]
fn every_bad_value_is_named() {
    let shapes = BaShapesConfig::default();
    let motifs = |motifs: MotifConfig| BaShapesConfig { motifs, ..Default::default() };
    for (name, config) in [
        ("base_nodes", BaShapesConfig { base_nodes: 1, ..shapes.clone() }),
        ("edges_per_node", BaShapesConfig { edges_per_node: 0, ..shapes.clone() }),
        ("edges_per_node", BaShapesConfig { base_nodes: 5, ..shapes.clone() }),
        ("motifs", motifs(MotifConfig { motifs: 0, ..Default::default() })),
        ("noise", motifs(MotifConfig { noise: f64::NAN, ..Default::default() })),
        (
            "split_ratio",
            motifs(MotifConfig { split_ratio: SplitRatio { train: 0.9, val: 0.9, test: 0.1 }, ..Default::default() }),
        ),
    ] {
        let error = ba_shapes(&config).unwrap_err().to_string();
        assert!(error.starts_with(name), "{name}: {error}");
    }
    let error = ba_community(&BaCommunityConfig { shapes, bridges: usize::MAX }).unwrap_err().to_string();
    assert!(error.starts_with("bridges"), "{error}");
    let error = tree_grid(&TreeConfig { height: 19, ..Default::default() }).unwrap_err().to_string();
    assert_eq!(error, "height is 19; it must lie between 0 and 18");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn planted_edges_are_those_within_motifs(
        kind in 0usize..4, base_nodes in 2usize..40, edges_per_node in 1usize..6, height in 0u32..5,
        motifs in 1usize..20, noise in 0.0f64..2.0, bridges in 0usize..50, seed: u64,
    ) {
        let make = |seed: u64| {
            let motifs = MotifConfig { motifs, noise, seed, ..Default::default() };
            let shapes = BaShapesConfig { base_nodes, edges_per_node, motifs: motifs.clone() };
            let tree = TreeConfig { height, motifs };
            match kind {
                0 => ba_shapes(&shapes),
                1 => ba_community(&BaCommunityConfig { shapes, bridges }),
                2 => tree_cycles(&tree),
                _ => tree_grid(&tree),
            }
        };
        if kind < 2 && edges_per_node >= base_nodes {
            prop_assert!(make(seed).unwrap_err().to_string().starts_with("edges_per_node"));
            return Ok(());
        }
        let data = make(seed).unwrap();
        let (communities, size, edges) = [(1, 5, 6), (2, 5, 6), (1, 6, 6), (1, 9, 12)][kind];
        prop_assert_eq!(num_planted(&data), 2 * communities * motifs * edges);
        // Within a community, the base comes first and then one motif after another.
        let community = data.num_nodes() / communities;
        let base = community - size * motifs;
        let motif = |node: u32| {
            let (of, at) = (node as usize / community, node as usize % community);
            (at >= base).then(|| (of, (at - base) / size))
        };
        for ((i, j), spurious) in data.graph().edges().zip(data.spurious().unwrap().iter()) {
            prop_assert_eq!(!spurious, motif(i).is_some() && motif(i) == motif(j));
            prop_assert!(i != j && data.graph().in_neighbours(i).contains(&j));
        }
        for node in 0..data.num_nodes() as u32 {
            let class = data.labels().get(node).unwrap() % 4;
            prop_assert_eq!(motif(node).is_some(), class > 0);
        }
        let again = make(seed).unwrap();
        prop_assert_eq!((data.graph(), data.features()), (again.graph(), again.features()));
        prop_assert_eq!((data.splits(), data.spurious()), (again.splits(), again.spurious()));
        if base_nodes > 20 && kind < 2 {
            let other = make(seed ^ 1).unwrap();
            prop_assert_ne!(data.graph(), other.graph());
        }
    }
}
