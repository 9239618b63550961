//! Spurious-Motif: graphs whose class is a motif, on a base that goes with the class in training only. After Wu et al.
//! 2022, "Discovering Invariant Rationales for Graph Neural Networks" (DIR, arXiv:2201.12872).
//!
//! ```text
//! class      cycle (of five), house, crane: in turn, so that classes are of equal size (to 1)
//! base       training:            the class's own (tree, ladder, wheel) with probability b, else one of the others
//!            validation and test: each with probability 1/3
//! sizes      training, validation:  tree of 2 or 3 branches and height 0 to 2;  ladder of 8 to 11 rungs;
//!                                   wheel of 15 to 19 nodes
//!            test, if large:        height 3 to 5;  30 to 49 rungs;  60 to 79 nodes
//! features   four uniform random numbers, which tell nothing
//! ```
//!
//! One edge joins the motif to a random node of the base. Planted are the edges within the motif, and all others count
//! as spurious. Unless `degrees` is off, the degree of each node follows its features (degree_features.rs).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::checks;
use super::degree_features;
use super::draft::{CRANE, CYCLE_OF_FIVE, Draft, HOUSE, Motif};
use super::sampling::{Purpose, equal_rows, stream};
use crate::{DataError, Dataset, DatasetParts, Labels, Split};

/// The motif of every class.
const MOTIFS: [(&str, &Motif); 3] = [("cycle", &CYCLE_OF_FIVE), ("house", &HOUSE), ("crane", &CRANE)];

/// Random features.
const COLUMNS: usize = 4;

/// The most graphs of one role.
const MOST_GRAPHS: usize = 1_000_000;

/// Settings of [`spurious_motif`]. The defaults are the paper's, but for the degrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpuriousMotifConfig {
    /// Graphs to train on (9,000).
    pub train: usize,
    /// Graphs to validate on (3,000).
    pub val: usize,
    /// Graphs to test on (6,000).
    pub test: usize,
    /// b: probability that a training graph has its class's own base (0.9, the paper's strongest; 1/3 is no bias).
    pub bias: f64,
    /// Whether the bases of test graphs are larger than all in training (true).
    pub large_test: bool,
    /// Whether features tell degrees (true); without, they are the paper's alone.
    pub degrees: bool,
    /// Seed of everything random (0).
    pub seed: u64,
}

impl Default for SpuriousMotifConfig {
    fn default() -> Self {
        Self { train: 9000, val: 3000, test: 6000, bias: 0.9, large_test: true, degrees: true, seed: 0 }
    }
}

impl SpuriousMotifConfig {
    /// Checks every value; the error names the first that is wrong, and its range.
    pub fn check(&self) -> Result<(), DataError> {
        checks::within("train", self.train, MOTIFS.len(), MOST_GRAPHS)?;
        checks::within("val", self.val, 1, MOST_GRAPHS)?;
        checks::within("test", self.test, 0, MOST_GRAPHS)?;
        checks::share("bias", self.bias)
    }
}

/// Makes the set of graphs: first those of training, then of validation, then of test.
pub fn spurious_motif(config: &SpuriousMotifConfig) -> Result<Dataset, DataError> {
    config.check()?;
    let mut rng = stream(config.seed, Purpose::Edges, 0);
    let mut draft = Draft::default();
    let (mut labels, mut graph_offsets) = (Vec::new(), vec![0]);
    for (count, bias, is_large) in [
        (config.train, config.bias, false),
        (config.val, 1.0 / 3.0, false),
        (config.test, 1.0 / 3.0, config.large_test),
    ] {
        for class in (0..MOTIFS.len()).cycle().take(count) {
            let other = rng.random_range(1..MOTIFS.len());
            let kind = if rng.random_bool(bias) { class } else { (class + other) % MOTIFS.len() };
            let base = draw_base(&mut draft, kind, is_large, &mut rng);
            let place = rng.random_range(base);
            draft.attach(MOTIFS[class].1, place, &mut rng);
            labels.push(Some(class as u32));
            graph_offsets.push(draft.num_nodes() as u32);
        }
    }
    let (graph, others) = draft.finish()?;
    let fill = |rng: &mut ChaCha8Rng, values: &mut [f32]| values.iter_mut().for_each(|value| *value = rng.random());
    let own = equal_rows(graph.num_nodes(), COLUMNS, config.seed, Purpose::Features, fill);
    let names = (0..COLUMNS).map(|column| format!("random {column}")).collect();
    let (features, names) = degree_features::named(&graph, names, &own, config.degrees)?;
    let [train, val, test] = [config.train, config.val, config.test].map(|count| count as u32);
    let split = Split {
        train: (0..train).collect(),
        val: (train..train + val).collect(),
        test: (train + val..train + val + test).collect(),
    };
    let labels = Labels::new(labels, MOTIFS.len())?;
    let mut parts = DatasetParts::new("spurious-motif", graph, features, labels);
    parts.splits = vec![split];
    parts.spurious = Some(others);
    parts.graph_offsets = Some(graph_offsets);
    parts.feature_names = Some(names);
    parts.class_names = Some(MOTIFS.iter().map(|(name, _)| name.to_string()).collect());
    Dataset::new(parts)
}

