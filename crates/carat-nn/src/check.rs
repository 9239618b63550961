//! Checks for authors of attention kinds: are the gradients right, and is deleting an edge exact?
//!
//! ```
//! use carat_graph::{Blocks, Features, Graph};
//! use carat_nn::{AttentionKind, Input, Network, NetworkConfig, check};
//!
//! let graph = Graph::from_edges(4, &[0, 1, 2, 2, 3], &[1, 2, 1, 2, 0])?;
//! let features = Features::dense(4, 2, vec![1.0, -0.3, 0.2, 1.0, -1.0, 1.0, 0.5, 0.5])?;
//! let sizes = NetworkConfig { features: 2, hidden: 4, heads: 2, layers: 2, classes: 2, ..Default::default() };
//! let config = NetworkConfig { arch: AttentionKind::Gat, ..sizes };
//! let mut network = Network::<f64>::new(config, 0)?;
//!
//! let blocks = Blocks::whole(&graph, config.layers);
//! let input = Input::new(&features, blocks.nodes());
//! for parameter in check::gradient(&mut network, &blocks, &input, &[0, 1, 1, 0]) {
//!     assert!(parameter.error < 1e-6, "{parameter:?}");
//! }
//! assert!(check::deletions(&network, &blocks, &input) < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use carat_graph::Blocks;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::encoder::Input;
use crate::intervention::{Cut, Deletion};
use crate::kernels::softmax;
use crate::loss;
use crate::modules::{Masks, Mode};
use crate::network::Network;
use crate::parameters::Layout;
use crate::pass::{Keep, LayerAttention, Pass, Workspace};
use crate::whole_graph::{Labelled, WholeGraph, WholeGraphModel};

/// Gradients below this are compared with it instead of with each other, because smaller differences are rounding.
const SMALLEST_SCALE: f64 = 1e-5;

/// How far from the given parameters gradients are checked.
const AWAY: f64 = 0.1;

/// How one parameter's gradient compares with differences of the loss.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterCheck {
    /// The parameter, as in a model file.
    pub name: String,
    /// The largest distance between the two gradients of a value, relative to the parameter's largest gradient. A right
    /// backward pass stays below 1e-6.
    pub error: f64,
    /// The parameter's largest gradient by the backward pass. Where that is 0, little was checked.
    pub largest: f64,
    /// By the backward pass, for the value where they are farthest apart.
    pub analytic: f64,
    /// By differences, for the same value.
    pub numeric: f64,
}

/// Checks the gradient of every parameter: of the prediction loss on the first entities, whose labels are `labels`,
/// plus a loss on every layer's attention, which stands for any regulariser.
///
/// The check is made a little away from the given parameters, which are restored afterwards. Biases of 0 would hide
/// mistakes, and would put a node without in-edges onto the corner of a LeakyReLU, where there is no derivative.
pub fn gradient(
    network: &mut Network<f64>,
    blocks: &Blocks,
    input: &Input<f64>,
    labels: &[u32],
) -> Vec<ParameterCheck> {
    gradient_with(network, blocks, input, labels, attention_loss)
}

/// As [`gradient`], with a given loss on attention. It is called with every forward pass, returns its value and leaves
/// its gradient in [`Pass::attention_and_gradients`]. What it treats as constant must not change from call to call.
/// `|_| 0.0` checks only the prediction loss.
pub fn gradient_with(
    network: &mut Network<f64>,
    blocks: &Blocks,
    input: &Input<f64>,
    labels: &[u32],
    on_attention: impl FnMut(&mut dyn Pass<f64>) -> f64,
) -> Vec<ParameterCheck> {
    gradient_of(network, blocks, input, labels, (Mode::PREDICTION, Keep::Deletions), on_attention)
}

/// As [`gradient_with`], of a training pass with these masks and with [`Keep::Layers`]: the loss may read
/// [`Pass::pair_scores`].
pub fn gradient_with_pairs(
    network: &mut Network<f64>,
    blocks: &Blocks,
    input: &Input<f64>,
    labels: &[u32],
    masks: Masks,
    on_pairs: impl FnMut(&mut dyn Pass<f64>) -> f64,
) -> Vec<ParameterCheck> {
    gradient_of(network, blocks, input, labels, (Mode::training(masks), Keep::Layers), on_pairs)
}

/// As [`gradient`], of a training pass with these masks.
pub fn training_gradient(
    network: &mut Network<f64>,
    blocks: &Blocks,
    input: &Input<f64>,
    labels: &[u32],
    masks: Masks,
) -> Vec<ParameterCheck> {
    gradient_of(network, blocks, input, labels, (Mode::training(masks), Keep::Deletions), attention_loss)
}

