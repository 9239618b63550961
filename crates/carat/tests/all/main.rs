//! One test binary: every further one would compile the networks in f64 again.

#[path = "../../../carat-nn/tests/support/mod.rs"]
mod support;

mod arms;
mod edge_features;
mod edge_prediction;
mod edges;
mod effects;
mod explainers;
mod graphs;
mod metrics;
mod regulariser;
mod rewire;
mod training;
mod whole_graph;
