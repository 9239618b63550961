//! A dataset as a folder of tables, which [`crate::readers::folder`] reads back.
//!
//! Nodes without ids get their numbers, and names a separate column. A `classes` table is added if the labels alone
//! do not determine all classes and their order.

use std::path::Path;
use std::sync::Arc;

use crate::files::without_temporary_name;
use crate::readers::folder::{FORMATS, is_missing_label};
use crate::readers::rows::MAX_COLUMNS;
use crate::table::{Column, Table, TableFormat};
use crate::{DataError, Dataset, Features, RawColumn, Split};

/// The most feature cells, 4 GiB. Sparse features can be too wide for a table, and a small file can claim to be.
const MAX_CELLS: usize = 1 << 30;

/// Writes `dataset` into `folder`, which must not exist or be empty: all of it, or nothing.
pub fn write(dataset: &Dataset, folder: &Path, format: TableFormat) -> Result<(), DataError> {
    if !FORMATS.contains(&format) {
        return Err(DataError::malformed(folder, "the tables of a folder are CSV or Parquet"));
    }
    if dataset.graph_set().is_some() {
        return Err(DataError::malformed(
            folder,
            format!(
                "{} is a set of graphs, and a folder of tables holds one graph; write a .npz or a .carat file",
                dataset.name()
            ),
        ));
    }
    let (num_nodes, num_columns) = (dataset.num_nodes(), dataset.features().num_columns());
    if num_columns > MAX_COLUMNS || num_nodes.saturating_mul(num_columns) > MAX_CELLS {
        let problem = format!("a table of {num_nodes} nodes with {num_columns} features each is too large");
        return Err(DataError::malformed(folder, format!("{problem}; write a .npz file, which keeps them sparse")));
    }
    dataset.features().check()?;
    let nodes = nodes_table(dataset)?;
    let edges = edges_table(dataset)?;
    let classes = classes_table(dataset)?;
    let tables = [("nodes", Some(&nodes)), ("edges", Some(&edges)), ("classes", classes.as_ref())];
    let tables: Vec<(&str, &Table)> =
        tables.into_iter().filter_map(|(stem, table)| table.map(|table| (stem, table))).collect();
    write_tables(&tables, folder, format)
}

/// Writes tables into `folder`, which must not exist or be empty: all of them, or nothing.
pub(crate) fn write_tables(tables: &[(&str, &Table)], folder: &Path, format: TableFormat) -> Result<(), DataError> {
    let failed = |e: std::io::Error| DataError::write(folder, without_temporary_name(e));
    if folder.exists() && std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(DataError::malformed(folder, "the folder is not empty; choose a new one"));
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary =
        tempfile::Builder::new().prefix(crate::files::TEMPORARY_PREFIX).tempdir_in(parent).map_err(failed)?;
    for (stem, table) in tables {
        let file = format!("{stem}{}", format.ending());
        table.write(&temporary.path().join(&file)).map_err(|e| match e {
            // Users know the folder that they named, not the temporary one.
            DataError::Write { source, .. } => DataError::write(folder.join(&file), source),
            other => other,
        })?;
    }
    set_default_permissions(temporary.path()).map_err(failed)?;
    if folder.exists() {
        // Not every system can rename a folder onto an empty one.
        std::fs::remove_dir(folder).map_err(failed)?;
    }
    std::fs::rename(temporary.path(), folder).map_err(failed)?;
    // The folder has moved; there is nothing left to clean up.
    let _ = temporary.keep();
    Ok(())
}

fn nodes_table(dataset: &Dataset) -> Result<Table, DataError> {
    let num_nodes = dataset.num_nodes();
    let ids = match dataset.node_ids() {
        None => Column::U32((0..num_nodes as u32).collect()),
        Some(ids) => Column::Text(ids.to_vec()),
    };
    let mut columns = vec![("id".to_string(), ids)];
    // Names that are the ids are no names.
    if let Some(names) = dataset.node_names().filter(|names| dataset.node_ids() != Some(names)) {
        columns.push(("name".into(), Column::Text(names.to_vec())));
    }
    let labels = dataset.labels();
    let label = match dataset.class_names() {
        None => Column::I64(labels.as_signed().iter().map(|&class| class.into()).collect()),
        Some(names) => {
            let name = |node| labels.get(node).map_or_else(String::new, |class| names[class as usize].clone());
            Column::Text((0..num_nodes as u32).map(name).collect())
        }
    };
    columns.push(("label".into(), label));
    for (k, split) in dataset.splits().iter().enumerate() {
        let name = if dataset.splits().len() == 1 { "split".to_string() } else { format!("split_{k}") };
        columns.push((name, split_column(split, num_nodes)));
    }
    if let Some(years) = dataset.node_years() {
        columns.push(("year".into(), Column::I64(years.iter().map(|&year| year.into()).collect())));
    }
    if let Some(authors) = dataset.node_authors() {
        columns.push(("authors".into(), Column::Text(authors.to_vec())));
    }
    if let Some(table) = dataset.table() {
        columns.extend(table.columns().iter().map(|column| raw_column(column, num_nodes)));
        return Table::new(columns);
    }
    let name = |k: usize| dataset.feature_names().map_or_else(|| format!("f{k}"), |names| names[k].clone());
    let features = feature_columns(dataset.features());
    columns.extend(features.into_iter().enumerate().map(|(k, values)| (name(k), Column::F32(values))));
    Table::new(columns)
}

