//! Folders of tables: read, refused with a reason, and written so that they read back the same.

use std::path::Path;

use crate::support::damage::with_every_damage;
use carat_graph::table::{Column, Table, TableFormat};
use carat_graph::{Dataset, DatasetParts, Features, Graph, Labels, Split, readers, writers};
use proptest::prelude::*;

const NODES: &str = "id,label,split,a,b\nx,cat,train,1,0\ny,dog,val,0.5,-2e-3\nz,,,0,3\n";
const EDGES: &str = "src,dst\nx,y\nz,y\ny,x\n";

fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read(files: &[(&str, &str)]) -> Dataset {
    readers::folder::read(folder_of(files).path(), "mine").unwrap()
}

/// The error's message, without the temporary folder's path.
fn refusal(files: &[(&str, &str)]) -> String {
    let folder = folder_of(files);
    let error = readers::folder::read(folder.path(), "mine").unwrap_err();
    assert!(error.is_input_error());
    let message = error.to_string();
    let prefix = format!("{}/", folder.path().display());
    message
        .strip_prefix(&prefix)
        .map(str::to_string)
        .unwrap_or(message.replace(&folder.path().display().to_string(), "."))
}

fn nodes_refusal(nodes: &str) -> String {
    refusal(&[("nodes.csv", nodes), ("edges.csv", EDGES)])
}

fn edges_refusal(edges: &str) -> String {
    refusal(&[("nodes.csv", NODES), ("edges.csv", edges)])
}

#[test]
fn a_folder_of_two_tables_is_a_dataset() {
    let dataset = read(&[("nodes.csv", NODES), ("edges.csv", EDGES)]);
    assert_eq!(dataset.name(), "mine");
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (0, 1), (2, 1)]);
    assert_eq!(dataset.features().to_dense(), [1.0, 0.0, 0.5, -2e-3, 0.0, 3.0]);
    assert_eq!(dataset.labels().as_signed(), [0, 1, -1]);
    assert_eq!(dataset.class_names().unwrap(), ["cat", "dog"]);
    assert_eq!(dataset.node_names().unwrap(), ["x", "y", "z"]);
    assert_eq!(dataset.splits(), [Split { train: vec![0], val: vec![1], test: vec![] }]);
    assert!(dataset.node_years().is_none() && dataset.spurious().is_none());
}

#[test]
fn numbers_names_years_marks_and_many_splits_are_understood() {
    let nodes = "\u{feff}id, label ,split_1,split_0,name,year,f\r\n\
                 0,2,TRAIN,test,\" Ada\",1843,1\r\n\
                 1,0.0,Valid,train,,2017.0,2\r\n\
                 2,-1,validation,,Kurt,1931,3\r\n\
                 3,-1.0,test,val,x,1900,4\r\n";
    let edges = "weight,dst,src,spurious\n0.5,0,1,1\n0.7, 0 ,2,FALSE\n0.1,0,1,0\n9,3,3,0\n";
    let dataset = read(&[("nodes.csv", nodes), ("edges.csv", edges)]);
    assert_eq!(dataset.labels().as_signed(), [2, 0, -1, -1]);
    assert_eq!(dataset.labels().num_classes(), 3);
    assert!(dataset.class_names().is_none());
    assert_eq!(dataset.node_names().unwrap(), [" Ada", "1", "Kurt", "x"]);
    assert_eq!(dataset.node_years().unwrap(), [1843, 2017, 1931, 1900]);
    assert_eq!(dataset.splits().len(), 2);
    assert_eq!(dataset.splits()[0], Split { train: vec![1], val: vec![3], test: vec![0] });
    assert_eq!(dataset.splits()[1], Split { train: vec![0], val: vec![1, 2], test: vec![3] });
    // Of an edge given twice the first counts; an edge to oneself stays.
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0), (2, 0), (3, 3)]);
    assert_eq!(dataset.spurious().unwrap(), [true, false, false]);
}

