//! The encoder and its input.
//!
//! ```text
//! h = drop(act(W1 drop_in(x) + b1))
//! ```
//!
//! A bag of words has 1 to 2 % non-zeros, so it stays sparse: forward is CSR x dense, the weight gradient CSR^T x dense
//! over the batch's rows. W1 is kept transposed (one row of F per feature), which makes both products run along rows.

use std::convert::Infallible;
use std::ops::Range;

use carat_graph::{Blocks, CsrMatrix, DataError, Features, FileOrder};

use crate::block::BlockConfig;
use crate::buffer::Buffer;
use crate::field::rows_of_cut;
use crate::kernels::dense;
use crate::kernels::moments::Moments;
use crate::kernels::sparse::Sparse;
use crate::matrix::{Matrix, MatrixMut, multiply};
use crate::modules::{Backward, Dropout, Finish, Layouts, Leaky, Mode, Place, RowNodes, Statistics};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{Chunks, Rows};
use crate::toolkit::sized;

/// Where W1 and b1 lie among a network's parameters: next to each other. And what follows the product.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    weight: Range<usize>,
    bias: Range<usize>,
    input_dropout: f64,
    /// The activation, where it is computed together with the product.
    fused: Option<Leaky>,
    /// Otherwise: the activation and dropout.
    finish: Finish,
}

/// What a pass through the encoder fills and its backward pass reads.
#[derive(Debug, Default)]
pub(crate) struct Encoded<T> {
    /// W1 x + b1, where the activation is not computed with it.
    sums: Buffer<T>,
    /// The input that dropout has left over.
    dropped: Option<Input<T>>,
}

impl Encoder {
    /// Appends the parameters to a layout.
    pub(crate) fn lay_out(layouts: &mut Layouts, features: usize, hidden: usize, block: BlockConfig) -> Self {
        let linear = Init::Linear { fan_in: features };
        let weight = Parameter::new("encoder.weight", &[hidden, features], linear);
        let weight = layouts.parameters.push(Parameter { transposed: true, ..weight });
        let bias = layouts.parameters.push(Parameter::new("encoder.bias", &[hidden], linear));
        let fused = block.activation.at_the_ends().as_leaky().filter(|_| block.dropout == 0.0);
        let finish = Finish::of_encoder(hidden, block);
        Self { weight, bias, input_dropout: block.input_dropout, fused, finish }
    }

    /// Fills `h`, the encoding of `nodes`.
    pub(crate) fn forward<T: Real>(
        &self,
        parameters: &[T],
        mode: Mode,
        input: &Input<T>,
        nodes: &[u32],
        encoded: &mut Encoded<T>,
        h: &mut [T],
    ) {
        let (weight, bias) = (&parameters[self.weight.clone()], &parameters[self.bias.clone()]);
        let mask = mode.masks.and_then(|masks| masks.at(Place::Input, self.input_dropout));
        encoded.dropped = mask.map(|mask| input.dropped(mask, nodes));
        let input = encoded.dropped.as_ref().unwrap_or(input);
        match self.fused {
            Some(leaky) => input.affine_leaky_relu(weight, bias, leaky.slope(), h),
            None => {
                let sums = sized(&mut encoded.sums, h.len());
                input.affine_leaky_relu(weight, bias, T::ONE, sums);
                let rows = RowNodes { nodes, rows: None };
                self.finish.forward(parameters, mode, &Statistics::default(), rows, sums, h);
            }
        }
    }

    /// From the gradient of h (overwritten), to which the first rows have an addition, to those of W1 and b1, in their
    /// places of `gradient`.
    pub(crate) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        mode: Mode,
        (input, nodes): (&Input<T>, &[u32]),
        (encoded, h): (&Encoded<T>, &[T]),
        d_direct: Matrix<'_, T>,
        d_h: &mut [T],
    ) {
        let width = self.bias.len();
        match self.fused {
            Some(leaky) => leaky.backward_with(h, d_direct, d_h, &mut pass.gradient[self.bias.clone()]),
            None => {
                let direct = Rows::new(&mut d_h[..d_direct.num_rows() * width], width);
                Chunks::even(d_direct.num_rows(), STRETCH).run(direct, |range, d_h| {
                    for (d_h, row) in d_h.into_slice().chunks_exact_mut(width).zip(range) {
                        d_h.iter_mut().zip(d_direct.row(row)).for_each(|(sum, d)| *sum += *d);
                    }
                });
                let rows = RowNodes { nodes, rows: None };
                self.finish.backward(pass, mode, &Statistics::default(), rows, &encoded.sums, d_h);
                let d_bias = &mut pass.gradient[self.bias.clone()];
                d_bias.fill(T::ZERO);
                dense::add_column_sums(d_bias, d_h);
            }
        }
        let input = encoded.dropped.as_ref().unwrap_or(input);
        input.weight_gradient(d_h, width, &mut pass.gradient[self.weight.clone()]);
    }
}

