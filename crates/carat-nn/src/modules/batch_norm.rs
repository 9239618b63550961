//! Batch normalisation over all nodes, equal to `torch.nn.BatchNorm1d`.
//!
//! ```text
//! y_nc = weight_c (x_nc - mean_c) / sqrt(variance_c + 1e-5) + bias_c
//! ```
//!
//! In training, mean and variance are those of the batch's nodes (the variance divided by N), and the running
//! statistics are updated: running = 0.9 running + 0.1 batch, with the batch's variance divided by N - 1. Prediction
//! uses the running statistics. The gradient, with x' = (x - mean) / sqrt(variance + 1e-5):
//! ```text
//! d_bias = sum_n d_y_n      d_weight = sum_n d_y_n x'_n
//! d_x    = weight / sqrt(variance + 1e-5) (d_y - d_bias / N - x' d_weight / N)
//! ```

use std::ops::Range;

use pulp::Simd;

use super::{Backward, Forward, Layouts};
use crate::kernels::dense;
use crate::kernels::moments::Moments;
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows};
use crate::toolkit::{cut, cut_mut};

/// Keeps the division finite.
const EPSILON: f64 = 1e-5;

/// Weight of a batch's statistics in the update of the running ones.
const MOMENTUM: f64 = 0.1;

/// Initial bias, as in the code of CAL's authors.
const FIRST_BIAS: f64 = 0.0001;

/// Rows per chunk.
const CHUNK_ROWS: usize = 128;

/// Places of the weight and bias, and of the running mean and variance.
#[derive(Debug, Clone)]
pub(crate) struct BatchNorm {
    pub(crate) parameters: Range<usize>,
    buffers: Range<usize>,
    width: usize,
}

/// The statistics of a pass: the mean, and 1 / sqrt(variance + epsilon).
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics<T> {
    pub(crate) mean: Vec<T>,
    pub(crate) inverse: Vec<T>,
}

impl BatchNorm {
    /// As in the code of CAL's authors.
    pub(crate) fn new(layouts: &mut Layouts, name: &str, width: usize) -> Self {
        Self::with_bias(layouts, name, width, FIRST_BIAS)
    }

    /// As in PyTorch.
    pub(crate) fn torch(layouts: &mut Layouts, name: &str, width: usize) -> Self {
        Self::with_bias(layouts, name, width, 0.0)
    }

    fn with_bias(layouts: &mut Layouts, name: &str, width: usize, bias: f64) -> Self {
        let named = |part: &str, init| Parameter::new(format!("{name}.{part}"), &[width], init);
        let start = layouts.parameters.len();
        layouts.parameters.push(named("weight", Init::Constant(1.0)));
        layouts.parameters.push(named("bias", Init::Constant(bias)));
        let first_buffer = layouts.buffers.len();
        layouts.buffers.push(named("running_mean", Init::Zeros));
        layouts.buffers.push(named("running_var", Init::Constant(1.0)));
        Self { parameters: start..start + 2 * width, buffers: first_buffer..first_buffer + 2 * width, width }
    }

