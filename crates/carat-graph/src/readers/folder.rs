//! A user's own graph: a folder with two tables, and optional ones that order the classes and explain columns.
//!
//! | file | columns |
//! |---|---|
//! | `nodes` | `id` (text or number); optional `label`, `name`, `year`, `authors`, `split`; all others are features |
//! | `edges` | `src`, `dst`; optional `spurious`; all others are features of the edges |
//! | `classes`, optional | `label`: every class, in the order of the class numbers |
//! | `columns`, optional | `column`, `kind`: number, boolean, date, text or ignore, where cells do not say |
//!
//! `authors` are names with `;` between them. Instead of `split` there may be `split_0`, `split_1` and so on.
//!
//! Each is a `.csv`, a `.tsv`, either of them with `.gz`, or a `.parquet`. Features may be numbers, text, dates and
//! truth values, and may have gaps; [`crate::Encoding`] makes numbers of them. Messages flow from `src` to `dst`. A
//! label that is empty or -1 is missing. Labels that are all whole numbers below a million are class numbers; otherwise
//! the classes are numbered in the order of their names, unless `classes` gives another. Self-loops are kept; of
//! repeated edges the first counts.

mod columns;
mod edges;
mod ids;
mod labels;
mod nodes;

use std::path::{Path, PathBuf};

use crate::readers::EdgePlace;
use crate::readers::layout::Layout;
use crate::table::TableFormat;
use crate::{DataError, Dataset, DatasetParts, Encoding, Features, Normalise};
use columns::GivenKinds;
use edges::EdgeFile;
use labels::Classes;
use nodes::Nodes;

pub(crate) use labels::is_missing as is_missing_label;

/// The file name endings of a table that is read.
const ENDINGS: [&str; 5] = [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet"];

/// The formats of a table that is written.
pub(crate) const FORMATS: [TableFormat; 3] = [TableFormat::Csv, TableFormat::CsvGz, TableFormat::Parquet];

pub(super) const LAYOUT: Layout = Layout {
    name: "tables",
    sign: "edges.csv and nodes.csv (or .parquet)",
    find: |place| place.itself_if(ENDINGS.iter().any(|ending| place.has_file(&format!("edges{ending}")))),
    read: read_to,
};

/// True where a folder has a table of edges.
pub(crate) fn is_one(folder: &Path) -> bool {
    ENDINGS.iter().any(|ending| folder.join(format!("edges{ending}")).is_file())
}

/// Reads a folder of tables; `name` becomes the dataset's name.
pub fn read(folder: &Path, name: &str) -> Result<Dataset, DataError> {
    read_to(folder, name, EdgePlace::Memory)
}

/// The same with a choice of where the edges go.
pub(crate) fn read_to(folder: &Path, name: &str, place: EdgePlace<'_>) -> Result<Dataset, DataError> {
    if !folder.is_dir() {
        return Err(DataError::malformed(folder, "there is no such folder"));
    }
    let nodes_path = require(folder, "nodes")?;
    let edges_path = require(folder, "edges")?;
    let classes = find(folder, "classes")?.map(|path| Classes::read(&path)).transpose()?;
    let kinds = find(folder, "columns")?.map(|path| GivenKinds::read(&path)).transpose()?.unwrap_or_default();
    let edge_file = EdgeFile::open(&edges_path, &kinds)?;
    let nodes = Nodes::read(&nodes_path, classes, &kinds, &edge_file.features())?;
    let edges = edge_file.read(&nodes.ids, &kinds, place)?;

    let num_nodes = nodes.ids.len();
    let (features, has_table) = match nodes.columns.features {
        Some(features) => (features, false),
        // Features are made of the table below, once the dataset knows it.
        None => (Features::dense(num_nodes, 1, vec![0.0; num_nodes])?, true),
    };
    let mut parts = DatasetParts::new(name, edges.graph, features, nodes.labels);
    parts.feature_names = (!has_table).then_some(nodes.columns.names);
    parts.table = nodes.columns.table.map(Into::into);
    parts.merged_edges = edges.merged;
    parts.of_tables = true;
    parts.node_ids = nodes.ids.names();
    parts.splits = nodes.splits;
    parts.node_names = nodes.names;
    parts.class_names = nodes.class_names;
    parts.node_years = nodes.years.map(Into::into);
    parts.node_authors = nodes.authors;
    parts.spurious = edges.spurious;
    parts.edge_features = edges.features;
    parts.edge_table = edges.table.map(Into::into);
    let in_file = |e: DataError| e.in_file(&nodes_path);
    let dataset = Dataset::new(parts).map_err(in_file)?;
    let (table, edge_table) = (dataset.table().cloned(), dataset.edge_table().cloned());
    if table.is_none() && edge_table.is_none() {
        return Ok(dataset);
    }
    // Until training nodes are known, features are made as if all nodes were.
    let every: Vec<u32> = (0..num_nodes as u32).collect();
    let mut encoding = Encoding::fit(&dataset, &every, Normalise::None).map_err(in_file)?;
    if edge_table.is_some() {
        encoding = encoding.with_edges(&dataset, &every, Normalise::None)?;
    }
    let (encoded, _) = encoding.apply(&dataset).map_err(|e| e.in_file(folder))?;
    let mut parts = encoded.into_parts();
    (parts.table, parts.edge_table, parts.encoding) = (table, edge_table, None);
    Dataset::new(parts).map_err(in_file)
}

/// The one file of this stem, if there is any.
fn find(folder: &Path, stem: &str) -> Result<Option<PathBuf>, DataError> {
    let mut found = ENDINGS.iter().map(|ending| format!("{stem}{ending}")).filter(|n| folder.join(n).is_file());
    let Some(first) = found.next() else {
        return Ok(None);
    };
    match found.next() {
        None => Ok(Some(folder.join(first))),
        Some(second) => {
            Err(DataError::malformed(folder, format!("there are both {first} and {second}; keep one of them")))
        }
    }
}

fn require(folder: &Path, stem: &str) -> Result<PathBuf, DataError> {
    find(folder, stem)?.ok_or_else(|| {
        let problem = format!("there is no {stem}.csv, {stem}.tsv or {stem}.parquet in the folder");
        DataError::malformed(folder, format!("{problem}; .csv.gz and .tsv.gz work too"))
    })
}
