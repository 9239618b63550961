//! Tables of text, dates, truth values and gaps: read, made into features, and applied to other data by name.

use std::path::Path;

use carat_graph::table::TableFormat;
use carat_graph::{Dataset, Encoding, Features, Graph, Labels, Normalise, RawValues, readers, writers};
use proptest::prelude::*;

fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// A graph without edges and with this table of nodes, and other files beside it.
fn with_nodes(nodes: &str, others: &[(&str, &str)]) -> Result<Dataset, String> {
    let files = [&[("nodes.csv", nodes), ("edges.csv", "src,dst\n")], others].concat();
    let folder = folder_of(&files);
    let error = |e: carat_graph::DataError| e.to_string().replace(&format!("{}/", folder.path().display()), "");
    readers::folder::read(folder.path(), "mine").map_err(error)
}

fn nodes(text: &str) -> Dataset {
    with_nodes(text, &[]).unwrap()
}

fn fitted(dataset: &Dataset, training: &[u32], normalise: Normalise) -> Encoding {
    let encoding = Encoding::fit(dataset, training, normalise).unwrap();
    let text = encoding.to_toml().unwrap();
    // What a run folder keeps is all of it, bit for bit.
    assert_eq!(Encoding::from_toml(&text, Path::new("encoding.toml")).unwrap(), encoding, "{text}");
    encoding
}

fn rows(dataset: &Dataset) -> Vec<Vec<f32>> {
    let values = dataset.features().to_dense();
    values.chunks(dataset.features().num_columns()).map(<[f32]>::to_vec).collect()
}

fn applied(encoding: &Encoding, dataset: &Dataset) -> (Vec<Vec<f32>>, Vec<String>) {
    let (dataset, notes) = encoding.apply(dataset).unwrap();
    (rows(&dataset), notes)
}

const MIXED: &str = "id,label,amount,country,vip,since\n\
    a,ok,10,DE,yes,2024-01-01\n\
    b,fraud,,FR,no,2024-01-03\n\
    c,ok,30,DE,yes,NaN\n\
    d,ok,1e6,IT,,2024-01-08\n";

#[test]
fn kinds_are_told_apart_by_their_cells() {
    let dataset = nodes(MIXED);
    let table = dataset.table().unwrap();
    let kinds: Vec<&str> = table.columns().iter().map(|column| column.values.kind()).collect();
    assert_eq!(kinds, ["number", "text", "boolean", "date"]);
    assert!(matches!(&table.columns()[2].values, RawValues::Booleans(flags) if flags[3].is_none()));
    assert_eq!(dataset.node_ids().unwrap(), ["a", "b", "c", "d"]);
}

