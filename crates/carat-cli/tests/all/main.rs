//! The real binary, as users run it. One test binary: each would be linked with the whole of carat anew.

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod cal;
mod car;
mod data;
mod demo;
mod edge_features;
mod effects;
#[cfg(target_os = "linux")]
mod errors;
mod explain;
#[cfg(target_os = "linux")]
mod explainers;
mod explore;
mod figures;
mod graphs;
mod own_data;
mod presets;
mod report;
mod rewire;
mod sweep;
mod train;
mod trust;
mod tune;
