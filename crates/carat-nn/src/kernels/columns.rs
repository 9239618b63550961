//! Loops over the columns of rows in pieces of a few vectors, so that a kernel's sums stay in registers from row to
//! row.
//!
//! Where a row is not a whole number of vectors, the last vector ends with the row and overlaps the one before it. Both
//! belong to one piece, which reads all it needs before it writes, so both compute the same numbers in the overlap.

use pulp::Simd;

use crate::real::Real;

/// The work on a piece of N vectors.
pub(crate) trait ColumnKernel<S: Simd, T: Real> {
    /// Computes the columns of one piece.
    fn piece<const N: usize>(&mut self, columns: Columns<S, N>);
}

/// N vectors of columns: from column `at` on, but for the last, which begins at column `last`.
#[derive(Clone, Copy)]
pub(crate) struct Columns<S, const N: usize> {
    simd: S,
    at: usize,
    last: usize,
}

impl<S: Simd, const N: usize> Columns<S, N> {
    /// These columns of a row.
    #[inline(always)]
    pub(crate) fn load<T: Real>(&self, row: &[T]) -> [T::Vector<S>; N] {
        // Sliced once, so that the loop needs no bounds checks.
        let body = &T::vectors(self.simd, &row[self.at..])[..N - 1];
        let mut values = [T::load(self.simd, &row[self.last..]); N];
        values[..N - 1].copy_from_slice(body);
        values
    }

    /// Writes these columns of a row.
    #[inline(always)]
    pub(crate) fn store<T: Real>(&self, row: &mut [T], values: [T::Vector<S>; N]) {
        let lanes = T::lanes::<S>();
        T::store(self.simd, &mut row[self.last..], values[N - 1]);
        for n in 0..N - 1 {
            T::store(self.simd, &mut row[self.at + n * lanes..], values[n]);
        }
    }
}

/// Calls `kernel` for all columns of rows of this width, which is at least a vector's.
#[inline(always)]
pub(crate) fn by_columns<S: Simd, T: Real>(simd: S, width: usize, kernel: &mut impl ColumnKernel<S, T>) {
    // With 32 registers, three sums of seven vectors fit beside their operands.
    let wide = S::REGISTER_COUNT >= 32;
    let lanes = T::lanes::<S>();
    let vectors = width.div_ceil(lanes);
    let mut done = 0;
    while done < vectors {
        let at = done * lanes;
        let last = |n: usize| (at + (n - 1) * lanes).min(width - lanes);
        // Never a single vector at the end: it would overlap one that another piece has finished.
        done += match vectors - done {
            7 | 9.. if wide => call(kernel, Columns::<S, 7> { simd, at, last: last(7) }),
            6 if wide => call(kernel, Columns::<S, 6> { simd, at, last: last(6) }),
            4 | 6.. => call(kernel, Columns::<S, 4> { simd, at, last: last(4) }),
            3 | 5 => call(kernel, Columns::<S, 3> { simd, at, last: last(3) }),
            2 => call(kernel, Columns::<S, 2> { simd, at, last: last(2) }),
            _ => call(kernel, Columns::<S, 1> { simd, at, last: last(1) }),
        };
    }
}

#[inline(always)]
fn call<S: Simd, T: Real, const N: usize>(kernel: &mut impl ColumnKernel<S, T>, columns: Columns<S, N>) -> usize {
    kernel.piece(columns);
    N
}