#[test]
fn features_are_learnt_from_training_nodes_alone() {
    let dataset = nodes(MIXED);
    let encoding = fitted(&dataset, &[0, 1, 2], Normalise::Standard);
    let (encoded, notes) = encoding.apply(&dataset).unwrap();
    let names = encoded.feature_names().unwrap();
    let expected = [
        "amount",
        "amount missing",
        "country=DE",
        "country=FR",
        "vip",
        "since days",
        "since weekday sine",
        "since weekday cosine",
        "since missing",
    ];
    assert_eq!(names, expected);
    // Of 10 and 30 the mean is 20 and the deviation 10. The million of node d counts for nothing.
    let column = |name: &str| {
        let at = names.iter().position(|own| own == name).unwrap();
        rows(&encoded).iter().map(|row| row[at]).collect::<Vec<f32>>()
    };
    assert_eq!(column("amount"), [-1.0, 0.0, 1.0, 99_998.0]);
    assert_eq!(column("amount missing"), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(column("country=DE"), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(column("vip"), [1.0, 0.0, 1.0, 1.0]);
    // 0 and 2 days have the mean 1 and the deviation 1.
    assert_eq!(column("since days"), [-1.0, 1.0, 0.0, 6.0]);
    assert_eq!(column("since missing"), [0.0, 0.0, 1.0, 0.0]);
    // The first of January 2024 was a Monday, and so was the eighth.
    assert_eq!((column("since weekday sine")[0], column("since weekday cosine")[3]), (0.0, 1.0));
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains("'country': 1 rows have a text that the training data did not have, such as 'IT'"),
        "{notes:?}"
    );
    assert!(notes[1].contains("'vip' has 1 gaps, and had none in training: they count as true"), "{notes:?}");
}

#[test]
fn other_data_is_matched_by_the_names_of_its_columns() {
    let dataset = nodes(MIXED);
    let encoding = fitted(&dataset, &[0, 1, 2], Normalise::Standard);
    let shuffled = "since,vip,id,country,amount\n2024-01-03,no,z,FR,\n";
    let (found, _) = applied(&encoding, &nodes(shuffled));
    assert_eq!(found[0], applied(&encoding, &dataset).0[1]);
    let refusal = |text: &str| encoding.apply(&nodes(text)).unwrap_err().to_string();
    assert_eq!(
        refusal("id,amount,land,vip,since\nz,1,DE,no,2024-01-03\n"),
        "mine lacks columns of the training data: 'country'; new are 'land'; columns are matched by name, so add or \
         rename them"
    );
    assert_eq!(
        refusal("id,amount,country,vip,since,extra\nz,1,DE,no,2024-01-03,1\n"),
        "mine has columns that the training data did not have: 'extra'; leave them out"
    );
    assert_eq!(
        refusal("id,amount,country,vip,since\nz,much,DE,no,2024-01-03\n"),
        "column 'amount' has the value 'much', and the encoding of the training data expects numbers; correct the \
         column"
    );
    assert!(refusal("id,amount,country,vip,since\nz,1,DE,no,2\n").contains("expects dates like 2024-01-31"));
}

#[test]
fn numbers_of_any_order_keep_their_place_and_their_bits() {
    let dataset = nodes("id,f0,f1\na,0.1,3\nb,1e-30,5\n");
    assert!(dataset.table().is_none());
    let plain = fitted(&dataset, &[0, 1], Normalise::None);
    assert_eq!(applied(&plain, &dataset), (vec![vec![0.1, 3.0], vec![1e-30, 5.0]], vec![]));
    let turned = nodes("f1,id,f0\n3,a,0.1\n");
    assert_eq!(applied(&plain, &turned).0, [[0.1, 3.0]]);
    let scaled = fitted(&dataset, &[0, 1], Normalise::Standard);
    assert_eq!(applied(&scaled, &turned).0[0], applied(&scaled, &dataset).0[0]);
    // A gap where training had none counts as the mean.
    let (found, notes) = applied(&scaled, &nodes("id,f0,f1\na,0.1,\n"));
    assert_eq!(found[0][1], 0.0);
    assert_eq!(notes, ["column 'f1' has 1 gaps, and had none in training: they count as the mean, 4.0000"]);
}

#[test]
fn many_categories_are_hashed_by_their_words() {
    let row = |k: u32| format!("n{k},Shop number{k}\n");
    let text: String = (0..70).map(row).collect();
    let dataset = nodes(&format!("id,shop\n{text}"));
    let training: Vec<u32> = (0..70).collect();
    let encoding = fitted(&dataset, &training, Normalise::None);
    assert_eq!(encoding.num_features(), 64);
    assert!(encoding.columns()[0].describe().starts_with("text, more than 64 categories: words hashed into 64"));
    let (found, notes) = applied(&encoding, &nodes("id,shop\na,\"number3, SHOP\"\nb,!\n"));
    assert_eq!(found[0], applied(&encoding, &dataset).0[3]);
    assert!(found[1].iter().all(|value| *value == 0.0) && notes.is_empty());
    // Few enough training nodes have few enough texts.
    assert_eq!(fitted(&dataset, &training[..64], Normalise::None).num_features(), 64);
    assert_eq!(fitted(&dataset, &training[..5], Normalise::None).num_features(), 5);
}

#[test]
fn labels_are_matched_by_name() {
    let trained = nodes("id,label,f\na,fraud,1\nb,ok,2\n");
    let encoding = fitted(&trained, &[0, 1], Normalise::None);
    let labels = |text: &str| {
        let (dataset, notes) = encoding.apply(&nodes(text)).unwrap();
        assert_eq!(dataset.class_names().unwrap(), ["fraud", "ok"]);
        (dataset.labels().as_signed().to_vec(), notes)
    };
    assert_eq!(labels("id,label,f\nx,ok,1\n"), (vec![1], vec![]));
    assert_eq!(labels("id,f\nx,1\n"), (vec![-1], vec![]));
    let (found, notes) = labels("id,label,f\nx,odd,1\ny,fraud,2\n");
    assert_eq!((found, notes.len()), (vec![-1, 0], 1));
    assert!(notes[0].contains("labels that are no classes of the training data count as missing: 'odd'"), "{notes:?}");
    let (found, notes) = labels("id,label,f\nx,1,1\ny,0,2\n");
    assert_eq!(found, [1, 0]);
    assert_eq!(notes, ["the labels are numbers, and count as class numbers: 0 is fraud, 1 is ok"]);
}

#[test]
fn a_column_of_mostly_numbers_or_dates_has_mistakes_and_no_text() {
    let error = with_nodes("id,f\na,1\nb,2\nc,three\n", &[]).unwrap_err();
    assert_eq!(error, "nodes.csv:4: feature 'f' is 'three'; every feature must be a finite number");
    let error = with_nodes("id,f\na,2024-02-28\nb,2024-02-30\n", &[]).unwrap_err();
    assert_eq!(error, "nodes.csv:3: feature 'f' is '2024-02-30'; every feature must be a date like 2024-01-31");
    assert_eq!(nodes("id,f\na,1\nb,x\nc,y\n").table().unwrap().columns()[0].values.kind(), "text");
}

#[test]
fn a_table_of_columns_says_what_the_cells_do_not() {
    let text = "id,zip,ref,f\na,01067,x1,1\nb,80331,x2,2\n";
    let columns = "column,kind\nzip,text\nref,ignore\n";
    let dataset = with_nodes(text, &[("columns.csv", columns)]).unwrap();
    let table = dataset.table().unwrap();
    assert_eq!(table.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["zip", "f"]);
    assert_eq!(dataset.feature_names().unwrap(), ["zip=01067", "zip=80331", "f"]);
    let with = |columns: &str| with_nodes(text, &[("columns.csv", columns)]).unwrap_err();
    assert_eq!(
        with("column,kind\nzip,word\n"),
        "columns.csv:2: 'word' is no kind of column; choose number, boolean, date, text or ignore"
    );
    assert_eq!(with("column,kind\nzap,text\n"), "nodes.csv: no table has a feature column 'zap'");
    assert_eq!(
        with("column,kind\nref,date\n"),
        "nodes.csv:2: feature 'ref' is 'x1'; every feature must be a date like 2024-01-31"
    );
}

#[test]
fn tabs_and_semicolons_part_cells_too() {
    let folder =
        folder_of(&[("nodes.tsv", "id\tlabel\tf\na\tx, y\t1\nb\t\t2\n"), ("edges.csv", "src;dst\na;b\na;b\n")]);
    let dataset = readers::folder::read(folder.path(), "mine").unwrap();
    assert_eq!(dataset.class_names().unwrap(), ["x, y"]);
    assert_eq!((dataset.graph().num_edges(), dataset.merged_edges()), (1, 1));
}

#[test]
fn rows_are_divided_as_by_pyg() {
    let labels = || Labels::new(vec![None; 3], 1).unwrap();
    let dataset = |values: Vec<f32>| {
        let graph = Graph::from_edges(3, &[], &[]).unwrap();
        let features = Features::dense(3, 2, values).unwrap();
        Dataset::new(carat_graph::DatasetParts::new("m", graph, features, labels())).unwrap()
    };
    // NormalizeFeatures: x = x - x.min(); x / x.sum(-1).clamp(min=1).
    let counts = dataset(vec![1.0, 3.0, 0.0, 0.5, 0.0, 0.0]);
    let encoding = fitted(&counts, &[0], Normalise::Row);
    assert_eq!(applied(&encoding, &counts).0, [[0.25, 0.75], [0.0, 0.5], [0.0, 0.0]]);
    let shifted = dataset(vec![-1.0, 3.0, 0.0, 0.0, 7.0, -1.0]);
    let encoding = fitted(&shifted, &[0], Normalise::Row);
    assert_eq!(applied(&encoding, &shifted).0, [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]);
}

#[test]
fn auto_scales_tables_and_dense_numbers() {
    let features = |values: Vec<f32>| {
        let features = Features::dense(2, 2, values).unwrap().compacted();
        let labels = Labels::new(vec![None; 2], 1).unwrap();
        let graph = Graph::from_edges(2, &[], &[]).unwrap();
        Dataset::new(carat_graph::DatasetParts::new("m", graph, features, labels)).unwrap()
    };
    let auto = |dataset: &Dataset| fitted(dataset, &[0, 1], Normalise::Auto).normalise();
    assert_eq!(auto(&features(vec![1.0, 500.0, 0.0, 3.0])), Normalise::Standard);
    assert_eq!(auto(&features(vec![1.0, 0.0, 1.0, 1.0])), Normalise::None);
    assert_eq!(auto(&nodes("id,f\na,1\nb,0\n")), Normalise::Standard);
    let words = Features::dense(2, 20, (0..40).map(|k| if k % 20 == 0 { 0.3 } else { 0.0 }).collect()).unwrap();
    let parts = carat_graph::DatasetParts::new(
        "m",
        Graph::from_edges(2, &[], &[]).unwrap(),
        words.compacted(),
        Labels::new(vec![None; 2], 1).unwrap(),
    );
    assert_eq!(auto(&Dataset::new(parts).unwrap()), Normalise::None);
}

#[test]
fn sparse_columns_are_not_centred_and_stay_sparse() {
    let mut values = vec![0.0f32; 400];
    for row in 0..40 {
        values[row * 10] = row as f32;
    }
    (values[13], values[213]) = (3.0, 4.0);
    let graph = Graph::from_edges(40, &[], &[]).unwrap();
    let features = Features::dense(40, 10, values).unwrap().compacted();
    let parts = carat_graph::DatasetParts::new("m", graph, features, Labels::new(vec![None; 40], 1).unwrap());
    let dataset = Dataset::new(parts).unwrap();
    let all: Vec<u32> = (0..40).collect();
    let (scaled, _) = fitted(&dataset, &all, Normalise::Standard).apply(&dataset).unwrap();
    assert!(matches!(scaled.features(), Features::Sparse(_)));
    let found = rows(&scaled);
    // The full column has mean 19.5; the other is divided by the root of the mean of 9 and 16.
    assert!((found[39][0] + found[0][0]).abs() < 1e-6 && found[0][0] < -1.6);
    assert!((found[1][3] - 3.0 / 12.5f32.sqrt()).abs() < 1e-6);
    assert_eq!((found[0][3], found[0][1]), (0.0, 0.0));
}

#[test]
fn a_mapped_file_is_scaled_as_the_same_data_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapped.carat");
    for density in [1usize, 20] {
        let value = |k: usize| if k.is_multiple_of(density) { (k * 7919 % 101) as f32 - 20.0 } else { 0.0 };
        let features = Features::dense(50, 6, (0..300).map(value).collect()).unwrap().compacted();
        let graph = Graph::from_edges(50, &[], &[]).unwrap();
        let parts = carat_graph::DatasetParts::new("m", graph, features, Labels::new(vec![None; 50], 1).unwrap());
        let memory = Dataset::new(parts).unwrap();
        writers::carat::write(&memory, &path).unwrap();
        let mapped = readers::carat::read(&path).unwrap();
        for normalise in [Normalise::None, Normalise::Standard] {
            let training: Vec<u32> = (0..30).collect();
            let encoding = fitted(&memory, &training, normalise);
            assert_eq!(fitted(&mapped, &training, normalise), encoding);
            assert_eq!(applied(&encoding, &mapped), applied(&encoding, &memory));
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing temporary is left");
}

#[test]
fn tables_and_ids_survive_writing() {
    let dataset = nodes(MIXED);
    let parent = tempfile::tempdir().unwrap();
    for format in [TableFormat::Csv, TableFormat::Parquet] {
        let folder = parent.path().join(format.ending());
        writers::folder::write(&dataset, &folder, format).unwrap();
        let read = readers::folder::read(&folder, "mine").unwrap();
        // As text, in which a gap is equal to a gap.
        assert_eq!(format!("{:?}", read.table()), format!("{:?}", dataset.table()));
        assert_eq!(read.node_ids(), dataset.node_ids());
        assert_eq!(read.features(), dataset.features());
    }
    for ending in ["npz", "carat"] {
        let path = parent.path().join("written").with_extension(ending);
        let read = if ending == "npz" {
            writers::npz::write(&dataset, &path).unwrap();
            readers::npz::read(&path).unwrap()
        } else {
            writers::carat::write(&dataset, &path).unwrap();
            readers::carat::read(&path).unwrap()
        };
        assert_eq!((read.feature_names(), read.node_ids()), (dataset.feature_names(), dataset.node_ids()));
        assert_eq!(read.features().to_dense(), dataset.features().to_dense());
    }
}

#[test]
fn a_damaged_encoding_is_refused() {
    let text = fitted(&nodes(MIXED), &[0, 1], Normalise::Standard).to_toml().unwrap();
    let refusal = |text: &str| Encoding::from_toml(text, Path::new("encoding.toml")).unwrap_err().to_string();
    assert!(refusal("").starts_with("encoding.toml: this is no encoding of columns: "));
    let narrow = text.replacen("features = ", "features = 1", 1);
    assert!(refusal(&narrow).ends_with("its sizes do not fit together"), "{narrow}");
    assert!(
        refusal(&text.replacen("factor = ", "factor = nan #", 1)).contains("the entry of column 'amount' is damaged")
    );
    assert!(
        refusal(&text.replacen("kind = \"text\"", "kind = \"colour\"", 1).replace("categories\"", "x\"")).len() > 20
    );
}

/// Cells as other programs write them.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,9}(\\.[0-9]{1,4})?(e[0-9]{1,2})?",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2})?",
        "true|FALSE|yes|No|t|f",
        "|NA|nan|null|None",
        "[ -~äé\n\"]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever a table holds: it is refused with a reason, or its encoding is finite, survives its file and does to
    /// the data what it did before.
    #[test]
    fn every_table_is_refused_or_encoded(
        cells in proptest::collection::vec(proptest::collection::vec(cell(), 3), 1..20),
        training in 1usize..20,
        pick in 0usize..4,
    ) {
        let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
        let row = |(k, row): (usize, &Vec<String>)| format!("n{k},{}\n", line(row));
        let text: String = cells.iter().enumerate().map(row).collect();
        if let Ok(dataset) = with_nodes(&format!("id,a,b,c\n{text}"), &[]) {
            let training: Vec<u32> = (0..training.min(cells.len()) as u32).collect();
            let encoding = fitted(&dataset, &training, Normalise::ALL[pick]);
            if let Ok((encoded, _)) = encoding.apply(&dataset) {
                prop_assert_eq!(encoded.features().num_columns(), encoding.num_features());
                prop_assert!(encoded.features().to_dense().iter().all(|value| value.is_finite()));
                let parent = tempfile::tempdir().unwrap();
                let folder = parent.path().join("f");
                writers::folder::write(&dataset, &folder, TableFormat::Csv).unwrap();
                let again = readers::folder::read(&folder, "mine").unwrap();
                prop_assert_eq!(applied(&encoding, &again).0, rows(&encoded));
            }
        }
    }

    #[test]
    fn no_text_makes_the_columns_or_an_encoding_panic(
        columns in "(column,kind\n)?[ -~\n]{0,60}",
        text in "[ -~\n]{0,200}",
    ) {
        let _ = with_nodes("id,f\na,1\n", &[("columns.csv", &columns)]);
        let _ = Encoding::from_toml(&text, Path::new("encoding.toml"));
    }
}
