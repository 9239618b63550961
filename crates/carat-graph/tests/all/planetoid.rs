//! Planetoid's pickles, real and broken.

use std::path::Path;

use carat_graph::readers::planetoid;
use carat_graph::{Dataset, Features};

use crate::support::data_dir;

const PARTS: [&str; 8] = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];

/// Copies a dataset's files so that one of them can be broken.
fn copy(from: &Path, name: &str, to: &Path) {
    for part in PARTS {
        let file = format!("ind.{name}.{part}");
        std::fs::write(to.join(&file), std::fs::read(from.join(&file)).unwrap()).unwrap();
    }
}

fn row_sum(dataset: &Dataset, node: usize) -> f64 {
    match dataset.features() {
        Features::Sparse(matrix) => matrix.row(node).1.iter().map(|&v| f64::from(v)).sum(),
        Features::Dense { num_columns, values, .. } => {
            values[node * num_columns..(node + 1) * num_columns].iter().map(|&v| f64::from(v)).sum()
        }
    }
}

#[test]
fn the_three_citation_graphs_have_the_published_figures() {
    let Some(data) = data_dir() else { return };
    let folder = data.join("planetoid");
    let table = [
        ("cora", 2_708, 10_556, 1_433, 7, 140, 0.81),
        ("citeseer", 3_327, 9_104, 3_703, 6, 120, 0.74),
        ("pubmed", 19_717, 88_648, 500, 3, 60, 0.80),
    ];
    for (name, nodes, edges, features, classes, train, homophily) in table {
        let dataset = planetoid::read(&folder, name).unwrap();
        assert_eq!(dataset.name(), name);
        assert_eq!(dataset.num_nodes(), nodes, "{name}");
        assert_eq!(dataset.graph().num_edges(), edges, "{name}");
        assert_eq!(dataset.features().num_columns(), features, "{name}");
        assert_eq!(dataset.labels().num_classes(), classes, "{name}");
        assert!((dataset.homophily().unwrap() - homophily).abs() < 0.005, "{name}: {:?}", dataset.homophily());
        let [split] = dataset.splits() else { panic!("{name} has one public split") };
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (train, 500, 1_000), "{name}");
        assert!(split.test.is_sorted());
        let labelled = |list: &[u32]| list.iter().all(|&n| dataset.labels().get(n).is_some());
        assert!(labelled(&split.train) && labelled(&split.val) && labelled(&split.test), "{name}");
        assert!(matches!(dataset.features(), Features::Sparse(_)), "{name}");
        for (i, j) in dataset.graph().edges() {
            assert!(i != j && dataset.graph().in_neighbours(i).binary_search(&j).is_ok(), "{name}: {i} -> {j}");
        }
    }
}

/// They carry messages all the same: each has one or two neighbours in `ind.citeseer.graph`.
#[test]
fn the_nodes_in_citeseers_gaps_have_neither_features_nor_label_nor_role() {
    let Some(data) = data_dir() else { return };
    let dataset = planetoid::read(&data.join("planetoid"), "citeseer").unwrap();
    let unlabelled: Vec<u32> = (0..3_327).filter(|&n| dataset.labels().get(n).is_none()).collect();
    assert_eq!(unlabelled.len(), 15);
    let split = &dataset.splits()[0];
    for node in unlabelled {
        assert!(row_sum(&dataset, node as usize) == 0.0, "{node}");
        assert!(matches!(dataset.graph().in_degree(node), 1 | 2), "{node}");
        assert!([&split.train, &split.val, &split.test].iter().all(|list| !list.contains(&node)), "{node}");
    }
}

/// Figures that NumPy and SciPy give for the same files.
#[test]
fn cora_agrees_with_scipy() {
    let Some(data) = data_dir() else { return };
    let cora = planetoid::read(&data.join("planetoid"), "cora").unwrap();
    let edges = cora.graph().edges().map(|(i, j)| u64::from(i) * 2_708 + u64::from(j));
    assert_eq!(edges.fold(0u64, |sum, code| sum.wrapping_add(code.wrapping_mul(code))), 176_194_213_380_448_988);
    let weighted: f64 = (0..2_708).map(|n| (n + 1) as f64 * row_sum(&cora, n)).sum();
    assert_eq!(weighted, 66_253_924.0);
    let classes: u64 = (0..2_708).map(|n| u64::from(n + 1) * u64::from(cora.labels().get(n).unwrap())).sum();
    assert_eq!(classes, 10_514_174);
}

#[test]
fn truncated_and_flipped_files_are_errors_or_data_but_never_a_panic() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    copy(&data.join("planetoid"), "cora", folder.path());
    for part in ["x", "ty", "graph", "test.index"] {
        let path = folder.path().join(format!("ind.cora.{part}"));
        let whole = std::fs::read(&path).unwrap();
        // A test index that is cut after a line is short of lines, and so an error too.
        for share in 0..8 {
            std::fs::write(&path, &whole[..whole.len() * share / 8]).unwrap();
            let error = planetoid::read(folder.path(), "cora").unwrap_err().to_string();
            assert!(error.contains(&format!("ind.cora.{part}")), "{part}: {error}");
        }
        for at in (0..16).map(|k| k * 5).chain((1..16).map(|k| k * whole.len() / 17)) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            std::fs::write(&path, &flipped).unwrap();
            let _ = planetoid::read(folder.path(), "cora");
        }
        std::fs::write(&path, &whole).unwrap();
    }
    planetoid::read(folder.path(), "cora").unwrap();
}

#[test]
fn a_stray_test_index_is_named() {
    let Some(data) = data_dir() else { return };
    let folder = tempfile::tempdir().unwrap();
    copy(&data.join("planetoid"), "cora", folder.path());
    let path = folder.path().join("ind.cora.test.index");
    let whole = std::fs::read_to_string(&path).unwrap();
    let cases = [
        ("4000000000", "node 4000000000 is named, but allx and tx have only 2708 rows"),
        ("2532", ":2: node 2532 is in allx, or named on an earlier line, already"),
        ("17", ":1: node 17 is in allx"),
        ("two", ":1: 'two' is not the number of a node"),
    ];
    for (first, problem) in cases {
        std::fs::write(&path, whole.replacen("2692", first, 1)).unwrap();
        let error = planetoid::read(folder.path(), "cora").unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = planetoid::read(folder.path(), "cora").unwrap_err().to_string();
    assert!(error.contains("ind.cora.allx: cannot read"), "{error}");
}