#[test]
fn row_numbers_as_ids_are_no_names_and_other_numbers_are() {
    let edges = "src,dst\n";
    let plain = read(&[("nodes.csv", "id,label,f\n0,0,1\n1,1,1\n"), ("edges.csv", edges)]);
    assert!(plain.node_names().is_none());
    assert_eq!(plain.graph().num_edges(), 0);
    let other = read(&[("nodes.csv", "id,label,f\n0,0,1\n01,1,1\n7,1,1\n"), ("edges.csv", "src,dst\n01,7\n")]);
    assert_eq!(other.node_names().unwrap(), ["0", "01", "7"]);
    assert_eq!(other.graph().edges().collect::<Vec<_>>(), [(1, 2)]);
}

#[test]
fn a_list_of_classes_fixes_their_order_and_number() {
    let classes = "label\ndog\nbird\ncat\n";
    let dataset = read(&[("nodes.csv", NODES), ("edges.csv", EDGES), ("classes.csv", classes)]);
    assert_eq!(dataset.labels().as_signed(), [2, 0, -1]);
    assert_eq!(dataset.class_names().unwrap(), ["dog", "bird", "cat"]);
    let with = |classes| refusal(&[("nodes.csv", NODES), ("edges.csv", EDGES), ("classes.csv", classes)]);
    assert_eq!(with("label\ncat\n"), "nodes.csv:3: label 'dog' is not in the list of classes");
    assert_eq!(with("label\ncat\ncat\n"), "classes.csv:3: class 'cat' is listed twice");
    assert_eq!(with("label\n-1\n"), "classes.csv:2: a class needs a name, and -1 stands for a missing label");
}

#[test]
fn missing_or_doubled_files_are_named() {
    assert_eq!(
        refusal(&[("edges.csv", EDGES)]),
        ".: there is no nodes.csv, nodes.tsv or nodes.parquet in the folder; .csv.gz and .tsv.gz work too"
    );
    assert_eq!(
        refusal(&[("nodes.csv", NODES)]),
        ".: there is no edges.csv, edges.tsv or edges.parquet in the folder; .csv.gz and .tsv.gz work too"
    );
    assert_eq!(
        refusal(&[("nodes.csv", NODES), ("edges.csv", EDGES), ("edges.parquet", "")]),
        ".: there are both edges.csv and edges.parquet; keep one of them"
    );
    let nowhere = readers::folder::read(Path::new("no/such"), "mine").unwrap_err();
    assert_eq!(nowhere.to_string(), "no/such: there is no such folder");
}

#[test]
fn columns_that_do_not_fit_are_named() {
    assert_eq!(nodes_refusal("node,class,f\n"), "nodes.csv: there is no column 'id'; the columns are node, class, f");
    assert_eq!(
        nodes_refusal("id,label\n0,1\n"),
        "nodes.csv: there is no feature column; give each node at least one number"
    );
    assert_eq!(nodes_refusal("id,label,f,f\n"), "nodes.csv: two columns are named 'f'");
    assert_eq!(nodes_refusal(""), "nodes.csv: the file is empty; its first line must name the columns");
    assert_eq!(nodes_refusal("id,label,f\n"), "nodes.csv: there are no nodes, only a header");
    assert_eq!(
        nodes_refusal("id,label,split,split_0,f\n"),
        "nodes.csv: there are both a column 'split' and a column 'split_0'; keep one way"
    );
    assert_eq!(
        nodes_refusal("id,label,split_2,split_0,f\n"),
        "nodes.csv: there is a column 'split_2', but the columns from split_0 to it are not complete"
    );
    assert_eq!(nodes_refusal("id,label,split_0,f\n0,0,,1\n"), "nodes.csv: column 'split_0' puts no node in any part");
    assert_eq!(edges_refusal("from,to\n"), "edges.csv: there is no column 'src'; the columns are from, to");
    let wide: String = (0..30).map(|k| format!(",c{k}")).collect();
    assert!(nodes_refusal(&format!("n{wide}\n")).ends_with("c17, c18 and 11 more"));
}

