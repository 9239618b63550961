//! Losses on the head-mean attention of one target's in-edges, and their gradients with respect to the scores before
//! the softmax, in closed form.
//!
//! With abar_i the mean over heads of alpha_ik, and 1 - abar_i formed as the mean of the other edges' attention:
//!
//! ```text
//! BCE_i = -(c ln abar_i + (1 - c) ln(1 - abar_i))
//!   d s_ik = (1/K) ((1 - c) abar_i - c (1 - abar_i)) (alpha_ik / abar_i) ((1 - alpha_ik) / (1 - abar_i))
//!   d s_mk = -(1/K) ((1 - c) abar_i - c (1 - abar_i)) (alpha_ik / abar_i) (alpha_mk / (1 - abar_i))
//! KL    = sum_i q_i ln(q_i / abar_i)
//!   d s_mk = (1/K) (alpha_mk sum_i q_i alpha_ik / abar_i - q_m alpha_mk / abar_m)
//! ```
//!
//! Every ratio lies between 0 and K, so nothing overflows however sure attention is. With one head the first line is
//! alpha_i - c, and a target with one in-edge has gradient 0.

use carat_nn::Real;

/// Smallest logarithm, as in PyTorch, so that the loss is finite for attention of exactly 0 or 1.
const SMALLEST_LOG: f64 = -100.0;

fn log(value: f64) -> f64 {
    value.ln().max(SMALLEST_LOG)
}

/// a / b, both at least 0 and a no larger than some multiple of b; `limit` where both have underflowed.
fn ratio(a: f64, b: f64, limit: f64) -> f64 {
    if b > 0.0 { a / b } else { limit }
}

/// BCE of the attention on edge `at` against `c`. `alpha` holds `heads` values per in-edge of the target; `weight`
/// times the gradient is added to `d_scores`, laid out likewise. Returns the loss itself, without the weight.
pub(crate) fn bce<T: Real>(alpha: &[T], heads: usize, at: usize, c: f64, weight: f64, d_scores: &mut [T]) -> f64 {
    let edges = alpha.len() / heads;
    let share = 1.0 / heads as f64;
    let (mut mean, mut rest) = (0.0, 0.0);
    for (m, alpha) in alpha.chunks_exact(heads).enumerate() {
        let total: f64 = alpha.iter().map(|a| a.to_f64()).sum();
        if m == at {
            mean = share * total;
        } else {
            rest += share * total;
        }
    }
    let value = -(c * log(mean) + (1.0 - c) * log(rest));
    if edges > 1 && weight != 0.0 {
        let pull = weight * share * ((1.0 - c) * mean - c * rest);
        // Where every other edge has underflowed, they have equal shares of the rest.
        let (inverse, least) =
            if rest > f64::MIN_POSITIVE { (1.0 / rest, 0.0) } else { (0.0, 1.0 / (edges - 1) as f64) };
        for k in 0..heads {
            let pull = pull * ratio(alpha[at * heads + k].to_f64(), mean, 1.0);
            let mut others = 0.0;
            let heads_of_k = alpha.iter().skip(k).step_by(heads);
            for (m, (alpha, d_score)) in heads_of_k.zip(d_scores.iter_mut().skip(k).step_by(heads)).enumerate() {
                if m != at {
                    let part = pull * (alpha.to_f64() * inverse + least);
                    others += part;
                    *d_score -= T::from_f64(part);
                }
            }
            d_scores[at * heads + k] += T::from_f64(others);
        }
    }
    value
}

