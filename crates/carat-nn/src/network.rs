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

use crate::buffer::Buffer;
use crate::classifier::Classifier;
use crate::encoder::{Encoder, Input};
use crate::layers::{
    Attention, AttentionKind, LayerPair, LayerShape, LayerState, PairState, PairedLayer, Pass, Targets, Upstream,
};
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
    parameters: Buffer<T>,
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
    pub(crate) h: Vec<Buffer<T>>,
    d_h: Vec<Buffer<T>>,
    pub(crate) states: Vec<LayerState<T>>,
    pub(crate) joined: Vec<T>,
    d_joined: Vec<T>,
    /// In blocks of whole graphs, the gradient that every node's encoding has by way of the readout alone.
    d_pooled: Vec<T>,
    scores: Vec<T>,
    d_scores: Vec<T>,
    /// Per layer, the gradient of a loss on attention with respect to the scores of the first edges.
    d_attention: Vec<Vec<T>>,
    /// What the last two layers keep where they are computed together.
    pair: PairState<T>,
    /// Whether the last forward pass did so, and left out what lies between them.
    pub(crate) lean: bool,
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
        self.encode(blocks, input, work);
        self.forward_layers(blocks, self.pair(blocks), true, work);
    }

    /// As [`Network::forward`], but leaves out what only [`Network::scores_without`] would read, which may not be
    /// called afterwards. Everything else is the same but for rounding, and takes less time where a kind can compute
    /// two layers together.
    pub fn forward_lean(&self, blocks: &Blocks, input: &Input<T>, work: &mut Workspace<T>) {
        self.encode(blocks, input, work);
        self.forward_layers(blocks, self.pair(blocks), false, work);
    }

    fn encode(&self, blocks: &Blocks, input: &Input<T>, work: &mut Workspace<T>) {
        assert_eq!(input.num_rows(), blocks.nodes().len(), "the input is for other blocks");
        work.h.resize_with(self.config.layers + 1, Buffer::default);
        work.h[0].resize(input.num_rows() * self.config.hidden, T::ZERO);
        self.places.encoder.forward(&self.parameters, input, &mut work.h[0]);
    }

    /// All of [`Network::forward`] after the encoder, whose output stands in `work` already.
    pub(crate) fn forward_encoded(&self, blocks: &Blocks, work: &mut Workspace<T>) {
        self.forward_layers(blocks, None, true, work);
    }

    /// The kind's way to compute the last two layers together, where it has one that pays.
    pub(crate) fn pair(&self, blocks: &Blocks) -> Option<&dyn LayerPair<T>> {
        let NetworkConfig { hidden, heads, layers, .. } = self.config;
        let pair = self.attention.pair().filter(|_| layers >= 2)?;
        let shape = LayerShape { width: hidden, heads };
        pair.pays(shape, [blocks.layer(layers - 2), blocks.layer(layers - 1)]).then_some(pair)
    }

    /// The last two layers, their inputs, and what lies between them, if anything.
    fn paired_layers<'a>(&'a self, blocks: &'a Blocks, h: &'a [T], between: &'a [T]) -> [PairedLayer<'a, T>; 2] {
        let last = self.config.layers - 1;
        [(last - 1, h), (last, between)].map(|(l, h)| PairedLayer { pass: self.pass(l, h), block: blocks.layer(l) })
    }

    /// All layers and the classifier; of two layers computed together, `keep` asks for what lies between them.
    fn forward_layers(&self, blocks: &Blocks, pair: Option<&dyn LayerPair<T>>, keep: bool, work: &mut Workspace<T>) {
        let NetworkConfig { hidden, layers, classes, .. } = self.config;
        assert_eq!(blocks.num_layers(), layers, "the blocks are for another number of layers");
        work.h.resize_with(layers + 1, Buffer::default);
        work.states.resize_with(layers, LayerState::default);
        work.d_attention.resize_with(layers, Vec::new);
        work.d_attention.iter_mut().for_each(Vec::clear);
        work.lean = pair.is_some() && !keep;
        let alone = if pair.is_some() { layers - 2 } else { layers };
        for (l, h) in work.h.iter_mut().enumerate() {
            let rows = if work.lean && l + 1 == layers { 0 } else { blocks.num_within(layers - l) };
            h.resize(rows * hidden, T::ZERO);
        }
        for l in 0..alone {
            let (before, after) = work.h.split_at_mut(l + 1);
            let pass = self.pass(l, &before[l]);
            let LayerState { sources, targets, .. } = &mut work.states[l];
            self.attention.sources(pass, 0, sources);
            let rows = Targets::of_block(blocks.layer(l), &before[l], hidden);
            self.attention.targets(pass, sources, rows, &mut after[0], targets);
        }
        if let Some(pair) = pair {
            let (h, above) = work.h.split_at_mut(layers - 1);
            let [between, out] = above else { unreachable!("the last layer has inputs and outputs") };
            let paired = self.paired_layers(blocks, &h[layers - 2], &[]);
            let between = keep.then_some(&mut between[..]);
            pair.forward(paired, last_two(&mut work.states), &mut work.pair, between, out);
        }

        let entities = blocks.num_entities();
        work.joined.resize(entities * 2 * hidden, T::ZERO);
        work.scores.resize(entities * classes, T::ZERO);
        let Workspace { h, joined, scores, .. } = work;
        let (classifier, parameters) = (&self.places.classifier, &self.parameters);
        match blocks.graphs() {
            None => classifier.join_and_classify(parameters, [&h[0], &h[layers]], |row| row, joined, scores),
            Some(graphs) => {
                readout::pool(&h[0], &h[layers], hidden, graphs, joined);
                classifier.classify(parameters, joined, scores);
            }
        }
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
    /// written into `gradient`, together with that of [`Workspace::attention_gradient`]. Entities beyond the labels
    /// take no part in the loss. Call after [`Network::forward`] or [`Network::forward_lean`] with the same arguments.
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
        work.d_h.resize_with(layers + 1, Buffer::default);
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
        gradient[self.places.layers[0].start..self.places.layers[layers - 1].end].fill(T::ZERO);
        let mut alone = layers;
        if let Some(pair) = self.pair(blocks) {
            alone = layers - 2;
            let paired = self.paired_layers(blocks, &work.h[alone], &work.h[alone + 1]);
            let (below, last) = work.d_h.split_at_mut(layers);
            let upstream = [(alone, &[][..]), (alone + 1, &last[0][..])]
                .map(|(l, d_out)| Upstream { d_out, d_attention: &work.d_attention[l] });
            let (d_lower, d_upper) =
                gradient[..self.places.layers[layers - 1].end].split_at_mut(self.places.layers[layers - 1].start);
            let d_parameters = [&mut d_lower[self.places.layers[alone].clone()], d_upper];
            let states = last_two(&mut work.states);
            pair.backward(paired, upstream, states, &mut work.pair, d_parameters, &mut below[alone]);
        }
        for l in (0..alone).rev() {
            let (before, after) = work.d_h.split_at_mut(l + 1);
            let pass = self.pass(l, &work.h[l]);
            let upstream = Upstream { d_out: &after[0], d_attention: &work.d_attention[l] };
            let d_parameters = &mut gradient[self.places.layers[l].clone()];
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

fn last_two<T>(states: &mut [LayerState<T>]) -> [&mut LayerState<T>; 2] {
    let [.., lower, upper] = states else { unreachable!("two layers make a pair") };
    [lower, upper]
}