    /// Weight and bias.
    pub(crate) fn affine<'a, T>(&self, parameters: &'a [T]) -> [&'a [T]; 2] {
        cut(&parameters[self.parameters.clone()], [self.width; 2])
    }

    /// The statistics to normalise `rows` rows with; `found` computes those of these rows. Training updates the running
    /// statistics.
    pub(crate) fn statistics<T: Real>(
        &self,
        pass: &mut Forward<'_, T>,
        rows: usize,
        found: impl FnOnce() -> Moments<T>,
    ) -> Statistics<T> {
        if !pass.training {
            return self.running(pass.buffers);
        }
        let moments = found();
        self.update_running(pass.buffers, &moments, rows);
        Statistics::of(&moments)
    }

    /// The running statistics, to predict with.
    pub(crate) fn running<T: Real>(&self, buffers: &[T]) -> Statistics<T> {
        let [mean, variance] = cut(&buffers[self.buffers.clone()], [self.width; 2]);
        Statistics { mean: mean.to_vec(), inverse: inverse_deviations(variance) }
    }

    /// Moves the running statistics towards those of a batch of `rows` rows.
    pub(crate) fn update_running<T: Real>(&self, buffers: &mut [T], moments: &Moments<T>, rows: usize) {
        let [running_mean, running_variance] = cut_mut(&mut buffers[self.buffers.clone()], [self.width; 2]);
        move_towards(running_mean, &moments.mean, 1.0);
        // The unbiased variance of a single row is undefined. PyTorch refuses it; here the biased one is used.
        move_towards(running_variance, &moments.variance, rows as f64 / (rows.max(2) - 1) as f64);
    }

    /// Replaces the running statistics.
    pub(crate) fn set_running<T: Real>(&self, buffers: &mut [T], moments: &Moments<T>) {
        let [running_mean, running_variance] = cut_mut(&mut buffers[self.buffers.clone()], [self.width; 2]);
        running_mean.copy_from_slice(&moments.mean);
        running_variance.copy_from_slice(&moments.variance);
    }

    /// Fills `out` from `x`, and `statistics` with those used.
    pub(crate) fn forward<T: Real>(
        &self,
        pass: &mut Forward<'_, T>,
        x: &[T],
        statistics: &mut Statistics<T>,
        out: &mut [T],
    ) {
        let width = self.width;
        *statistics = self.statistics(pass, x.len() / width, || Moments::of_rows(x, width));
        let (parameters, statistics) = (pass.parameters, &*statistics);
        Chunks::even(x.len() / width, CHUNK_ROWS).run(Rows::new(out, width), |range, out| {
            self.forward_here(parameters, statistics, &x[range.start * width..range.end * width], out.into_slice());
        });
    }

    /// Normalises rows into `out`, on the current thread.
    pub(crate) fn forward_here<T: Real>(&self, parameters: &[T], statistics: &Statistics<T>, x: &[T], out: &mut [T]) {
        let [_, bias] = self.affine(parameters);
        normalise_rows(x, &statistics.mean, &self.scale(parameters, statistics), bias, out);
    }

    /// weight / sqrt(variance + epsilon)
    fn scale<T: Real>(&self, parameters: &[T], statistics: &Statistics<T>) -> Vec<T> {
        let [weight, _] = self.affine(parameters);
        weight.iter().zip(&statistics.inverse).map(|(weight, inverse)| *weight * *inverse).collect()
    }

    /// Backward through a training pass: turns the gradient of the output into that of the input `x`, in place, and
    /// writes the gradients of weight and bias.
    pub(crate) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        x: &[T],
        statistics: &Statistics<T>,
        gradient: &mut [T],
    ) {
        let width = self.width;
        let chunks = Chunks::even(x.len() / width, CHUNK_ROWS);
        let mut parts = vec![T::ZERO; chunks.len() * 2 * width];
        chunks.run(ChunkRows::new(&mut parts, &chunks, 2 * width), |range, part| {
            let rows = range.start * width..range.end * width;
            Self::add_gradient_sums(statistics, &x[rows.clone()], &gradient[rows], part.into_slice());
        });
        let d_parameters = &mut pass.gradient[self.parameters.clone()];
        d_parameters.fill(T::ZERO);
        dense::add_column_sums(d_parameters, &parts);
        self.backward_rows(pass.parameters, d_parameters, statistics, true, x, gradient);
    }

    /// Adds the gradients of weight and bias to `sums`, on the current thread.
    pub(crate) fn add_gradient_sums<T: Real>(statistics: &Statistics<T>, x: &[T], gradient: &[T], sums: &mut [T]) {
        gradient_sums(x, gradient, statistics, sums);
    }

    /// From the gradient of the output to that of the input `x`, in place, given the gradients of weight and bias.
    /// Statistics `of_batch` depend on `x` themselves.
    pub(crate) fn backward_rows<T: Real>(
        &self,
        parameters: &[T],
        d_parameters: &[T],
        statistics: &Statistics<T>,
        of_batch: bool,
        x: &[T],
        gradient: &mut [T],
    ) {
        let width = self.width;
        let [d_weight, d_bias] = cut(d_parameters, [width; 2]);
        let scale = self.scale(parameters, statistics);
        let share = if of_batch { T::from_f64(1.0 / (x.len() / width).max(1) as f64) } else { T::ZERO };
        let of_mean: Vec<T> = d_bias.iter().map(|sum| *sum * share).collect();
        let of_deviation: Vec<T> = d_weight.iter().zip(&statistics.inverse).map(|(sum, i)| *sum * *i * share).collect();
        let columns = Columns { mean: &statistics.mean, scale: &scale, of_mean: &of_mean, of_deviation: &of_deviation };
        Chunks::even(x.len() / width, CHUNK_ROWS).run(Rows::new(gradient, width), |range, gradient| {
            backward_rows(&x[range.start * width..range.end * width], columns, gradient.into_slice());
        });
    }
}

