//! How a dataset's columns become features: learnt from training nodes, kept with a trained network, and applied to
//! other data by the names of its columns.
//!
//! ```
//! use carat_graph::{Dataset, Encoding, Normalise};
//!
//! let features = [[1.0], [3.0], [900.0]];
//! let dataset = Dataset::from_rows("tiny", &[(0, 1)], &features, &[Some(0), Some(1), None])?;
//! // The scale is that of the first two nodes.
//! let encoding = Encoding::fit(&dataset, &[0, 1], Normalise::Standard)?;
//! let (scaled, _) = encoding.apply(&dataset)?;
//! assert_eq!(scaled.features().to_dense(), [-1.0, 1.0, 898.0]);
//! # Ok::<(), carat_graph::DataError>(())
//! ```

mod classes;
mod column;
mod scale;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use column::{ColumnEncoding, ColumnKind, MOST_CATEGORIES};
pub use scale::{Normalise, Scale};

use crate::raw_table::{RawColumn, RawTable};
use crate::{CsrMatrix, DataError, Dataset, Features};

/// What was learnt from training nodes about columns and classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoding {
    normalise: Normalise,
    /// Number of features.
    features: usize,
    /// Number of classes.
    classes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class_names: Option<Vec<String>>,
    /// With `normalise = row`, what is taken from every value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    least: Option<f64>,
    /// Scales of columns without names; empty where nothing is scaled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scales: Vec<Scale>,
    /// Columns with names; empty where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<ColumnEncoding>,
}

impl Encoding {
    /// Learns from the nodes `training` of a dataset.
    pub fn fit(dataset: &Dataset, training: &[u32], normalise: Normalise) -> Result<Self, DataError> {
        let (features, normalise) = (dataset.features(), normalise.resolved(dataset));
        let mut encoding = Self {
            normalise,
            features: features.num_columns(),
            classes: dataset.labels().num_classes(),
            class_names: dataset.class_names().map(<[String]>::to_vec),
            least: None,
            scales: Vec::new(),
            columns: Vec::new(),
        };
        let centre = scale::can_centre(features);
        if let Some(table) = dataset.table() {
            let fit = |column| ColumnEncoding::fit(column, table.num_rows(), training, normalise);
            encoding.columns = table.columns().iter().map(fit).collect();
            encoding.features = encoding.columns.iter().map(ColumnEncoding::width).sum();
        } else if let Some(names) = dataset.feature_names() {
            let columns = scale::moments(features, training)?;
            let number = |(name, column): (&String, &_)| ColumnEncoding::number(name, column, normalise, centre);
            encoding.columns = names.iter().zip(&columns).map(number).collect();
        } else if normalise == Normalise::Standard {
            let columns = scale::moments(features, training)?;
            encoding.scales = columns.iter().map(|column| Scale::of(column, normalise, centre)).collect();
        }
        if normalise == Normalise::Row {
            let (unscaled, _) = encoding.features_of(dataset)?;
            encoding.least = Some(scale::smallest(&unscaled)?);
        }
        Ok(encoding)
    }

    /// How features are scaled; never [`Normalise::Auto`].
    pub fn normalise(&self) -> Normalise {
        self.normalise
    }

    /// Number of features.
    pub fn num_features(&self) -> usize {
        self.features
    }

    /// The columns by name; empty where they have none.
    pub fn columns(&self) -> &[ColumnEncoding] {
        &self.columns
    }

    /// What users call the classes, where the training data told.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// The dataset with these features and classes, and what its user should know: gaps, texts and labels that the
    /// training nodes did not have.
    pub fn apply(&self, dataset: &Dataset) -> Result<(Dataset, Vec<String>), DataError> {
        let (features, mut notes) = self.features_of(dataset)?;
        let features = match self.least {
            Some(least) => scale::by_row(&features, least)?,
            None => features,
        };
        let mut parts = dataset.clone().into_parts();
        parts.table = None;
        if !self.columns.is_empty() {
            parts.feature_names = Some(self.columns.iter().flat_map(ColumnEncoding::feature_names).collect());
        }
        parts.features = features;
        self.relabel(&mut parts, &mut notes)?;
        parts.encoding = Some(Arc::new(self.clone()));
        Ok((Dataset::new(parts)?, notes))
    }

