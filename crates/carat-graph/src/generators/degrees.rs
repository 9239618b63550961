//! Laws from which in-degrees are drawn, all with the mean that was asked for.
//!
//! ```text
//! constant   d = floor(mean) or ceil(mean), at random where the mean is not whole
//! poisson    P(d) = mean^d exp(-mean) / d!
//! power:g    d = round(min(X, cap)) up or down at random,  P(X > x) = (x_min / x)^(g - 1),  cap = nodes - 1
//! ```
//!
//! For the power law x_min is solved for, so that E[min(X, cap)] is the mean in spite of the cap.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The law of the in-degrees. Written as `constant`, `poisson` or `power:EXPONENT` in flags and files.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DegreeLaw {
    /// The same for every node, up to rounding.
    Constant,
    /// As in a graph whose edges fall at random.
    Poisson,
    /// A few hubs: P(degree > x) falls as x^(1 - exponent). Real networks have exponents from 2 to 3.
    Power {
        /// Above 2, so that the mean exists, and at most 100.
        exponent: f64,
    },
}

impl fmt::Display for DegreeLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Poisson => f.write_str("poisson"),
            Self::Power { exponent } => write!(f, "power:{exponent}"),
        }
    }
}

impl FromStr for DegreeLaw {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let law = match text {
            "constant" => Some(Self::Constant),
            "poisson" => Some(Self::Poisson),
            "power" => Some(Self::Power { exponent: 2.5 }),
            _ => text
                .strip_prefix("power:")
                .and_then(|exponent| exponent.parse().ok())
                .map(|exponent| Self::Power { exponent }),
        };
        law.filter(|law| law.is_valid()).ok_or_else(|| {
            format!("'{text}' is not a degree law: constant, poisson, or power:EXPONENT with 2 < EXPONENT <= 100")
        })
    }
}

impl TryFrom<String> for DegreeLaw {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DegreeLaw> for String {
    fn from(law: DegreeLaw) -> Self {
        law.to_string()
    }
}

impl DegreeLaw {
    /// False for an exponent without a mean.
    pub(super) fn is_valid(self) -> bool {
        match self {
            Self::Power { exponent } => exponent > 2.0 && exponent <= 100.0,
            Self::Constant | Self::Poisson => true,
        }
    }
}

/// Draws degrees of one law, mean and cap.
#[derive(Debug, Clone)]
pub(super) struct DegreeSampler {
    shape: Shape,
    cap: usize,
}

#[derive(Debug, Clone)]
enum Shape {
    Rounded(f64),
    Table { lowest: usize, cumulative: Vec<f64> },
    Pareto { minimum: f64, inverse: f64 },
}

impl DegreeSampler {
    /// A sampler for a valid law and a mean between 0 and `cap`.
    pub(super) fn new(law: DegreeLaw, mean: f64, cap: usize) -> Self {
        let shape = match law {
            _ if mean <= 0.0 => Shape::Rounded(0.0),
            DegreeLaw::Constant => Shape::Rounded(mean),
            DegreeLaw::Poisson => poisson_table(mean),
            DegreeLaw::Power { exponent } => Shape::Pareto {
                minimum: pareto_minimum(mean, cap as f64, exponent - 1.0),
                inverse: -1.0 / (exponent - 1.0),
            },
        };
        Self { shape, cap }
    }

    /// One degree, at most the cap.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        let point: f64 = rng.random();
        let degree = match &self.shape {
            Shape::Rounded(mean) => (mean + point) as usize,
            Shape::Table { lowest, cumulative } => lowest + cumulative.partition_point(|&c| c <= point),
            Shape::Pareto { minimum, inverse } => {
                let value = minimum * (1.0 - point).powf(*inverse);
                (value.min(self.cap as f64) + rng.random::<f64>()) as usize
            }
        };
        degree.min(self.cap)
    }
}

/// Weights are carried outwards from the mode by their ratios, so that no factorial overflows.
fn poisson_table(mean: f64) -> Shape {
    const NEGLIGIBLE: f64 = 1e-18;
    let mode = mean as usize;
    let mut below = Vec::new();
    let (mut weight, mut degree) = (1.0, mode);
    while degree > 0 && weight > NEGLIGIBLE {
        weight *= degree as f64 / mean;
        degree -= 1;
        below.push(weight);
    }
    let lowest = degree;
    let mut weights: Vec<f64> = below.into_iter().rev().collect();
    (weight, degree) = (1.0, mode);
    while weight > NEGLIGIBLE {
        weights.push(weight);
        degree += 1;
        weight *= mean / degree as f64;
    }
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    for weight in &mut weights {
        sum += *weight / total;
        *weight = sum;
    }
    Shape::Table { lowest, cumulative: weights }
}

/// The x_min at which a Pareto variable of tail exponent `a`, cut at `cap`, has the given mean:
/// E[min(X, cap)] = x + (x - x (x / cap)^(a - 1)) / (a - 1), which rises with x, solved by bisection.
fn pareto_minimum(mean: f64, cap: f64, a: f64) -> f64 {
    let mean_from = |x: f64| x + (x - x * (x / cap).powf(a - 1.0)) / (a - 1.0);
    let (mut low, mut high) = (0.0, cap);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if mean_from(middle) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn moments(law: DegreeLaw, mean: f64, cap: usize) -> (f64, f64, usize) {
        let sampler = DegreeSampler::new(law, mean, cap);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let draws: Vec<usize> = (0..100_000).map(|_| sampler.draw(&mut rng)).collect();
        let average = draws.iter().sum::<usize>() as f64 / draws.len() as f64;
        let variance = draws.iter().map(|&d| (d as f64 - average).powi(2)).sum::<f64>() / draws.len() as f64;
        (average, variance, draws.into_iter().max().unwrap())
    }

    #[test]
    fn every_law_has_the_mean_that_was_asked_for() {
        for mean in [0.0, 0.3, 4.0, 10.5, 400.0] {
            for (law, tolerance) in [
                (DegreeLaw::Constant, 0.01),
                (DegreeLaw::Poisson, 0.02),
                (DegreeLaw::Power { exponent: 2.5 }, 0.05),
                (DegreeLaw::Power { exponent: 3.5 }, 0.03),
            ] {
                let (average, _, most) = moments(law, mean, 1000);
                assert!((average - mean).abs() <= tolerance * mean.max(0.5), "{law} with mean {mean}: {average}");
                assert!(most <= 1000);
            }
        }
    }

    #[test]
    fn the_laws_differ_in_spread() {
        let (_, variance, most) = moments(DegreeLaw::Poisson, 10.0, 10_000);
        assert!((variance - 10.0).abs() < 0.3 && most < 40);
        assert_eq!(moments(DegreeLaw::Constant, 10.0, 10_000).1, 0.0);
        assert!(moments(DegreeLaw::Power { exponent: 2.5 }, 10.0, 10_000).2 > 1000);
    }

    #[test]
    fn laws_are_written_and_read_alike() {
        for text in ["constant", "poisson", "power:2.7"] {
            assert_eq!(text.parse::<DegreeLaw>().unwrap().to_string(), text);
            let json = serde_json::to_string(&text.parse::<DegreeLaw>().unwrap()).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<DegreeLaw>(&json).unwrap().to_string(), text);
        }
        for bad in ["", "power:", "power:2", "power:NaN", "power:inf", "zipf"] {
            assert!(bad.parse::<DegreeLaw>().is_err(), "{bad}");
        }
    }
}
