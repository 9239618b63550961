//! OGB's layout for node prediction: `raw/*.csv.gz`, `split/<name>/*.csv.gz` and, where there, `mapping/*.csv.gz`.
//!
//! `edge` lists citing and cited paper. Messages flow from the cited paper to the citing one, so every edge is
//! reversed. Self-loops and repeated edges are dropped.

use std::path::{Path, PathBuf};

use crate::labels::MAX_CLASSES;
use crate::readers::layout::Layout;
use crate::readers::numbers::{NumberFile, read_column, read_matrix};
use crate::readers::rows::RowFile;
use crate::{DataError, Dataset, DatasetParts, EdgeList, Features, Graph, Labels, Split};

pub(super) const LAYOUT: Layout = Layout {
    name: "ogb",
    sign: "OGB's raw/edge.csv.gz",
    find: |place| place.itself_if(place.has_file("raw/edge.csv")),
    read: |path, name, _| read(path, name),
};

/// Reads the folder that holds `raw`; `name` becomes the dataset's name.
pub fn read(folder: &Path, name: &str) -> Result<Dataset, DataError> {
    let raw = folder.join("raw");
    let feature_path = raw.join("node-feat.csv");
    let (num_columns, values) = read_matrix::<f32>(&feature_path)?;
    let num_nodes = values.len() / num_columns.max(1);
    check_count(&raw.join("num-node-list.csv"), num_nodes, "rows of features")?;
    let features = Features::dense(num_nodes, num_columns, values).map_err(|e| e.in_file(&feature_path))?.compacted();

    let edges = read_edges(&raw, num_nodes)?;
    let graph = Graph::from_edges(num_nodes, &edges.src, &edges.dst).map_err(|e| e.in_file(raw.join("edge.csv")))?;

    let mapping = folder.join("mapping");
    let class_names = mapping_file(&mapping, "labelidx2")?.map(|path| read_mapping(&path, MAX_CLASSES)).transpose()?;
    let label_path = raw.join("node-label.csv");
    let labels = read_labels(&label_path, class_names.as_ref().map(Vec::len))?;

    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.class_names = class_names;
    parts.splits = read_split(&folder.join("split"), num_nodes)?.into_iter().collect();
    parts.node_names = mapping_file(&mapping, "nodeidx2")?.map(|path| read_mapping(&path, num_nodes)).transpose()?;
    let year_path = raw.join("node_year.csv");
    if crate::files::plain_or_gz(&year_path).is_some() {
        parts.node_years = Some(read_column::<i32>(&year_path)?.into());
    }
    Dataset::new(parts).map_err(|e| e.in_file(folder))
}

/// Compares a count with the one that a `num-...-list` file announces.
fn check_count(path: &Path, found: usize, what: &str) -> Result<(), DataError> {
    let announced = read_column::<i64>(path)?;
    match announced[..] {
        [count] if usize::try_from(count) == Ok(found) => Ok(()),
        [count] => Err(DataError::malformed(path, format!("the file announces {count}, but there are {found} {what}"))),
        _ => Err(DataError::malformed(
            path,
            format!("the file has {} lines; only datasets of one graph are read from this layout", announced.len()),
        )),
    }
}

fn read_edges(raw: &Path, num_nodes: usize) -> Result<EdgeList, DataError> {
    let mut file = NumberFile::open(&raw.join("edge.csv"))?;
    let (mut edges, mut scratch) = (EdgeList::default(), Vec::new());
    while let Some([citing, cited]) = file.next_cells::<u32, 2>(&mut scratch)? {
        let largest = citing.max(cited);
        if largest as usize >= num_nodes {
            return Err(file.error(format!("there is no node {largest}; the {num_nodes} nodes count from 0")));
        }
        edges.push(cited, citing);
    }
    check_count(&raw.join("num-edge-list.csv"), edges.len(), "edges")?;
    Ok(edges.without_self_loops())
}

