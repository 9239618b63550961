//! A user's `.npz`: read from NumPy's own files, written and read back, and broken.

use std::path::{Path, PathBuf};

use crate::support::any_dataset::{any_dataset, assert_same_parts};
use crate::support::damage::with_every_damage;
use carat_graph::readers::npz as reader;
use carat_graph::writers::npz as writer;
use carat_graph::{Dataset, Features, Split};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn assert_same(found: &Dataset, expected: &Dataset) {
    assert_same_parts(found, expected);
    assert_eq!(found.features(), &expected.features().clone().compacted());
}

#[test]
fn numpys_own_dense_file_is_read() {
    let dataset = reader::read(&fixture("numpy-dense.npz")).unwrap();
    assert_eq!(dataset.name(), "numpy-dense");
    // The repeated edge 2 -> 1 is merged, the self-loop 1 -> 1 is the user's and stays.
    let edges: Vec<(u32, u32)> = dataset.graph().edges().collect();
    assert_eq!(edges, [(3, 0), (0, 1), (1, 1), (2, 1), (3, 2)]);
    assert_eq!(dataset.spurious().unwrap(), [false, false, false, true, true]);
    assert_eq!(dataset.features().to_dense(), (0..12).map(|v| v as f32).collect::<Vec<_>>());
    assert_eq!(dataset.labels().as_signed(), [2, -1, 0, 1]);
    assert_eq!(dataset.splits()[0], Split { train: vec![0], val: vec![2], test: vec![3] });
    assert_eq!(dataset.splits()[1], Split { train: vec![3], val: vec![2], test: vec![0] });
    assert_eq!(dataset.node_names().unwrap(), ["a", "bb", "", "\u{e9}t\u{e9}"]);
}

#[test]
fn numpys_own_sparse_file_is_read() {
    let dataset = reader::read(&fixture("numpy-sparse.npz")).unwrap();
    let Features::Sparse(matrix) = dataset.features() else { panic!("3 of 80 values are sparse") };
    assert_eq!((matrix.num_rows(), matrix.num_columns()), (4, 20));
    assert_eq!(matrix.row(0), (&[19u32][..], &[1.0f32][..]));
    assert_eq!(matrix.row(2), (&[0u32, 7][..], &[2.0f32, 3.0][..]));
    assert_eq!(dataset.labels().as_signed(), [0, -1, 1, 0]);
    assert!(dataset.splits().is_empty() && dataset.spurious().is_none());
}

proptest! {
    // Every case writes two files to the disk, and waits for it.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_is_read_back(dataset in any_dataset()) {
        let folder = tempfile::tempdir().unwrap();
        let (path, again) = (folder.path().join("any.npz"), folder.path().join("again.npz"));
        writer::write(&dataset, &path).unwrap();
        let found = reader::read(&path).unwrap();
        assert_same(&found, &dataset);
        prop_assert_eq!(found.name(), "any");
        writer::write(&dataset, &again).unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
    }
}

