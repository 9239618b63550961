//! The end of a network: class scores from the outputs of the encoder and of the last layer, for a node or summed over
//! a graph ([`crate::readout`]), and their loss.
//!
//! ```text
//! scores = W2 LeakyReLU([h || h']) + b2
//! ```

use std::ops::Range;

use crate::kernels::dense;
use crate::loss::{self, ClassWeights};
use crate::matrix::{Matrix, MatrixMut, piece_count, product_here};
use crate::modules::LEAKY_RELU;
use crate::parameters::{Init, Layout, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Parts, Rows};

/// Rows per chunk, at least, of passes that take little time per row.
const CHUNK_ROWS: usize = 64;

/// Rows that the backward pass takes through all of its steps at a time.
const CACHED_ROWS: usize = 512;

/// Where W2 and b2 lie among a network's parameters: next to each other.
#[derive(Debug, Clone)]
pub(crate) struct Classifier {
    weight: Range<usize>,
    bias: Range<usize>,
    hidden: usize,
    classes: usize,
}

impl Classifier {
    /// Appends the parameters to a layout.
    pub(crate) fn lay_out(layout: &mut Layout, hidden: usize, classes: usize) -> Self {
        let linear = Init::Linear { fan_in: 2 * hidden };
        let weight = layout.push(Parameter::new("classifier.weight", &[classes, 2 * hidden], linear));
        let bias = layout.push(Parameter::new("classifier.bias", &[classes], linear));
        Self { weight, bias, hidden, classes }
    }

    /// joined = LeakyReLU([h || last]), whose row r is made of row `place(r)` of both, and scores = W2 joined + b2.
    pub(crate) fn join_and_classify<T: Real>(
        &self,
        parameters: &[T],
        [h, last]: [&[T]; 2],
        place: impl Fn(usize) -> usize + Sync,
        joined: &mut [T],
        scores: &mut [T],
    ) {
        let Self { hidden, classes, .. } = *self;
        let weight = Matrix::new(&parameters[self.weight.clone()], classes, 2 * hidden);
        let chunks = dense::product_chunks(scores.len() / classes, classes, 2 * hidden);
        chunks.run((Rows::new(joined, 2 * hidden), Rows::new(scores, classes)), |range, (joined, scores)| {
            let (joined, scores) = (joined.into_slice(), scores.into_slice());
            for (joined, row) in joined.chunks_exact_mut(2 * hidden).zip(range.clone()) {
                let place = place(row) * hidden..(place(row) + 1) * hidden;
                joined[..hidden].copy_from_slice(&h[place.clone()]);
                joined[hidden..].copy_from_slice(&last[place]);
            }
            LEAKY_RELU.forward_here(joined);
            let rows = Matrix::new(joined, range.len(), 2 * hidden);
            dense::add_products_here(scores, rows, weight, Some(&parameters[self.bias.clone()]));
        });
    }

    /// scores = W2 joined + b2.
    pub(crate) fn classify<T: Real>(&self, parameters: &[T], joined: &[T], scores: &mut [T]) {
        let Self { hidden, classes, .. } = *self;
        let rows = joined.len() / (2 * hidden);
        let weight = Matrix::new(&parameters[self.weight.clone()], classes, 2 * hidden);
        let joined = Matrix::new(joined, rows, 2 * hidden);
        dense::add_products(scores, joined, weight, Some(&parameters[self.bias.clone()]));
    }

    /// The part of the scores that comes from a node's own encoding: W2 LeakyReLU([h || 0]) + b2.
    pub(crate) fn own_scores<T: Real>(&self, parameters: &[T], joined: &[T], scores: &mut Vec<T>) {
        let Self { hidden, classes, .. } = *self;
        let rows = joined.len() / (2 * hidden);
        scores.resize(rows * classes, T::ZERO);
        let joined = Matrix::strided(joined, rows, hidden, 2 * hidden);
        let weight = Matrix::strided(&parameters[self.weight.clone()], classes, hidden, 2 * hidden);
        dense::add_products(scores, joined, weight, Some(&parameters[self.bias.clone()]));
    }

    /// Adds the part that comes from the last layer's output: W2 LeakyReLU([0 || h']), given LeakyReLU(h').
    pub(crate) fn add_last_scores<T: Real>(&self, parameters: &[T], last: &[T], scores: &mut [T]) {
        let Self { hidden, classes, .. } = *self;
        let rows = last.len() / hidden;
        let weight = Matrix::strided(&parameters[self.weight.clone()][hidden..], classes, hidden, 2 * hidden);
        dense::add_products(scores, Matrix::new(last, rows, hidden), weight, None);
    }

