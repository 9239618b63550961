//! The end of a network: class scores from the outputs of the encoder and of the last layer, for a node or summed over
//! a graph ([`crate::readout`]), and their loss.
//!
//! ```text
//! skip:  scores = W2 act([h || h']) + b2
//! last:  scores = W2 h' + b2
//! ```

use std::ops::Range;

use crate::block::BlockConfig;
use crate::kernels::dense;
use crate::loss::{self, ClassWeights};
use crate::matrix::{Matrix, MatrixMut, piece_count, product_here};
use crate::modules::Activation;
use crate::parameters::{Init, Layout, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Parts, Rows};

/// Rows per chunk, at least, of passes that take little time per row.
const CHUNK_ROWS: usize = 64;

/// Rows that the backward pass takes through all of its steps at a time.
const CACHED_ROWS: usize = 512;

words! {
    /// What the classifier reads.
    pub enum ClassifierInput, "an input of the classifier" {
        /// The encoder's and the last layer's output, after an activation.
        #[default]
        Skip = "skip",
        /// The last layer's output.
        Last = "last",
    }
}

/// Where W2 and b2 lie among a network's parameters: next to each other.
#[derive(Debug, Clone)]
pub(crate) struct Classifier {
    weight: Range<usize>,
    bias: Range<usize>,
    hidden: usize,
    classes: usize,
    /// The activation of [h || h'], where the classifier reads both.
    skip: Option<Activation>,
}

/// The rows that the classifier reads.
#[derive(Debug, Default)]
pub(crate) struct Joined<T> {
    pub(crate) rows: Vec<T>,
    /// The same before the activation, where its derivative cannot be computed from its output.
    inputs: Vec<T>,
}

impl Classifier {
    /// Appends the parameters to a layout.
    pub(crate) fn lay_out(layout: &mut Layout, hidden: usize, classes: usize, block: BlockConfig) -> Self {
        let skip = (block.classifier == ClassifierInput::Skip).then(|| block.activation.at_the_ends());
        let inputs = if skip.is_some() { 2 * hidden } else { hidden };
        let linear = Init::Linear { fan_in: inputs };
        let weight = layout.push(Parameter::new("classifier.weight", &[classes, inputs], linear));
        let bias = layout.push(Parameter::new("classifier.bias", &[classes], linear));
        Self { weight, bias, hidden, classes, skip }
    }

    /// Values per row that the classifier reads.
    pub(crate) fn width(&self) -> usize {
        if self.skip.is_some() { 2 * self.hidden } else { self.hidden }
    }

    /// Where the last layer's output stands in a row.
    fn last_columns(&self) -> Range<usize> {
        self.width() - self.hidden..self.width()
    }

