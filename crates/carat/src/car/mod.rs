//! Causal attention regularisation (CAR): which edges are deleted, how that changes the prediction, and how attention
//! is pulled towards the effects.
//!
//! ```text
//! rho = CE without the edge / CE with all edges          the intervention
//! c   = sigmoid((rho^d - 1) / T)                         the effect, a constant target
//! L_c = mean over entities, edges and layers of BCE(abar, c)
//! loss = L_p + lambda L_c
//! ```
//!
//! One file each: `choice` (which edges), `effect` (from losses to targets), `vote` (the neighbour-vote classifier),
//! `teacher` (labels for unlabelled entities), `folds` (cross-fitting), `memory` (effects averaged over steps),
//! `attention_loss` (BCE and KL with their gradients), `targets` (L_c of a step), `strength` (a lambda that nobody has
//! to choose), `regulariser` (all of them together). Arms without targets: `edge_prediction` (SuperGAT), `drop_edge`
//! (noise on the graph). Messages are dropped by the network itself (`carat_nn::BlockConfig`).

mod attention_loss;
mod choice;
mod drop_edge;
mod edge_prediction;
mod effect;
mod folds;
mod memory;
mod regulariser;
mod strength;
mod targets;
mod teacher;
mod vote;

pub(crate) use choice::every_edge;
pub(crate) use drop_edge::DropEdge;
pub use edge_prediction::EdgePrediction;
pub use effect::{effect, log_ratio};
pub use regulariser::{Entities, Regulariser, Step};
pub use targets::AttentionTargets;
