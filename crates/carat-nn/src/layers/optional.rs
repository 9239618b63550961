//! What only some attention kinds can do.

use std::fmt;

use carat_graph::Block;

use super::state::{LayerState, State, TargetState};
use super::targets::Targets;
use super::{Layer, LayerShape, Upstream};
use crate::cost::{Cost, LayerSizes};
use crate::real::Real;

/// Products of a target's output with a few vectors, without the output: for kinds that need only such products of a
/// target's input, and whose output is a linear map.
pub trait Products<T: Real>: fmt::Debug + Send + Sync {
    /// The rows of F whose products with a target's own input are all that
    /// [`Attention::targets`](crate::Attention::targets) needs of it, given the state that
    /// [`Attention::sources`](crate::Attention::sources) filled.
    fn own_vectors<'a>(&self, shape: LayerShape, sources: &'a State) -> &'a [T];

    /// As [`Attention::targets`](crate::Attention::targets), but writes the products of every target's output with
    /// `vectors` (rows of F) in place of the output.
    fn products(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        vectors: &[T],
        products: &mut [T],
        state: &mut TargetState<T>,
    );
}

/// The least that training steps cost.
pub trait Costs: fmt::Debug + Send + Sync {
    /// The least that a training step's passes through a layer must compute and move.
    fn cost(&self, sizes: LayerSizes) -> Cost;
}

/// Two layers computed together, where only the upper one reads the output of the lower one. Outputs of the lower layer
/// are computed only on request. Arrays have the lower layer first.
pub trait LayerPair<T: Real>: fmt::Debug + Send + Sync {
    /// Whether that saves work on these blocks.
    fn pays(&self, shape: LayerShape, blocks: [Block<'_>; 2]) -> bool;

    /// As [`Costs::cost`], of both layers.
    fn costs(&self, shape: LayerShape, blocks: [Block<'_>; 2]) -> [Cost; 2];

    /// Fills `out` (the upper layer's targets x F), attention of both layers, and everything that
    /// [`LayerPair::backward`] needs. Given a buffer for the lower layer's outputs (one row per source of the upper
    /// one), it also fills the rows that an edge of the upper layer reads, and everything that deletions need of both
    /// layers' states.
    fn forward(
        &self,
        layers: [PairedLayer<'_, T>; 2],
        states: [&mut LayerState<T>; 2],
        pair: &mut State,
        lower_outputs: Option<&mut [T]>,
        out: &mut [T],
    );

    /// Backward through both layers. No loss reads the lower layer's output directly, so its gradient comes only from
    /// the upper layer. Also works after a forward pass of the layers one by one.
    fn backward(
        &self,
        layers: [PairedLayer<'_, T>; 2],
        upstream: [Upstream<'_, T>; 2],
        states: [&mut LayerState<T>; 2],
        pair: &mut State,
        d_parameters: [&mut [T]; 2],
        d_h: &mut [T],
    );
}

/// A layer of a pair with its edges. The upper one has inputs only in the backward pass, and only where the forward
/// pass computed them.
#[derive(Debug, Clone, Copy)]
pub struct PairedLayer<'a, T> {
    /// Sizes, parameters, inputs.
    pub layer: Layer<'a, T>,
    /// Edges.
    pub block: Block<'a>,
}
