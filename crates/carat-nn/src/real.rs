//! The two types of number that the kernels compute with: f32 to train, f64 to check gradients.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use pulp::Simd;

use crate::instances::Instances;
use crate::kernels::simd::Vectors;
use crate::kernels::softmax::exp_all_f32;

/// f32 or f64.
pub trait Real:
    Copy
    + Default
    + Debug
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + Vectors
    + Instances
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Below this `exp` gives 0 and above its negative infinity.
    const MIN_EXPONENT: Self;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The nearest f64; exact.
    fn to_f64(self) -> f64;
    /// A feature value; exact.
    fn from_f32(value: f32) -> Self;
    /// e^self.
    fn exp(self) -> Self;
    /// e^x of many numbers, inside a kernel: for f32 a polynomial on vectors, for f64 the same as `exp`.
    fn exp_all<S: Simd>(simd: S, values: &mut [Self]);
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + self), precise near 0.
    fn ln_1p(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// self * factor + term with one rounding.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// The larger of two.
    fn max(self, other: Self) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
}

macro_rules! real {
    ($type:ty, $min_exponent:expr, $exp_all:expr, $erf:path) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const MIN_EXPONENT: Self = $min_exponent;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                <$type>::from(value)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                self.exp()
            }
            #[inline(always)]
            fn exp_all<S: Simd>(simd: S, values: &mut [Self]) {
                $exp_all(simd, values);
            }
            #[inline(always)]
            fn ln(self) -> Self {
                self.ln()
            }
            #[inline(always)]
            fn ln_1p(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn erf(self) -> Self {
                $erf(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}

real!(f32, -87.0, exp_all_f32, libm::erff);
real!(f64, -700.0, exp_all_f64, libm::erf);

#[inline(always)]
fn exp_all_f64<S: Simd>(_: S, values: &mut [f64]) {
    for value in values {
        *value = value.exp();
    }
}
