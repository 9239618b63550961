//! Vector pieces that every kernel is made of. All are inlined into a kernel compiled for the machine at hand.

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
pub(crate) fn softmax_edges<T: Real>(scores: &mut [T], heads: usize) {
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

/// The gradient with respect to the scores from that with respect to attention, in place:
/// d_score_i = alpha_i (d_alpha_i - sum_m alpha_m d_alpha_m).
#[inline(always)]
pub(crate) fn softmax_edges_backward<T: Real>(alpha: &[T], gradient: &mut [T], heads: usize) {
    for k in 0..heads {
        let mut mean = T::ZERO;
        for (a, g) in alpha.chunks_exact(heads).zip(gradient.chunks_exact(heads)) {
            mean += a[k] * g[k];
        }
        for (a, g) in alpha.chunks_exact(heads).zip(gradient.chunks_exact_mut(heads)) {
            g[k] = a[k] * (g[k] - mean);
        }
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

    #[test]
    fn softmax_survives_extreme_scores() {
        let mut scores = vec![1e30f32, -1e30, 1e30, 0.0];
        softmax_edges(&mut scores, 2);
        assert_eq!(scores, [0.5, 0.0, 0.5, 1.0]);
    }
}
