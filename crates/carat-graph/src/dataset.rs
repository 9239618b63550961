//! A graph with features, labels and splits: what every reader makes and everything else takes.

use std::path::Path;
use std::sync::Arc;

use crate::edge_sorter::EdgeSorter;
use crate::{DataError, EdgeFeatures, Encoding, Features, Flags, Graph, Labels, RawTable, Split, Storage};

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
    /// What other tables call each node, where that is not its number.
    pub node_ids: Option<Vec<String>>,
    /// The name of each feature.
    pub feature_names: Option<Vec<String>>,
    /// The columns that the features were made of, where some are not plain numbers.
    pub table: Option<Arc<RawTable>>,
    /// How the features were made, where a run's encoding was applied.
    pub encoding: Option<Arc<Encoding>>,
    /// Repeated edges that were merged while reading.
    pub merged_edges: usize,
    /// Whether the data comes from a user's folder of tables.
    pub of_tables: bool,
    /// What users call each class.
    pub class_names: Option<Vec<String>>,
    /// Year of each node, if the data has it.
    pub node_years: Option<Storage<i32>>,
    /// Authors of each node, if the data has them: names separated by semicolons, or an empty text.
    pub node_authors: Option<Vec<String>>,
    /// Per edge id, true where a generator says that the edge is no reason of a class: it was planted as spurious, or
    /// lies outside of what was planted.
    pub spurious: Option<Flags>,
    /// A row of features per edge id, if the data has them.
    pub edge_features: Option<EdgeFeatures>,
    /// The columns that these were made of, where some are not plain numbers.
    pub edge_table: Option<Arc<RawTable>>,
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
            node_ids: None,
            feature_names: None,
            table: None,
            encoding: None,
            merged_edges: 0,
            of_tables: false,
            class_names: None,
            node_years: None,
            node_authors: None,
            spurious: None,
            edge_features: None,
            edge_table: None,
            graph_offsets: None,
        }
    }
}

impl DatasetParts {
    /// Replaces the features of the edges by those of these edges, in this order.
    fn take_edges(&mut self, edges: &[usize]) {
        self.edge_features = self.edge_features.take().map(|features| features.of_edges(edges.iter().copied()));
        self.edge_table = self.edge_table.take().map(|table| Arc::new(table.of_rows(edges)));
    }
}

