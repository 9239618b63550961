//! Pairs of runs with the same setting: data, split, sizes, seed and protocol. Their initial weights and batches are
//! the same.

use std::collections::HashMap;

use super::Method;
use crate::sweep::{PairKey, Run};

/// What a method is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Opponent<'m> {
    /// The run without a regulariser.
    Baseline,
    /// The run of another method at the same strength.
    Method(&'m Method),
}

/// A run and its opponent.
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    /// The setting that they share.
    pub key: PairKey,
    /// The opponent: the baseline, or the other method's run.
    pub before: &'a Run,
    /// The method's run.
    pub after: &'a Run,
}

impl Pair<'_> {
    /// The regulariser's strength; `None` where it differs between layers, or where the run finds it by itself.
    pub fn strength(&self) -> Option<f64> {
        let values = strengths(self.after);
        let values = values.iter().copied().filter(|value| *value >= 0.0).collect::<Vec<f64>>();
        values.first().copied().filter(|first| values.iter().all(|value| value == first))
    }

    /// The setting in short, for tooltips: `gat, L 2, K 3, F 100, lambda 1`.
    pub fn configuration(&self) -> String {
        let PairKey { arch, layers, heads, hidden, .. } = &self.key;
        format!("{arch}, L {layers}, K {heads}, F {hidden}, lambda {}", self.after.config.regulariser.lambda)
    }
}

/// All pairs of a method and its opponent, sorted by setting.
#[derive(Debug, Clone, Default)]
pub struct Pairing<'a> {
    /// The pairs.
    pub pairs: Vec<Pair<'a>>,
    /// The number of runs of the method that have no opponent. No comparison uses them.
    pub unpaired: usize,
}

impl<'a> Pairing<'a> {
    /// Pairs the method's runs among `runs` with their opponents.
    pub fn of(runs: &[&'a Run], method: &Method, against: Opponent<'_>) -> Self {
        let opponents: HashMap<(PairKey, Vec<u64>), &'a Run> = runs
            .iter()
            .filter(|run| match against {
                Opponent::Baseline => run.is_baseline(),
                Opponent::Method(other) => Method::of(&run.config).as_ref() == Some(other),
            })
            .map(|run| ((run.pair_key(), strength_key(run, against)), *run))
            .collect();
        let mut pairing = Self::default();
        for run in runs.iter().filter(|run| Method::of(&run.config).as_ref() == Some(method)) {
            let pair_key = run.pair_key();
            let place = (pair_key, strength_key(run, against));
            match opponents.get(&place) {
                Some(before) => pairing.pairs.push(Pair { key: place.0, before, after: run }),
                None => pairing.unpaired += 1,
            }
        }
        // Stores return runs in the order of their hashes, and sums must not depend on that order.
        pairing.pairs.sort_by(|a, b| {
            a.key
                .cmp(&b.key)
                .then_with(|| strengths(a.after).partial_cmp(&strengths(b.after)).unwrap_or(std::cmp::Ordering::Equal))
        });
        pairing
    }

    /// The pairs on one dataset under one protocol.
    pub fn on(&self, data: &str, protocol: carat::Protocol) -> Vec<&Pair<'a>> {
        let wanted = |pair: &&Pair<'a>| pair.key.data == data && pair.after.protocol() == protocol;
        self.pairs.iter().filter(wanted).collect()
    }
}

/// Per layer. One that the run finds by itself is told by the gradient's share, below 0, where no other strength is.
fn strengths(run: &Run) -> Vec<f64> {
    let regulariser = &run.config.regulariser;
    match regulariser.lambda.is_auto() {
        true => vec![-regulariser.gradient_share],
        false => regulariser.lambda.of_layers(run.config.network.layers),
    }
}

/// What must be equal besides the setting.
fn strength_key(run: &Run, against: Opponent<'_>) -> Vec<u64> {
    match against {
        Opponent::Baseline => Vec::new(),
        Opponent::Method(_) => strengths(run).into_iter().map(f64::to_bits).collect(),
    }
}

