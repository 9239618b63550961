//! What `data info` says about the columns of a user's table: what they hold, and what training makes of them.

use carat_graph::{ColumnKind, DataError, Dataset, Encoding, Normalise, RawValues, printable};
use serde::Serialize;

use crate::output::{table, thousands};

/// Columns that the text shows; the JSON document has all.
const SHOWN: usize = 40;

/// One column of the table of nodes.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnInfo {
    name: String,
    kind: &'static str,
    missing: usize,
    /// Distinct texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<usize>,
    features: usize,
    becomes: String,
}

/// The columns as training on the first split sees them, or on all nodes where the data has no split. Empty for data
/// without named columns.
pub fn columns(dataset: &Dataset) -> Result<Vec<ColumnInfo>, DataError> {
    if dataset.feature_names().is_none() && dataset.table().is_none() {
        return Ok(Vec::new());
    }
    let training = match (dataset.splits().first(), dataset.graph_set()) {
        (Some(split), None) => split.train.clone(),
        _ => (0..dataset.num_nodes() as u32).collect(),
    };
    let encoding = Encoding::fit(dataset, &training, Normalise::Auto)?;
    let raw = dataset.table();
    let column = |(at, column): (usize, &carat_graph::ColumnEncoding)| {
        let values = raw.map(|table| &table.columns()[at].values);
        let missing = values
            .map_or(0, |values| values.missing(dataset.num_nodes()).into_iter().filter(|missing| *missing).count());
        let categories = match values {
            Some(RawValues::Texts { distinct, .. }) => Some(distinct.len()),
            _ => None,
        };
        let kind = match column.kind {
            ColumnKind::Number { .. } => "number",
            ColumnKind::Boolean { .. } => "boolean",
            ColumnKind::Date { .. } => "date",
            ColumnKind::Categories { .. } | ColumnKind::Words { .. } => "text",
        };
        let mut becomes = column.describe();
        if let Some(count) = categories.filter(|&count| count > 64 && 2 * count > dataset.num_nodes() - missing) {
            becomes.push_str(&format!(
                "; {} different texts look like ids: ignore the column in columns.csv if they are",
                thousands(count as u64)
            ));
        }
        if missing == dataset.num_nodes() {
            becomes = "empty in every row".into();
        }
        ColumnInfo { name: column.name.clone(), kind, missing, categories, features: column.width(), becomes }
    };
    Ok(encoding.columns().iter().enumerate().map(column).collect())
}

/// A line per column.
pub fn text(columns: &[ColumnInfo]) -> String {
    let row = |column: &ColumnInfo| {
        let ColumnInfo { name, missing, features, becomes, .. } = column;
        let [name, becomes] = [name, becomes].map(|text| printable(text).into_owned());
        vec![name, thousands(*missing as u64), thousands(*features as u64), becomes]
    };
    let rows: Vec<Vec<String>> = columns.iter().take(SHOWN).map(row).collect();
    let mut text = table(&["column", ">missing", ">features", "what training makes of it"], &rows);
    if columns.len() > SHOWN {
        text.push_str(&format!("and {} more; --json has all\n", thousands((columns.len() - SHOWN) as u64)));
    }
    text
}
