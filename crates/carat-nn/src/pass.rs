//! A forward pass of a network, and what follows from it: class scores, attention, scores without edges, gradients.

use std::sync::Arc;

use carat_graph::{Block, Blocks};

use crate::buffer::Buffer;
use crate::classifier::Joined;
use crate::encoder::{Encoded, Input};
use crate::field::Field;
use crate::intervention::{Cut, Deletion, Intervention, Rerun};
use crate::layers::{LayerPair, LayerState, NodePairs, PairScores, PairedLayer, State, Targets, Upstream};
use crate::loss::ClassWeights;
use crate::matrix::Matrix;
use crate::modules::{Backward, Finished, Mode, RowNodes};
use crate::network::{Network, NetworkConfig};
use crate::readout;
use crate::real::Real;
use crate::toolkit::sized;

/// What a forward pass keeps for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Class scores and attention, without gradients.
    Scores,
    /// What gradients need. Where a kind can compute two layers together, the outputs between them are left out, which
    /// saves time and changes scores by rounding only.
    Gradients,
    /// Every layer's output too, from which deletions start.
    Deletions,
    /// What gradients need, layer by layer, so that a loss may read scores of pairs of nodes.
    Layers,
}

/// A forward pass: class scores and attention of some blocks, and everything that is computed from them.
pub trait Pass<T: Real> {
    /// Sizes of the network.
    fn config(&self) -> NetworkConfig;

    /// The blocks that the pass is over.
    fn blocks(&self) -> &Blocks;

    /// Class scores of the blocks' entities, targets or graphs, one row each.
    fn scores(&self) -> &[T];

    /// Attention of one layer: edges of the layer's block x heads.
    fn attention(&self, layer: usize) -> &[T];

    /// Every layer's attention, and a vector for the gradient of a loss on it. The vectors of a fresh pass are empty;
    /// what is put there takes part in [`Pass::loss_and_gradient`].
    fn attention_and_gradients(&mut self) -> Vec<LayerAttention<'_, T>>;

    /// Scores before the softmax of pairs of nodes of a layer's block, whether or not they are edges: pairs x heads.
    /// For passes with [`Keep::Layers`] of networks for which [`Network::scores_pairs`] is true.
    fn pair_scores(&self, layer: usize, pairs: &NodePairs) -> Vec<T>;

    /// Sets the gradient of a loss on such scores of one layer. It takes part in [`Pass::loss_and_gradient`].
    fn set_pair_gradient(&mut self, layer: usize, pairs: Arc<NodePairs>, d_scores: Vec<T>);

    /// For every deletion, the class scores of its target, or of its target's graph, without that edge and with all
    /// others; one row each. The pass stays unchanged, except that one made without [`Keep::Deletions`] first computes
    /// what it has left out, which may change its scores by rounding.
    fn scores_without(&mut self, deletions: &[Deletion], scores: &mut Vec<T>);

