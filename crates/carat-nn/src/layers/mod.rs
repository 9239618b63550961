//! Attention layers, one file per kind, equal to PyG's parameter for parameter.
//!
//! A new kind is one file that implements [`Attention`], inside this crate or out of it; one that comes with carat is
//! also one line in [`AttentionKind`].

mod gat;
mod gat_pair;
mod gatv2;
mod kind;
mod optional;
mod pairs;
mod per_head;
mod projected;
mod state;
mod targets;
mod transformer;

use std::fmt;
use std::ops::Range;

use carat_graph::Block;

pub use gat::Gat;
pub(crate) use gat::SCORE_SLOPE;
pub use gatv2::GatV2;
pub use kind::AttentionKind;
pub use optional::{Costs, LayerPair, PairedLayer, Products};
pub use pairs::{NodePairs, PairScores};
pub use state::{LayerState, State, TargetState};
pub use targets::{Original, Targets};
pub use transformer::Transformer;

use crate::kernels::softmax;
use crate::modules::Dropout;
use crate::parameters::Parameter;
use crate::real::Real;

words! {
    /// How a layer joins what its heads compute.
    pub enum Join, "a way to join heads" {
        /// The mean of K heads of F values each.
        #[default]
        Mean = "mean",
        /// K heads of F / K values each, side by side.
        Concat = "concat",
    }
}

/// Sizes of a layer. Its inputs and its outputs have F values per node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerShape {
    /// F: inputs and outputs per node.
    pub width: usize,
    /// K: attention heads.
    pub heads: usize,
    /// How the heads are joined.
    pub join: Join,
    /// Features per edge; 0 where edges have none.
    pub edge_features: usize,
}

impl LayerShape {
    /// A layer that averages its heads and reads no edge features.
    pub fn averaged(width: usize, heads: usize) -> Self {
        Self { width, heads, join: Join::Mean, edge_features: 0 }
    }

    /// Outputs per head and node.
    pub fn head_width(self) -> usize {
        match self.join {
            Join::Mean => self.width,
            Join::Concat => self.width / self.heads,
        }
    }
}

/// One application of a layer: its sizes, its parameters and its inputs.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a, T> {
    /// The layer's sizes.
    pub shape: LayerShape,
    /// The layer's parameters, in the order of [`Attention::parameters`].
    pub parameters: &'a [T],
    /// Inputs: one row of F per source.
    pub h: &'a [T],
    /// What the layer knows of its block's edges besides their ends.
    pub edges: LayerEdges<'a, T>,
}

/// Edges of a layer's block, by their position in it.
#[derive(Debug, Clone, Copy)]
pub struct LayerEdges<'a, T> {
    /// A number for every edge that no other edge of the graph has.
    pub keys: &'a [u32],
    /// Features of every edge: rows of [`LayerShape::edge_features`].
    pub features: &'a [T],
    /// In training, which entries of messages are dropped: the mask of edge e and column c of its K x D values is that
    /// of row `keys[e]` and column c.
    pub messages: Option<Dropout>,
    /// In training, which attention is dropped: the mask of edge e and head k is that of row `keys[e]` and column k. A
    /// dropped edge keeps its attention, but adds nothing to the output.
    pub dropout: Option<Dropout>,
    /// What every edge's message is multiplied by, in all heads; empty where nothing is. Attention stays as it is.
    pub gates: &'a [T],
}

impl<T> Default for LayerEdges<'_, T> {
    fn default() -> Self {
        Self { keys: &[], features: &[], messages: None, dropout: None, gates: &[] }
    }
}

/// Gradients that arrive at a layer.
#[derive(Debug, Clone, Copy)]
pub struct Upstream<'a, T> {
    /// With respect to the layer's output, targets x F.
    pub d_out: &'a [T],
    /// With respect to the scores before the softmax, edges x heads, where a loss depends on attention itself: for the
    /// edges of the first targets, or empty.
    pub d_attention: &'a [T],
}

impl<T: Real> Upstream<'_, T> {
    /// Turns the gradient of one target's attention into that of its scores, in place: the backward pass of the
    /// softmax, plus the gradient that a loss on attention has with respect to the scores. A kind that leaves out the
    /// second part cannot be regularised, so both are one call.
    ///
    /// `edges` are the target's in-edges in the block, `alpha` the attention of all edges, and `gradient` has `heads`
    /// values for each of the target's.
    #[inline]
    pub fn through_softmax(&self, edges: Range<usize>, heads: usize, alpha: &[T], gradient: &mut [T]) {
        softmax::scores_backward(edges.start * heads..edges.end * heads, heads, alpha, self.d_attention, gradient);
    }
}

/// A kind of attention: its parameters, forward pass and hand-derived backward pass.
///
/// The forward pass has two halves, so that the network can compute some targets again with an edge deleted and reuse
/// everything that was computed for their sources. So interventions and regularisation work with any kind: nothing else
/// in carat depends on it. Two rules make this possible. `targets` reads a target's own input from [`Targets::h`] and
/// never from [`Layer::h`], because the two differ once an edge is deleted. And `backward` takes gradients through
/// [`Upstream::through_softmax`].
///
/// Traits of their own describe what only some kinds can do. The last four methods return them.
///
/// `crates/carat/examples/own_attention.rs` implements a kind in one file, [`crate::toolkit`] has tools for most kinds,
/// and [`crate::check`] finds mistakes in one.
pub trait Attention<T: Real>: fmt::Debug + Send + Sync {
    /// Names, shapes and initial distributions, as in PyG.
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter>;

    /// Computes everything of the sources that does not depend on a target, for the rows of `layer.h` from `first` on.
    /// `state` already holds the rows before `first`.
    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State);

    /// Fills `out` (targets x F) and `state`, attention included. A target without in-edges aggregates to zero.
    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    );

    /// From the gradients of `out` and of the scores: adds to `d_parameters` and overwrites `d_h` (sources x F).
    /// `state` is as the forward pass over the block's targets left it.
    fn backward(
        &self,
        layer: Layer<'_, T>,
        block: Block<'_>,
        upstream: Upstream<'_, T>,
        state: &mut LayerState<T>,
        d_parameters: &mut [T],
        d_h: &mut [T],
    );

    /// Products of outputs without the outputs, if the kind supports them.
    fn as_products(&self) -> Option<&dyn Products<T>> {
        None
    }

    /// Scores of any pairs of nodes, if the kind supports that.
    fn as_pair_scores(&self) -> Option<&dyn PairScores<T>> {
        None
    }

    /// Two layers computed together, if the kind supports that.
    fn as_pair(&self) -> Option<&dyn LayerPair<T>> {
        None
    }

    /// The least that a training step costs, if the kind states it.
    fn as_costs(&self) -> Option<&dyn Costs> {
        None
    }
}