#[test]
fn a_name_that_numpy_would_change_is_refused() {
    let mut parts = reader::read(&fixture("numpy-sparse.npz")).unwrap().into_parts();
    parts.class_names = Some(vec!["fine".into(), "cut\0".into()]);
    let folder = tempfile::tempdir().unwrap();
    let error = writer::write(&Dataset::new(parts).unwrap(), &folder.path().join("out.npz")).unwrap_err();
    assert!(error.to_string().contains("the name of class 1 ends in a NUL"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Builds a file from `name`, NumPy type, shape and bytes, by hand.
fn by_hand(arrays: &[(&str, &str, &str, Vec<u8>)]) -> (tempfile::TempDir, PathBuf) {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hand.npz");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    for (name, kind, shape, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
        archive.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        archive.write_all(header.as_bytes()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
    (folder, path)
}

#[test]
fn every_error_names_its_array() {
    let good = || {
        vec![
            ("edge_index", "|u1", "(2, 3)", vec![0, 1, 2, 1, 2, 0]),
            ("x", "|u1", "(3, 2)", vec![1, 0, 0, 1, 1, 1]),
            ("y", "|i1", "(3,)", vec![0, 1, 0xff]),
        ]
    };
    reader::read(&by_hand(&good()).1).unwrap();
    let masks = |shape: &'static str, bytes: Vec<u8>| {
        ["train_mask", "val_mask", "test_mask"].map(|name| (name, "|b1", shape, bytes.clone())).to_vec()
    };
    type Arrays = Vec<(&'static str, &'static str, &'static str, Vec<u8>)>;
    let cases: Vec<(Arrays, &str)> = vec![
        (vec![("edge_index", "|u1", "(3, 2)", vec![0; 6])], "array 'edge_index': its shape is [3, 2]; transpose it"),
        (vec![("edge_index", "|u1", "(6,)", vec![0; 6])], "array 'edge_index': its shape is [6]"),
        (vec![("edge_index", "|i1", "(2, 1)", vec![0, 0xff])], "array 'edge_index': -1 is not a node"),
        (vec![("edge_index", "|u1", "(2, 1)", vec![0, 9])], "joins node 0 to node 9, but there are only 3 nodes"),
        (vec![("edge_index", "<f4", "(2, 0)", vec![])], "array 'edge_index': the array is float32"),
        (vec![("x", "|u1", "(3,)", vec![0; 3])], "array 'x': its shape is [3]"),
        (vec![("x", "|u1", "(4000000000, 0)", vec![])], "array 'x': its shape is [4000000000, 0]"),
        (vec![("x", "<f4", "(1, 1)", vec![0, 0, 0xc0, 0x7f])], "feature 0 of node 0 is NaN"),
        (vec![("x", "|O", "(3, 2)", vec![0; 6])], "array 'x': the array holds Python objects"),
        (vec![("y", "|i1", "(2,)", vec![0, 1])], "2 labels for 3 rows of features"),
        (vec![("y", "|i1", "(3, 2)", vec![0; 6])], "array 'y': its shape is [3, 2]"),
        (
            vec![("y", "<i4", "(3,)", [0, 0, 2_000_000_000i32].iter().flat_map(|v| v.to_le_bytes()).collect())],
            "array 'y'",
        ),
        (
            vec![("y", "<f4", "(3,)", [0.0, 0.5, 1f32].iter().flat_map(|v| v.to_le_bytes()).collect())],
            "label 0.5 of node 1",
        ),
        (vec![("num_classes", "<i4", "()", vec![1, 0, 0, 0])], "array 'y': label 1 of entity 1 is out of range"),
        (vec![("num_classes", "<i4", "()", vec![0, 0, 0, 0x7f])], "array 'num_classes'"),
        (vec![("train_mask", "|b1", "(3,)", vec![1, 0, 0])], "give all of train_mask, val_mask and test_mask"),
        (masks("(3, 5)", vec![0; 15]), "array 'train_mask': its shape is [3, 5]; transpose it"),
        (masks("(4,)", vec![0; 4]), "array 'train_mask': its shape is [4], but [3] or [splits, 3] is needed"),
        (masks("(3,)", vec![1, 0, 0]), "node 0 is both in train and in val"),
        (vec![("spurious", "|b1", "(2,)", vec![0, 1])], "array 'spurious': its shape is [2], but there are 3 edges"),
        (vec![("edge_attr", "|u1", "(2, 3)", vec![0; 6])], "array 'edge_attr': its shape is [2, 3], but one row for"),
        (vec![("edge_weight", "|u1", "(2,)", vec![0; 2])], "array 'edge_weight': its shape is [2], but there are 3"),
        (
            vec![("edge_attr", "|u1", "(3, 2)", vec![0; 6]), ("edge_names", "<U1", "(1,)", vec![b'a', 0, 0, 0])],
            "array 'edge_names': 1 names for 2 columns",
        ),
        (vec![("node_years", "<i8", "(3,)", vec![0x7f; 24])], "array 'node_years'"),
        (vec![("graph_offsets", "|u1", "(2,)", vec![0, 2])], "the graph offsets do not divide the nodes"),
        (vec![("graph_offsets", "|u1", "(0,)", vec![])], "the graph offsets do not divide the nodes"),
    ];
    for (changes, problem) in cases {
        let mut arrays = good();
        arrays.retain(|array| changes.iter().all(|change| change.0 != array.0));
        arrays.extend(changes);
        let (_folder, path) = by_hand(&arrays);
        let error = reader::read(&path).unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("hand.npz"), "{problem}: {error}");
    }
    for missing in ["edge_index", "x", "y"] {
        let mut arrays = good();
        arrays.retain(|array| array.0 != missing);
        let (_folder, path) = by_hand(&arrays);
        match reader::read(&path) {
            Ok(dataset) => assert!(missing == "y" && dataset.labels().as_signed() == [-1; 3]),
            Err(_) => assert_ne!(missing, "y", "only training needs labels"),
        }
    }
}

#[test]
fn edge_attributes_and_weights_are_features() {
    let (_folder, path) = by_hand(&[
        // The second edge comes again.
        ("edge_index", "|u1", "(2, 3)", vec![1, 0, 0, 0, 1, 1]),
        ("x", "|u1", "(2, 1)", vec![1, 0]),
        ("y", "|i1", "(2,)", vec![0, 1]),
        ("edge_attr", "|u1", "(3, 2)", vec![1, 2, 3, 4, 9, 9]),
        ("edge_weight", "|u1", "(3,)", vec![5, 6, 9]),
    ]);
    let dataset = reader::read(&path).unwrap();
    let features = dataset.edge_features().unwrap();
    assert_eq!(features.names(), ["edge_attr_0", "edge_attr_1", "edge_weight"]);
    assert_eq!(features.values(), [1.0, 2.0, 5.0, 3.0, 4.0, 6.0]);
}

#[test]
fn sparse_features_that_lie_about_their_size_are_errors() {
    let base = |shape: [i64; 2], offsets: Vec<u8>, columns: Vec<u8>| {
        let count = if columns.len() == 2 { "(2,)" } else { "(3,)" };
        let num_offsets = if offsets.len() == 4 { "(4,)" } else { "(2,)" };
        let values = vec![1; columns.len()];
        vec![
            ("edge_index", "|u1", "(2, 0)", vec![]),
            ("y", "|u1", "(3,)", vec![0, 1, 1]),
            ("x_data", "|u1", count, values),
            ("x_indices", "|u1", count, columns),
            ("x_indptr", "|u1", num_offsets, offsets),
            ("x_shape", "<i8", "(2,)", shape.iter().flat_map(|v| v.to_le_bytes()).collect()),
        ]
    };
    reader::read(&by_hand(&base([3, 5], vec![0, 1, 1, 2], vec![4, 0])).1).unwrap();
    let lies = [
        base([4_000_000_000, 5], vec![0, 1, 1, 2], vec![4, 0]),
        base([3, i64::MAX], vec![0, 1, 1, 2], vec![4, 0]),
        base([-1, 5], vec![0, 1, 1, 2], vec![4, 0]),
        base([i64::MAX, 5], vec![0, 1, 1, 2], vec![4, 0]),
        base([3, 4], vec![0, 1, 1, 2], vec![4, 0]),
        base([3, 5], vec![0, 2, 1, 2], vec![4, 0]),
        base([3, 5], vec![0, 1, 1, 3], vec![4, 0]),
        base([3, 5], vec![0, 3, 3, 3], vec![1, 2, 1]),
        base([3, 5], vec![0, 2], vec![4, 0]),
    ];
    for lie in lies {
        assert!(reader::read(&by_hand(&lie).1).is_err(), "{lie:?}");
    }
}

#[test]
fn truncated_files_are_errors_and_flipped_bits_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.npz");
    std::fs::copy(fixture("numpy-sparse.npz"), &path).unwrap();
    with_every_damage(&path, |cut| {
        let result = reader::read(&path);
        assert!(cut.is_none() || result.is_err(), "{cut:?}");
    });
}
