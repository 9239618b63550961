//! CAL's CausalGAT (Sui et al. 2022), adapted to nodes by leaving out the pooling.
//!
//! ```text
//! x        = ReLU(BN(features) W^T)                        stem
//! x        = ReLU(GAT(BN(x)))                              L times; heads concatenated, with self-loops
//! (c, o)   = 2-way softmax of linear maps of [x_i || x_j]  for every edge, and of x_n for every node: shares of
//!                                                          context and object
//! x_c      = ReLU(GCN_c(BN(c_n x_n)))                      edges weighted by c_ij; likewise x_o
//! context  = MLP_c(x_c)        object = MLP_o(x_o)         MLP: BN, linear, ReLU, BN, linear
//! combined = MLP_co(x_o + x_c of another node)             the other nodes are a random permutation
//! loss     = NLL(object) + lambda1 KL(uniform || context) + lambda2 NLL(combined)
//! ```
//!
//! The loss is over the labelled nodes; prediction is the object's. `docs/cal.md` lists where this differs from the
//! authors' code.
//!
//! As in the authors' code, self-loops of the data are replaced by one per node, of weight 1 in the GCN; the stem's
//! map has no bias; batch normalisation starts with weight 1 and bias 0.0001. Names in a model file are those of the
//! authors' modules with PyG's and PyTorch's names inside (`bn_feat.running_mean`, `convs.0.lin.weight`, `fc2_o.bias`);
//! PyTorch's counters `num_batches_tracked` are left out, and PyTorch starts them at 0 where a file has none.

mod attention_layer;
mod branch;
mod config;
mod head;
mod normalisation;
mod objective;
mod shares;
mod stem;

use carat_graph::Block;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use attention_layer::{AttentionLayer, AttentionState};
use branch::{Branch, BranchGradients, BranchInput, BranchState};
pub use config::{CalConfig, CalError};
use head::{Head, HeadState};
use shares::{ShareGradients, Shares, SharesState};
use stem::{Stem, StemState};

use crate::buffer::Buffer;
use crate::denormals::Denormals;
use crate::modules::{Backward, Forward, Layouts};
use crate::parameters::Layout;
use crate::real::Real;
use crate::rows::{Chunks, Rows};
use crate::sizes;
use crate::toolkit::sized;
use crate::whole_graph::{Labelled, WholeGraph, WholeGraphModel};

/// Rows per chunk where branches are joined.
const CHUNK_ROWS: usize = 128;

/// The classifiers: of the context, of the object, and of the object in another node's context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalHead {
    /// Trained to say nothing about the class.
    Context,
    /// The prediction.
    Object,
    /// Trained to predict the object's label in any context.
    Combined,
}

/// Places of the two branches, and of their heads.
const CONTEXT: usize = 0;
const OBJECT: usize = 1;
const COMBINED: usize = 2;

/// The model and its parameters.
#[derive(Debug)]
pub struct Cal<T> {
    config: CalConfig,
    parts: Parts,
    layouts: Layouts,
    parameters: Buffer<T>,
    buffers: Buffer<T>,
    work: Work<T>,
}

/// The parts of the model.
#[derive(Debug)]
struct Parts {
    stem: Stem,
    layers: Vec<AttentionLayer>,
    shares: Shares,
    branches: [Branch; 2],
    heads: [Head; 3],
}

/// The results of passes, reused in every step.
#[derive(Debug, Clone, Default)]
struct Work<T> {
    stem: StemState<T>,
    layers: Vec<AttentionState<T>>,
    shares: SharesState<T>,
    branches: [BranchState<T>; 2],
    combined: Buffer<T>,
    heads: [HeadState<T>; 3],
    share_gradients: ShareGradients<T>,
    gradients: [Buffer<T>; 3],
    d_x: Buffer<T>,
    scratch: Buffer<T>,
}

impl<T: Real> Cal<T> {
    /// A model with seeded initial parameters.
    pub fn new(config: CalConfig, seed: u64) -> Result<Self, CalError> {
        let (parts, layouts) = lay_out(config)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let parameters = layouts.parameters.initialise(&mut rng);
        let buffers = layouts.buffers.initialise(&mut rng);
        Ok(Self { config, parts, layouts, parameters, buffers, work: Work::default() })
    }

    /// Number of values in the file of a model of these sizes, without making one.
    pub(crate) fn num_values(config: CalConfig) -> Result<usize, CalError> {
        let (_, layouts) = lay_out(config)?;
        Ok(layouts.parameters.len() + layouts.buffers.len())
    }

    /// Sizes and strengths.
    pub fn config(&self) -> CalConfig {
        self.config
    }