#[test]
fn cells_that_do_not_fit_are_named_with_their_line() {
    let head = "id,label,split,year,f\n0,1,train,2000,1\n";
    let with = |row: &str| nodes_refusal(&format!("{head}{row}"));
    assert_eq!(with("0,1,,2000,1\n"), "nodes.csv:3: id '0' is used twice; every node needs its own");
    assert_eq!(with(",1,,2000,1\n"), "nodes.csv:3: the id is empty; every node needs one");
    assert_eq!(
        with("1,1,trian,2000,1\n"),
        "nodes.csv:3: split 'trian' is none of train, val and test; leave it empty for none"
    );
    assert_eq!(with("1,1,,soon,1\n"), "nodes.csv:3: year 'soon' is not a whole number");
    assert_eq!(with("1,1,,,1\n"), "nodes.csv:3: year '' is not a whole number");
    assert_eq!(with("1,1,,2000,red\n"), "nodes.csv:3: feature 'f' is 'red'; every feature must be a finite number");
    assert_eq!(with("1,1,,2000,inf\n"), "nodes.csv:3: feature 'f' is 'inf'; every feature must be a finite number");
    assert_eq!(with("1,1,,2000,1e99\n"), "nodes.csv:3: feature 'f' is '1e99'; every feature must be a finite number");
    assert_eq!(with("1,1,,2000\n"), "nodes.csv:3: the row has 4 cells, but the header has 5");
    // The same with other line ends, blank lines and cells that hold a line break.
    assert_eq!(
        nodes_refusal("id,label,f\r\n0,1,1\r\n1,1,x\r\n"),
        "nodes.csv:3: feature 'f' is 'x'; every feature must be a finite number"
    );
    assert_eq!(
        nodes_refusal("id,label,f\r\n0,1,1\r\n1,1\r\n"),
        "nodes.csv:3: the row has 2 cells, but the header has 3"
    );
    assert_eq!(
        nodes_refusal("id,label,f\n\"a\nb\",1,1\n\n1,1,x\n"),
        "nodes.csv:5: feature 'f' is 'x'; every feature must be a finite number"
    );
}

#[test]
fn edges_that_do_not_fit_are_named_with_their_line() {
    assert_eq!(edges_refusal("src,dst\nx,y\nx,w\n"), "edges.csv:3: dst 'w' is not the id of any node");
    assert_eq!(edges_refusal("src,dst\n,y\n"), "edges.csv:2: src is empty; it must be the id of a node");
    assert_eq!(edges_refusal("src,dst,spurious\nx,y,maybe\n"), "edges.csv:2: spurious must be 0, 1, true or false");
    let numbered = "id,label,f\n0,0,1\n1,0,1\n";
    assert_eq!(
        refusal(&[("nodes.csv", numbered), ("edges.csv", "src,dst\n2,0\n")]),
        "edges.csv:2: src '2' is not the id of any node; the ids go from 0 to 1"
    );
    let named = "id,label,f\nparis,0,1\nlondon,0,1\n";
    assert_eq!(
        refusal(&[("nodes.csv", named), ("edges.csv", "src,dst\nLondon,paris\nPari,london\n")]),
        "edges.csv:2: src 'London' is not the id of any node; did you mean 'london'?"
    );
    assert_eq!(
        refusal(&[("nodes.csv", named), ("edges.csv", "src,dst\npari,london\n")]),
        "edges.csv:2: src 'pari' is not the id of any node; did you mean 'paris'?"
    );
}

