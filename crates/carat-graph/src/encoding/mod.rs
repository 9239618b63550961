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
mod rows;
mod scale;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use column::{ColumnEncoding, ColumnKind, MOST_CATEGORIES};
pub use scale::{Normalise, Scale};

use rows::Rows;

use crate::{DataError, Dataset, EdgeFeatures, Features};

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
    /// Columns of the edges; empty where networks read none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<ColumnEncoding>,
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
            edges: Vec::new(),
        };
        let rows = Rows::of_nodes(dataset);
        if rows.have_names() {
            encoding.columns = rows.fit(training, normalise)?;
            encoding.features = encoding.columns.iter().map(ColumnEncoding::width).sum();
        } else if normalise == Normalise::Standard {
            let (columns, centre) = (scale::moments(features, training)?, scale::can_centre(features));
            encoding.scales = columns.iter().map(|column| Scale::of(column, normalise, centre)).collect();
        }
        if normalise == Normalise::Row {
            let (unscaled, _) = encoding.features_of(dataset)?;
            encoding.least = Some(scale::smallest(&unscaled)?);
        }
        Ok(encoding)
    }

    /// The same that also encodes the features of edges: learnt from the in-edges of the nodes `training`, or from all
    /// edges where these have none.
    pub fn with_edges(mut self, dataset: &Dataset, training: &[u32], normalise: Normalise) -> Result<Self, DataError> {
        let Some(features) = dataset.edge_features() else { return Ok(self) };
        let mut edges: Vec<u32> =
            training.iter().flat_map(|&node| dataset.graph().in_edges(node)).map(|edge| edge as u32).collect();
        if edges.is_empty() {
            edges = (0..features.num_rows() as u32).collect();
        }
        let rows = features.as_features();
        self.edges = Rows::of_edges(dataset, &rows).fit(&edges, normalise.resolved_for_edges(dataset))?;
        Ok(self)
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

    /// The columns of edges by name; empty where none are read.
    pub fn edges(&self) -> &[ColumnEncoding] {
        &self.edges
    }

    /// True where nothing of the data that this was learnt from changes.
    pub fn keeps(&self, dataset: &Dataset) -> bool {
        let unscaled = |column: &ColumnEncoding| column.plain_scale() == Some(Scale::NONE);
        let keeps_edges = self.edges.is_empty() || dataset.edge_table().is_none();
        self.normalise == Normalise::None && dataset.table().is_none() && keeps_edges && self.edges.iter().all(unscaled)
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
        if !self.edges.is_empty() {
            let (edge_features, of_edges) = self.edges_of(dataset)?;
            (parts.edge_features, parts.edge_table) = (Some(edge_features), None);
            notes.extend(of_edges);
        }
        self.relabel(&mut parts, &mut notes)?;
        parts.encoding = Some(Arc::new(self.clone()));
        Ok((Dataset::new(parts)?, notes))
    }

    fn features_of(&self, dataset: &Dataset) -> Result<(Features, Vec<String>), DataError> {
        Rows::of_nodes(dataset).encoded(&self.columns, &self.scales)
    }

    /// The features of the edges with these columns.
    fn edges_of(&self, dataset: &Dataset) -> Result<(EdgeFeatures, Vec<String>), DataError> {
        let Some(features) = dataset.edge_features() else {
            return Err(DataError::Invalid(format!(
                "the edges of {} have no features, and those of the training data had {}; columns are matched by name, \
                 so add them",
                dataset.name(),
                list(self.edges.iter().map(|column| column.name.as_str()))
            )));
        };
        let (encoded, notes) = Rows::of_edges(dataset, &features.as_features()).encoded(&self.edges, &[])?;
        let names = self.edges.iter().flat_map(ColumnEncoding::feature_names).collect();
        Ok((EdgeFeatures::of_features(names, &encoded)?, notes))
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
        encoding.columns.iter().chain(&encoding.edges).try_for_each(ColumnEncoding::check).map_err(damaged)?;
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

/// The first names of a list.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let mut text = names.iter().take(10).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if names.len() > 10 {
        text.push_str(&format!(" and {} more", names.len() - 10));
    }
    text
}