    /// The scores of one head in the last pass, nodes x classes. After a prediction only the object's are of that pass.
    pub fn scores(&self, head: CalHead) -> &[T] {
        let place = match head {
            CalHead::Context => CONTEXT,
            CalHead::Object => OBJECT,
            CalHead::Combined => COMBINED,
        };
        &self.work.heads[place].scores
    }

    /// As [`WholeGraphModel::loss_and_gradient`], with a given permutation: node n's object is put into the context of
    /// node `permutation[n]`.
    pub fn loss_in_contexts(
        &mut self,
        graph: &WholeGraph<T>,
        labelled: Labelled<'_>,
        permutation: &[u32],
        gradient: &mut [T],
    ) -> f64 {
        let _flush = Denormals::flush();
        let CalConfig { classes, lambda1, lambda2, .. } = self.config;
        self.forward(graph, true);
        self.combine(permutation);
        let Self { parts, parameters, buffers, work, .. } = self;
        let mut pass = Forward { parameters, buffers, training: true };
        let nodes = graph.num_nodes();
        let inputs = [&work.branches[CONTEXT].out, &work.branches[OBJECT].out, &work.combined];
        for ((head, input), state) in parts.heads.iter().zip(inputs).zip(&mut work.heads) {
            head.forward(&mut pass, input, nodes, state);
        }
        let [context, object, combined] = &mut work.heads;
        let loss = objective::likelihood(labelled, classes, 1.0, object)
            + lambda1 * objective::uniformity(labelled.nodes, classes, lambda1, context)
            + lambda2 * objective::likelihood(labelled, classes, lambda2, combined);
        self.backward(graph, permutation, gradient);
        loss
    }

    /// From the features to the outputs of the branches; at prediction, only of the object's.
    fn forward(&mut self, graph: &WholeGraph<T>, training: bool) {
        let Self { parts, parameters, buffers, work, .. } = self;
        let mut pass = Forward { parameters, buffers, training };
        parts.stem.forward(&mut pass, graph, &mut work.stem);
        work.layers.resize_with(parts.layers.len(), AttentionState::default);
        for l in 0..parts.layers.len() {
            let (before, after) = work.layers.split_at_mut(l);
            let x = before.last().map_or(&work.stem.out, |state| &state.out);
            parts.layers[l].forward(&mut pass, graph.looped(), x, &mut after[0]);
        }
        let x = last_output(&work.stem, &work.layers);
        parts.shares.forward(pass.parameters, graph.block(), x, &mut work.shares);
        let first = if training { CONTEXT } else { OBJECT };
        for place in first..=OBJECT {
            let input = branch_input(graph.block(), x, &work.shares, place);
            parts.branches[place].forward(&mut pass, input, &mut work.branches[place]);
        }
    }

    /// combined_n = object_n + context of node permutation_n
    fn combine(&mut self, permutation: &[u32]) {
        let hidden = self.config.hidden;
        let [context, object] = &self.work.branches;
        let (context, object) = (&context.out, &object.out);
        let combined = sized(&mut self.work.combined, object.len());
        Chunks::even(permutation.len(), CHUNK_ROWS).run(Rows::new(combined, hidden), |range, combined| {
            for (node, row) in range.zip(combined.into_slice().chunks_exact_mut(hidden)) {
                let other = permutation[node] as usize;
                row.copy_from_slice(&object[node * hidden..(node + 1) * hidden]);
                add_to(row, &context[other * hidden..(other + 1) * hidden]);
            }
        });
    }