#[test]
fn binary_files_and_endless_rows_are_refused() {
    let folder = folder_of(&[("edges.csv", EDGES)]);
    std::fs::write(folder.path().join("nodes.csv"), b"id,label,f\n0,0,1\n\xff,0,1\n").unwrap();
    let error = readers::folder::read(folder.path(), "mine").unwrap_err().to_string();
    assert!(error.ends_with("nodes.csv:3: the line is not UTF-8 text"), "{error}");

    // A small gzip file of one open quote and 80 MiB behind it.
    std::fs::remove_file(folder.path().join("nodes.csv")).unwrap();
    let file = std::fs::File::create(folder.path().join("nodes.csv.gz")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, b"id,label,f\n0,0,\"").unwrap();
    for _ in 0..80 {
        std::io::Write::write_all(&mut encoder, &vec![b'\n'; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap();
    let error = readers::folder::read(folder.path(), "mine").unwrap_err().to_string();
    assert!(error.ends_with("a row is longer than 64 MiB; is a quote left open?"), "{error}");
}

mod parquet_files {
    use super::*;
    use arrow_array::types::{Int8Type, UInt64Type};
    use arrow_array::*;
    use parquet::file::properties::WriterProperties;
    use std::sync::Arc;

    fn write_parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn every_sensible_type_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let labels: DictionaryArray<Int8Type> = [Some("b"), None, Some("a")].into_iter().collect();
        write_parquet(
            &folder.path().join("nodes.parquet"),
            vec![
                ("id", Arc::new(UInt64Array::from(vec![u64::MAX, 5, 6]))),
                ("label", Arc::new(labels)),
                ("split", Arc::new(StringViewArray::from(vec![Some("train"), None, Some("test")]))),
                ("small", Arc::new(Int8Array::from(vec![-1, 0, 1]))),
                ("exact", Arc::new(Float32Array::from(vec![0.1, 1e-30, 3.0]))),
                ("double", Arc::new(Float64Array::from(vec![0.5, 0.0, -7.0]))),
                ("flag", Arc::new(BooleanArray::from(vec![true, false, true]))),
                ("typed", Arc::new(LargeStringArray::from(vec!["1.5", " 2", "3"]))),
            ],
        );
        // The same ids as floating-point numbers and as text; a column of lists that nobody asks for.
        let lists = ListArray::from_iter_primitive::<UInt64Type, _, _>([Some([Some(1)]), None]);
        write_parquet(
            &folder.path().join("edges.parquet"),
            vec![
                ("lists", Arc::new(lists)),
                ("dst", Arc::new(Float64Array::from(vec![5.0, 6.0]))),
                ("src", Arc::new(StringArray::from(vec!["18446744073709551615", "5"]))),
                ("spurious", Arc::new(BooleanArray::from(vec![true, false]))),
            ],
        );
        let dataset = readers::folder::read(folder.path(), "mine").unwrap();
        assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(dataset.spurious().unwrap(), [true, false]);
        assert_eq!(dataset.labels().as_signed(), [1, -1, 0]);
        assert_eq!(dataset.splits(), [Split { train: vec![0], val: vec![], test: vec![2] }]);
        assert_eq!(
            dataset.features().to_dense(),
            [-1.0, 0.1, 0.5, 1.0, 1.5, 0.0, 1e-30, 0.0, 0.0, 2.0, 1.0, 3.0, -7.0, 1.0, 3.0]
        );
    }

    #[test]
    fn numbers_of_every_width_and_missing_values_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let half = [0.5, -2.0, 65504.0].map(half::f16::from_f32);
        let decimal = |precision| {
            let values = Decimal128Array::from(vec![Some(-12345), Some(7), Some(0)]);
            values.with_precision_and_scale(precision, 2).unwrap()
        };
        let none = |label: Option<i32>| label.filter(|label| *label >= 0);
        write_parquet(
            &folder.path().join("nodes.parquet"),
            vec![
                ("id", Arc::new(UInt32Array::from(vec![u32::MAX, 1, 2]))),
                ("label", Arc::new([Some(1), Some(-1), Some(0)].map(none).into_iter().collect::<Int32Array>())),
                ("name", Arc::new(StringArray::from(vec![Some("ä"), None, Some("")]))),
                ("half", Arc::new(Float16Array::from(half.to_vec()))),
                ("i16", Arc::new(Int16Array::from(vec![i16::MIN, 0, i16::MAX]))),
                ("u8", Arc::new(UInt8Array::from(vec![u8::MAX, 0, 1]))),
                ("i64", Arc::new(Int64Array::from(vec![-1, 1 << 40, 0]))),
                // Written in 32 bits, in 64 bits and in as many bytes as are needed.
                ("money5", Arc::new(decimal(5))),
                ("money15", Arc::new(decimal(15))),
                ("money30", Arc::new(decimal(30))),
            ],
        );
        std::fs::write(folder.path().join("edges.csv"), "src,dst\n4294967295,1\n").unwrap();
        let dataset = readers::folder::read(folder.path(), "mine").unwrap();
        assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(dataset.labels().as_signed(), [1, -1, 0]);
        assert_eq!(dataset.node_names().unwrap(), ["ä", "1", "2"]);
        let rows: Vec<f32> = dataset.features().to_dense();
        assert_eq!(rows[..7], [0.5, f32::from(i16::MIN), 255.0, -1.0, -123.45, -123.45, -123.45]);
        assert_eq!(rows[7..14], [-2.0, 0.0, 0.0, (1u64 << 40) as f32, 0.07, 0.07, 0.07]);
        assert_eq!(rows[14..], [65504.0, f32::from(i16::MAX), 1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn rows_in_several_groups_and_stretches_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let count = 20_001;
        let nodes: String = (0..count).map(|n| format!("{n},0,1\n")).collect();
        std::fs::write(folder.path().join("nodes.csv"), format!("id,label,f\n{nodes}")).unwrap();
        let read = |missing: Option<i64>| {
            let src = (0..count).map(|n| (missing != Some(n)).then_some(n)).collect::<Int64Array>();
            let dst = Int64Array::from_iter_values((0..count).rev());
            let batch = [("src", Arc::new(src) as ArrayRef), ("dst", Arc::new(dst) as ArrayRef)];
            let batch =
                RecordBatch::try_from_iter_with_nullable(batch.map(|(name, array)| (name, array, true))).unwrap();
            let groups = WriterProperties::builder().set_max_row_group_row_count(Some(6_000)).build();
            let file = std::fs::File::create(folder.path().join("edges.parquet")).unwrap();
            let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(groups)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            readers::folder::read(folder.path(), "mine")
        };
        let graph = read(None).unwrap().into_parts().graph;
        assert_eq!(graph.num_edges(), count as usize);
        assert!(graph.edges().all(|(source, target)| i64::from(source) + i64::from(target) == count - 1));
        let error = read(Some(15_000)).unwrap_err().to_string();
        assert!(error.contains("edges.parquet: row 15001: "), "{error}");
    }

    #[test]
    fn errors_name_the_row() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("edges.csv"), "src,dst\n").unwrap();
        let nodes = folder.path().join("nodes.parquet");
        let with = |feature: ArrayRef| {
            let ids: ArrayRef = Arc::new(UInt32Array::from(vec![0, 1]));
            write_parquet(&nodes, vec![("id", ids.clone()), ("label", ids), ("f", feature)]);
            let message = readers::folder::read(folder.path(), "mine").unwrap_err().to_string();
            message.rsplit_once('/').unwrap().1.to_string()
        };
        assert_eq!(
            with(Arc::new(Float64Array::from(vec![1e300, 0.0]))),
            format!("nodes.parquet: row 1: feature 'f' is '{}'; every feature must be a finite number", 1e300)
        );
        assert_eq!(
            with(Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]))),
            "nodes.parquet: row 2: feature 'f' is 'inf'; every feature must be a finite number"
        );
        let lists = ListArray::from_iter_primitive::<UInt64Type, _, _>([Some([Some(1)]), None]);
        assert!(with(Arc::new(lists)).starts_with("nodes.parquet: column 'f' has the type List("));
    }
}

