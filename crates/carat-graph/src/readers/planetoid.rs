//! Planetoid's pickles: `ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`.
//!
//! Nodes are numbered as in `graph`. The rows of `allx` and `ally` are the first nodes; row k of `tx` and `ty` belongs
//! to the node on line k of `test.index`. Where those indices have gaps (CiteSeer), the nodes in the gaps have no
//! features, no label and no role. The public split: the nodes of `y` train, the next 500 validate, `test.index` tests.

use std::path::{Path, PathBuf};

use super::csr;
use super::layout::Layout;
use crate::files::TextFile;
use crate::npy::Array;
use crate::pickle::Pickle;
use crate::{CsrMatrix, DataError, Dataset, DatasetParts, EdgeList, Features, Graph, Labels, Split};

pub(super) const LAYOUT: Layout = Layout {
    name: "planetoid",
    sign: "Planetoid's ind.*",
    find: |place| place.files_between("ind.", ".graph"),
    read: |path, name, _| read(path, name),
};

/// Size of the public validation split, which no file tells.
const NUM_VALIDATION: usize = 500;

/// Reads `ind.NAME.*` from a folder. Edges are made symmetric; self-loops are dropped; features stay as they are.
pub fn read(folder: &Path, name: &str) -> Result<Dataset, DataError> {
    let file = |part: &str| folder.join(format!("ind.{name}.{part}"));
    let features = read_features(&file("allx"))?;
    let test_features = read_features(&file("tx"))?;
    let labels = read_labels(&file("ally"))?;
    let test_labels = read_labels(&file("ty"))?;
    let num_train = read_labels(&file("y"))?.classes.len();
    let train_features = read_features(&file("x"))?;
    let index_path = file("test.index");
    let test = read_index(&index_path)?;

    let num_first = features.num_rows();
    let num_columns = features.num_columns();
    let same = |part: &str, what: &str, found: usize, expected: usize| {
        if found == expected {
            return Ok(());
        }
        Err(DataError::malformed(file(part), format!("{found} {what}, where the other files have {expected}")))
    };
    same("ally", "labels", labels.classes.len(), num_first)?;
    same("ty", "labels", test_labels.classes.len(), test_features.num_rows())?;
    same("x", "rows", train_features.num_rows(), num_train)?;
    same("tx", "columns", test_features.num_columns(), num_columns)?;
    same("ty", "classes", test_labels.num_classes, labels.num_classes)?;
    same("test.index", "lines", test.len(), test_features.num_rows())?;
    if num_train > num_first {
        return Err(DataError::malformed(file("y"), format!("{num_train} training nodes, but allx has {num_first}")));
    }

    let row_of = place_rows(&index_path, num_first, &test)?;
    let num_nodes = row_of.len();
    let rows = |row: usize| match row.checked_sub(num_first) {
        None => features.row(row),
        Some(row) => test_features.row(row),
    };
    let class = |row: usize| match row.checked_sub(num_first) {
        None => labels.classes[row],
        Some(row) => test_labels.classes[row],
    };
    let mut offsets = Vec::with_capacity(num_nodes + 1);
    offsets.push(0);
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in row_of.iter().copied() {
        if let Some((row_columns, row_values)) = row.map(rows) {
            columns.extend_from_slice(row_columns);
            values.extend_from_slice(row_values);
        }
        offsets.push(columns.len());
    }
    let classes = row_of.iter().map(|row| row.and_then(class)).collect();
    let matrix = CsrMatrix::new(num_columns, offsets, columns, values)?;
    let features = Features::sparse(matrix).map_err(|e| e.in_file(file("allx")))?.compacted();

    let mut parts = DatasetParts::new(
        name,
        read_graph(&file("graph"), num_nodes)?,
        features,
        Labels::new(classes, labels.num_classes).map_err(|e| e.in_file(file("ally")))?,
    );
    let validation = num_train..(num_train + NUM_VALIDATION).min(num_first);
    let mut test = test;
    test.sort_unstable();
    let val = validation.map(|node| node as u32).collect();
    parts.splits = vec![Split { train: (0..num_train as u32).collect(), val, test }];
    Dataset::new(parts).map_err(|e| e.in_file(folder))
}

