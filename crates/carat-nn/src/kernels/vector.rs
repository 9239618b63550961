//! Vector pieces that every kernel is made of. All are inlined into a kernel compiled for the machine at hand.

use pulp::Simd;

use crate::real::Real;

/// Numbers summed side by side in [`dot`]. Fixed, so that a sum has the same order on every machine.
const LANES: usize = 16;

/// a * b + c, fused where the target has the instruction (elsewhere a fused result would be a slow library call).
#[inline(always)]
pub(crate) fn multiply_add<S: Simd, T: Real>(a: T, b: T, c: T) -> T {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// x . y
#[inline(always)]
pub(crate) fn dot<S: Simd, T: Real>(simd: S, x: &[T], y: &[T]) -> T {
    dots::<S, T, 1>(simd, x, y)[0]
}

/// x_h . y for H rows x_h, one after another.
#[inline(always)]
pub(crate) fn dots<S: Simd, T: Real, const H: usize>(_: S, x: &[T], y: &[T]) -> [T; H] {
    let width = x.len() / H;
    let y = &y[..width];
    let mut lanes = [[T::ZERO; LANES]; H];
    let mut at = 0;
    while at + LANES <= width {
        let y = &y[at..at + LANES];
        for (h, lanes) in lanes.iter_mut().enumerate() {
            let x = &x[h * width + at..h * width + at + LANES];
            for l in 0..LANES {
                lanes[l] = multiply_add::<S, T>(x[l], y[l], lanes[l]);
            }
        }
        at += LANES;
    }
    if at < width && width >= LANES {
        // The last numbers together with some that have been counted, which count as 0 now.
        let last = width - LANES;
        let y = &y[last..];
        let mut rest = [T::ZERO; LANES];
        for l in 0..LANES {
            rest[l] = if l + last >= at { y[l] } else { T::ZERO };
        }
        for (h, lanes) in lanes.iter_mut().enumerate() {
            let x = &x[h * width + last..(h + 1) * width];
            for l in 0..LANES {
                lanes[l] = multiply_add::<S, T>(x[l], rest[l], lanes[l]);
            }
        }
    } else {
        for (h, lanes) in lanes.iter_mut().enumerate() {
            for (l, at) in (at..width).enumerate() {
                lanes[l] = multiply_add::<S, T>(x[h * width + at], y[at], lanes[l]);
            }
        }
    }
    lanes.map(sum_lanes)
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
    if whole < a.len() && a.len() >= LANES {
        // As in `dots`.
        let last = a.len() - LANES;
        let (a, x, y) = (&a[last..], &x[last..], &y[last..]);
        for l in 0..LANES {
            let a = if l + last >= whole { a[l] } else { T::ZERO };
            lanes[l] = multiply_add::<S, T>(a, leaky_relu(x[l] + y[l], slope), lanes[l]);
        }
    } else {
        for (l, at) in (whole..a.len()).enumerate() {
            lanes[l] = multiply_add::<S, T>(a[at], leaky_relu(x[at] + y[at], slope), lanes[l]);
        }
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
            let twice = [&y[..], &x[..]].concat();
            let squares: f64 = x.iter().map(|x| x * x).sum();
            assert_eq!(dots::<_, _, 2>(pulp::Scalar::new(), &twice, &x), [expected, squares], "length {n}");
            let leaky = leaky_dot(pulp::Scalar::new(), &x, &y, &x, 0.5);
            let expected: f64 = (0..n).map(|i| x[i] * leaky_relu(x[i] + y[i], 0.5)).sum();
            assert_eq!(leaky, expected, "length {n}");
        }
    }
}
