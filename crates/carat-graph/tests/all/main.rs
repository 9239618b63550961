//! One binary: each would be linked with the readers of every layout anew.

#[path = "../support/mod.rs"]
mod support;

mod carat_file;
mod download;
mod edge_features;
mod encoding;
mod folder;
mod geom_gcn;
mod heterophilous;
mod link;
mod npz;
mod ogb;
mod planetoid;
mod planted_shortcut;
mod syn_cora;
mod table;
mod tudataset;
mod undirected;
mod with_edges;
