//! Heads in groups of up to three, which kernels compute side by side: the sums of a group fit into registers, and
//! their latencies overlap.

use pulp::Simd;

use super::prefetch::{Lookahead, prefetch_row};
use super::vector;
use super::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use crate::real::Real;

/// How many of the `left` heads to take next: three, unless that leaves a single one.
#[inline(always)]
pub(crate) fn head_group(left: usize) -> usize {
    if left == 4 { 2 } else { left.min(3) }
}

/// Runs `$work` for every group of heads, with `$first` as the group's first head and the constant `$group` as its
/// number of heads. A macro, because a closure cannot take the number as a constant.
macro_rules! by_heads {
    ($heads:expr, |$first:ident, $group:ident| $work:expr) => {{
        let heads: usize = $heads;
        let mut $first = 0;
        while $first < heads {
            $first += match $crate::kernels::heads::head_group(heads - $first) {
                1 => {
                    const $group: usize = 1;
                    $work;
                    $group
                }
                2 => {
                    const $group: usize = 2;
                    $work;
                    $group
                }
                _ => {
                    const $group: usize = 3;
                    $work;
                    $group
                }
            };
        }
    }};
}
pub(crate) use by_heads;

/// out_k = x_k . y, for every head.
#[inline(always)]
pub(crate) fn dots_by_head<S: Simd, T: Real>(simd: S, x: &[T], y: &[T], out: &mut [T]) {
    let width = x.len() / out.len();
    by_heads!(out.len(), |first, H| {
        let x = &x[first * width..(first + H) * width];
        out[first..first + H].copy_from_slice(&vector::dots::<S, T, H>(simd, x, y));
    });
}

/// out_k = sum over rows of weight_k row, for every head. `weights` has one value per row and head.
#[inline(always)]
pub(crate) fn sums_by_head<S: Simd, T: Real>(
    simd: S,
    out: &mut [T],
    weights: &[T],
    heads: usize,
    rows: impl RowList<T>,
) {
    let width = out.len() / heads;
    by_heads!(heads, |first, H| {
        let out = &mut out[first * width..(first + H) * width];
        weighted_sums::<S, T, H>(simd, out, Start::Zero, &ByHead { rows, weights, heads, first });
    });
}

/// Rows, one after another.
pub(crate) trait RowList<T>: Copy {
    /// The row at a place of the list.
    fn row(&self, at: usize) -> &[T];

    /// Prefetches a row that will soon be needed.
    fn ask_ahead(&self, at: usize);
}

/// Rows of h, given by a list of their numbers.
#[derive(Clone, Copy)]
pub(crate) struct ListedRows<'a, T> {
    pub(crate) list: &'a [u32],
    pub(crate) h: &'a [T],
    pub(crate) width: usize,
    pub(crate) ahead: Lookahead,
}

impl<T: Real> RowList<T> for ListedRows<'_, T> {
    #[inline(always)]
    fn row(&self, at: usize) -> &[T] {
        let row = self.list[at] as usize;
        &self.h[row * self.width..(row + 1) * self.width]
    }

    #[inline(always)]
    fn ask_ahead(&self, at: usize) {
        if let Some(&later) = self.list.get(at + self.ahead.rows) {
            prefetch_row(self.h, later, self.width);
        }
    }
}

/// All rows of a matrix. They are contiguous, so the processor prefetches them by itself.
#[derive(Clone, Copy)]
pub(crate) struct ConsecutiveRows<'a, T> {
    pub(crate) rows: &'a [T],
    pub(crate) width: usize,
}

impl<T: Real> RowList<T> for ConsecutiveRows<'_, T> {
    #[inline(always)]
    fn row(&self, at: usize) -> &[T] {
        &self.rows[at * self.width..(at + 1) * self.width]
    }

    #[inline(always)]
    fn ask_ahead(&self, _: usize) {}
}

/// Rows with the weights of some heads, from head `first` on.
struct ByHead<'a, T, R> {
    rows: R,
    weights: &'a [T],
    heads: usize,
    first: usize,
}

impl<T: Real, R: RowList<T>, const H: usize> WeightedRows<T, H> for ByHead<'_, T, R> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, H>) {
        for (at, weights) in self.weights.chunks_exact(self.heads).enumerate() {
            self.rows.ask_ahead(at);
            let mut some = [T::ZERO; H];
            some.copy_from_slice(&weights[self.first..self.first + H]);
            sums.add(some, self.rows.row(at));
        }
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn groups_of_heads_cover_all() {
        for heads in 1..40 {
            let mut seen = Vec::new();
            by_heads!(heads, |first, H| seen.extend(first..first + H));
            assert_eq!(seen, (0..heads).collect::<Vec<_>>());
        }
    }
}
