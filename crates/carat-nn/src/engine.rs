//! The interface of engines, which compute training steps on this machine or on another device.

use std::fmt;

use carat_graph::Blocks;

use crate::encoder::Input;
use crate::modules::Masks;
use crate::network::Network;
use crate::optimiser::{Adam, AdamConfig};
use crate::pass::{Keep, Pass, Workspace};

/// Trains one network, step by step: forward, gradient, optimiser.
///
/// ```
/// # use carat_graph::{Blocks, Features, Graph};
/// # use carat_nn::{AdamConfig, AttentionKind, CpuEngine, Engine, Input, Keep, Masks, Network, NetworkConfig};
/// # let graph = Graph::from_edges(3, &[0, 1, 2], &[1, 2, 0])?;
/// # let features = Features::dense(3, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])?;
/// # let sizes = NetworkConfig { features: 2, hidden: 8, heads: 2, layers: 2, classes: 2, ..Default::default() };
/// # let config = NetworkConfig { arch: AttentionKind::Gat, ..sizes };
/// # let blocks = Blocks::whole(&graph, config.layers);
/// # let input = Input::for_training(&features, blocks.nodes());
/// let mut engine = CpuEngine::new(Network::new(config, 0)?, AdamConfig::default());
/// let mut losses = Vec::new();
/// for _ in 0..5 {
///     let masks = Masks::new(0, losses.len() as u64);
///     losses.push(engine.training_pass(&blocks, &input, masks, Keep::Gradients).loss_and_gradient(&[0, 1, 0]));
///     engine.step();
/// }
/// assert!(losses[4] < losses[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Engine: fmt::Debug + Send {
    /// The current network. An engine that keeps its parameters elsewhere copies them here first.
    fn network(&self) -> &Network<f32>;

    /// The current network, by value.
    fn into_network(self: Box<Self>) -> Network<f32>;

    /// Replaces the parameters and the running statistics.
    fn set_values(&mut self, parameters: &[f32], statistics: &[f32]);

    /// The current state of the optimiser.
    fn optimiser(&self) -> &Adam<f32>;

    /// Replaces the optimiser's averages and its number of steps.
    fn set_optimiser(&mut self, first: &[f32], second: &[f32], steps: u64);

    /// Replaces the optimiser's learning rate.
    fn set_learning_rate(&mut self, learning_rate: f64);

    /// A forward pass over `blocks` as at prediction. `input` holds the rows of `blocks.nodes()`.
    fn forward<'a>(&'a mut self, blocks: &'a Blocks, input: &'a Input<f32>, keep: Keep) -> Box<dyn Pass<f32> + 'a>;

    /// The same as in training, with dropout and the statistics of the batch.
    fn training_pass<'a>(
        &'a mut self,
        blocks: &'a Blocks,
        input: &'a Input<f32>,
        masks: Masks,
        keep: Keep,
    ) -> Box<dyn Pass<f32> + 'a>;

    /// One step of the optimiser along the last gradient that was computed, and of the running statistics towards those
    /// of that pass.
    fn step(&mut self);

    /// Frees the memory of passes with [`Keep::Scores`]. After large sets there may be too little memory for the next
    /// step.
    fn release(&mut self);
}

/// Trains on this machine's cores.
#[derive(Debug)]
pub struct CpuEngine {
    network: Network<f32>,
    adam: Adam<f32>,
    training: Workspace<f32>,
    scoring: Workspace<f32>,
}

impl CpuEngine {
    /// An engine that starts from `network`.
    pub fn new(network: Network<f32>, config: AdamConfig) -> Self {
        let adam = Adam::new(config, network.parameters().len());
        Self { network, adam, training: Workspace::default(), scoring: Workspace::default() }
    }
}

impl Engine for CpuEngine {
    fn network(&self) -> &Network<f32> {
        &self.network
    }

    fn into_network(self: Box<Self>) -> Network<f32> {
        self.network
    }

    fn set_values(&mut self, parameters: &[f32], statistics: &[f32]) {
        self.network.parameters_mut().copy_from_slice(parameters);
        self.network.buffers_mut().copy_from_slice(statistics);
    }

    fn optimiser(&self) -> &Adam<f32> {
        &self.adam
    }

    fn set_optimiser(&mut self, first: &[f32], second: &[f32], steps: u64) {
        self.adam.first.copy_from_slice(first);
        self.adam.second.copy_from_slice(second);
        self.adam.steps = steps;
    }

    fn set_learning_rate(&mut self, learning_rate: f64) {
        self.adam.set_learning_rate(learning_rate);
    }

    fn forward<'a>(&'a mut self, blocks: &'a Blocks, input: &'a Input<f32>, keep: Keep) -> Box<dyn Pass<f32> + 'a> {
        let Self { network, training, scoring, .. } = self;
        let work = if keep == Keep::Scores { scoring } else { training };
        Box::new(network.forward(blocks, input, keep, work))
    }

    fn training_pass<'a>(
        &'a mut self,
        blocks: &'a Blocks,
        input: &'a Input<f32>,
        masks: Masks,
        keep: Keep,
    ) -> Box<dyn Pass<f32> + 'a> {
        Box::new(self.network.training_pass(blocks, input, masks, keep, &mut self.training))
    }

    fn step(&mut self) {
        self.adam.step(self.network.parameters_mut(), self.training.gradient());
        self.network.update_statistics(&self.training);
    }

    fn release(&mut self) {
        self.scoring = Workspace::default();
    }
}
