//! TUDataset's text layout: a set of graphs as one disjoint union.
//!
//! `*_A.txt` holds pairs of nodes counted from 1, `*_graph_indicator.txt` the graph of each node counted from 1. An
//! edge goes from the first node to the second. Self-loops and repeated edges are dropped, as PyG does. Features are
//! the node labels as one-hot columns in ascending order, followed by the node attributes; graphs that come with
//! neither get one constant column. `*_edge_labels.txt` and `*_edge_attributes.txt` become features of the edges in the
//! same way; of repeated edges the first counts. The classes are the distinct graph labels in ascending order.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::files::plain_or_gz;
use crate::readers::layout::Layout;
use crate::readers::numbers::{NumberFile, read_column, read_matrix};
use crate::{CsrMatrix, DataError, Dataset, DatasetParts, EdgeFeatures, EdgeList, Features, Graph, Labels};

pub(super) const LAYOUT: Layout = Layout {
    name: "tudataset",
    sign: "TUDataset's *_A.txt",
    find: |place| place.files_between("", "_A.txt"),
    read: |path, name, _| read(path, name),
};

/// The most one-hot columns. With more, the "labels" are probably measurements.
const MAX_NODE_LABELS: usize = 1_000_000;

/// The same for edges, whose columns are stored one by one.
const MAX_EDGE_LABELS: usize = 1_000;

/// The most numbers about edges, 4 GiB of them.
const MOST_EDGE_VALUES: usize = 1 << 30;

/// Reads the folder of one set, such as `tudataset/MUTAG`; `name` becomes the dataset's name.
pub fn read(folder: &Path, name: &str) -> Result<Dataset, DataError> {
    let prefix = find_prefix(folder)?;
    let file = |part: &str| folder.join(format!("{prefix}_{part}.txt"));

    let label_path = file("graph_labels");
    let (labels, class_names) = read_graph_labels(&label_path)?;
    let order = NodeOrder::read(&file("graph_indicator"), labels.len())?;
    let (edges, lines) = read_edges(&file("A"), &order)?;
    let (graph, origin) =
        Graph::from_edges_with_origin(order.len(), &edges.src, &edges.dst).map_err(|e| e.in_file(file("A")))?;
    let origin: Vec<usize> = origin.iter().map(|&edge| lines.kept[edge as usize] as usize).collect();
    let edge_features = read_edge_features(&file("edge_labels"), &file("edge_attributes"), lines.count, &origin)?;
    let features = read_features(&file("node_labels"), &file("node_attributes"), &order)?;

    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.class_names = Some(class_names);
    parts.edge_features = edge_features;
    parts.graph_offsets = Some(order.offsets);
    Dataset::new(parts).map_err(|e| e.in_file(folder))
}

/// The common start of all file names; the folder may have another name.
fn find_prefix(folder: &Path) -> Result<String, DataError> {
    let entries = std::fs::read_dir(folder).map_err(|e| DataError::read(folder, e))?;
    let mut prefixes = Vec::new();
    for entry in entries {
        let name = entry.map_err(|e| DataError::read(folder, e))?.file_name().to_string_lossy().into_owned();
        prefixes.extend(name.strip_suffix(".gz").unwrap_or(&name).strip_suffix("_A.txt").map(str::to_string));
    }
    prefixes.sort();
    prefixes.dedup();
    match &prefixes[..] {
        [prefix] => Ok(prefix.clone()),
        [] => Err(DataError::malformed(folder, "there is no file whose name ends in _A.txt, the list of edges")),
        [a, b, ..] => Err(DataError::malformed(
            folder,
            format!("there are both {a}_A.txt and {b}_A.txt; keep each set in its own folder"),
        )),
    }
}

/// Distinct values in ascending order, and the position of each value among them.
fn ranked(values: &[i64]) -> (Vec<i64>, Vec<u32>) {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let ranks = values.iter().map(|value| distinct.partition_point(|d| d < value) as u32).collect();
    (distinct, ranks)
}

