//! Weighted sums of rows, several at once: out_h = sum over rows of weight_h * row.
//!
//! Sums over in-edges, over out-edges, over a sparse row's columns and over all rows of a matrix are all of this form.
//! Columns are taken in pieces whose sums stay in registers while the rows go by; a last piece that is not full overlaps
//! the one before it rather than fall back to single numbers. Each column is summed row after row, so the pieces'
//! widths, which depend on the machine, do not change the result.

use std::marker::PhantomData;

use pulp::Simd;

use super::vector::multiply_add;
use crate::real::Real;

/// Rows with H weights each, to be summed by [`weighted_sums`].
pub(crate) trait WeightedRows<T, const H: usize> {
    /// Adds every row with its weights to `sums`, always in the same order.
    fn add_to(&self, sums: &mut impl RowSums<T, H>);
}

/// Sums under way. A trait rather than a closure, because only a named function can be inlined by force, and a body that
/// is not inlined into the kernel is compiled for the plainest machine.
pub(crate) trait RowSums<T, const H: usize> {
    /// sum_h += weight_h * row
    fn add(&mut self, weights: [T; H], row: &[T]);
}

/// What a weighted sum begins with.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// Zero.
    Zero,
    /// This row.
    Row(&'a [T]),
    /// What the output holds.
    Output,
}

/// The most heads that [`weighted_sums`] takes at once; [`head_group`] cuts any number into such groups.
pub(crate) const MOST_HEADS: usize = 3;

/// How many of the `left` heads to take next.
#[inline(always)]
pub(crate) fn head_group(left: usize) -> usize {
    if left == 4 { 2 } else { left.min(MOST_HEADS) }
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
    // With 32 registers of 16 numbers, the sums of three heads over 112 columns fit.
    let wide = S::REGISTER_COUNT >= 32 && S::F32_LANES >= 16;
    let mut at = 0;
    while at < width {
        let left = width - at;
        if wide && left > 96 && left <= 112 {
            return piece::<S, T, 96, 16, H>(simd, out, start, at, rows);
        } else if wide && left > 64 && left <= 80 {
            return piece::<S, T, 64, 16, H>(simd, out, start, at, rows);
        } else if wide && left >= 64 {
            piece::<S, T, 64, 0, H>(simd, out, start, at, rows);
            at += 64;
        } else if left > 32 && left <= 48 {
            return piece::<S, T, 32, 16, H>(simd, out, start, at, rows);
        } else if left >= 32 {
            piece::<S, T, 32, 0, H>(simd, out, start, at, rows);
            at += 32;
        } else if left >= 16 {
            return piece::<S, T, 16, 16, H>(simd, out, start, at, rows);
        } else if left >= 8 {
            return piece::<S, T, 8, 8, H>(simd, out, start, at, rows);
        } else {
            piece::<S, T, 1, 0, H>(simd, out, start, at, rows);
            at += 1;
        }
    }
}

/// Columns `at..at + B` of the sums and, with TAIL, those from there to the last, of which there are at most TAIL.
#[inline(always)]
fn piece<S: Simd, T: Real, const B: usize, const TAIL: usize, const H: usize>(
    _: S,
    out: &mut [T],
    start: Start<'_, T>,
    at: usize,
    rows: &impl WeightedRows<T, H>,
) {
    let width = out.len() / H;
    let tail_at = width - TAIL;
    let mut piece = Piece::<S, T, B, TAIL, H> {
        body: [[T::ZERO; B]; H],
        tail: [[T::ZERO; TAIL]; H],
        at,
        tail_at,
        simd: PhantomData,
    };
    for h in 0..H {
        let begin = match start {
            Start::Zero => continue,
            Start::Row(row) => row,
            Start::Output => &out[h * width..(h + 1) * width],
        };
        piece.body[h].copy_from_slice(&begin[at..at + B]);
        piece.tail[h].copy_from_slice(&begin[tail_at..]);
    }
    rows.add_to(&mut piece);
    for h in 0..H {
        let out = &mut out[h * width..(h + 1) * width];
        out[tail_at..].copy_from_slice(&piece.tail[h]);
        out[at..at + B].copy_from_slice(&piece.body[h]);
    }
}

/// B columns of H sums from column `at`, and TAIL columns from `tail_at`.
struct Piece<S, T, const B: usize, const TAIL: usize, const H: usize> {
    body: [[T; B]; H],
    tail: [[T; TAIL]; H],
    at: usize,
    tail_at: usize,
    simd: PhantomData<S>,
}

impl<S: Simd, T: Real, const B: usize, const TAIL: usize, const H: usize> RowSums<T, H> for Piece<S, T, B, TAIL, H> {
    #[inline(always)]
    fn add(&mut self, weights: [T; H], row: &[T]) {
        let (body, tail) = (&row[self.at..self.at + B], &row[self.tail_at..self.tail_at + TAIL]);
        for h in 0..H {
            for (sum, &value) in self.body[h].iter_mut().zip(body) {
                *sum = multiply_add::<S, T>(weights[h], value, *sum);
            }
            for (sum, &value) in self.tail[h].iter_mut().zip(tail) {
                *sum = multiply_add::<S, T>(weights[h], value, *sum);
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

    #[test]
    fn groups_of_heads_cover_all() {
        for heads in 1..40 {
            let mut at = 0;
            while at < heads {
                at += head_group(heads - at);
            }
            assert_eq!(at, heads);
        }
    }
}