/// KL(q || attention) of one target; otherwise as [`bce`].
pub(crate) fn kl<T: Real>(alpha: &[T], heads: usize, q: &[f64], weight: f64, d_scores: &mut [T]) -> f64 {
    let share = 1.0 / heads as f64;
    let of = |edge: usize, k: usize| alpha[edge * heads + k].to_f64();
    let mean = |edge: usize| share * (0..heads).map(|k| of(edge, k)).sum::<f64>();
    let value = q.iter().enumerate().filter(|(_, q)| **q > 0.0).map(|(i, q)| q * (q.ln() - log(mean(i)))).sum();
    if q.len() > 1 && weight != 0.0 {
        for k in 0..heads {
            let pulls = |i: usize| q[i] * ratio(of(i, k), mean(i), 1.0);
            let total: f64 = (0..q.len()).map(pulls).sum();
            for m in 0..q.len() {
                let change = weight * share * (of(m, k) * total - pulls(m));
                d_scores[m * heads + k] += T::from_f64(change);
            }
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn softmax(scores: &[f64], heads: usize) -> Vec<f64> {
        let mut alpha = scores.to_vec();
        for k in 0..heads {
            let largest = scores.iter().skip(k).step_by(heads).fold(f64::MIN, |a, b| a.max(*b));
            let total: f64 = scores.iter().skip(k).step_by(heads).map(|s| (s - largest).exp()).sum();
            alpha.iter_mut().skip(k).step_by(heads).for_each(|a| *a = (*a - largest).exp() / total);
        }
        alpha
    }

    fn check(scores: &[f64], heads: usize, loss: impl Fn(&[f64], f64, &mut [f64]) -> f64) {
        let mut gradient = vec![0.0; scores.len()];
        loss(&softmax(scores, heads), 0.7, &mut gradient);
        for at in 0..scores.len() {
            let value = |step: f64| {
                let mut shifted = scores.to_vec();
                shifted[at] += step;
                loss(&softmax(&shifted, heads), 0.0, &mut [])
            };
            let numeric = 0.7 * (value(1e-5) - value(-1e-5)) / 2e-5;
            let scale = gradient.iter().fold(1e-3f64, |m, g| m.max(g.abs()));
            assert!((gradient[at] - numeric).abs() < 1e-6 * scale, "{at}: {} for {numeric}", gradient[at]);
        }
    }

    proptest! {
        #[test]
        fn gradients_are_derivatives(heads in 1usize..4, edges in 1usize..6, at in 0usize..6, c in 0.0..1.0f64,
                                     raw in proptest::collection::vec(-3.0..3.0f64, 24)) {
            let scores = &raw[..heads * edges];
            check(scores, heads, |alpha, weight, out| bce(alpha, heads, at % edges, c, weight, out));
            let mut q: Vec<f64> = raw[24 - edges..].iter().map(|x| x.exp()).collect();
            let total: f64 = q.iter().sum();
            q.iter_mut().for_each(|q| *q /= total);
            check(scores, heads, |alpha, weight, out| kl(alpha, heads, &q, weight, out));
        }
    }

    #[test]
    fn one_head_gives_the_plain_difference() {
        let mut gradient = [0.0f64; 3];
        let value = bce(&[0.2f64, 0.5, 0.3], 1, 1, 0.8, 1.0, &mut gradient);
        assert!((value + 0.8 * 0.5f64.ln() + 0.2 * 0.5f64.ln()).abs() < 1e-12);
        assert!((gradient[1] - (0.5 - 0.8)).abs() < 1e-12);
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn sure_attention_keeps_everything_finite() {
        for alpha in [[1.0f32, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1e-38, 1e-45]] {
            for c in [4.5e-5, 0.5, 1.0] {
                for at in 0..2 {
                    let mut gradient = [0.0f32; 4];
                    let value = bce(&alpha, 2, at, c, 5.0, &mut gradient);
                    assert!(value.is_finite() && gradient.iter().all(|g| g.abs() <= 20.0), "{gradient:?}");
                    let value = kl(&alpha, 2, &[c / 2.0, 1.0 - c / 2.0], 5.0, &mut gradient);
                    assert!(value.is_finite() && gradient.iter().all(|g| g.abs() <= 40.0), "{gradient:?}");
                }
            }
        }
        // One in-edge: attention is 1 whatever the scores.
        let mut gradient = [0.0f32; 2];
        assert_eq!(bce(&[1.0f32, 1.0], 2, 0, 0.25, 1.0, &mut gradient), 75.0);
        assert_eq!(gradient, [0.0, 0.0]);
    }
}
