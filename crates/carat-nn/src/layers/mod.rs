//! Attention layers, one file per kind, equal to PyG's parameter for parameter.
//!
//! A new kind is one file that implements [`Attention`], inside this crate or out of it; one that comes with carat is
//! also one line in [`AttentionKind`].

mod gat;
mod gat_pair;
mod gatv2;
mod kind;
mod optional;
mod per_head;
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
pub use state::{LayerState, State, TargetState};
pub use targets::{Known, Targets};
pub use transformer::Transformer;

use crate::kernels::softmax;
use crate::parameters::Parameter;
use crate::real::Real;

/// Width F and number of heads K of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerShape {
    /// F: inputs and outputs per node.
    pub width: usize,
    /// K: attention heads, averaged.
    pub heads: usize,
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
}

/// Gradients that arrive at a layer.
#[derive(Debug, Clone, Copy)]
pub struct Upstream<'a, T> {
    /// With respect to the layer's output, targets x F.
    pub d_out: &'a [T],
    /// With respect to the scores before the softmax, edges x heads, where a loss depends on attention itself: the
    /// edges of the first targets, or nothing at all.
    pub d_attention: &'a [T],
}

impl<T: Real> Upstream<'_, T> {
    /// From the gradient of one target's attention to that of its scores, in place: back through the softmax, and then
    /// whatever a loss on attention asks of the scores directly. A kind that leaves the second out cannot be
    /// regularised, so both are one call.
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
/// The forward pass has two halves, so that the network can compute some targets again with an edge deleted while all
/// that their sources offer is kept. Interventions and regularisation of a new kind follow from that: nothing else in
/// carat knows which kind it runs. Two rules keep it so. `targets` reads a target's own input from [`Targets::h`] and
/// never from [`Layer::h`], because the two differ once an edge is gone. And `backward` leads gradients through
/// [`Upstream::through_softmax`].
///
/// What only some kinds can do are traits of their own, which the last three methods lead to.
///
/// `crates/carat/examples/own_attention.rs` writes a kind in one file, [`crate::toolkit`] has the pieces that most
/// kinds need, and [`crate::check`] finds what is wrong with one.
pub trait Attention<T: Real>: fmt::Debug + Send + Sync {
    /// Names, shapes and initial distributions, as in PyG.
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter>;

    /// Computes what sources offer to every target alike, for the rows of `layer.h` from `first` on; `state` holds the
    /// rows before `first` already.
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

    /// From the gradients of `out` and of the scores: adds to `d_parameters` and writes all of `d_h` (sources x F),
    /// whatever it held. `state` is as the forward pass over the block's targets left it.
    fn backward(
        &self,
        layer: Layer<'_, T>,
        block: Block<'_>,
        upstream: Upstream<'_, T>,
        state: &mut LayerState<T>,
        d_parameters: &mut [T],
        d_h: &mut [T],
    );

    /// Products of outputs without the outputs, where the kind has them.
    fn as_products(&self) -> Option<&dyn Products<T>> {
        None
    }

    /// Two layers at once, where the kind then needs less of them.
    fn as_pair(&self) -> Option<&dyn LayerPair<T>> {
        None
    }

    /// What a training step costs at the least, where the kind tells.
    fn as_costs(&self) -> Option<&dyn Costs> {
        None
    }
}
