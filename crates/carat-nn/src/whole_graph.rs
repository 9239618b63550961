//! Models that always compute the whole graph: a graph convolution network, and CAL.
//!
//! [`Network`](crate::Network) computes the receptive field of a batch. Models with batch normalisation, or with
//! weights that depend on every node's degree, are different: a step is one pass over all nodes, with a loss over some
//! of them.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use carat_graph::{Blocks, DataError, Dataset};

use crate::encoder::Input;
use crate::kernels::moments::Moments;
use crate::loss::ClassWeights;
use crate::parameters::Layout;
use crate::real::Real;

/// A graph and its features, prepared once for all passes.
#[derive(Debug)]
pub struct WholeGraph<T> {
    id: u64,
    blocks: Blocks,
    input: Input<T>,
    looped: OnceLock<Blocks>,
    moments: OnceLock<Moments<T>>,
}

impl<T: Real> WholeGraph<T> {
    /// Every node and edge of the data. An error where features in a mapped file are damaged.
    pub fn new(dataset: &Dataset) -> Result<Self, DataError> {
        let blocks = Blocks::whole(dataset.graph(), 1);
        let input = Input::checked(dataset.features(), blocks.nodes())?.with_columns();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, blocks, input, looped: OnceLock::new(), moments: OnceLock::new() })
    }

    /// Unique in this process, so that results for one graph are not used for another.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// All edges, as one layer whose sources and targets are all nodes.
    pub fn block(&self) -> carat_graph::Block<'_> {
        self.blocks.layer(0)
    }

    /// The same edges with exactly one self-loop at every node; made on first use.
    pub fn looped(&self) -> carat_graph::Block<'_> {
        self.looped.get_or_init(|| self.blocks.with_self_loops()).layer(0)
    }

    /// Mean and variance of every feature; computed on first use.
    pub(crate) fn moments(&self) -> &Moments<T> {
        self.moments.get_or_init(|| self.input.moments())
    }

    /// The features of all nodes.
    pub fn input(&self) -> &Input<T> {
        &self.input
    }

    /// The numbers of all nodes.
    pub(crate) fn nodes(&self) -> &[u32] {
        self.blocks.nodes()
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.blocks.nodes().len()
    }
}

/// Nodes with their labels, over which a loss is taken.
#[derive(Debug, Clone, Copy)]
pub struct Labelled<'a> {
    /// The nodes.
    pub nodes: &'a [u32],
    /// One label each.
    pub labels: &'a [u32],
    /// What they count in the loss, by label. CAL counts all alike.
    pub weights: ClassWeights<'a>,
}

impl<'a> Labelled<'a> {
    /// Nodes that all count alike.
    pub fn new(nodes: &'a [u32], labels: &'a [u32]) -> Self {
        Self { nodes, labels, weights: &[] }
    }
}

/// A model of the whole graph with hand-derived gradients.
pub trait WholeGraphModel<T: Real>: fmt::Debug + Send + Sync {
    /// Features per node.
    fn features(&self) -> usize;

    /// Number of classes.
    fn classes(&self) -> usize;

    /// Names, shapes and places of the parameters.
    fn layout(&self) -> &Layout;

    /// All parameters, as laid out.
    fn parameters(&self) -> &[T];

    /// All parameters, mutable.
    fn parameters_mut(&mut self) -> &mut [T];

    /// Names, shapes and places of the values that training changes without a gradient, such as running means. Most
    /// models have none.
    fn buffer_layout(&self) -> &Layout {
        const NONE: &Layout = &Layout::EMPTY;
        NONE
    }

    /// All these values, as laid out.
    fn buffers(&self) -> &[T] {
        &[]
    }

    /// The same values, mutable.
    fn buffers_mut(&mut self) -> &mut [T] {
        &mut []
    }

    /// Class scores of every node as at prediction, nodes x classes.
    fn predict(&mut self, graph: &WholeGraph<T>, scores: &mut Vec<T>);

    /// The loss of one training pass; writes its gradient with respect to every parameter into `gradient`. `seed` seeds
    /// the pass's random draws. Running statistics are updated.
    fn loss_and_gradient(
        &mut self,
        graph: &WholeGraph<T>,
        labelled: Labelled<'_>,
        seed: u64,
        gradient: &mut [T],
    ) -> f64;

    /// The model's sizes as JSON, which a model file stores and from which the model is made again.
    fn description(&self) -> Result<String, serde_json::Error>;
}