    /// The same where each intervention deletes several edges of its target, or of a graph.
    fn scores_without_several(&mut self, cuts: &[Cut<'_>], scores: &mut Vec<T>);

    /// The class scores of all entities without any of these edges: ascending positions among the blocks' edges.
    fn scores_without_all(&mut self, edges: &[u32], scores: &mut Vec<T>);

    /// Mean cross-entropy of the first entities against `labels`. Entities beyond the labels take no part in it, and
    /// those with the label [`LEFT_OUT`](crate::loss::LEFT_OUT). Its
    /// gradient with respect to every parameter, and that of the losses on attention, is then in [`Pass::gradient`].
    fn loss_and_gradient(&mut self, labels: &[u32]) -> f64 {
        self.weighted_loss_and_gradient(labels, &[])
    }

    /// The same of the weighted mean: sum of w_y CE / sum of w_y, where w_y is the weight of an entity's class.
    fn weighted_loss_and_gradient(&mut self, labels: &[u32], weights: ClassWeights<'_>) -> f64;

    /// The gradient of [`Pass::loss_and_gradient`], laid out as the parameters.
    fn gradient(&self) -> &[T];
}

/// Attention of one layer, and where the gradient of a loss on it goes.
#[derive(Debug)]
pub struct LayerAttention<'a, T> {
    /// The blocks' targets with their in-edges. The edges of every layer begin with these.
    pub block: Block<'a>,
    /// Attention: edges of the layer's block x heads.
    pub alpha: &'a [T],
    /// With respect to the scores before the softmax, for the in-edges of the first targets, edges x heads; or empty.
    pub gradient: &'a mut Vec<T>,
}

/// Buffers of passes. They grow to the largest blocks seen and are then reused.
#[derive(Debug, Default)]
pub struct Workspace<T> {
    pub(crate) buffers: Buffers<T>,
    pub(crate) gradient: Buffer<T>,
    rerun: Rerun<T>,
}

impl<T> Workspace<T> {
    /// The gradient of the last pass.
    pub fn gradient(&self) -> &[T] {
        &self.gradient
    }

    /// What stands between the layers of the last pass.
    pub(crate) fn finished(&self) -> &[Finished<T>] {
        &self.buffers.finished
    }
}

/// What a forward pass fills and its backward pass reads.
#[derive(Debug, Default)]
pub(crate) struct Buffers<T> {
    /// h[0] is the encoder's output, h[l + 1] that of layer l.
    pub(crate) h: Vec<Buffer<T>>,
    d_h: Vec<Buffer<T>>,
    encoded: Encoded<T>,
    /// Per layer, what stands between it and the next.
    pub(crate) finished: Vec<Finished<T>>,
    pub(crate) states: Vec<LayerState<T>>,
    pub(crate) joined: Joined<T>,
    d_joined: Vec<T>,
    /// In blocks of whole graphs: the part of the gradient of every node's encoding that comes from the readout.
    d_pooled: Vec<T>,
    pub(crate) scores: Vec<T>,
    pub(crate) d_scores: Vec<T>,
    /// Per layer, the gradient of a loss on attention with respect to the scores of the first edges.
    d_attention: Vec<Vec<T>>,
    /// Per layer, the gradient of a loss on scores of pairs of nodes, if there is one.
    d_pairs: Vec<Option<(Arc<NodePairs>, Vec<T>)>>,
    /// What the last two layers keep where they are computed together.
    pair: State,
}

impl<T> Buffers<T> {
    /// Empties the vectors for gradients of losses on attention and on scores of pairs.
    pub(crate) fn forget_attention_losses(&mut self, layers: usize) {
        self.d_attention.resize_with(layers, Vec::new);
        self.d_attention.iter_mut().for_each(Vec::clear);
        self.d_pairs.clear();
        self.d_pairs.resize_with(layers, || None);
    }
}

/// How a pass computes its layers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'a, T> {
    /// How to compute the last two together, where that is done.
    pub(crate) pair: Option<&'a dyn LayerPair<T>>,
    pub(crate) keep: Keep,
}

impl<T> Plan<'_, T> {
    /// Whether the outputs between the last two layers are left out.
    fn omits_inner_outputs(&self) -> bool {
        self.pair.is_some() && self.keep != Keep::Deletions
    }
}

/// A [`Pass`] of a [`Network`] on this machine's cores.
#[derive(Debug)]
pub struct NetworkPass<'a, T> {
    network: &'a Network<T>,
    field: Field<'a, T>,
    input: &'a Input<T>,
    plan: Plan<'a, T>,
    work: &'a mut Workspace<T>,
}

impl<'a, T: Real> NetworkPass<'a, T> {
    pub(crate) fn new(
        network: &'a Network<T>,
        blocks: &'a Blocks,
        input: &'a Input<T>,
        mode: Mode,
        keep: Keep,
        work: &'a mut Workspace<T>,
    ) -> Self {
        let plan = Plan { pair: network.pair(blocks).filter(|_| keep != Keep::Layers), keep };
        let mut pass = Self { network, field: Field::new(network.config(), blocks, input, mode), input, plan, work };
        T::forward(&mut pass);
        pass
    }

    pub(crate) fn compute(&mut self) {
        let Self { network, field, input, plan, work } = self;
        let buffers = &mut work.buffers;
        network.encode(*field, input, buffers);
        network.forward_layers(*field, *plan, None, buffers);
        buffers.forget_attention_losses(network.config().layers);
    }

    pub(crate) fn compute_without<I: Intervention>(&mut self, deletions: &[I], scores: &mut Vec<T>) {
        let Self { network, field, plan, work, .. } = self;
        let Workspace { buffers, rerun, .. } = &mut **work;
        if plan.omits_inner_outputs() {
            plan.keep = Keep::Deletions;
            network.forward_layers(*field, *plan, None, buffers);
        }
        network.scores_without(*field, deletions, buffers, rerun, scores);
    }

