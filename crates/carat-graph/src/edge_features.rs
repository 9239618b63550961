//! Features of edges: one row of numbers per edge id.

use std::collections::HashSet;

use crate::{Blocks, DataError, Features, Graph, Storage};

/// Names that columns of a table of edges have for other purposes.
const RESERVED: [&str; 3] = ["src", "dst", "spurious"];

/// The most numbers, 4 GiB of them.
const MOST_VALUES: usize = 1 << 30;

/// A row for every edge, by its id, with the names of the columns. Of repeated edges the first one's row counts.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeFeatures {
    names: Vec<String>,
    values: Storage<f32>,
}

impl EdgeFeatures {
    /// Rows one after another, as many numbers each as there are names. Refuses numbers that are not finite, except in
    /// a mapped file, whose rows are checked when they are used.
    pub fn new(names: Vec<String>, values: impl Into<Storage<f32>>) -> Result<Self, DataError> {
        let values = values.into();
        let invalid = |problem: String| Err(DataError::Invalid(problem));
        if names.is_empty() || !values.len().is_multiple_of(names.len()) {
            return invalid(format!("{} edge features do not fill rows of {} columns", values.len(), names.len()));
        }
        let mut seen = HashSet::new();
        for name in &names {
            if name.is_empty() || name.ends_with('\0') || RESERVED.contains(&name.as_str()) {
                return invalid(format!("an edge feature cannot be named '{name}'; rename the column"));
            }
            if !seen.insert(name) {
                return invalid(format!("two edge features are named '{name}'; rename one"));
            }
        }
        let features = Self { names, values };
        if features.values.file().is_none() {
            features.check()?;
        }
        Ok(features)
    }

    /// The same from features of other rows: of edges, one after another.
    pub(crate) fn of_features(names: Vec<String>, features: &Features) -> Result<Self, DataError> {
        let (rows, columns) = (features.num_rows(), features.num_columns());
        if rows.saturating_mul(columns) > MOST_VALUES {
            let problem = format!("{rows} edges with {columns} features each are too many; leave columns out");
            return Err(DataError::Invalid(problem));
        }
        match features {
            Features::Dense { values, .. } => Self::new(names, values.clone()),
            sparse => Self::new(names, sparse.to_dense()),
        }
    }

    /// The numbers as features of any rows.
    pub(crate) fn as_features(&self) -> Features {
        Features::Dense { num_rows: self.num_rows(), num_columns: self.num_columns(), values: self.values.clone() }
    }

    /// The names of the columns; there is at least one.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of columns.
    pub fn num_columns(&self) -> usize {
        self.names.len()
    }

    /// Number of edges.
    pub fn num_rows(&self) -> usize {
        self.values.len() / self.names.len()
    }

    /// The numbers of one edge.
    pub fn row(&self, edge: usize) -> &[f32] {
        &self.values[edge * self.names.len()..][..self.names.len()]
    }

    /// All rows, one after another.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Refuses numbers that are not finite.
    pub fn check(&self) -> Result<(), DataError> {
        match self.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(self.not_finite(at / self.names.len(), at % self.names.len())),
        }
    }

    fn not_finite(&self, edge: usize, column: usize) -> DataError {
        let (name, value) = (&self.names[column], self.row(edge)[column]);
        let problem = format!("feature '{name}' of edge {edge} is {value}; every feature must be a finite number");
        match self.values.file() {
            Some(path) => DataError::malformed(path, problem),
            None => DataError::Invalid(problem),
        }
    }

    /// The rows of these edges, in this order.
    #[must_use]
    pub fn of_edges(&self, edges: impl IntoIterator<Item = usize>) -> Self {
        let values: Vec<f32> = edges.into_iter().flat_map(|edge| self.row(edge)).copied().collect();
        Self { names: self.names.clone(), values: values.into() }
    }

    /// The rows of all edges of some blocks of `graph`, by position. An added self-loop has the mean of the rows of all
    /// edges of the graph to its node, as in PyG, or zeros where there is none; leaving out an edge does not change it.
    pub fn of_blocks(&self, graph: &Graph, blocks: &Blocks) -> Result<Vec<f32>, DataError> {
        let width = self.num_columns();
        let mut rows = Vec::with_capacity(blocks.edge_ids().len() * width);
        let offsets = blocks.layer(0).offsets();
        for (row, &node) in offsets.windows(2).zip(blocks.nodes()) {
            for &id in &blocks.edge_ids()[row[0]..row[1]] {
                if id == Blocks::ADDED {
                    rows.extend(self.mean(graph.in_edges(node)));
                } else {
                    rows.extend_from_slice(self.row(id as usize));
                }
                let last = &rows[rows.len() - width..];
                if let Some(column) = last.iter().position(|value| !value.is_finite()) {
                    return Err(self.not_finite(id as usize, column));
                }
            }
        }
        Ok(rows)
    }

    /// The mean of some rows, or zeros.
    fn mean(&self, edges: std::ops::Range<usize>) -> impl Iterator<Item = f32> {
        let count = edges.len().max(1) as f64;
        let mut sums = vec![0.0; self.num_columns()];
        for edge in edges {
            sums.iter_mut().zip(self.row(edge)).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        sums.into_iter().map(move |sum| (sum / count) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockBuilder;

    fn features(names: &[&str], values: Vec<f32>) -> Result<EdgeFeatures, DataError> {
        EdgeFeatures::new(names.iter().map(|name| name.to_string()).collect(), values)
    }

    #[test]
    fn rows_follow_edges_into_blocks_and_self_loops_have_the_mean() {
        let graph = Graph::from_edges(3, &[0, 2, 1], &[1, 1, 2]).unwrap().with_self_loops(true);
        let rows = features(&["a", "b"], vec![1.0, 10.0, 2.0, 30.0, 3.0, 50.0]).unwrap();
        let blocks = Blocks::whole(&graph, 2);
        let found = rows.of_blocks(&graph, &blocks).unwrap();
        assert_eq!(found, [0.0, 0.0, 1.0, 10.0, 2.0, 30.0, 1.5, 20.0, 3.0, 50.0, 3.0, 50.0]);
        // Whatever was drawn or left out, the self-loop stays.
        let drawn = BlockBuilder::new(&graph).sample(&[1], &[1], 3);
        let found = rows.of_blocks(&graph, &drawn).unwrap();
        assert_eq!((found.len(), &found[2..]), (4, &[1.5, 20.0][..]));
    }

    #[test]
    fn rows_that_are_none_are_refused() {
        let problem = |names: &[&str], values: Vec<f32>| features(names, values).unwrap_err().to_string();
        assert!(problem(&["a", "b"], vec![1.0]).contains("do not fill rows of 2"));
        assert!(problem(&[], vec![]).contains("0 columns"));
        assert!(problem(&["src"], vec![1.0]).contains("cannot be named 'src'"));
        assert!(problem(&["a", "a"], vec![1.0, 2.0]).contains("two edge features"));
        assert!(problem(&["a"], vec![1.0, f32::NAN]).contains("feature 'a' of edge 1 is NaN"));
    }
}