    /// Mean cross-entropy of the first rows of scores, one for each label, and its gradient with respect to them. Rows
    /// count what their classes weigh: sum of w_y CE / sum of w_y.
    pub(crate) fn loss<T: Real>(
        &self,
        scores: &[T],
        labels: &[u32],
        class_weights: ClassWeights<'_>,
        d_scores: &mut Vec<T>,
    ) -> f64 {
        let classes = self.classes;
        d_scores.resize(labels.len() * classes, T::ZERO);
        let total_weight: f64 = labels.iter().map(|&label| loss::class_weight(class_weights, label)).sum();
        let weight = T::from_f64(1.0 / total_weight);
        let chunks = Chunks::pairs(labels.len(), CHUNK_ROWS);
        let mut totals = vec![0.0; chunks.len()];
        let outputs = (Rows::new(d_scores, classes), ChunkRows::new(&mut totals, &chunks, 1));
        chunks.run(outputs, |range, (d_scores, total)| {
            let scores = &scores[range.start * classes..range.end * classes];
            let labels = &labels[range];
            let loss = loss::cross_entropies(scores, labels, class_weights, weight, d_scores.into_slice());
            total.into_slice()[0] = loss;
        });
        totals.iter().sum::<f64>() / total_weight
    }

    /// From the gradient of the first rows of scores to those of W2 and b2, in their places of `gradient`, and of the
    /// rows of [h || h']. Where rows are nodes, the part of h' is also copied to `d_last`, which has as many rows as
    /// have a gradient.
    pub(crate) fn backward<T: Real>(
        &self,
        parameters: &[T],
        joined: &[T],
        d_scores: &[T],
        d_joined: &mut Vec<T>,
        d_last: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let Self { hidden, classes, .. } = *self;
        let labelled = d_scores.len() / classes;
        let has_last = d_last.is_some();
        let (joined, weights) = (&joined[..labelled * 2 * hidden], self.weight.len());
        d_joined.resize(joined.len(), T::ZERO);
        let weight = Matrix::new(&parameters[self.weight.clone()], classes, 2 * hidden);
        // The gradients of W2 and b2 are sums over all rows, of which each piece computes a part.
        let pieces = piece_count(labelled, weights);
        let chunks = Chunks::even(labelled, labelled.div_ceil(pieces));
        let mut parts = vec![T::ZERO; chunks.len() * (weights + classes)];
        let outputs = (
            Rows::new(d_joined, 2 * hidden),
            Rows::new(d_last.unwrap_or_default(), if has_last { hidden } else { 0 }),
            ChunkRows::new(&mut parts, &chunks, weights + classes),
        );
        chunks.run(outputs, |range, (d_joined, d_last, part)| {
            let (d_joined, d_last) = (d_joined.into_slice(), d_last.into_slice());
            let (d_weight, d_bias) = part.into_slice().split_at_mut(weights);
            // As many rows at a time as stay in the cache.
            for first in range.clone().step_by(CACHED_ROWS) {
                let rows = first..range.end.min(first + CACHED_ROWS);
                let d_scores = &d_scores[rows.start * classes..rows.end * classes];
                let joined = &joined[rows.start * 2 * hidden..rows.end * 2 * hidden];
                let at = rows.start - range.start;
                let d_joined = &mut d_joined[at * 2 * hidden..(at + rows.len()) * 2 * hidden];
                dense::add_column_sums(d_bias, d_scores);
                let d_scores = Matrix::new(d_scores, rows.len(), classes);
                let d_weight = MatrixMut::new(d_weight, classes, 2 * hidden);
                product_here(d_weight, d_scores.t(), Matrix::new(joined, rows.len(), 2 * hidden), T::ONE, true);
                product_here(MatrixMut::new(d_joined, rows.len(), 2 * hidden), d_scores, weight, T::ONE, false);
                LEAKY_RELU.backward_here(joined, d_joined);
                if !d_last.is_empty() {
                    let d_last = d_last[at * hidden..].chunks_exact_mut(hidden);
                    for (d_last, d_joined) in d_last.zip(d_joined.chunks_exact(2 * hidden)) {
                        d_last.copy_from_slice(&d_joined[hidden..]);
                    }
                }
            }
        });
        let own = &mut gradient[self.weight.start..self.bias.end];
        own.fill(T::ZERO);
        dense::add_parts(own, Parts::new(&parts, weights + classes, 0..weights + classes));
    }
}
