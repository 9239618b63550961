//! Steps, batches, when to stop, and the seed.

use carat_nn::AdamConfig;

use super::checks::{
    above_zero, at_least_one, fanout, never, on_whole_graphs, patience, prune, with_own_loss, zero_or_more,
};
use super::macros::settings;
use super::{ClassWeights, OptimiserKind, PatienceFrom, Protocol, Schedule, Select};
use crate::rewire::Pruning;

settings! {
    /// The optimiser, its loss and its batches.
    pub struct OptimiserSettings at optimiser, unused never {
        /// adam, or adamw, which takes --weight-decay apart from the gradient.
        kind as optimiser: OptimiserKind = OptimiserKind::default(), "optimiser" "NAME", late true;
        /// Adam's learning rate.
        lr: f64 = 0.01, "lr" "RATE", check above_zero;
        /// How strongly weights are pulled to 0: with adam added to the gradient, as PyTorch's Adam does.
        weight_decay: f64 = 0.0, "weight-decay" "STRENGTH", check zero_or_more, late true;
        /// Learning rate by epoch: none (always --lr) or cosine (from --lr to 0 after --epochs).
        schedule: Schedule = Schedule::default(), "schedule" "SHAPE", late true;
        /// What a training node, or graph, counts in the loss: none (all alike) or balanced (all classes alike, for
        /// rare classes). Validation and test figures never have weights, so that runs can be compared.
        class_weights: ClassWeights = ClassWeights::default(), "class-weights" "RULE", unused with_own_loss, late true;
        /// Training nodes, or graphs, per step.
        batch_size: usize = 10_000, "batch-size" "N", check at_least_one, unused on_whole_graphs;
        /// Draw at most this many in-edges per node, one number per layer from the targets outwards.
        fanout: Vec<usize> = Vec::new(), "fanout" "N,N", default "all", check fanout, unused on_whole_graphs;
    }
}

impl OptimiserSettings {
    /// The optimiser of a run's first epoch.
    pub fn adam(&self) -> AdamConfig {
        let is_decoupled = self.kind == OptimiserKind::AdamW;
        AdamConfig { learning_rate: self.lr, weight_decay: self.weight_decay, is_decoupled, ..AdamConfig::default() }
    }
}

settings! {
    /// When to stop, and which weights to keep.
    pub struct StoppingSettings at stopping, unused never {
        /// Most epochs to train.
        epochs: usize = 400, "epochs" "N", check at_least_one;
        /// best: keep the weights of the epoch that is best on the validation nodes; paper: keep the last ones.
        protocol: Protocol = Protocol::Best, "protocol" "RULE";
        /// The validation figure that says which epoch is best: loss, accuracy, auc (area under the ROC curve, the mean
        /// over classes if there are more than two), f1 (mean over classes) or auto (auc where one class
        /// has more than two thirds of the training labels, else accuracy). Of equals, the lower loss is better.
        select: Select = Select::default(), "select" "FIGURE", late true;
        /// Epochs without a new best epoch before stopping.
        patience: Option<usize> = None, "patience" "EPOCHS", default "20 with best, 10 with paper", check patience;
        /// start: patience counts from the first epoch. learning: until the network has begun to learn, 5 times as many
        /// epochs pass, which rare classes need. It has begun once its validation loss is 5 % below that of always
        /// predicting the shares of the classes in training. With --protocol paper always start.
        patience_from: PatienceFrom = PatienceFrom::default(), "patience-from" "WHEN", late true;
    }
}

/// How many times its patience a run waits for its network to begin to learn.
const BEFORE_LEARNING: usize = 5;

impl StoppingSettings {
    /// The patience that applies.
    pub fn patience(&self) -> usize {
        self.patience.unwrap_or_else(|| self.protocol.default_patience())
    }

    /// The patience with a network that has not begun to learn.
    pub fn patience_before_learning(&self) -> usize {
        let waits = self.patience_from == PatienceFrom::Learning && self.protocol == Protocol::Best;
        self.patience().saturating_mul(if waits { BEFORE_LEARNING } else { 1 })
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
