//! One test binary: every further one would compile the networks in f64 again.

#[path = "../support/mod.rs"]
mod support;

mod attention;
mod block;
mod cal;
mod gates;
mod gcn;
mod golden;
mod gradients;
mod interventions;
mod training;