    pub(crate) fn compute_without_all(&mut self, edges: &[u32], scores: &mut Vec<T>) {
        let Workspace { buffers, rerun, .. } = &mut *self.work;
        self.network.scores_without_all(self.field, edges, buffers, rerun, scores);
    }

    pub(crate) fn compute_gradient(&mut self, labels: &[u32], weights: ClassWeights<'_>) -> f64 {
        let Self { network, field, input, plan, work } = self;
        let Workspace { buffers, gradient, .. } = &mut **work;
        assert!(labels.len() <= field.blocks.num_entities(), "more labels than entities");
        gradient.resize(network.parameters().len(), T::ZERO);
        let loss = network.places.classifier.loss(&buffers.scores, labels, weights, &mut buffers.d_scores);
        network.backward(*field, input, *plan, buffers, gradient);
        loss
    }
}

impl<T: Real> Pass<T> for NetworkPass<'_, T> {
    fn config(&self) -> NetworkConfig {
        self.network.config()
    }

    fn blocks(&self) -> &Blocks {
        self.field.blocks
    }

    fn scores(&self) -> &[T] {
        &self.work.buffers.scores
    }

    fn attention(&self, layer: usize) -> &[T] {
        &self.work.buffers.states[layer].targets.alpha
    }

    fn attention_and_gradients(&mut self) -> Vec<LayerAttention<'_, T>> {
        let Buffers { states, d_attention, .. } = &mut self.work.buffers;
        let blocks = self.field.blocks;
        let block = blocks.layer(blocks.num_layers() - 1);
        let layers = states.iter().zip(d_attention);
        layers.map(|(state, gradient)| LayerAttention { block, alpha: &state.targets.alpha, gradient }).collect()
    }

    fn pair_scores(&self, layer: usize, pairs: &NodePairs) -> Vec<T> {
        assert_eq!(self.plan.keep, Keep::Layers, "the pass has not kept every layer");
        let Self { network, field, work, .. } = self;
        let mut scores = vec![T::ZERO; pairs.len() * network.config().heads];
        network.as_pair_scores().scores(network.layer(layer, &work.buffers.h[layer], *field), pairs, &mut scores);
        scores
    }

    fn set_pair_gradient(&mut self, layer: usize, pairs: Arc<NodePairs>, d_scores: Vec<T>) {
        self.work.buffers.d_pairs[layer] = Some((pairs, d_scores));
    }

    fn scores_without(&mut self, deletions: &[Deletion], scores: &mut Vec<T>) {
        T::scores_without(self, deletions, scores);
    }

    fn scores_without_several(&mut self, cuts: &[Cut<'_>], scores: &mut Vec<T>) {
        T::scores_without_several(self, cuts, scores);
    }

    fn scores_without_all(&mut self, edges: &[u32], scores: &mut Vec<T>) {
        T::scores_without_all(self, edges, scores);
    }

    fn weighted_loss_and_gradient(&mut self, labels: &[u32], weights: ClassWeights<'_>) -> f64 {
        T::loss_and_gradient(self, labels, weights)
    }

    fn gradient(&self) -> &[T] {
        self.work.gradient()
    }
}

impl<T: Real> Network<T> {
    fn as_pair_scores(&self) -> &dyn PairScores<T> {
        self.attention.as_pair_scores().expect("callers have asked whether the network scores pairs")
    }

    pub(crate) fn encode(&self, field: Field<'_, T>, input: &Input<T>, buffers: &mut Buffers<T>) {
        let NetworkConfig { hidden, layers, .. } = self.config();
        buffers.h.resize_with(layers + 1, Buffer::default);
        buffers.h[0].resize(input.num_rows() * hidden, T::ZERO);
        let (encoder, nodes) = (&self.places.encoder, field.blocks.nodes());
        encoder.forward(self.parameters(), field.mode, input, nodes, &mut buffers.encoded, &mut buffers.h[0]);
    }

