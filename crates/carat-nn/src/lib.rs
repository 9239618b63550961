//! Graph attention networks with hand-derived gradients: kernels, layers, the network, its optimiser and its files.
//!
//! ```
//! use carat_graph::{BlockBuilder, Features, Graph};
//! use carat_nn::{AttentionKind, Input, Keep, Network, NetworkConfig, Pass, Workspace};
//!
//! let graph = Graph::from_edges(4, &[0, 1, 2, 3], &[1, 2, 3, 0])?;
//! let features = Features::dense(4, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.5])?;
//! let sizes = NetworkConfig { features: 2, hidden: 8, heads: 2, layers: 2, classes: 3, ..Default::default() };
//! let config = NetworkConfig { arch: AttentionKind::Gat, ..sizes };
//! let network = Network::<f32>::new(config, 0)?;
//!
//! // The scores of nodes 0 and 2 need no more than their neighbourhood within two hops.
//! let blocks = BlockBuilder::new(&graph).build(&[0, 2], config.layers);
//! let input = Input::new(&features, blocks.nodes());
//! let mut work = Workspace::default();
//! let mut pass = network.forward(&blocks, &input, Keep::Gradients, &mut work);
//! assert_eq!(pass.scores().len(), 2 * 3);
//! let loss = pass.loss_and_gradient(&[1, 0]);
//! assert!(loss > 0.0 && pass.gradient().len() == network.parameters().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod words;

mod block;
mod buffer;
mod cal;
pub mod check;
mod classifier;
mod cost;
mod denormals;
mod encoder;
mod engine;
mod field;
mod gates;
mod gcn;
mod instances;
mod intervention;
mod kernels;
mod layers;
pub mod loss;
mod matrix;
mod modules;
mod network;
mod optimiser;
mod parameters;
mod pass;
mod readout;
mod real;
mod rows;
mod sizes;
pub mod toolkit;
mod weights;
mod whole_graph;

pub use block::BlockConfig;
pub use buffer::Buffer;
pub use cal::{Cal, CalConfig, CalError, CalHead};
pub use classifier::ClassifierInput;
pub use cost::{Cost, LayerSizes};
pub use encoder::Input;
pub use engine::{CpuEngine, Engine};
pub use gates::{GatedNetwork, GatedPass};
pub use gcn::{GcnConfig, GcnNetwork, GcnNorm};
pub use intervention::{Cut, Deletion};
pub use layers::{
    Attention, AttentionKind, Costs, Gat, GatV2, Join, Layer, LayerEdges, LayerPair, LayerShape, LayerState, NodePairs,
    Original, PairScores, PairedLayer, Products, State, TargetState, Targets, Transformer, Upstream,
};
pub use modules::{Activation, Dropout, Masks, Norm, Place, Residual, RowMask};
pub use network::{Network, NetworkConfig};
pub use optimiser::{Adam, AdamConfig};
pub use parameters::{Init, Layout, Parameter};
pub use pass::{Keep, LayerAttention, NetworkPass, Pass, Workspace};
pub use real::Real;
pub use sizes::SizeError;
pub use weights::{WeightsError, whole_graph_to_safetensors};
pub use whole_graph::{Labelled, WholeGraph, WholeGraphModel};