fn gradient_of(
    network: &mut Network<f64>,
    blocks: &Blocks,
    input: &Input<f64>,
    labels: &[u32],
    (mode, keep): (Mode, Keep),
    mut on_attention: impl FnMut(&mut dyn Pass<f64>) -> f64,
) -> Vec<ParameterCheck> {
    let unchanged = network.parameters().to_vec();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    network.parameters_mut().iter_mut().for_each(|p| *p += rng.random_range(-AWAY..AWAY));
    let mut work = Workspace::default();
    let mut pass = network.pass(blocks, input, mode, keep, &mut work);
    on_attention(&mut pass);
    pass.loss_and_gradient(labels);
    let gradient = pass.gradient().to_vec();
    let mut loss = |network: &Network<f64>| {
        let mut pass = network.pass(blocks, input, mode, keep, &mut work);
        let rows = pass.scores().chunks_exact(network.config().classes).zip(labels);
        let total: f64 = rows.map(|(scores, &label)| loss::cross_entropy(scores, label as usize)).sum();
        total / labels.len() as f64 + on_attention(&mut pass)
    };
    let layout = network.layout().clone();
    let checked = compare(&layout, &gradient, |at, shift| {
        let original = network.parameters()[at];
        network.parameters_mut()[at] = original + shift;
        let value = loss(network);
        network.parameters_mut()[at] = original;
        value
    });
    network.parameters_mut().copy_from_slice(&unchanged);
    checked
}

/// As [`gradient`], for a model of the whole graph: the loss of a training pass over some nodes, with this seed. The
/// model is left unchanged.
pub fn whole_graph_gradient(
    model: &mut dyn WholeGraphModel<f64>,
    graph: &WholeGraph<f64>,
    labelled: Labelled<'_>,
    seed: u64,
) -> Vec<ParameterCheck> {
    let (unchanged, buffers) = (model.parameters().to_vec(), model.buffers().to_vec());
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    model.parameters_mut().iter_mut().for_each(|p| *p += rng.random_range(-AWAY..AWAY));
    let mut gradient = vec![0.0; unchanged.len()];
    let mut ignored = gradient.clone();
    model.loss_and_gradient(graph, labelled, seed, &mut gradient);
    let layout = model.layout().clone();
    let checked = compare(&layout, &gradient, |at, shift| {
        let original = model.parameters()[at];
        model.parameters_mut()[at] = original + shift;
        let value = model.loss_and_gradient(graph, labelled, seed, &mut ignored);
        model.parameters_mut()[at] = original;
        value
    });
    model.parameters_mut().copy_from_slice(&unchanged);
    model.buffers_mut().copy_from_slice(&buffers);
    checked
}

/// Compares every gradient with differences of the loss, which `loss_at` computes with one parameter shifted.
fn compare(layout: &Layout, gradient: &[f64], mut loss_at: impl FnMut(usize, f64) -> f64) -> Vec<ParameterCheck> {
    let mut checked = Vec::new();
    for (parameter, range) in layout.iter() {
        let mut pairs = Vec::with_capacity(range.len());
        for at in range {
            pairs.push((gradient[at], difference(gradient[at], |shift| loss_at(at, shift))));
        }
        let scale = pairs.iter().fold(SMALLEST_SCALE, |scale, (a, n)| scale.max(a.abs()).max(n.abs()));
        let distance = |(a, n): &(f64, f64)| (a - n).abs();
        let worst = pairs.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)));
        let &(analytic, numeric) = worst.unwrap_or(&(0.0, 0.0));
        checked.push(ParameterCheck {
            name: parameter.name.clone(),
            error: distance(&(analytic, numeric)) / scale,
            largest: pairs.iter().fold(0.0, |largest, (a, _)| largest.max(a.abs())),
            analytic,
            numeric,
        });
    }
    checked
}

/// Steps of the differences. Large ones keep rounding small, and small ones avoid the corners of a LeakyReLU, across
/// which a difference is wrong. A wrong gradient disagrees with all of them.
const STEPS: [f64; 5] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// Close enough, relative to the gradient, that no other step need be tried.
const CLOSE: f64 = 1e-9;

/// The derivative of a loss by differences with the step that comes closest to `analytic`. Five points cancel the error
/// of third order.
pub(crate) fn difference(analytic: f64, mut shifted: impl FnMut(f64) -> f64) -> f64 {
    let mut closest = f64::NAN;
    for step in STEPS {
        let mut at = |steps: f64| shifted(steps * step);
        let found = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
        if closest.is_nan() || (found - analytic).abs() < (closest - analytic).abs() {
            closest = found;
        }
        if (closest - analytic).abs() <= CLOSE * analytic.abs() {
            break;
        }
    }
    closest
}

