//! Steps, batches, when to stop, and the seed.

use super::Protocol;
use super::checks::{above_zero, at_least_one, fanout, never, on_whole_graphs, patience, prune};
use super::macros::settings;
use crate::rewire::Pruning;

settings! {
    /// The optimiser and its batches.
    pub struct OptimiserSettings at optimiser, unused never {
        /// Adam's learning rate.
        lr: f64 = 0.01, "lr" "RATE", check above_zero;
        /// Training nodes, or graphs, per step.
        batch_size: usize = 10_000, "batch-size" "N", check at_least_one, unused on_whole_graphs;
        /// Draw at most this many in-edges per node, one number per layer from the targets outwards.
        fanout: Vec<usize> = Vec::new(), "fanout" "N,N", default "all", check fanout, unused on_whole_graphs;
    }
}

settings! {
    /// When to stop, and which weights to keep.
    pub struct StoppingSettings at stopping, unused never {
        /// Most epochs to train.
        epochs: usize = 400, "epochs" "N", check at_least_one;
        /// best: keep the weights with the lowest validation loss; paper: keep the last ones.
        protocol: Protocol = Protocol::Best, "protocol" "RULE";
        /// Epochs without a new lowest validation loss before stopping.
        patience: Option<usize> = None, "patience" "EPOCHS", default "20 with best, 10 with paper", check patience;
    }
}

impl StoppingSettings {
    /// The patience that applies.
    pub fn patience(&self) -> usize {
        self.patience.unwrap_or_else(|| self.protocol.default_patience())
    }
}

settings! {
    /// Draws.
    pub(super) struct Seed at top, unused never {
        /// Seeds initial weights, batches, fan-out and the regulariser's draws.
        seed: u64 = 0, "seed" "N";
    }
}

settings! {
    /// Only sweeps have it.
    pub(super) struct Prune at top, unused never {
        /// Edges that are left out of the graph before training.
        prune: Option<Pruning> = None, "prune", check prune;
    }
}
