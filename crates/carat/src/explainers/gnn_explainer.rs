//! GNNExplainer (Ying, Bourgeois, You, Zitnik and Leskovec, 2019): gates that are learned to be few, while the
//! prediction stays.
//!
//! ```text
//! score_ij = g_ij = sigmoid(theta_ij),    theta = argmin -log p(y) + size sum g + entropy mean H(g)
//! H(g)     = -g ln g - (1 - g) ln (1 - g)
//! ```
//!
//! As in PyG: Adam from a normal draw; the first step minimises -log p alone, and edges whose gradient it finds to be 0
//! take no further part and have score 0. The draw's standard deviation is sqrt(2 / nodes), over the nodes of the
//! receptive field as in the authors' code, where PyG takes those of the whole graph.

use std::f64::consts::TAU;

use carat_nn::{Adam, AdamConfig, GatedPass, Real, Workspace};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::case::Case;
use super::random::rng;
use crate::Error;

/// How the mask is learned; the defaults are PyG's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GnnExplainer {
    /// Steps, 100.
    pub epochs: usize,
    /// Adam's learning rate, 0.01.
    pub learning_rate: f64,
    /// What the sum of the gates costs, 0.005.
    pub size: f64,
    /// What their mean entropy costs, 1.
    pub entropy: f64,
}

impl Default for GnnExplainer {
    fn default() -> Self {
        Self { epochs: 100, learning_rate: 0.01, size: 0.005, entropy: 1.0 }
    }
}

/// Keeps logarithms finite, as PyG's does.
const EPSILON: f64 = 1e-15;

impl GnnExplainer {
    pub(super) fn scores(&self, case: &Case<'_>, seed: u64, work: &mut Workspace<f32>) -> Result<Vec<f64>, Error> {
        let shut = case.shut();
        let deviation = (2.0 / case.blocks.nodes().len() as f64).sqrt();
        let mut rng = rng(seed, case.entity);
        let initial: Vec<f32> = shut.iter().map(|_| (deviation * normal(&mut rng)) as f32).collect();
        let (mut pass, class) = case.gated(work)?;
        Ok(case.own(&self.learn(&mut pass, &shut, class, initial)))
    }

    /// The mask of all edges of the pass's blocks for the class of its first entity. Edges whose gate is 1 in `shut`
    /// are always open. `theta` is where the search begins.
    pub fn learn<T: Real>(&self, pass: &mut GatedPass<'_, T>, shut: &[T], class: u32, mut theta: Vec<T>) -> Vec<f64> {
        let config = AdamConfig { learning_rate: self.learning_rate, ..AdamConfig::default() };
        let mut adam = Adam::new(config, theta.len());
        let mut takes_part: Vec<bool> = shut.iter().map(|&gate| gate == T::ZERO).collect();
        let (mut gates, mut gradient) = (Vec::new(), Vec::new());
        for epoch in 0..self.epochs {
            gates.clear();
            let gate = |(&theta, &shut): (&T, &T)| if shut == T::ZERO { sigmoid(theta.to_f64()) } else { 1.0 };
            gates.extend(theta.iter().zip(shut).map(|pair| T::from_f64(gate(pair))));
            pass.loss_and_gradient(&gates, &[class], &mut gradient);
            if epoch == 0 {
                takes_part.iter_mut().zip(&gradient).for_each(|(takes_part, &d)| *takes_part &= d != T::ZERO);
            }
            let count = takes_part.iter().filter(|takes_part| **takes_part).count() as f64;
            for ((d, &theta), &takes_part) in gradient.iter_mut().zip(&theta).zip(&takes_part) {
                let g = sigmoid(theta.to_f64());
                let costs = if epoch == 0 { 0.0 } else { self.size + self.entropy * d_entropy(g) / count };
                *d = T::from_f64(if takes_part { (d.to_f64() + costs) * g * (1.0 - g) } else { 0.0 });
            }
            adam.step(&mut theta, &gradient);
        }
        let score = |(&theta, &takes_part): (&T, &bool)| if takes_part { sigmoid(theta.to_f64()) } else { 0.0 };
        theta.iter().zip(&takes_part).map(score).collect()
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The derivative of H, with the logarithms as PyG has them.
fn d_entropy(g: f64) -> f64 {
    let term = |x: f64| (x + EPSILON).ln() + x / (x + EPSILON);
    term(1.0 - g) - term(g)
}

/// A draw from the standard normal distribution, by the method of Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - rng.random::<f64>(), TAU * rng.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}