#[cfg(test)]
mod tests {
    use carat::{Arm, Lambda, Protocol, Setting};

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
        assert_eq!((pairing.pairs.len(), pairing.unpaired), (2, 2));
        assert!(pairing.pairs.iter().all(|pair| pair.before.is_baseline() && pair.key.data == "a"));
        assert_eq!(pairing.pairs.iter().map(Pair::strength).collect::<Vec<_>>(), [Some(1.0), Some(5.0)]);
        assert_eq!(pairing.pairs[0].configuration(), "gat, L 2, K 3, F 10, lambda 1");
        assert_eq!(pairing.on("a", Protocol::Best).len(), 2);
        assert!(pairing.on("a", Protocol::Paper).is_empty() && pairing.on("b", Protocol::Best).is_empty());
    }

    #[test]
    fn a_strength_that_runs_find_pairs_with_its_like() {
        let run = |arm: Arm, lambda: Lambda, share: f64| {
            let mut run = regularised("a", 10, 1.0, 1.0);
            run.config = run.config.arm(arm).lambda(lambda);
            run.config.regulariser.gradient_share = share;
            run
        };
        let one = || Lambda::new(1.0);
        let of = |arm| [run(arm, one(), 0.5), run(arm, Lambda::auto(), 0.5), run(arm, Lambda::auto(), 1.0)];
        let (causal, constant) = (of(Arm::Causal), of(Arm::Constant));
        let control = Method::arm(Arm::Constant);
        for at in 0..3 {
            // The control of another strength comes last, and must not be taken.
            let runs = [&causal[at], &constant[at], &constant[(at + 1) % 3], &constant[(at + 2) % 3]];
            let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Method(&control));
            assert_eq!(pairing.pairs.len(), 1);
            assert!(std::ptr::eq(pairing.pairs[0].before, runs[1]));
            assert_eq!(pairing.pairs[0].strength(), (at == 0).then_some(1.0));
        }
    }

    #[test]
    fn methods_pair_at_the_same_strength() {
        let control = |lambda: f64, loss: f64| {
            let mut run = regularised("a", 10, lambda, loss);
            run.config.regulariser.arm = Arm::Constant;
            run
        };
        let runs = [regularised("a", 10, 1.0, 1.5), regularised("a", 10, 5.0, 1.0), control(5.0, 1.2)];
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Method(&Method::arm(Arm::Constant)));
        assert_eq!((pairing.pairs.len(), pairing.unpaired), (1, 1));
        assert_eq!(pairing.pairs[0].before.outcome.figures.test.loss, Some(1.2));
    }

    #[test]
    fn every_arm_pairs_with_the_plain_run_and_with_every_other() {
        let arms = Arm::ALL.into_iter().filter(|arm| *arm != Arm::None);
        let mut runs = vec![baseline("a", 10, 2.0)];
        runs.extend(arms.clone().map(|arm| {
            let mut run = regularised("a", 10, 1.0, 1.5);
            run.config.regulariser.arm = arm;
            run
        }));
        let runs: Vec<&Run> = runs.iter().collect();
        for arm in arms {
            let other = Method::paper();
            for against in [Opponent::Baseline, Opponent::Method(&other)] {
                let pairing = Pairing::of(&runs, &Method::arm(arm), against);
                assert_eq!((pairing.pairs.len(), pairing.unpaired), (1, 0), "{arm}");
                assert_eq!(pairing.pairs[0].after.config.regulariser.arm, arm);
            }
        }
    }

    /// Values of flags. Every setting accepts one of them.
    const TEXTS: [&str; 27] = [
        "true",
        "7",
        "0.25",
        "x",
        "graph",
        "add",
        "batch",
        "elu",
        "concat",
        "last",
        "gcn",
        "gatv2",
        "vote",
        "none",
        "one",
        "all",
        "paper",
        "row",
        "rounds",
        "distribution",
        "adamw",
        "cosine",
        "balanced",
        "accuracy",
        "learning",
        "likelihood",
        r#"{"threshold": 0.5, "guide": {}}"#,
    ];

    #[test]
    fn runs_pair_only_if_they_differ_in_the_regulariser_alone() {
        let (base, car) = (baseline("a", 10, 2.0), regularised("a", 10, 1.0, 1.5));
        for setting in Setting::all() {
            let change = |text: &&str| {
                let mut other = car.clone();
                setting.set(&mut other.config, text).ok()?;
                (!setting.is_same(&other.config, &car.config)).then_some(other)
            };
            let other = TEXTS.iter().find_map(change);
            let other = other.unwrap_or_else(|| panic!("no other value of {} is known", setting.name));
            let method = Method::of(&other.config);
            let pairs =
                method.map_or(0, |method| Pairing::of(&[&base, &other], &method, Opponent::Baseline).pairs.len());
            assert_eq!(pairs == 1, setting.is_of_regulariser, "{}", setting.name);
            assert_eq!(base.pair_key() == other.pair_key(), setting.is_of_regulariser, "{}", setting.name);
        }
    }
}