    /// From the gradients of the heads' scores to those of all parameters.
    fn backward(&mut self, graph: &WholeGraph<T>, permutation: &[u32], gradient: &mut [T]) {
        let hidden = self.config.hidden;
        let Self { parts, parameters, work, .. } = self;
        let Work { stem, layers, shares, branches, combined, heads, share_gradients, gradients, d_x, scratch } = work;
        let mut pass = Backward { parameters, gradient };
        let inputs = [&branches[CONTEXT].out, &branches[OBJECT].out, combined];
        for (place, input) in inputs.into_iter().enumerate() {
            parts.heads[place].backward(&mut pass, input, &heads[place], &mut gradients[place], scratch);
        }
        let [d_context, d_object, d_combined] = gradients;
        let mut used_by = vec![0u32; permutation.len()];
        for (node, other) in permutation.iter().enumerate() {
            used_by[*other as usize] = node as u32;
        }
        let outputs = (Rows::new(&mut *d_context, hidden), Rows::new(&mut *d_object, hidden));
        Chunks::even(permutation.len(), CHUNK_ROWS).run(outputs, |range, (d_context, d_object)| {
            let rows =
                d_context.into_slice().chunks_exact_mut(hidden).zip(d_object.into_slice().chunks_exact_mut(hidden));
            for (node, (d_context, d_object)) in range.zip(rows) {
                let user = used_by[node] as usize;
                add_to(d_context, &d_combined[user * hidden..(user + 1) * hidden]);
                add_to(d_object, &d_combined[node * hidden..(node + 1) * hidden]);
            }
        });

        let x = last_output(stem, layers);
        let d_x = sized(d_x, x.len());
        d_x.fill(T::ZERO);
        let ShareGradients { edges: d_edges, nodes: d_nodes } = share_gradients;
        for (place, d_out) in [d_context, d_object].into_iter().enumerate() {
            let input = branch_input(graph.block(), x, shares, place);
            let (nodes, edges) = (&mut d_nodes[place], &mut d_edges[place]);
            let gradients = BranchGradients { x: &mut *d_x, nodes, edges };
            parts.branches[place].backward(&mut pass, input, &branches[place], d_out, gradients, scratch);
        }
        parts.shares.backward(&mut pass, graph.block(), x, shares, share_gradients, d_x);
        for l in (0..parts.layers.len()).rev() {
            let x = last_output(stem, &layers[..l]);
            parts.layers[l].backward(&mut pass, graph.looped(), x, &layers[l], d_x, scratch);
        }
        parts.stem.backward(&mut pass, graph, stem, d_x);
    }
}

impl Cal<f32> {
    /// The model as one of the whole graph.
    pub fn boxed(self) -> Box<dyn WholeGraphModel<f32>> {
        Box::new(self)
    }
}

/// Names, shapes and places of everything in a model of these sizes.
fn lay_out(config: CalConfig) -> Result<(Parts, Layouts), CalError> {
    config.check()?;
    let CalConfig { features, hidden, heads, layers, classes, .. } = config;
    let mut layouts = Layouts::default();
    let parts = Parts {
        stem: Stem::new(&mut layouts, features, hidden),
        layers: (0..layers).map(|l| AttentionLayer::new(&mut layouts, l, hidden, heads)).collect(),
        shares: Shares::new(&mut layouts, hidden),
        branches: [("bnc", "context_convs"), ("bno", "objects_convs")]
            .map(|(norm, convolution)| Branch::new(&mut layouts, norm, convolution, hidden)),
        heads: ["c", "o", "co"].map(|suffix| Head::new(&mut layouts, suffix, hidden, classes)),
    };
    sizes::PARAMETERS.check(layouts.parameters.len())?;
    Ok((parts, layouts))
}

/// The output of the last attention layer, or of the stem where there is none before.
fn last_output<'a, T>(stem: &'a StemState<T>, layers: &'a [AttentionState<T>]) -> &'a [T] {
    layers.last().map_or(&stem.out, |state| &state.out)
}

fn branch_input<'a, T>(block: Block<'a>, x: &'a [T], shares: &'a SharesState<T>, place: usize) -> BranchInput<'a, T> {
    BranchInput { block, x, nodes: &shares.nodes[place], edges: &shares.edges[place] }
}

fn add_to<T: Real>(row: &mut [T], addition: &[T]) {
    row.iter_mut().zip(addition).for_each(|(row, addition)| *row += *addition);
}

/// A seeded permutation of the nodes.
fn permutation(nodes: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

impl<T: Real> WholeGraphModel<T> for Cal<T> {
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
        &mut self.parameters
    }

    fn buffer_layout(&self) -> &Layout {
        &self.layouts.buffers
    }

    fn buffers(&self) -> &[T] {
        &self.buffers
    }

    fn buffers_mut(&mut self) -> &mut [T] {
        &mut self.buffers
    }

    fn predict(&mut self, graph: &WholeGraph<T>, scores: &mut Vec<T>) {
        let _flush = Denormals::flush();
        self.forward(graph, false);
        let Self { parts, parameters, buffers, work, .. } = self;
        let mut pass = Forward { parameters, buffers, training: false };
        let (input, state) = (&work.branches[OBJECT].out, &mut work.heads[OBJECT]);
        parts.heads[OBJECT].forward(&mut pass, input, graph.num_nodes(), state);
        scores.clear();
        scores.extend_from_slice(&state.scores);
    }

    fn loss_and_gradient(
        &mut self,
        graph: &WholeGraph<T>,
        labelled: Labelled<'_>,
        seed: u64,
        gradient: &mut [T],
    ) -> f64 {
        let permutation = permutation(graph.num_nodes(), seed);
        self.loss_in_contexts(graph, labelled, &permutation, gradient)
    }

    fn description(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.config)
    }
}
