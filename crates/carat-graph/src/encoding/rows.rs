//! Rows that columns are made of, or have: of nodes, or of edges.

use std::collections::{HashMap, HashSet};

use super::column::ColumnEncoding;
use super::list;
use super::scale::{self, Normalise, Scale};
use crate::raw_table::{RawColumn, RawTable};
use crate::{CsrMatrix, DataError, Dataset, Features};

/// The features of all nodes or of all edges, and what they were made of.
pub(super) struct Rows<'a> {
    /// Whose they are.
    of: String,
    /// What messages about single columns begin with.
    prefix: &'static str,
    features: &'a Features,
    names: Option<&'a [String]>,
    table: Option<&'a RawTable>,
}

impl<'a> Rows<'a> {
    pub(super) fn of_nodes(dataset: &'a Dataset) -> Self {
        let (names, table) = (dataset.feature_names(), dataset.table().map(|table| &**table));
        Self { of: dataset.name().to_string(), prefix: "", features: dataset.features(), names, table }
    }

    /// `features` are those of the data's edges.
    pub(super) fn of_edges(dataset: &'a Dataset, features: &'a Features) -> Self {
        let names = dataset.edge_features().map(|edges| edges.names());
        let table = dataset.edge_table().map(|table| &**table);
        Self { of: format!("the table of edges of {}", dataset.name()), prefix: "edges: ", features, names, table }
    }

    /// True where columns can be told apart by name.
    pub(super) fn have_names(&self) -> bool {
        self.table.is_some() || self.names.is_some()
    }

    /// Learns from the rows `training`. Columns without names have no encoding.
    pub(super) fn fit(&self, training: &[u32], normalise: Normalise) -> Result<Vec<ColumnEncoding>, DataError> {
        if let Some(table) = self.table {
            let fit = |column| ColumnEncoding::fit(column, table.num_rows(), training, normalise);
            return Ok(table.columns().iter().map(fit).collect());
        }
        let Some(names) = self.names else { return Ok(Vec::new()) };
        let (columns, centre) = (scale::moments(self.features, training)?, scale::can_centre(self.features));
        let number = |(name, column): (&String, &_)| ColumnEncoding::number(name, column, normalise, centre);
        Ok(names.iter().zip(&columns).map(number).collect())
    }

    /// The features of these columns, or of the same columns with these scales where they have no names; and what users
    /// should know about them.
    pub(super) fn encoded(
        &self,
        columns: &[ColumnEncoding],
        scales: &[Scale],
    ) -> Result<(Features, Vec<String>), DataError> {
        let features = self.features;
        if columns.is_empty() {
            return match scales.len() {
                0 => Ok((features.clone(), Vec::new())),
                columns if columns == features.num_columns() => Ok((scale::scaled(features, scales)?, Vec::new())),
                columns => Err(self.width_error(columns)),
            };
        }
        if let Some(table) = self.table {
            return self.encoded_table(table, columns);
        }
        // Numbers without gaps, in the order of training or without names that tell the order, need no table.
        let plain: Option<Vec<Scale>> = columns.iter().map(ColumnEncoding::plain_scale).collect();
        let in_order = self.names.is_none_or(|names| names.iter().eq(columns.iter().map(|column| &column.name)));
        if let Some(scales) = plain.filter(|_| in_order) {
            if features.num_columns() != scales.len() {
                return Err(self.width_error(scales.len()));
            }
            let unscaled = scales.iter().all(|scale| *scale == Scale::NONE);
            let features = if unscaled { features.clone() } else { scale::scaled(features, &scales)? };
            return Ok((features, Vec::new()));
        }
        let Some(names) = self.names else {
            let names = list(columns.iter().map(|column| column.name.as_str()));
            return Err(DataError::Invalid(format!(
                "the columns of {} have no names, and the training data had {names}; give a folder of tables, or a \
                 file converted from one",
                self.of
            )));
        };
        features.check()?;
        self.encoded_table(&RawTable::of_features(features, names), columns)
    }

    fn encoded_table(
        &self,
        table: &RawTable,
        encodings: &[ColumnEncoding],
    ) -> Result<(Features, Vec<String>), DataError> {
        let columns = self.matched(table, encodings)?;
        let (rows, mut notes) = (table.num_rows(), Vec::new());
        let mut offsets = vec![0usize; rows + 1];
        for (encoding, column) in encodings.iter().zip(&columns) {
            let mut count = |row: u32, _: u32, _: f32| offsets[row as usize + 1] += 1;
            let mut note = |note: String| notes.push(format!("{}{note}", self.prefix));
            let encoded = encoding.encode(column, rows, &mut count, &mut note);
            encoded.map_err(|e| DataError::Invalid(format!("{}{e}", self.prefix)))?;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let cells = offsets[rows];
        let (mut next, mut places, mut values) = (offsets.clone(), vec![0u32; cells], vec![0.0f32; cells]);
        let mut first = 0;
        for (encoding, column) in encodings.iter().zip(&columns) {
            let mut put = |row: u32, feature: u32, value: f32| {
                let at = &mut next[row as usize];
                (places[*at], values[*at]) = (first + feature, value);
                *at += 1;
            };
            encoding.encode(column, rows, &mut put, &mut |_| ())?;
            first += encoding.width() as u32;
        }
        let matrix = CsrMatrix::new(first as usize, offsets, places, values)?;
        Ok((Features::sparse(matrix)?.compacted(), notes))
    }

    /// The table's columns in the order of training.
    fn matched<'t>(&self, table: &'t RawTable, encodings: &[ColumnEncoding]) -> Result<Vec<&'t RawColumn>, DataError> {
        let data = &self.of;
        let by_name: HashMap<&str, &RawColumn> =
            table.columns().iter().map(|column| (column.name.as_str(), column)).collect();
        let known: HashSet<&str> = encodings.iter().map(|column| column.name.as_str()).collect();
        let missing: Vec<&str> =
            encodings.iter().map(|column| column.name.as_str()).filter(|name| !by_name.contains_key(name)).collect();
        let new: Vec<&str> =
            table.columns().iter().map(|column| column.name.as_str()).filter(|name| !known.contains(name)).collect();
        match (missing.is_empty(), new.is_empty()) {
            (true, true) => {
                Ok(encodings.iter().filter_map(|column| by_name.get(column.name.as_str()).copied()).collect())
            }
            (true, false) => Err(DataError::Invalid(format!(
                "{data} has columns that the training data did not have: {}; leave them out",
                list(new.into_iter())
            ))),
            (false, _) => Err(DataError::Invalid(format!(
                "{data} lacks columns of the training data: {}{}; columns are matched by name, so add or rename them",
                list(missing.into_iter()),
                if new.is_empty() { String::new() } else { format!("; new are {}", list(new.into_iter())) }
            ))),
        }
    }

    fn width_error(&self, columns: usize) -> DataError {
        let (of, found) = (&self.of, self.features.num_columns());
        let per = if self.prefix.is_empty() { "node" } else { "edge" };
        DataError::Invalid(format!(
            "the model reads {columns} features per {per}, but {of} has {found}; give it data of the kind it was \
             trained on"
        ))
    }
}
