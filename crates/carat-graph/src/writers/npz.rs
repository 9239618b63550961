//! A dataset in one `.npz` file, as [`crate::readers::npz`] describes it; NumPy, PyTorch and SciPy read it too.

use std::io::{Result as IoResult, Seek, Write};
use std::path::Path;

use crate::npy::NpzWriter;
use crate::{DataError, Dataset, EdgeFeatures, Features, Split, files};

/// Writes a dataset with everything it has but its name, which is the file's. The same dataset always gives the same
/// bytes.
pub fn write(dataset: &Dataset, path: &Path) -> Result<(), DataError> {
    let texts = [
        ("the name of node", dataset.node_names()),
        ("the id of node", dataset.node_ids()),
        ("the name of feature", dataset.feature_names()),
        ("the name of class", dataset.class_names()),
        ("the list of authors of node", dataset.node_authors()),
    ];
    for (what, texts) in texts {
        let lost = texts.unwrap_or_default().iter().position(|text| text.ends_with('\0'));
        if let Some(at) = lost {
            let problem = format!("{what} {at} ends in a NUL, which NumPy would drop; rename it");
            return Err(DataError::Invalid(problem));
        }
    }
    dataset.features().check()?;
    dataset.edge_features().map_or(Ok(()), EdgeFeatures::check)?;
    files::write_atomically(path, |writer| {
        let mut npz = NpzWriter::new(writer);
        write_required(&mut npz, dataset)
            .and_then(|()| write_splits(&mut npz, dataset))
            .and_then(|()| write_optional(&mut npz, dataset))
            .and_then(|()| npz.finish())
            .map_err(|e| DataError::write(path, e))
    })
}

fn write_required<W: Write + Seek>(npz: &mut NpzWriter<W>, dataset: &Dataset) -> IoResult<()> {
    let graph = dataset.graph();
    let targets = graph.targets();
    let nodes = graph.sources().iter().chain(&targets).map(|&node| i64::from(node).to_le_bytes());
    npz.array("edge_index", "<i8", &[2, graph.num_edges()], nodes)?;
    match dataset.features() {
        Features::Dense { num_rows, num_columns, values } => {
            npz.array("x", "<f4", &[*num_rows, *num_columns], values.iter().map(|value| value.to_le_bytes()))?;
        }
        Features::Sparse(matrix) => {
            let count = matrix.num_values();
            let shape = [matrix.num_rows(), matrix.num_columns()];
            npz.array("x_data", "<f4", &[count], matrix.values().iter().map(|value| value.to_le_bytes()))?;
            npz.array("x_indices", "<i8", &[count], matrix.columns().iter().map(|&c| i64::from(c).to_le_bytes()))?;
            npz.array("x_indptr", "<i8", &[shape[0] + 1], sizes(matrix.offsets()))?;
            npz.array("x_shape", "<i8", &[2], sizes(&shape))?;
        }
    }
    let labels = dataset.labels();
    npz.array("y", "<i8", &[labels.len()], labels.as_signed().iter().map(|&class| i64::from(class).to_le_bytes()))?;
    // The labels do not show a class without members.
    npz.array("num_classes", "<i8", &[], sizes(&[labels.num_classes()]))
}

fn sizes(values: &[usize]) -> impl Iterator<Item = [u8; 8]> {
    values.iter().map(|&value| (value as i64).to_le_bytes())
}

fn write_splits<W: Write + Seek>(npz: &mut NpzWriter<W>, dataset: &Dataset) -> IoResult<()> {
    let splits = dataset.splits();
    if splits.is_empty() {
        return Ok(());
    }
    let entities = dataset.labels().len();
    type Role = fn(&Split) -> &[u32];
    let roles: [(&str, Role); 3] =
        [("train_mask", |split| &split.train), ("val_mask", |split| &split.val), ("test_mask", |split| &split.test)];
    for (name, role) in roles {
        let mask = splits.iter().flat_map(|split| {
            let mut mask = vec![[0]; entities];
            role(split).iter().for_each(|&entity| mask[entity as usize] = [1]);
            mask
        });
        // A single split becomes what most code expects: one mask over the nodes.
        let shape = if splits.len() == 1 { vec![entities] } else { vec![splits.len(), entities] };
        npz.array(name, "|b1", &shape, mask)?;
    }
    Ok(())
}

fn write_optional<W: Write + Seek>(npz: &mut NpzWriter<W>, dataset: &Dataset) -> IoResult<()> {
    if let Some(names) = dataset.node_names() {
        npz.text("node_names", names)?;
    }
    if let Some(ids) = dataset.node_ids() {
        npz.text("node_ids", ids)?;
    }
    if let Some(names) = dataset.feature_names() {
        npz.text("feature_names", names)?;
    }
    if let Some(names) = dataset.class_names() {
        npz.text("class_names", names)?;
    }
    if let Some(years) = dataset.node_years() {
        npz.array("node_years", "<i4", &[years.len()], years.iter().map(|year| year.to_le_bytes()))?;
    }
    if let Some(authors) = dataset.node_authors() {
        npz.text("node_authors", authors)?;
    }
    if let Some(spurious) = dataset.spurious() {
        npz.array("spurious", "|b1", &[spurious.len()], spurious.iter().map(|planted| [u8::from(planted)]))?;
    }
    if let Some(features) = dataset.edge_features() {
        let shape = [features.num_rows(), features.num_columns()];
        npz.array("edge_attr", "<f4", &shape, features.values().iter().map(|value| value.to_le_bytes()))?;
        npz.text("edge_names", features.names())?;
    }
    if let Some(set) = dataset.graph_set() {
        let ends = (0..set.num_graphs()).map(|graph| set.nodes(graph).end);
        let offsets = std::iter::once(0).chain(ends).map(|offset| i64::from(offset).to_le_bytes());
        npz.array("graph_offsets", "<i8", &[set.num_graphs() + 1], offsets)?;
    }
    Ok(())
}
