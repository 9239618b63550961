//! Geom-GCN's text files, real and broken.

use std::path::Path;

use carat_graph::Split;
use carat_graph::readers::geom_gcn;

use crate::support::data_dir;

#[test]
fn the_four_graphs_have_the_published_figures() {
    let Some(data) = data_dir() else { return };
    let table = [
        ("cornell", 183, 295, 1_703, 5, 0.12),
        ("wisconsin", 251, 499, 1_703, 5, 0.17),
        ("chameleon", 2_277, 36_051, 2_325, 5, 0.23),
        ("squirrel", 5_201, 216_933, 2_089, 5, 0.22),
    ];
    for (name, nodes, edges, features, classes, homophily) in table {
        let dataset = geom_gcn::read(&data.join("geom-gcn"), name).unwrap();
        assert_eq!(dataset.name(), name);
        assert_eq!(dataset.num_nodes(), nodes, "{name}");
        assert_eq!(dataset.graph().num_edges(), edges, "{name}");
        assert_eq!(dataset.features().num_columns(), features, "{name}");
        assert_eq!(dataset.labels().num_classes(), classes, "{name}");
        assert_eq!(dataset.labels().num_labelled(), nodes, "{name}");
        assert!((dataset.homophily().unwrap() - homophily).abs() < 0.01, "{name}: {:?}", dataset.homophily());
        assert_eq!(dataset.splits().len(), 10, "{name}");
        for split in dataset.splits() {
            assert!(split.train.len() > split.val.len() && split.val.len() > split.test.len(), "{name}");
        }
    }
}

#[test]
fn cornells_first_edges_splits_and_features_are_where_the_files_say() {
    let Some(data) = data_dir() else { return };
    let cornell = geom_gcn::read(&data.join("geom-gcn"), "cornell").unwrap();
    // The first lines of the edge list; the reverse of the last is not in it.
    for (source, target) in [(173, 96), (121, 72), (35, 79), (2, 130)] {
        assert!(cornell.graph().in_neighbours(target).contains(&source), "{source} -> {target}");
    }
    assert!(!cornell.graph().in_neighbours(2).contains(&130));
    let split = &cornell.splits()[0];
    assert_eq!((split.train.len(), split.val.len(), split.test.len()), (87, 59, 37));
}

/// A graph of three nodes, the last two in reverse order, one self-loop and one repeated edge.
fn small(folder: &Path) {
    std::fs::create_dir(folder.join("small")).unwrap();
    let edges = "node_id\tnode_id\n0\t1\n1\t1\n2\t0\n0\t1\n";
    std::fs::write(folder.join("small/out1_graph_edges.txt"), edges).unwrap();
    let nodes = "node_id\tfeature\tlabel\n0\t0,1,0\t1\n2\t0,0,2.5\t0\n1\t1,0,0\t2\n";
    std::fs::write(folder.join("small/out1_node_feature_label.txt"), nodes).unwrap();
}

#[test]
fn nodes_may_come_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    let dataset = geom_gcn::read(folder.path(), "small").unwrap();
    assert_eq!(dataset.features().to_dense(), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.5]);
    assert_eq!(dataset.labels().as_signed(), [1, 2, 0]);
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(2, 0), (0, 1)]);
    assert!(dataset.splits().is_empty());
}