/// Feature rows of some nodes, in the form that the encoder reads, and of the edges between them.
#[derive(Debug, Clone)]
pub struct Input<T> {
    num_rows: usize,
    num_columns: usize,
    values: Values<T>,
    /// One row per edge of the blocks; empty where edges have no features.
    edge_features: Vec<T>,
}

#[derive(Debug, Clone)]
enum Values<T> {
    Dense(Vec<T>),
    Sparse { rows: Sparse<T>, columns: Option<Sparse<T>> },
}

fn copy_values<T: Real>(to: &mut [T], from: &[f32]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = T::from_f32(from);
    }
}

/// Rows that are checked together before they are copied: few enough that they stay in the cache in between.
const STRETCH: usize = 64;

/// Checks some rows before they are copied.
trait Check<E>: Fn(&[u32]) -> Result<(), E> {}

impl<E, F: Fn(&[u32]) -> Result<(), E>> Check<E> for F {}

fn gather_dense<T: Real, E>(all: &[f32], width: usize, order: &FileOrder, check: impl Check<E>) -> Result<Vec<T>, E> {
    let mut values = vec![T::ZERO; order.len() * width];
    let row = |at: u32| at as usize * width..(at as usize + 1) * width;
    for (nodes, positions) in order.chunks(STRETCH) {
        check(nodes)?;
        for (&node, &at) in nodes.iter().zip(positions) {
            copy_values(&mut values[row(at)], &all[row(node)]);
        }
    }
    Ok(values)
}

fn gather_sparse<T: Real, E>(matrix: &CsrMatrix, order: &FileOrder, check: impl Check<E>) -> Result<Sparse<T>, E> {
    let mut offsets = vec![0; order.len() + 1];
    for (node, at) in order.iter() {
        offsets[at + 1] = matrix.offsets()[node as usize + 1] - matrix.offsets()[node as usize];
    }
    for at in 0..order.len() {
        offsets[at + 1] += offsets[at];
    }
    let mut columns = vec![0; offsets[order.len()]];
    let mut values = vec![T::ZERO; columns.len()];
    for (nodes, positions) in order.chunks(STRETCH) {
        check(nodes)?;
        for (&node, &at) in nodes.iter().zip(positions) {
            let place = offsets[at as usize]..offsets[at as usize + 1];
            let row = matrix.row(node as usize);
            columns[place.clone()].copy_from_slice(row.0);
            copy_values(&mut values[place], row.1);
        }
    }
    Ok(Sparse::new(offsets, columns, values))
}

impl<T: Real> Input<T> {
    /// The rows of `nodes`, to predict with.
    pub fn new(features: &Features, nodes: &[u32]) -> Self {
        let Ok(input) = Self::gather::<Infallible>(features, nodes, |_| Ok(()));
        input
    }

    /// The same for features that may be in a mapped file: their rows are checked on the way.
    pub fn checked(features: &Features, nodes: &[u32]) -> Result<Self, DataError> {
        Self::gather(features, nodes, |rows| features.check_rows(rows))
    }

    /// Rows in the order of the file, each looked at by `check` while it is in the cache for its copy.
    fn gather<E>(features: &Features, nodes: &[u32], check: impl Check<E>) -> Result<Self, E> {
        let order = FileOrder::of(nodes);
        let values = match features {
            Features::Dense { num_columns, values, .. } => {
                Values::Dense(gather_dense(values, *num_columns, &order, check)?)
            }
            Features::Sparse(matrix) => Values::Sparse { rows: gather_sparse(matrix, &order, check)?, columns: None },
        };
        Ok(Self { num_rows: nodes.len(), num_columns: features.num_columns(), values, edge_features: Vec::new() })
    }

