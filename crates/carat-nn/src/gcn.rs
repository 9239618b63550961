//! A graph convolution network (Kipf and Welling): PyG's GCNConv between the encoder and the classifier of the
//! attention network.
//!
//! ```text
//! h      = LeakyReLU(W1 x + b1)                       encoder
//! h^l+1  = (A h^l) W^T + b                            L graph convolutions
//! scores = W2 LeakyReLU([h || h^L]) + b2              classifier
//!
//! symmetric:  A_ji = 1 / sqrt(d_i d_j) for every in-edge (i, j) and for j itself; d_j counts j's in-edges and j itself
//! none:       A_ji = 1 for every in-edge (i, j)
//! ```
//!
//! What else can stand between these is the block's ([`BlockConfig`]). With `symmetric`, a node that has a self-loop in
//! the data keeps it and gets no second one. PyG multiplies by W before it sums. Both steps are linear, so the order
//! changes only rounding; here the bias is added with the product.

use carat_graph::Block;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::block::BlockConfig;
use crate::buffer::Buffer;
use crate::classifier::{Classifier, Joined};
use crate::denormals::Denormals;
use crate::encoder::{Encoded, Encoder};
use crate::kernels::convolution::{self, Weights};
use crate::matrix::Matrix;
use crate::modules::{Backward, Finish, Finished, Layouts, Linear, Masks, Mode, RowNodes};
use crate::parameters::Layout;
use crate::real::Real;
use crate::sizes::{self, SizeError};
use crate::toolkit::sized;

use crate::whole_graph::{Labelled, WholeGraph, WholeGraphModel};

words! {
    /// The weight of an in-edge in a graph convolution.
    pub enum GcnNorm, "a norm of a graph convolution" {
        /// 1 / sqrt(d_i d_j), with every node among its own in-neighbours.
        #[default]
        Symmetric = "symmetric",
        /// 1: the plain sum over in-neighbours.
        None = "none",
    }
}

impl GcnNorm {
    /// Weights of the block's edges, and of its targets themselves.
    fn weigh<T: Real>(self, block: Block<'_>, edges: &mut Vec<T>, own: &mut Vec<T>) {
        edges.clear();
        own.clear();
        match self {
            Self::None => {
                edges.resize(block.num_edges(), T::ONE);
                own.resize(block.num_targets(), T::ZERO);
            }
            Self::Symmetric => {
                let has_loop = |j: usize| block.in_neighbours(j).iter().any(|&i| i as usize == j);
                let degree = |j: usize| block.in_neighbours(j).len() + usize::from(!has_loop(j));
                let root: Vec<f64> = (0..block.num_targets()).map(|j| 1.0 / (degree(j) as f64).sqrt()).collect();
                for (j, &root_j) in root.iter().enumerate() {
                    let weights = block.in_neighbours(j).iter().map(|&i| T::from_f64(root[i as usize] * root_j));
                    edges.extend(weights);
                    own.push(if has_loop(j) { T::ZERO } else { T::from_f64(root_j * root_j) });
                }
            }
        }
    }
}

/// Sizes of a graph convolution network.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GcnConfig {
    /// The weight of an in-edge.
    pub norm: GcnNorm,
    /// Features per node.
    pub features: usize,
    /// F: width of the encoder and of every layer.
    pub hidden: usize,
    /// L: number of graph convolutions.
    pub layers: usize,
    /// Number of classes.
    pub classes: usize,
    /// What stands around the graph convolutions. Its settings of attention are not read.
    #[serde(default, skip_serializing_if = "BlockConfig::is_paper")]
    pub block: BlockConfig,
}

impl GcnConfig {
    /// Checks every size.
    pub fn check(&self) -> Result<(), SizeError> {
        sizes::FEATURES.check(self.features)?;
        sizes::HIDDEN.check(self.hidden)?;
        sizes::LAYERS.check(self.layers)?;
        sizes::CLASSES.check(self.classes)?;
        self.block.check_rates()
    }

    fn lay_out(&self) -> Result<(Layouts, Places), SizeError> {
        self.check()?;
        let Self { features, hidden, classes, block, .. } = *self;
        let mut layouts = Layouts::default();
        let encoder = Encoder::lay_out(&mut layouts, features, hidden, block);
        let (mut layers, mut finishes) = (Vec::new(), Vec::new());
        for l in 0..self.layers {
            let name = format!("layers.{l}");
            layers.push(Linear::convolution(&mut layouts.parameters, &name, hidden, hidden));
            finishes.push(Finish::of_layer(&mut layouts, l, hidden, block));
        }
        let classifier = Classifier::lay_out(&mut layouts.parameters, hidden, classes, block);
        sizes::PARAMETERS.check(layouts.parameters.len())?;
        Ok((layouts, Places { encoder, layers, finishes, classifier }))
    }
}

