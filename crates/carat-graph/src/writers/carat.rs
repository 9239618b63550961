//! A dataset in one `.carat` file, which [`crate::readers::carat`] maps instead of reading it.
//!
//! Numbers are written in pieces, so that a dataset that is itself mapped is never in memory as a whole.

use std::io::{Result as IoResult, Seek, Write};
use std::path::Path;

use crate::carat_file::{FileWriter, Kind};
use crate::storage::check_machine;
use crate::{DataError, Dataset, EdgeFeatures, Features, Split, files};

/// Writes a dataset with everything it has. The same dataset always gives the same bytes.
pub fn write(dataset: &Dataset, path: &Path) -> Result<(), DataError> {
    check_machine(path)?;
    dataset.features().check()?;
    dataset.edge_features().map_or(Ok(()), EdgeFeatures::check)?;
    files::write_atomically(path, |writer| sections(dataset, writer).map_err(|e| DataError::write(path, e)))
}

fn sections(dataset: &Dataset, writer: impl Write + Seek) -> IoResult<()> {
    let mut file = FileWriter::new(writer)?;
    let (graph, labels, features) = (dataset.graph(), dataset.labels(), dataset.features());
    let sizes = [graph.num_nodes(), graph.num_edges(), features.num_columns(), labels.num_classes()];
    file.section(Kind::Sizes, &sizes.map(|size| size as u64))?;
    file.append(dataset.name().as_bytes())?;
    file.section(Kind::InOffsets, graph.in_offsets())?;
    file.section(Kind::Sources, graph.sources())?;
    match features {
        Features::Dense { values, .. } => file.section(Kind::Dense, values)?,
        Features::Sparse(matrix) => {
            file.section(Kind::SparseOffsets, matrix.offsets())?;
            file.section(Kind::SparseColumns, matrix.columns())?;
            file.section(Kind::SparseValues, matrix.values())?;
        }
    }
    file.section(Kind::Labels, labels.as_signed())?;
    if !dataset.splits().is_empty() {
        splits(&mut file, dataset.splits())?;
    }
    if let Some(names) = dataset.node_names() {
        texts(&mut file, Kind::NodeNames, names)?;
    }
    if let Some(ids) = dataset.node_ids() {
        texts(&mut file, Kind::NodeIds, ids)?;
    }
    if let Some(names) = dataset.feature_names() {
        texts(&mut file, Kind::FeatureNames, names)?;
    }
    if let Some(names) = dataset.class_names() {
        texts(&mut file, Kind::ClassNames, names)?;
    }
    if let Some(years) = dataset.node_years() {
        file.section(Kind::NodeYears, years)?;
    }
    if let Some(authors) = dataset.node_authors() {
        texts(&mut file, Kind::NodeAuthors, authors)?;
    }
    if let Some(spurious) = dataset.spurious() {
        file.section(Kind::Spurious, spurious.words())?;
    }
    if let Some(set) = dataset.graph_set() {
        file.section(Kind::GraphOffsets, set.offsets())?;
    }
    if let Some(features) = dataset.edge_features() {
        file.begin(Kind::EdgeColumns)?;
        file.append(&[features.num_columns() as u64])?;
        append_texts(&mut file, features.names())?;
        file.section(Kind::EdgeFeatures, features.values())?;
    }
    if graph.is_undirected() {
        file.section(Kind::Undirected, &[1u64])?;
    }
    file.finish()
}

/// The length of every list, split by split, and then the lists.
fn splits(file: &mut FileWriter<impl Write + Seek>, splits: &[Split]) -> IoResult<()> {
    let lists = || splits.iter().flat_map(|split| [&split.train, &split.val, &split.test]);
    file.begin(Kind::Splits)?;
    file.append(&[splits.len() as u64])?;
    lists().try_for_each(|list| file.append(&[list.len() as u64]))?;
    lists().try_for_each(|list| file.append(list))
}

/// Where every text ends, and then the texts.
fn texts(file: &mut FileWriter<impl Write + Seek>, kind: Kind, texts: &[String]) -> IoResult<()> {
    file.begin(kind)?;
    append_texts(file, texts)
}

fn append_texts(file: &mut FileWriter<impl Write + Seek>, texts: &[String]) -> IoResult<()> {
    let ends = texts.iter().scan(0u64, |end, text| {
        *end += text.len() as u64;
        Some(*end)
    });
    let ends: Vec<u64> = ends.collect();
    file.append(&ends)?;
    texts.iter().try_for_each(|text| file.append(text.as_bytes()))
}
