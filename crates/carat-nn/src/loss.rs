//! Cross-entropy of class scores z against label y, precise where the network is sure:
//!
//! ```text
//! CE = ln(1 + sum over k != y of exp(z_k - z_y))
//! ```
//!
//! With `ln_1p` this keeps its relative precision down to 1e-30, where a log-softmax in f32 has long returned 0.
//! Ratios of cross-entropies, which the causal effects are made of, need that.

use pulp::Simd;

use crate::real::Real;

/// Cross-entropy of one row of class scores.
pub fn cross_entropy<T: Real>(scores: &[T], label: usize) -> T {
    let own = scores[label];
    let mut largest = T::ZERO;
    for &z in scores {
        largest = largest.max(z - own);
    }
    if within_exp(largest) {
        let others: T = others(scores, label).map(|z| (z - own).exp()).sum();
        others.ln_1p()
    } else {
        // Too wrong for exp: factor out the largest term. Relative precision near 0 does not matter here.
        let total: T = scores.iter().map(|&z| (z - own - largest).exp()).sum();
        largest + total.ln()
    }
}

/// Whether e^x and sums of such are far from overflow.
fn within_exp<T: Real>(x: T) -> bool {
    x < -T::MIN_EXPONENT / T::from_f64(2.0)
}

/// What an entity of a class counts in a loss, by class. Empty where all count 1.
pub type ClassWeights<'a> = &'a [f64];

/// In place of a label: the entity takes no part in the loss.
pub const LEFT_OUT: u32 = u32::MAX;

/// What an entity of this class counts.
pub(crate) fn class_weight(weights: ClassWeights<'_>, class: u32) -> f64 {
    if class == LEFT_OUT { 0.0 } else { weights.get(class as usize).copied().unwrap_or(1.0) }
}

/// The sum of the cross-entropies of rows of class scores, each times its class's weight; writes their gradients, times
/// `weight`, into `gradient`. Equal to [`cross_entropy`] and [`cross_entropy_gradient`] row by row, with one
/// exponential for both.
pub(crate) fn cross_entropies<T: Real>(
    scores: &[T],
    labels: &[u32],
    class_weights: ClassWeights<'_>,
    weight: T,
    gradient: &mut [T],
) -> f64 {
    cross_entropy_rows(scores, labels, class_weights, weight, gradient)
}

#[pulp::with_simd(cross_entropy_rows = T::machine())]
#[inline(always)]
fn cross_entropy_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    scores: &'a [T],
    labels: &'a [u32],
    class_weights: ClassWeights<'a>,
    weight: T,
    gradient: &'a mut [T],
) -> f64 {
    let classes = gradient.len() / labels.len().max(1);
    let mut total = 0.0;
    let rows = scores.chunks_exact(classes).zip(gradient.chunks_exact_mut(classes));
    for ((scores, gradient), &label) in rows.zip(labels) {
        let share = class_weight(class_weights, label);
        if label == LEFT_OUT {
            gradient.fill(T::ZERO);
            continue;
        }
        let (label, weight) = (label as usize, weight * T::from_f64(share));
        let own = scores[label];
        let mut largest = T::ZERO;
        for (g, &z) in gradient.iter_mut().zip(scores) {
            *g = z - own;
            largest = if *g > largest { *g } else { largest };
        }
        if !within_exp(largest) {
            total += share * cross_entropy(scores, label).to_f64();
            cross_entropy_gradient(scores, label, weight, gradient);
            continue;
        }
        // p_k = e^(z_k - z_y) / (1 + the sum of the others).
        T::exp_all(simd, gradient);
        gradient[label] = T::ZERO;
        let mut others = T::ZERO;
        for g in &*gradient {
            others += *g;
        }
        total += share * others.ln_1p().to_f64();
        let factor = weight / (T::ONE + others);
        for g in &mut *gradient {
            *g *= factor;
        }
        gradient[label] = -others * factor;
    }
    total
}

/// ln CE of one row of class scores. Where CE is tiny this is the logarithm of the sum itself, so it stays finite and
/// precise where CE underflows. Minus infinity where there is no other class.
pub fn log_cross_entropy<T: Real>(scores: &[T], label: usize) -> T {
    let own = scores[label];
    let largest = others(scores, label).fold(T::from_f64(f64::NEG_INFINITY), |largest, z| largest.max(z - own));
    if !largest.is_finite() {
        return largest;
    }
    let total: T = others(scores, label).map(|z| (z - own - largest).exp()).sum();
    log_of_log_1p(largest + total.ln())
}

/// ln(ln(1 + e^x))
fn log_of_log_1p<T: Real>(x: T) -> T {
    if x < T::from_f64(-20.0) {
        // ln(ln(1 + y)) = ln y - y / 2 + ..., and here the second term is lost in rounding.
        x
    } else if x < T::from_f64(20.0) {
        x.exp().ln_1p().ln()
    } else {
        // ln(1 + y) = ln y + 1 / y - ..., likewise.
        x.ln()
    }
}

/// [`log_cross_entropy`] of many rows at once; overwrites the scores.
pub fn log_cross_entropies<T: Real>(scores: &mut [T], labels: &[u32], logs: &mut [T]) {
    log_cross_entropy_rows(scores, labels, logs);
}

