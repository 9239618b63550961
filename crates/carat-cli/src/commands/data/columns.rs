//! What `data info` says about the columns of a user's table: what they hold, and what training makes of them.

use carat_graph::{
    ColumnEncoding, ColumnKind, DataError, Dataset, Encoding, Normalise, RawTable, RawValues, printable,
};
use serde::Serialize;

use crate::output::{table, thousands};

/// Columns that the text shows; the JSON document has all.
const SHOWN: usize = 40;

/// One column of the table of nodes or of edges.
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

/// The columns of nodes and those of edges, as training on the first split sees them, or on all nodes where the data
/// has no split. Empty for data without named columns.
pub fn columns(dataset: &Dataset) -> Result<[Vec<ColumnInfo>; 2], DataError> {
    let (table, edge_table) = (dataset.table(), dataset.edge_table());
    if dataset.feature_names().is_none() && table.is_none() && dataset.edge_features().is_none() {
        return Ok([Vec::new(), Vec::new()]);
    }
    let training = match (dataset.splits().first(), dataset.graph_set()) {
        (Some(split), None) => split.train.clone(),
        _ => (0..dataset.num_nodes() as u32).collect(),
    };
    let encoding = Encoding::fit(dataset, &training, Normalise::Auto)?;
    let encoding = encoding.with_edges(dataset, &training, Normalise::Auto)?;
    let nodes = described(encoding.columns(), table.map(|table| &**table), dataset.num_nodes());
    let edges = described(encoding.edges(), edge_table.map(|table| &**table), dataset.graph().num_edges());
    Ok([nodes, edges])
}

/// Columns of so many rows, and what was learnt from them.
fn described(encodings: &[ColumnEncoding], raw: Option<&RawTable>, rows: usize) -> Vec<ColumnInfo> {
    let column = |(at, column): (usize, &ColumnEncoding)| {
        let values = raw.map(|table| &table.columns()[at].values);
        let missing = values.map_or(0, |values| values.missing(rows).into_iter().filter(|missing| *missing).count());
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
        if let Some(count) = categories.filter(|&count| count > 64 && 2 * count > rows - missing) {
            becomes.push_str(&format!(
                "; {} different texts look like ids: ignore the column in columns.csv if they are",
                thousands(count as u64)
            ));
        }
        if missing == rows {
            becomes = "empty in every row".into();
        }
        ColumnInfo { name: column.name.clone(), kind, missing, categories, features: column.width(), becomes }
    };
    encodings.iter().enumerate().map(column).collect()
}

/// A line per column; `heading` says of what the columns are.
pub fn text(heading: &str, columns: &[ColumnInfo]) -> String {
    let row = |column: &ColumnInfo| {
        let ColumnInfo { name, missing, features, becomes, .. } = column;
        let [name, becomes] = [name, becomes].map(|text| printable(text).into_owned());
        vec![name, thousands(*missing as u64), thousands(*features as u64), becomes]
    };
    let rows: Vec<Vec<String>> = columns.iter().take(SHOWN).map(row).collect();
    let mut text = table(&[heading, ">missing", ">features", "what training makes of it"], &rows);
    if columns.len() > SHOWN {
        text.push_str(&format!("and {} more; --json has all\n", thousands((columns.len() - SHOWN) as u64)));
    }
    text
}
