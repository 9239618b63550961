//! What a network does to the rows of an attention layer's output, or of the encoder's, before they are read.
//!
//! ```text
//! s = z + residual(h)            z: the layer's output, h: its input; residual: 0, h, or W_r h
//! y = drop(act(norm(s)))         norm: none, of the row, or of the columns over all rows of the batch
//! ```
//!
//! Everything but the statistics of batch normalisation concerns one row at a time. Forward passes, backward passes and
//! deletions all call the same functions, so a row that a deletion computes again is computed as in the forward pass.

use std::ops::Range;

use super::batch_norm::{BatchNorm, Statistics};
use super::{Activation, Backward, Dropout, LayerNorm, Layouts, Masks, Place};
use crate::block::BlockConfig;
use crate::buffer::Buffer;
use crate::kernels::dense;
use crate::kernels::moments::Moments;
use crate::matrix::{Matrix, MatrixMut, multiply_add};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows};

words! {
    /// What is added to an attention layer's output.
    pub enum Residual, "a residual" {
        /// Nothing.
        #[default]
        None = "none",
        /// The layer's input.
        Add = "add",
        /// A linear map of the layer's input.
        Linear = "linear",
    }
}

words! {
    /// How values between layers are normalised.
    pub enum Norm, "a normalisation" {
        /// Not at all.
        #[default]
        None = "none",
        /// Every node's row by its own mean and variance.
        Layer = "layer",
        /// Every column by its mean and variance over the batch, and at prediction by their running averages.
        Batch = "batch",
    }
}

/// Rows per chunk.
const CHUNK_ROWS: usize = 64;

/// The function, with its parameters' places.
#[derive(Debug, Clone)]
pub(crate) struct Finish {
    width: usize,
    residual: Residual,
    /// W_r.
    weight: Range<usize>,
    norm: NormPlaces,
    activation: Activation,
    /// The dropout rate, and the place that its masks belong to.
    dropout: f64,
    place: Place,
}

#[derive(Debug, Clone)]
enum NormPlaces {
    None,
    Layer(LayerNorm),
    Batch(BatchNorm),
}

/// How a pass differs in training.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    /// Masks of dropout.
    pub(crate) masks: Option<Masks>,
    /// Whether batch normalisation uses the statistics of the batch, through which gradients flow, in place of the
    /// running ones.
    pub(crate) of_batch: bool,
}

impl Mode {
    pub(crate) const PREDICTION: Self = Self { masks: None, of_batch: false };

    pub(crate) fn training(masks: Masks) -> Self {
        Self { masks: Some(masks), of_batch: true }
    }
}

/// What a forward pass through a layer keeps for the backward pass and for deletions.
#[derive(Debug, Default)]
pub(crate) struct Finished<T> {
    /// s of every row, where something follows it.
    pub(crate) sums: Buffer<T>,
    /// What batch normalisation uses.
    pub(crate) statistics: Statistics<T>,
    /// What batch normalisation has found in this batch, and the number of rows.
    pub(crate) moments: Option<(Moments<T>, usize)>,
}

/// The graph's number of the node of every row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowNodes<'a> {
    /// By local number.
    pub(crate) nodes: &'a [u32],
    /// The local number of every row, where it is not the row's own.
    pub(crate) rows: Option<&'a [u32]>,
}

impl RowNodes<'_> {
    fn node(&self, row: usize) -> u32 {
        self.nodes[self.rows.map_or(row, |rows| rows[row] as usize)]
    }
}

impl Finish {
    /// What follows the encoder: an activation and dropout.
    pub(crate) fn of_encoder(width: usize, block: BlockConfig) -> Self {
        let activation = block.activation.at_the_ends();
        Self {
            width,
            residual: Residual::None,
            weight: 0..0,
            norm: NormPlaces::None,
            activation,
            dropout: block.dropout,
            place: Place::Encoder,
        }
    }

