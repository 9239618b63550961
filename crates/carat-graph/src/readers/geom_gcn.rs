//! Geom-GCN's text files, one folder per graph, and the split masks beside them.
//!
//! `NAME/out1_graph_edges.txt` has a heading and then `source<TAB>target` per line; `NAME/out1_node_feature_label.txt`
//! a heading and then `node<TAB>feature,feature,...<TAB>label`. Both may be gzip-compressed (`.txt.gz`).
//! `splits/NAME_split_0.6_0.2_K.npz` holds the masks of split K.

use std::path::{Path, PathBuf};

use super::layout::Layout;
use crate::files::TextFile;
use crate::npy::{Array, NpzReader};
use crate::{CsrMatrix, DataError, Dataset, DatasetParts, EdgeList, Features, Graph, Labels, Split};

pub(super) const LAYOUT: Layout = Layout {
    name: "geom-gcn",
    sign: "Geom-GCN's out1_*.txt",
    find: |place| place.itself_if(place.has_file("out1_graph_edges.txt")),
    read: |path, name, _| read_beside_splits(path, name),
};

/// The highest split number looked for; the published sets have ten splits.
const MAX_SPLITS: usize = 100;

/// Reads graph `name` from the folder that holds `name/` and `splits/`. Edges are directed as listed; self-loops are
/// dropped.
pub fn read(folder: &Path, name: &str) -> Result<Dataset, DataError> {
    let nodes_path = folder.join(name).join("out1_node_feature_label.txt");
    let (features, labels) = read_nodes(&nodes_path)?;
    let num_nodes = features.num_rows();
    let graph = read_edges(&folder.join(name).join("out1_graph_edges.txt"), num_nodes)?;
    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.splits = read_splits(&folder.join("splits"), name, num_nodes)?;
    Dataset::new(parts).map_err(|e| e.in_file(folder.join(name)))
}

/// Reads the graph in a folder of its own, with `splits/` beside it.
fn read_beside_splits(path: &Path, name: &str) -> Result<Dataset, DataError> {
    let absolute = std::fs::canonicalize(path).map_err(|e| DataError::read(path, e))?;
    match absolute.parent() {
        Some(parent) => read(parent, name),
        None => Err(DataError::malformed(path, "a Geom-GCN dataset must be a folder of its own")),
    }
}

/// One line of the node file: its node, where its features lie in the common list, and its label.
struct NodeLine {
    node: usize,
    start: usize,
    end: usize,
    label: i64,
}

fn read_nodes(path: &Path) -> Result<(Features, Labels), DataError> {
    let mut file = TextFile::open(path)?;
    skip_heading(&mut file)?;
    let mut lines: Vec<NodeLine> = Vec::new();
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let mut num_columns = None;
    loop {
        let start = columns.len();
        let Some(line) = file.next_line()? else { break };
        if line.is_empty() {
            continue;
        }
        let parsed = node_line(line, &mut columns, &mut values);
        let (node, label, width) = parsed.map_err(|problem| file.error(problem))?;
        let expected = *num_columns.get_or_insert(width);
        if width != expected {
            return Err(file.error(format!("{width} features, but the first node has {expected}")));
        }
        lines.push(NodeLine { node, start, end: columns.len(), label });
    }
    // Nodes may come in any order, but must be numbered 0, 1, 2 and so on.
    let mut line_of = vec![None; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        match line_of.get_mut(line.node) {
            Some(slot @ None) => *slot = Some(at),
            found => {
                let problem = if found.is_some() { "comes twice" } else { "is beyond the number of lines" };
                let problem = format!("node {} {problem}; nodes must be numbered from 0 without gaps", line.node);
                return Err(DataError::malformed(file.path(), problem));
            }
        }
    }
    let mut offsets = vec![0];
    let (mut ordered_columns, mut ordered_values) =
        (Vec::with_capacity(columns.len()), Vec::with_capacity(values.len()));
    let mut classes = Vec::with_capacity(lines.len());
    for line in line_of.iter().flatten().map(|&at| &lines[at]) {
        ordered_columns.extend_from_slice(&columns[line.start..line.end]);
        ordered_values.extend_from_slice(&values[line.start..line.end]);
        offsets.push(ordered_columns.len());
        classes.push(line.label);
    }
    let in_file = |e: DataError| e.in_file(file.path());
    let matrix = CsrMatrix::new(num_columns.unwrap_or(0), offsets, ordered_columns, ordered_values).map_err(in_file)?;
    let features = Features::sparse(matrix).map_err(in_file)?.compacted();
    Ok((features, Labels::from_signed(&classes).map_err(in_file)?))
}

