//! Adam (Kingma and Ba) and AdamW (Loshchilov and Hutter), fused into one pass over the flat parameters; equal to
//! torch.optim.Adam and torch.optim.AdamW step for step.
//!
//! ```text
//! g = gradient + decay p                                              Adam
//! p = (1 - lr decay) p                                                AdamW
//! m = b1 m + (1 - b1) g        v = b2 v + (1 - b2) g^2
//! p -= lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
//! ```

use pulp::Simd;

use crate::real::Real;
use crate::rows::{Chunks, Rows};

/// Adam's constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamConfig {
    /// Learning rate, 0.01.
    pub learning_rate: f64,
    /// Decay of the mean gradient, 0.9.
    pub beta1: f64,
    /// Decay of the mean squared gradient, 0.999.
    pub beta2: f64,
    /// Keeps the division finite, 1e-8.
    pub epsilon: f64,
    /// How strongly parameters are pulled to 0; 0 for not at all.
    pub weight_decay: f64,
    /// True where the pull is a step of its own (AdamW), false where it is part of the gradient (Adam).
    pub is_decoupled: bool,
}

impl Default for AdamConfig {
    fn default() -> Self {
        let (weight_decay, is_decoupled) = (0.0, false);
        Self { learning_rate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay, is_decoupled }
    }
}

/// Adam's state: two moving averages per parameter and the number of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam<T> {
    config: AdamConfig,
    /// Mean gradients.
    pub first: Vec<T>,
    /// Mean squared gradients.
    pub second: Vec<T>,
    /// Steps taken.
    pub steps: u64,
}

/// Parameters per chunk, at least.
const CHUNK: usize = 1 << 14;

/// Parameters updated together. Every thread has read the parameters, so a store to them waits until the other cores'
/// copies are gone. In a run of stores those waits overlap; one by one between the stores to the averages they do not,
/// and a step takes four times as long.
const BLOCK: usize = 512;

/// Smaller numbers count as 0. Squares of such gradients are subnormal numbers, with which arithmetic is many times
/// slower, and they move no parameter by more than 1e-11.
const LEAST: f64 = 1e-18;

impl<T: Real> Adam<T> {
    /// A fresh state for `len` parameters.
    pub fn new(config: AdamConfig, len: usize) -> Self {
        Self { config, first: vec![T::ZERO; len], second: vec![T::ZERO; len], steps: 0 }
    }

    /// Replaces the learning rate, from the next step on.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.config.learning_rate = learning_rate;
    }

    /// One step along `gradient`.
    pub fn step(&mut self, parameters: &mut [T], gradient: &[T]) {
        T::step(self, parameters, gradient);
    }

    pub(crate) fn update(&mut self, parameters: &mut [T], gradient: &[T]) {
        self.steps += 1;
        let AdamConfig { learning_rate, beta1, beta2, epsilon, weight_decay, is_decoupled } = self.config;
        let (pull, shrink) = if is_decoupled { (0.0, learning_rate * weight_decay) } else { (weight_decay, 0.0) };
        let steps = self.steps as f64;
        let rates = Rates {
            beta1: T::from_f64(beta1),
            beta2: T::from_f64(beta2),
            rest1: T::from_f64(1.0 - beta1),
            rest2: T::from_f64(1.0 - beta2),
            step: T::from_f64(learning_rate / (1.0 - beta1.powf(steps))),
            inverse_root: T::from_f64(1.0 / (1.0 - beta2.powf(steps)).sqrt()),
            epsilon: T::from_f64(epsilon),
            least: T::from_f64(LEAST),
            pull: T::from_f64(pull),
            rest: T::from_f64(1.0 - shrink),
        };
        let rows = (Rows::new(parameters, 1), Rows::new(&mut self.first, 1), Rows::new(&mut self.second, 1));
        Chunks::pairs(gradient.len(), CHUNK).run(rows, |range, (parameters, first, second)| {
            update(parameters.into_slice(), first.into_slice(), second.into_slice(), &gradient[range], rates);
        });
    }
}

#[derive(Clone, Copy)]
struct Rates<T> {
    beta1: T,
    beta2: T,
    rest1: T,
    rest2: T,
    step: T,
    inverse_root: T,
    epsilon: T,
    least: T,
    /// Times a parameter, what its gradient gains. 0 changes no bit.
    pull: T,
    /// The share of a parameter that a step starts from. 1 changes no bit.
    rest: T,
}

impl<T: Real> Rates<T> {
    #[inline(always)]
    fn flush(&self, value: T) -> T {
        if value > self.least || value < -self.least { value } else { T::ZERO }
    }
}

#[pulp::with_simd(update = T::machine())]
#[inline(always)]
fn update_simd<'a, S: Simd, T: Real>(
    simd: S,
    parameters: &'a mut [T],
    first: &'a mut [T],
    second: &'a mut [T],
    gradient: &'a [T],
    rates: Rates<T>,
) {
    let _ = simd;
    let mut change = [T::ZERO; BLOCK];
    let blocks = parameters.chunks_mut(BLOCK).zip(first.chunks_mut(BLOCK)).zip(second.chunks_mut(BLOCK));
    for (((parameters, first), second), gradient) in blocks.zip(gradient.chunks(BLOCK)) {
        let values = first.iter_mut().zip(second).zip(gradient.iter().zip(&*parameters));
        for (((m, v), (&g, &p)), change) in values.zip(&mut change) {
            let g = rates.flush(g + rates.pull * p);
            let mean = rates.beta1 * *m + rates.rest1 * g;
            *v = rates.beta2 * *v + rates.rest2 * g * g;
            *change = rates.step * mean / (v.sqrt() * rates.inverse_root + rates.epsilon);
            *m = rates.flush(mean);
        }
        for (p, change) in parameters.iter_mut().zip(&change) {
            *p = rates.rest * *p - *change;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_steps_equal_the_definition() {
        let mut adam = Adam::<f64>::new(AdamConfig::default(), 1);
        let mut p = [1.0];
        let (mut m, mut v, mut expected) = (0.0, 0.0, 1.0f64);
        for (t, g) in [(1, 0.5), (2, -0.25), (3, 2.0f64)] {
            adam.step(&mut p, &[g]);
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (m_hat, v_hat) = (m / (1.0 - 0.9f64.powi(t)), v / (1.0 - 0.999f64.powi(t)));
            expected -= 0.01 * m_hat / (v_hat.sqrt() + 1e-8);
            assert!((p[0] - expected).abs() < 1e-12);
        }
    }
}
