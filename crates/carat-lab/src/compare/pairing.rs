//! Pairs of runs with the same setting: same data, split, sizes, seed and protocol, so same initial weights and
//! batches.

use std::collections::HashMap;

use super::Method;
use crate::sweep::{Run, Setting};

/// What a method is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Opponent<'m> {
    /// The run without a regulariser.
    Baseline,
    /// The run of another method at the same strength.
    Method(&'m Method),
}

/// A run and the one it is held against.
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    /// What they have in common.
    pub setting: Setting,
    /// The opponent: the baseline, or the other method's run.
    pub before: &'a Run,
    /// The method's run.
    pub after: &'a Run,
}

impl Pair<'_> {
    /// The regulariser's strength; `None` where layers differ in it.
    pub fn strength(&self) -> Option<f64> {
        let values = strengths(self.after);
        values.first().copied().filter(|first| values.iter().all(|value| value == first))
    }

    /// The setting in words, for tips: `gat, L 2, K 3, F 100, lambda 1`.
    pub fn configuration(&self) -> String {
        let Setting { arch, layers, heads, hidden, .. } = &self.setting;
        format!("{arch}, L {layers}, K {heads}, F {hidden}, lambda {}", self.after.config.lambda)
    }
}

/// Every pair of a method and its opponent, in the order of settings.
#[derive(Debug, Clone, Default)]
pub struct Pairing<'a> {
    /// The pairs.
    pub pairs: Vec<Pair<'a>>,
    /// Runs of the method whose opponent is missing: they say nothing.
    pub alone: usize,
}

impl<'a> Pairing<'a> {
    /// Pairs the method's runs among `runs` with their opponents.
    pub fn of(runs: &[&'a Run], method: &Method, against: Opponent<'_>) -> Self {
        let opponents: HashMap<(Setting, Vec<u64>), &'a Run> = runs
            .iter()
            .filter(|run| match against {
                Opponent::Baseline => run.is_baseline(),
                Opponent::Method(other) => Method::of(&run.config).as_ref() == Some(other),
            })
            .map(|run| ((run.setting(), key(run, against)), *run))
            .collect();
        let mut pairing = Self::default();
        for run in runs.iter().filter(|run| Method::of(&run.config).as_ref() == Some(method)) {
            let setting = run.setting();
            let place = (setting, key(run, against));
            match opponents.get(&place) {
                Some(before) => pairing.pairs.push(Pair { setting: place.0, before, after: run }),
                None => pairing.alone += 1,
            }
        }
        // Stores hand runs out in the order of hashes; sums must not depend on it.
        pairing.pairs.sort_by(|a, b| {
            a.setting
                .cmp(&b.setting)
                .then_with(|| strengths(a.after).partial_cmp(&strengths(b.after)).unwrap_or(std::cmp::Ordering::Equal))
        });
        pairing
    }

    /// The pairs on one dataset under one protocol.
    pub fn on(&self, data: &str, protocol: carat::Protocol) -> Vec<&Pair<'a>> {
        let wanted = |pair: &&Pair<'a>| pair.setting.data == data && pair.after.protocol() == protocol;
        self.pairs.iter().filter(wanted).collect()
    }
}

fn strengths(run: &Run) -> Vec<f64> {
    run.config.lambda.of_layers(run.config.layers)
}

/// What must agree beside the setting.
fn key(run: &Run, against: Opponent<'_>) -> Vec<u64> {
    match against {
        Opponent::Baseline => Vec::new(),
        Opponent::Method(_) => strengths(run).into_iter().map(f64::to_bits).collect(),
    }
}

#[cfg(test)]
mod tests {
    use carat::{Arm, Protocol};

    use super::super::made_up::{baseline, regularised};
    use super::*;

    #[test]
    fn runs_pair_by_setting_and_those_without_a_baseline_are_counted() {
        let runs = [
            baseline("a", 10, 2.0),
            regularised("a", 10, 1.0, 1.5),
            regularised("a", 10, 5.0, 1.0),
            regularised("a", 25, 1.0, 0.1),
            regularised("b", 10, 1.0, 0.1),
        ];
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        assert_eq!((pairing.pairs.len(), pairing.alone), (2, 2));
        assert!(pairing.pairs.iter().all(|pair| pair.before.is_baseline() && pair.setting.data == "a"));
        assert_eq!(pairing.pairs.iter().map(Pair::strength).collect::<Vec<_>>(), [Some(1.0), Some(5.0)]);
        assert_eq!(pairing.pairs[0].configuration(), "gat, L 2, K 3, F 10, lambda 1");
        assert_eq!(pairing.on("a", Protocol::Best).len(), 2);
        assert!(pairing.on("a", Protocol::Paper).is_empty() && pairing.on("b", Protocol::Best).is_empty());
    }

    #[test]
    fn methods_pair_at_the_same_strength() {
        let control = |lambda: f64, loss: f64| {
            let mut run = regularised("a", 10, lambda, loss);
            run.config.regulariser = Arm::Constant;
            run
        };
        let runs = [regularised("a", 10, 1.0, 1.5), regularised("a", 10, 5.0, 1.0), control(5.0, 1.2)];
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Method(&Method::arm(Arm::Constant)));
        assert_eq!((pairing.pairs.len(), pairing.alone), (1, 1));
        assert_eq!(pairing.pairs[0].before.outcome.test_loss, Some(1.2));
    }
}
