//! "Ablation study comparing improvements in performance using CAR regularization and homophily-based regularization":
//! -log10 p of a one-tailed paired Wilcoxon test on test loss against the baseline, lambda 1 and 5.

/// CAR.
pub const CAUSAL_EVIDENCE: [f64; 8] = [12.36, 5.92, 10.51, 1.81, 12.77, 9.72, 6.72, 9.34];

/// The neighbour vote.
pub const VOTE_EVIDENCE: [f64; 8] = [10.04, 5.59, 7.30, 0.53, 12.34, 10.97, 4.15, 8.20];
