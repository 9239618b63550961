//! Features of edges, from every layout that has them.

use std::fs;
use std::path::Path;

use carat_graph::readers::{folder, tudataset};
use carat_graph::{Dataset, EdgeFeatures, Encoding, Normalise};

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
    assert_eq!(
        features.names(),
        ["amount", "amount missing", "kind=card", "kind=cash", "recurring", "recurring missing"]
    );
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (0, 1), (2, 1)]);
    // Of a -> b, which comes twice, the first row counts. A gap has the mean of its column or its most frequent truth
    // value, and a flag.
    assert_eq!(
        rows(features),
        [[30.0, 0.0, 0.0, 1.0, 0.0, 0.0], [10.0, 0.0, 1.0, 0.0, 1.0, 0.0], [20.0, 1.0, 1.0, 0.0, 0.0, 1.0]]
    );
    assert!(read_folder("src,dst,spurious\na,b,0\n").unwrap().edge_features().is_none());
}

fn values(dataset: &Dataset) -> Vec<f32> {
    dataset.edge_features().unwrap().values().to_vec()
}

const PAYMENTS: &str = "src,dst,amount,kind\na,b,10,card\nc,b,30,cash\nb,a,,wire\na,c,1e6,card\n";

#[test]
fn columns_are_learnt_from_the_in_edges_of_training_nodes() {
    let dataset = read_folder(PAYMENTS).unwrap();
    let fitted = |training: &[u32]| {
        let encoding = Encoding::fit(&dataset, training, Normalise::Auto).unwrap();
        let encoding = encoding.with_edges(&dataset, training, Normalise::Auto).unwrap();
        let text = encoding.to_toml().unwrap();
        assert_eq!(Encoding::from_toml(&text, Path::new("encoding.toml")).unwrap(), encoding, "{text}");
        encoding
    };
    // Node b has in-edges of 10 and 30: their mean is 20 and their deviation 10.
    let encoding = fitted(&[1]);
    let (encoded, notes) = encoding.apply(&dataset).unwrap();
    let features = encoded.edge_features().unwrap();
    assert_eq!(features.names(), ["amount", "kind=card", "kind=cash"]);
    assert_eq!(rows(features), [[0.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [99_998.0, 1.0, 0.0]]);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("edges: column 'amount' has 1 gaps, and had none in training"), "{notes:?}");
    assert!(
        notes[1].starts_with(
            "edges: column 'kind': 1 rows have a text that the training data did not have, such as 'wire'"
        )
    );
    assert!(encoded.edge_table().is_none() && !encoding.keeps(&dataset));
    // Nobody trains: all edges count.
    assert_eq!(fitted(&[]).edges().len(), 2);
    assert!(fitted(&[]).apply(&dataset).unwrap().1.is_empty());

    let other = |edges: &str| encoding.apply(&read_folder(edges).unwrap()).map_err(|e| e.to_string());
    let shuffled = other("kind,dst,amount,src\ncash,b,10,c\n").unwrap().0;
    assert_eq!(values(&shuffled), [-1.0, 0.0, 1.0]);
    assert_eq!(
        other("src,dst,amount,sort\na,b,1,cash\n").unwrap_err(),
        "the table of edges of payments lacks columns of the training data: 'kind'; new are 'sort'; columns are \
         matched by name, so add or rename them"
    );
    assert_eq!(
        other("src,dst\na,b\n").unwrap_err(),
        "the edges of payments have no features, and those of the training data had 'amount', 'kind'; columns are \
         matched by name, so add them"
    );
    let error = other("src,dst,amount,kind\na,b,much,cash\n").unwrap_err();
    assert!(error.starts_with("edges: column 'amount' has the value 'much'"), "{error}");
}

#[test]
fn a_table_of_columns_is_about_edges_too_and_a_folder_keeps_their_table() {
    let tables = [
        ("nodes.csv", "id,label,f\na,0,1\nb,1,2\nc,0,3\n"),
        ("edges.csv", "src,dst,code,note\na,b,01,x\nb,c,,y\n"),
        ("columns.csv", "column,kind\ncode,text\nnote,ignore\n"),
    ];
    let folder = files(&tables);
    let dataset = folder::read(folder.path(), "coded").unwrap();
    assert_eq!(dataset.edge_features().unwrap().names(), ["code=01", "code missing"]);
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join("copy");
    carat_graph::writers::folder::write(&dataset, &copy, carat_graph::table::TableFormat::Csv).unwrap();
    let edges = fs::read_to_string(copy.join("edges.csv")).unwrap();
    assert_eq!(edges, "src,dst,code\na,b,01\nb,c,\n");
    assert_eq!(folder::read(&copy, "coded").unwrap().graph(), dataset.graph());
    // What is known of edges follows them.
    let both = dataset.undirected().unwrap();
    let one = both.with_edges(&[false, false, false, true]).unwrap();
    assert_eq!((rows(one.edge_features().unwrap()), one.edge_table().unwrap().num_rows()), (vec![&[1.0, 1.0][..]], 1));
}

#[test]
fn columns_that_would_share_a_name_are_refused() {
    let error = read_folder("src,dst,k,k=x\na,b,x,1\nb,a,y,2\n").unwrap_err();
    assert!(error.contains(": two edge features are named 'k=x'"), "{error}");
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
