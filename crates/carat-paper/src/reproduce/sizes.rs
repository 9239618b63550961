//! Sizes of datasets.

use carat_graph::Dataset;

/// The sizes in the tables of datasets and of training times.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sizes {
    pub(super) classes: usize,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    pub(super) splits: usize,
    pub(super) features: usize,
    pub(super) mean_degree: f64,
    pub(super) homophily: Option<f64>,
    /// Training nodes of the first split.
    pub(super) train_nodes: usize,
    /// The number of in-edges of training nodes in each split. These edges can be deleted.
    pub(super) train_edges: Vec<f64>,
}

impl Sizes {
    pub(super) fn of(dataset: &Dataset) -> Self {
        let edges_of = |nodes: &[u32]| nodes.iter().map(|&node| dataset.graph().in_degree(node)).sum::<usize>() as f64;
        Self {
            classes: dataset.labels().num_classes(),
            nodes: dataset.num_nodes(),
            edges: dataset.graph().num_edges(),
            splits: dataset.splits().len(),
            features: dataset.features().num_columns(),
            mean_degree: dataset.mean_degree(),
            homophily: dataset.homophily(),
            train_nodes: dataset.splits().first().map_or(0, |split| split.train.len()),
            train_edges: dataset.splits().iter().map(|split| edges_of(&split.train)).collect(),
        }
    }
}
