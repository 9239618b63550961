//! A user's own graph in one `.npz` file.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `edge_index` | `[2, E]` | sources, then targets |
//! | `x` | `[N, F]` | features; or in CSR: `x_data`, `x_indices`, `x_indptr`, `x_shape` |
//! | `y` | `[N]` | optional: classes from 0; -1 or NaN where missing |
//! | `train_mask`, `val_mask`, `test_mask` | `[N]` or `[S, N]` | optional, all three or none: one split or S of them |
//!
//! `edge_attr`, `[E, D]` or `[E]`, and `edge_weight`, `[E]`, hold features of the edges, in the order of `edge_index`;
//! `edge_names` may name the columns of `edge_attr`.
//!
//! [`crate::writers::npz`] also writes what else the dataset has: `num_classes`, `node_names`, `node_ids`,
//! `feature_names`, `class_names`, `node_years`, `node_authors` (per node, names with `;` between them), `spurious`
//! (per edge, in the order of `edge_index`) and `graph_offsets`; with the last, `y` and the masks are per graph.

use std::path::Path;

use super::layout::Layout;
use super::{EdgePlace, csr};
use crate::edge_sorter::EdgeSorter;
use crate::labels::MAX_CLASSES;
use crate::npy::{Array, ArrayStream, Kind, NpzReader};
use crate::{DataError, Dataset, DatasetParts, EdgeFeatures, Features, Flags, Graph, Labels, Split};

pub(super) const LAYOUT: Layout = Layout {
    name: "npz",
    sign: "",
    find: |place| place.itself_if(place.is_archive()),
    read: |path, _, edges| read_to(path, edges),
};

/// Reads a dataset; its name is the stem of the file's.
///
/// Repeated edges are merged, and self-loops kept. Features come back in the form that computes faster, dense or
/// sparse.
pub fn read(path: &Path) -> Result<Dataset, DataError> {
    read_to(path, EdgePlace::Memory)
}

/// The same with a choice of where the edges go.
pub(crate) fn read_to(path: &Path, edges: EdgePlace<'_>) -> Result<Dataset, DataError> {
    let mut npz = NpzReader::open(path)?;
    let features = read_features(&mut npz)?;
    let num_nodes = features.num_rows();
    let graph_offsets = npz.optional("graph_offsets", |array| whole_numbers(array, "graph offset"))?;
    let num_entities = graph_offsets.as_ref().map_or(num_nodes, |offsets: &Vec<u32>| offsets.len().saturating_sub(1));
    let class_names = npz.optional("class_names", Array::to_text)?;
    let labels = read_labels(&mut npz, class_names.as_ref().map(Vec::len), num_entities)?;
    // Checked before the masks, whose error would blame them for the wrong number.
    if graph_offsets.is_none() && labels.len() != num_nodes {
        let problem = format!("{} labels for {num_nodes} rows of features; -1 stands for a missing one", labels.len());
        return Err(npz.error("y", problem));
    }
    let splits = read_splits(&mut npz, MASKS, num_entities)?;
    // Rows of edge features are in memory in any case, and follow their edges there.
    let has_features = npz.has("edge_attr") || npz.has("edge_weight");
    let (graph, spurious, edge_features) = match edges {
        EdgePlace::Disk(folder) if !has_features => {
            let (graph, spurious) = sort_graph(&mut npz, EdgeSorter::new(num_nodes, folder)?)?;
            (graph, spurious, None)
        }
        _ => read_graph(&mut npz, num_nodes)?,
    };

    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.splits = splits;
    parts.node_names = npz.optional("node_names", Array::to_text)?;
    parts.node_ids = npz.optional("node_ids", Array::to_text)?;
    parts.feature_names = npz.optional("feature_names", Array::to_text)?;
    parts.class_names = class_names;
    parts.node_years = npz.optional("node_years", |array| Ok(whole_numbers(array, "year")?.into()))?;
    parts.node_authors = npz.optional("node_authors", Array::to_text)?;
    parts.spurious = spurious;
    parts.edge_features = edge_features;
    parts.graph_offsets = graph_offsets;
    Dataset::new(parts).map_err(|e| e.in_file(path))
}

