//! How much of every edge and node belongs to the context, and how much to the object: 2-way softmaxes of linear maps.
//!
//! ```text
//! (context_ij, object_ij) = softmax(E [x_i || x_j] + e)        (context_n, object_n) = softmax(V x_n + v)
//! ```
//!
//! Only the difference of the two scores matters: context = sigmoid(difference), object = sigmoid(-difference). So each
//! node needs three numbers: its difference as a source, as a target and as a node. A self-loop of the data has no
//! share: the convolution that uses the shares gives every node a loop of weight 1 instead.

use std::ops::Range;

use carat_graph::Block;

use crate::buffer::Buffer;
use crate::kernels::aggregate::{source_chunks, target_chunks};
use crate::kernels::dense;
use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};
use crate::modules::{Backward, Layouts};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{Chunks, EdgeRows, Rows};
use crate::toolkit::sized;

/// Differences per node: as the source of an edge, as its target, and by itself.
const DIFFERENCES: usize = 3;

/// Nodes per chunk.
const CHUNK_NODES: usize = 4096;

/// Both attentions' parameters.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    edge_weight: Range<usize>,
    edge_bias: Range<usize>,
    node_weight: Range<usize>,
    node_bias: Range<usize>,
    hidden: usize,
}

/// Shares of the context (first) and the object (second).
#[derive(Debug, Clone, Default)]
pub(super) struct SharesState<T> {
    differences: Buffer<T>,
    pub(super) edges: [Buffer<T>; 2],
    pub(super) nodes: [Buffer<T>; 2],
}

impl Shares {
    pub(super) fn new(layouts: &mut Layouts, hidden: usize) -> Self {
        let mut push = |name: &str, shape: &[usize], fan_in| {
            layouts.parameters.push(Parameter::new(name, shape, Init::Linear { fan_in }))
        };
        Self {
            edge_weight: push("edge_att_mlp.weight", &[2, 2 * hidden], 2 * hidden),
            edge_bias: push("edge_att_mlp.bias", &[2], 2 * hidden),
            node_weight: push("node_att_mlp.weight", &[2, hidden], hidden),
            node_bias: push("node_att_mlp.bias", &[2], hidden),
            hidden,
        }
    }

    /// Rows whose products with x are the three differences, and what is added to them.
    fn difference_vectors<T: Real>(&self, parameters: &[T]) -> (Vec<T>, [T; DIFFERENCES]) {
        let subtract = |place: &Range<usize>| {
            let (first, second) = parameters[place.clone()].split_at(place.len() / 2);
            first.iter().zip(second).map(|(first, second)| *first - *second).collect::<Vec<T>>()
        };
        // The first half of an edge's row is for its source, the second for its target.
        let vectors = [subtract(&self.edge_weight), subtract(&self.node_weight)].concat();
        let of_edge = subtract(&self.edge_bias).into_iter().sum();
        let of_node = subtract(&self.node_bias).into_iter().sum();
        (vectors, [T::ZERO, of_edge, of_node])
    }

    /// Fills `state` from `x`, one row per node.
    pub(super) fn forward<T: Real>(&self, parameters: &[T], block: Block<'_>, x: &[T], state: &mut SharesState<T>) {
        let nodes = block.num_targets();
        let (vectors, constants) = self.difference_vectors(parameters);
        let differences = sized(&mut state.differences, nodes * DIFFERENCES);
        let vectors = Matrix::new(&vectors, DIFFERENCES, self.hidden);
        dense::affine(differences, Matrix::new(x, nodes, self.hidden), vectors.t(), &constants);
        let differences = &*differences;
        let [context, object] = &mut state.nodes;
        let outputs = (Rows::new(sized(context, nodes), 1), Rows::new(sized(object, nodes), 1));
        Chunks::even(nodes, CHUNK_NODES).run(outputs, |range, (context, object)| {
            let outputs = context.into_slice().iter_mut().zip(object.into_slice());
            for (node, (context, object)) in range.zip(outputs) {
                (*context, *object) = both_sigmoids(differences[node * DIFFERENCES + 2]);
            }
        });
        let [context, object] = &mut state.edges;
        let (edges, offsets) = (block.num_edges(), block.offsets());
        let context = EdgeRows::new(sized(context, edges), offsets, 1);
        let object = EdgeRows::new(sized(object, edges), offsets, 1);
        target_chunks(offsets).run((context, object), |range, (context, object)| {
            let mut outputs = context.into_slice().iter_mut().zip(object.into_slice());
            for target in range {
                for (&source, (context, object)) in block.in_neighbours(target).iter().zip(&mut outputs) {
                    let source = source as usize;
                    (*context, *object) = if source == target {
                        (T::ZERO, T::ZERO)
                    } else {
                        both_sigmoids(differences[source * DIFFERENCES] + differences[target * DIFFERENCES + 1])
                    };
                }
            }
        });
    }