/// A checked dataset. Every edge, feature, label and split entry is valid; optional parts have the right lengths.
/// Features that lie in a mapped file are checked when they are used, by [`Features::check_rows`].
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

    /// The first node of every graph, and the number of nodes.
    pub(crate) fn offsets(&self) -> &[u32] {
        self.offsets
    }

    /// The graph of a node.
    pub fn graph_of(&self, node: u32) -> u32 {
        // Of several graphs that begin at the same node, all but the last are empty.
        self.offsets.partition_point(|&first| first <= node) as u32 - 1
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
                if let Some((src, dst)) = edge_between_graphs(&parts.graph, offsets) {
                    return invalid(format!("the edge from node {src} to node {dst} joins two graphs of the set"));
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
        let lengths = [
            ("node names", parts.node_names.as_ref().map(Vec::len), n),
            ("node ids", parts.node_ids.as_ref().map(Vec::len), n),
            ("feature names", parts.feature_names.as_ref().map(Vec::len), parts.features.num_columns()),
            ("rows of the table", parts.table.as_ref().map(|table| table.num_rows()), n),
            ("node years", parts.node_years.as_deref().map(<[i32]>::len), n),
            ("lists of authors", parts.node_authors.as_ref().map(Vec::len), n),
            ("class names", parts.class_names.as_ref().map(Vec::len), parts.labels.num_classes()),
            (
                "rows of edge features",
                parts.edge_features.as_ref().map(EdgeFeatures::num_rows),
                parts.graph.num_edges(),
            ),
            (
                "rows of the table of edges",
                parts.edge_table.as_ref().map(|table| table.num_rows()),
                parts.graph.num_edges(),
            ),
            ("edge kinds", parts.spurious.as_ref().map(Flags::len), parts.graph.num_edges()),
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

    /// A dataset from plain lists: edges as (source, target), along which messages flow; one row of features per node;
    /// one class per node, counted from 0, or `None` where it is unknown.
    ///
    /// ```
    /// use carat_graph::Dataset;
    ///
    /// let edges = [(0, 1), (2, 1), (1, 0)];
    /// let features = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    /// let dataset = Dataset::from_rows("tiny", &edges, &features, &[Some(0), Some(1), None])?;
    /// assert_eq!(dataset.graph().in_neighbours(1), &[0, 2]);
    /// # Ok::<(), carat_graph::DataError>(())
    /// ```
    pub fn from_rows(
        name: impl Into<String>,
        edges: &[(u32, u32)],
        features: &[impl AsRef<[f32]>],
        labels: &[Option<u32>],
    ) -> Result<Self, DataError> {
        let nodes = features.len();
        let columns = features.first().map_or(0, |row| row.as_ref().len());
        if let Some((node, row)) = features.iter().enumerate().find(|(_, row)| row.as_ref().len() != columns) {
            return Err(DataError::Invalid(format!(
                "node {node} has {} features where node 0 has {columns}; give every node the same columns",
                row.as_ref().len()
            )));
        }
        let values = features.iter().flat_map(|row| row.as_ref()).copied().collect();
        let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
        let labels: Vec<i64> = labels.iter().map(|label| label.map_or(-1, i64::from)).collect();
        Self::new(DatasetParts::new(
            name,
            Graph::from_edges(nodes, &src, &dst)?,
            Features::dense(nodes, columns, values)?.compacted(),
            Labels::from_signed(&labels)?,
        ))
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

    /// What other tables call each node, where that is not its number.
    pub fn node_ids(&self) -> Option<&[String]> {
        self.parts.node_ids.as_deref()
    }

    /// The name of each feature, where the data has names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.parts.feature_names.as_deref()
    }

    /// The columns that the features were made of, where some are not plain numbers.
    pub fn table(&self) -> Option<&Arc<RawTable>> {
        self.parts.table.as_ref()
    }

    /// How the features were made, where a run's encoding was applied.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.parts.encoding.as_deref()
    }

    /// Repeated edges that were merged while reading.
    pub fn merged_edges(&self) -> usize {
        self.parts.merged_edges
    }

    /// Whether the data comes from a user's folder of tables.
    pub fn is_of_tables(&self) -> bool {
        self.parts.of_tables
    }

    /// What users call each class, where the data tells.
    pub fn class_names(&self) -> Option<&[String]> {
        self.parts.class_names.as_deref()
    }

    /// Year of each node, if the data has it.
    pub fn node_years(&self) -> Option<&[i32]> {
        self.parts.node_years.as_deref()
    }

    /// Authors of each node, if the data has them: names separated by semicolons, or an empty text.
    pub fn node_authors(&self) -> Option<&[String]> {
        self.parts.node_authors.as_deref()
    }

    /// Per edge id, whether a generator says that it is no reason of a class: that it was planted as spurious, or lies
    /// outside of what was planted.
    pub fn spurious(&self) -> Option<&Flags> {
        self.parts.spurious.as_ref()
    }

    /// Features of the edges, if the data has them.
    pub fn edge_features(&self) -> Option<&EdgeFeatures> {
        self.parts.edge_features.as_ref()
    }

    /// The columns that the features of the edges were made of, where some are not plain numbers.
    pub fn edge_table(&self) -> Option<&Arc<RawTable>> {
        self.parts.edge_table.as_ref()
    }

    /// True where both have the same features, of nodes and of edges.
    pub fn has_features_of(&self, other: &Self) -> bool {
        self.features() == other.features() && self.edge_features() == other.edge_features()
    }

    /// The division into graphs, for a graph set.
    pub fn graph_set(&self) -> Option<GraphSet<'_>> {
        self.parts.graph_offsets.as_deref().map(|offsets| GraphSet { offsets })
    }

    /// Number of entities, which labels and splits are of: nodes, or graphs of a graph set.
    pub fn num_entities(&self) -> usize {
        self.parts.labels.len()
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

    /// The same data with only the edges whose id has `keep[id]` true. Per-edge data follows the edges; everything else
    /// stays as it is.
    ///
    /// ```
    /// use carat_graph::Dataset;
    ///
    /// let features = [[1.0], [0.0], [1.0]];
    /// let dataset = Dataset::from_rows("tiny", &[(0, 1), (2, 1), (1, 0)], &features, &[Some(0), Some(1), None])?;
    /// // Edges are numbered by target, then by source: (1, 0), (0, 1), (2, 1).
    /// let fewer = dataset.with_edges(&[true, false, true])?;
    /// assert_eq!(fewer.graph().edges().collect::<Vec<_>>(), [(1, 0), (2, 1)]);
    /// # Ok::<(), carat_graph::DataError>(())
    /// ```
    pub fn with_edges(&self, keep: &[bool]) -> Result<Self, DataError> {
        let edges = self.graph().num_edges();
        if keep.len() != edges {
            return Err(DataError::Invalid(format!("{} edges to keep or not, where there are {edges}", keep.len())));
        }
        let kept = self.graph().edges().zip(keep).filter(|(_, keep)| **keep).map(|(edge, _)| edge);
        let (sources, targets): (Vec<u32>, Vec<u32>) = kept.unzip();
        let flags = |flags: &Flags| flags.iter().zip(keep).filter(|(_, keep)| **keep).map(|(flag, _)| flag).collect();
        let mut parts = self.parts.clone();
        parts.spurious = self.spurious().map(flags);
        parts.take_edges(&(0..edges).filter(|&edge| keep[edge]).collect::<Vec<usize>>());
        parts.graph = Graph::from_edges(self.num_nodes(), &sources, &targets)?.like(self.graph());
        Self::new(parts)
    }

    /// The same data with every edge both ways; see [`Graph::undirected`]. Per-edge data follows: the reverse of an
    /// edge has what the edge has. Data in a mapped file cannot be changed: [`Dataset::undirected_on_disk`] can.
    pub fn undirected(self) -> Result<Self, DataError> {
        if self.graph().is_undirected() {
            return Ok(self);
        }
        if self.graph().is_mapped() {
            return Err(DataError::Invalid(format!(
                "{} is used where it lies and cannot be made undirected there; write it once with 'carat data convert \
                 FILE.carat NEW.carat --undirected', and use that",
                self.name()
            )));
        }
        let (graph, origin) = self.graph().undirected()?;
        let mut parts = self.parts;
        parts.take_edges(&origin.iter().map(|&edge| edge as usize).collect::<Vec<usize>>());
        parts.spurious = parts.spurious.map(|flags| origin.iter().map(|&edge| flags[edge as usize]).collect());
        parts.graph = graph;
        Self::new(parts)
    }

    /// The same for a graph that may be larger than memory: its edges are sorted in temporary files in `scratch`.
    pub fn undirected_on_disk(self, scratch: &Path) -> Result<Self, DataError> {
        if self.graph().is_undirected() {
            return Ok(self);
        }
        let mut sorter = EdgeSorter::new(self.num_nodes(), scratch)?;
        let flag = |edge: usize| self.spurious().is_some_and(|flags| flags[edge]);
        // All edges come before all reverses, so that an edge's own flag counts.
        for (edge, (src, dst)) in self.graph().edges().enumerate() {
            sorter.push(src, dst, flag(edge))?;
        }
        for (edge, (src, dst)) in self.graph().edges().enumerate() {
            sorter.push(dst, src, flag(edge))?;
        }
        let (graph, flags) = sorter.finish()?;
        // The edge that a new one comes from: itself, or its reverse.
        let own = |src: u32, dst: u32| {
            let place = self.graph().in_neighbours(dst).binary_search(&src).ok()?;
            Some(self.graph().in_edges(dst).start + place)
        };
        let mut parts = self.parts.clone();
        if parts.edge_features.is_some() {
            let origins = graph.edges().filter_map(|(src, dst)| own(src, dst).or_else(|| own(dst, src)));
            parts.take_edges(&origins.collect::<Vec<usize>>());
        }
        parts.graph = graph.like(&parts.graph).marked_undirected();
        parts.spurious = parts.spurious.map(|_| flags);
        Self::new(parts)
    }

    /// The same data whose blocks have a self-loop at every node, or no longer; see [`Graph::with_self_loops`]. The
    /// data's own self-loops make room, as in PyG, so that every node has exactly one and none is an edge of the data.
    pub fn with_self_loops(self, added: bool) -> Result<Self, DataError> {
        let has_own = |j: u32| self.graph().in_neighbours(j).binary_search(&j).is_ok();
        let mut dataset = if added && (0..self.num_nodes() as u32).any(has_own) {
            let others: Vec<bool> = self.graph().edges().map(|(i, j)| i != j).collect();
            self.with_edges(&others)?
        } else {
            self
        };
        dataset.parts.graph = dataset.parts.graph.with_self_loops(added);
        Ok(dataset)
    }

    /// Takes the dataset apart, to change it and check it again.
    pub fn into_parts(self) -> DatasetParts {
        self.parts
    }

    /// Edges per node.
    pub fn mean_degree(&self) -> f64 {
        self.graph().num_edges() as f64 / self.num_nodes() as f64
    }

    /// Among the edges with both ends labelled, the share whose ends have the same class. `None` for graph sets and
    /// when no edge has both ends labelled.
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

/// An edge whose ends lie in two graphs of a set; one without such is a set indeed.
fn edge_between_graphs(graph: &Graph, offsets: &[u32]) -> Option<(u32, u32)> {
    let foreign = |nodes: &[u32]| {
        let of_graph = nodes[0]..nodes[1];
        of_graph.clone().find_map(|dst| {
            let src = graph.in_neighbours(dst).iter().find(|src| !of_graph.contains(src))?;
            Some((*src, dst))
        })
    };
    offsets.windows(2).find_map(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_with_an_edge_between_two_graphs_is_refused() {
        let set = |edges: &[(u32, u32)]| {
            let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
            let features = Features::dense(4, 1, vec![1.0; 4])?;
            let labels = Labels::new(vec![Some(0); 3], 1)?;
            let mut parts = DatasetParts::new("set", Graph::from_edges(4, &src, &dst)?, features, labels);
            parts.graph_offsets = Some(vec![0, 2, 2, 4]);
            Dataset::new(parts)
        };
        assert_eq!(set(&[(0, 1), (3, 2)]).unwrap().num_entities(), 3);
        let error = set(&[(0, 1), (1, 2)]).unwrap_err().to_string();
        assert_eq!(error, "the edge from node 1 to node 2 joins two graphs of the set");
    }

    #[test]
    fn rows_that_make_no_dataset_are_named() {
        let make = |edges: &[(u32, u32)], features: &[Vec<f32>], labels: &[Option<u32>]| {
            Dataset::from_rows("tiny", edges, features, labels).map_err(|e| e.to_string())
        };
        let two = [vec![1.0, 2.0], vec![0.5, 0.0]];
        let dataset = make(&[(1, 0), (1, 0)], &two, &[None, Some(2)]).unwrap();
        assert_eq!((dataset.graph().num_edges(), dataset.labels().num_classes()), (1, 3));
        assert_eq!(dataset.features().to_dense(), [1.0, 2.0, 0.5, 0.0]);
        let ragged = make(&[], &[vec![1.0], vec![1.0, 2.0]], &[Some(0), None]).unwrap_err();
        assert_eq!(ragged, "node 1 has 2 features where node 0 has 1; give every node the same columns");
        assert_eq!(make(&[], &[], &[]).unwrap_err(), "the graph has no nodes");
        assert!(make(&[(0, 2)], &two, &[Some(0), Some(1)]).unwrap_err().contains("only 2 nodes"));
        assert!(make(&[], &two, &[Some(0)]).unwrap_err().starts_with("1 labels for 2 nodes"));
        assert!(make(&[], &two, &[Some(u32::MAX), None]).unwrap_err().contains("out of range"));
    }
}
