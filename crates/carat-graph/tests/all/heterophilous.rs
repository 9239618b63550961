//! Graphs of Platonov et al., and broken ones.

use std::path::Path;

use carat_graph::readers::heterophilous;

use crate::support::data_dir;

#[test]
fn the_graphs_have_the_published_figures() {
    let Some(data) = data_dir() else { return };
    // Nodes, edges, features, classes, and the sizes of the first split.
    let published = [
        ("minesweeper", [10_000, 78_804, 7, 2], [5_000, 2_500, 2_500]),
        ("chameleon-filtered", [890, 17_708, 2_325, 5], [409, 287, 194]),
        ("squirrel-filtered", [2_223, 93_996, 2_089, 5], [1_053, 718, 452]),
    ];
    for (name, sizes, split) in published {
        let dataset = carat_graph::open(name, &data).unwrap();
        assert_eq!(dataset.name(), name);
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let features = dataset.features().num_columns();
        assert_eq!([dataset.num_nodes(), graph.num_edges(), features, labels.num_classes()], sizes, "{name}");
        assert!(graph.edges().all(|(i, j)| i != j && graph.in_neighbours(i).binary_search(&j).is_ok()), "{name}");
        assert_eq!(dataset.splits().len(), 10, "{name}");
        let first = &dataset.splits()[0];
        assert_eq!([first.train.len(), first.val.len(), first.test.len()], split, "{name}");
    }
    let minesweeper = carat_graph::open("minesweeper", &data).unwrap();
    let mines = minesweeper.labels().as_signed().iter().filter(|class| **class == 1).count();
    assert_eq!(mines, 2_000);
}

#[test]
fn a_path_is_recognised_by_its_arrays() {
    let Some(data) = data_dir() else { return };
    let path = data.join("heterophilous/chameleon_filtered.npz");
    let dataset = carat_graph::open(path.to_str().unwrap(), Path::new("nowhere")).unwrap();
    assert_eq!(dataset.name(), "chameleon_filtered");
    assert_eq!(dataset.graph(), carat_graph::open("chameleon-filtered", &data).unwrap().graph());
    // The authors keep the direction of edges in files of this name.
    let folder = tempfile::tempdir().unwrap();
    let directed = folder.path().join("chameleon_filtered_directed.npz");
    std::fs::copy(path, &directed).unwrap();
    assert_eq!(heterophilous::read(&directed).unwrap().graph().num_edges(), 8_854);
}

#[test]
fn truncated_files_are_errors_and_flipped_bits_never_panic() {
    let Some(data) = data_dir() else { return };
    let whole = std::fs::read(data.join("heterophilous/chameleon_filtered.npz")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.npz");
    for sixteenth in 0..16 {
        std::fs::write(&path, &whole[..whole.len() * sixteenth / 16]).unwrap();
        assert!(heterophilous::read(&path).is_err(), "{sixteenth}");
    }
    for at in (0..whole.len()).step_by(whole.len() / 64) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&path, &flipped).unwrap();
        let _ = heterophilous::read(&path);
    }
}
