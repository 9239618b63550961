//! Rows that hold all heads side by side, K x D values, and what attention does with the D columns of each head.
//!
//! D is often smaller than a vector of the machine. So these are plain loops over the columns of a head, compiled for
//! the usual D: the compiler then makes a few instructions of each head, without a loop.

use pulp::Simd;

use super::vector::{leaky_relu, multiply_add};
use crate::real::Real;

/// Runs `$work` with the constant `$width`: the number of columns if loops are compiled for it, 0 for any other.
macro_rules! by_width {
    ($columns:expr, |$width:ident| $work:expr) => {
        match $columns {
            4 => {
                const $width: usize = 4;
                $work
            }
            8 => {
                const $width: usize = 8;
                $work
            }
            16 => {
                const $width: usize = 16;
                $work
            }
            32 => {
                const $width: usize = 32;
                $work
            }
            _ => {
                const $width: usize = 0;
                $work
            }
        }
    };
}

/// The number of columns, which is the constant where there is one.
#[inline(always)]
fn width<const D: usize>(columns: usize) -> usize {
    if D == 0 { columns } else { D }
}

/// sum_k += weight_k row_k
#[inline(always)]
pub(crate) fn add_scaled<S: Simd, T: Real>(_: S, sum: &mut [T], weights: &[T], row: &[T], columns: usize) {
    by_width!(columns, |D| add_scaled_of::<S, T, D>(sum, weights, row, columns));
}

#[inline(always)]
fn add_scaled_of<S: Simd, T: Real, const D: usize>(sum: &mut [T], weights: &[T], row: &[T], columns: usize) {
    let width = width::<D>(columns);
    for (k, &weight) in weights.iter().enumerate() {
        let (sum, row) = (&mut sum[k * width..(k + 1) * width], &row[k * width..(k + 1) * width]);
        for c in 0..width {
            sum[c] = multiply_add::<S, T>(weight, row[c], sum[c]);
        }
    }
}

/// out_k = x_k . y_k
#[inline(always)]
pub(crate) fn dots<S: Simd, T: Real>(simd: S, x: &[T], y: &[T], columns: usize, out: &mut [T]) {
    out.fill(T::ZERO);
    add_dots(simd, x, y, columns, out);
}

/// out_k += x_k . y_k
#[inline(always)]
pub(crate) fn add_dots<S: Simd, T: Real>(_: S, x: &[T], y: &[T], columns: usize, out: &mut [T]) {
    by_width!(columns, |D| dots_of::<S, T, D>(x, y, columns, out));
}

#[inline(always)]
fn dots_of<S: Simd, T: Real, const D: usize>(x: &[T], y: &[T], columns: usize, out: &mut [T]) {
    let width = width::<D>(columns);
    for (k, out) in out.iter_mut().enumerate() {
        let (x, y) = (&x[k * width..(k + 1) * width], &y[k * width..(k + 1) * width]);
        let (x, y) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        let mut sums = [T::ZERO; LANES];
        for (x, y) in x.0.iter().zip(y.0) {
            for c in 0..LANES {
                sums[c] = multiply_add::<S, T>(x[c], y[c], sums[c]);
            }
        }
        for ((sum, &x), &y) in sums.iter_mut().zip(x.1).zip(y.1) {
            *sum = multiply_add::<S, T>(x, y, *sum);
        }
        *out += total(sums);
    }
}

/// out_k = a_k . LeakyReLU(x_k + y_k)
#[inline(always)]
pub(crate) fn leaky_dots<S: Simd, T: Real>(_: S, a: &[T], z: [&[T]; 2], slope: T, columns: usize, out: &mut [T]) {
    by_width!(columns, |D| leaky_dots_of::<S, T, D>(a, z, slope, columns, out));
}

#[inline(always)]
fn leaky_dots_of<S: Simd, T: Real, const D: usize>(a: &[T], z: [&[T]; 2], slope: T, columns: usize, out: &mut [T]) {
    let width = width::<D>(columns);
    for (k, out) in out.iter_mut().enumerate() {
        let head = k * width..(k + 1) * width;
        let a = a[head.clone()].as_chunks::<LANES>();
        let [x, y] = z.map(|z| z[head.clone()].as_chunks::<LANES>());
        let mut sums = [T::ZERO; LANES];
        for ((a, x), y) in a.0.iter().zip(x.0).zip(y.0) {
            for c in 0..LANES {
                sums[c] = multiply_add::<S, T>(a[c], leaky_relu(x[c] + y[c], slope), sums[c]);
            }
        }
        for (((sum, &a), &x), &y) in sums.iter_mut().zip(a.1).zip(x.1).zip(y.1) {
            *sum = multiply_add::<S, T>(a, leaky_relu(x + y, slope), *sum);
        }
        *out = total(sums);
    }
}

/// Columns that a head's sum goes over side by side.
const LANES: usize = 8;

