//! A node's degree as features: a column for each degree below ten, and one for all from ten on.
//!
//! Attention averages messages. Where all nodes have the same features, all averages are equal, and a network of
//! attention layers gives every node the same prediction: it cannot count neighbours. So where structure decides the
//! class, it has to be told degrees.

use crate::{DataError, Features, Graph};

/// Degrees with a column, of which the last is for all larger ones.
const COLUMNS: usize = 11;

/// Features with names: `own`, a row per node and a column per name, and with `degrees` those of the degree.
pub(super) fn named(
    graph: &Graph,
    mut names: Vec<String>,
    own: &[f32],
    degrees: bool,
) -> Result<(Features, Vec<String>), DataError> {
    let width = names.len();
    if degrees {
        names.extend((0..COLUMNS - 1).map(|degree| format!("degree {degree}")));
        names.push(format!("degree {} or more", COLUMNS - 1));
    }
    let mut values = Vec::with_capacity(graph.num_nodes() * names.len());
    for node in 0..graph.num_nodes() {
        values.extend_from_slice(&own[node * width..(node + 1) * width]);
        if degrees {
            let degree = graph.in_degree(node as u32).min(COLUMNS - 1);
            values.extend((0..COLUMNS).map(|column| f32::from(column == degree)));
        }
    }
    Ok((Features::dense(graph.num_nodes(), names.len(), values)?.compacted(), names))
}