/// One label per node, negative or `nan` where it is missing; at least as many classes as have names.
fn read_labels(path: &Path, named: Option<usize>) -> Result<Labels, DataError> {
    let mut file = NumberFile::open(path)?;
    let (mut labels, mut scratch) = (Vec::new(), Vec::new());
    let mut num_classes = named.unwrap_or(0);
    let limit = named.unwrap_or(MAX_CLASSES);
    // Labels are read as f64 because OGB writes missing ones as nan; f64 holds every class exactly.
    while let Some([label]) = file.next_cells::<f64, 1>(&mut scratch)? {
        let class = if label.is_nan() || label < 0.0 {
            None
        } else if label.fract() == 0.0 && label < limit as f64 {
            Some(label as u32)
        } else {
            return Err(
                file.error(format!("label {label} is not one of the classes, which count from 0 to below {limit}"))
            );
        };
        num_classes = num_classes.max(class.map_or(0, |class| class as usize + 1));
        labels.push(class);
    }
    Labels::new(labels, num_classes).map_err(|e| e.in_file(path))
}

/// The only folder in `split`, with its three lists of nodes; no split where there is no such folder.
fn read_split(folder: &Path, num_nodes: usize) -> Result<Option<Split>, DataError> {
    let mut folders: Vec<PathBuf> = list(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    let Some(only) = folders.pop() else {
        return Ok(None);
    };
    if let Some(other) = folders.pop() {
        let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
        return Err(DataError::malformed(
            folder,
            format!("there are several splits, such as {} and {}; keep one of them", name(&other), name(&only)),
        ));
    }
    let part = |name: &str| -> Result<Vec<u32>, DataError> {
        let mut file = NumberFile::open(&only.join(name))?;
        let (mut nodes, mut scratch) = (Vec::new(), Vec::new());
        while let Some([node]) = file.next_cells::<u32, 1>(&mut scratch)? {
            if node as usize >= num_nodes {
                return Err(file.error(format!("there is no node {node}; the {num_nodes} nodes count from 0")));
            }
            nodes.push(node);
        }
        nodes.sort_unstable();
        Ok(nodes)
    };
    Ok(Some(Split { train: part("train.csv")?, val: part("valid.csv")?, test: part("test.csv")? }))
}

/// The file in `mapping` whose name starts so, if there is one.
fn mapping_file(folder: &Path, start: &str) -> Result<Option<PathBuf>, DataError> {
    let matches = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(start) && (name.ends_with(".csv") || name.ends_with(".csv.gz"))
    };
    Ok(list(folder)?.into_iter().find(matches))
}

/// What a folder holds, in the order of the names; nothing where there is no such folder.
fn list(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |e| DataError::read(folder, e);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// A table from number to name. Its numbers count from 0 and are below `limit`. Only the first two columns are read.
fn read_mapping(path: &Path, limit: usize) -> Result<Vec<String>, DataError> {
    let file = RowFile::open(path)?;
    if file.columns().len() < 2 {
        return Err(DataError::malformed(path, "the table has one column where a number and a name belong"));
    }
    let mut names: Vec<Option<String>> = Vec::new();
    file.for_each(&[0, 1], |row| {
        let number = row.cell(0).text().and_then(|text| text.parse().ok()).filter(|&number: &usize| number < limit);
        let number =
            number.ok_or_else(|| row.error(format!("the number must be from 0 to {}", limit.saturating_sub(1))))?;
        if names.len() <= number {
            names.resize(number + 1, None);
        }
        match names[number].replace(row.cell(1).text().unwrap_or_default().into_owned()) {
            None => Ok(()),
            Some(_) => Err(row.error(format!("{number} is named twice"))),
        }
    })?;
    let missing = |number| DataError::malformed(path, format!("{number} has no name"));
    names.into_iter().enumerate().map(|(number, name)| name.ok_or_else(|| missing(number))).collect()
}