    /// All of a pass after the encoder, whose output stands in `buffers` already. Batch normalisation uses the given
    /// statistics, if there are any.
    pub(crate) fn forward_layers(
        &self,
        field: Field<'_, T>,
        plan: Plan<'_, T>,
        given: Option<&[Finished<T>]>,
        buffers: &mut Buffers<T>,
    ) {
        let NetworkConfig { hidden, layers, .. } = self.config();
        let Field { blocks, mode, .. } = field;
        assert_eq!(blocks.num_layers(), layers, "the blocks are for another number of layers");
        buffers.h.resize_with(layers + 1, Buffer::default);
        buffers.finished.resize_with(layers, Finished::default);
        buffers.states.resize_with(layers, LayerState::default);
        let single = if plan.pair.is_some() { layers - 2 } else { layers };
        for (l, h) in buffers.h.iter_mut().enumerate() {
            let rows = if plan.omits_inner_outputs() && l + 1 == layers { 0 } else { blocks.num_within(layers - l) };
            h.resize(rows * hidden, T::ZERO);
        }
        for l in 0..single {
            let (before, after) = buffers.h.split_at_mut(l + 1);
            let layer = self.layer(l, &before[l], field);
            let LayerState { sources, targets, .. } = &mut buffers.states[l];
            self.attention.sources(layer, 0, sources);
            let rows = Targets::of_block(blocks.layer(l), &before[l], hidden);
            let finish = &self.places.finishes[l];
            if finish.is_identity() {
                self.attention.targets(layer, sources, rows, &mut after[0], targets);
                continue;
            }
            let (finished, nodes) = (&mut buffers.finished[l], RowNodes { nodes: blocks.nodes(), rows: None });
            let sums = sized(&mut finished.sums, after[0].len());
            self.attention.targets(layer, sources, rows, sums, targets);
            let (values, given) = ((self.parameters(), self.buffers()), given.map(|given| &given[l].statistics));
            finish.forward_layer(values, mode, given, (nodes, rows.h), finished, &mut after[0]);
        }
        if let Some(pair) = plan.pair {
            let (h, above) = buffers.h.split_at_mut(layers - 1);
            let [inner, out] = above else { unreachable!("the last layer has inputs and outputs") };
            let paired = self.paired_layers(field, &h[layers - 2], &[]);
            let inner = (!plan.omits_inner_outputs()).then_some(&mut inner[..]);
            pair.forward(paired, last_two(&mut buffers.states), &mut buffers.pair, inner, out);
        }
        self.classify(blocks, buffers);
    }

    /// From the encoder's and the last layer's output to class scores.
    fn classify(&self, blocks: &Blocks, buffers: &mut Buffers<T>) {
        let NetworkConfig { hidden, layers, classes, .. } = self.config();
        let entities = blocks.num_entities();
        buffers.scores.resize(entities * classes, T::ZERO);
        let Buffers { h, joined, scores, .. } = buffers;
        let (classifier, parameters) = (&self.places.classifier, self.parameters());
        match blocks.graphs() {
            None => classifier.join_and_classify(parameters, [&h[0], &h[layers]], |row| row, joined, scores),
            Some(graphs) => {
                joined.rows.resize(entities * classifier.width(), T::ZERO);
                let parts = [&h[0][..], &h[layers]];
                readout::pool(&parts[2 - classifier.width() / hidden..], hidden, graphs, &mut joined.rows);
                classifier.classify(parameters, joined, scores);
            }
        }
    }