#[test]
fn every_error_names_the_file_and_the_line() {
    let cases = [
        ("nodes", "", "out1_node_feature_label.txt: the file is empty"),
        ("nodes", "0\t1\t1\n", "label.txt:1: the first line is not Geom-GCN's heading"),
        ("nodes", "node_id\tfeature\tlabel\n", "the graph has no nodes"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1\n", "label.txt:2: three fields"),
        ("nodes", "node_id\tfeature\tlabel\nx\t1\t1\n", "label.txt:2: 'x' is not the number of a node"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1\tx\n", "label.txt:2: 'x' is not the number of a class"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1,q\t1\n", "label.txt:2: feature 1 is 'q'"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1,nan\t1\n", "feature 1 of node 0 is NaN"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1,1\t1\n1\t1\t0\n", "label.txt:3: 1 features, but the first node has 2"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1\t1\n0\t1\t0\n", "node 0 comes twice"),
        ("nodes", "node_id\tfeature\tlabel\n7\t1\t1\n", "node 7 is beyond the number of lines"),
        ("nodes", "node_id\tfeature\tlabel\n0\t1\t4000000000\n", "label 4000000000"),
        ("edges", "node_id\tnode_id\n0\t1\t2\n", "edges.txt:2: two nodes separated by a tab"),
        ("edges", "node_id\tnode_id\n0\t-1\n", "edges.txt:2: two nodes separated by a tab"),
        ("edges", "node_id\tnode_id\n0\t1\n0\t3\n", "edges.txt:3: edge 0 -> 3 leaves the 3 nodes"),
        ("edges", "0\t1\n", "edges.txt:1: the first line is not Geom-GCN's heading"),
    ];
    for (which, text, problem) in cases {
        let folder = tempfile::tempdir().unwrap();
        small(folder.path());
        let file = if which == "nodes" { "out1_node_feature_label.txt" } else { "out1_graph_edges.txt" };
        let path = folder.path().join("small").join(file);
        std::fs::write(&path, text).unwrap();
        if problem == "the graph has no nodes" {
            std::fs::write(folder.path().join("small/out1_graph_edges.txt"), "node_id\tnode_id\n").unwrap();
        }
        let error = geom_gcn::read(folder.path(), "small").unwrap_err().to_string();
        assert!(error.contains(problem), "{problem}: {error}");
    }
}

#[test]
fn a_missing_or_short_split_is_an_error() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    std::fs::create_dir(folder.path().join("splits")).unwrap();
    let masks = std::fs::read(data.join("geom-gcn/splits/cornell_split_0.6_0.2_0.npz")).unwrap();
    std::fs::write(folder.path().join("splits/small_split_0.6_0.2_1.npz"), &masks).unwrap();
    let error = geom_gcn::read(folder.path(), "small").unwrap_err().to_string();
    assert!(error.contains("small_split_0.6_0.2_0.npz: cannot read"), "{error}");
    std::fs::write(folder.path().join("splits/small_split_0.6_0.2_0.npz"), &masks).unwrap();
    let error = geom_gcn::read(folder.path(), "small").unwrap_err().to_string();
    assert!(error.contains("array 'train_mask': its shape is [183], but there are 3 nodes"), "{error}");
}

#[test]
fn broken_files_never_panic() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("chameleon")).unwrap();
    let names = ["out1_graph_edges.txt", "out1_node_feature_label.txt.gz"];
    let wholes = names.map(|name| std::fs::read(data.join("geom-gcn/chameleon").join(name)).unwrap());
    for (name, whole) in names.iter().zip(&wholes) {
        std::fs::write(folder.path().join("chameleon").join(name), whole).unwrap();
    }
    for (name, whole) in names.iter().zip(&wholes) {
        let path = folder.path().join("chameleon").join(name);
        for eighth in 0..8 {
            std::fs::write(&path, &whole[..whole.len() * eighth / 8]).unwrap();
            let result = geom_gcn::read(folder.path(), "chameleon");
            // An edge list that is cut within a line may still read as a shorter one.
            assert!(result.is_err() || (name.ends_with("edges.txt") && eighth > 0), "{name} {eighth}");
        }
        for at in (0..whole.len()).step_by(whole.len() / 12) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            std::fs::write(&path, &flipped).unwrap();
            let _ = geom_gcn::read(folder.path(), "chameleon");
        }
        std::fs::write(&path, whole).unwrap();
    }
    let dataset = geom_gcn::read(folder.path(), "chameleon").unwrap();
    assert_eq!(dataset.splits(), [] as [Split; 0]);
}
