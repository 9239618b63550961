//! Features of edges, from every layout that has them.

use std::fs;
use std::path::Path;

use carat_graph::readers::{folder, tudataset};
use carat_graph::{Dataset, EdgeFeatures};

/// A file's name and its text.
type File<'a> = (&'a str, &'a str);

fn files(files: &[File<'_>]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn read_folder(edges: &str) -> Result<Dataset, String> {
    let folder = files(&[("nodes.csv", "id,label,f\na,0,1\nb,1,2\nc,0,3\n"), ("edges.csv", edges)]);
    folder::read(folder.path(), "payments").map_err(|e| e.to_string())
}

fn rows(features: &EdgeFeatures) -> Vec<&[f32]> {
    (0..features.num_rows()).map(|edge| features.row(edge)).collect()
}

#[test]
fn further_columns_of_a_table_are_features() {
    let dataset = read_folder(
        "amount,src,kind,dst,recurring,spurious\n\
         10,a,card,b,yes,0\n\
         30,b,cash,a,no,1\n\
         ,c,card,b,,0\n\
         99,a,cash,b,no,0\n",
    )
    .unwrap();
    let features = dataset.edge_features().unwrap();
    assert_eq!(features.names(), ["amount", "amount?", "kind=card", "kind=cash", "recurring", "recurring?"]);
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (0, 1), (2, 1)]);
    // Of a -> b, which comes twice, the first row counts. A gap has the mean of its column, and a flag.
    let mean = 139.0 / 3.0;
    assert_eq!(
        rows(features),
        [[30.0, 0.0, 0.0, 1.0, 0.0, 0.0], [10.0, 0.0, 1.0, 0.0, 1.0, 0.0], [mean, 1.0, 1.0, 0.0, 1.0 / 3.0, 1.0]]
    );
    assert!(read_folder("src,dst,spurious\na,b,0\n").unwrap().edge_features().is_none());
}

#[test]
fn many_texts_share_columns() {
    let lines: String = (0..80).map(|k| format!("a,b,text {k}\n")).collect();
    let dataset = read_folder(&format!("src,dst,note\n{lines}b,a,text 0\n")).unwrap();
    let features = dataset.edge_features().unwrap();
    assert_eq!((features.num_columns(), &features.names()[31][..]), (32, "note#31"));
    // Both edges have the first text.
    assert_eq!(features.row(0), features.row(1));
    assert_eq!(features.row(0).iter().sum::<f32>(), 1.0);
}

#[test]
fn columns_that_would_share_a_name_are_refused() {
    let error = read_folder("src,dst,k,k=x\na,b,x,1\nb,a,y,2\n").unwrap_err();
    assert!(error.contains("edges.csv: two edge features are named 'k=x'"), "{error}");
}

#[test]
fn labels_and_attributes_of_a_set_of_graphs_are_features() {
    let set = |labels: &str| {
        let folder = files(&[
            ("S_A.txt", "1,2\n2,2\n2,1\n4,3\n2,1\n"),
            ("S_graph_indicator.txt", "1\n1\n2\n2\n"),
            ("S_graph_labels.txt", "0\n1\n"),
            ("S_edge_labels.txt", labels),
            ("S_edge_attributes.txt", "0.5,1\n9,9\n1.5,2\n2.5,3\n9,9\n"),
        ]);
        tudataset::read(folder.path(), "S").map_err(|e| e.to_string())
    };
    let dataset = set("7\n7\n3\n7\n5\n").unwrap();
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (0, 1), (3, 2)]);
    let features = dataset.edge_features().unwrap();
    assert_eq!(features.names(), ["label=3", "label=5", "label=7", "attribute_0", "attribute_1"]);
    assert_eq!(rows(features), [[1.0, 0.0, 0.0, 1.5, 2.0], [0.0, 0.0, 1.0, 0.5, 1.0], [0.0, 0.0, 1.0, 2.5, 3.0]]);
    let error = set("7\n7\n").unwrap_err();
    assert!(error.contains("S_edge_labels.txt: the file has 2 rows for 5 edges"), "{error}");
}

#[test]
fn a_mapped_row_is_checked_when_it_is_used() {
    let dataset = read_folder("src,dst,amount\na,b,1.25\nb,c,2.5\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payments.carat");
    carat_graph::writers::carat::write(&dataset, &path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).rposition(|w| w == 2.5f32.to_le_bytes()).unwrap();
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let damaged = carat_graph::open(path.to_str().unwrap(), Path::new(".")).unwrap();
    let blocks = carat_graph::BlockBuilder::new(damaged.graph()).build(&[1], 1);
    let features = damaged.edge_features().unwrap();
    assert_eq!(features.of_blocks(damaged.graph(), &blocks).unwrap(), [1.25]);
    let blocks = carat_graph::Blocks::whole(damaged.graph(), 1);
    let error = features.of_blocks(damaged.graph(), &blocks).unwrap_err().to_string();
    assert!(error.contains("payments.carat: feature 'amount' of edge 1 is NaN"), "{error}");
}
