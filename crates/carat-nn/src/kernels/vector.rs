//! Vector pieces that every kernel is made of. All are inlined into a kernel compiled for the machine at hand.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::Simd;

use crate::real::Real;

/// Numbers summed side by side in [`dot`]. Fixed, so that a sum has the same order on every machine.
const LANES: usize = 16;

/// a * b + c, fused where the target has the instruction (elsewhere a fused result would be a slow library call).
#[inline(always)]
fn multiply_add<S: Simd, T: Real>(a: T, b: T, c: T) -> T {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// x . y
#[inline(always)]
pub(crate) fn dot<S: Simd, T: Real>(_: S, x: &[T], y: &[T]) -> T {
    let y = &y[..x.len()];
    let mut lanes = [T::ZERO; LANES];
    let (x_groups, y_groups) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let (x_rest, y_rest) = (x_groups.remainder(), y_groups.remainder());
    for (x, y) in x_groups.zip(y_groups) {
        for l in 0..LANES {
            lanes[l] = multiply_add::<S, T>(x[l], y[l], lanes[l]);
        }
    }
    for (l, (x, y)) in x_rest.iter().zip(y_rest).enumerate() {
        lanes[l] = multiply_add::<S, T>(*x, *y, lanes[l]);
    }
    sum_lanes(lanes)
}

/// The sum of the lanes, by halving, which stays in vector registers.
#[inline(always)]
fn sum_lanes<T: Real>(mut lanes: [T; LANES]) -> T {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for l in 0..width {
            lanes[l] += lanes[l + width];
        }
    }
    lanes[0]
}

/// y += a x
#[inline(always)]
pub(crate) fn add_scaled<S: Simd, T: Real>(_: S, y: &mut [T], a: T, x: &[T]) {
    let x = &x[..y.len()];
    for (y, x) in y.iter_mut().zip(x) {
        *y = multiply_add::<S, T>(a, *x, *y);
    }
}

/// out = (sum - share * row) / (1 - share)
#[inline(always)]
pub(crate) fn subtract_share<S: Simd, T: Real>(_: S, out: &mut [T], sum: &[T], share: T, row: &[T]) {
    let (sum, row) = (&sum[..out.len()], &row[..out.len()]);
    let kept = T::ONE / (T::ONE - share);
    let lost = -share * kept;
    for ((out, sum), row) in out.iter_mut().zip(sum).zip(row) {
        *out = multiply_add::<S, T>(kept, *sum, lost * *row);
    }
}

/// out += scale * (sum - share * row) / (1 - share)
#[inline(always)]
pub(crate) fn add_without_share<S: Simd, T: Real>(simd: S, out: &mut [T], scale: T, sum: &[T], share: T, row: &[T]) {
    let kept = scale / (T::ONE - share);
    add_scaled(simd, out, kept, sum);
    add_scaled(simd, out, -share * kept, row);
}

/// Rows with weights, to be summed by [`weighted_sum`].
pub(crate) trait WeightedRows<T> {
    /// Adds every (weight, row) to `sum`, always in the same order.
    fn add_to(&self, sum: &mut impl RowSum<T>);
}

/// A sum under way. A trait rather than a closure, because only a named function can be inlined by force, and a body
/// that is not inlined into the kernel is compiled for the plainest machine.
pub(crate) trait RowSum<T> {
    /// sum += weight * row
    fn add(&mut self, weight: T, row: &[T]);
}

/// out = start + sum of weight * row, or out += sum where there is no start. Columns are taken in blocks whose sums stay
/// in registers while the rows go by; the last block overlaps its neighbour rather than fall back to single numbers.
#[inline(always)]
pub(crate) fn weighted_sum<S: Simd, T: Real>(simd: S, out: &mut [T], start: Start<'_, T>, rows: &impl WeightedRows<T>) {
    let width = out.len();
    let mut at = 0;
    while at + 64 <= width {
        weighted_block::<S, T, 64>(simd, out, start, at, 0, rows);
        at += 64;
    }
    if at + 32 <= width {
        weighted_block::<S, T, 32>(simd, out, start, at, 0, rows);
        at += 32;
    }
    if at + 16 <= width {
        weighted_block::<S, T, 16>(simd, out, start, at, 0, rows);
        at += 16;
    }
    if at < width && width >= 16 {
        weighted_block::<S, T, 16>(simd, out, start, width - 16, at + 16 - width, rows);
    } else {
        while at < width {
            weighted_block::<S, T, 1>(simd, out, start, at, 0, rows);
            at += 1;
        }
    }
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

/// Columns `at..at + B` of a weighted sum, of which the first `done` are finished already and left alone.
#[inline(always)]
fn weighted_block<S: Simd, T: Real, const B: usize>(
    _: S,
    out: &mut [T],
    start: Start<'_, T>,
    at: usize,
    done: usize,
    rows: &impl WeightedRows<T>,
) {
    let mut block = Block::<S, T, B> { sums: [T::ZERO; B], at, simd: PhantomData };
    match start {
        Start::Zero => {}
        Start::Row(row) => block.sums.copy_from_slice(&row[at..at + B]),
        Start::Output => block.sums.copy_from_slice(&out[at..at + B]),
    }
    rows.add_to(&mut block);
    out[at + done..at + B].copy_from_slice(&block.sums[done..]);
}

/// B columns of a sum, from column `at`.
struct Block<S, T, const B: usize> {
    sums: [T; B],
    at: usize,
    simd: PhantomData<S>,
}

impl<S: Simd, T: Real, const B: usize> RowSum<T> for Block<S, T, B> {
    #[inline(always)]
    fn add(&mut self, weight: T, row: &[T]) {
        let row = &row[self.at..self.at + B];
        for (sum, &value) in self.sums.iter_mut().zip(row) {
            *sum = multiply_add::<S, T>(weight, value, *sum);
        }
    }
}

/// a . LeakyReLU(x + y)
#[inline(always)]
pub(crate) fn leaky_dot<S: Simd, T: Real>(_: S, a: &[T], x: &[T], y: &[T], slope: T) -> T {
    let (x, y) = (&x[..a.len()], &y[..a.len()]);
    let mut lanes = [T::ZERO; LANES];
    let whole = a.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        let (a, x, y) = (&a[at..at + LANES], &x[at..at + LANES], &y[at..at + LANES]);
        for l in 0..LANES {
            lanes[l] = multiply_add::<S, T>(a[l], leaky_relu(x[l] + y[l], slope), lanes[l]);
        }
    }
    for (l, at) in (whole..a.len()).enumerate() {
        lanes[l] = multiply_add::<S, T>(a[at], leaky_relu(x[at] + y[at], slope), lanes[l]);
    }
    sum_lanes(lanes)
}

