//! The network.
//!
//! ```text
//! h      = LeakyReLU(W1 x + b1)                       encoder
//! h'     = layer_L(... layer_1(h))                    attention layers of one kind
//! r      = [h || h'] of a node, or its sum over the nodes of a graph
//! scores = W2 LeakyReLU(r) + b2                       classifier
//! ```
//!
//! This is the paper's network. [`BlockConfig`] says what else can stand between its maps. The blocks decide whether
//! nodes or graphs are classified ([`Blocks::graphs`]); the parameters are the same.

use std::ops::Range;

use carat_graph::Blocks;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::block::BlockConfig;
use crate::buffer::Buffer;
use crate::classifier::Classifier;
use crate::encoder::{Encoder, Input};
use crate::field::Field;
use crate::layers::{Attention, AttentionKind, Join, Layer, LayerEdges, LayerPair, LayerShape};
use crate::modules::{Finish, Layouts, Masks, Mode, Place};
use crate::parameters::Layout;
use crate::pass::{Keep, NetworkPass, Workspace};
use crate::real::Real;
use crate::sizes::{self, SizeError};

/// Sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkConfig {
    /// Kind of every attention layer. [`Network::with_attention`] does not read it.
    pub arch: AttentionKind,
    /// Features per node.
    pub features: usize,
    /// F: width of the encoder and of every layer.
    pub hidden: usize,
    /// K: heads per layer.
    pub heads: usize,
    /// L: number of attention layers.
    pub layers: usize,
    /// Number of classes.
    pub classes: usize,
    /// Features per edge that attention reads; 0 where it reads none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub edge_features: usize,
    /// What stands around the attention layers.
    #[serde(default, skip_serializing_if = "BlockConfig::is_paper")]
    pub block: BlockConfig,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl NetworkConfig {
    /// Checks every size.
    pub fn check(&self) -> Result<(), SizeError> {
        sizes::FEATURES.check(self.features)?;
        sizes::HIDDEN.check(self.hidden)?;
        sizes::HEADS.check(self.heads)?;
        sizes::LAYERS.check(self.layers)?;
        sizes::CLASSES.check(self.classes)?;
        if self.edge_features > 0 {
            sizes::EDGE_FEATURES.check(self.edge_features)?;
        }
        self.block.check_rates()?;
        if self.block.join == Join::Concat && !self.hidden.is_multiple_of(self.heads) {
            return Err(SizeError::Heads { hidden: self.hidden, heads: self.heads });
        }
        Ok(())
    }

    /// Sizes of every attention layer.
    pub(crate) fn shape(&self) -> LayerShape {
        let Self { hidden, heads, edge_features, block, .. } = *self;
        LayerShape { width: hidden, heads, join: block.join, edge_features }
    }

    fn attention<T: Real>(&self) -> Box<dyn Attention<T>> {
        let BlockConfig { attention_dropout, message_dropout, .. } = self.block;
        self.arch.attention(self.shape(), attention_dropout > 0.0 || message_dropout > 0.0)
    }
}

/// A network and its parameters.
#[derive(Debug)]
pub struct Network<T> {
    config: NetworkConfig,
    pub(crate) attention: Box<dyn Attention<T>>,
    /// The attention is that of `config.arch`.
    pub(crate) built_in: bool,
    layouts: Layouts,
    pub(crate) places: Places,
    parameters: Buffer<T>,
    /// Running statistics.
    buffers: Buffer<T>,
}

#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) encoder: Encoder,
    pub(crate) layers: Vec<Range<usize>>,
    /// What is done to every layer's output before it is read.
    pub(crate) finishes: Vec<Finish>,
    pub(crate) classifier: Classifier,
}

/// Names, shapes and places of the parameters of a network, whose sizes must have been checked.
fn lay_out<T: Real>(config: NetworkConfig, attention: &dyn Attention<T>) -> Result<(Layouts, Places), SizeError> {
    let mut layouts = Layouts::default();
    let NetworkConfig { features, hidden, classes, block, .. } = config;
    let encoder = Encoder::lay_out(&mut layouts, features, hidden, block);
    let (mut layers, mut finishes) = (Vec::new(), Vec::new());
    for l in 0..config.layers {
        let start = layouts.parameters.len();
        for mut parameter in attention.parameters(config.shape()) {
            parameter.name = format!("layers.{l}.{}", parameter.name);
            layouts.parameters.push(parameter);
        }
        layers.push(start..layouts.parameters.len());
        finishes.push(Finish::of_layer(&mut layouts, l, hidden, block));
    }
    let classifier = Classifier::lay_out(&mut layouts.parameters, hidden, classes, block);
    sizes::PARAMETERS.check(layouts.parameters.len())?;
    Ok((layouts, Places { encoder, layers, finishes, classifier }))
}

impl<T: Real> Network<T> {
    /// A network with seeded initial parameters.
    pub fn new(config: NetworkConfig, seed: u64) -> Result<Self, SizeError> {
        let attention = config.attention();
        Ok(Self { built_in: true, ..Self::with_attention(config, attention, seed)? })
    }

    /// As [`Network::new`], with a custom attention in place of `config.arch`. Its weights are saved like those of
    /// other kinds. To load them, make the same network and call [`Network::load_safetensors`].
    pub fn with_attention(
        config: NetworkConfig,
        attention: Box<dyn Attention<T>>,
        seed: u64,
    ) -> Result<Self, SizeError> {
        config.check()?;
        let (layouts, places) = lay_out(config, &*attention)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (parameters, buffers) = (layouts.parameters.initialise(&mut rng), layouts.buffers.initialise(&mut rng));
        Ok(Self { config, attention, built_in: false, layouts, places, parameters, buffers })
    }

