//! Scores of pairs of nodes, whether or not an edge joins them: for losses that tell edges from other pairs.
//!
//! Each kind scores a pair by a row of its source and one of its target, which are linear maps of the layer's inputs:
//!
//! ```text
//! x_i = A h_i + a          y_j = B h_j + b          score_ijk = f_k(x_i, y_j)
//! ```
//!
//! f is symmetric for all kinds, so one function has both gradients. They are gathered node by node, so that no two
//! threads write the same row. Features of edges take no part: a pair without an edge has none.

mod gat;
mod gatv2;
mod transformer;

use std::fmt;

use carat_graph::Block;

pub(super) use gat::GatPairs;
pub(super) use gatv2::GatV2Pairs;
pub(super) use transformer::TransformerPairs;

use super::Layer;
use super::gatv2::project;
use crate::kernels::dense;
use crate::matrix::{Matrix, MatrixMut, multiply_add};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows};

/// Scores before the softmax of any pairs of nodes, for kinds that have them.
pub trait PairScores<T: Real>: fmt::Debug + Send + Sync {
    /// Fills `scores`, pairs x heads.
    fn scores(&self, layer: Layer<'_, T>, pairs: &NodePairs, scores: &mut [T]);

    /// From the gradients of the scores: adds to `d_parameters` and to `d_h` (sources x F).
    fn backward(&self, layer: Layer<'_, T>, pairs: &NodePairs, d_scores: &[T], d_parameters: &mut [T], d_h: &mut [T]);
}

/// Pairs of a source and a target of a layer's block, and the pairs of every node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePairs {
    pairs: Vec<[u32; 2]>,
    /// By source, and by target.
    sides: [Side; 2],
}

/// For every node of one side, the numbers of its pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Side {
    offsets: Vec<usize>,
    pairs: Vec<u32>,
}

impl NodePairs {
    /// Pairs of (source, target) in the local numbers of a block. A pair may be named twice.
    pub fn new(block: Block<'_>, pairs: Vec<[u32; 2]>) -> Self {
        let sides = [block.num_sources(), block.num_targets()];
        let side = |side: usize| Side::new(sides[side], pairs.iter().map(|pair| pair[side]));
        Self { sides: [side(0), side(1)], pairs }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// True when there is no pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs as they were given.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }
}

impl Side {
    fn new(nodes: usize, of_pairs: impl ExactSizeIterator<Item = u32> + Clone) -> Self {
        let mut offsets = vec![0; nodes + 1];
        of_pairs.clone().for_each(|node| offsets[node as usize + 1] += 1);
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let (mut next, mut pairs) = (offsets.clone(), vec![0; of_pairs.len()]);
        for (pair, node) in (0u32..).zip(of_pairs) {
            pairs[next[node as usize]] = pair;
            next[node as usize] += 1;
        }
        Self { offsets, pairs }
    }

