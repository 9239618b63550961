//! Edges and nodes with the names that readers know.

use carat::explain::{EdgeChanges, Property};
use carat_graph::Dataset;
use serde::Serialize;

/// A node with its name and properties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedNode {
    /// Its number.
    pub node: u32,
    /// Its name, where the data has names.
    pub name: Option<String>,
    /// Its class's name or number, where it has a label.
    pub class: Option<String>,
    /// Its year, where the data has years.
    pub year: Option<i32>,
}

/// An edge that a table names.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedEdge {
    /// The node that is attended to: in a citation graph, the cited paper.
    pub src: ListedNode,
    /// The node that attends: the citing paper.
    pub dst: ListedNode,
    /// Attention in the baseline.
    pub base: f32,
    /// Attention in the CAR network.
    pub car: f32,
    /// The second less the first.
    pub difference: f64,
    /// The log-likelihood that it gives to its target's class in the CAR network, where measured.
    pub effect: Option<f64>,
    /// The number of nodes that attend to the source.
    pub src_degree: u32,
    /// The number of in-edges of the target.
    pub dst_degree: u32,
    /// Cosine of the ends' features, where both have any.
    pub similarity: Option<f64>,
}

impl ListedNode {
    /// A node of the data.
    pub(crate) fn of(dataset: &Dataset, node: u32) -> Self {
        let at = node as usize;
        let name = dataset.node_names().and_then(|names| names.get(at)).filter(|name| !name.trim().is_empty());
        let class = dataset.labels().get(node).map(|label| {
            let named = dataset.class_names().and_then(|names| names.get(label as usize));
            named.map_or_else(|| label.to_string(), String::clone)
        });
        let year = dataset.node_years().and_then(|years| years.get(at)).copied();
        Self { node, name: name.cloned(), class, year }
    }

    /// Its name, or its number.
    pub fn shown(&self) -> String {
        self.name.as_deref().map_or_else(|| format!("node {}", self.node), plain)
    }

    /// Its class and year, as far as known.
    pub fn about(&self) -> String {
        let parts = [self.class.as_deref().map(plain), self.year.map(|year| year.to_string())];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl ListedEdge {
    pub(super) fn of(changes: &EdgeChanges, dataset: &Dataset, edge: u32) -> Self {
        let at = edge as usize;
        Self {
            src: ListedNode::of(dataset, changes.src[at]),
            dst: ListedNode::of(dataset, changes.dst[at]),
            base: changes.base[at],
            car: changes.car[at],
            difference: changes.difference[at],
            effect: changes.value(Property::Effect, edge),
            src_degree: changes.properties.src_degree[at],
            dst_degree: changes.properties.dst_degree[at],
            similarity: changes.value(Property::Similarity, edge),
        }
    }
}

/// A name on one line, without control characters and without characters that change the direction of the text around
/// it. Letters of right-to-left scripts are kept.
pub(super) fn plain(name: &str) -> String {
    let changes_direction =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let character = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() || changes_direction(c) => '\u{fffd}',
        c => c,
    };
    name.chars().map(character).collect()
}

/// A name within a sentence, isolated so that a right-to-left name does not reorder the rest.
pub(super) fn isolated(name: &str) -> String {
    format!("\u{2068}{name}\u{2069}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_change_direction_or_break_lines() {
        assert_eq!(plain("a\nb\u{1b}[31m\u{202e}drow\u{2069}"), "a b\u{fffd}[31m\u{fffd}drow\u{fffd}");
        assert_eq!(plain("שלום <b>"), "שלום <b>");
        assert_eq!(isolated("x"), "\u{2068}x\u{2069}");
    }

    #[test]
    fn nodes_without_a_name_show_their_number() {
        let node = |name: Option<&str>| ListedNode {
            node: 7,
            name: name.map(String::from),
            class: Some("cs.LG".into()),
            year: Some(2017),
        };
        assert_eq!(node(None).shown(), "node 7");
        assert_eq!((node(Some("Adam")).shown(), node(None).about()), ("Adam".into(), "cs.LG, 2017".into()));
        assert_eq!(ListedNode { class: None, year: None, ..node(None) }.about(), "");
    }
}
