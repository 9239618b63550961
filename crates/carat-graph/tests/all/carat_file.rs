//! `.carat` files: every dataset comes back, every damage is noticed, nothing panics.

use std::fs;
use std::path::Path;

use crate::support::any_dataset::{any_dataset, assert_same_parts};
use carat_graph::readers::{carat as reader, npz};
use carat_graph::writers::carat as writer;
use carat_graph::{Dataset, DatasetParts, Features, Graph, Labels, open_on_disk, open_verified};
use proptest::prelude::*;

/// Equal to the bit, signs of zeros included.
fn assert_same(found: &Dataset, expected: &Dataset) {
    assert_eq!(found.name(), expected.name());
    assert_same_parts(found, expected);
    match (found.features(), expected.features()) {
        (Features::Dense { values, num_columns, .. }, Features::Dense { values: others, num_columns: columns, .. }) => {
            assert_eq!(num_columns, columns);
            assert!(values.iter().map(|v| v.to_bits()).eq(others.iter().map(|v| v.to_bits())));
        }
        (found, expected) => assert_eq!(found, expected),
    }
}

/// Uses everything that a reader let through, as training would.
fn exercise(dataset: &Dataset) {
    let nodes: Vec<u32> = (0..dataset.num_nodes() as u32).collect();
    let _ = (dataset.homophily(), dataset.mean_degree(), dataset.spurious().map(carat_graph::Flags::count));
    let blocks = carat_graph::BlockBuilder::new(dataset.graph()).build(&nodes[..1], 2);
    if dataset.features().check_rows(blocks.nodes()).is_ok() {
        assert!(blocks.nodes().iter().all(|&node| (node as usize) < nodes.len()));
    }
    let _ = (dataset.features().check(), dataset.features().to_dense(), dataset.graph().out_neighbours(0).len());
}

proptest! {
    // Every case writes files to the disk, and waits for it.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_is_read_back(dataset in any_dataset()) {
        let folder = tempfile::tempdir().unwrap();
        let (path, again) = (folder.path().join("x.carat"), folder.path().join("again.carat"));
        writer::write(&dataset, &path).unwrap();
        let found = reader::read(&path).unwrap();
        assert_same(&found, &dataset);
        assert_same(&reader::verify(&path).unwrap(), &dataset);
        // From the mapped file to another, and onto itself while it is mapped.
        writer::write(&found, &again).unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap());
        writer::write(&found, &path).unwrap();
        assert_same(&found, &dataset);
    }

    #[test]
    fn any_damage_is_an_error_or_changes_nothing(dataset in any_dataset(), places: [u32; 24], bits: u8) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.carat");
        writer::write(&dataset, &path).unwrap();
        let whole = fs::read(&path).unwrap();
        for (k, place) in places.into_iter().enumerate() {
            let at = place as usize % whole.len();
            let damaged = if k % 4 == 0 {
                whole[..at].to_vec()
            } else {
                let mut damaged = whole.clone();
                damaged[at] ^= bits.max(1);
                damaged
            };
            // A file of its own each time: the one before is still mapped.
            let path = folder.path().join(format!("{k}.carat"));
            fs::write(&path, &damaged).unwrap();
            if let Ok(found) = reader::verify(&path) {
                assert_same(&found, &dataset);
            }
            if let Ok(found) = reader::read(&path) {
                exercise(&found);
            }
        }
    }

    #[test]
    fn edges_sorted_on_disk_make_the_same_dataset(dataset in any_dataset()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.npz");
        carat_graph::writers::npz::write(&dataset, &path).unwrap();
        let found = open_on_disk(path.to_str().unwrap(), Path::new("."), folder.path()).unwrap();
        let expected = npz::read(&path).unwrap();
        assert_same(&found, &expected);
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

fn tiny() -> Dataset {
    let graph = Graph::from_edges(3, &[0, 2, 1], &[1, 1, 0]).unwrap();
    let features = Features::dense(3, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let labels = Labels::new(vec![Some(0), Some(1), None], 2).unwrap();
    Dataset::new(DatasetParts::new("tiny", graph, features, labels)).unwrap()
}

#[test]
fn a_feature_that_is_not_finite_is_reported_when_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.carat");
    writer::write(&tiny(), &path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // The features begin with node 0's 1.0 and 0.0; node 1's second one is the fourth.
    let at = bytes.windows(8).position(|w| w == [0, 0, 0x80, 0x3f, 0, 0, 0, 0]).unwrap() + 12;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let dataset = reader::read(&path).unwrap();
    assert!(dataset.features().check_rows(&[0, 2]).is_ok());
    let said = dataset.features().check_rows(&[0, 1]).unwrap_err().to_string();
    assert!(said.ends_with("tiny.carat: feature 1 of node 1 is NaN; every feature must be a finite number"), "{said}");
    let out = folder.path().join("out.npz");
    assert!(carat_graph::writers::npz::write(&dataset, &out).is_err() && !out.exists());
    let said = open_verified(path.to_str().unwrap(), Path::new(".")).unwrap_err().to_string();
    assert!(said.contains("checksum does not fit"), "{said}");
}

#[test]
fn another_kind_of_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.carat");
    for (bytes, problem) in [(&b""[..], "the file is empty"), (b"\x89CARAX\r\nhello", "this is no .carat file")] {
        fs::write(&path, bytes).unwrap();
        let said = reader::read(&path).unwrap_err().to_string();
        assert!(said.contains(problem), "{said}");
    }
    // The first bytes tell, whatever the name.
    let renamed = folder.path().join("graph.bin");
    writer::write(&tiny(), &renamed).unwrap();
    assert_same(&carat_graph::open(renamed.to_str().unwrap(), Path::new(".")).unwrap(), &tiny());
}