    fn features_of(&self, dataset: &Dataset) -> Result<(Features, Vec<String>), DataError> {
        let features = dataset.features();
        if self.columns.is_empty() {
            return match self.scales.len() {
                0 => Ok((features.clone(), Vec::new())),
                columns if columns == features.num_columns() => {
                    Ok((scale::scaled(features, &self.scales)?, Vec::new()))
                }
                columns => Err(width_error(columns, dataset)),
            };
        }
        if let Some(table) = dataset.table() {
            return self.features_of_table(table, dataset.name());
        }
        // Numbers without gaps, in the order of training or without names that tell the order, need no table.
        let plain: Option<Vec<Scale>> = self.columns.iter().map(ColumnEncoding::plain_scale).collect();
        let names = dataset.feature_names();
        let in_order = names.is_none_or(|names| names.iter().eq(self.columns.iter().map(|column| &column.name)));
        if let Some(scales) = plain.filter(|_| in_order) {
            if features.num_columns() != scales.len() {
                return Err(width_error(scales.len(), dataset));
            }
            let unscaled = scales.iter().all(|scale| *scale == Scale::NONE);
            let features = if unscaled { features.clone() } else { scale::scaled(features, &scales)? };
            return Ok((features, Vec::new()));
        }
        let Some(names) = names else {
            let names = list(self.columns.iter().map(|column| column.name.as_str()));
            return Err(DataError::Invalid(format!(
                "the columns of {} have no names, and the training data had {names}; give a folder of tables, or a file \
                 converted from one",
                dataset.name()
            )));
        };
        features.check()?;
        let table = RawTable::of_features(features, names);
        self.features_of_table(&table, dataset.name())
    }

    fn features_of_table(&self, table: &RawTable, data: &str) -> Result<(Features, Vec<String>), DataError> {
        let columns = self.matched(table, data)?;
        let (rows, mut notes) = (table.num_rows(), Vec::new());
        let mut offsets = vec![0usize; rows + 1];
        for (encoding, column) in self.columns.iter().zip(&columns) {
            let mut count = |row: u32, _: u32, _: f32| offsets[row as usize + 1] += 1;
            encoding.encode(column, rows, &mut count, &mut |note| notes.push(note))?;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let cells = offsets[rows];
        let (mut next, mut places, mut values) = (offsets.clone(), vec![0u32; cells], vec![0.0f32; cells]);
        let mut first = 0;
        for (encoding, column) in self.columns.iter().zip(&columns) {
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
    fn matched<'a>(&self, table: &'a RawTable, data: &str) -> Result<Vec<&'a RawColumn>, DataError> {
        let by_name: std::collections::HashMap<&str, &RawColumn> =
            table.columns().iter().map(|column| (column.name.as_str(), column)).collect();
        let known: std::collections::HashSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let missing: Vec<&str> =
            self.columns.iter().map(|column| column.name.as_str()).filter(|name| !by_name.contains_key(name)).collect();
        let new: Vec<&str> =
            table.columns().iter().map(|column| column.name.as_str()).filter(|name| !known.contains(name)).collect();
        match (missing.is_empty(), new.is_empty()) {
            (true, true) => {
                Ok(self.columns.iter().filter_map(|column| by_name.get(column.name.as_str()).copied()).collect())
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

    /// The text of its file.
    pub fn to_toml(&self) -> Result<String, DataError> {
        toml::to_string(self).map_err(|e| DataError::Invalid(e.to_string()))
    }

    /// Reads the text of its file, whose path is for errors.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, DataError> {
        let damaged =
            |problem: String| DataError::malformed(path, format!("this is no encoding of columns: {problem}"));
        let encoding: Self = toml::from_str(text).map_err(|e| damaged(e.message().trim().to_string()))?;
        encoding.columns.iter().try_for_each(ColumnEncoding::check).map_err(damaged)?;
        let widths: usize = encoding.columns.iter().map(ColumnEncoding::width).sum();
        let fits = match (encoding.columns.len(), encoding.scales.len()) {
            (0, 0) => true,
            (0, scales) => scales == encoding.features && encoding.scales.iter().all(|scale| scale.is_finite()),
            _ => encoding.scales.is_empty() && widths == encoding.features,
        };
        let named = encoding.class_names.as_ref().is_none_or(|names| names.len() == encoding.classes);
        if !fits || !named || !encoding.least.is_none_or(f64::is_finite) {
            return Err(damaged("its sizes do not fit together".into()));
        }
        Ok(encoding)
    }
}

fn width_error(columns: usize, dataset: &Dataset) -> DataError {
    DataError::Invalid(format!(
        "the model reads {columns} features per node, but {} has {}; give it data of the kind it was trained on",
        dataset.name(),
        dataset.features().num_columns()
    ))
}

/// The first names of a list.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let mut text = names.iter().take(10).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if names.len() > 10 {
        text.push_str(&format!(" and {} more", names.len() - 10));
    }
    text
}