    /// The last two layers, their inputs, and the outputs between them, if there are any.
    fn paired_layers<'a>(&'a self, field: Field<'a, T>, h: &'a [T], inner: &'a [T]) -> [PairedLayer<'a, T>; 2] {
        let last = self.config().layers - 1;
        let paired = |(l, h)| PairedLayer { layer: self.layer(l, h, field), block: field.blocks.layer(l) };
        [(last - 1, h), (last, inner)].map(paired)
    }

    /// From `buffers.d_scores` to the gradient of every parameter.
    fn backward(
        &self,
        field: Field<'_, T>,
        input: &Input<T>,
        plan: Plan<'_, T>,
        buffers: &mut Buffers<T>,
        gradient: &mut [T],
    ) {
        self.backward_to_encoding(field, plan, buffers, gradient);
        let (hidden, Field { blocks, mode, .. }) = (self.config().hidden, field);
        let d_direct = match blocks.graphs() {
            None => self.places.classifier.direct(&buffers.d_joined),
            Some(_) => Matrix::new(&buffers.d_pooled, buffers.d_pooled.len() / hidden, hidden),
        };
        let mut pass = Backward { parameters: self.parameters(), gradient };
        let encoded = (&buffers.encoded, &buffers.h[0][..]);
        let d_h = &mut buffers.d_h[0];
        self.places.encoder.backward(&mut pass, mode, (input, blocks.nodes()), encoded, d_direct, d_h);
    }

    /// The same of all parameters but the encoder's, up to the part of the gradient of its output that comes through
    /// the layers.
    pub(crate) fn backward_to_encoding(
        &self,
        field: Field<'_, T>,
        plan: Plan<'_, T>,
        buffers: &mut Buffers<T>,
        gradient: &mut [T],
    ) {
        let NetworkConfig { hidden, layers, classes, .. } = self.config();
        let blocks = field.blocks;
        let labelled = buffers.d_scores.len() / classes;
        buffers.d_h.resize_with(layers + 1, Buffer::default);
        for (d_h, h) in buffers.d_h.iter_mut().zip(&buffers.h) {
            d_h.resize(h.len(), T::ZERO);
        }
        // One part of a joined row reaches the last layer, and the other, if there is one, the encoder directly.
        let Buffers { joined, d_scores, d_joined, d_pooled, d_h, .. } = &mut *buffers;
        let nodes = blocks.graphs().map_or(labelled, |graphs| graphs[labelled]);
        let (d_last, d_rest) = d_h[layers].split_at_mut(nodes * hidden);
        let (classifier, parameters) = (&self.places.classifier, self.parameters());
        match blocks.graphs() {
            None => classifier.backward(parameters, joined, d_scores, d_joined, Some(d_last), gradient),
            Some(graphs) => {
                classifier.backward(parameters, joined, d_scores, d_joined, None, gradient);
                let (width, graphs) = (classifier.width(), &graphs[..=labelled]);
                readout::spread(d_joined, [width - hidden, width], hidden, graphs, d_last);
                d_pooled.resize(if width > hidden { nodes * hidden } else { 0 }, T::ZERO);
                if width > hidden {
                    readout::spread(d_joined, [0, width], hidden, graphs, d_pooled);
                }
            }
        }
        d_rest.fill(T::ZERO);
        self.backward_layers(field, plan, buffers, gradient);
    }

    /// From the gradient of the last layer's output to that of the encoder's and of the layers' parameters.
    fn backward_layers(&self, field: Field<'_, T>, plan: Plan<'_, T>, buffers: &mut Buffers<T>, gradient: &mut [T]) {
        let (layers, places) = (self.config().layers, &self.places.layers);
        let Field { blocks, mode, .. } = field;
        gradient[places[0].start..places[layers - 1].end].fill(T::ZERO);
        let mut single = layers;
        if let Some(pair) = plan.pair {
            single = layers - 2;
            let paired = self.paired_layers(field, &buffers.h[single], &buffers.h[single + 1]);
            let (below, last) = buffers.d_h.split_at_mut(layers);
            let upstream = [(single, &[][..]), (single + 1, &last[0][..])]
                .map(|(l, d_out)| Upstream { d_out, d_attention: &buffers.d_attention[l] });
            let (d_lower, d_upper) = gradient[..places[layers - 1].end].split_at_mut(places[layers - 1].start);
            let d_parameters = [&mut d_lower[places[single].clone()], d_upper];
            let states = last_two(&mut buffers.states);
            pair.backward(paired, upstream, states, &mut buffers.pair, d_parameters, &mut below[single]);
        }
        let nodes = RowNodes { nodes: blocks.nodes(), rows: None };
        for l in (0..single).rev() {
            let (before, after) = buffers.d_h.split_at_mut(l + 1);
            let (finish, h, d_out) = (&self.places.finishes[l], &buffers.h[l][..], &mut after[0][..]);
            if !finish.is_identity() {
                let mut pass = Backward { parameters: self.parameters(), gradient };
                let Finished { sums, statistics, .. } = &buffers.finished[l];
                finish.backward(&mut pass, mode, statistics, nodes, sums, d_out);
            }
            let layer = self.layer(l, h, field);
            let upstream = Upstream { d_out, d_attention: &buffers.d_attention[l] };
            let d_parameters = &mut gradient[places[l].clone()];
            let state = &mut buffers.states[l];
            self.attention.backward(layer, blocks.layer(l), upstream, state, d_parameters, &mut before[l]);
            if let Some((pairs, d_scores)) = &buffers.d_pairs[l] {
                self.as_pair_scores().backward(layer, pairs, d_scores, d_parameters, &mut before[l]);
            }
            let mut pass = Backward { parameters: self.parameters(), gradient };
            finish.residual_backward(&mut pass, h, d_out, &mut before[l]);
        }
    }
}

fn last_two<T>(states: &mut [LayerState<T>]) -> [&mut LayerState<T>; 2] {
    let [.., lower, upper] = states else { unreachable!("two layers make a pair") };
    [lower, upper]
}