    /// From the gradients of the shares to those of the parameters; what reaches x is added to `d_x`.
    pub(super) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        block: Block<'_>,
        x: &[T],
        state: &SharesState<T>,
        gradients: &ShareGradients<T>,
        d_x: &mut [T],
    ) {
        let (nodes, hidden) = (block.num_targets(), self.hidden);
        // A softmax of two: d_difference = context object (d_context - d_object). For a self-loop it is 0.
        let of_edge = |edge: usize| softmax_backward(&state.edges, &gradients.edges, edge);
        let mut d_differences = vec![T::ZERO; nodes * DIFFERENCES];
        source_chunks(&block).run(Rows::new(&mut d_differences, DIFFERENCES), |range, rows| {
            for (node, row) in range.zip(rows.into_slice().chunks_exact_mut(DIFFERENCES)) {
                row[0] = block.out_edges(node).map(|(_, edge)| of_edge(edge)).sum();
                row[1] = (block.offsets()[node]..block.offsets()[node + 1]).map(of_edge).sum();
                row[2] = softmax_backward(&state.nodes, &gradients.nodes, node);
            }
        });
        let (vectors, _) = self.difference_vectors(pass.parameters);
        let d_rows = Matrix::new(&d_differences, nodes, DIFFERENCES);
        let vectors = Matrix::new(&vectors, DIFFERENCES, hidden);
        multiply_add(MatrixMut::new(d_x, nodes, hidden), d_rows, vectors, T::ONE);
        let mut d_vectors = vec![T::ZERO; DIFFERENCES * hidden];
        multiply(
            MatrixMut::new(&mut d_vectors, DIFFERENCES, hidden),
            d_rows.t(),
            Matrix::new(x, nodes, hidden),
            T::ONE,
        );
        let mut sums = [T::ZERO; DIFFERENCES];
        dense::add_column_sums(&mut sums, &d_differences);
        let mut write = |place: &Range<usize>, values: &[T]| {
            let (first, second) = pass.gradient[place.clone()].split_at_mut(place.len() / 2);
            first.copy_from_slice(values);
            second.iter_mut().zip(values).for_each(|(second, value)| *second = -*value);
        };
        write(&self.edge_weight, &d_vectors[..2 * hidden]);
        write(&self.edge_bias, &sums[1..2]);
        write(&self.node_weight, &d_vectors[2 * hidden..]);
        write(&self.node_bias, &sums[2..]);
    }
}

/// Gradients of the shares of the context (first) and the object (second).
#[derive(Debug, Clone, Default)]
pub(super) struct ShareGradients<T> {
    pub(super) edges: [Buffer<T>; 2],
    pub(super) nodes: [Buffer<T>; 2],
}

/// sigmoid(x) and sigmoid(-x), both precise however large x is.
fn both_sigmoids<T: Real>(x: T) -> (T, T) {
    let small = if x > T::ZERO { (-x).exp() } else { x.exp() };
    let (smaller, larger) = (small / (T::ONE + small), T::ONE / (T::ONE + small));
    if x > T::ZERO { (larger, smaller) } else { (smaller, larger) }
}

fn softmax_backward<T: Real>(shares: &[Buffer<T>; 2], gradients: &[Buffer<T>; 2], at: usize) -> T {
    shares[0][at] * shares[1][at] * (gradients[0][at] - gradients[1][at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, blocks, noise, values, weighted};

    #[test]
    fn shares_and_their_gradients_equal_the_definition() {
        let (blocks, hidden) = (blocks(), 3);
        let block = blocks.layer(0);
        let mut layouts = Layouts::default();
        let shares = Shares::new(&mut layouts, hidden);
        let (parameters, _) = values(&layouts);
        let x = noise(7 * hidden, 4);
        let mut state = SharesState::default();
        shares.forward(&parameters, block, &x, &mut state);

        let softmax = |weight: &Range<usize>, bias: &Range<usize>, input: &[f64]| {
            let scores = [0, 1].map(|row| {
                let weight = &parameters[weight.clone()][row * input.len()..(row + 1) * input.len()];
                weighted(input, weight) + parameters[bias.start + row]
            });
            scores.map(|score| score.exp() / (scores[0].exp() + scores[1].exp()))
        };
        let row = |node: usize| &x[node * hidden..(node + 1) * hidden];
        for j in 0..7 {
            let expected = softmax(&shares.node_weight, &shares.node_bias, row(j));
            assert!((0..2).all(|side| (state.nodes[side][j] - expected[side]).abs() < 1e-12));
            for e in block.offsets()[j]..block.offsets()[j + 1] {
                let i = block.sources()[e] as usize;
                let both = softmax(&shares.edge_weight, &shares.edge_bias, &[row(i), row(j)].concat());
                let expected = if i == j { [0.0; 2] } else { both };
                assert!((0..2).all(|side| (state.edges[side][e] - expected[side]).abs() < 1e-12), "edge {i} to {j}");
            }
        }

        let edges = block.num_edges();
        let noise = |len, seed| Buffer::from(&noise(len, seed)[..]);
        let gradients = ShareGradients { edges: [noise(edges, 5), noise(edges, 6)], nodes: [noise(7, 7), noise(7, 8)] };
        let (mut d_parameters, mut d_x) = (vec![f64::NAN; parameters.len()], vec![0.0; x.len()]);
        let mut pass = Backward { parameters: &parameters, gradient: &mut d_parameters };
        shares.backward(&mut pass, block, &x, &state, &gradients, &mut d_x);
        let mut loss = |parameters: &[f64], x: &[f64]| {
            shares.forward(parameters, block, x, &mut state);
            let sides = |side: usize| {
                weighted(&state.edges[side], &gradients.edges[side])
                    + weighted(&state.nodes[side], &gradients.nodes[side])
            };
            sides(0) + sides(1)
        };
        assert_gradient("parameters", &parameters, &d_parameters, |parameters| loss(parameters, &x));
        assert_gradient("x", &x, &d_x, |x| loss(&parameters, x));
    }

    #[test]
    fn sigmoids_keep_their_precision_far_out() {
        let (near_one, tiny) = both_sigmoids(80.0f32);
        assert!(near_one == 1.0 && (tiny / (-80.0f32).exp() - 1.0).abs() < 1e-6);
        assert_eq!(both_sigmoids(-80.0f32), (tiny, near_one));
        assert_eq!(both_sigmoids(1e30f32), (1.0, 0.0));
        assert_eq!(both_sigmoids(0.0f64), (0.5, 0.5));
    }
}
