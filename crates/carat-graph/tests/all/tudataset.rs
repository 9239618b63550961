//! TUDataset's layout: the three real sets, small made-up ones, and damaged ones.

use std::path::Path;

use crate::support::damage::with_every_damage;
use carat_graph::{Dataset, readers};

use crate::support::data_dir;

const FILES: [(&str, &str); 5] = [
    ("S_A.txt", "1, 3\n3, 1\n2, 4\n4, 2\n2,2\n1,3\n"),
    ("S_graph_indicator.txt", "2\n1\n2\n1\n4\n"),
    ("S_graph_labels.txt", "5\n-1\n5\n7\n"),
    ("S_node_labels.txt", "9\n3\n3\n9\n-2\n"),
    ("S_node_attributes.txt", " 0.5, 0\n1,2\n3,4\n5,6\n7,8\n"),
];

fn write(folder: &Path, changes: &[(&str, Option<&str>)]) {
    for (name, text) in FILES {
        match changes.iter().find(|(changed, _)| *changed == name) {
            Some((_, None)) => {}
            Some((_, Some(text))) => std::fs::write(folder.join(name), text).unwrap(),
            None => std::fs::write(folder.join(name), text).unwrap(),
        }
    }
}

fn read(changes: &[(&str, Option<&str>)]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), changes);
    readers::tudataset::read(folder.path(), "small").unwrap()
}

fn refusal(name: &str, text: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[(name, text)]);
    let error = readers::tudataset::read(folder.path(), "small").unwrap_err();
    assert!(error.is_input_error());
    let message = error.to_string().replace(&format!("{}/", folder.path().display()), "");
    message.replace(&folder.path().display().to_string(), ".")
}

#[test]
fn nodes_are_gathered_by_graph_and_everything_follows() {
    let dataset = read(&[]);
    let set = dataset.graph_set().unwrap();
    assert_eq!(set.num_graphs(), 4);
    // The files' nodes 2 and 4 are in graph 1, nodes 1 and 3 in graph 2, none in graph 3, node 5 in graph 4.
    assert_eq!((0..4).map(|g| set.nodes(g)).collect::<Vec<_>>(), [0..2, 2..4, 4..4, 4..5]);
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (0, 1), (3, 2), (2, 3)]);
    assert_eq!(dataset.labels().as_signed(), [1, 0, 1, 2]);
    assert_eq!(dataset.class_names().unwrap(), ["-1", "5", "7"]);
    assert_eq!(
        dataset.features().to_dense(),
        [
            [0.0, 1.0, 0.0, 1.0, 2.0],
            [0.0, 0.0, 1.0, 5.0, 6.0],
            [0.0, 0.0, 1.0, 0.5, 0.0],
            [0.0, 1.0, 0.0, 3.0, 4.0],
            [1.0, 0.0, 0.0, 7.0, 8.0]
        ]
        .concat()
    );
}