fn sample() -> Dataset {
    let graph = Graph::from_edges(4, &[0, 1, 2, 3, 3], &[1, 0, 0, 3, 2]).unwrap();
    let features = Features::dense(4, 2, vec![0.1, -1e-30, 3.0, f32::MAX, 0.0, 1.0, 2.0, 7.5]).unwrap();
    let labels = Labels::new(vec![Some(2), None, Some(0), Some(1)], 5).unwrap();
    let mut parts = DatasetParts::new("sample", graph, features, labels);
    parts.class_names = Some(["zebra", "ape, great", "newt\n\"crested\"", "3", "asp"].map(String::from).to_vec());
    parts.node_names = Some(["a", "a", "ünïcode", "with, comma"].map(String::from).to_vec());
    parts.node_years = Some(vec![1999, -44, 2024, 0].into());
    parts.node_authors = Some(["Ada; Kurt", "", "Kurt, K.", "=1+1"].map(String::from).to_vec());
    parts.spurious = Some(vec![true, false, false, true, false].into());
    parts.splits = vec![Split { train: vec![0, 3], val: vec![2], test: vec![] }];
    Dataset::new(parts).unwrap()
}

fn assert_same(found: Dataset, expected: Dataset) {
    let (found, expected) = (found.into_parts(), expected.into_parts());
    assert_eq!(found.graph, expected.graph);
    assert_eq!(found.features.compacted(), expected.features.compacted());
    assert_eq!(found.labels, expected.labels);
    assert_eq!(found.splits, expected.splits);
    assert_eq!(found.node_names, expected.node_names);
    assert_eq!(found.node_ids, expected.node_ids);
    assert_eq!(found.class_names, expected.class_names);
    assert_eq!(found.node_years, expected.node_years);
    assert_eq!(found.node_authors, expected.node_authors);
    assert_eq!(found.spurious, expected.spurious);
}