#[derive(Debug, Clone)]
struct Places {
    encoder: Encoder,
    layers: Vec<Linear>,
    finishes: Vec<Finish>,
    classifier: Classifier,
}

/// A graph convolution network and its parameters.
#[derive(Debug)]
pub struct GcnNetwork<T> {
    config: GcnConfig,
    layouts: Layouts,
    places: Places,
    parameters: Buffer<T>,
    /// Running statistics.
    buffers: Buffer<T>,
    work: Workspace<T>,
    /// The graph of the last forward pass.
    graph: Option<u64>,
    /// Whether the stored layers belong to the current parameters: a prediction and the step after it share a forward
    /// pass.
    current: bool,
}

/// Buffers of the passes.
#[derive(Debug, Default)]
struct Workspace<T> {
    edge_weights: Vec<T>,
    own_weights: Vec<T>,
    encoded: Encoded<T>,
    /// h[0] is the encoder's output, h[l + 1] that of layer l.
    h: Vec<Buffer<T>>,
    /// Per layer, what stands between it and the next.
    finished: Vec<Finished<T>>,
    /// A h of each layer.
    sums: Vec<Buffer<T>>,
    d_h: Buffer<T>,
    d_before: Buffer<T>,
    d_sums: Buffer<T>,
    joined: Joined<T>,
    d_joined: Vec<T>,
    d_last: Vec<T>,
    scores: Vec<T>,
    d_scores: Vec<T>,
}

impl<T> Workspace<T> {
    fn weights(&self) -> Weights<'_, T> {
        Weights { edges: &self.edge_weights, own: &self.own_weights }
    }
}

impl<T: Real> GcnNetwork<T> {
    /// A network with seeded initial parameters.
    pub fn new(config: GcnConfig, seed: u64) -> Result<Self, SizeError> {
        let (layouts, places) = config.lay_out()?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (parameters, buffers) = (layouts.parameters.initialise(&mut rng), layouts.buffers.initialise(&mut rng));
        let work = Workspace::default();
        Ok(Self { config, layouts, places, parameters, buffers, work, graph: None, current: false })
    }

    /// Number of parameters and running statistics of a network of these sizes, without making one.
    pub(crate) fn num_values(config: GcnConfig) -> Result<usize, SizeError> {
        Ok(config.lay_out()?.0.num_values())
    }

    /// The sizes.
    pub fn config(&self) -> GcnConfig {
        self.config
    }

    /// From features to the last layer's output, unless that is already computed.
    fn forward(&mut self, graph: &WholeGraph<T>, mode: Mode) {
        let (hidden, nodes) = (self.config.hidden, graph.num_nodes());
        let Self { work, parameters, buffers, places, .. } = self;
        if self.graph != Some(graph.id()) {
            self.config.norm.weigh(graph.block(), &mut work.edge_weights, &mut work.own_weights);
            (self.graph, self.current) = (Some(graph.id()), false);
        }
        if self.current {
            return;
        }
        // Where training passes differ from predictions, neither serves as the other.
        self.current = !self.config.block.differs_in_training();
        work.h.resize_with(self.config.layers + 1, Buffer::default);
        work.sums.resize_with(self.config.layers, Buffer::default);
        work.finished.resize_with(self.config.layers, Finished::default);
        for buffer in work.h.iter_mut().chain(&mut work.sums) {
            buffer.resize(nodes * hidden, T::ZERO);
        }
        places.encoder.forward(parameters, mode, graph.input(), graph.nodes(), &mut work.encoded, &mut work.h[0]);
        for (l, (linear, finish)) in places.layers.iter().zip(&places.finishes).enumerate() {
            let weights = Weights { edges: &work.edge_weights, own: &work.own_weights };
            convolution::forward(graph.block(), weights, &work.h[l], hidden, &mut work.sums[l]);
            let (before, after) = work.h.split_at_mut(l + 1);
            if finish.is_identity() {
                linear.affine(parameters, &work.sums[l], &mut after[0]);
                continue;
            }
            let finished = &mut work.finished[l];
            linear.affine(parameters, &work.sums[l], sized(&mut finished.sums, nodes * hidden));
            let rows = RowNodes { nodes: graph.nodes(), rows: None };
            finish.forward_layer((parameters, buffers), mode, None, (rows, &before[l]), finished, &mut after[0]);
        }
    }

    /// Class scores of the nodes at these places, into `work.scores`.
    fn classify(&mut self, rows: usize, place: impl Fn(usize) -> usize + Sync) {
        let GcnConfig { layers, classes, .. } = self.config;
        let Self { work, parameters, places, .. } = self;
        work.scores.resize(rows * classes, T::ZERO);
        let Workspace { h, joined, scores, .. } = work;
        places.classifier.join_and_classify(parameters, [&h[0], &h[layers]], place, joined, scores);
    }

