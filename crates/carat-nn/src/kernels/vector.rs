//! Vector operations that all kernels use. They are inlined into kernels compiled for the machine's vector width.

use pulp::Simd;

use super::simd::unvisited;
use crate::real::Real;

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

/// The sum of x, in an order that depends on its length only.
#[inline(always)]
pub(crate) fn sum<S: Simd, T: Real>(_: S, x: &[T]) -> T {
    let (whole, rest) = x.as_chunks::<16>();
    let mut lanes = [T::ZERO; 16];
    for x in whole {
        for (lane, x) in lanes.iter_mut().zip(x) {
            *lane += *x;
        }
    }
    let mut total = T::ZERO;
    for x in lanes.iter().chain(rest) {
        total += *x;
    }
    total
}

/// x_h . y for H rows x_h, one after another.
#[inline(always)]
pub(crate) fn dots<S: Simd, T: Real, const H: usize>(simd: S, x: &[T], y: &[T]) -> [T; H] {
    let width = x.len() / H;
    let mut rows = [x; H];
    for h in 0..H {
        rows[h] = &x[h * width..(h + 1) * width];
    }
    products(simd, rows, &y[..width])
}

/// x_h . y for H rows x_h as long as y.
#[inline(always)]
pub(crate) fn products<S: Simd, T: Real, const H: usize>(simd: S, x: [&[T]; H], y: &[T]) -> [T; H] {
    let (width, lanes) = (y.len(), T::lanes::<S>());
    let mut results = [T::ZERO; H];
    if width < lanes {
        for (result, x) in results.iter_mut().zip(x) {
            for (&x, &y) in x.iter().zip(y) {
                *result = multiply_add::<S, T>(x, y, *result);
            }
        }
        return results;
    }
    let mut sums = [T::splat(simd, T::ZERO); H];
    let whole = T::vectors(simd, y);
    // Sliced once, so that the loop below needs no bounds checks.
    let mut rows = [whole; H];
    for h in 0..H {
        rows[h] = &T::vectors(simd, &x[h][..width])[..whole.len()];
    }
    for n in 0..whole.len() {
        for h in 0..H {
            sums[h] = T::multiply_add(simd, rows[h][n], whole[n], sums[h]);
        }
    }
    if whole.len() * lanes < width {
        // The last vector overlaps numbers that are already counted. Here these count as 0.
        let last = width - lanes;
        let y = T::multiply(simd, T::load(simd, &y[last..]), unvisited::<S, T>(simd, width));
        for h in 0..H {
            sums[h] = T::multiply_add(simd, T::load(simd, &x[h][last..]), y, sums[h]);
        }
    }
    for h in 0..H {
        results[h] = T::total(simd, sums[h]);
    }
    results
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

/// a . LeakyReLU(x + y), for a slope below 1.
#[inline(always)]
pub(crate) fn leaky_dot<S: Simd, T: Real>(simd: S, a: &[T], x: &[T], y: &[T], slope: T) -> T {
    let (width, lanes) = (a.len(), T::lanes::<S>());
    let (x, y) = (&x[..width], &y[..width]);
    if width < lanes {
        let mut sum = T::ZERO;
        for at in 0..width {
            sum = multiply_add::<S, T>(a[at], leaky_relu(x[at] + y[at], slope), sum);
        }
        return sum;
    }
    let slope = T::splat(simd, slope);
    let mut sum = T::splat(simd, T::ZERO);
    let mut at = 0;
    while at + lanes <= width {
        sum = T::multiply_add(simd, T::load(simd, &a[at..]), leaky_sum(simd, &x[at..], &y[at..], slope), sum);
        at += lanes;
    }
    if at < width {
        // As in `dots`.
        let last = width - lanes;
        let a = T::multiply(simd, T::load(simd, &a[last..]), unvisited::<S, T>(simd, width));
        sum = T::multiply_add(simd, a, leaky_sum(simd, &x[last..], &y[last..], slope), sum);
    }
    T::total(simd, sum)
}

/// LeakyReLU(x + y) of the first vector of each.
#[inline(always)]
fn leaky_sum<S: Simd, T: Real>(simd: S, x: &[T], y: &[T], slope: T::Vector<S>) -> T::Vector<S> {
    let z = T::plus(simd, T::load(simd, x), T::load(simd, y));
    T::larger(simd, z, T::multiply(simd, z, slope))
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