fn skip_heading(file: &mut TextFile) -> Result<(), DataError> {
    match file.next_line()? {
        Some(line) if line.starts_with("node_id") => Ok(()),
        Some(_) => Err(file.error("the first line is not Geom-GCN's heading, which starts with 'node_id'")),
        None => Err(DataError::malformed(file.path(), "the file is empty")),
    }
}

/// Appends a line's features that are not zero; gives its node, its label and the number of its features.
fn node_line(line: &str, columns: &mut Vec<u32>, values: &mut Vec<f32>) -> Result<(usize, i64, usize), String> {
    let mut fields = line.split('\t');
    let (Some(node), Some(features), Some(label), None) = (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err("three fields separated by tabs are needed: node, features, label".into());
    };
    let node = node.trim().parse().map_err(|_| format!("'{node}' is not the number of a node"))?;
    let label = label.trim().parse().map_err(|_| format!("'{label}' is not the number of a class"))?;
    let mut width = 0;
    for (column, text) in features.split(',').enumerate() {
        width = column + 1;
        // Nearly all features are 0 or 1.
        let value = match text {
            "0" => continue,
            "1" => 1.0,
            other => other.trim().parse().map_err(|_| format!("feature {column} is '{other}', which is no number"))?,
        };
        if value != 0.0 {
            columns.push(column as u32);
            values.push(value);
        }
    }
    Ok((node, label, width))
}

fn read_edges(path: &Path, num_nodes: usize) -> Result<Graph, DataError> {
    let mut file = TextFile::open(path)?;
    skip_heading(&mut file)?;
    let mut edges = EdgeList::default();
    while let Some(line) = file.next_line()? {
        if line.is_empty() {
            continue;
        }
        let mut ends = line.split('\t').map(|end| end.trim().parse::<u32>().ok());
        let (Some(Some(source)), Some(Some(target)), None) = (ends.next(), ends.next(), ends.next()) else {
            return Err(file.error("two nodes separated by a tab are needed"));
        };
        if source.max(target) as usize >= num_nodes {
            return Err(file.error(format!("edge {source} -> {target} leaves the {num_nodes} nodes of the node file")));
        }
        edges.push(source, target);
    }
    let edges = edges.without_self_loops();
    Graph::from_edges(num_nodes, &edges.src, &edges.dst).map_err(|e| e.in_file(file.path()))
}

/// All splits. A gap in their numbers is an error: the splits after it would change their numbers.
fn read_splits(folder: &Path, name: &str, num_nodes: usize) -> Result<Vec<Split>, DataError> {
    let paths: Vec<PathBuf> =
        (0..MAX_SPLITS).map(|number| folder.join(format!("{name}_split_0.6_0.2_{number}.npz"))).collect();
    let count = paths.iter().rposition(|path| path.is_file()).map_or(0, |last| last + 1);
    paths[..count].iter().map(|path| read_split(path, num_nodes)).collect()
}

fn read_split(path: &Path, num_nodes: usize) -> Result<Split, DataError> {
    let mut npz = NpzReader::open(path)?;
    let mut mask = |name: &str| {
        npz.converted(name, |array: &Array| match *array.shape() {
            [length] if length == num_nodes => array.to_bool(),
            _ => Err(DataError::Invalid(format!("its shape is {:?}, but there are {num_nodes} nodes", array.shape()))),
        })
    };
    Ok(Split::from_masks(&mask("train_mask")?, &mask("val_mask")?, &mask("test_mask")?))
}
