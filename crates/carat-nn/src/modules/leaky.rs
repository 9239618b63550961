//! LeakyReLU: y = x where x > 0, and slope x elsewhere. A slope of 0 is ReLU.
//!
//! The derivative is computed from the output, which has the input's sign.

use crate::kernels::dense;
use crate::matrix::Matrix;
use crate::real::Real;

/// A LeakyReLU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leaky {
    slope: f64,
}

/// The LeakyReLU after the encoder and before the classifier.
pub(crate) const LEAKY_RELU: Leaky = Leaky { slope: 0.01 };

/// ReLU.
pub(crate) const RELU: Leaky = Leaky { slope: 0.0 };

impl Leaky {
    /// The slope, for kernels that apply the activation themselves.
    #[inline]
    pub(crate) fn slope<T: Real>(self) -> T {
        T::from_f64(self.slope)
    }

    /// In place, on all threads.
    pub(crate) fn forward<T: Real>(self, values: &mut [T]) {
        dense::leaky_relu(values, self.slope());
    }

    /// In place, on the current thread.
    pub(crate) fn forward_here<T: Real>(self, values: &mut [T]) {
        dense::leaky_relu_in_place(values, self.slope());
    }

    /// From the gradient of `out` to that of the input, in place, on the current thread.
    pub(crate) fn backward_here<T: Real>(self, out: &[T], gradient: &mut [T]) {
        dense::leaky_relu_backward_in_place(gradient, out, self.slope());
    }

    /// The same on all threads, with the sums of the gradient's columns, which are the gradient of a bias.
    pub(crate) fn backward<T: Real>(self, out: &[T], gradient: &mut [T], sums: &mut [T]) {
        self.backward_with(out, Matrix::new(&[], 0, sums.len()), gradient, sums);
    }

    /// The same with an addition to the gradient of the first rows of `out`.
    pub(crate) fn backward_with<T: Real>(self, out: &[T], addition: Matrix<'_, T>, gradient: &mut [T], sums: &mut [T]) {
        dense::add_rows_leaky_relu_backward(gradient, addition, out, self.slope(), sums);
    }
}