/// A base: 0 tree, 1 ladder, 2 wheel.
fn draw_base(draft: &mut Draft, kind: usize, is_large: bool, rng: &mut ChaCha8Rng) -> std::ops::Range<u32> {
    match (kind, is_large) {
        (0, false) => draft.tree(rng.random_range(2..=3), rng.random_range(0..=2)),
        (0, true) => draft.tree(rng.random_range(2..=3), rng.random_range(3..=5)),
        (1, false) => draft.ladder(rng.random_range(8..=11)),
        (1, true) => draft.ladder(rng.random_range(30..=49)),
        (_, false) => draft.wheel(rng.random_range(15..=19)),
        (_, true) => draft.wheel(rng.random_range(60..=79)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sizes of the part of a graph that is not its motif, which tell the base, and the numbers of its planted edges.
    fn parts(data: &Dataset, graph: usize) -> (usize, usize) {
        let nodes = data.graph_set().unwrap().nodes(graph);
        let truth = data.spurious().unwrap();
        let planted = nodes.clone().flat_map(|node| data.graph().in_edges(node)).filter(|&edge| !truth[edge]).count();
        (nodes.len() - 5, planted)
    }

    fn base_of(data: &Dataset, graph: usize) -> usize {
        // Trees have at most 13 nodes in training, wheels from 15 to 19 and ladders an even number from 16 to 22, so
        // sizes 16 and 18 leave two: only a wheel has a node that is joined to all others of the base.
        let nodes = data.graph_set().unwrap().nodes(graph);
        let base = nodes.len() - 5;
        let is_hub = |node: u32| data.graph().in_degree(node) >= base - 1;
        match base {
            ..=13 => 0,
            _ if is_hub(nodes.start) => 2,
            _ => 1,
        }
    }

    #[test]
    fn the_base_goes_with_the_class_in_training_alone() {
        let config = SpuriousMotifConfig { train: 3000, val: 1500, test: 30, bias: 0.7, seed: 2, ..Default::default() };
        let data = spurious_motif(&config).unwrap();
        let split = &data.splits()[0];
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (3000, 1500, 30));
        for list in [&split.train, &split.val, &split.test] {
            for class in 0..3 {
                let of_class = list.iter().filter(|&&graph| data.labels().get(graph) == Some(class)).count();
                assert_eq!(of_class, list.len() / 3);
            }
        }
        let own = |list: &[u32]| {
            let is_own = |&&graph: &&u32| data.labels().get(graph) == Some(base_of(&data, graph as usize) as u32);
            list.iter().filter(is_own).count() as f64 / list.len() as f64
        };
        assert!((own(&split.train) - 0.7).abs() < 0.03, "{}", own(&split.train));
        assert!((own(&split.val) - 1.0 / 3.0).abs() < 0.04, "{}", own(&split.val));
        assert!(split.test.iter().all(|&graph| parts(&data, graph as usize).0 >= 15));
        let small = spurious_motif(&SpuriousMotifConfig { large_test: false, ..config }).unwrap();
        assert!(small.num_nodes() < data.num_nodes());
    }

    #[test]
    fn every_bad_value_is_named() {
        let good = SpuriousMotifConfig::default();
        for (name, config) in [
            ("train", SpuriousMotifConfig { train: 2, ..good.clone() }),
            ("val", SpuriousMotifConfig { val: 0, ..good.clone() }),
            ("test", SpuriousMotifConfig { test: usize::MAX, ..good.clone() }),
            ("bias", SpuriousMotifConfig { bias: 1.1, ..good.clone() }),
            ("bias", SpuriousMotifConfig { bias: f64::NAN, ..good }),
        ] {
            let error = spurious_motif(&config).unwrap_err().to_string();
            assert!(error.starts_with(name), "{name}: {error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn motifs_are_planted_whole_and_seeds_tell_sets_apart(
            (train, val, test) in (3usize..40, 1usize..20, 0usize..20),
            bias in 0.0f64..=1.0, large_test: bool, degrees: bool, seed: u64,
        ) {
            let config = SpuriousMotifConfig { train, val, test, bias, large_test, degrees, seed };
            let data = spurious_motif(&config).unwrap();
            let set = data.graph_set().unwrap();
            prop_assert_eq!(set.num_graphs(), train + val + test);
            for graph in 0..set.num_graphs() {
                // The motif comes last; its edges go both ways.
                let edges = [5, 6, 7][data.labels().get(graph as u32).unwrap() as usize];
                prop_assert_eq!(parts(&data, graph).1, 2 * edges);
                let nodes = set.nodes(graph);
                let motif = nodes.end - 5..nodes.end;
                for node in nodes {
                    for edge in data.graph().in_edges(node) {
                        let is_inside = motif.contains(&node) && motif.contains(&data.graph().sources()[edge]);
                        prop_assert_eq!(data.spurious().unwrap()[edge], !is_inside);
                    }
                }
            }
            prop_assert!(data.graph().edges().all(|(i, j)| data.graph().in_neighbours(i).contains(&j)));
            prop_assert_eq!(data.features().num_columns(), if degrees { 15 } else { 4 });
            let again = spurious_motif(&config).unwrap();
            prop_assert_eq!((data.graph(), data.features()), (again.graph(), again.features()));
            let other = spurious_motif(&SpuriousMotifConfig { seed: seed ^ 1, ..config }).unwrap();
            prop_assert_ne!(data.features(), other.features());
        }
    }
}