/// A plain list of integers that fit `T`.
fn whole_numbers<T: TryFrom<i64>>(array: &Array, what: &str) -> Result<Vec<T>, DataError> {
    if array.shape().len() != 1 {
        return Err(DataError::Invalid(format!("its shape is {:?}, but a plain list is needed", array.shape())));
    }
    let fit = |value: i64| T::try_from(value).map_err(|_| DataError::Invalid(format!("{value} is no {what}")));
    array.to_i64()?.into_iter().map(fit).collect()
}

fn read_features(npz: &mut NpzReader) -> Result<Features, DataError> {
    let features = match npz.array("x")? {
        Some(x) => dense(&x).map_err(|e| npz.error("x", e))?,
        None => {
            let Some(values) = npz.array("x_data")? else {
                return Err(DataError::malformed(
                    npz.path(),
                    "there are no features: give x [N, F], or x_data, x_indices, x_indptr and x_shape",
                ));
            };
            let shape = npz.converted("x_shape", |array| whole_numbers::<usize>(array, "size"))?;
            let &[num_rows, num_columns] = &shape[..] else {
                return Err(npz.error("x_shape", "two sizes are needed, of nodes and of features"));
            };
            let (offsets, columns) = (npz.required("x_indptr")?, npz.required("x_indices")?);
            csr::matrix([num_rows, num_columns], &offsets, &columns, &values)
                .and_then(Features::sparse)
                .map_err(|e| npz.error("x_*", e))?
        }
    };
    Ok(features.compacted())
}

pub(super) fn dense(x: &Array) -> Result<Features, DataError> {
    match *x.shape() {
        // Without columns, nothing in the file confirms the number of rows.
        [num_rows, num_columns @ 1..=usize::MAX] => Features::dense(num_rows, num_columns, x.to_f32()?),
        _ => Err(DataError::Invalid(format!(
            "its shape is {:?}, but one row per node and one column per feature are needed",
            x.shape()
        ))),
    }
}

fn read_labels(npz: &mut NpzReader, num_names: Option<usize>, num_entities: usize) -> Result<Labels, DataError> {
    let num_classes = npz.optional("num_classes", |array| {
        let count = match array.to_i64()?[..] {
            [count] => usize::try_from(count).ok().filter(|&count| count <= MAX_CLASSES),
            _ => None,
        };
        count.ok_or_else(|| DataError::Invalid(format!("one number from 0 to {MAX_CLASSES} is needed")))
    })?;
    if !npz.has("y") {
        return Labels::new(vec![None; num_entities], num_classes.or(num_names).unwrap_or(0));
    }
    npz.converted("y", |array| {
        let classes = signed_classes(array)?;
        match num_classes.or(num_names) {
            Some(count) => Labels::new(classes.iter().map(|&class| u32::try_from(class).ok()).collect(), count),
            None => Labels::from_signed(&classes),
        }
    })
}

/// Classes, negative where missing.
pub(super) fn signed_classes(array: &Array) -> Result<Vec<i64>, DataError> {
    if !matches!(array.shape(), [_] | [_, 1]) {
        return Err(DataError::Invalid(format!("its shape is {:?}, but one label per node is needed", array.shape())));
    }
    if array.element().kind != Kind::Float {
        let classes = array.to_i64()?;
        return match classes.iter().find(|&&class| class > MAX_CLASSES as i64) {
            Some(class) => Err(DataError::Invalid(format!("label {class} is out of range; number the classes from 0"))),
            None => Ok(classes),
        };
    }
    let class = |(node, value): (usize, f64)| match value {
        missing if missing.is_nan() || missing < 0.0 => Ok(-1),
        whole if whole.fract() == 0.0 && whole <= MAX_CLASSES as f64 => Ok(whole as i64),
        other => Err(DataError::Invalid(format!("label {other} of node {node} is not a class; number them from 0"))),
    };
    array.to_f64()?.into_iter().enumerate().map(class).collect()
}

const MASKS: [&str; 3] = ["train_mask", "val_mask", "test_mask"];

