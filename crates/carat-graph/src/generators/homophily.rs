//! A graph of chosen homophily with a real dataset's features, after H2GCN's syn-cora.
//!
//! Nodes arrive one by one, the classes in turn. A new node u links to m nodes v that are there already, without
//! repetition, with
//!
//! ```text
//! P(u links to v)  proportional to  H[y(u), y(v)] degree(v)
//! ```
//!
//! where H (compatibility.rs) has the homophily h on its diagonal and decays with the distance of the classes on a
//! ring. Classes are of equal size, so that the share of edges within a class comes out near h. Every edge is kept in
//! both directions.
//!
//! The first C (m + 1) nodes, m + 1 of each class, exist from the start with a weight of one each, so that every new
//! node finds someone to link to. They too draw m links in turn, as long as there are nodes left that they may link to.
//! The graph therefore has n m undirected edges, or a few less, and no node below degree m.
//!
//! A node of class c takes the features of a real node of class c, each used once before any is used again. With
//! Cora's five largest classes, 1,490 nodes and m = 2 these are syn-cora's sizes.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::checks::{self, MOST_NODES};
use super::compatibility::Compatibility;
use super::sampling::{Purpose, stream};
use crate::{CsrMatrix, DataError, Dataset, DatasetParts, EdgeList, Features, Graph, Labels, Split, SplitRatio};

/// How many draws of one link may hit the node itself or one of its neighbours before the node gets no more links. This
/// happens only when nearly all eligible nodes are taken.
const ATTEMPTS: usize = 1000;

/// Settings of [`homophily`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HomophilyConfig {
    /// Nodes (1,490).
    pub nodes: usize,
    /// How many classes of the source to use, the largest first (5); `None` for all.
    pub classes: Option<usize>,
    /// m: links that each new node makes (2).
    pub edges_per_node: usize,
    /// h: share of edges that join nodes of one class (0.5).
    pub homophily: f64,
    /// Number of seeded stratified splits (1).
    pub splits: usize,
    /// Shares of the nodes that train, validate and test (0.6, 0.2, 0.2).
    pub split_ratio: SplitRatio,
    /// Seed of everything random (0). Split s is drawn with seed + s.
    pub seed: u64,
}

impl Default for HomophilyConfig {
    fn default() -> Self {
        Self {
            nodes: 1490,
            classes: Some(5),
            edges_per_node: 2,
            homophily: 0.5,
            splits: 1,
            split_ratio: SplitRatio::default(),
            seed: 0,
        }
    }
}

impl HomophilyConfig {
    /// Checks every value; `available` is the number of classes that the source has nodes of.
    fn check(&self, available: usize) -> Result<usize, DataError> {
        checks::within("the source's number of classes", available, 2, checks::MOST_CLASSES)?;
        let classes = self.classes.unwrap_or(available);
        checks::within("classes", classes, 2, available)?;
        checks::within("edges_per_node", self.edges_per_node, 1, 10_000)?;
        checks::within("nodes", self.nodes, classes * (self.edges_per_node + 1), MOST_NODES)?;
        checks::share("homophily", self.homophily)?;
        checks::within("splits", self.splits, 0, 1000)?;
        checks::split_ratio(self.split_ratio)?;
        checks::volume("nodes and edges_per_node", self.nodes, 2.0 * self.edges_per_node as f64)?;
        checks::volume("nodes and splits", self.nodes, self.splits as f64)?;
        Ok(classes)
    }
}

/// Makes the graph, with features from the labelled nodes of `source`.
pub fn homophily(config: &HomophilyConfig, source: &Dataset) -> Result<Dataset, DataError> {
    if source.graph_set().is_some() {
        return Err(DataError::Invalid(format!(
            "{} is a set of graphs; features must come from a dataset whose nodes have labels",
            source.name()
        )));
    }
    let mut donors = donors_by_class(source);
    let classes = config.check(donors.len())?;
    // The largest classes, then in the source's own order. The sort is stable, so the lower label wins a tie.
    donors.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    donors.truncate(classes);
    donors.sort_by_key(|(class, _)| *class);

    let mut rng = stream(config.seed, Purpose::Layout, 0);
    let mut ids: Vec<u32> = (0..config.nodes as u32).collect();
    ids.shuffle(&mut rng);
    for (_, nodes) in &mut donors {
        nodes.shuffle(&mut rng);
    }
    let mut label = vec![None; config.nodes];
    let mut donor = vec![0u32; config.nodes];
    for (arrival, &id) in ids.iter().enumerate() {
        let class = arrival % classes;
        let nodes = &donors[class].1;
        label[id as usize] = Some(class as u32);
        donor[id as usize] = nodes[(arrival / classes) % nodes.len()];
    }
    let features = gather(source.features(), &donor)?;
    let edges = attach(config, classes, &ids, &mut stream(config.seed, Purpose::Edges, 0));
    let graph = Graph::from_edges(config.nodes, &edges.src, &edges.dst)?;
    let labels = Labels::new(label, classes)?;
    let split = |s: u64| Split::stratified(&labels, config.split_ratio, config.seed.wrapping_add(s));
    let splits = (0..config.splits as u64).map(split).collect();
    let name = format!("{}-homophily-{:.2}", source.name(), config.homophily);
    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.splits = splits;
    parts.class_names =
        source.class_names().map(|names| donors.iter().map(|(class, _)| names[*class as usize].clone()).collect());
    Dataset::new(parts)
}