/// A loss on the attention that every layer gives the targets' in-edges: its sum, each edge and head with another
/// weight.
fn attention_loss(pass: &mut dyn Pass<f64>) -> f64 {
    let heads = pass.config().heads;
    let mut total = 0.0;
    for LayerAttention { block, alpha, gradient } in pass.attention_and_gradients() {
        let mut d_scores: Vec<f64> = (0..block.num_edges() * heads).map(|e| 0.5 * (7.0 * e as f64).sin()).collect();
        total += d_scores.iter().zip(alpha).map(|(weight, alpha)| weight * alpha).sum::<f64>();
        for edges in block.offsets().windows(2) {
            let values = edges[0] * heads..edges[1] * heads;
            softmax::scores_backward(values.clone(), heads, alpha, &[], &mut d_scores[values]);
        }
        *gradient = d_scores;
    }
    total
}

/// Deletes every in-edge of every target, and several of them together, once by [`Pass::scores_without`] and
/// [`Pass::scores_without_several`] and once by running the network over the blocks without them. Returns the largest
/// relative distance between the cross-entropies of the two, whatever the label; a kind that keeps to its contract
/// stays below 1e-9.
pub fn deletions(network: &Network<f64>, blocks: &Blocks, input: &Input<f64>) -> f64 {
    let mut work = Workspace::default();
    let mut pass = network.forward(blocks, input, Keep::Deletions, &mut work);
    let (deletions, found) = delete_all(&mut pass);
    let mut worst = 0.0f64;
    for (deletion, found) in deletions.iter().zip(found) {
        worst = worst.max(distance(network, blocks, input, Mode::PREDICTION, deletion, &found));
    }
    worst
}

/// As [`deletions`], in a training pass with these masks. The pass without the edge has the same masks, and batch
/// normalisation uses the statistics of the pass with all edges. They replace the network's running statistics.
pub fn training_deletions(network: &mut Network<f64>, blocks: &Blocks, input: &Input<f64>, masks: Masks) -> f64 {
    let mut work = Workspace::default();
    let mut pass = network.training_pass(blocks, input, masks, Keep::Deletions, &mut work);
    let (deletions, found) = delete_all(&mut pass);
    network.keep_statistics(&work);
    let mode = Mode { masks: Some(masks), of_batch: false };
    let mut worst = 0.0f64;
    for (deletion, found) in deletions.iter().zip(found) {
        worst = worst.max(distance(network, blocks, input, mode, deletion, &found));
    }
    worst
}

/// A target, and edges that are deleted together.
type Deleted = (u32, Vec<u32>);

/// Deletes every in-edge of every target, and of each target every second one and all; returns the class scores without
/// each.
fn delete_all(pass: &mut dyn Pass<f64>) -> (Vec<Deleted>, Vec<Vec<f64>>) {
    let block = pass.blocks().layer(pass.blocks().num_layers() - 1);
    let in_edges = |j: usize| block.offsets()[j]..block.offsets()[j + 1];
    let deletions: Vec<Deletion> = (0..block.num_targets())
        .flat_map(|j| in_edges(j).map(move |e| Deletion { target: j as u32, edge: e as u32 }))
        .collect();
    let several: Vec<Deleted> = (0..block.num_targets())
        .flat_map(|j| [2, 1].map(|step| (j as u32, in_edges(j).step_by(step).map(|e| e as u32).collect())))
        .collect();
    let cuts: Vec<Cut<'_>> = several.iter().map(|(target, edges)| Cut { target: *target, edges }).collect();
    let (mut found, mut more) = (Vec::new(), Vec::new());
    pass.scores_without(&deletions, &mut found);
    pass.scores_without_several(&cuts, &mut more);
    found.extend(more);
    let rows = found.chunks_exact(pass.config().classes).map(<[f64]>::to_vec).collect();
    let single = deletions.into_iter().map(|deletion| (deletion.target, vec![deletion.edge]));
    (single.chain(several).collect(), rows)
}

/// The largest relative distance between the cross-entropies of `found` and of a pass without the edge.
fn distance(
    network: &Network<f64>,
    blocks: &Blocks,
    input: &Input<f64>,
    mode: Mode,
    (target, edges): &Deleted,
    found: &[f64],
) -> f64 {
    let cut = blocks.without(edges);
    let input = input.of_cut(blocks, &cut);
    let mut work = Workspace::default();
    let pass = network.pass(&cut, &input, mode, Keep::Deletions, &mut work);
    let (entity, classes) = (blocks.entity_of(*target as usize), found.len());
    let expected = &pass.scores()[entity * classes..(entity + 1) * classes];
    let mut worst = 0.0f64;
    for label in 0..classes {
        let (found, expected) = (loss::cross_entropy(found, label), loss::cross_entropy(expected, label));
        let error = (found - expected).abs() / expected.max(f64::MIN_POSITIVE);
        worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
    }
    worst
}