/// The splits that arrays of these names hold.
pub(super) fn read_splits(npz: &mut NpzReader, names: [&str; 3], num_entities: usize) -> Result<Vec<Split>, DataError> {
    let mut masks = Vec::new();
    for name in names {
        masks.extend(npz.optional(name, |array| mask_rows(array, num_entities))?);
    }
    let [train, val, test] = &masks[..] else {
        if masks.is_empty() {
            return Ok(Vec::new());
        }
        let [train, val, test] = names;
        let problem = format!("give all of {train}, {val} and {test}, or none (--split-ratio then makes splits)");
        return Err(DataError::malformed(npz.path(), problem));
    };
    if train.len() != val.len() || val.len() != test.len() {
        return Err(DataError::malformed(npz.path(), "the three masks have different numbers of splits"));
    }
    let rows =
        train.chunks_exact(num_entities).zip(val.chunks_exact(num_entities)).zip(test.chunks_exact(num_entities));
    Ok(rows.map(|((train, val), test)| Split::from_masks(train, val, test)).collect())
}

/// One row of `num_entities` per split.
fn mask_rows(array: &Array, num_entities: usize) -> Result<Vec<bool>, DataError> {
    match *array.shape() {
        _ if num_entities == 0 => Err(DataError::Invalid("there is nothing to split".into())),
        [length] if length == num_entities => array.to_bool(),
        [_, length] if length == num_entities => array.to_bool(),
        [length, splits] if length == num_entities => {
            Err(DataError::Invalid(format!("its shape is [{length}, {splits}]; transpose it, one row per split")))
        }
        _ => Err(DataError::Invalid(format!(
            "its shape is {:?}, but [{num_entities}] or [splits, {num_entities}] is needed",
            array.shape()
        ))),
    }
}

/// The number of edges in an array of this shape.
fn count_edges(shape: &[usize]) -> Result<usize, DataError> {
    match *shape {
        [2, edges] => Ok(edges),
        [edges, 2] => Err(DataError::Invalid(format!(
            "its shape is [{edges}, 2]; transpose it, sources in the first row and targets in the second"
        ))),
        _ => Err(DataError::Invalid(format!("its shape is {shape:?}, but [2, edges] is needed"))),
    }
}

pub(super) fn nodes(array: &Array) -> Result<Vec<u32>, DataError> {
    let node = |v: i64| u32::try_from(v).map_err(|_| DataError::Invalid(format!("{v} is not a node")));
    array.to_i64()?.into_iter().map(node).collect()
}

fn check_marks(shape: &[usize], edges: usize) -> Result<(), DataError> {
    if *shape == [edges] {
        return Ok(());
    }
    Err(DataError::Invalid(format!("its shape is {shape:?}, but there are {edges} edges")))
}

/// The graph, and for each edge id whether the edge is spurious and what its features are, where the file tells.
fn read_graph(
    npz: &mut NpzReader,
    num_nodes: usize,
) -> Result<(Graph, Option<Flags>, Option<EdgeFeatures>), DataError> {
    let nodes = npz.converted("edge_index", |array| count_edges(array.shape()).and_then(|_| nodes(array)))?;
    let (src, dst) = nodes.split_at(nodes.len() / 2);
    let (graph, origin) = Graph::from_edges_with_origin(num_nodes, src, dst).map_err(|e| npz.error("edge_index", e))?;
    let spurious = npz.optional("spurious", |array| {
        check_marks(array.shape(), src.len())?;
        let listed = array.to_bool()?;
        Ok(origin.iter().map(|&position| listed[position as usize]).collect())
    })?;
    let features = edge_features(npz, src.len(), &origin)?;
    Ok((graph, spurious, features))
}

