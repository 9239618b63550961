//! What a file that implements [`Attention`](crate::Attention) is made of, beside its own equations.
//!
//! carat's own kinds are written with these pieces, and one of your own can be: cut the parameters into the matrices
//! and vectors you named, project rows with a matrix product, turn scores into attention, and lead gradients back the
//! same way. [`Upstream::through_softmax`](crate::Upstream::through_softmax) is the way back through the softmax.

pub use crate::kernels::softmax::softmax_edges;
pub use crate::matrix::{Matrix, MatrixMut, multiply, multiply_add};

use crate::buffer::Buffer;
use crate::kernels::dense;
use crate::real::Real;

/// Cuts a layer's parameters into pieces of these lengths, which together are all of them.
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

/// As [`cut`], writable: for the parameters' gradients.
pub fn cut_mut<const N: usize, T>(mut values: &mut [T], lengths: [usize; N]) -> [&mut [T]; N] {
    lengths.map(|length| {
        let (piece, rest) = std::mem::take(&mut values).split_at_mut(length);
        values = rest;
        piece
    })
}

/// Makes a buffer exactly `len` long without giving memory back. What it held before is kept; what is new is 0.
pub fn sized<T: Real>(buffer: &mut Buffer<T>, len: usize) -> &mut [T] {
    buffer.resize(len, T::ZERO);
    buffer
}

/// sums += the column sums of a row-major matrix as wide as `sums`: what a bias's gradient is.
pub fn add_column_sums<T: Real>(sums: &mut [T], matrix: &[T]) {
    dense::add_column_sums(sums, matrix);
}