    /// The rows of `nodes`, to train with: sparse rows are indexed by column too.
    pub fn for_training(features: &Features, nodes: &[u32]) -> Self {
        Self::new(features, nodes).with_columns()
    }

    /// The same rows, to train with.
    #[must_use]
    pub fn with_columns(mut self) -> Self {
        if let Values::Sparse { rows, columns } = &mut self.values {
            *columns = Some(rows.transposed(self.num_columns));
        }
        self
    }

    /// The same with a row of features for every edge of the blocks, by position: see
    /// [`EdgeFeatures::of_blocks`](carat_graph::EdgeFeatures::of_blocks).
    #[must_use]
    pub fn with_edge_features(mut self, rows: &[f32]) -> Self {
        self.edge_features = rows.iter().map(|&value| T::from_f32(value)).collect();
        self
    }

    /// The rows of all edges; empty where edges have no features.
    pub fn edge_features(&self) -> &[T] {
        &self.edge_features
    }

    /// The input of blocks that [`Blocks::without`] has cut from `blocks`.
    #[must_use]
    pub fn of_cut(&self, blocks: &Blocks, cut: &Blocks) -> Self {
        let edge_features = rows_of_cut(&self.edge_features, blocks.edge_ids().len(), cut).collect();
        Self { edge_features, ..self.clone() }
    }

    /// Number of nodes.
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Number of features per node.
    pub fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// Number of stored values: all, or the non-zero ones.
    pub fn num_values(&self) -> usize {
        match &self.values {
            Values::Dense(values) => values.len(),
            Values::Sparse { rows, .. } => rows.values.len(),
        }
    }

    /// Whether only non-zero values are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self.values, Values::Sparse { .. })
    }

    /// The same rows, which are those of `nodes`, after dropout.
    fn dropped(&self, dropout: Dropout, nodes: &[u32]) -> Self {
        let values = self.values.clone();
        let mut dropped = Self { values, edge_features: Vec::new(), ..*self };
        match &mut dropped.values {
            Values::Dense(values) => {
                let width = self.num_columns;
                Chunks::even(self.num_rows, STRETCH).run(Rows::new(values, width), |range, values| {
                    dropout.apply_rows(nodes[range].iter().copied(), width, values.into_slice());
                });
            }
            Values::Sparse { rows, columns } => {
                rows.scale(|row, column| dropout.row::<T>(nodes[row]).factor(column));
                if let Some(columns) = columns {
                    columns.scale(|column, row| dropout.row::<T>(nodes[row as usize]).factor(column as u32));
                }
            }
        }
        dropped
    }

    /// h = LeakyReLU(x W1^T + b1) with this slope; `weight` holds W1^T, `bias` has the width of h.
    pub(crate) fn affine_leaky_relu(&self, weight: &[T], bias: &[T], slope: T, h: &mut [T]) {
        let width = bias.len();
        match &self.values {
            Values::Dense(values) => {
                let x = Matrix::new(values, self.num_rows, self.num_columns);
                dense::affine_leaky_relu(h, x, Matrix::new(weight, self.num_columns, width), bias, slope);
            }
            Values::Sparse { rows, .. } => rows.affine_leaky_relu(h, weight, bias, slope),
        }
    }

    /// x^T d_z, rows of `width`: the gradient of W^T where z = x W^T.
    pub(crate) fn weight_gradient(&self, d_h: &[T], width: usize, d_weight: &mut [T]) {
        match &self.values {
            Values::Dense(values) => multiply(
                MatrixMut::new(d_weight, self.num_columns, width),
                Matrix::new(values, self.num_rows, self.num_columns).t(),
                Matrix::new(d_h, self.num_rows, width),
                T::ONE,
            ),
            Values::Sparse { columns: Some(columns), .. } => columns.multiply(d_weight, d_h, width),
            Values::Sparse { rows, columns: None } => {
                rows.transposed(self.num_columns).multiply(d_weight, d_h, width);
            }
        }
    }

    /// Mean and variance of every feature over the nodes.
    pub(crate) fn moments(&self) -> Moments<T> {
        match &self.values {
            Values::Dense(values) => Moments::of_rows(values, self.num_columns),
            Values::Sparse { columns: Some(columns), .. } => Moments::of_columns(columns, self.num_rows),
            Values::Sparse { rows, columns: None } => {
                Moments::of_columns(&rows.transposed(self.num_columns), self.num_rows)
            }
        }
    }
}
