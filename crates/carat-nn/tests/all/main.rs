//! One binary: each would compile the networks in f64 anew.

#[path = "../support/mod.rs"]
mod support;

mod cal;
mod gcn;
mod golden;
mod gradients;
mod interventions;
