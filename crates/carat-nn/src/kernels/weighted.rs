//! Weighted sums of rows, several at once: out_h = sum over rows of weight_h * row.
//!
//! Sums over in-edges, over out-edges, over a sparse row's columns and over all rows of a matrix are all of this form.
//! Each column is summed row after row, so that the width of the machine's vectors does not change the result.

use std::marker::PhantomData;

use pulp::Simd;

use super::columns::{ColumnKernel, Columns, by_columns};
use super::vector::multiply_add;
use crate::real::Real;

/// Rows with H weights each, to be summed by [`weighted_sums`].
pub(crate) trait WeightedRows<T, const H: usize> {
    /// Adds every row with its weights to `sums`, always in the same order.
    fn add_to(&self, sums: &mut impl RowSums<T, H>);
}

/// Sums in progress. A trait rather than a closure, because only a named function can be forced inline, and a body that
/// is not inlined into the kernel is compiled for the baseline machine.
pub(crate) trait RowSums<T, const H: usize> {
    /// sum_h += weight_h * row
    fn add(&mut self, weights: [T; H], row: &[T]);
}

/// The initial value of a weighted sum.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// Zero.
    Zero,
    /// This row.
    Row(&'a [T]),
    /// The present values of the output.
    Output,
}

/// Fills `out`, H rows one after another.
#[inline(always)]
pub(crate) fn weighted_sums<S: Simd, T: Real, const H: usize>(
    simd: S,
    out: &mut [T],
    start: Start<'_, T>,
    rows: &impl WeightedRows<T, H>,
) {
    let width = out.len() / H;
    if width < T::lanes::<S>() {
        narrow_sums(simd, out, start, rows);
    } else {
        by_columns(simd, width, &mut Sums::<S, T, _, H> { simd, out, start, rows });
    }
}

/// H sums, filled piece by piece.
struct Sums<'a, S, T, R, const H: usize> {
    simd: S,
    out: &'a mut [T],
    start: Start<'a, T>,
    rows: &'a R,
}

impl<S: Simd, T: Real, R: WeightedRows<T, H>, const H: usize> ColumnKernel<S, T> for Sums<'_, S, T, R, H> {
    #[inline(always)]
    fn piece<const N: usize>(&mut self, columns: Columns<S, N>) {
        let (simd, width) = (self.simd, self.out.len() / H);
        let mut sums = [[T::splat(simd, T::ZERO); N]; H];
        for h in 0..H {
            match self.start {
                Start::Zero => {}
                Start::Row(row) => sums[h] = columns.load(row),
                Start::Output => sums[h] = columns.load(&self.out[h * width..(h + 1) * width]),
            }
        }
        let mut piece = Piece { simd, columns, sums };
        self.rows.add_to(&mut piece);
        for h in 0..H {
            columns.store(&mut self.out[h * width..(h + 1) * width], piece.sums[h]);
        }
    }
}

/// Some columns of H sums.
struct Piece<S: Simd, T: Real, const N: usize, const H: usize> {
    simd: S,
    columns: Columns<S, N>,
    sums: [[T::Vector<S>; N]; H],
}

impl<S: Simd, T: Real, const N: usize, const H: usize> RowSums<T, H> for Piece<S, T, N, H> {
    #[inline(always)]
    fn add(&mut self, weights: [T; H], row: &[T]) {
        let values = self.columns.load(row);
        for h in 0..H {
            let weight = T::splat(self.simd, weights[h]);
            for n in 0..N {
                self.sums[h][n] = T::multiply_add(self.simd, weight, values[n], self.sums[h][n]);
            }
        }
    }
}

