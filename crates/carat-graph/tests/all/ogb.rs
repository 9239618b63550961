//! OGB's layout: the real arxiv-tape, small made-up folders, and damaged ones.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::support::damage::with_every_damage;
use carat_graph::{Dataset, readers};

use crate::support::data_dir;

const FILES: [(&str, &str); 12] = [
    ("raw/edge.csv", "0,1\n0,2\n3,0\n2,2\n0,1\n"),
    ("raw/node-feat.csv", "1.0,-0.5\n0,2e-3\n0.25,0\n 1 ,3\n"),
    ("raw/node-label.csv", "1\n0\nnan\n2\n"),
    ("raw/node_year.csv", "2001\n1999\n2020\n2010\n"),
    ("raw/num-node-list.csv", "4\n"),
    ("raw/num-edge-list.csv", "5\n"),
    ("split/random/train.csv", "3\n0\n"),
    ("split/random/valid.csv", "1\n"),
    ("split/random/test.csv", ""),
    ("mapping/labelidx2thing.csv", "label idx,thing\n1,\"b, c\"\n0,a\n2,d\n3,e\n"),
    ("mapping/nodeidx2thing.csv", "node idx,thing\n0,p\n1,q\n2,r\n3,s\n"),
    ("mapping/README.md", "about"),
];

/// Writes the sample with some files replaced, or left out where the replacement is `None`.
fn write(folder: &Path, changes: &[(&str, Option<&str>)], packed: bool) {
    for (name, text) in FILES {
        let text = match changes.iter().find(|(changed, _)| *changed == name) {
            Some((_, None)) => continue,
            Some((_, Some(text))) => text,
            None => text,
        };
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if packed && name.ends_with(".csv") {
            let file = std::fs::File::create(folder.join(format!("{name}.gz"))).unwrap();
            let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap();
        } else {
            std::fs::write(path, text).unwrap();
        }
    }
}

fn read(changes: &[(&str, Option<&str>)]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), changes, false);
    readers::ogb::read(folder.path(), "small").unwrap()
}

fn refusal(name: &str, text: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[(name, text)], false);
    let error = readers::ogb::read(folder.path(), "small").unwrap_err();
    assert!(error.is_input_error());
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn a_small_folder_reads_plain_and_packed() {
    for packed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[], packed);
        let dataset = readers::ogb::read(folder.path(), "small").unwrap();
        // Reversed, without the self-loop and the repetition.
        assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (2, 0), (0, 3)]);
        assert_eq!(dataset.features().to_dense(), [1.0, -0.5, 0.0, 2e-3, 0.25, 0.0, 1.0, 3.0]);
        assert_eq!(dataset.labels().as_signed(), [1, 0, -1, 2]);
        assert_eq!(dataset.class_names().unwrap(), ["a", "b, c", "d", "e"]);
        assert_eq!(dataset.labels().num_classes(), 4);
        assert_eq!(dataset.node_names().unwrap(), ["p", "q", "r", "s"]);
        assert_eq!(dataset.node_years().unwrap(), [2001, 1999, 2020, 2010]);
        let split = &dataset.splits()[0];
        assert_eq!((&split.train[..], &split.val[..], &split.test[..]), (&[0, 3][..], &[1][..], &[][..]));
    }
}

#[test]
fn years_names_and_splits_may_be_absent() {
    let without = [
        ("raw/node_year.csv", None),
        ("split/random/train.csv", None),
        ("split/random/valid.csv", None),
        ("split/random/test.csv", None),
        ("mapping/labelidx2thing.csv", None),
        ("mapping/nodeidx2thing.csv", None),
    ];
    let dataset = read(&without);
    assert!(dataset.node_years().is_none() && dataset.node_names().is_none() && dataset.class_names().is_none());
    assert!(dataset.splits().is_empty());
    assert_eq!(dataset.labels().num_classes(), 3);
}