    /// From `work.d_scores`, a row for each of the nodes, to the gradient of every parameter.
    fn backward(&mut self, graph: &WholeGraph<T>, mode: Mode, nodes: &[u32], gradient: &mut [T]) {
        let (hidden, all) = (self.config.hidden, graph.num_nodes());
        let Self { work, parameters, places, .. } = self;
        work.d_last.resize(nodes.len() * hidden, T::ZERO);
        let Workspace { joined, d_scores, d_joined, d_last, .. } = &mut *work;
        places.classifier.backward(parameters, joined, d_scores, d_joined, Some(d_last), gradient);
        work.d_h.clear();
        work.d_h.resize(all * hidden, T::ZERO);
        add_rows(&mut work.d_h, nodes, work.d_last.chunks_exact(hidden));
        work.d_sums.resize(all * hidden, T::ZERO);
        let mut pass = Backward { parameters: &parameters[..], gradient };
        for (l, (linear, finish)) in places.layers.iter().zip(&places.finishes).enumerate().rev() {
            if !finish.is_identity() {
                let Finished { sums, statistics, .. } = &work.finished[l];
                let rows = RowNodes { nodes: graph.nodes(), rows: None };
                finish.backward(&mut pass, mode, statistics, rows, sums, &mut work.d_h);
            }
            linear.bias_backward(&mut pass, &work.d_h);
            linear.product_backward(&mut pass, &work.sums[l], &work.d_h, &mut work.d_sums);
            let mut d_h = std::mem::take(&mut work.d_before);
            d_h.resize(all * hidden, T::ZERO);
            convolution::backward(graph.block(), work.weights(), &work.d_sums, hidden, &mut d_h);
            finish.residual_backward(&mut pass, &work.h[l], &work.d_h, &mut d_h);
            work.d_before = std::mem::replace(&mut work.d_h, d_h);
        }
        // A part of a joined row may reach the encoder directly.
        let direct = places.classifier.direct(&work.d_joined);
        add_rows(&mut work.d_h, nodes, (0..direct.num_rows()).map(|row| direct.row(row)));
        let nothing = Matrix::new(&[], 0, hidden);
        let (input, encoded) = ((graph.input(), graph.nodes()), (&work.encoded, &work.h[0][..]));
        places.encoder.backward(&mut pass, mode, input, encoded, nothing, &mut work.d_h);
    }
}

impl GcnNetwork<f32> {
    /// The network as a model of the whole graph.
    pub fn boxed(self) -> Box<dyn WholeGraphModel<f32>> {
        Box::new(self)
    }
}

/// Adds rows to those of `nodes` in `matrix`.
fn add_rows<'a, T: Real>(matrix: &mut [T], nodes: &[u32], rows: impl Iterator<Item = &'a [T]>) {
    for (&node, row) in nodes.iter().zip(rows) {
        let place = node as usize * row.len();
        matrix[place..place + row.len()].iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
    }
}

impl<T: Real> WholeGraphModel<T> for GcnNetwork<T> {
    fn features(&self) -> usize {
        self.config.features
    }

    fn classes(&self) -> usize {
        self.config.classes
    }

    fn layout(&self) -> &Layout {
        &self.layouts.parameters
    }

    fn parameters(&self) -> &[T] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [T] {
        self.current = false;
        &mut self.parameters
    }

    fn buffer_layout(&self) -> &Layout {
        &self.layouts.buffers
    }

    fn buffers(&self) -> &[T] {
        &self.buffers
    }

    fn buffers_mut(&mut self) -> &mut [T] {
        self.current = false;
        &mut self.buffers
    }

    fn predict(&mut self, graph: &WholeGraph<T>, scores: &mut Vec<T>) {
        let _flush = Denormals::flush();
        self.forward(graph, Mode::PREDICTION);
        self.classify(graph.num_nodes(), |row| row);
        scores.clone_from(&self.work.scores);
    }

    fn loss_and_gradient(
        &mut self,
        graph: &WholeGraph<T>,
        labelled: Labelled<'_>,
        seed: u64,
        gradient: &mut [T],
    ) -> f64 {
        let _flush = Denormals::flush();
        let Labelled { nodes, labels, weights } = labelled;
        let mode = Mode::training(Masks::new(seed, 0));
        self.forward(graph, mode);
        self.classify(nodes.len(), |row| nodes[row] as usize);
        let loss = self.places.classifier.loss(&self.work.scores, labels, weights, &mut self.work.d_scores);
        self.backward(graph, mode, nodes, gradient);
        for (finish, finished) in self.places.finishes.iter().zip(&self.work.finished) {
            finish.update_running(finished, &mut self.buffers);
        }
        loss
    }

    fn description(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.config)
    }
}
