//! Attention layers, one file per kind, equal to PyG's parameter for parameter.
//!
//! A new kind is one file that implements [`Attention`] and one line in [`AttentionKind`].

mod gat;
mod gatv2;
mod per_head;
mod transformer;

use std::fmt;
use std::str::FromStr;

use carat_graph::Block;
use serde::{Deserialize, Serialize};

pub use gat::Gat;
pub use gatv2::GatV2;
pub use transformer::Transformer;

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

/// One application of a layer: its edges, its parameters and its inputs.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a, T> {
    /// The layer's edges.
    pub block: Block<'a>,
    /// The layer's sizes.
    pub shape: LayerShape,
    /// The layer's parameters, in the order of [`Attention::parameters`].
    pub parameters: &'a [T],
    /// Inputs: one row of F per source, targets first.
    pub h: &'a [T],
}

/// What a layer keeps between its forward and its backward pass. Buffers grow once and are reused every step.
#[derive(Debug, Clone, Default)]
pub struct LayerState<T> {
    /// Attention, edges x heads, after a forward pass.
    pub alpha: Vec<T>,
    /// Whatever else the kind keeps; each kind's file names its own.
    pub buffers: [Vec<T>; 10],
}

/// A kind of attention: its parameters, forward pass and hand-derived backward pass.
pub trait Attention<T: Real>: fmt::Debug + Send + Sync {
    /// Names, shapes and initial distributions, as in PyG.
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter>;

    /// Fills `out` (targets x F) and `state.alpha`.
    fn forward(&self, pass: Pass<'_, T>, out: &mut [T], state: &mut LayerState<T>);

    /// From the gradient of `out`: adds to `d_parameters` and writes all of `d_h` (sources x F), whatever it held.
    /// `state` is as forward left it.
    fn backward(
        &self,
        pass: Pass<'_, T>,
        d_out: &[T],
        state: &mut LayerState<T>,
        d_parameters: &mut [T],
        d_h: &mut [T],
    );
}

/// The attention kinds that come with carat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionKind {
    /// Graph attention network (GATConv).
    #[default]
    Gat,
    /// GATv2 (GATv2Conv).
    GatV2,
    /// Graph Transformer (TransformerConv).
    Transformer,
}

impl AttentionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Gat, Self::GatV2, Self::Transformer];

    /// The name used in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gat => "gat",
            Self::GatV2 => "gatv2",
            Self::Transformer => "transformer",
        }
    }

    /// The layer itself.
    pub fn attention<T: Real>(self) -> Box<dyn Attention<T>> {
        match self {
            Self::Gat => Box::new(Gat),
            Self::GatV2 => Box::new(GatV2),
            Self::Transformer => Box::new(Transformer),
        }
    }
}

impl fmt::Display for AttentionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AttentionKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("'{text}' is not an attention kind; choose gat, gatv2 or transformer"))
    }
}

/// Cuts a layer's parameters (or their gradients) into the pieces its file names.
fn cut<const N: usize, T>(mut values: &[T], lengths: [usize; N]) -> [&[T]; N] {
    lengths.map(|length| {
        let (piece, rest) = values.split_at(length);
        values = rest;
        piece
    })
}

/// As [`cut`], writable.
fn cut_mut<const N: usize, T>(mut values: &mut [T], lengths: [usize; N]) -> [&mut [T]; N] {
    lengths.map(|length| {
        let (piece, rest) = std::mem::take(&mut values).split_at_mut(length);
        values = rest;
        piece
    })
}

/// Makes `buffer` exactly `len` long without giving memory back; what it held before is not cleared.
fn sized<T: Real>(buffer: &mut Vec<T>, len: usize) -> &mut [T] {
    buffer.resize(len, T::ZERO);
    buffer
}