fn read_graph_labels(path: &Path) -> Result<(Labels, Vec<String>), DataError> {
    let (distinct, classes) = ranked(&read_column::<i64>(path)?);
    let labels = Labels::new(classes.into_iter().map(Some).collect(), distinct.len()).map_err(|e| e.in_file(path))?;
    Ok((labels, distinct.iter().map(i64::to_string).collect()))
}

/// The order of nodes in which the nodes of every graph are consecutive.
struct NodeOrder {
    /// New number of each node, by its number in the files (here from 0).
    place: Vec<u32>,
    /// Graph g has the nodes `offsets[g]..offsets[g + 1]`, by new number.
    offsets: Vec<u32>,
    /// Graph of each node, by its number in the files.
    graph: Vec<u32>,
}

impl NodeOrder {
    fn read(path: &Path, num_graphs: usize) -> Result<Self, DataError> {
        let mut file = NumberFile::open(path)?;
        let (mut graph, mut scratch) = (Vec::new(), Vec::new());
        let mut offsets = vec![0u32; num_graphs + 1];
        while let Some([number]) = file.next_cells::<u32, 1>(&mut scratch)? {
            if number == 0 || number as usize > num_graphs {
                return Err(file.error(format!("there is no graph {number}; the {num_graphs} graphs count from 1")));
            }
            if graph.len() == u32::MAX as usize {
                return Err(file.error("there are more nodes than a graph can have"));
            }
            offsets[number as usize] += 1;
            graph.push(number - 1);
        }
        for g in 0..num_graphs {
            offsets[g + 1] += offsets[g];
        }
        let mut next = offsets.clone();
        let place = graph
            .iter()
            .map(|&g| {
                let slot = &mut next[g as usize];
                *slot += 1;
                *slot - 1
            })
            .collect();
        Ok(Self { place, offsets, graph })
    }

    fn len(&self) -> usize {
        self.place.len()
    }

    /// Refuses a file that does not have one row per node.
    fn check_rows(&self, path: &Path, rows: usize) -> Result<(), DataError> {
        if rows != self.len() {
            return Err(DataError::malformed(path, format!("the file has {rows} rows for {} nodes", self.len())));
        }
        Ok(())
    }
}

/// Which lines of the list of edges became edges.
struct Lines {
    count: usize,
    kept: Vec<u32>,
}

fn read_edges(path: &Path, order: &NodeOrder) -> Result<(EdgeList, Lines), DataError> {
    let mut file = NumberFile::open(path)?;
    let (mut edges, mut scratch) = (EdgeList::default(), Vec::new());
    let mut lines = Lines { count: 0, kept: Vec::new() };
    while let Some(ends) = file.next_cells::<u32, 2>(&mut scratch)? {
        if let Some(&foreign) = ends.iter().find(|&&node| node == 0 || node as usize > order.len()) {
            return Err(file.error(format!("there is no node {foreign}; the {} nodes count from 1", order.len())));
        }
        let [src, dst] = ends.map(|node| node as usize - 1);
        if order.graph[src] != order.graph[dst] {
            let [a, b] = [src, dst].map(|node| order.graph[node] + 1);
            return Err(file.error(format!("the edge joins a node of graph {a} to one of graph {b}")));
        }
        if src != dst {
            edges.push(order.place[src], order.place[dst]);
            lines.kept.push(lines.count as u32);
        }
        lines.count += 1;
    }
    Ok((edges, lines))
}