    /// Number of parameters and running statistics of a network of these sizes, without making one.
    pub(crate) fn num_values(config: NetworkConfig) -> Result<usize, SizeError> {
        config.check()?;
        Ok(lay_out::<T>(config, &*config.attention())?.0.num_values())
    }

    /// The sizes.
    pub fn config(&self) -> NetworkConfig {
        self.config
    }

    /// Whether its attention can score any pair of nodes, as [`Pass::pair_scores`](crate::Pass::pair_scores) does.
    pub fn scores_pairs(&self) -> bool {
        self.attention.as_pair_scores().is_some()
    }

    /// Names, shapes and places of the parameters.
    pub fn layout(&self) -> &Layout {
        &self.layouts.parameters
    }

    /// All parameters, as laid out.
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    /// All parameters, mutable.
    pub fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// Names, shapes and places of the running statistics of batch normalisation.
    pub fn buffer_layout(&self) -> &Layout {
        &self.layouts.buffers
    }

    /// All running statistics, as laid out.
    pub fn buffers(&self) -> &[T] {
        &self.buffers
    }

    /// All running statistics, mutable.
    pub fn buffers_mut(&mut self) -> &mut [T] {
        &mut self.buffers
    }

    pub(crate) fn values_mut(&mut self) -> (&mut [T], &mut [T]) {
        (&mut self.parameters, &mut self.buffers)
    }

    /// A forward pass over `blocks` as at prediction: without dropout and with the running statistics of batch
    /// normalisation. Gradients and deletions follow from it. `input` holds the rows of `blocks.nodes()` and, where the
    /// network reads edge features, those of all edges of `blocks`.
    pub fn forward<'a>(
        &'a self,
        blocks: &'a Blocks,
        input: &'a Input<T>,
        keep: Keep,
        work: &'a mut Workspace<T>,
    ) -> NetworkPass<'a, T> {
        self.pass(blocks, input, Mode::PREDICTION, keep, work)
    }

    /// The same as in training: with dropout, and with the statistics of this batch. [`Network::update_statistics`]
    /// moves the running statistics towards them.
    pub fn training_pass<'a>(
        &'a self,
        blocks: &'a Blocks,
        input: &'a Input<T>,
        masks: Masks,
        keep: Keep,
        work: &'a mut Workspace<T>,
    ) -> NetworkPass<'a, T> {
        self.pass(blocks, input, Mode::training(masks), keep, work)
    }

    pub(crate) fn pass<'a>(
        &'a self,
        blocks: &'a Blocks,
        input: &'a Input<T>,
        mode: Mode,
        keep: Keep,
        work: &'a mut Workspace<T>,
    ) -> NetworkPass<'a, T> {
        NetworkPass::new(self, blocks, input, mode, keep, work)
    }

    /// The same network with layers that know gates; `None` where its attention is a kind of one's own.
    pub(crate) fn with_gates(&self) -> Option<Self> {
        self.built_in.then(|| Self {
            config: self.config,
            attention: self.config.arch.attention(self.config.shape(), true),
            built_in: true,
            layouts: self.layouts.clone(),
            places: self.places.clone(),
            parameters: self.parameters.clone(),
            buffers: self.buffers.clone(),
        })
    }

    /// Replaces the running statistics by those of the last training pass in `work`.
    pub(crate) fn keep_statistics(&mut self, work: &Workspace<T>) {
        for (finish, finished) in self.places.finishes.iter().zip(work.finished()) {
            finish.keep_statistics(finished, &mut self.buffers);
        }
    }

    /// Moves the running statistics towards those of the last training pass in `work`.
    pub fn update_statistics(&mut self, work: &Workspace<T>) {
        for (finish, finished) in self.places.finishes.iter().zip(work.finished()) {
            finish.update_running(finished, &mut self.buffers);
        }
    }

    /// The kind's implementation of the last two layers together, where it has one that saves time.
    pub(crate) fn pair(&self, blocks: &Blocks) -> Option<&dyn LayerPair<T>> {
        let layers = self.config.layers;
        let is_plain = || self.places.finishes[layers - 2..].iter().all(Finish::is_identity);
        let pair = self.attention.as_pair().filter(|_| layers >= 2 && is_plain())?;
        pair.pays(self.config.shape(), [blocks.layer(layers - 2), blocks.layer(layers - 1)]).then_some(pair)
    }

    /// A layer with its inputs and the edges of the field.
    pub(crate) fn layer<'a>(&'a self, layer: usize, h: &'a [T], field: Field<'a, T>) -> Layer<'a, T> {
        let BlockConfig { attention_dropout, message_dropout, .. } = self.config.block;
        let dropout = field.mode.masks.and_then(|masks| masks.at(Place::Attention(layer), attention_dropout));
        let messages = field.mode.masks.and_then(|masks| masks.at(Place::Messages(layer), message_dropout));
        Layer {
            shape: self.config.shape(),
            parameters: &self.parameters[self.places.layers[layer].clone()],
            h,
            edges: LayerEdges {
                keys: field.blocks.edge_keys(),
                features: field.edge_features,
                messages,
                dropout,
                gates: field.gates,
            },
        }
    }
}