impl<T: Real> Statistics<T> {
    /// The statistics of a batch.
    pub(crate) fn of(moments: &Moments<T>) -> Self {
        Self { mean: moments.mean.clone(), inverse: inverse_deviations(&moments.variance) }
    }
}

fn inverse_deviations<T: Real>(variance: &[T]) -> Vec<T> {
    variance.iter().map(|variance| T::ONE / (*variance + T::from_f64(EPSILON)).sqrt()).collect()
}

fn move_towards<T: Real>(running: &mut [T], found: &[T], factor: f64) {
    let (kept, new) = (T::from_f64(1.0 - MOMENTUM), T::from_f64(MOMENTUM * factor));
    running.iter_mut().zip(found).for_each(|(running, found)| *running = kept * *running + new * *found);
}

#[pulp::with_simd(normalise_rows = T::machine())]
#[inline(always)]
fn normalise_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    x: &'a [T],
    mean: &'a [T],
    scale: &'a [T],
    bias: &'a [T],
    out: &'a mut [T],
) {
    let _ = simd;
    for (x, out) in x.chunks_exact(mean.len()).zip(out.chunks_exact_mut(mean.len())) {
        let columns = mean.iter().zip(scale).zip(bias);
        for ((out, x), ((mean, scale), bias)) in out.iter_mut().zip(x).zip(columns) {
            *out = (*x - *mean) * *scale + *bias;
        }
    }
}

/// sums += [sum of gradient x', sum of gradient]
#[pulp::with_simd(gradient_sums = T::machine())]
#[inline(always)]
fn gradient_sums_simd<'a, S: Simd, T: Real>(
    simd: S,
    x: &'a [T],
    gradient: &'a [T],
    statistics: &'a Statistics<T>,
    sums: &'a mut [T],
) {
    let _ = simd;
    let width = sums.len() / 2;
    let (of_weight, of_bias) = sums.split_at_mut(width);
    for (x, gradient) in x.chunks_exact(width).zip(gradient.chunks_exact(width)) {
        for (((sum, x), gradient), mean) in of_weight.iter_mut().zip(x).zip(gradient).zip(&statistics.mean) {
            *sum += *gradient * (*x - *mean);
        }
        of_bias.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += *gradient);
    }
    of_weight.iter_mut().zip(&statistics.inverse).for_each(|(sum, inverse)| *sum *= *inverse);
}

/// The terms of d_x = scale (d_y - of_mean - of_deviation (x - mean)), by column.
#[derive(Clone, Copy)]
struct Columns<'a, T> {
    mean: &'a [T],
    scale: &'a [T],
    of_mean: &'a [T],
    of_deviation: &'a [T],
}

#[pulp::with_simd(backward_rows = T::machine())]
#[inline(always)]
fn backward_rows_simd<'a, S: Simd, T: Real>(simd: S, x: &'a [T], columns: Columns<'a, T>, gradient: &'a mut [T]) {
    let _ = simd;
    let Columns { mean, scale, of_mean, of_deviation } = columns;
    for (x, gradient) in x.chunks_exact(mean.len()).zip(gradient.chunks_exact_mut(mean.len())) {
        let columns = mean.iter().zip(scale).zip(of_mean.iter().zip(of_deviation));
        for ((gradient, x), ((mean, scale), (of_mean, of_deviation))) in gradient.iter_mut().zip(x).zip(columns) {
            *gradient = *scale * (*gradient - *of_mean - *of_deviation * (*x - *mean));
        }
    }
}

#[cfg(test)]
mod tests {
    use safetensors::SafeTensors;

