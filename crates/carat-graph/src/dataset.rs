//! A graph with features, labels and splits: what every reader makes and everything else takes.

use crate::{DataError, Features, Graph, Labels, Split};

/// The parts of a [`Dataset`] before they are checked against each other. Optional parts start empty.
#[derive(Debug, Clone)]
pub struct DatasetParts {
    /// A catalogue name, or the stem of the file it came from.
    pub name: String,
    /// The graph; for a graph set, the disjoint union of all graphs.
    pub graph: Graph,
    /// One row per node.
    pub features: Features,
    /// One optional class per node; for a graph set, per graph.
    pub labels: Labels,
    /// None, one or many.
    pub splits: Vec<Split>,
    /// What users call each node.
    pub node_names: Option<Vec<String>>,
    /// What users call each class.
    pub class_names: Option<Vec<String>>,
    /// Year of each node, where the data tells.
    pub node_years: Option<Vec<i32>>,
    /// Per edge id, true where a generator planted the edge as spurious.
    pub spurious: Option<Vec<bool>>,
    /// Set for a collection of graphs: `graph_offsets[g]..graph_offsets[g + 1]` are graph g's nodes.
    pub graph_offsets: Option<Vec<u32>>,
}

impl DatasetParts {
    /// The required parts; set the optional fields afterwards.
    pub fn new(name: impl Into<String>, graph: Graph, features: Features, labels: Labels) -> Self {
        Self {
            name: name.into(),
            graph,
            features,
            labels,
            splits: Vec::new(),
            node_names: None,
            class_names: None,
            node_years: None,
            spurious: None,
            graph_offsets: None,
        }
    }
}

/// A checked dataset. Every edge, feature, label and split entry is valid; optional parts have the right lengths.
#[derive(Debug, Clone)]
pub struct Dataset {
    parts: DatasetParts,
}

/// How the nodes of a disjoint union divide into graphs.
#[derive(Debug, Clone, Copy)]
pub struct GraphSet<'a> {
    offsets: &'a [u32],
}

impl GraphSet<'_> {
    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The nodes of one graph.
    pub fn nodes(&self, graph: usize) -> std::ops::Range<u32> {
        self.offsets[graph]..self.offsets[graph + 1]
    }
}

impl Dataset {
    /// Checks the parts against each other.
    pub fn new(parts: DatasetParts) -> Result<Self, DataError> {
        let invalid = |problem: String| Err(DataError::Invalid(problem));
        let n = parts.graph.num_nodes();
        if n == 0 {
            return invalid("the graph has no nodes".into());
        }
        if parts.features.num_rows() != n {
            return invalid(format!("{} feature rows for {n} nodes", parts.features.num_rows()));
        }
        if parts.features.num_columns() == 0 {
            return invalid("the nodes have no features; give each at least one column".into());
        }
        let entities = match &parts.graph_offsets {
            None => n,
            Some(offsets) => {
                let ordered = offsets.first() == Some(&0)
                    && offsets.last() == Some(&(n as u32))
                    && offsets.windows(2).all(|w| w[0] <= w[1]);
                if !ordered {
                    return invalid("the graph offsets do not divide the nodes".into());
                }
                offsets.len() - 1
            }
        };
        if parts.labels.len() != entities {
            let what = if parts.graph_offsets.is_some() { "graphs" } else { "nodes" };
            return invalid(format!(
                "{} labels for {entities} {what}; give each one, or -1 where it is missing",
                parts.labels.len()
            ));
        }
        if parts.labels.num_classes() == 0 {
            return invalid("no node has a label; at least the training nodes need one".into());
        }
        let lengths = [
            ("node names", parts.node_names.as_ref().map(Vec::len), n),
            ("node years", parts.node_years.as_ref().map(Vec::len), n),
            ("class names", parts.class_names.as_ref().map(Vec::len), parts.labels.num_classes()),
            ("edge kinds", parts.spurious.as_ref().map(Vec::len), parts.graph.num_edges()),
        ];
        for (what, found, expected) in lengths {
            if let Some(found) = found.filter(|&found| found != expected) {
                return invalid(format!("{found} {what}, where {expected} are needed"));
            }
        }
        for split in &parts.splits {
            split.check(entities)?;
        }
        Ok(Self { parts })
    }

    /// The dataset's name.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The graph; for a graph set, the disjoint union.
    pub fn graph(&self) -> &Graph {
        &self.parts.graph
    }

    /// Features, one row per node.
    pub fn features(&self) -> &Features {
        &self.parts.features
    }

    /// Classes of the entities: nodes, or graphs of a graph set.
    pub fn labels(&self) -> &Labels {
        &self.parts.labels
    }

    /// The splits that came with the data.
    pub fn splits(&self) -> &[Split] {
        &self.parts.splits
    }

    /// What users call each node, where the data tells.
    pub fn node_names(&self) -> Option<&[String]> {
        self.parts.node_names.as_deref()
    }

    /// What users call each class, where the data tells.
    pub fn class_names(&self) -> Option<&[String]> {
        self.parts.class_names.as_deref()
    }

    /// Year of each node, where the data tells.
    pub fn node_years(&self) -> Option<&[i32]> {
        self.parts.node_years.as_deref()
    }

    /// Per edge id, whether a generator planted it as spurious.
    pub fn spurious(&self) -> Option<&[bool]> {
        self.parts.spurious.as_deref()
    }

    /// The division into graphs, for a graph set.
    pub fn graph_set(&self) -> Option<GraphSet<'_>> {
        self.parts.graph_offsets.as_deref().map(|offsets| GraphSet { offsets })
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.parts.graph.num_nodes()
    }

    /// The same data with other splits, checked.
    pub fn with_splits(mut self, splits: Vec<Split>) -> Result<Self, DataError> {
        self.parts.splits = splits;
        Self::new(self.parts)
    }

    /// Takes the dataset apart again, to change and recheck it.
    pub fn into_parts(self) -> DatasetParts {
        self.parts
    }

    /// Edges per node.
    pub fn mean_degree(&self) -> f64 {
        self.graph().num_edges() as f64 / self.num_nodes() as f64
    }

    /// Share of edges between nodes of one class, among edges whose both ends are labelled. `None` for graph sets and
    /// where no edge qualifies.
    pub fn homophily(&self) -> Option<f64> {
        if self.graph_set().is_some() {
            return None;
        }
        let (mut same, mut all) = (0usize, 0usize);
        for (i, j) in self.graph().edges() {
            if let (Some(a), Some(b)) = (self.labels().get(i), self.labels().get(j)) {
                all += 1;
                same += usize::from(a == b);
            }
        }
        (all > 0).then(|| same as f64 / all as f64)
    }
}
