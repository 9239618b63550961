//! Vectors of numbers in the width of the machine's registers, for f32 and f64 alike.
//!
//! Kernels whose sums must stay in registers are written with these. From plain loops the compiler keeps more than a
//! few sums in memory.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

/// The machine, as kernels on one type of number see it.
pub struct Machine<T>(PhantomData<T>);

impl<T: Vectors> Machine<T> {
    /// See [`Vectors::dispatch`].
    #[inline(always)]
    pub fn dispatch<K: WithSimd>(self, kernel: K) -> K::Output {
        T::dispatch(kernel)
    }
}

/// All vector widths.
#[inline(always)]
fn dispatch_f32<K: WithSimd>(kernel: K) -> K::Output {
    pulp::Arch::new().dispatch(kernel)
}

/// All but AVX-512: f64 checks gradients and need not be fast, and each width is one more kernel to compile.
#[inline(always)]
fn dispatch_f64<K: WithSimd>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    return match pulp::x86::V3::try_new() {
        Some(simd) => Simd::vectorize(simd, kernel),
        None => Simd::vectorize(pulp::Scalar::new(), kernel),
    };
    #[cfg(not(target_arch = "x86_64"))]
    pulp::Arch::new().dispatch(kernel)
}

/// A type of number that vectors hold.
pub trait Vectors: Sized + Copy + 'static {
    /// As many numbers as a register of `S` holds.
    type Vector<S: Simd>: Copy;

    /// Zeros and then ones, as many of each as the longest vector has.
    const ZEROS_AND_ONES: &'static [Self];

    /// How many numbers that is.
    fn lanes<S: Simd>() -> usize;

    /// Calls a kernel with the longest vectors of this machine that it is compiled for.
    fn dispatch<K: WithSimd>(kernel: K) -> K::Output;

    /// What `pulp::with_simd` calls kernels through.
    #[inline(always)]
    fn machine() -> Machine<Self> {
        Machine(PhantomData)
    }

    /// The same number in every place.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// The first numbers of a slice, which must be long enough.
    fn load<S: Simd>(simd: S, values: &[Self]) -> Self::Vector<S>;
    /// A slice as whole vectors, without the remainder.
    fn vectors<S: Simd>(simd: S, values: &[Self]) -> &[Self::Vector<S>];
    /// Overwrites the first numbers of a slice, which must be long enough.
    fn store<S: Simd>(simd: S, values: &mut [Self], vector: Self::Vector<S>);
    /// a + b
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a * b
    fn multiply<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a * b + c, fused where the machine has the instruction.
    fn multiply_add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>) -> Self::Vector<S>;
    /// The larger, place by place.
    fn larger<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Place by place, `then` where `z` is positive and `otherwise` elsewhere.
    fn where_positive<S: Simd>(
        simd: S,
        z: Self::Vector<S>,
        then: Self::Vector<S>,
        otherwise: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The sum of all places.
    fn total<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;
}

/// The longest vector, in numbers.
const LONGEST: usize = 16;

macro_rules! vectors {
    ($type:ty, $vector:ident, $lanes:ident, $as_simd:ident, $as_mut_simd:ident, $splat:ident, $add:ident,
     $multiply:ident, $multiply_add:ident, $larger:ident, $select:ident, $greater:ident, $sum:ident,
     $dispatch:ident) => {
        impl Vectors for $type {
            type Vector<S: Simd> = S::$vector;

            const ZEROS_AND_ONES: &'static [Self] = &{
                let mut values = [0.0; 2 * LONGEST];
                let mut at = LONGEST;
                while at < 2 * LONGEST {
                    values[at] = 1.0;
                    at += 1;
                }
                values
            };

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            fn dispatch<K: WithSimd>(kernel: K) -> K::Output {
                $dispatch(kernel)
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }
            #[inline(always)]
            fn load<S: Simd>(_: S, values: &[Self]) -> S::$vector {
                S::$as_simd(values).0[0]
            }
            #[inline(always)]
            fn vectors<S: Simd>(_: S, values: &[Self]) -> &[S::$vector] {
                S::$as_simd(values).0
            }
            #[inline(always)]
            fn store<S: Simd>(_: S, values: &mut [Self], vector: S::$vector) {
                S::$as_mut_simd(values).0[0] = vector;
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn multiply<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$multiply(a, b)
            }
            #[inline(always)]
            fn multiply_add<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                if S::IS_SCALAR { simd.$add(simd.$multiply(a, b), c) } else { simd.$multiply_add(a, b, c) }
            }
            #[inline(always)]
            fn larger<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$larger(a, b)
            }
            #[inline(always)]
            fn where_positive<S: Simd>(simd: S, z: S::$vector, then: S::$vector, otherwise: S::$vector) -> S::$vector {
                simd.$select(simd.$greater(z, simd.$splat(0.0)), then, otherwise)
            }
            #[inline(always)]
            fn total<S: Simd>(simd: S, vector: S::$vector) -> Self {
                simd.$sum(vector)
            }
        }
    };
}

vectors!(
    f32,
    f32s,
    F32_LANES,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    mul_f32s,
    mul_add_e_f32s,
    max_f32s,
    select_f32s,
    greater_than_f32s,
    reduce_sum_f32s,
    dispatch_f32
);
vectors!(
    f64,
    f64s,
    F64_LANES,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    mul_f64s,
    mul_add_e_f64s,
    max_f64s,
    select_f64s,
    greater_than_f64s,
    reduce_sum_f64s,
    dispatch_f64
);

/// The mask of the last vector of a row of `width` numbers that is not a whole number of vectors: 1 in the places that
/// a loop over whole vectors has not visited, 0 in the others.
#[inline(always)]
pub(crate) fn unvisited<S: Simd, T: Vectors>(simd: S, width: usize) -> T::Vector<S> {
    let lanes = T::lanes::<S>();
    let visited = lanes - width % lanes;
    T::load(simd, &T::ZEROS_AND_ONES[LONGEST - visited..])
}
