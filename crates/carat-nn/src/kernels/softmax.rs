//! Softmax over the in-edges of a target, forward and backward, and the exponential it is made of.

use std::ops::Range;

use pulp::Simd;

use super::heads::by_heads;
use super::simd::Vectors;
use crate::real::Real;

/// Turns scores into attention in place: per head, a softmax over the edges of one target. `scores` holds `heads`
/// values per edge.
pub fn softmax_edges<T: Real>(scores: &mut [T], heads: usize) {
    attention(pulp::Scalar::new(), scores, heads);
}

/// As [`softmax_edges`], inside a kernel.
#[inline(always)]
pub(crate) fn attention<S: Simd, T: Real>(simd: S, scores: &mut [T], heads: usize) {
    by_heads!(heads, |first, H| subtract_largest::<T, H>(scores, heads, first));
    T::exp_all(simd, scores);
    by_heads!(heads, |first, H| divide_by_sum::<T, H>(scores, heads, first));
}

/// For H heads from head `first` on, side by side, so that their latencies overlap.
#[inline(always)]
fn subtract_largest<T: Real, const H: usize>(scores: &mut [T], heads: usize, first: usize) {
    let mut largest = [T::from_f64(f64::NEG_INFINITY); H];
    for edge in scores.chunks_exact(heads) {
        let edge = &edge[first..first + H];
        for k in 0..H {
            largest[k] = if edge[k] > largest[k] { edge[k] } else { largest[k] };
        }
    }
    for edge in scores.chunks_exact_mut(heads) {
        let edge = &mut edge[first..first + H];
        for k in 0..H {
            edge[k] -= largest[k];
        }
    }
}

#[inline(always)]
fn divide_by_sum<T: Real, const H: usize>(values: &mut [T], heads: usize, first: usize) {
    let mut factors = [T::ZERO; H];
    for edge in values.chunks_exact(heads) {
        let edge = &edge[first..first + H];
        for k in 0..H {
            factors[k] += edge[k];
        }
    }
    for factor in &mut factors {
        *factor = T::ONE / *factor;
    }
    for edge in values.chunks_exact_mut(heads) {
        let edge = &mut edge[first..first + H];
        for k in 0..H {
            edge[k] *= factors[k];
        }
    }
}

/// The gradient with respect to the scores of one target's in-edges from that with respect to their attention, in
/// place:
///
/// ```text
/// d_score_i = alpha_i (d_alpha_i - sum_m alpha_m d_alpha_m) + direct_i
/// ```
///
/// `values` is the range of the target's edges in `alpha` and in `direct`. `direct` is the gradient of a loss on
/// attention with respect to the scores; it may end before the target's edges begin.
#[inline(always)]
pub(crate) fn scores_backward<T: Real>(
    values: Range<usize>,
    heads: usize,
    alpha: &[T],
    direct: &[T],
    gradient: &mut [T],
) {
    let alpha = &alpha[values.clone()];
    by_heads!(heads, |first, H| softmax_backward::<T, H>(alpha, heads, first, gradient));
    if let Some(direct) = direct.get(values) {
        gradient.iter_mut().zip(direct).for_each(|(gradient, direct)| *gradient += *direct);
    }
}

#[inline(always)]
fn softmax_backward<T: Real, const H: usize>(alpha: &[T], heads: usize, first: usize, gradient: &mut [T]) {
    let mut mean = [T::ZERO; H];
    for (alpha, gradient) in alpha.chunks_exact(heads).zip(gradient.chunks_exact(heads)) {
        let (alpha, gradient) = (&alpha[first..first + H], &gradient[first..first + H]);
        for k in 0..H {
            mean[k] += alpha[k] * gradient[k];
        }
    }
    for (alpha, gradient) in alpha.chunks_exact(heads).zip(gradient.chunks_exact_mut(heads)) {
        let (alpha, gradient) = (&alpha[first..first + H], &mut gradient[first..first + H]);
        for k in 0..H {
            gradient[k] = alpha[k] * (gradient[k] - mean[k]);
        }
    }
}

/// e^x of every number, for x up to 88; 0 below -87.3, NaN for NaN. The relative error is at most 2e-7.
///
/// ```text
/// x = n ln 2 + r, |r| <= ln 2 / 2          e^x = 2^n (1 + r + r^2 p(r))
/// ```
#[inline(always)]
pub(crate) fn exp_all_f32<S: Simd>(simd: S, values: &mut [f32]) {
    let (whole, rest) = S::as_mut_simd_f32s(values);
    for vector in whole {
        *vector = exp_f32(simd, *vector);
    }
    if !rest.is_empty() {
        let some = simd.partial_load_f32s(rest);
        simd.partial_store_f32s(rest, exp_f32(simd, some));
    }
}

#[inline(always)]
fn exp_f32<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    /// Adding this to a small number and subtracting it again rounds to the nearest integer, which is left in the low
    /// bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts: the first has few bits, so that n times it is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    /// Cephes' polynomial, highest power first.
    const P: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    let all = |value: f32| simd.splat_f32s(value);
    let shifted = f32::multiply_add(simd, x, all(std::f32::consts::LOG2_E), all(ROUND));
    let n = simd.sub_f32s(shifted, all(ROUND));
    let r = f32::multiply_add(simd, n, all(-LN_2[0]), x);
    let r = f32::multiply_add(simd, n, all(-LN_2[1]), r);
    let mut p = all(P[0]);
    for coefficient in &P[1..] {
        p = f32::multiply_add(simd, p, r, all(*coefficient));
    }
    let e = simd.add_f32s(f32::multiply_add(simd, p, simd.mul_f32s(r, r), r), all(1.0));
    // 2^n by its bits: the low bits of `shifted` hold n.
    let exponent = simd.add_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(127));
    let scale = simd.transmute_f32s_u32s(simd.wrapping_dyn_shl_u32s(exponent, simd.splat_u32s(23)));
    simd.select_f32s(simd.less_than_f32s(x, all(-87.3)), all(0.0), simd.mul_f32s(e, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_survives_extreme_scores() {
        let mut scores = vec![1e30f32, -1e30, 1e30, 0.0];
        softmax_edges(&mut scores, 2);
        assert_eq!(scores, [0.5, 0.0, 0.5, 1.0]);
        let mut nothing_known = [f32::NAN, 1.0];
        softmax_edges(&mut nothing_known, 1);
        assert!(nothing_known.iter().any(|a| a.is_nan()), "{nothing_known:?}");
    }

    struct Exponentials<'a>(&'a mut [f32]);

    impl pulp::WithSimd for Exponentials<'_> {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            exp_all_f32(simd, self.0);
        }
    }

    #[test]
    fn the_exponential_is_precise() {
        for arch in [pulp::Arch::Scalar, pulp::Arch::new()] {
            let numbers: Vec<f32> = (0..=1_750_000).map(|step| step as f32 * 1e-4 - 87.0).collect();
            let mut found = numbers.clone();
            arch.dispatch(Exponentials(&mut found));
            for (x, found) in numbers.iter().zip(found) {
                let error = (f64::from(found) / f64::from(*x).exp() - 1.0).abs();
                assert!(error < 2e-7, "e^{x}: off by {error}");
            }
            let mut special = [0.0, -1e30, f32::NEG_INFINITY, f32::NAN];
            arch.dispatch(Exponentials(&mut special));
            assert_eq!(special[..3], [1.0, 0.0, 0.0]);
            assert!(special[3].is_nan());
        }
    }
}