    /// What follows a layer. Appends the parameters to a layout.
    pub(crate) fn of_layer(layouts: &mut Layouts, layer: usize, width: usize, block: BlockConfig) -> Self {
        let BlockConfig { residual, norm, activation, dropout, .. } = block;
        let weight = if residual == Residual::Linear {
            let init = Init::Linear { fan_in: width };
            let name = format!("layers.{layer}.residual.weight");
            layouts.parameters.push(Parameter::new(name, &[width, width], init))
        } else {
            0..0
        };
        let name = format!("layers.{layer}.norm");
        let norm = match norm {
            Norm::None => NormPlaces::None,
            Norm::Layer => NormPlaces::Layer(LayerNorm::new(layouts, &name, width)),
            Norm::Batch => NormPlaces::Batch(BatchNorm::torch(layouts, &name, width)),
        };
        Self { width, residual, weight, norm, activation, dropout, place: Place::Layer(layer) }
    }

    /// Whether rows are left unchanged in every pass, so that two layers can be computed as one linear map.
    pub(crate) fn is_identity(&self) -> bool {
        let NormPlaces::None = self.norm else { return false };
        self.residual == Residual::None && self.activation == Activation::None && self.dropout == 0.0
    }

    /// z += residual(h). `h` holds the inputs of the rows of `z`, in their order.
    pub(crate) fn add_residual<T: Real>(&self, parameters: &[T], h: &[T], z: &mut [T]) {
        let rows = z.len() / self.width;
        match self.residual {
            Residual::None => {}
            Residual::Add => Chunks::even(rows, CHUNK_ROWS).run(Rows::new(z, self.width), |range, z| {
                let h = &h[range.start * self.width..range.end * self.width];
                z.into_slice().iter_mut().zip(h).for_each(|(z, h)| *z += *h);
            }),
            Residual::Linear => {
                let h = Matrix::new(h, rows, self.width);
                multiply_add(MatrixMut::new(z, rows, self.width), h, self.map(parameters).t(), T::ONE);
            }
        }
    }

    /// From the gradient of z to that of W_r, and adds that of h to the first rows of `d_h`.
    pub(crate) fn residual_backward<T: Real>(&self, pass: &mut Backward<'_, T>, h: &[T], d_z: &[T], d_h: &mut [T]) {
        let rows = d_z.len() / self.width;
        match self.residual {
            Residual::None => {}
            Residual::Add => {
                let d_h = &mut d_h[..d_z.len()];
                Chunks::even(rows, CHUNK_ROWS).run(Rows::new(d_h, self.width), |range, d_h| {
                    let d_z = &d_z[range.start * self.width..range.end * self.width];
                    d_h.into_slice().iter_mut().zip(d_z).for_each(|(d_h, d_z)| *d_h += *d_z);
                });
            }
            Residual::Linear => {
                let (d_z, h) = (Matrix::new(d_z, rows, self.width), Matrix::new(h, rows, self.width));
                let d_weight = &mut pass.gradient[self.weight.clone()];
                d_weight.fill(T::ZERO);
                multiply_add(MatrixMut::new(d_weight, self.width, self.width), d_z.t(), h, T::ONE);
                multiply_add(MatrixMut::new(d_h, rows, self.width), d_z, self.map(pass.parameters), T::ONE);
            }
        }
    }