    use super::*;
    use crate::modules::differences::{assert_gradient, noise, weighted};

    /// PyTorch's results, made by `tools/golden`.
    fn golden(name: &str) -> Vec<f64> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/batch_norm.safetensors");
        let bytes = std::fs::read(path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensor = file.tensor(name).unwrap();
        tensor.data().as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
    }

    fn close(found: &[f64], name: &str, tolerance: f64) {
        let expected = golden(name);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= tolerance, "{name}: {found} where PyTorch has {expected}");
        }
    }

    fn example() -> (BatchNorm, Vec<f64>, Vec<f64>) {
        let norm = BatchNorm::new(&mut Layouts::default(), "norm", 5);
        (norm, [golden("weight"), golden("bias")].concat(), [golden("running_mean"), golden("running_var")].concat())
    }

    #[test]
    fn it_is_pytorchs_in_training() {
        let (norm, parameters, mut buffers) = example();
        let x = golden("x");
        let (mut statistics, mut out) = (Statistics::default(), vec![0.0; x.len()]);
        let mut pass = Forward { parameters: &parameters, buffers: &mut buffers, training: true };
        norm.forward(&mut pass, &x, &mut statistics, &mut out);
        close(&out, "out", 1e-9);
        close(&buffers[..5], "after_mean", 1e-10);
        close(&buffers[5..], "after_var", 1e-10);
        let (mut gradient, mut d_x) = (vec![0.0; 10], golden("d_out"));
        let mut pass = Backward { parameters: &parameters, gradient: &mut gradient };
        norm.backward(&mut pass, &x, &statistics, &mut d_x);
        close(&d_x, "d_x", 1e-8);
        close(&gradient[..5], "d_weight", 1e-8);
        close(&gradient[5..], "d_bias", 1e-10);
    }

    #[test]
    fn it_is_pytorchs_at_prediction_and_then_changes_nothing() {
        let (norm, parameters, mut buffers) = example();
        let (x, before) = (golden("x"), buffers.clone());
        let mut out = vec![0.0; x.len()];
        let mut pass = Forward { parameters: &parameters, buffers: &mut buffers, training: false };
        norm.forward(&mut pass, &x, &mut Statistics::default(), &mut out);
        close(&out, "predicted", 1e-9);
        assert_eq!(buffers, before);
    }

    #[test]
    fn gradients_are_the_derivatives_whatever_the_number_of_rows() {
        for rows in [2, 9, 2 * CHUNK_ROWS + 1] {
            let norm = BatchNorm::new(&mut Layouts::default(), "norm", 2);
            let (x, parameters, weights) = (noise(rows * 2, 1), noise(4, 2), noise(rows * 2, 3));
            let loss = |x: &[f64], parameters: &[f64]| {
                let (mut statistics, mut out) = (Statistics::default(), vec![0.0; x.len()]);
                let mut pass = Forward { parameters, buffers: &mut [0.0; 4], training: true };
                norm.forward(&mut pass, x, &mut statistics, &mut out);
                (weighted(&out, &weights), statistics)
            };
            let (_, statistics) = loss(&x, &parameters);
            let (mut d_parameters, mut d_x) = ([0.0; 4], weights.clone());
            let mut pass = Backward { parameters: &parameters, gradient: &mut d_parameters };
            norm.backward(&mut pass, &x, &statistics, &mut d_x);
            assert_gradient("parameters", &parameters, &d_parameters, |parameters| loss(&x, parameters).0);
            if rows < CHUNK_ROWS {
                assert_gradient("x", &x, &d_x, |x| loss(x, &parameters).0);
            }
        }
    }

    #[test]
    fn a_single_row_stays_finite() {
        let norm = BatchNorm::new(&mut Layouts::default(), "norm", 2);
        let (mut buffers, mut out) = ([0.0f32, 0.0, 1.0, 1.0], [0.0; 2]);
        let mut pass = Forward { parameters: &[1.0, 1.0, 0.5, 0.5], buffers: &mut buffers, training: true };
        norm.forward(&mut pass, &[3.0, -2.0], &mut Statistics::default(), &mut out);
        assert_eq!(out, [0.5, 0.5]);
        assert_eq!(buffers[2..], [0.9, 0.9]);
    }
}
