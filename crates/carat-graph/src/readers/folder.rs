//! A user's own graph: a folder with two tables, and an optional third that orders the classes.
//!
//! | file | columns |
//! |---|---|
//! | `nodes` | `id` (text or number), `label`; optional `name`, `year`, `authors`, `split`; all others are features |
//! | `edges` | `src`, `dst`; optional `spurious`; all others are features of the edges (`edge_columns.rs`) |
//! | `classes`, optional | `label`: every class, in the order of the class numbers |
//!
//! `authors` are names with `;` between them. Instead of `split` there may be `split_0`, `split_1` and so on.
//!
//! Each is a `.csv`, a `.csv.gz` or a `.parquet`. Messages flow from `src` to `dst`. A label that is empty or -1 is
//! missing. Labels that are all whole numbers below a million are class numbers; otherwise the classes are numbered in
//! the order of their names, unless `classes` gives another. Self-loops are kept; of repeated edges the first counts.

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
use crate::{DataError, Dataset, DatasetParts, EdgeFeatures, EdgeList, Flags, Graph};
use edge_columns::EdgeColumns;
use ids::Ids;
use labels::Classes;
use nodes::Nodes;

pub(crate) use labels::is_missing as is_missing_label;

/// The file name endings of a table.
pub(crate) const FORMATS: [TableFormat; 3] = [TableFormat::Csv, TableFormat::CsvGz, TableFormat::Parquet];

pub(super) const LAYOUT: Layout = Layout {
    name: "tables",
    sign: "edges.csv and nodes.csv (or .parquet)",
    find: |place| place.itself_if(place.has_file("edges.csv") || place.has_file("edges.parquet")),
    read: read_to,
};

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
    let nodes = Nodes::read(&nodes_path, classes)?;
    let columns = EdgeColumns::of(&edges_path, &["src", "dst", "spurious"])?;
    let (graph, spurious, edge_features) = read_edges(&edges_path, &nodes.ids, columns, place)?;

    let mut parts = DatasetParts::new(name, graph, nodes.features, nodes.labels);
    parts.splits = nodes.splits;
    parts.node_names = nodes.names;
    parts.class_names = nodes.class_names;
    parts.node_years = nodes.years.map(Into::into);
    parts.node_authors = nodes.authors;
    parts.spurious = spurious;
    parts.edge_features = edge_features;
    Dataset::new(parts).map_err(|e| e.in_file(&nodes_path))
}

/// The one file of this stem, if there is any.
fn find(folder: &Path, stem: &str) -> Result<Option<PathBuf>, DataError> {
    let mut found =
        FORMATS.iter().map(|format| format!("{stem}{}", format.ending())).filter(|n| folder.join(n).is_file());
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
        DataError::malformed(folder, format!("there is no {stem}.csv, {stem}.csv.gz or {stem}.parquet in the folder"))
    })
}

fn read_edges(
    path: &Path,
    ids: &Ids,
    mut columns: Option<EdgeColumns>,
    place: EdgePlace<'_>,
) -> Result<(Graph, Option<Flags>, Option<EdgeFeatures>), DataError> {
    let further = columns.as_ref().map_or(&[][..], |columns| &columns.places);
    let file = EdgeFile::open(path, ids, further)?;
    let has_spurious = file.has_spurious;
    match place {
        EdgePlace::Disk(folder) if columns.is_none() => {
            let mut sorter = EdgeSorter::new(ids.len(), folder)?;
            file.for_each(|src, dst, mark, _| sorter.push(src, dst, mark))?;
            let (graph, flags) = sorter.finish()?;
            Ok((graph, has_spurious.then_some(flags), None))
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
            let marks = has_spurious.then(|| origin.iter().map(|&edge| marks[edge as usize]).collect());
            let features = columns.map(|columns| columns.finish(&origin)).transpose().map_err(|e| e.in_file(path))?;
            Ok((graph, marks, features))
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
