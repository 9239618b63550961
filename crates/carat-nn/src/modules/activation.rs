//! Activations, computed in place with derivatives from their inputs.
//!
//! ```text
//! relu(x) = max(x, 0)                       leaky-relu(x) = x where x > 0, 0.01 x elsewhere
//! elu(x)  = x where x > 0, e^x - 1 elsewhere
//! gelu(x) = x Phi(x)                        Phi: the standard normal distribution function
//! ```

use pulp::Simd;

use super::leaky::{LEAKY_RELU, Leaky, RELU};
use crate::kernels::vector::{leaky_relu, leaky_relu_gradient};
use crate::real::Real;

words! {
    /// What a network applies to every value between its maps.
    pub enum Activation, "an activation" {
        /// Nothing between attention layers, and a LeakyReLU in the encoder and before the classifier.
        #[default]
        None = "none",
        /// max(x, 0).
        Relu = "relu",
        /// x where positive, e^x - 1 elsewhere.
        Elu = "elu",
        /// x times the standard normal distribution function of x.
        Gelu = "gelu",
        /// x where positive, 0.01 x elsewhere.
        LeakyRelu = "leaky-relu",
    }
}

impl Activation {
    /// The activation of the encoder and before the classifier.
    pub(crate) fn at_the_ends(self) -> Self {
        if self == Self::None { Self::LeakyRelu } else { self }
    }

    /// The activation as a LeakyReLU, which is computed together with a product.
    pub(crate) fn as_leaky(self) -> Option<Leaky> {
        match self {
            Self::Relu => Some(RELU),
            Self::LeakyRelu => Some(LEAKY_RELU),
            Self::None | Self::Elu | Self::Gelu => None,
        }
    }

    /// In place, on the current thread.
    pub(crate) fn forward_here<T: Real>(self, values: &mut [T]) {
        if self != Self::None {
            forward(self, values);
        }
    }

    /// From the gradient of the output to that of the input, in place, on the current thread.
    pub(crate) fn backward_here<T: Real>(self, input: &[T], gradient: &mut [T]) {
        if self != Self::None {
            backward(self, input, gradient);
        }
    }
}

/// Values whose exponentials are computed together.
const STRIP: usize = 64;

#[pulp::with_simd(forward = T::machine())]
#[inline(always)]
fn forward_simd<S: Simd, T: Real>(simd: S, activation: Activation, values: &mut [T]) {
    match activation {
        Activation::None => {}
        Activation::Relu | Activation::LeakyRelu => {
            let slope = slope(activation);
            values.iter_mut().for_each(|x| *x = leaky_relu(*x, slope));
        }
        Activation::Elu => {
            let mut powers = [T::ZERO; STRIP];
            for values in values.chunks_mut(STRIP) {
                let powers = &mut powers[..values.len()];
                negative_powers(simd, values, powers);
                for (x, power) in values.iter_mut().zip(powers) {
                    *x = if *x > T::ZERO { *x } else { *power - T::ONE };
                }
            }
        }
        Activation::Gelu => values.iter_mut().for_each(|x| *x = *x * normal_distribution(*x)),
    }
}

#[pulp::with_simd(backward = T::machine())]
#[inline(always)]
fn backward_simd<'a, S: Simd, T: Real>(simd: S, activation: Activation, input: &'a [T], gradient: &'a mut [T]) {
    match activation {
        Activation::None => {}
        Activation::Relu | Activation::LeakyRelu => {
            let slope = slope(activation);
            for (gradient, x) in gradient.iter_mut().zip(input) {
                *gradient *= leaky_relu_gradient(*x, slope);
            }
        }
        Activation::Elu => {
            let mut powers = [T::ZERO; STRIP];
            for (gradient, input) in gradient.chunks_mut(STRIP).zip(input.chunks(STRIP)) {
                let powers = &mut powers[..input.len()];
                negative_powers(simd, input, powers);
                for ((gradient, x), power) in gradient.iter_mut().zip(input).zip(powers) {
                    *gradient *= if *x > T::ZERO { T::ONE } else { *power };
                }
            }
        }
        Activation::Gelu => {
            // The density of the standard normal distribution at 0.
            let highest = T::from_f64(0.5 * std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
            for (gradient, &x) in gradient.iter_mut().zip(input) {
                let density = highest * (T::from_f64(-0.5) * x * x).exp();
                *gradient *= normal_distribution(x) + x * density;
            }
        }
    }
}

#[inline(always)]
fn slope<T: Real>(activation: Activation) -> T {
    activation.as_leaky().unwrap_or(RELU).slope()
}

/// e^min(x, 0)
#[inline(always)]
fn negative_powers<S: Simd, T: Real>(simd: S, values: &[T], powers: &mut [T]) {
    for (power, &x) in powers.iter_mut().zip(values) {
        *power = if x > T::ZERO { T::ZERO } else { x };
    }
    T::exp_all(simd, powers);
}

/// Phi(x) = (1 + erf(x / sqrt(2))) / 2
#[inline(always)]
fn normal_distribution<T: Real>(x: T) -> T {
    T::from_f64(0.5) * (T::ONE + (x * T::from_f64(std::f64::consts::FRAC_1_SQRT_2)).erf())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, noise, weighted};

    #[test]
    fn values_are_pytorchs() {
        let x: [f64; 5] = [-3.0, -0.5, 0.0, 0.7, 2.0];
        // torch.nn.functional in f64.
        let expected = [
            (Activation::None, x),
            (Activation::Relu, [0.0, 0.0, 0.0, 0.7, 2.0]),
            (Activation::LeakyRelu, [-0.03, -0.005, 0.0, 0.7, 2.0]),
            (Activation::Elu, [-0.950212931632136, -0.3934693402873666, 0.0, 0.7, 2.0]),
            (Activation::Gelu, [-0.0040496940948808, -0.1542687693629935, 0.0, 0.5306254434438844, 1.9544997361036416]),
        ];
        for (activation, expected) in expected {
            let (mut wide, mut narrow) = (x, x.map(|x| x as f32));
            activation.forward_here(&mut wide);
            activation.forward_here(&mut narrow);
            for ((wide, narrow), expected) in wide.iter().zip(narrow).zip(expected) {
                assert!((wide - expected).abs() < 1e-12, "{activation}: {wide} {expected}");
                assert!((f64::from(narrow) - expected).abs() < 2e-7, "{activation}: {narrow} {expected}");
            }
        }
    }

    #[test]
    fn gradients_are_the_derivatives() {
        let (x, weights) = (noise(150, 1), noise(150, 2));
        for activation in Activation::ALL {
            let mut d_x = weights.clone();
            activation.backward_here(&x, &mut d_x);
            assert_gradient(activation.name(), &x, &d_x, |x| {
                let mut out = x.to_vec();
                activation.forward_here(&mut out);
                weighted(&out, &weights)
            });
        }
    }
}