/// Rows shorter than a vector: eight columns and the last eight, or one by one.
#[inline(always)]
fn narrow_sums<S: Simd, T: Real, const H: usize>(
    simd: S,
    out: &mut [T],
    start: Start<'_, T>,
    rows: &impl WeightedRows<T, H>,
) {
    let width = out.len() / H;
    if width >= 8 {
        narrow_piece::<S, T, 8, H>(simd, out, start, 0, rows);
        if width > 8 {
            narrow_piece::<S, T, 8, H>(simd, out, start, width - 8, rows);
        }
    } else {
        for at in 0..width {
            narrow_piece::<S, T, 1, H>(simd, out, start, at, rows);
        }
    }
}

/// B columns from column `at`. Columns that an earlier piece has finished stay unchanged.
#[inline(always)]
fn narrow_piece<S: Simd, T: Real, const B: usize, const H: usize>(
    _: S,
    out: &mut [T],
    start: Start<'_, T>,
    at: usize,
    rows: &impl WeightedRows<T, H>,
) {
    let width = out.len() / H;
    let finished = if B > 1 && at > 0 { B - at } else { 0 };
    let mut piece = NarrowPiece::<S, T, B, H> { sums: [[T::ZERO; B]; H], at, simd: PhantomData };
    for h in 0..H {
        match start {
            Start::Zero => {}
            Start::Row(row) => piece.sums[h].copy_from_slice(&row[at..at + B]),
            Start::Output => piece.sums[h].copy_from_slice(&out[h * width + at..h * width + at + B]),
        }
    }
    rows.add_to(&mut piece);
    for h in 0..H {
        out[h * width + at + finished..h * width + at + B].copy_from_slice(&piece.sums[h][finished..]);
    }
}

/// B columns of H sums from column `at`.
struct NarrowPiece<S, T, const B: usize, const H: usize> {
    sums: [[T; B]; H],
    at: usize,
    simd: PhantomData<S>,
}

impl<S: Simd, T: Real, const B: usize, const H: usize> RowSums<T, H> for NarrowPiece<S, T, B, H> {
    #[inline(always)]
    fn add(&mut self, weights: [T; H], row: &[T]) {
        let row = &row[self.at..self.at + B];
        for (sums, &weight) in self.sums.iter_mut().zip(&weights) {
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum = multiply_add::<S, T>(weight, value, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pairs<const H: usize>(Vec<([f64; H], Vec<f64>)>);

    impl<const H: usize> WeightedRows<f64, H> for Pairs<H> {
        fn add_to(&self, sums: &mut impl RowSums<f64, H>) {
            self.0.iter().for_each(|(weights, row)| sums.add(*weights, row));
        }
    }

    fn check<const H: usize>(simd: impl Simd) {
        for width in 1..260 {
            let row = |r: usize| (0..width).map(|c| (r * 31 + c * 7) as f64 % 13.0 - 6.0).collect::<Vec<f64>>();
            let pairs = Pairs((0..3).map(|r| (std::array::from_fn(|h| (r + h) as f64 - 0.5), row(r))).collect());
            let before: Vec<f64> = (0..H).flat_map(|h| row(5 + h)).collect();
            let begin = row(9);
            for start in [Start::Zero, Start::Row(&begin), Start::Output] {
                let mut out = before.clone();
                weighted_sums::<_, _, H>(simd, &mut out, start, &pairs);
                for (at, found) in out.iter().enumerate() {
                    let (h, c) = (at / width, at % width);
                    let begin = match start {
                        Start::Zero => 0.0,
                        Start::Row(row) => row[c],
                        Start::Output => before[at],
                    };
                    let expected = begin + pairs.0.iter().map(|(w, row)| w[h] * row[c]).sum::<f64>();
                    assert_eq!(*found, expected, "width {width}, row {h}, column {c}");
                }
            }
        }
    }

    struct Everywhere;

    impl pulp::WithSimd for Everywhere {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            check::<1>(simd);
            check::<2>(simd);
            check::<3>(simd);
        }
    }

    #[test]
    fn sums_of_every_width_equal_the_definition() {
        pulp::Arch::new().dispatch(Everywhere);
        pulp::Arch::Scalar.dispatch(Everywhere);
    }
}
