//! A user's own graph: a folder with two tables, and optional ones that order the classes and explain columns.
//!
//! | file | columns |
//! |---|---|
//! | `nodes` | `id` (text or number); optional `label`, `name`, `year`, `authors`, `split`; all others are features |
//! | `edges` | `src`, `dst`; optional `spurious`; all others are features of the edges (`edge_columns.rs`) |
//! | `classes`, optional | `label`: every class, in the order of the class numbers |
//! | `columns`, optional | `column`, `kind`: number, boolean, date, text or ignore, where the cells do not say |
//!
//! `authors` are names with `;` between them. Instead of `split` there may be `split_0`, `split_1` and so on.
//!
//! Each is a `.csv`, a `.tsv`, either of them with `.gz`, or a `.parquet`. Features may be numbers, text, dates and
//! truth values, and may have gaps; [`crate::Encoding`] makes numbers of them. Messages flow from `src` to `dst`. A label that is empty or -1 is
//! missing. Labels that are all whole numbers below a million are class numbers; otherwise the classes are numbered in
//! the order of their names, unless `classes` gives another. Self-loops are kept; of repeated edges the first counts.

mod columns;
mod edge_columns;
mod ids;
mod labels;
mod nodes;

use std::path::{Path, PathBuf};

use crate::edge_sorter::EdgeSorter;
use crate::readers::EdgePlace;
use crate::readers::layout::Layout;
use crate::readers::rows::{Cell, Row, RowFile};
use crate::table::TableFormat;
use crate::{DataError, Dataset, DatasetParts, EdgeFeatures, EdgeList, Encoding, Features, Flags, Graph, Normalise};
use columns::GivenKinds;
use edge_columns::EdgeColumns;
use ids::Ids;
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
    let nodes = Nodes::read(&nodes_path, classes, &kinds)?;
    let columns = EdgeColumns::of(&edges_path, &["src", "dst", "spurious"])?;
    let Edges { graph, spurious, features: edge_features, merged } =
        read_edges(&edges_path, &nodes.ids, columns, place)?;

    let num_nodes = nodes.ids.len();
    let (features, has_table) = match nodes.columns.features {
        Some(features) => (features, false),
        // Features are made of the table below, once the dataset knows it.
        None => (Features::dense(num_nodes, 1, vec![0.0; num_nodes])?, true),
    };
    let mut parts = DatasetParts::new(name, graph, features, nodes.labels);
    parts.feature_names = (!has_table).then_some(nodes.columns.names);
    parts.table = nodes.columns.table.map(Into::into);
    parts.merged_edges = merged;
    parts.of_tables = true;
    parts.node_ids = nodes.ids.names();
    parts.splits = nodes.splits;
    parts.node_names = nodes.names;
    parts.class_names = nodes.class_names;
    parts.node_years = nodes.years.map(Into::into);
    parts.node_authors = nodes.authors;
    parts.spurious = spurious;
    parts.edge_features = edge_features;
    let in_file = |e: DataError| e.in_file(&nodes_path);
    let dataset = Dataset::new(parts).map_err(in_file)?;
    let Some(table) = dataset.table().cloned() else { return Ok(dataset) };
    // Until training nodes are known, features are made as if all nodes were.
    let every: Vec<u32> = (0..num_nodes as u32).collect();
    let encoding = Encoding::fit(&dataset, &every, Normalise::None).map_err(in_file)?;
    let (encoded, _) = encoding.apply(&dataset).map_err(in_file)?;
    let mut parts = encoded.into_parts();
    (parts.table, parts.encoding) = (Some(table), None);
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

/// What the table of edges tells.
struct Edges {
    graph: Graph,
    spurious: Option<Flags>,
    features: Option<EdgeFeatures>,
    /// Repeated edges that were left out.
    merged: usize,
}

fn read_edges(
    path: &Path,
    ids: &Ids,
    mut columns: Option<EdgeColumns>,
    place: EdgePlace<'_>,
) -> Result<Edges, DataError> {
    let further = columns.as_ref().map_or(&[][..], |columns| &columns.places);
    let file = EdgeFile::open(path, ids, further)?;
    let has_spurious = file.has_spurious;
    match place {
        EdgePlace::Disk(folder) if columns.is_none() => {
            let mut sorter = EdgeSorter::new(ids.len(), folder)?;
            let mut count = 0;
            file.for_each(|src, dst, mark, _| {
                count += 1;
                sorter.push(src, dst, mark)
            })?;
            let (graph, flags) = sorter.finish()?;
            let merged = count - graph.num_edges();
            Ok(Edges { graph, spurious: has_spurious.then_some(flags), features: None, merged })
        }
        // Rows of edge features are in memory in any case, and follow their edges there.
        _ => {
            let (mut edges, mut marks) = (EdgeList::default(), Vec::new());
            file.for_each(|src, dst, mark, row| {
                edges.push(src, dst);
                if has_spurious {
                    marks.push(mark);
                }
                if let Some(columns) = &mut columns {
                    columns.add(|k| row.cell(2 + usize::from(has_spurious) + k));
                }
                Ok(())
            })?;
            let (graph, origin) =
                Graph::from_edges_with_origin(ids.len(), &edges.src, &edges.dst).map_err(|e| e.in_file(path))?;
            let spurious = has_spurious.then(|| origin.iter().map(|&edge| marks[edge as usize]).collect());
            let merged = edges.src.len() - graph.num_edges();
            let features = columns.map(|columns| columns.finish(&origin)).transpose().map_err(|e| e.in_file(path))?;
            Ok(Edges { graph, spurious, features, merged })
        }
    }
}

/// An open table of edges.
struct EdgeFile<'a> {
    file: RowFile,
    wanted: Vec<usize>,
    has_spurious: bool,
    ids: &'a Ids,
}

impl<'a> EdgeFile<'a> {
    fn open(path: &Path, ids: &'a Ids, further: &[usize]) -> Result<Self, DataError> {
        let file = RowFile::open(path)?;
        let mut wanted = vec![file.require("src")?, file.require("dst")?];
        let has_spurious = file.find("spurious").map(|at| wanted.push(at)).is_some();
        wanted.extend_from_slice(further);
        Ok(Self { file, wanted, has_spurious, ids })
    }

    /// Visits every edge in order: its source, its target, whether it is marked as spurious, and its row, where further
    /// columns come last.
    fn for_each(
        self,
        mut visit: impl FnMut(u32, u32, bool, &Row<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let Self { file, wanted, has_spurious, ids } = self;
        let end = |row: &Row<'_>, k: usize, column: &str| {
            let cell = row.cell(k);
            ids.find(cell).ok_or_else(|| match cell.text() {
                None => row.error(format!("{column} is empty; it must be the id of a node")),
                Some(id) => row.error(format!("{column} '{id}' is not the id of any node{}", ids.help(&id))),
            })
        };
        file.for_each(&wanted, |row| {
            let (src, dst) = (end(row, 0, "src")?, end(row, 1, "dst")?);
            let unclear = || row.error("spurious must be 0, 1, true or false");
            let mark = has_spurious && flag(row.cell(2)).ok_or_else(unclear)?;
            visit(src, dst, mark, row)
        })
    }
}

fn flag(cell: Cell<'_>) -> Option<bool> {
    let text = cell.text()?;
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    // Called once per edge: comparing allocates nothing.
    if is("1") || is("true") {
        return Some(true);
    }
    (is("0") || is("false")).then_some(false)
}