#[inline(always)]
fn total<T: Real>([a, b, c, d, e, f, g, h]: [T; LANES]) -> T {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The gradient of x_k in [`leaky_dots`], given that of its results: d_x_k += d_k a_k LeakyReLU'(x_k + y_k)
#[inline(always)]
pub(crate) fn leaky_dots_terms<S: Simd, T: Real>(
    _: S,
    a: &[T],
    z: [&[T]; 2],
    slope: T,
    d: &[T],
    columns: usize,
    d_x: &mut [T],
) {
    by_width!(columns, |D| leaky_dots_terms_of::<S, T, D>(a, z, slope, d, columns, d_x));
}

#[inline(always)]
fn leaky_dots_terms_of<S: Simd, T: Real, const D: usize>(
    a: &[T],
    [x, y]: [&[T]; 2],
    slope: T,
    d: &[T],
    columns: usize,
    d_x: &mut [T],
) {
    let width = width::<D>(columns);
    for (k, &d) in d.iter().enumerate() {
        let head = k * width..(k + 1) * width;
        let (a, x, y, d_x) = (&a[head.clone()], &x[head.clone()], &y[head.clone()], &mut d_x[head]);
        let flat = d * slope;
        for c in 0..width {
            let weight = if x[c] + y[c] > T::ZERO { d } else { flat };
            d_x[c] = multiply_add::<S, T>(a[c], weight, d_x[c]);
        }
    }
}

/// The gradient of a_k in [`leaky_dots`], given that of its results: d_a_k += d_k LeakyReLU(x_k + y_k)
#[inline(always)]
pub(crate) fn leaky_dots_factors<S: Simd, T: Real>(
    _: S,
    z: [&[T]; 2],
    slope: T,
    d: &[T],
    columns: usize,
    d_a: &mut [T],
) {
    by_width!(columns, |D| leaky_dots_factors_of::<S, T, D>(z, slope, d, columns, d_a));
}

#[inline(always)]
fn leaky_dots_factors_of<S: Simd, T: Real, const D: usize>(
    [x, y]: [&[T]; 2],
    slope: T,
    d: &[T],
    columns: usize,
    d_a: &mut [T],
) {
    let width = width::<D>(columns);
    for (k, &d) in d.iter().enumerate() {
        let head = k * width..(k + 1) * width;
        let (x, y, d_a) = (&x[head.clone()], &y[head.clone()], &mut d_a[head]);
        for c in 0..width {
            d_a[c] = multiply_add::<S, T>(d, leaky_relu(x[c] + y[c], slope), d_a[c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::vector::leaky_relu_gradient;

    struct Everywhere;

    impl pulp::WithSimd for Everywhere {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            for columns in 1..40 {
                check(simd, columns);
            }
        }
    }

    /// Whole numbers and halves, so that every sum is exact.
    fn check(simd: impl Simd, columns: usize) {
        let heads = 3;
        let row = |seed: usize| (0..heads * columns).map(move |at| ((at * seed + seed) % 11) as f64 - 5.0);
        let [a, x, y] = [5, 7, 3].map(|seed| row(seed).collect::<Vec<f64>>());
        let weights = [0.5, -2.0, 3.0];
        let (head, slope) = (|at: usize| weights[at / columns], 0.5);
        let z = |at: usize| x[at] + y[at];
        let by_head =
            |term: &dyn Fn(usize) -> f64| [0, 1, 2].map(|k| (k * columns..(k + 1) * columns).map(term).sum::<f64>());
        let added = |term: &dyn Fn(usize) -> f64| (0..heads * columns).map(|at| a[at] + term(at)).collect::<Vec<_>>();
        let mut found = [0.0; 3];
        dots(simd, &x, &y, columns, &mut found);
        assert_eq!(found, by_head(&|at| x[at] * y[at]), "{columns} columns");
        leaky_dots(simd, &a, [&x, &y], slope, columns, &mut found);
        assert_eq!(found, by_head(&|at| a[at] * leaky_relu(z(at), slope)), "{columns} columns");
        let mut sum = a.clone();
        add_scaled(simd, &mut sum, &weights, &x, columns);
        assert_eq!(sum, added(&|at| head(at) * x[at]), "{columns} columns");
        sum.clone_from(&a);
        leaky_dots_terms(simd, &a, [&x, &y], slope, &weights, columns, &mut sum);
        assert_eq!(sum, added(&|at| head(at) * a[at] * leaky_relu_gradient(z(at), slope)), "{columns} columns");
        sum.clone_from(&a);
        leaky_dots_factors(simd, [&x, &y], slope, &weights, columns, &mut sum);
        assert_eq!(sum, added(&|at| head(at) * leaky_relu(z(at), slope)), "{columns} columns");
    }

    #[test]
    fn every_operation_equals_its_definition_for_every_width() {
        pulp::Arch::new().dispatch(Everywhere);
        pulp::Arch::Scalar.dispatch(Everywhere);
    }
}
