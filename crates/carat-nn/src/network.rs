//! The network.
//!
//! ```text
//! h      = LeakyReLU(W1 x + b1)                       encoder
//! h'     = layer_L(... layer_1(h))                    attention layers of one kind, nothing in between
//! r      = [h || h'] of a node, or its sum over the nodes of a graph
//! scores = W2 LeakyReLU(r) + b2                       classifier
//! ```
//!
//! Whether nodes or graphs are classified is said by the blocks ([`Blocks::graphs`]); the parameters are the same.

use std::ops::Range;

use carat_graph::Blocks;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::classifier::Classifier;
use crate::encoder::{Encoder, Input};
use crate::layers::{Attention, AttentionKind, LayerShape, LayerState, Pass, Targets, Upstream};
use crate::matrix::Matrix;
use crate::parameters::Layout;
use crate::readout;
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
    layout: Layout,
    places: Places,
    parameters: Vec<T>,
}

#[derive(Debug, Clone)]
struct Places {
    encoder: Encoder,
    layers: Vec<Range<usize>>,
    classifier: Classifier,
}

/// Buffers of a forward and a backward pass. They grow to the largest blocks seen and are then reused.
#[derive(Debug, Clone, Default)]
pub struct Workspace<T> {
    /// h[0] is the encoder's output, h[l + 1] that of layer l.
    pub(crate) h: Vec<Vec<T>>,
    d_h: Vec<Vec<T>>,
    pub(crate) states: Vec<LayerState<T>>,
    pub(crate) joined: Vec<T>,
    d_joined: Vec<T>,
    /// In blocks of whole graphs, the gradient that every node's encoding has by way of the readout alone.
    d_pooled: Vec<T>,
    scores: Vec<T>,
    d_scores: Vec<T>,
    /// Per layer, the gradient of a loss on attention with respect to the scores of the first edges.
    d_attention: Vec<Vec<T>>,
}

impl<T: Real> Workspace<T> {
    /// Class scores of the entities of the last forward pass, targets or graphs, one row each.
    pub fn scores(&self) -> &[T] {
        &self.scores
    }

    /// Attention of one layer after a forward pass: edges of the layer's block x heads.
    pub fn attention(&self, layer: usize) -> &[T] {
        &self.states[layer].targets.alpha
    }

    /// Room for the gradient of a loss on attention: with respect to one layer's scores before the softmax, for the
    /// in-edges of the first targets, edges x heads. Every forward pass empties it; what it holds when
    /// [`Network::loss_and_gradient`] is called takes part in the gradient.
    pub fn attention_gradient(&mut self, layer: usize) -> &mut Vec<T> {
        &mut self.d_attention[layer]
    }
}