fn round_trip(dataset: &Dataset, format: TableFormat) -> Dataset {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("written");
    writers::folder::write(dataset, &folder, format).unwrap();
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1, "nothing temporary is left");
    readers::folder::read(&folder, dataset.name()).unwrap()
}

#[test]
fn every_part_survives_writing() {
    for format in [TableFormat::Csv, TableFormat::CsvGz, TableFormat::Parquet] {
        assert_same(round_trip(&sample(), format), sample());
    }
}

#[test]
fn the_writer_overwrites_nothing_and_refuses_what_it_cannot_express() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    writers::folder::write(&sample(), &folder, TableFormat::Csv).unwrap();
    let error = writers::folder::write(&sample(), &folder, TableFormat::Csv).unwrap_err().to_string();
    assert!(error.ends_with("out: the folder is not empty; choose a new one"), "{error}");
    let refusal = |dataset: &Dataset, format| {
        let error = writers::folder::write(dataset, &parent.path().join("new"), format).unwrap_err().to_string();
        error.rsplit('/').next().unwrap().to_string()
    };
    assert_eq!(refusal(&sample(), TableFormat::Npz), "new: the tables of a folder are CSV or Parquet");
    let mut parts = sample().into_parts();
    parts.class_names.as_mut().unwrap()[1] = "zebra ".into();
    assert_eq!(refusal(&Dataset::new(parts.clone()).unwrap(), TableFormat::Csv), "two classes are named 'zebra '");
    parts.class_names.as_mut().unwrap()[1] = "-1".into();
    assert_eq!(
        refusal(&Dataset::new(parts.clone()).unwrap(), TableFormat::Csv),
        "a class named '-1' would read as a missing label"
    );
    parts.class_names = None;
    parts.labels = Labels::new(vec![Some(1)], 2).unwrap();
    parts.splits.clear();
    parts.graph_offsets = Some(vec![0, 4]);
    assert_eq!(
        refusal(&Dataset::new(parts).unwrap(), TableFormat::Csv),
        "new: sample is a set of graphs, and a folder of tables holds one graph; write a .npz or a .carat file"
    );
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
    let nowhere = writers::folder::write(&sample(), &parent.path().join("no/such"), TableFormat::Csv).unwrap_err();
    assert!(!nowhere.is_input_error());
}

#[test]
fn files_cut_short_or_damaged_are_errors_or_datasets_and_never_panics() {
    let parent = tempfile::tempdir().unwrap();
    for format in [TableFormat::Csv, TableFormat::CsvGz, TableFormat::Parquet] {
        let folder = parent.path().join(format.ending());
        writers::folder::write(&sample(), &folder, format).unwrap();
        for stem in ["nodes", "edges", "classes"] {
            let path = folder.join(format!("{stem}{}", format.ending()));
            with_every_damage(&path, |cut| {
                let result = readers::folder::read(&folder, "damaged");
                let may_pass = cut.is_none() || format == TableFormat::Csv;
                assert!(may_pass || result.is_err(), "{} cut at {cut:?}", path.display());
            });
        }
        assert_same(readers::folder::read(&folder, "sample").unwrap(), sample());
    }
}

#[test]
fn a_table_of_the_writer_is_readable_as_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let text = |words: &[&str]| Column::Text(words.iter().map(|w| w.to_string()).collect());
    let nodes = [("id", text(&["p", "q"])), ("label", Column::I64(vec![1, -1])), ("f", Column::F64(vec![0.1, 2.0]))];
    Table::new(nodes).unwrap().write(&folder.path().join("nodes.parquet")).unwrap();
    let edges = [("src", text(&["q"])), ("dst", text(&["p"]))];
    Table::new(edges).unwrap().write(&folder.path().join("edges.csv.gz")).unwrap();
    let dataset = readers::folder::read(folder.path(), "mine").unwrap();
    assert_eq!(dataset.graph().edges().collect::<Vec<_>>(), [(1, 0)]);
    assert_eq!(dataset.labels().as_signed(), [1, -1]);
    assert_eq!(dataset.features().to_dense(), [0.1, 2.0]);
}

