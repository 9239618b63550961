//! Linear maps with a bias, trained by hand-derived gradients.

use std::ops::Range;

use super::{Backward, RELU};
use crate::kernels::dense;
use crate::matrix::{Matrix, MatrixMut, multiply};
use crate::parameters::{Init, Layout, Parameter};
use crate::real::Real;

/// A linear map and its bias, which can be applied separately: y = x W^T, and later + bias.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    pub(crate) weight: Range<usize>,
    pub(crate) bias: Range<usize>,
    inputs: usize,
    outputs: usize,
}

impl Linear {
    /// A `torch.nn.Linear`.
    pub(crate) fn torch(layout: &mut Layout, name: &str, inputs: usize, outputs: usize) -> Self {
        let init = Init::Linear { fan_in: inputs };
        Self::new(layout, [format!("{name}.weight"), format!("{name}.bias")], [init, init], inputs, outputs)
    }

    /// The map and the bias of one of PyG's convolutions.
    pub(crate) fn convolution(layout: &mut Layout, name: &str, inputs: usize, outputs: usize) -> Self {
        let names = [format!("{name}.lin.weight"), format!("{name}.bias")];
        Self::new(layout, names, [Init::Glorot, Init::Zeros], inputs, outputs)
    }

    fn new(layout: &mut Layout, names: [String; 2], init: [Init; 2], inputs: usize, outputs: usize) -> Self {
        let [weight, bias] = names;
        let weight = layout.push(Parameter::new(weight, &[outputs, inputs], init[0]));
        let bias = layout.push(Parameter::new(bias, &[outputs], init[1]));
        Self { weight, bias, inputs, outputs }
    }

    fn matrix<'a, T>(&self, parameters: &'a [T]) -> Matrix<'a, T> {
        Matrix::new(&parameters[self.weight.clone()], self.outputs, self.inputs)
    }

    fn rows<'a, T>(&self, x: &'a [T]) -> Matrix<'a, T> {
        Matrix::new(x, x.len() / self.inputs, self.inputs)
    }

    /// out = x W^T
    pub(crate) fn product<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        let out = MatrixMut::new(out, x.len() / self.inputs, self.outputs);
        multiply(out, self.rows(x), self.matrix(parameters).t(), T::ONE);
    }

    /// out = x W^T + bias
    pub(crate) fn affine<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        dense::affine(out, self.rows(x), self.matrix(parameters).t(), &parameters[self.bias.clone()]);
    }

    /// out = ReLU(x W^T + bias)
    pub(crate) fn affine_relu<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        let bias = &parameters[self.bias.clone()];
        dense::affine_leaky_relu(out, self.rows(x), self.matrix(parameters).t(), bias, RELU.slope());
    }

    /// From the gradient of x W^T to those of W and x; overwrites the latter.
    pub(crate) fn product_backward<T: Real>(&self, pass: &mut Backward<'_, T>, x: &[T], d_out: &[T], d_x: &mut [T]) {
        let rows = x.len() / self.inputs;
        let d_out = Matrix::new(d_out, rows, self.outputs);
        let d_weight = MatrixMut::new(&mut pass.gradient[self.weight.clone()], self.outputs, self.inputs);
        multiply(d_weight, d_out.t(), self.rows(x), T::ONE);
        multiply(MatrixMut::new(d_x, rows, self.inputs), d_out, self.matrix(pass.parameters), T::ONE);
    }

    /// From the gradient of the sum to that of the bias.
    pub(crate) fn bias_backward<T: Real>(&self, pass: &mut Backward<'_, T>, d_out: &[T]) {
        let d_bias = &mut pass.gradient[self.bias.clone()];
        d_bias.fill(T::ZERO);
        dense::add_column_sums(d_bias, d_out);
    }

    /// The same where `out` is the output of a ReLU: first takes the gradient back through the ReLU, in place.
    pub(crate) fn bias_relu_backward<T: Real>(&self, pass: &mut Backward<'_, T>, out: &[T], d_out: &mut [T]) {
        RELU.backward(out, d_out, &mut pass.gradient[self.bias.clone()]);
    }
}