#[cfg(test)]
mod tests {
    use carat_graph::{Block, Features, Graph};

    use super::*;
    use crate::{
        Attention, AttentionKind, Gat, Layer, LayerShape, LayerState, NetworkConfig, Parameter, State, TargetState,
        Targets, Upstream,
    };

    /// GAT with one mistake.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Mistaken {
        /// Nothing is wrong.
        Nowhere,
        /// The gradient of the bias is doubled.
        Bias,
        /// A loss on attention is ignored.
        Regulariser,
        /// Sources that an intervention changes count as zero.
        Sources,
        /// A target's own input is read from the pass with all edges.
        Targets,
    }

    impl Attention<f64> for Mistaken {
        fn parameters(&self, shape: LayerShape) -> Vec<Parameter> {
            Attention::<f64>::parameters(&Gat, shape)
        }

        fn sources(&self, layer: Layer<'_, f64>, first: usize, state: &mut State) {
            let mut h = layer.h.to_vec();
            if first > 0 && *self == Self::Sources {
                h[first * layer.shape.width..].fill(0.0);
            }
            Gat.sources(Layer { h: &h, ..layer }, first, state);
        }

        fn targets(
            &self,
            layer: Layer<'_, f64>,
            sources: &State,
            targets: Targets<'_, f64>,
            out: &mut [f64],
            state: &mut TargetState<f64>,
        ) {
            let in_place = layer.h.repeat(targets.h.len().div_ceil(layer.h.len()));
            let h = if *self == Self::Targets { &in_place[..targets.h.len()] } else { targets.h };
            Gat.targets(layer, sources, Targets { h, ..targets }, out, state);
        }

        fn backward(
            &self,
            layer: Layer<'_, f64>,
            block: Block<'_>,
            upstream: Upstream<'_, f64>,
            state: &mut LayerState<f64>,
            d_parameters: &mut [f64],
            d_h: &mut [f64],
        ) {
            let d_attention = if *self == Self::Regulariser { &[] } else { upstream.d_attention };
            Gat.backward(layer, block, Upstream { d_attention, ..upstream }, state, d_parameters, d_h);
            if *self == Self::Bias {
                let bias = d_parameters.len() - layer.shape.width;
                d_parameters[bias..].iter_mut().for_each(|d| *d *= 2.0);
            }
        }
    }

    /// The names of the parameters whose gradient is wrong, and the error of deletions.
    fn examine(kind: Mistaken) -> (Vec<String>, f64) {
        let graph = Graph::from_edges(6, &[0, 1, 2, 2, 3, 4, 0, 5], &[1, 2, 1, 2, 0, 2, 3, 0]).unwrap();
        let features = Features::dense(6, 3, (0..18).map(|i| (i as f32).sin()).collect()).unwrap();
        let sizes = NetworkConfig {
            arch: AttentionKind::Gat,
            features: 3,
            hidden: 4,
            heads: 2,
            layers: 2,
            classes: 3,
            ..Default::default()
        };
        let mut network = Network::with_attention(sizes, Box::new(kind), 1).unwrap();
        let before = network.parameters().to_vec();
        let blocks = Blocks::whole(&graph, 2);
        let input = Input::new(&features, blocks.nodes());
        let checked = gradient(&mut network, &blocks, &input, &[0, 1, 2, 0]);
        assert_eq!(network.parameters(), before);
        assert!(checked.iter().all(|p| p.largest > 0.0));
        let wrong = checked.into_iter().filter(|p| p.error > 1e-6).map(|p| p.name).collect();
        (wrong, deletions(&network, &blocks, &input))
    }

    #[test]
    fn a_right_kind_passes() {
        let (wrong, error) = examine(Mistaken::Nowhere);
        assert!(wrong.is_empty() && error < 1e-9, "{wrong:?}, {error}");
    }

    #[test]
    fn a_mistake_in_one_gradient_is_named() {
        assert_eq!(examine(Mistaken::Bias).0, ["layers.0.bias", "layers.1.bias"]);
    }

    #[test]
    fn a_kind_that_cannot_be_regularised_is_found() {
        let (wrong, _) = examine(Mistaken::Regulariser);
        assert!(wrong.contains(&"layers.1.att_src".to_string()), "{wrong:?}");
        assert!(!wrong.contains(&"classifier.weight".to_string()), "{wrong:?}");
    }

    #[test]
    fn kinds_that_break_their_contract_under_interventions_are_found() {
        for kind in [Mistaken::Sources, Mistaken::Targets] {
            let (wrong, error) = examine(kind);
            assert!(wrong.is_empty() && error > 1e-6, "{kind:?}: {wrong:?}, {error}");
        }
    }
}