/// Names as a user may have them: any printable text that does not begin or end with a space.
fn name() -> impl Strategy<Value = String> {
    "[!-~äß]([ -~é\n\"]{0,6}[!-~])?"
}

prop_compose! {
    fn datasets()(nodes in 1usize..12, columns in 1usize..5, classes in 1u32..6)(
        nodes in Just(nodes),
        columns in Just(columns),
        classes in Just(classes),
        edges in proptest::collection::vec((0..nodes as u32, 0..nodes as u32), 0..30),
        bits in proptest::collection::vec(prop_oneof![Just(0u32), any::<u32>()], nodes * columns),
        labels in proptest::collection::vec(proptest::option::of(0..classes), nodes),
        names in proptest::option::of(proptest::collection::vec(name(), nodes)),
        class_names in proptest::option::of(proptest::collection::hash_set(name(), classes as usize)),
        years in proptest::option::of(proptest::collection::vec(any::<i32>(), nodes)),
        marks in proptest::option::of(proptest::collection::vec(any::<bool>(), 30)),
        roles in proptest::collection::vec(proptest::collection::vec(0u8..4, nodes), 0..4),
    ) -> Dataset {
        let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
        let graph = Graph::from_edges(nodes, &src, &dst).unwrap();
        let values = bits.into_iter().map(f32::from_bits).map(|v| if v.is_finite() { v } else { 1.5 }).collect();
        let features = Features::dense(nodes, columns, values).unwrap();
        let num_edges = graph.num_edges();
        let mut parts = DatasetParts::new("any", graph, features, Labels::new(labels, classes as usize).unwrap());
        parts.node_names = names;
        parts.class_names = class_names
            .map(|names| names.into_iter().collect::<Vec<_>>())
            // Names that say no more than the class numbers, or stand for a missing label, are not kept by the layout.
            .filter(|names| names.iter().enumerate().any(|(k, n)| *n != k.to_string()))
            .filter(|names| !names.iter().any(|n| n == "-1"));
        parts.node_years = years.map(Into::into);
        parts.spurious = marks.map(|marks| marks[..num_edges].iter().copied().collect());
        let pick = |roles: &[u8], role: u8| (0..nodes as u32).filter(|&n| roles[n as usize] == role).collect();
        parts.splits = roles
            .iter()
            .map(|r| Split { train: pick(r, 0), val: pick(r, 1), test: pick(r, 2) })
            .filter(|split| *split != Split::default())
            .collect();
        Dataset::new(parts).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_reads_back_the_same(dataset in datasets()) {
        for format in [TableFormat::Csv, TableFormat::Parquet] {
            assert_same(round_trip(&dataset, format), dataset.clone());
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(nodes in "(id,label,f\n)?[ -~\n\"]{0,80}", edges in "(src,dst\n)?[ \
        -~\n\"]{0,60}") {
        let folder = folder_of(&[("nodes.csv", &nodes), ("edges.csv", &edges)]);
        let _ = readers::folder::read(folder.path(), "any");
    }
}

/// Found by fuzzing: the Parquet library skips unknown lists in a page's header, whose lengths it believes, and reads
/// known fields without a look at their types.
#[test]
fn a_parquet_header_without_end_is_refused_at_once() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for (table, other, text) in [("edges", "nodes", "id,label,f0\na,0,1\n"), ("nodes", "edges", "src,dst\na,a\n")] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!("{other}.csv")), text).unwrap();
        let endless = files.join(format!("endless-{table}.parquet"));
        std::fs::copy(endless, folder.path().join(format!("{table}.parquet"))).unwrap();
        let started = std::time::Instant::now();
        let error = readers::folder::read(folder.path(), "endless").unwrap_err().to_string();
        assert!(error.contains(&format!("{table}.parquet: this is no readable Parquet file")), "{error}");
        assert!(started.elapsed().as_secs() < 5);
    }
}