/// Names, shapes and places of the parameters of a network of checked sizes.
fn lay_out<T: Real>(config: NetworkConfig, attention: &dyn Attention<T>) -> Result<(Layout, Places), SizeError> {
    let mut layout = Layout::default();
    let NetworkConfig { features, hidden, classes, .. } = config;
    let encoder = Encoder::lay_out(&mut layout, features, hidden);
    let mut layers = Vec::new();
    for l in 0..config.layers {
        let start = layout.len();
        for mut parameter in attention.parameters(LayerShape { width: hidden, heads: config.heads }) {
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
        Ok(Self { built_in: true, ..Self::with_attention(config, config.arch.attention(), seed)? })
    }

    /// As [`Network::new`], with an attention of one's own in place of `config.arch`. Its weights are saved like any
    /// other's; to read them, make such a network and call [`Network::load_safetensors`].
    pub fn with_attention(
        config: NetworkConfig,
        attention: Box<dyn Attention<T>>,
        seed: u64,
    ) -> Result<Self, SizeError> {
        config.check()?;
        let (layout, places) = lay_out(config, &*attention)?;
        let parameters = layout.initialise(&mut ChaCha8Rng::seed_from_u64(seed));
        Ok(Self { config, attention, built_in: false, layout, places, parameters })
    }

    /// Number of parameters of a network of these sizes, without making one.
    pub(crate) fn num_parameters(config: NetworkConfig) -> Result<usize, SizeError> {
        config.check()?;
        let attention: Box<dyn Attention<T>> = config.arch.attention();
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

    /// All parameters, to change.
    pub fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// Computes the class scores of the blocks' entities. `input` holds the rows of `blocks.nodes()`.
    pub fn forward(&self, blocks: &Blocks, input: &Input<T>, work: &mut Workspace<T>) {
        assert_eq!(input.num_rows(), blocks.nodes().len(), "the input is for other blocks");
        work.h.resize_with(self.config.layers + 1, Vec::new);
        work.h[0].resize(input.num_rows() * self.config.hidden, T::ZERO);
        self.places.encoder.forward(&self.parameters, input, &mut work.h[0]);
        self.forward_encoded(blocks, work);
    }

    /// All of [`Network::forward`] after the encoder, whose output stands in `work` already.
    pub(crate) fn forward_encoded(&self, blocks: &Blocks, work: &mut Workspace<T>) {
        let NetworkConfig { hidden, layers, classes, .. } = self.config;
        assert_eq!(blocks.num_layers(), layers, "the blocks are for another number of layers");
        work.h.resize_with(layers + 1, Vec::new);
        work.states.resize_with(layers, LayerState::default);
        work.d_attention.resize_with(layers, Vec::new);
        work.d_attention.iter_mut().for_each(Vec::clear);
        for (l, h) in work.h.iter_mut().enumerate() {
            h.resize(blocks.num_within(layers - l) * hidden, T::ZERO);
        }
        for l in 0..layers {
            let (before, after) = work.h.split_at_mut(l + 1);
            let pass = self.pass(l, &before[l]);
            let LayerState { sources, targets, .. } = &mut work.states[l];
            self.attention.sources(pass, 0, sources);
            let rows = Targets::of_block(blocks.layer(l), &before[l], hidden);
            self.attention.targets(pass, sources, rows, &mut after[0], targets);
        }

        let entities = blocks.num_entities();
        work.joined.resize(entities * 2 * hidden, T::ZERO);
        match blocks.graphs() {
            None => self.places.classifier.join(&work.h[0], &work.h[layers], |row| row, &mut work.joined),
            Some(graphs) => readout::pool(&work.h[0], &work.h[layers], hidden, graphs, &mut work.joined),
        }
        work.scores.resize(entities * classes, T::ZERO);
        self.places.classifier.classify(&self.parameters, &work.joined, &mut work.scores);
    }

    /// The part of every target's class scores that its own encoding has.
    pub(crate) fn own_scores(&self, work: &Workspace<T>, scores: &mut Vec<T>) {
        self.places.classifier.own_scores(&self.parameters, &work.joined, scores);
    }

    /// Adds the part of the last layer's output, given LeakyReLU of it, to class scores.
    pub(crate) fn add_last_scores(&self, last: &[T], scores: &mut [T]) {
        self.places.classifier.add_last_scores(&self.parameters, last, scores);
    }

    /// Mean cross-entropy of the first entities against `labels`, and its gradient with respect to every parameter,
    /// written into `gradient`, together with that of [`Workspace::attention_gradient`]. Entities beyond the labels take
    /// no part in the loss. Call after [`Network::forward`] with the same arguments.
    pub fn loss_and_gradient(
        &self,
        blocks: &Blocks,
        input: &Input<T>,
        labels: &[u32],
        work: &mut Workspace<T>,
        gradient: &mut [T],
    ) -> f64 {
        assert!(labels.len() <= blocks.num_entities(), "more labels than entities");
        let loss = self.places.classifier.loss(&work.scores, labels, &mut work.d_scores);
        self.backward(blocks, input, work, gradient);
        loss
    }

    /// From `work.d_scores` to the gradient of every parameter.
    fn backward(&self, blocks: &Blocks, input: &Input<T>, work: &mut Workspace<T>, gradient: &mut [T]) {
        let NetworkConfig { hidden, layers, classes, .. } = self.config;
        let labelled = work.d_scores.len() / classes;
        work.d_h.resize_with(layers + 1, Vec::new);
        for (d_h, h) in work.d_h.iter_mut().zip(&work.h) {
            d_h.resize(h.len(), T::ZERO);
        }
        // The second half of a joined row reaches the last layer, the first half the encoder directly.
        let Workspace { joined, d_scores, d_joined, d_pooled, d_h, .. } = &mut *work;
        let nodes = blocks.graphs().map_or(labelled, |graphs| graphs[labelled]);
        let (d_last, d_rest) = d_h[layers].split_at_mut(nodes * hidden);
        let classifier = &self.places.classifier;
        match blocks.graphs() {
            None => classifier.backward(&self.parameters, joined, d_scores, d_joined, Some(d_last), gradient),
            Some(graphs) => {
                classifier.backward(&self.parameters, joined, d_scores, d_joined, None, gradient);
                d_pooled.resize(nodes * hidden, T::ZERO);
                readout::spread(d_joined, hidden, &graphs[..=labelled], d_pooled, d_last);
            }
        }
        d_rest.fill(T::ZERO);
        for l in (0..layers).rev() {
            let (before, after) = work.d_h.split_at_mut(l + 1);
            let pass = self.pass(l, &work.h[l]);
            let upstream = Upstream { d_out: &after[0], d_attention: &work.d_attention[l] };
            let d_parameters = &mut gradient[self.places.layers[l].clone()];
            d_parameters.fill(T::ZERO);
            self.attention.backward(pass, blocks.layer(l), upstream, &mut work.states[l], d_parameters, &mut before[l]);
        }
        let d_direct = match blocks.graphs() {
            None => Matrix::strided(&work.d_joined, labelled, hidden, 2 * hidden),
            Some(_) => Matrix::new(&work.d_pooled, nodes, hidden),
        };
        self.places.encoder.backward(input, &work.h[0], d_direct, &mut work.d_h[0], gradient);
    }

    pub(crate) fn pass<'a>(&'a self, layer: usize, h: &'a [T]) -> Pass<'a, T> {
        Pass {
            shape: LayerShape { width: self.config.hidden, heads: self.config.heads },
            parameters: &self.parameters[self.places.layers[layer].clone()],
            h,
        }
    }
}
