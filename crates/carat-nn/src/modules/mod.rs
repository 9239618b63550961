//! The parts of networks other than attention: maps of single rows, each with a forward and a backward pass.

pub(crate) mod activation;
pub(crate) mod batch_norm;
#[cfg(test)]
pub(crate) mod differences;
pub(crate) mod dropout;
pub(crate) mod finish;
pub(crate) mod layer_norm;
pub(crate) mod leaky;
pub(crate) mod linear;

pub use activation::Activation;
pub(crate) use batch_norm::{BatchNorm, Statistics};
pub use dropout::{Dropout, Masks, Place, RowMask};
pub(crate) use finish::{Finish, Finished, Mode, RowNodes};
pub use finish::{Norm, Residual};
pub(crate) use layer_norm::LayerNorm;
pub(crate) use leaky::{Leaky, RELU};
pub(crate) use linear::Linear;

use crate::parameters::Layout;

/// Collects parameters and running statistics while modules are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layouts {
    pub(crate) parameters: Layout,
    pub(crate) buffers: Layout,
}

impl Layouts {
    /// Number of parameters and running statistics.
    pub(crate) fn num_values(&self) -> usize {
        self.parameters.len() + self.buffers.len()
    }
}

/// A forward pass.
pub(crate) struct Forward<'a, T> {
    /// All parameters of the model.
    pub(crate) parameters: &'a [T],
    /// All running statistics: training updates them, prediction reads them.
    pub(crate) buffers: &'a mut [T],
    /// Whether to normalise with the statistics of the batch instead of the running ones.
    pub(crate) training: bool,
}

/// A backward pass.
pub(crate) struct Backward<'a, T> {
    /// All parameters of the model.
    pub(crate) parameters: &'a [T],
    /// Their gradients; every module writes its own.
    pub(crate) gradient: &'a mut [T],
}
