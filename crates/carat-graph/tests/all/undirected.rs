//! Datasets with every edge both ways, and with self-loops.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::any_dataset::{any_dataset, assert_same_parts};
use carat_graph::{Dataset, readers, writers};
use proptest::prelude::*;

/// What is known of an edge: whether it is spurious, and its features.
type Known = (Option<bool>, Option<Vec<f32>>);

proptest! {
    // Every case sorts edges on the disk.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_edge_goes_both_ways_and_what_is_known_of_it_too(dataset in any_dataset()) {
        let folder = tempfile::tempdir().unwrap();
        let both = dataset.clone().undirected().unwrap();
        let flags = |dataset: &Dataset| -> Vec<Known> {
            let row = |e| dataset.edge_features().map(|features| features.row(e).to_vec());
            let known = |e| (dataset.spurious().map(|flags| flags[e]), row(e));
            (0..dataset.graph().num_edges()).map(known).collect()
        };
        let own: Vec<((u32, u32), Known)> = dataset.graph().edges().zip(flags(&dataset)).collect();
        let mut expected: BTreeSet<(u32, u32)> = own.iter().map(|(edge, _)| *edge).collect();
        expected.extend(own.iter().map(|((i, j), _)| (*j, *i)));
        let flag = |edge: (u32, u32)| own.iter().find(|(other, _)| *other == edge).map(|(_, flag)| flag.clone());
        for ((i, j), found) in both.graph().edges().zip(flags(&both)) {
            prop_assert!(expected.remove(&(i, j)));
            prop_assert_eq!(Some(found), flag((i, j)).or_else(|| flag((j, i))));
        }
        prop_assert!(expected.is_empty() && both.graph().is_undirected());
        assert_same_parts(&dataset.undirected_on_disk(folder.path()).unwrap(), &both);

        // A .carat file remembers it, and other mapped ones say what to do.
        let path = folder.path().join("both.carat");
        writers::carat::write(&both, &path).unwrap();
        let read = readers::carat::read(&path).unwrap();
        assert_same_parts(&read.undirected().unwrap(), &both);
    }

    #[test]
    fn self_loops_are_no_edges_of_the_data(dataset in any_dataset()) {
        let looped = dataset.clone().with_self_loops(true).unwrap();
        let others: Vec<(u32, u32)> = dataset.graph().edges().filter(|(i, j)| i != j).collect();
        prop_assert_eq!(looped.graph().edges().collect::<Vec<_>>(), others);
        prop_assert!(looped.graph().adds_self_loops());
        let all = vec![true; looped.graph().num_edges()];
        prop_assert!(looped.with_edges(&all).unwrap().graph().adds_self_loops());
    }
}

#[test]
fn a_mapped_graph_is_converted_once() {
    let features = [[1.0], [0.0]];
    let dataset = Dataset::from_rows("one", &[(0, 1)], &features, &[Some(0), Some(1)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.carat");
    writers::carat::write(&dataset, &path).unwrap();
    let error = carat_graph::open(path.to_str().unwrap(), Path::new(".")).unwrap().undirected().unwrap_err();
    assert!(error.to_string().contains("NEW.carat --undirected"), "{error}");
}