#[pulp::with_simd(log_cross_entropy_rows = T::machine())]
#[inline(always)]
fn log_cross_entropy_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    scores: &'a mut [T],
    labels: &'a [u32],
    logs: &'a mut [T],
) {
    let nothing = T::from_f64(f64::NEG_INFINITY);
    let classes = scores.len() / labels.len().max(1);
    for ((scores, &label), log) in scores.chunks_exact_mut(classes.max(1)).zip(labels).zip(logs) {
        let own = std::mem::replace(&mut scores[label as usize], nothing);
        let mut largest = nothing;
        for score in &mut *scores {
            *score -= own;
            largest = if *score > largest { *score } else { largest };
        }
        if !largest.is_finite() {
            *log = largest;
            continue;
        }
        for score in &mut *scores {
            *score -= largest;
        }
        T::exp_all(simd, scores);
        let mut total = T::ZERO;
        for &term in &*scores {
            total += term;
        }
        *log = log_of_log_1p(largest + total.ln());
    }
}

/// Writes d CE / d z, times `weight`: softmax(z) minus the label's indicator. The label's own entry is formed as minus
/// the sum of the others, so that it keeps its precision when the probability is near 1.
pub fn cross_entropy_gradient<T: Real>(scores: &[T], label: usize, weight: T, gradient: &mut [T]) {
    softmax(scores, gradient);
    let mut rest = T::ZERO;
    for (k, g) in gradient.iter_mut().enumerate() {
        *g *= weight;
        if k != label {
            rest += *g;
        }
    }
    gradient[label] = -rest;
}

/// Class probabilities of one row of class scores.
pub fn softmax<T: Real>(scores: &[T], probabilities: &mut [T]) {
    let largest = scores.iter().copied().fold(T::from_f64(f64::NEG_INFINITY), T::max);
    let mut total = T::ZERO;
    for (p, &z) in probabilities.iter_mut().zip(scores) {
        *p = (z - largest).exp();
        total += *p;
    }
    for p in probabilities {
        *p = *p / total;
    }
}

/// The class with the largest score; the first of equals, as in PyTorch.
pub fn argmax<T: Real>(scores: &[T]) -> usize {
    let mut best = 0;
    for (k, z) in scores.iter().enumerate() {
        if *z > scores[best] {
            best = k;
        }
    }
    best
}

fn others<T: Real>(scores: &[T], label: usize) -> impl Iterator<Item = T> + '_ {
    scores.iter().enumerate().filter(move |(k, _)| *k != label).map(|(_, z)| *z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_losses_keep_their_relative_precision() {
        for gap in [5.0f32, 20.0, 40.0, 60.0] {
            let found = f64::from(cross_entropy(&[gap, 0.0, 0.0], 0));
            let exact = (2.0 * (-f64::from(gap)).exp()).ln_1p();
            assert!((found / exact - 1.0).abs() < 1e-5, "gap {gap}: {found} against {exact}");
        }
    }

    #[test]
    fn extreme_scores_stay_finite() {
        assert_eq!(cross_entropy(&[0.0f32, 1e30], 0), 1e30);
        assert_eq!(cross_entropy(&[0.0f32, 1e30], 1), 0.0);
        assert!((cross_entropy(&[0.0f32, 200.0, 200.0], 0) - (200.0 + 2f32.ln())).abs() < 1e-4);
        // No jump where the formula changes.
        let (below, above) = (cross_entropy(&[0.0f32, 43.499], 0), cross_entropy(&[0.0f32, 43.501], 0));
        assert!(above > below && above - below < 0.01);
    }

    #[test]
    fn rows_together_equal_rows_alone() {
        for classes in [1usize, 2, 7, 40] {
            let scores: Vec<f32> = (0..6 * classes).map(|i| ((i * 37) % 101) as f32 / 4.0 - 12.0).collect();
            let mut scores = scores;
            // One row is too wrong for an exponential, one is sure beyond the precision of a softmax.
            scores[0] = -90.0;
            scores[classes] = 70.0;
            let labels: Vec<u32> = (0..6).map(|row| if row < 2 { 0 } else { (row * 5 % classes) as u32 }).collect();
            let mut found = vec![0.0; scores.len()];
            let total = cross_entropies(&scores, &labels, &[], 0.25, &mut found);
            let mut expected = vec![0.0; scores.len()];
            let mut sum = 0.0;
            for (row, &label) in labels.iter().enumerate() {
                let range = row * classes..(row + 1) * classes;
                sum += f64::from(cross_entropy(&scores[range.clone()], label as usize));
                cross_entropy_gradient(&scores[range.clone()], label as usize, 0.25, &mut expected[range]);
            }
            assert!((total - sum).abs() <= 1e-5 * sum, "{total} for {sum}");
            let mut logs = vec![0.0; labels.len()];
            log_cross_entropies(&mut scores.clone(), &labels, &mut logs);
            for (row, (&log, &label)) in logs.iter().zip(&labels).enumerate() {
                let expected = log_cross_entropy(&scores[row * classes..(row + 1) * classes], label as usize);
                assert!(log == expected || (log - expected).abs() <= 1e-5, "row {row}: {log} for {expected}");
            }
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let close = (found - expected).abs() <= 2e-6 * expected.abs() + 1e-30;
                assert!(close, "{classes} classes, {at}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn the_gradient_is_the_derivative() {
        let scores = [0.3f64, -1.2, 2.0, 0.1];
        let mut gradient = [0.0; 4];
        cross_entropy_gradient(&scores, 1, 0.5, &mut gradient);
        for k in 0..4 {
            let (mut up, mut down) = (scores, scores);
            up[k] += 1e-6;
            down[k] -= 1e-6;
            let numeric = 0.5 * (cross_entropy(&up, 1) - cross_entropy(&down, 1)) / 2e-6;
            assert!((gradient[k] - numeric).abs() < 1e-9);
        }
        assert_eq!(argmax(&[1.0f32, 3.0, 3.0]), 1);
    }
}
