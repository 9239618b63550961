//! Softmax over the in-edges of a target, forward and backward, and the exponential it is made of.

use std::ops::Range;

use pulp::Simd;

use crate::real::Real;

/// Turns scores into attention in place: per head, a softmax over the edges of one target. `scores` holds `heads`
/// values per edge.
pub fn softmax_edges<T: Real>(scores: &mut [T], heads: usize) {
    attention(pulp::Scalar::new(), scores, heads);
}

/// As [`softmax_edges`], inside a kernel.
#[inline(always)]
pub(crate) fn attention<S: Simd, T: Real>(_: S, scores: &mut [T], heads: usize) {
    for k in 0..heads {
        let mut largest = T::from_f64(f64::NEG_INFINITY);
        for edge in scores.chunks_exact(heads) {
            largest = largest.max(edge[k]);
        }
        for edge in scores.chunks_exact_mut(heads) {
            edge[k] -= largest;
        }
    }
    for score in &mut *scores {
        *score = T::kernel_exp::<S>(*score);
    }
    for k in 0..heads {
        let mut total = T::ZERO;
        for edge in scores.chunks_exact(heads) {
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

/// e^x for x from -87.3 to 88, in operations that a compiler can put side by side; 0 below, NaN for NaN. The relative
/// error is at most 1.5e-7.
///
/// ```text
/// x = n ln 2 + r, |r| <= ln 2 / 2          e^x = 2^n (1 + r + r^2 p(r))
/// ```
#[inline(always)]
pub(crate) fn exp_f32<S: Simd>(x: f32) -> f32 {
    /// Added to a small number and taken off again, this rounds to the nearest integer, which it leaves in the low bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts: the first has few bits, so that n times it is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    /// Cephes' polynomial of degree 5, highest power first.
    const P: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    let fused = super::vector::multiply_add::<S, f32>;
    let shifted = fused(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fused(n, -LN_2[0], x);
    let r = fused(n, -LN_2[1], r);
    let mut p = P[0];
    for &coefficient in &P[1..] {
        p = fused(p, r, coefficient);
    }
    let e = fused(p, r * r, r) + 1.0;
    // 2^n by its bits: the low bits of `shifted` hold n.
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -87.3 { 0.0 } else { e * scale }
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

    #[test]
    fn the_exponential_is_precise() {
        for step in 0..=1_750_000 {
            let x = step as f32 * 1e-4 - 87.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp_f32::<pulp::Scalar>(x)) / exact - 1.0).abs();
            assert!(error < 1.5e-7, "e^{x}: off by {error}");
        }
        assert_eq!(exp_f32::<pulp::Scalar>(0.0), 1.0);
        assert_eq!(exp_f32::<pulp::Scalar>(-1e30), 0.0);
        assert_eq!(exp_f32::<pulp::Scalar>(f32::NEG_INFINITY), 0.0);
        assert!(exp_f32::<pulp::Scalar>(f32::NAN).is_nan());
    }
}
