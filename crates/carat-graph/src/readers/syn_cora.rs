//! H2GCN's syn-cora: one `.npz` per graph with CSR arrays `adj_*` and `attr_*`, and `labels`.

use std::path::Path;

use super::csr;
use super::layout::Layout;
use crate::npy::{Array, NpzReader};
use crate::{CsrMatrix, DataError, Dataset, DatasetParts, EdgeList, Features, Graph, Labels};

pub(super) const LAYOUT: Layout = Layout {
    name: "syn-cora",
    sign: "",
    find: |place| place.itself_if(place.has_array("adj_indptr")),
    read: |path, _, _| read(path),
};

/// Reads one graph; its name is the stem of the file's. Row i of the adjacency lists where messages of node i go.
/// Self-loops are dropped. There are no splits inside.
pub fn read(path: &Path) -> Result<Dataset, DataError> {
    let mut npz = NpzReader::open(path)?;
    let adjacency = matrix(&mut npz, "adj")?;
    let attributes = matrix(&mut npz, "attr")?;
    let labels = npz.converted("labels", |array: &Array| match array.shape() {
        [_] => Labels::from_signed(&array.to_i64()?),
        shape => Err(DataError::Invalid(format!("its shape is {shape:?}, but one label per node is needed"))),
    })?;
    let num_nodes = adjacency.num_rows();
    if adjacency.num_columns() != num_nodes {
        let problem = format!("{} columns for {num_nodes} nodes; an adjacency is square", adjacency.num_columns());
        return Err(npz.error("adj_shape", problem));
    }
    let mut edges = EdgeList::with_capacity(adjacency.num_values());
    for node in 0..num_nodes {
        let (targets, weights) = adjacency.row(node);
        for (&target, _) in targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            edges.push(node as u32, target);
        }
    }
    let edges = edges.without_self_loops();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Graph::from_edges(num_nodes, &edges.src, &edges.dst)
        .and_then(|graph| Ok(DatasetParts::new(name, graph, Features::sparse(attributes)?.compacted(), labels)))
        .and_then(Dataset::new)
        .map_err(|e| e.in_file(path))
}

fn matrix(npz: &mut NpzReader, prefix: &str) -> Result<CsrMatrix, DataError> {
    let shape_name = format!("{prefix}_shape");
    let shape = npz.converted(&shape_name, |array: &Array| match array.to_i64()?[..] {
        [rows @ 0..=i64::MAX, columns @ 0..=i64::MAX] => Ok([rows as usize, columns as usize]),
        _ => Err(DataError::Invalid("two sizes are needed".into())),
    })?;
    let mut part = |name: &str| npz.required(&format!("{prefix}_{name}"));
    let (offsets, columns, values) = (part("indptr")?, part("indices")?, part("data")?);
    csr::matrix(shape, &offsets, &columns, &values).map_err(|e| npz.error(&format!("{prefix}_*"), e))
}