    fn weights<'a, T>(&self, parameters: &'a [T]) -> Matrix<'a, T> {
        Matrix::new(&parameters[self.weight.clone()], self.classes, self.width())
    }

    /// Class scores of nodes. Row r is made of row `place(r)` of `h` and of `last`.
    pub(crate) fn join_and_classify<T: Real>(
        &self,
        parameters: &[T],
        [h, last]: [&[T]; 2],
        place: impl Fn(usize) -> usize + Sync,
        joined: &mut Joined<T>,
        scores: &mut [T],
    ) {
        let (hidden, classes, width) = (self.hidden, self.classes, self.width());
        let rows = scores.len() / classes;
        joined.rows.resize(rows * width, T::ZERO);
        let before = self.needs_inputs();
        joined.inputs.resize(if before { rows * width } else { 0 }, T::ZERO);
        let chunks = dense::product_chunks(rows, classes, width);
        let outputs = (
            Rows::new(&mut joined.rows, width),
            Rows::new(&mut joined.inputs, if before { width } else { 0 }),
            Rows::new(scores, classes),
        );
        chunks.run(outputs, |range, (joined, inputs, scores)| {
            let (joined, scores) = (joined.into_slice(), scores.into_slice());
            for (joined, row) in joined.chunks_exact_mut(width).zip(range.clone()) {
                let place = place(row) * hidden..(place(row) + 1) * hidden;
                if self.skip.is_some() {
                    joined[..hidden].copy_from_slice(&h[place.clone()]);
                }
                joined[self.last_columns()].copy_from_slice(&last[place]);
            }
            self.activate(joined, inputs.into_slice());
            let rows = Matrix::new(joined, range.len(), width);
            let bias = &parameters[self.bias.clone()];
            dense::add_products_here(scores, rows, self.weights(parameters), Some(bias));
        });
    }

    /// Class scores of graphs, whose sums are in `joined.rows`.
    pub(crate) fn classify<T: Real>(&self, parameters: &[T], joined: &mut Joined<T>, scores: &mut [T]) {
        joined.inputs.resize(if self.needs_inputs() { joined.rows.len() } else { 0 }, T::ZERO);
        self.activate(&mut joined.rows, &mut joined.inputs);
        let rows = Matrix::new(&joined.rows, joined.rows.len() / self.width(), self.width());
        dense::add_products(scores, rows, self.weights(parameters), Some(&parameters[self.bias.clone()]));
    }

    /// Whether the derivative of the activation cannot be computed from its output.
    fn needs_inputs(&self) -> bool {
        self.skip.is_some_and(|activation| activation.as_leaky().is_none())
    }

    /// Applies the activation to rows; keeps them in `inputs` where that is needed.
    fn activate<T: Real>(&self, rows: &mut [T], inputs: &mut [T]) {
        if self.needs_inputs() {
            inputs.copy_from_slice(rows);
        }
        self.activate_here(rows);
    }

    fn activate_here<T: Real>(&self, rows: &mut [T]) {
        if let Some(activation) = self.skip {
            match activation.as_leaky() {
                Some(leaky) => leaky.forward_here(rows),
                None => activation.forward_here(rows),
            }
        }
    }

    /// The part of the scores that does not come from the last layer's output: W2 act([h || 0]) + b2.
    pub(crate) fn own_scores<T: Real>(&self, parameters: &[T], joined: &Joined<T>, scores: &mut Vec<T>) {
        let Self { hidden, classes, .. } = *self;
        let rows = joined.rows.len() / self.width();
        scores.resize(rows * classes, T::ZERO);
        let bias = &parameters[self.bias.clone()];
        if self.skip.is_none() {
            return dense::fill_rows(scores, bias);
        }
        let joined = Matrix::strided(&joined.rows, rows, hidden, 2 * hidden);
        let weight = Matrix::strided(&parameters[self.weight.clone()], classes, hidden, 2 * hidden);
        dense::add_products(scores, joined, weight, Some(bias));
    }

    /// Adds the part that comes from the last layer's output, which is overwritten: W2 act([0 || h']).
    pub(crate) fn add_last_scores<T: Real>(&self, parameters: &[T], last: &mut [T], scores: &mut [T]) {
        let Self { hidden, classes, .. } = *self;
        let rows = last.len() / hidden;
        Chunks::even(rows, CHUNK_ROWS).run(Rows::new(last, hidden), |_, last| self.activate_here(last.into_slice()));
        let weight = &parameters[self.weight.clone()][self.last_columns().start..];
        let weight = Matrix::strided(weight, classes, hidden, self.width());
        dense::add_products(scores, Matrix::new(last, rows, hidden), weight, None);
    }

    /// Mean cross-entropy of the first rows of scores, one for each label, and its gradient with respect to them. Rows
    /// count what their classes weigh: sum of w_y CE / sum of w_y; 0 where every row is left out.
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
        let total_weight = if total_weight == 0.0 { 1.0 } else { total_weight };
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
    /// rows that the classifier reads. Where rows are nodes, the part of h' is also copied to `d_last`, which has as
    /// many rows as have a gradient.
    pub(crate) fn backward<T: Real>(
        &self,
        parameters: &[T],
        joined: &Joined<T>,
        d_scores: &[T],
        d_joined: &mut Vec<T>,
        d_last: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let (hidden, classes, width) = (self.hidden, self.classes, self.width());
        let labelled = d_scores.len() / classes;
        let has_last = d_last.is_some();
        let weights = self.weight.len();
        d_joined.resize(labelled * width, T::ZERO);
        // The gradients of W2 and b2 are sums over all rows, of which each piece computes a part.
        let pieces = piece_count(labelled, weights);
        let chunks = Chunks::even(labelled, labelled.div_ceil(pieces));
        let mut parts = vec![T::ZERO; chunks.len() * (weights + classes)];
        let outputs = (
            Rows::new(d_joined, width),
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
                let read = &joined.rows[rows.start * width..rows.end * width];
                let at = rows.start - range.start;
                let d_joined = &mut d_joined[at * width..(at + rows.len()) * width];
                dense::add_column_sums(d_bias, d_scores);
                let d_scores = Matrix::new(d_scores, rows.len(), classes);
                let d_weight = MatrixMut::new(d_weight, classes, width);
                product_here(d_weight, d_scores.t(), Matrix::new(read, rows.len(), width), T::ONE, true);
                let d_rows = MatrixMut::new(d_joined, rows.len(), width);
                product_here(d_rows, d_scores, self.weights(parameters), T::ONE, false);
                match self.skip.map(|activation| (activation, activation.as_leaky())) {
                    None => {}
                    Some((_, Some(leaky))) => leaky.backward_here(read, d_joined),
                    Some((activation, None)) => {
                        activation.backward_here(&joined.inputs[rows.start * width..rows.end * width], d_joined);
                    }
                }
                if !d_last.is_empty() {
                    let d_last = d_last[at * hidden..].chunks_exact_mut(hidden);
                    for (d_last, d_joined) in d_last.zip(d_joined.chunks_exact(width)) {
                        d_last.copy_from_slice(&d_joined[self.last_columns()]);
                    }
                }
            }
        });
        let own = &mut gradient[self.weight.start..self.bias.end];
        own.fill(T::ZERO);
        dense::add_parts(own, Parts::new(&parts, weights + classes, 0..weights + classes));
    }

    /// The part of the rows' gradient that reaches the encoder directly.
    pub(crate) fn direct<'a, T>(&self, d_joined: &'a [T]) -> Matrix<'a, T> {
        let rows = if self.skip.is_some() { d_joined.len() / self.width() } else { 0 };
        Matrix::strided(d_joined, rows, self.hidden, self.width())
    }
}
