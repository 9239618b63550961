//! What the parts of the model share: where their numbers lie, and the two directions of a pass.

use std::ops::Range;

use crate::kernels::dense;
use crate::matrix::{Matrix, MatrixMut, multiply};
use crate::parameters::{Init, Layout, Parameter};
use crate::real::Real;

/// Where parameters and running statistics are entered as parts are made.
#[derive(Debug, Clone, Default)]
pub(super) struct Layouts {
    pub(super) parameters: Layout,
    pub(super) buffers: Layout,
}

/// A forward pass.
pub(super) struct Forward<'a, T> {
    /// All parameters of the model.
    pub(super) parameters: &'a [T],
    /// All running statistics, which a training pass moves on and a prediction reads.
    pub(super) buffers: &'a mut [T],
    /// Normalise with the statistics of the nodes at hand, not with running ones.
    pub(super) training: bool,
}

/// A backward pass.
pub(super) struct Backward<'a, T> {
    /// All parameters of the model.
    pub(super) parameters: &'a [T],
    /// Their gradients; every part writes its own.
    pub(super) gradient: &'a mut [T],
}

/// A linear map and a bias that need not follow it at once: y = x W^T, and later + bias.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    pub(super) weight: Range<usize>,
    pub(super) bias: Range<usize>,
    inputs: usize,
    outputs: usize,
}

impl Linear {
    /// A `torch.nn.Linear`.
    pub(super) fn torch(layouts: &mut Layouts, name: &str, inputs: usize, outputs: usize) -> Self {
        let init = Init::Linear { fan_in: inputs };
        Self::new(layouts, [format!("{name}.weight"), format!("{name}.bias")], [init, init], inputs, outputs)
    }

    /// The map and the bias of one of PyG's convolutions.
    pub(super) fn convolution(layouts: &mut Layouts, name: &str, inputs: usize, outputs: usize) -> Self {
        let names = [format!("{name}.lin.weight"), format!("{name}.bias")];
        Self::new(layouts, names, [Init::Glorot, Init::Zeros], inputs, outputs)
    }

    fn new(layouts: &mut Layouts, names: [String; 2], init: [Init; 2], inputs: usize, outputs: usize) -> Self {
        let [weight, bias] = names;
        let weight = layouts.parameters.push(Parameter::new(weight, &[outputs, inputs], init[0]));
        let bias = layouts.parameters.push(Parameter::new(bias, &[outputs], init[1]));
        Self { weight, bias, inputs, outputs }
    }

    fn matrix<'a, T>(&self, parameters: &'a [T]) -> Matrix<'a, T> {
        Matrix::new(&parameters[self.weight.clone()], self.outputs, self.inputs)
    }

    fn rows<'a, T>(&self, x: &'a [T]) -> Matrix<'a, T> {
        Matrix::new(x, x.len() / self.inputs, self.inputs)
    }

    /// out = x W^T
    pub(super) fn product<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        let out = MatrixMut::new(out, x.len() / self.inputs, self.outputs);
        multiply(out, self.rows(x), self.matrix(parameters).t(), T::ONE);
    }

    /// out = x W^T + bias
    pub(super) fn affine<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        dense::affine(out, self.rows(x), self.matrix(parameters).t(), &parameters[self.bias.clone()]);
    }

    /// out = ReLU(x W^T + bias)
    pub(super) fn affine_relu<T: Real>(&self, parameters: &[T], x: &[T], out: &mut [T]) {
        let bias = &parameters[self.bias.clone()];
        dense::affine_leaky_relu(out, self.rows(x), self.matrix(parameters).t(), bias, T::ZERO);
    }

    /// From the gradient of x W^T to those of W and, all of it written, of x.
    pub(super) fn product_backward<T: Real>(&self, pass: &mut Backward<'_, T>, x: &[T], d_out: &[T], d_x: &mut [T]) {
        let rows = x.len() / self.inputs;
        let d_out = Matrix::new(d_out, rows, self.outputs);
        let d_weight = MatrixMut::new(&mut pass.gradient[self.weight.clone()], self.outputs, self.inputs);
        multiply(d_weight, d_out.t(), self.rows(x), T::ONE);
        multiply(MatrixMut::new(d_x, rows, self.inputs), d_out, self.matrix(pass.parameters), T::ONE);
    }

    /// From the gradient of what the bias was added to, to that of the bias.
    pub(super) fn bias_backward<T: Real>(&self, pass: &mut Backward<'_, T>, d_out: &[T]) {
        let d_bias = &mut pass.gradient[self.bias.clone()];
        d_bias.fill(T::ZERO);
        dense::add_column_sums(d_bias, d_out);
    }

    /// The same where a ReLU gave `out`: leads the gradient back through it first, in place.
    pub(super) fn bias_relu_backward<T: Real>(&self, pass: &mut Backward<'_, T>, out: &[T], d_out: &mut [T]) {
        relu_backward(out, d_out, &mut pass.gradient[self.bias.clone()]);
    }
}

/// Leads a gradient back through the ReLU that gave `out`, in place, and writes the sums of its columns.
pub(super) fn relu_backward<T: Real>(out: &[T], d_out: &mut [T], sums: &mut [T]) {
    let nothing = Matrix::new(&[], 0, sums.len());
    dense::add_rows_leaky_relu_backward(d_out, nothing, out, T::ZERO, sums);
}
