//! Tools for files that implement [`Attention`](crate::Attention).
//!
//! carat's own kinds use these functions, and a kind of your own can too: split the parameters into matrices and
//! vectors, project rows with a matrix product, turn scores into attention, and take gradients back the same way.
//! [`Upstream::through_softmax`](crate::Upstream::through_softmax) is the backward pass of the softmax.

pub use crate::kernels::softmax::softmax_edges;
pub use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};

use crate::buffer::Buffer;
use crate::kernels::dense;
use crate::real::Real;

/// Splits a layer's parameters into pieces of these lengths, which together are all of them.
///
/// ```
/// let parameters = [1.0, 2.0, 3.0, 4.0, 5.0];
/// let [weight, bias] = carat_nn::toolkit::cut(&parameters, [3, 2]);
/// assert_eq!((weight, bias), (&parameters[..3], &parameters[3..]));
/// ```
pub fn cut<const N: usize, T>(mut values: &[T], lengths: [usize; N]) -> [&[T]; N] {
    lengths.map(|length| {
        let (piece, rest) = values.split_at(length);
        values = rest;
        piece
    })
}

/// As [`cut`], mutable: for the parameters' gradients.
pub fn cut_mut<const N: usize, T>(mut values: &mut [T], lengths: [usize; N]) -> [&mut [T]; N] {
    lengths.map(|length| {
        let (piece, rest) = std::mem::take(&mut values).split_at_mut(length);
        values = rest;
        piece
    })
}

/// Resizes a buffer to exactly `len` values without freeing memory. Old values are kept; new ones are 0.
pub fn sized<T: Real>(buffer: &mut Buffer<T>, len: usize) -> &mut [T] {
    buffer.resize(len, T::ZERO);
    buffer
}

/// sums += the column sums of a row-major matrix as wide as `sums`: the gradient of a bias.
pub fn add_column_sums<T: Real>(sums: &mut [T], matrix: &[T]) {
    dense::add_column_sums(sums, matrix);
}