/// The labelled nodes of every class that has any.
fn donors_by_class(source: &Dataset) -> Vec<(u32, Vec<u32>)> {
    let labels = source.labels();
    let mut donors: Vec<(u32, Vec<u32>)> = (0..labels.num_classes() as u32).map(|class| (class, Vec::new())).collect();
    for node in 0..labels.len() as u32 {
        if let Some(class) = labels.get(node) {
            donors[class as usize].1.push(node);
        }
    }
    donors.retain(|(_, nodes)| !nodes.is_empty());
    donors
}

/// Preferential attachment in O(n (m + C)). Each class has an urn that holds a node once for every link it has, so that
/// a uniform draw from it is a draw by degree, and its size is the class's total degree.
fn attach(config: &HomophilyConfig, classes: usize, ids: &[u32], rng: &mut ChaCha8Rng) -> EdgeList {
    let compatibility = Compatibility::new(classes, config.homophily);
    let m = config.edges_per_node;
    let mut urns: Vec<Vec<u32>> = vec![Vec::new(); classes];
    let num_start = classes * (m + 1);
    for arrival in 0..num_start {
        urns[arrival % classes].push(arrival as u32);
    }
    // A starting node may have been linked to before it draws. It must not draw those nodes.
    let mut linked_by: Vec<Vec<u32>> = vec![Vec::new(); num_start];
    // The last arrival that could not link to a node because it is, or already has, that node.
    let mut taken_for = vec![u32::MAX; ids.len()];
    let mut edges = EdgeList::with_capacity(2 * ids.len() * m);
    let mut weights = vec![0.0; classes];
    let mut links = Vec::with_capacity(m);
    for arrival in 0..ids.len() {
        let (class, stamp) = (arrival % classes, arrival as u32);
        for (k, urn) in urns.iter().enumerate() {
            weights[k] = compatibility.weight(class, k) * urn.len() as f64;
        }
        taken_for[arrival] = stamp;
        for &other in linked_by.get(arrival).into_iter().flatten() {
            taken_for[other as usize] = stamp;
        }
        links.clear();
        while links.len() < m {
            let drawn = (0..ATTEMPTS).find_map(|_| {
                let urn = &urns[weighted(&weights, rng)];
                let other = urn[rng.random_range(0..urn.len())];
                (taken_for[other as usize] != stamp).then_some(other)
            });
            let Some(other) = drawn else { break };
            taken_for[other as usize] = stamp;
            links.push(other);
        }
        for &other in &links {
            edges.push(ids[other as usize], ids[arrival]);
            urns[other as usize % classes].push(other);
            urns[class].push(stamp);
            if other > stamp {
                linked_by[other as usize].push(stamp);
            }
        }
    }
    edges.symmetrised()
}

/// An index drawn in proportion to weights that are not all zero.
fn weighted(weights: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let mut point = rng.random::<f64>() * weights.iter().sum::<f64>();
    let mut last = 0;
    for (index, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            if point < weight {
                return index;
            }
            last = index;
            point -= weight;
        }
    }
    last
}

/// The given rows of `features`, one after the other, in the same form.
fn gather(features: &Features, rows: &[u32]) -> Result<Features, DataError> {
    match features {
        Features::Dense { num_columns, values, .. } => {
            checks::volume("nodes and the source's features", rows.len(), *num_columns as f64)?;
            let row = |r: u32| &values[r as usize * num_columns..(r as usize + 1) * num_columns];
            Features::dense(rows.len(), *num_columns, rows.iter().flat_map(|&r| row(r)).copied().collect())
        }
        Features::Sparse(matrix) => {
            let total: usize = rows.iter().map(|&r| matrix.row(r as usize).0.len()).sum();
            checks::within("the number of feature values", total, 0, checks::MOST_VALUES)?;
            let (mut columns, mut values) = (Vec::with_capacity(total), Vec::with_capacity(total));
            let mut offsets = vec![0];
            for &r in rows {
                let (c, v) = matrix.row(r as usize);
                columns.extend_from_slice(c);
                values.extend_from_slice(v);
                offsets.push(columns.len());
            }
            Features::sparse(CsrMatrix::new(matrix.num_columns(), offsets, columns, values)?)
        }
    }
}

#[cfg(test)]
#[path = "homophily_tests.rs"]
mod tests;
