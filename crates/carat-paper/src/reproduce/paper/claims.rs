//! Counts that the paper's text states, each of 8 datasets at p < 0.05.

/// Datasets in the paper's counts.
pub const COUNTED: usize = 8;

/// "a lower test loss in all 8 datasets" (section 4.2).
pub const LOSS_LOWER: usize = 8;

/// "higher test accuracy in 7 of the 8 node classification datasets" (section 4.2).
pub const ACCURACY_HIGHER: usize = 7;

/// "For 6 of the 8 ... the higher causal regularization strengths ... demonstrated significantly larger reductions in
/// test loss" (section 4.3).
pub const STRONGER_LARGER: usize = 6;

/// "consistently yielded lower mean KL divergence values ... for 6 of 8 node classification datasets" (section 4.3).
pub const KL_LOWER: usize = 6;

/// "the homophily-based scheme underperformed those trained with CAR in 7 of the 8 datasets" (section 4.3).
pub const CAUSAL_ABOVE_VOTE: usize = 7;

/// "training runtimes that are only increased by 1.5-2 fold" (section 2.2).
pub const RUNTIME_FACTORS: (f64, f64) = (1.5, 2.0);