#[test]
fn node_labels_and_attributes_are_optional() {
    let labels = read(&[("S_node_attributes.txt", None)]);
    assert_eq!(labels.features().num_columns(), 3);
    let attributes = read(&[("S_node_labels.txt", None)]);
    assert_eq!(attributes.features().to_dense()[..4], [1.0, 2.0, 5.0, 6.0]);
    let neither = read(&[("S_node_labels.txt", None), ("S_node_attributes.txt", None)]);
    assert_eq!(neither.features().to_dense(), [1.0; 5]);
    let two = read(&[("S_node_attributes.txt", None), ("S_node_labels.txt", Some("0,7\n0,8\n1,7\n0,8\n0,7\n"))]);
    assert_eq!(two.features().num_columns(), 4);
    assert_eq!(two.features().to_dense()[8..12], [1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn every_error_names_the_file_and_the_line() {
    let cases = [
        ("S_A.txt", "1,3\n0,1\n", "S_A.txt:2: there is no node 0; the 5 nodes count from 1"),
        ("S_A.txt", "1,6\n", "S_A.txt:1: there is no node 6; the 5 nodes count from 1"),
        ("S_A.txt", "1,2\n", "S_A.txt:1: the edge joins a node of graph 2 to one of graph 1"),
        ("S_A.txt", "1 3\n", "S_A.txt:1: '1 3' is not a whole number from 0 to 4294967295"),
        ("S_A.txt", "1,3,4\n", "S_A.txt:1: the line has 3 numbers where 2 belong"),
        ("S_graph_indicator.txt", "1\n5\n", "S_graph_indicator.txt:2: there is no graph 5; the 4 graphs count from 1"),
        ("S_graph_indicator.txt", "0\n", "S_graph_indicator.txt:1: there is no graph 0; the 4 graphs count from 1"),
        ("S_graph_labels.txt", "1\n0.5\n", "S_graph_labels.txt:2: '0.5' is not a whole number"),
        ("S_node_labels.txt", "1\n2\n", "S_node_labels.txt: the file has 2 rows for 5 nodes"),
        ("S_node_labels.txt", "1\na\n", "S_node_labels.txt:2: 'a' is not a whole number"),
        ("S_node_labels.txt", "", "S_node_labels.txt: the file is empty"),
        ("S_node_attributes.txt", "1,2\n", "S_node_attributes.txt: the file has 1 rows for 5 nodes"),
        ("S_node_attributes.txt", "1,2\n3\n", "S_node_attributes.txt:2: the line has 1 numbers, but the first has 2"),
    ];
    for (file, text, message) in cases {
        assert_eq!(refusal(file, Some(text)), message);
    }
    let infinite = refusal("S_node_attributes.txt", Some("1\n2\n3\nnan\n5\n"));
    assert!(infinite.starts_with("S_node_attributes.txt: feature 3 of node "), "{infinite}");
    assert_eq!(refusal("S_A.txt", None), ".: there is no file whose name ends in _A.txt, the list of edges");
    assert!(refusal("S_graph_labels.txt", None).starts_with("S_graph_labels.txt: cannot read: "));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[]);
    std::fs::write(folder.path().join("T_A.txt"), "").unwrap();
    let error = readers::tudataset::read(folder.path(), "two").unwrap_err().to_string();
    assert!(error.ends_with(": there are both S_A.txt and T_A.txt; keep each set in its own folder"), "{error}");
}

#[test]
fn files_cut_short_or_damaged_are_errors_or_datasets_and_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[]);
    for (name, _) in FILES {
        with_every_damage(&folder.path().join(name), |_| {
            let _ = readers::tudataset::read(folder.path(), "damaged");
        });
    }
    readers::tudataset::read(folder.path(), "whole").unwrap();
}

/// Counts and sums computed from the files with Python.
#[test]
fn the_real_sets_have_their_published_counts() {
    let Some(data) = data_dir() else { return };
    // Name, graphs, nodes, edges, features, graphs per class, sum of (31 source + target) over edges.
    let expected = [
        ("MUTAG", 188, 3_371, 7_442, 7, ["-1", "1"], [63, 125], 399_703_584u64),
        ("PROTEINS", 1_113, 43_471, 162_088, 4, ["1", "2"], [663, 450], 766_726_903),
        ("NCI1", 4_110, 122_747, 265_506, 37, ["0", "1"], [2_053, 2_057], 205_255_649),
    ];
    for (name, graphs, nodes, edges, features, class_names, classes, checksum) in expected {
        let dataset = readers::tudataset::read(&data.join("tudataset").join(name), name).unwrap();
        assert_eq!(dataset.graph_set().unwrap().num_graphs(), graphs, "{name}");
        assert_eq!((dataset.num_nodes(), dataset.graph().num_edges()), (nodes, edges), "{name}");
        assert_eq!(dataset.features().num_columns(), features, "{name}");
        assert_eq!(dataset.class_names().unwrap(), class_names, "{name}");
        let count = |class: i32| dataset.labels().as_signed().iter().filter(|&&label| label == class).count();
        assert_eq!([count(0), count(1)], classes, "{name}");
        let sum: u64 = dataset.graph().edges().map(|(s, d)| u64::from(s) * 31 + u64::from(d)).sum();
        assert_eq!(sum % 1_000_000_007, checksum, "{name}");
        let set = dataset.graph_set().unwrap();
        for g in 0..set.num_graphs() {
            let nodes = set.nodes(g);
            assert!(nodes.clone().all(|n| dataset.graph().in_neighbours(n).iter().all(|i| nodes.contains(i))));
        }
    }
    let proteins = readers::tudataset::read(&data.join("tudataset/PROTEINS"), "PROTEINS").unwrap();
    let dense = proteins.features().to_dense();
    assert_eq!(dense.chunks(4).map(|row| f64::from(row[3])).sum::<f64>(), 343_915.0);
    assert_eq!(dense.chunks(4).map(|row| row[0] + row[1] + row[2]).sum::<f32>(), 43_471.0);
    // Sum of the original node labels: 0 x, 1 x, 2 x.
    assert_eq!(dense.chunks(4).map(|row| row[1] + 2.0 * row[2]).sum::<f32>(), 23_709.0);
}
