//! Layer normalisation of rows, equal to `torch.nn.LayerNorm`.
//!
//! ```text
//! x'_c = (x_c - mean) / sqrt(variance + 1e-5)        mean and variance (divided by F) of the row
//! y_c  = weight_c x'_c + bias_c
//! d_weight = sum over rows of d_y x'                 d_bias = sum over rows of d_y
//! d_x  = (g - mean(g) - x' mean(g x')) / sqrt(variance + 1e-5)        g = weight d_y
//! ```

use std::ops::Range;

use pulp::Simd;

use super::Layouts;
use crate::kernels::vector::{dot, sum};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::toolkit::{cut, cut_mut};

/// Keeps the division finite.
const EPSILON: f64 = 1e-5;

/// Places of the weight and bias.
#[derive(Debug, Clone)]
pub(crate) struct LayerNorm {
    pub(crate) parameters: Range<usize>,
    width: usize,
}

impl LayerNorm {
    pub(crate) fn new(layouts: &mut Layouts, name: &str, width: usize) -> Self {
        let named = |part: &str, init| Parameter::new(format!("{name}.{part}"), &[width], init);
        let weight = layouts.parameters.push(named("weight", Init::Constant(1.0)));
        let bias = layouts.parameters.push(named("bias", Init::Zeros));
        Self { parameters: weight.start..bias.end, width }
    }

    /// Normalises rows into `out`, on the current thread.
    pub(crate) fn forward_here<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        let affine = cut(&parameters[self.parameters.clone()], [self.width; 2]);
        normalise_rows(x, affine, out);
    }

    /// From the gradient of the output to that of the input `x`, in place, on the current thread. Adds the gradients of
    /// weight and bias to `sums`.
    pub(crate) fn backward_here<T: Real>(&self, parameters: &[T], x: &[T], gradient: &mut [T], sums: &mut [T]) {
        let weight = &parameters[self.parameters.clone()][..self.width];
        backward_rows(x, weight, gradient, cut_mut(sums, [self.width; 2]));
    }
}

/// Writes x - mean of a row and returns 1 / sqrt(variance + epsilon).
#[inline(always)]
fn centre<S: Simd, T: Real>(simd: S, x: &[T], out: &mut [T]) -> T {
    let share = T::from_f64(1.0 / x.len() as f64);
    let mean = sum(simd, x) * share;
    out.iter_mut().zip(x).for_each(|(out, x)| *out = *x - mean);
    T::ONE / (dot(simd, out, out) * share + T::from_f64(EPSILON)).sqrt()
}

#[pulp::with_simd(normalise_rows = T::machine())]
#[inline(always)]
fn normalise_rows_simd<'a, S: Simd, T: Real>(simd: S, x: &'a [T], affine: [&'a [T]; 2], out: &'a mut [T]) {
    let [weight, bias] = affine;
    let width = weight.len();
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let inverse = centre(simd, x, out);
        for ((out, weight), bias) in out.iter_mut().zip(weight).zip(bias) {
            *out = *out * inverse * *weight + *bias;
        }
    }
}

#[pulp::with_simd(backward_rows = T::machine())]
#[inline(always)]
fn backward_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    x: &'a [T],
    weight: &'a [T],
    gradient: &'a mut [T],
    sums: [&'a mut [T]; 2],
) {
    let [d_weight, d_bias] = sums;
    let width = weight.len();
    let share = T::from_f64(1.0 / width as f64);
    let mut normalised = vec![T::ZERO; width];
    for (x, gradient) in x.chunks_exact(width).zip(gradient.chunks_exact_mut(width)) {
        let inverse = centre(simd, x, &mut normalised);
        let columns = normalised.iter_mut().zip(weight).zip(d_weight.iter_mut().zip(&mut *d_bias));
        for (gradient, ((x, weight), (d_weight, d_bias))) in gradient.iter_mut().zip(columns) {
            *x *= inverse;
            *d_weight += *gradient * *x;
            *d_bias += *gradient;
            *gradient *= *weight;
        }
        let mean = sum(simd, gradient) * share;
        let along = dot(simd, gradient, &normalised) * share;
        for (gradient, x) in gradient.iter_mut().zip(&normalised) {
            *gradient = inverse * (*gradient - mean - *x * along);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, noise, weighted};

    #[test]
    fn gradients_are_the_derivatives_whatever_the_width() {
        for width in [1, 3, 8, 21] {
            let norm = LayerNorm::new(&mut Layouts::default(), "norm", width);
            let (x, parameters, weights) = (noise(7 * width, 1), noise(2 * width, 2), noise(7 * width, 3));
            let loss = |x: &[f64], parameters: &[f64]| {
                let mut out = vec![0.0; x.len()];
                norm.forward_here(parameters, x, &mut out);
                weighted(&out, &weights)
            };
            let (mut d_parameters, mut d_x) = (vec![0.0; 2 * width], weights.clone());
            norm.backward_here(&parameters, &x, &mut d_x, &mut d_parameters);
            assert_gradient("parameters", &parameters, &d_parameters, |parameters| loss(&x, parameters));
            if width > 1 {
                assert_gradient("x", &x, &d_x, |x| loss(x, &parameters));
            }
        }
    }
}
