//! The graphs of Platonov et al., "A critical look at the evaluation of GNNs under heterophily" (2023): one `.npz`
//! each.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `node_features` | `[N, F]` | features |
//! | `node_labels` | `[N]` | classes from 0; -1 where missing |
//! | `edges` | `[E, 2]` | pairs of nodes, each undirected edge once |
//! | `train_masks`, `val_masks`, `test_masks` | `[S, N]` | S splits |
//!
//! As in the authors' own loader, every edge becomes two, one each way, unless the name of the file ends in
//! `_directed`. Self-loops are dropped.

use std::path::Path;

use super::layout::Layout;
use super::npz;
use crate::npy::{Array, NpzReader};
use crate::{DataError, Dataset, DatasetParts, EdgeList, Graph, Labels};

pub(super) const LAYOUT: Layout = Layout {
    name: "heterophilous",
    sign: "",
    find: |place| place.itself_if(place.has_array("node_features") && place.has_array("edges")),
    read: |path, _, _| read(path),
};

/// Reads one graph; its name is the stem of the file's.
pub fn read(path: &Path) -> Result<Dataset, DataError> {
    let mut npz = NpzReader::open(path)?;
    let features = npz.converted("node_features", npz::dense)?.compacted();
    let num_nodes = features.num_rows();
    let labels = npz.converted("node_labels", |array| Labels::from_signed(&npz::signed_classes(array)?))?;
    if labels.len() != num_nodes {
        let problem = format!("{} labels for {num_nodes} rows of features; -1 stands for a missing one", labels.len());
        return Err(npz.error("node_labels", problem));
    }
    let splits = npz::read_splits(&mut npz, ["train_masks", "val_masks", "test_masks"], num_nodes)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let edges = npz.converted("edges", pairs)?.without_self_loops();
    let edges = if name.ends_with("_directed") { edges } else { edges.symmetrised() };
    let graph = Graph::from_edges(num_nodes, &edges.src, &edges.dst).map_err(|e| npz.error("edges", e))?;
    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.splits = splits;
    Dataset::new(parts).map_err(|e| e.in_file(path))
}

fn pairs(array: &Array) -> Result<EdgeList, DataError> {
    let [_, 2] = array.shape() else {
        let shape = array.shape();
        return Err(DataError::Invalid(format!("its shape is {shape:?}, but [edges, 2] is needed")));
    };
    let nodes = npz::nodes(array)?;
    let (src, dst) = nodes.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
    Ok(EdgeList { src, dst })
}