/// The columns of `edge_attr` and then `edge_weight`, one row per edge id.
fn edge_features(npz: &mut NpzReader, edges: usize, origin: &[u32]) -> Result<Option<EdgeFeatures>, DataError> {
    let attributes = npz.optional("edge_attr", |array| match *array.shape() {
        [rows] if rows == edges => Ok((1, array.to_f32()?)),
        [rows, columns @ 1..=usize::MAX] if rows == edges => Ok((columns, array.to_f32()?)),
        _ => Err(DataError::Invalid(format!(
            "its shape is {:?}, but one row for each of the {edges} edges is needed",
            array.shape()
        ))),
    })?;
    let weights = npz.optional("edge_weight", |array| {
        check_marks(array.shape(), edges)?;
        array.to_f32()
    })?;
    let width = attributes.as_ref().map_or(0, |(width, _)| *width);
    let names = npz.optional("edge_names", Array::to_text)?;
    let mut names = names.unwrap_or_else(|| (0..width).map(|k| format!("edge_attr_{k}")).collect());
    if names.len() != width {
        return Err(npz.error("edge_names", format!("{} names for {width} columns of edge_attr", names.len())));
    }
    let of_row = |row: usize| {
        let attributes = attributes.iter().flat_map(move |(width, values)| &values[row * width..(row + 1) * width]);
        attributes.chain(weights.as_ref().map(|weights| &weights[row])).copied()
    };
    let values: Vec<f32> = origin.iter().flat_map(|&row| of_row(row as usize)).collect();
    names.extend(weights.as_ref().map(|_| "edge_weight".to_string()));
    if names.is_empty() {
        return Ok(None);
    }
    EdgeFeatures::new(names, values).map(Some).map_err(|e| npz.error("edge_attr", e))
}

/// Edges that are in memory at a time while a list is sorted on disk.
const PIECE: usize = 1 << 16;

/// The same graph with the edges read piece by piece and sorted on disk. Sources, targets and marks lie one after
/// another in the file, so it is read at up to three places at once.
fn sort_graph(npz: &mut NpzReader, mut sorter: EdgeSorter) -> Result<(Graph, Option<Flags>), DataError> {
    let path = npz.path().to_path_buf();
    let about = |name: &'static str| {
        let path = &path;
        move |e: DataError| DataError::malformed(path, format!("array '{name}': {e}"))
    };
    let [mut first, mut second, mut third] =
        [NpzReader::open(&path)?, NpzReader::open(&path)?, NpzReader::open(&path)?];
    let mut ends = Ends::new(first.stream("edge_index")?, second.stream("edge_index")?).map_err(about("edge_index"))?;
    let edges = ends.left;
    let mut marks = if third.has("spurious") { Some(third.stream("spurious")?) } else { None };
    if let Some(marks) = &marks {
        check_marks(marks.shape(), edges).map_err(about("spurious"))?;
    }
    while ends.left > 0 {
        let pairs = ends.next().map_err(about("edge_index"))?;
        let listed = marks.as_mut().map(|marks| marks.next(pairs.len())?.to_bool()).transpose();
        let listed = listed.map_err(about("spurious"))?.unwrap_or_default();
        for (at, (src, dst)) in pairs.into_iter().enumerate() {
            let mark = listed.get(at).is_some_and(|mark| *mark);
            sorter.push(src, dst, mark).map_err(|e| match e {
                DataError::Invalid(_) => about("edge_index")(e),
                other => other,
            })?;
        }
    }
    ends.targets.finish().map_err(about("edge_index"))?;
    let has_marks = marks.is_some();
    marks.map_or(Ok(()), ArrayStream::finish).map_err(about("spurious"))?;
    let (graph, flags) = sorter.finish()?;
    Ok((graph, has_marks.then_some(flags)))
}

/// Both ends of the edges that are left to read.
struct Ends<'a> {
    sources: ArrayStream<'a>,
    /// The same array from the targets on. If sources and targets alternate, both are read from here.
    targets: ArrayStream<'a>,
    left: usize,
}

impl<'a> Ends<'a> {
    fn new(sources: ArrayStream<'a>, mut targets: ArrayStream<'a>) -> Result<Self, DataError> {
        let left = count_edges(sources.shape())?;
        if !targets.is_column_major() {
            targets.skip(left)?;
        }
        Ok(Self { sources, targets, left })
    }

    fn next(&mut self) -> Result<Vec<(u32, u32)>, DataError> {
        let count = self.left.min(PIECE);
        self.left -= count;
        if self.targets.is_column_major() {
            let both = nodes(&self.targets.next(2 * count)?)?;
            return Ok(both.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect());
        }
        let sources = nodes(&self.sources.next(count)?)?;
        Ok(sources.into_iter().zip(nodes(&self.targets.next(count)?)?).collect())
    }
}