/// LeakyReLU: z where positive, slope * z elsewhere.
#[inline(always)]
pub(crate) fn leaky_relu<T: Real>(z: T, slope: T) -> T {
    if z > T::ZERO { z } else { z * slope }
}

/// The derivative of LeakyReLU; at 0 it is the slope, as in PyTorch.
#[inline(always)]
pub(crate) fn leaky_relu_gradient<T: Real>(z: T, slope: T) -> T {
    if z > T::ZERO { T::ONE } else { slope }
}

/// Turns scores into attention in place: per head, a softmax over the edges of one target. `scores` holds `heads`
/// values per edge.
#[inline(always)]
pub fn softmax_edges<T: Real>(scores: &mut [T], heads: usize) {
    for k in 0..heads {
        let mut largest = T::from_f64(f64::NEG_INFINITY);
        for edge in scores.chunks_exact(heads) {
            largest = largest.max(edge[k]);
        }
        let mut total = T::ZERO;
        for edge in scores.chunks_exact_mut(heads) {
            edge[k] = (edge[k] - largest).exp();
            total += edge[k];
        }
        let inverse = T::ONE / total;
        for edge in scores.chunks_exact_mut(heads) {
            edge[k] *= inverse;
        }
    }
}

/// The gradient with respect to the scores of one target's in-edges from that with respect to their attention, in place:
///
/// ```text
/// d_score_i = alpha_i (d_alpha_i - sum_m alpha_m d_alpha_m) + direct_i
/// ```
///
/// `values` is where the target's edges stand in `alpha` and in `direct`, the gradient that a loss on attention has
/// with respect to the scores; `direct` may end before the target's edges begin.
#[inline(always)]
pub(crate) fn scores_backward<T: Real>(
    values: Range<usize>,
    heads: usize,
    alpha: &[T],
    direct: &[T],
    gradient: &mut [T],
) {
    let alpha = &alpha[values.clone()];
    for k in 0..heads {
        let mut mean = T::ZERO;
        for (a, g) in alpha.chunks_exact(heads).zip(gradient.chunks_exact(heads)) {
            mean += a[k] * g[k];
        }
        for (a, g) in alpha.chunks_exact(heads).zip(gradient.chunks_exact_mut(heads)) {
            g[k] = a[k] * (g[k] - mean);
        }
    }
    if let Some(direct) = direct.get(values) {
        gradient.iter_mut().zip(direct).for_each(|(gradient, direct)| *gradient += *direct);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_is_the_sum_of_products_for_every_length() {
        for n in 0..70 {
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 3.0).collect();
            let y: Vec<f64> = (0..n).map(|i| 0.5 * i as f64).collect();
            let expected: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
            assert_eq!(dot(pulp::Scalar::new(), &x, &y), expected, "length {n}");
        }
    }

    struct Pairs(Vec<(f64, Vec<f64>)>);

    impl WeightedRows<f64> for Pairs {
        fn add_to(&self, sum: &mut impl RowSum<f64>) {
            self.0.iter().for_each(|(weight, row)| sum.add(*weight, row));
        }
    }

    #[test]
    fn weighted_sums_of_every_width_equal_the_definition() {
        for width in 1..150 {
            let row = |r: usize| (0..width).map(|c| (r * 31 + c * 7) as f64 % 13.0 - 6.0).collect::<Vec<f64>>();
            let pairs = Pairs((0..3).map(|r| (r as f64 - 0.5, row(r))).collect());
            for (start, begin) in
                [(Start::Zero, vec![0.0; width]), (Start::Row(&row(9)), row(9)), (Start::Output, row(5))]
            {
                let mut out = row(5);
                weighted_sum(pulp::Scalar::new(), &mut out, start, &pairs);
                for c in 0..width {
                    let expected = begin[c] + pairs.0.iter().map(|(w, row)| w * row[c]).sum::<f64>();
                    assert_eq!(out[c], expected, "width {width}, column {c}");
                }
            }
        }
    }

    #[test]
    fn softmax_survives_extreme_scores() {
        let mut scores = vec![1e30f32, -1e30, 1e30, 0.0];
        softmax_edges(&mut scores, 2);
        assert_eq!(scores, [0.5, 0.0, 0.5, 1.0]);
    }
}