    fn num_nodes(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// f of a kind.
trait Score<T>: Sync {
    /// Writes f_k(x, y) of every head.
    fn score(&self, rows: [&[T]; 2], scores: &mut [T]);

    /// Adds the gradient of sum_k d_k f_k(x, y) with respect to x.
    fn add_gradient(&self, rows: [&[T]; 2], d_scores: &[T], d_x: &mut [T]);
}

/// The linear map of one side: its matrix, and what it adds.
#[derive(Clone, Copy)]
struct Map<'a, T> {
    weight: &'a [T],
    bias: &'a [T],
}

/// Pairs, and pairs per node, that a chunk has at least.
const CHUNK_PAIRS: usize = 512;

/// The rows of both sides' nodes.
fn rows<T: Real>(layer: Layer<'_, T>, pairs: &NodePairs, maps: [Map<'_, T>; 2]) -> [Vec<T>; 2] {
    [0, 1].map(|side| {
        let (Map { weight, bias }, nodes) = (maps[side], pairs.sides[side].num_nodes());
        let mut rows = vec![T::ZERO; nodes * bias.len()];
        project(&mut rows, &layer.h[..nodes * layer.shape.width], weight, bias);
        rows
    })
}

/// The row of a node.
fn row<T>(rows: &[T], node: u32, width: usize) -> &[T] {
    &rows[node as usize * width..][..width]
}

/// Fills the scores of all pairs.
fn score_pairs<T: Real>(
    layer: Layer<'_, T>,
    pairs: &NodePairs,
    maps: [Map<'_, T>; 2],
    score: &impl Score<T>,
    scores: &mut [T],
) {
    let (heads, width) = (layer.shape.heads, maps[0].bias.len());
    let rows = rows(layer, pairs, maps);
    Chunks::even(pairs.len(), CHUNK_PAIRS).run(Rows::new(scores, heads), |range, scores| {
        for (scores, [i, j]) in scores.into_slice().chunks_exact_mut(heads).zip(&pairs.pairs[range]) {
            score.score([row(&rows[0], *i, width), row(&rows[1], *j, width)], scores);
        }
    });
}

/// Adds to the gradients of both maps, of matrix and bias, and to that of the layer's inputs.
fn backward<T: Real>(
    layer: Layer<'_, T>,
    pairs: &NodePairs,
    maps: [Map<'_, T>; 2],
    (score, d_scores): (&impl Score<T>, &[T]),
    d_maps: [[&mut [T]; 2]; 2],
    d_h: &mut [T],
) {
    let (heads, inputs, width) = (layer.shape.heads, layer.shape.width, maps[0].bias.len());
    let rows = rows(layer, pairs, maps);
    for (side, [d_weight, d_bias]) in d_maps.into_iter().enumerate() {
        let of_side = &pairs.sides[side];
        let nodes = of_side.num_nodes();
        let mut d_rows = vec![T::ZERO; nodes * width];
        Chunks::by_edges(&of_side.offsets, CHUNK_PAIRS).run(Rows::new(&mut d_rows, width), |range, d_rows| {
            for (node, d_row) in range.zip(d_rows.into_slice().chunks_exact_mut(width)) {
                for &pair in &of_side.pairs[of_side.offsets[node]..of_side.offsets[node + 1]] {
                    let other = pairs.pairs[pair as usize][1 - side];
                    let ends = [row(&rows[side], node as u32, width), row(&rows[1 - side], other, width)];
                    score.add_gradient(ends, row(d_scores, pair, heads), d_row);
                }
            }
        });
        dense::add_column_sums(d_bias, &d_rows);
        let (d_rows, h) = (Matrix::new(&d_rows, nodes, width), Matrix::new(layer.h, nodes, inputs));
        multiply_add(MatrixMut::new(d_weight, width, inputs), d_rows.t(), h, T::ONE);
        multiply_add(MatrixMut::new(d_h, nodes, inputs), d_rows, Matrix::new(maps[side].weight, width, inputs), T::ONE);
    }
}

/// sums += what `add` adds for every pair, in the order of pairs: the gradient of a parameter of f. `add` gets the rows
/// of a pair's ends, and the gradients of its scores.
fn add_over_pairs<T: Real>(
    rows: &[Vec<T>; 2],
    pairs: &NodePairs,
    d_scores: &[T],
    sums: &mut [T],
    add: impl Fn([&[T]; 2], &[T], &mut [T]) + Sync,
) {
    let (width, heads) = (sums.len(), d_scores.len().checked_div(pairs.len()).unwrap_or(0));
    let chunks = Chunks::even(pairs.len(), CHUNK_PAIRS);
    let mut parts = vec![T::ZERO; chunks.len() * width];
    chunks.run(ChunkRows::new(&mut parts, &chunks, width), |range, part| {
        let part = part.into_slice();
        for pair in range {
            let [i, j] = pairs.pairs[pair];
            let ends = [row(&rows[0], i, width), row(&rows[1], j, width)];
            add(ends, row(d_scores, pair as u32, heads), part);
        }
    });
    dense::add_column_sums(sums, &parts);
}
