//! A network whose messages pass gates: a factor per edge, the same in every layer and head, and the gradient with
//! respect to these. PyG's explainers call it an edge mask.
//!
//! ```text
//! out_j  = join_k(sum_i alpha_ijk g_ij value_ijk)        alpha = softmax over all of N(j), whatever the gates
//! d_g_ij = sum over layers and heads of alpha_ijk d_jk . value_ijk        d: the gradient of a head's sum
//! ```
//!
//! With all gates 1 it is the network itself. A gate of 0 takes the message away, but unlike a deletion it leaves the
//! attention of the other edges as it is. Passes are as at prediction: without dropout, and with the running statistics
//! of batch normalisation.

use carat_graph::Blocks;

use crate::encoder::Input;
use crate::field::Field;
use crate::modules::Mode;
use crate::network::{Network, NetworkConfig};
use crate::pass::{Buffers, Keep, Plan, Workspace};
use crate::real::Real;

/// A network with gates.
///
/// ```
/// use carat_graph::{Blocks, Features, Graph};
/// use carat_nn::{GatedNetwork, Input, Network, NetworkConfig, Workspace};
///
/// let graph = Graph::from_edges(3, &[0, 1, 2], &[2, 2, 0])?;
/// let features = Features::dense(3, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])?;
/// let sizes = NetworkConfig { features: 2, hidden: 4, heads: 2, layers: 1, classes: 2, ..Default::default() };
/// let network = Network::<f32>::new(sizes, 0)?;
/// let blocks = Blocks::whole(&graph, 1);
/// let input = Input::new(&features, blocks.nodes());
///
/// let gated = GatedNetwork::new(&network).expect("a kind that comes with carat");
/// let mut work = Workspace::default();
/// let mut pass = gated.pass(&blocks, &input, &mut work);
/// let mut gradient = Vec::new();
/// let loss = pass.loss_and_gradient(&[1.0, 1.0, 0.5], &[0, 1, 0], &mut gradient);
/// assert!(loss > 0.0 && gradient.len() == 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GatedNetwork<T>(Network<T>);

impl<T: Real> GatedNetwork<T> {
    /// The network with gates. `None` where its attention is a kind of one's own, which knows none.
    pub fn new(network: &Network<T>) -> Option<Self> {
        network.with_gates().map(Self)
    }

    /// Sizes of the network.
    pub fn config(&self) -> NetworkConfig {
        self.0.config()
    }

    /// Passes over some blocks, with one vector of gates after another: one gate per edge of the blocks, by position.
    pub fn pass<'a>(&'a self, blocks: &'a Blocks, input: &'a Input<T>, work: &'a mut Workspace<T>) -> GatedPass<'a, T> {
        let field = Field::new(self.config(), blocks, input, Mode::PREDICTION);
        GatedPass { network: &self.0, field, input, is_encoded: false, work }
    }
}

/// Layers one by one: two computed together know no gates.
fn plan<'a, T>() -> Plan<'a, T> {
    Plan { pair: None, keep: Keep::Gradients }
}

/// Passes with gates over some blocks.
#[derive(Debug)]
pub struct GatedPass<'a, T> {
    network: &'a Network<T>,
    field: Field<'a, T>,
    input: &'a Input<T>,
    /// The encoder knows no gates, so it is computed once.
    is_encoded: bool,
    work: &'a mut Workspace<T>,
}

impl<T: Real> GatedPass<'_, T> {
    /// Class scores of the blocks' entities, one row each.
    pub fn scores(&mut self, gates: &[T]) -> &[T] {
        T::gated_scores(self, gates);
        &self.work.buffers.scores
    }

    /// Mean cross-entropy of the first entities against `labels`, and its gradient with respect to every gate.
    pub fn loss_and_gradient(&mut self, gates: &[T], labels: &[u32], gradient: &mut Vec<T>) -> f64 {
        T::gated_gradient(self, gates, labels, gradient)
    }

    pub(crate) fn compute(&mut self, gates: &[T]) {
        let Self { network, field, input, is_encoded, work } = self;
        assert_eq!(gates.len(), field.blocks.edge_ids().len(), "one gate per edge of the blocks");
        if !*is_encoded {
            network.encode(*field, input, &mut work.buffers);
            *is_encoded = true;
        }
        network.forward_layers(Field { gates, ..*field }, plan(), None, &mut work.buffers);
    }

    pub(crate) fn compute_gradient(&mut self, gates: &[T], labels: &[u32], gradient: &mut Vec<T>) -> f64 {
        self.compute(gates);
        let Self { network, field, work, .. } = self;
        let Workspace { buffers, gradient: d_parameters, .. } = &mut **work;
        d_parameters.resize(network.parameters().len(), T::ZERO);
        buffers.forget_attention_losses(network.config().layers);
        let Buffers { scores, d_scores, .. } = buffers;
        let loss = network.places.classifier.loss(scores, labels, &[], d_scores);
        network.backward_to_encoding(Field { gates, ..*field }, plan(), buffers, d_parameters);
        gradient.clear();
        gradient.resize(gates.len(), T::ZERO);
        for state in &buffers.states {
            gradient.iter_mut().zip(&*state.d_gates).for_each(|(sum, d_gate)| *sum += *d_gate);
        }
        loss
    }
}

#[cfg(test)]
mod tests;