/// For each node its row in `allx` and then `tx`, or `None` in a gap of the test indices.
fn place_rows(path: &Path, num_first: usize, test: &[u32]) -> Result<Vec<Option<usize>>, DataError> {
    let num_rows = num_first + test.len();
    let num_nodes = test.iter().max().map_or(num_first, |&last| last as usize + 1).max(num_first);
    // A stray index must not make a graph of billions of nodes.
    if num_nodes > 2 * num_rows {
        let problem = format!("node {} is named, but allx and tx have only {num_rows} rows", num_nodes - 1);
        return Err(DataError::malformed(path, problem));
    }
    let mut row_of: Vec<Option<usize>> = (0..num_nodes).map(|node| (node < num_first).then_some(node)).collect();
    for (line, &node) in test.iter().enumerate() {
        let slot = &mut row_of[node as usize];
        if slot.is_some() {
            let problem = format!("node {node} is in allx, or named on an earlier line, already");
            return Err(DataError::malformed_line(path, line as u64 + 1, problem));
        }
        *slot = Some(num_first + line);
    }
    Ok(row_of)
}

fn read_features(path: &PathBuf) -> Result<CsrMatrix, DataError> {
    let pickled = Pickle::read(path)?.csr()?;
    csr::matrix(pickled.shape, &pickled.offsets, &pickled.columns, &pickled.values).map_err(|e| e.in_file(path))
}

/// One-hot rows, turned into classes; a row of zeros has none.
struct OneHot {
    classes: Vec<Option<u32>>,
    num_classes: usize,
}

fn read_labels(path: &PathBuf) -> Result<OneHot, DataError> {
    one_hot(&Pickle::read(path)?.array()?).map_err(|e| e.in_file(path))
}

fn one_hot(array: &Array) -> Result<OneHot, DataError> {
    let &[_, num_classes @ 1..=usize::MAX] = array.shape() else {
        return Err(DataError::Invalid(format!(
            "labels of shape {:?}, where one row per node and one column per class are needed",
            array.shape()
        )));
    };
    let mut classes = Vec::new();
    for (node, row) in array.to_f64()?.chunks_exact(num_classes).enumerate() {
        let mut set = (0..num_classes).filter(|&class| row[class] != 0.0);
        classes.push(set.next().map(|class| class as u32));
        if set.next().is_some() {
            return Err(DataError::Invalid(format!("row {node} has more than one label")));
        }
    }
    Ok(OneHot { classes, num_classes })
}

/// One node per line.
fn read_index(path: &Path) -> Result<Vec<u32>, DataError> {
    let mut file = TextFile::open(path)?;
    let mut nodes = Vec::new();
    while let Some(line) = file.next_line()? {
        match line.trim().parse() {
            Ok(node) => nodes.push(node),
            Err(_) if line.trim().is_empty() => {}
            Err(_) => {
                let problem = format!("'{}' is not the number of a node", line.trim());
                return Err(file.error(problem));
            }
        }
    }
    Ok(nodes)
}

fn read_graph(path: &Path, num_nodes: usize) -> Result<Graph, DataError> {
    let pairs = Pickle::read(path)?.adjacency()?;
    let mut edges = EdgeList::with_capacity(2 * pairs.len());
    for (node, neighbour) in pairs {
        let (Ok(node), Ok(neighbour)) = (u32::try_from(node), u32::try_from(neighbour)) else {
            return Err(DataError::malformed(path, format!("edge {node} - {neighbour} joins no nodes")));
        };
        edges.push(node, neighbour);
    }
    let edges = edges.symmetrised().without_self_loops();
    Graph::from_edges(num_nodes, &edges.src, &edges.dst).map_err(|e| e.in_file(path))
}