/// Edge labels as one-hot columns and then edge attributes, for edges from these lines.
fn read_edge_features(
    label_path: &Path,
    attribute_path: &Path,
    lines: usize,
    origin: &[usize],
) -> Result<Option<EdgeFeatures>, DataError> {
    let check = |path: &Path, rows: usize| match rows == lines {
        true => Ok(()),
        false => Err(DataError::malformed(path, format!("the file has {rows} rows for {lines} edges"))),
    };
    // Every column: its name, and its value for a line.
    type Value = Box<dyn Fn(usize) -> f32>;
    let mut columns: Vec<(String, Value)> = Vec::new();
    if let Some(path) = plain_or_gz(label_path) {
        let (width, values) = read_matrix::<i64>(&path)?;
        check(&path, values.len() / width)?;
        for k in 0..width {
            let of_line: Vec<i64> = values.iter().skip(k).step_by(width).copied().collect();
            let (distinct, ranks) = ranked(&of_line);
            if distinct.len() > MAX_EDGE_LABELS {
                return Err(DataError::malformed(&path, format!("there are more than {MAX_EDGE_LABELS} edge labels")));
            }
            let ranks: Rc<[u32]> = ranks.into();
            columns.extend(distinct.into_iter().enumerate().map(|(rank, label)| {
                let ranks = ranks.clone();
                let value: Value = Box::new(move |line| f32::from(u8::from(ranks[line] == rank as u32)));
                (if width == 1 { format!("label={label}") } else { format!("label_{k}={label}") }, value)
            }));
        }
    }
    if let Some(path) = plain_or_gz(attribute_path) {
        let (width, values) = read_matrix::<f32>(&path)?;
        check(&path, values.len() / width)?;
        let values: Rc<[f32]> = values.into();
        columns.extend((0..width).map(|k| {
            let values = values.clone();
            let value: Value = Box::new(move |line| values[line * width + k]);
            (format!("attribute_{k}"), value)
        }));
    }
    if columns.is_empty() {
        return Ok(None);
    }
    if columns.len().saturating_mul(origin.len()) > MOST_EDGE_VALUES {
        let problem = format!("{} edges with {} features each are too many", origin.len(), columns.len());
        return Err(DataError::malformed(label_path, problem));
    }
    let values: Vec<f32> = origin.iter().flat_map(|&line| columns.iter().map(move |(_, value)| value(line))).collect();
    let names = columns.into_iter().map(|(name, _)| name).collect();
    EdgeFeatures::new(names, values).map(Some).map_err(|e| e.in_file(attribute_path))
}

fn read_features(label_path: &Path, attribute_path: &Path, order: &NodeOrder) -> Result<Features, DataError> {
    let num_nodes = order.len();
    let mut num_columns = 0;
    // Entries (column, value) of each node by its new number, as parallel blocks that are joined at the end.
    let mut one_hot: Vec<Vec<u32>> = Vec::new();
    if let Some(path) = plain_or_gz(label_path) {
        let (width, values) = read_matrix::<i64>(&path)?;
        order.check_rows(&path, values.len() / width)?;
        for column in 0..width {
            let of_node: Vec<i64> = values.iter().skip(column).step_by(width).copied().collect();
            let (distinct, ranks) = ranked(&of_node);
            one_hot.push(ranks.into_iter().map(|rank| num_columns + rank).collect());
            num_columns += distinct.len() as u32;
            if num_columns as usize > MAX_NODE_LABELS {
                return Err(DataError::malformed(&path, format!("there are more than {MAX_NODE_LABELS} node labels")));
            }
        }
    }
    let attributes: Option<(PathBuf, usize, Vec<f32>)> = match plain_or_gz(attribute_path) {
        None => None,
        Some(path) => {
            let (width, values) = read_matrix::<f32>(&path)?;
            order.check_rows(&path, values.len() / width)?;
            Some((path, width, values))
        }
    };
    if one_hot.is_empty() && attributes.is_none() {
        return Features::dense(num_nodes, 1, vec![1.0; num_nodes]);
    }

    let mut node_at = vec![0usize; num_nodes];
    for (node, &place) in order.place.iter().enumerate() {
        node_at[place as usize] = node;
    }
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for node in node_at {
        for labels in &one_hot {
            columns.push(labels[node]);
            values.push(1.0);
        }
        if let Some((_, width, all)) = &attributes {
            for (column, &value) in all[node * width..(node + 1) * width].iter().enumerate() {
                if value != 0.0 {
                    columns.push(num_columns + column as u32);
                    values.push(value);
                }
            }
        }
        offsets.push(columns.len());
    }
    let total = num_columns as usize + attributes.as_ref().map_or(0, |(_, width, _)| *width);
    let matrix = CsrMatrix::new(total, offsets, columns, values)?;
    Ok(Features::sparse(matrix).map_err(|e| e.in_file(attribute_path))?.compacted())
}
