//! The 33 graphs of syn-cora, and broken ones.

use carat_graph::readers::{npz as npz_reader, syn_cora};
use carat_graph::writers::npz as npz_writer;

use crate::support::data_dir;

#[test]
fn all_33_graphs_have_the_published_figures() {
    let Some(data) = data_dir() else { return };
    for tenth in 0..=10 {
        for replicate in 1..=3 {
            let name = format!("h{:.2}-r{replicate}", f64::from(tenth) / 10.0);
            let dataset = syn_cora::read(&data.join("syn-cora").join(format!("{name}.npz"))).unwrap();
            assert_eq!(dataset.name(), name);
            assert_eq!(dataset.num_nodes(), 1_490, "{name}");
            assert_eq!(dataset.graph().num_edges(), if tenth == 10 { 5_930 } else { 5_936 }, "{name}");
            assert_eq!(dataset.features().num_columns(), 1_433, "{name}");
            assert_eq!((dataset.labels().num_classes(), dataset.labels().num_labelled()), (5, 1_490), "{name}");
            assert!(dataset.splits().is_empty(), "{name}");
            let homophily = dataset.homophily().unwrap();
            assert!((homophily - f64::from(tenth) / 10.0).abs() < 0.025, "{name}: {homophily}");
            for (i, j) in dataset.graph().edges() {
                assert!(i != j && dataset.graph().in_neighbours(i).binary_search(&j).is_ok(), "{name}: {i} -> {j}");
            }
        }
    }
}

#[test]
fn a_converted_graph_is_the_same_graph() {
    let Some(data) = data_dir() else { return };
    let dataset = syn_cora::read(&data.join("syn-cora/h0.50-r2.npz")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("converted.npz");
    npz_writer::write(&dataset, &path).unwrap();
    let found = npz_reader::read(&path).unwrap();
    assert_eq!(found.graph(), dataset.graph());
    assert_eq!(found.features(), dataset.features());
    assert_eq!(found.labels(), dataset.labels());
}

#[test]
fn truncated_files_are_errors_and_flipped_bits_never_panic() {
    let Some(data) = data_dir() else { return };
    let whole = std::fs::read(data.join("syn-cora/h0.00-r1.npz")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.npz");
    for sixteenth in 0..16 {
        std::fs::write(&path, &whole[..whole.len() * sixteenth / 16]).unwrap();
        assert!(syn_cora::read(&path).is_err(), "{sixteenth}");
    }
    for at in (0..whole.len()).step_by(whole.len() / 64) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&path, &flipped).unwrap();
        let _ = syn_cora::read(&path);
    }
}

#[test]
fn missing_arrays_are_named() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/numpy-sparse.npz");
    let error = syn_cora::read(&path).unwrap_err().to_string();
    assert!(error.contains("there is no array 'adj_shape' (there are: edge_index, x_data, x_indices"), "{error}");
}