#[test]
fn every_error_names_the_file_and_the_line() {
    let cases = [
        ("raw/edge.csv", "0,1\n0\n", "raw/edge.csv:2: the line has 1 numbers where 2 belong"),
        ("raw/edge.csv", "0,4\n", "raw/edge.csv:1: there is no node 4; the 4 nodes count from 0"),
        ("raw/edge.csv", "0,-1\n", "raw/edge.csv:1: '-1' is not a whole number from 0 to 4294967295"),
        ("raw/edge.csv", "0,1\n\n1,2\n", "raw/edge.csv:2: the line is blank, but others follow"),
        ("raw/edge.csv", "0,1\n\n\n", "raw/num-edge-list.csv: the file announces 5, but there are 1 edges"),
        (
            "raw/num-node-list.csv",
            "5\n",
            "raw/num-node-list.csv: the file announces 5, but there are 4 rows of features",
        ),
        (
            "raw/num-node-list.csv",
            "-4\n",
            "raw/num-node-list.csv: the file announces -4, but there are 4 rows of features",
        ),
        (
            "raw/num-node-list.csv",
            "2\n2\n",
            "raw/num-node-list.csv: the file has 2 lines; only datasets of one graph are read from this layout",
        ),
        ("raw/node-feat.csv", "", "raw/node-feat.csv: the file is empty"),
        ("raw/node-feat.csv", "1,2\n3\n", "raw/node-feat.csv:2: the line has 1 numbers, but the first has 2"),
        ("raw/node-feat.csv", "1,2\nx,3\n", "raw/node-feat.csv:2: 'x' is not a number"),
        (
            "raw/node-feat.csv",
            "1\n2\ninf\n4\n",
            "raw/node-feat.csv: feature 0 of node 2 is inf; every feature must be a finite number",
        ),
        (
            "raw/node-label.csv",
            "0\n7\n0\n0\n",
            "raw/node-label.csv:2: label 7 is not one of the classes, which count from 0 to below 4",
        ),
        (
            "raw/node-label.csv",
            "0\n0.5\n0\n0\n",
            "raw/node-label.csv:2: label 0.5 is not one of the classes, which count from 0 to below 4",
        ),
        ("raw/node-label.csv", "0,1\n", "raw/node-label.csv:1: the line has 2 numbers where 1 belong"),
        (
            "raw/node_year.csv",
            "2001\n99999999999\n",
            "raw/node_year.csv:2: '99999999999' is not a whole number from -2147483648 to 2147483647",
        ),
        ("split/random/train.csv", "0\n4\n", "split/random/train.csv:2: there is no node 4; the 4 nodes count from 0"),
        ("mapping/nodeidx2thing.csv", "n,t\n0,p\n4,q\n", "mapping/nodeidx2thing.csv:3: the number must be from 0 to 3"),
        ("mapping/nodeidx2thing.csv", "n,t\n0,p\n0,q\n", "mapping/nodeidx2thing.csv:3: 0 is named twice"),
        ("mapping/nodeidx2thing.csv", "n,t\n1,p\n", "mapping/nodeidx2thing.csv: 0 has no name"),
        (
            "mapping/nodeidx2thing.csv",
            "n\n1\n",
            "mapping/nodeidx2thing.csv: the table has one column where a number and a name belong",
        ),
    ];
    for (file, text, message) in cases {
        assert_eq!(refusal(file, Some(text)), message);
    }
    let lengths = refusal("raw/node-label.csv", Some("0\n"));
    assert!(lengths.ends_with(": 1 labels for 4 nodes; give each one, or -1 where it is missing"), "{lengths}");
    let overlap = refusal("split/random/valid.csv", Some("3\n"));
    assert!(overlap.ends_with(": node 3 is both in train and in val"), "{overlap}");
    let absent = refusal("raw/edge.csv", None);
    assert!(absent.starts_with("raw/edge.csv: cannot read: "), "{absent}");
    let long = refusal("raw/node-feat.csv", Some(&"é".repeat(100)));
    assert_eq!(long, format!("raw/node-feat.csv:1: '{}...' is not a number", "é".repeat(40)));
}

#[test]
fn several_splits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[], false);
    std::fs::create_dir(folder.path().join("split/time")).unwrap();
    let error = readers::ogb::read(folder.path(), "small").unwrap_err().to_string();
    assert!(error.ends_with("split: there are several splits, such as random and time; keep one of them"), "{error}");
}

#[test]
fn files_cut_short_are_errors_or_datasets_and_never_panics() {
    for packed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[], packed);
        for (name, _) in FILES.iter().filter(|(name, _)| name.ends_with(".csv")) {
            let path = folder.path().join(format!("{name}{}", if packed { ".gz" } else { "" }));
            with_every_damage(&path, |cut| {
                let result = readers::ogb::read(folder.path(), "damaged");
                // Without its first two bytes a gzip file is text, and the empty text may be a list of no nodes.
                assert!(!packed || cut.is_none_or(|end| end < 2) || result.is_err(), "{name} cut at {cut:?}");
            });
        }
        readers::ogb::read(folder.path(), "whole").unwrap();
    }
}

#[test]
fn arxiv_tape_has_the_published_counts() {
    let Some(data) = data_dir() else { return };
    let start = Instant::now();
    let dataset = readers::ogb::read(&data.join("arxiv-tape"), "arxiv-tape").unwrap();
    eprintln!("arxiv-tape read in {:.2} s", start.elapsed().as_secs_f64());
    assert_eq!((dataset.num_nodes(), dataset.graph().num_edges()), (169_343, 1_166_243));
    assert_eq!((dataset.features().num_columns(), dataset.labels().num_classes()), (40, 40));
    assert_eq!(dataset.splits().len(), 1);
    let split = &dataset.splits()[0];
    let sum = |nodes: &[u32]| nodes.iter().map(|&n| u64::from(n)).sum::<u64>();
    assert_eq!((split.train.len(), split.val.len(), split.test.len()), (90_941, 29_799, 48_603));
    assert_eq!((sum(&split.train), sum(&split.val), sum(&split.test)), (7_682_066_754, 2_514_937_390, 4_141_437_009));
    // Independent sums, computed from the files with Python.
    let checksum: u64 = dataset.graph().edges().map(|(cited, citing)| u64::from(cited) * 31 + u64::from(citing)).sum();
    assert_eq!(checksum % 1_000_000_007, 91_460_674);
    assert!((dataset.homophily().unwrap() - 0.655_083_031_580_897).abs() < 1e-12);
    let features: f64 = dataset.features().to_dense().iter().map(|&v| f64::from(v)).sum();
    assert!((features - 382_837.376).abs() < 0.01, "{features}");
    let years = dataset.node_years().unwrap();
    assert_eq!(years.iter().map(|&year| i64::from(year)).sum::<i64>(), 341_415_385);
    assert!(split.train.iter().all(|&n| years[n as usize] <= 2017));
    assert!(split.test.iter().all(|&n| years[n as usize] >= 2019));
    assert_eq!(dataset.node_names().unwrap()[169_342], "3012505757");
    assert_eq!(&dataset.class_names().unwrap()[..2], ["arxiv cs na", "arxiv cs mm"]);
    // Node 0 cites 52893 and 93487, so it hears from them.
    assert!([52_893, 93_487].iter().all(|cited| dataset.graph().in_neighbours(0).contains(cited)));
}
