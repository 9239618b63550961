//! The upper tail of Student's t distribution, precise to about twelve digits anywhere in the tail.
//!
//! ```text
//! P(T >= t) = I_x(v / 2, 1 / 2) / 2    for t >= 0, with x = v / (v + t^2) and v degrees of freedom
//! I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) / (1 + d_1 / (1 + d_2 / (1 + ...)))    (DLMF 8.17.22)
//! I_x(a, b) = 1 - I_{1-x}(b, a)
//! ```
//!
//! `x` and `1 - x` are both computed from t, because subtraction would lose the digits of the smaller.

use std::f64::consts::PI;

/// The most steps of the continued fraction. It needs about the square root of the larger parameter.
const MOST_STEPS: u32 = 20_000;

/// The probability of `t` or more. `freedom` is the number of degrees of freedom, above 0.
pub(super) fn upper_tail(t: f64, freedom: f64) -> f64 {
    let beyond = 0.5 * beyond_either_side(t.abs(), freedom);
    if t < 0.0 { 1.0 - beyond } else { beyond }
}

/// `I_x(freedom / 2, 1 / 2)`: the probability of `t` or more on either side.
fn beyond_either_side(t: f64, freedom: f64) -> f64 {
    let ratio = t * t / freedom;
    if ratio == 0.0 || ratio == f64::INFINITY {
        return if t == 0.0 { 1.0 } else { 0.0 };
    }
    let (a, b) = (freedom / 2.0, 0.5);
    let (x, rest) = (1.0 / (1.0 + ratio), ratio / (1.0 + ratio));
    let powers = (-a * ratio.ln_1p() + b * rest.ln() - ln_beta_half(a)).exp();
    // The fraction converges fast below the mean of the distribution. Above it, the complement is computed.
    if x < (a + 1.0) / (a + b + 2.0) { powers / a * fraction(a, b, x) } else { 1.0 - powers / b * fraction(b, a, rest) }
}

/// `ln B(a, 1/2)`. For a large `a` by its asymptotic series: the two gamma functions would cancel.
fn ln_beta_half(a: f64) -> f64 {
    if a < 30.0 {
        return libm::lgamma(a) + 0.5 * PI.ln() - libm::lgamma(a + 0.5);
    }
    let (once, twice) = (1.0 / a, 1.0 / (a * a));
    let series = once * (1.0 / 8.0 - twice * (1.0 / 192.0 - twice * (1.0 / 640.0 - twice * (17.0 / 14336.0))));
    0.5 * (PI / a).ln() + series
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = below;
    for step in 1..=MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for term in [even, odd] {
            below = 1.0 / away_from_zero(1.0 + term * below);
            above = away_from_zero(1.0 + term / above);
            value *= above * below;
        }
        if (value - before).abs() <= f64::EPSILON * value.abs() {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(t: f64, freedom: f64, expected: f64) {
        let found = upper_tail(t, freedom);
        assert!((found - expected).abs() <= 2e-12 * expected, "t {t}, {freedom}: {found} instead of {expected}");
    }

    #[test]
    fn one_degree_is_the_cauchy_distribution() {
        for t in [-30.0, -1.0, -1e-7, 0.0, 1e-9, 0.2, 1.0, 12.0, 1e5, 1e30] {
            assert_close(t, 1.0, f64::atan2(1.0, t) / PI);
        }
    }

    #[test]
    fn two_degrees_have_a_closed_form() {
        for t in [1e-6f64, 0.3, 1.0, 4.0, 1e3] {
            let root = (2.0 + t * t).sqrt();
            assert_close(t, 2.0, 1.0 / (root * (root + t)));
            assert_close(-t, 2.0, 0.5 * (1.0 + t / root));
        }
    }

    #[test]
    fn many_degrees_are_the_normal_distribution() {
        for t in [-2.0, 0.0, 0.7, 3.0, 8.0] {
            let expected = 0.5 * libm::erfc(t / std::f64::consts::SQRT_2);
            let found = upper_tail(t, 1e9);
            assert!((found - expected).abs() <= 1e-5 * expected, "{t}: {found} instead of {expected}");
        }
    }

    // mpmath with 60 digits: betainc(v / 2, 1 / 2, 0, v / (v + t^2), regularized=True) / 2.
    #[test]
    fn tails_and_middle_agree_with_mpmath() {
        let reference = [
            (1.3, 1e-05, 0.49999666597720577),
            (1.3, 10000.0, 2.188064222827162e-06),
            (3.7, 0.3, 0.39013374356573116),
            (3.7, 200.0, 6.684931380286889e-09),
            (8.0, -3.0, 0.9914641593831087),
            (19.2, 30.0, 6.7407850365967134e-18),
            (48.0, 1.7, 0.04780150505340993),
            (99.5, 60.0, 3.042929408627992e-80),
            (333.3, 0.01, 0.49601363507472923),
            (333.3, 20.0, 2.5177757025921467e-59),
            (998.0, 30.0, 9.101539505772038e-142),
            (1777.7, -8.0, 0.9999999999999989),
            (1777.7, 1e-12, 0.4999999999996011),
            (3998.0, 1.0, 0.15868551351039062),
            (3998.0, 30.0, 8.008711519421641e-179),
        ];
        for (freedom, t, expected) in reference {
            assert_close(t, freedom, expected);
        }
    }

    #[test]
    fn infinite_t_has_probability_0_or_1() {
        assert_eq!(upper_tail(f64::INFINITY, 3.0), 0.0);
        assert_eq!(upper_tail(f64::NEG_INFINITY, 3.0), 1.0);
    }
}