    fn map<'a, T>(&self, parameters: &'a [T]) -> Matrix<'a, T> {
        Matrix::new(&parameters[self.weight.clone()], self.width, self.width)
    }

    /// Fills `out` for all rows of a layer, whose output z stands in `finished.sums`. `h` holds their inputs. Batch
    /// normalisation uses the given statistics, or those of the batch, or the running ones in `running`.
    pub(crate) fn forward_layer<T: Real>(
        &self,
        (parameters, running): (&[T], &[T]),
        mode: Mode,
        given: Option<&Statistics<T>>,
        (nodes, h): (RowNodes<'_>, &[T]),
        finished: &mut Finished<T>,
        out: &mut [T],
    ) {
        let Finished { sums, statistics, moments } = finished;
        self.add_residual(parameters, h, sums);
        *moments = None;
        if let Some(norm) = self.batch_norm() {
            *statistics = match given {
                Some(given) => given.clone(),
                None if !mode.of_batch => norm.running(running),
                None => {
                    let (found, _) = moments.insert((Moments::of_rows(sums, self.width), sums.len() / self.width));
                    Statistics::of(found)
                }
            };
        }
        self.forward(parameters, mode, statistics, nodes, sums, out);
    }

    /// Moves the running statistics towards those that a training pass has found.
    pub(crate) fn update_running<T: Real>(&self, finished: &Finished<T>, running: &mut [T]) {
        if let (Some(norm), Some((moments, rows))) = (self.batch_norm(), &finished.moments) {
            norm.update_running(running, moments, *rows);
        }
    }

    /// Replaces the running statistics by those that a training pass has found.
    pub(crate) fn keep_statistics<T: Real>(&self, finished: &Finished<T>, running: &mut [T]) {
        if let (Some(norm), Some((moments, _))) = (self.batch_norm(), &finished.moments) {
            norm.set_running(running, moments);
        }
    }

    fn batch_norm(&self) -> Option<&BatchNorm> {
        if let NormPlaces::Batch(norm) = &self.norm { Some(norm) } else { None }
    }

    fn mask(&self, mode: Mode) -> Option<Dropout> {
        mode.masks.and_then(|masks| masks.at(self.place, self.dropout))
    }

    /// out = drop(act(norm(s)))
    pub(crate) fn forward<T: Real>(
        &self,
        parameters: &[T],
        mode: Mode,
        statistics: &Statistics<T>,
        nodes: RowNodes<'_>,
        s: &[T],
        out: &mut [T],
    ) {
        let (width, mask) = (self.width, self.mask(mode));
        Chunks::even(s.len() / width, CHUNK_ROWS).run(Rows::new(out, width), |range, out| {
            let out = out.into_slice();
            let s = &s[range.start * width..range.end * width];
            self.normalise(parameters, statistics, s, out);
            self.activation.forward_here(out);
            drop_rows(mask, nodes, range.start, width, out);
        });
    }

    /// From the gradient of the output to that of s, in place, and to those of the norm's parameters.
    pub(crate) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        mode: Mode,
        statistics: &Statistics<T>,
        nodes: RowNodes<'_>,
        s: &[T],
        d: &mut [T],
    ) {
        let (width, mask) = (self.width, self.mask(mode));
        let Backward { parameters, gradient } = pass;
        let chunks = Chunks::even(s.len() / width, CHUNK_ROWS);
        let own = match &self.norm {
            NormPlaces::None => 0..0,
            NormPlaces::Layer(norm) => norm.parameters.clone(),
            NormPlaces::Batch(norm) => norm.parameters.clone(),
        };
        let mut parts = vec![T::ZERO; chunks.len() * own.len()];
        let parameters = *parameters;
        let outputs = (Rows::new(d, width), ChunkRows::new(&mut parts, &chunks, own.len()));
        chunks.run(outputs, |range, (d, sums)| {
            let (d, sums) = (d.into_slice(), sums.into_slice());
            let s = &s[range.start * width..range.end * width];
            drop_rows(mask, nodes, range.start, width, d);
            if self.activation != Activation::None {
                let mut normalised = vec![T::ZERO; s.len()];
                self.normalise(parameters, statistics, s, &mut normalised);
                self.activation.backward_here(&normalised, d);
            }
            match &self.norm {
                NormPlaces::None => {}
                NormPlaces::Layer(norm) => norm.backward_here(parameters, s, d, sums),
                NormPlaces::Batch(_) => BatchNorm::add_gradient_sums(statistics, s, d, sums),
            }
        });
        if own.is_empty() {
            return;
        }
        let d_norm = &mut gradient[own];
        d_norm.fill(T::ZERO);
        dense::add_column_sums(d_norm, &parts);
        if let NormPlaces::Batch(norm) = &self.norm {
            norm.backward_rows(parameters, d_norm, statistics, mode.of_batch, s, d);
        }
    }

    /// out = norm(s), on the current thread.
    fn normalise<T: Real>(&self, parameters: &[T], statistics: &Statistics<T>, s: &[T], out: &mut [T]) {
        match &self.norm {
            NormPlaces::None => out.copy_from_slice(s),
            NormPlaces::Layer(norm) => norm.forward_here(parameters, s, out),
            NormPlaces::Batch(norm) => norm.forward_here(parameters, statistics, s, out),
        }
    }
}

/// Drops values of some rows, from row `first` on.
fn drop_rows<T: Real>(mask: Option<Dropout>, nodes: RowNodes<'_>, first: usize, width: usize, values: &mut [T]) {
    if let Some(mask) = mask {
        mask.apply_rows((first..).map(|row| nodes.node(row)), width, values);
    }
}
