//! The network.
//!
//! ```text
//! h      = LeakyReLU(W1 x + b1)                       encoder
//! h'     = layer_L(... layer_1(h))                    attention layers of one kind
//! r      = [h || h'] of a node, or its sum over the nodes of a graph
//! scores = W2 LeakyReLU(r) + b2                       classifier
//! ```
//!
//! The blocks decide whether nodes or graphs are classified ([`Blocks::graphs`]); the parameters are the same.

use std::ops::Range;

use carat_graph::Blocks;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::classifier::Classifier;
use crate::encoder::{Encoder, Input};
use crate::layers::{Attention, AttentionKind, Layer, LayerEdges, LayerPair, LayerShape};
use crate::modules::LayerActivation;
use crate::parameters::Layout;
use crate::pass::{Keep, NetworkPass, Workspace};
use crate::real::Real;
use crate::sizes::{self, SizeError};

/// Sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl NetworkConfig {
    /// Checks every size.
    pub fn check(&self) -> Result<(), SizeError> {
        sizes::FEATURES.check(self.features)?;
        sizes::HIDDEN.check(self.hidden)?;
        sizes::HEADS.check(self.heads)?;
        sizes::LAYERS.check(self.layers)?;
        sizes::CLASSES.check(self.classes)
    }
}

/// A network and its parameters.
#[derive(Debug)]
pub struct Network<T> {
    config: NetworkConfig,
    pub(crate) attention: Box<dyn Attention<T>>,
    /// The attention is that of `config.arch`.
    pub(crate) built_in: bool,
    /// Applied to every layer's output before it is read.
    pub(crate) layer_activation: LayerActivation,
    layout: Layout,
    pub(crate) places: Places,
    parameters: Buffer<T>,
}

#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) encoder: Encoder,
    pub(crate) layers: Vec<Range<usize>>,
    pub(crate) classifier: Classifier,
}

/// Names, shapes and places of the parameters of a network, whose sizes must have been checked.
fn lay_out<T: Real>(config: NetworkConfig, attention: &dyn Attention<T>) -> Result<(Layout, Places), SizeError> {
    let mut layout = Layout::default();
    let NetworkConfig { features, hidden, classes, .. } = config;
    let encoder = Encoder::lay_out(&mut layout, features, hidden);
    let mut layers = Vec::new();
    for l in 0..config.layers {
        let start = layout.len();
        for mut parameter in attention.parameters(LayerShape::averaged(hidden, config.heads)) {
            parameter.name = format!("layers.{l}.{}", parameter.name);
            layout.push(parameter);
        }
        layers.push(start..layout.len());
    }
    let classifier = Classifier::lay_out(&mut layout, hidden, classes);
    sizes::PARAMETERS.check(layout.len())?;
    Ok((layout, Places { encoder, layers, classifier }))
}

impl<T: Real> Network<T> {
    /// A network with seeded initial parameters.
    pub fn new(config: NetworkConfig, seed: u64) -> Result<Self, SizeError> {
        let attention = config.arch.attention(LayerShape::averaged(config.hidden, config.heads), false);
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
        let (layout, places) = lay_out(config, &*attention)?;
        let parameters = layout.initialise(&mut ChaCha8Rng::seed_from_u64(seed));
        let layer_activation = LayerActivation::default();
        Ok(Self { config, attention, built_in: false, layer_activation, layout, places, parameters })
    }

    /// Number of parameters of a network of these sizes, without making one.
    pub(crate) fn num_parameters(config: NetworkConfig) -> Result<usize, SizeError> {
        config.check()?;
        let shape = LayerShape::averaged(config.hidden, config.heads);
        let attention: Box<dyn Attention<T>> = config.arch.attention(shape, false);
        Ok(lay_out(config, &*attention)?.0.len())
    }

    /// The sizes.
    pub fn config(&self) -> NetworkConfig {
        self.config
    }

    /// Names, shapes and places of the parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All parameters, as laid out.
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    /// All parameters, mutable.
    pub fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// A forward pass over `blocks`, from which gradients and deletions follow. `input` holds the rows of
    /// `blocks.nodes()`.
    pub fn forward<'a>(
        &'a self,
        blocks: &'a Blocks,
        input: &'a Input<T>,
        keep: Keep,
        work: &'a mut Workspace<T>,
    ) -> NetworkPass<'a, T> {
        NetworkPass::new(self, blocks, input, keep, work)
    }

    /// The kind's implementation of the last two layers together, where it has one that saves time.
    pub(crate) fn pair(&self, blocks: &Blocks) -> Option<&dyn LayerPair<T>> {
        let NetworkConfig { hidden, heads, layers, .. } = self.config;
        let pair = self.attention.as_pair().filter(|_| layers >= 2 && self.layer_activation.is_identity())?;
        let shape = LayerShape::averaged(hidden, heads);
        pair.pays(shape, [blocks.layer(layers - 2), blocks.layer(layers - 1)]).then_some(pair)
    }

    pub(crate) fn layer<'a>(&'a self, layer: usize, h: &'a [T]) -> Layer<'a, T> {
        Layer {
            shape: LayerShape::averaged(self.config.hidden, self.config.heads),
            parameters: &self.parameters[self.places.layers[layer].clone()],
            h,
            edges: LayerEdges::default(),
        }
    }
}