/// A column as it was read; gaps are empty cells.
fn raw_column(column: &RawColumn, rows: usize) -> (String, Column) {
    let (distinct, codes) = column.values.as_texts(rows);
    let empty = distinct.len() as u32;
    let words: Vec<String> = distinct.into_iter().chain([String::new()]).collect();
    let codes = codes.into_iter().map(|code| code.min(empty)).collect();
    (column.name.clone(), Column::Coded(codes, Arc::new(words)))
}

fn split_column(split: &Split, num_nodes: usize) -> Column {
    let mut words = vec![String::new(); num_nodes];
    for (word, list) in [("train", &split.train), ("val", &split.val), ("test", &split.test)] {
        for &node in list {
            words[node as usize] = word.into();
        }
    }
    Column::Text(words)
}

fn feature_columns(features: &Features) -> Vec<Vec<f32>> {
    match features {
        Features::Dense { num_columns, values, .. } => {
            (0..*num_columns).map(|k| values.iter().skip(k).step_by(*num_columns).copied().collect()).collect()
        }
        Features::Sparse(matrix) => {
            let mut columns = vec![vec![0.0; matrix.num_rows()]; matrix.num_columns()];
            for (row, range) in matrix.offsets().windows(2).enumerate() {
                for at in range[0]..range[1] {
                    columns[matrix.columns()[at] as usize][row] = matrix.values()[at];
                }
            }
            columns
        }
    }
}

fn edges_table(dataset: &Dataset) -> Result<Table, DataError> {
    let graph = dataset.graph();
    let ids = dataset.node_ids().map(|ids| Arc::new(ids.to_vec()));
    let ends = |nodes: Vec<u32>| match &ids {
        None => Column::U32(nodes),
        Some(ids) => Column::Coded(nodes, ids.clone()),
    };
    let mut columns = vec![("src".to_string(), ends(graph.sources().to_vec())), ("dst".into(), ends(graph.targets()))];
    if let Some(spurious) = dataset.spurious() {
        columns.push(("spurious".into(), Column::U32(spurious.iter().map(u32::from).collect())));
    }
    if let Some(table) = dataset.edge_table() {
        columns.extend(table.columns().iter().map(|column| raw_column(column, graph.num_edges())));
    } else if let Some(features) = dataset.edge_features() {
        features.check()?;
        let width = features.num_columns();
        let column = |k: usize| features.values().iter().skip(k).step_by(width).copied().collect();
        columns.extend(features.names().iter().enumerate().map(|(k, name)| (name.clone(), Column::F32(column(k)))));
    }
    Table::new(columns)
}

/// The list of classes, unless the labels are numbers and the largest determines the number of classes.
fn classes_table(dataset: &Dataset) -> Result<Option<Table>, DataError> {
    let labels = dataset.labels();
    let column = match dataset.class_names() {
        Some(names) => {
            let mut distinct = std::collections::HashSet::new();
            for name in names {
                if is_missing_label(name) {
                    return Err(DataError::Invalid(format!("a class named '{name}' would read as a missing label")));
                }
                if !distinct.insert(name.trim()) {
                    return Err(DataError::Invalid(format!("two classes are named '{name}'")));
                }
            }
            Column::Text(names.to_vec())
        }
        None => {
            let named = labels.as_signed().iter().max().map_or(0, |&largest| (largest + 1).max(0) as usize);
            if named == labels.num_classes() {
                return Ok(None);
            }
            Column::I64((0..labels.num_classes() as i64).collect())
        }
    };
    Table::new([("label", column)]).map(Some)
}

/// Temporary folders are private; a finished one should be as readable as any other folder of the user's.
#[cfg(unix)]
fn set_default_permissions(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_default_permissions(_: &Path) -> std::io::Result<()> {
    Ok(())
}
