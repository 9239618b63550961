//! From the loss with and without an edge to the target that its attention is pulled towards.
//!
//! ```text
//! rho   = CE' / CE      c = sigmoid((rho^d - 1) / T)        q_i proportional to exp(clamp(d ln rho_i))
//! Delta = CE' - CE      c = sigmoid(d Delta / T)            q_i proportional to exp(clamp(d Delta_i))
//! z_i   = Delta_i / (root of the mean Delta^2 of its entity)         c and q as of d Delta, with z in its place
//! ```
//!
//! The first line is the paper's. The second has the log-likelihood that the edge gives: where a loss tends to 0, a
//! ratio of losses blows up, and a difference does not. The third compares an entity's edges with each other: attention
//! is a share among them, whether much depends on them or little.
//!
//! A regularised network fits its training nodes, where CE is tiny: everything is computed from ln CE, which has no
//! underflow.

use crate::settings::{EffectKind, RegulariserSettings};

/// Larger exponents change no effect, even in 64 bits. The bound keeps every number finite.
const LARGEST_EXPONENT: f64 = 80.0;

/// ln rho = ln CE' - ln CE; 0 where neither is a number, as in a network of one class.
pub fn log_ratio(log_without: f64, log_with: f64) -> f64 {
    let ratio = log_without - log_with;
    if ratio.is_nan() { 0.0 } else { ratio.clamp(-f64::MAX, f64::MAX) }
}

/// c, from ln rho and the exponent d.
pub fn effect(log_rho: f64, exponent: f64, temperature: f64) -> f64 {
    let power = (exponent * log_rho).clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT).exp();
    sigmoid((power - 1.0) / temperature)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl EffectKind {
    /// What deleting an edge changes, from ln CE without it and with it: ln rho or Delta.
    pub(crate) fn difference(self, log_without: f64, log_with: f64) -> f64 {
        match self {
            Self::Ratio => log_ratio(log_without, log_with),
            Self::Likelihood | Self::Relative => log_without.exp() - log_with.exp(),
        }
    }

    /// c, from a difference and the exponent d.
    pub(crate) fn target(self, difference: f64, exponent: f64, temperature: f64) -> f64 {
        match self {
            Self::Ratio => effect(difference, exponent, temperature),
            Self::Likelihood | Self::Relative => sigmoid(exponent * difference / temperature),
        }
    }

    /// Divides the differences of one entity's edges by their size, where they are compared with each other. Edges that
    /// have none yet are no numbers.
    pub(crate) fn compare(self, differences: &mut [f64]) {
        if self != Self::Relative {
            return;
        }
        let known = || differences.iter().filter(|x| !x.is_nan());
        let size = (known().map(|x| x * x).sum::<f64>() / known().count() as f64).sqrt();
        if size > 0.0 {
            differences.iter_mut().for_each(|x| *x /= size);
        }
    }
}

/// The exponent of an entity with `degree` in-edges.
pub(crate) fn exponent(config: &RegulariserSettings, degree: usize) -> f64 {
    if config.effect == EffectKind::Relative { 1.0 } else { config.exponent.value(degree) }
}

/// Turns d ln rho of an entity's in-edges into the distribution q, in place.
pub(crate) fn distribution(exponents: &mut [f64], clamp: f64) {
    exponents.iter_mut().for_each(|x| *x = x.clamp(-clamp, clamp).exp());
    let total: f64 = exponents.iter().sum();
    exponents.iter_mut().for_each(|q| *q /= total);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_what_the_definition_says_and_never_leave_their_range() {
        let direct = |rho: f64, d: i32, t: f64| 1.0 / (1.0 + (-(rho.powi(d) - 1.0) / t).exp());
        for (rho, d) in [(1.0f64, 3), (1.02, 7), (0.9, 4), (0.1, 2)] {
            assert!((effect(rho.ln(), f64::from(d), 0.1) - direct(rho, d, 0.1)).abs() < 1e-12);
        }
        assert_eq!(effect(0.0, 5.0, 0.1), 0.5);
        for log_rho in [f64::MIN, -1e3, 1e3, f64::MAX] {
            for temperature in [1e-9, 0.1, 1e9] {
                let c = effect(log_rho, 1e4, temperature);
                assert!((0.0..=1.0).contains(&c), "{log_rho} {temperature}: {c}");
            }
        }
    }

    #[test]
    fn differences_of_likelihoods_stay_small_where_losses_vanish() {
        let kind = EffectKind::Likelihood;
        assert!((kind.difference(0.5f64.ln(), 0.2f64.ln()) - 0.3).abs() < 1e-12);
        assert_eq!(kind.difference(f64::NEG_INFINITY, f64::NEG_INFINITY), 0.0);
        // A hundred times the loss, and yet nothing has happened; the ratio calls the edge needed.
        let difference = kind.difference(1e-6f64.ln(), 1e-8f64.ln());
        assert!((kind.target(difference, 3.0, 0.1) - 0.5).abs() < 1e-4);
        assert_eq!(EffectKind::Ratio.target(100f64.ln(), 3.0, 0.1), 1.0);
        assert!((kind.target(0.1, 2.0, 0.1) - 1.0 / (1.0 + (-2f64).exp())).abs() < 1e-12);
    }

    #[test]
    fn relative_effects_know_the_size_of_an_entitys_effects_alone() {
        let mut some = [3e-9, -4e-9, f64::NAN, 0.0, 0.0];
        EffectKind::Relative.compare(&mut some);
        // The root of (9 + 16) / 4.
        for (value, expected) in [(some[0], 3.0 / 2.5), (some[1], -4.0 / 2.5), (some[3], 0.0)] {
            assert!((value - expected).abs() < 1e-9);
        }
        assert!(some[2].is_nan());
        let mut none = [0.0, 0.0];
        EffectKind::Relative.compare(&mut none);
        assert_eq!(none, [0.0, 0.0]);
        let mut ratios = [0.5, 1.0];
        EffectKind::Ratio.compare(&mut ratios);
        assert_eq!(ratios, [0.5, 1.0]);
    }

    #[test]
    fn ratios_of_nothing_are_one() {
        assert_eq!(log_ratio(f64::NEG_INFINITY, f64::NEG_INFINITY), 0.0);
        assert!(log_ratio(1.0, f64::NEG_INFINITY).is_finite());
    }

    #[test]
    fn distributions_sum_to_one() {
        let mut q = [5.0, -0.5, 0.5, -9.0];
        distribution(&mut q, 2.0);
        assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((q[0] / q[3] - 4f64.exp()).abs() < 1e-9);
    }
}
