//! What networks are made of, beside attention: single maps of rows, each with its forward and backward pass.

pub(crate) mod activation;
pub(crate) mod batch_norm;
pub(crate) mod between;
#[cfg(test)]
pub(crate) mod differences;
pub(crate) mod linear;

pub(crate) use activation::{Activation, LEAKY_RELU, RELU};
pub(crate) use batch_norm::{BatchNorm, Statistics};
pub(crate) use between::Between;
pub(crate) use linear::Linear;

use crate::parameters::Layout;

/// Where parameters and running statistics are entered as modules are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layouts {
    pub(crate) parameters: Layout,
    pub(crate) buffers: Layout,
}

/// A forward pass.
pub(crate) struct Forward<'a, T> {
    /// All parameters of the model.
    pub(crate) parameters: &'a [T],
    /// All running statistics, which a training pass moves on and a prediction reads.
    pub(crate) buffers: &'a mut [T],
    /// Normalise with the statistics of the nodes at hand, not with running ones.
    pub(crate) training: bool,
}

/// A backward pass.
pub(crate) struct Backward<'a, T> {
    /// All parameters of the model.
    pub(crate) parameters: &'a [T],
    /// Their gradients; every module writes its own.
    pub(crate) gradient: &'a mut [T],
}
