//! Chooses the strength of one variant of CAR by validation loss, among strengths with runs of the same settings.

use std::collections::HashSet;

use carat::Protocol;

use crate::compare::{Comparison, Measure, Method, Opponent, Pair, Pairing};
use crate::sweep::{PairKey, Run};

/// A variant at one strength, with its pairs under one protocol.
pub(super) struct Candidate<'a> {
    pub(super) method: Method,
    pub(super) lambda: String,
    pub(super) pairs: Vec<Pair<'a>>,
}

impl Candidate<'_> {
    /// Against the baseline.
    pub(super) fn comparison(&self, measure: Measure) -> Option<Comparison> {
        Comparison::of(&self.pairs.iter().collect::<Vec<_>>(), measure)
    }

    /// Mean validation loss over its pairs.
    pub(super) fn validation(&self) -> Option<f64> {
        self.comparison(Measure::VALIDATION_LOSS).map(|comparison| comparison.after.mean)
    }

    /// `lambda 1`, then the settings that differ from the paper's method.
    pub(super) fn label(&self) -> String {
        match self.method.label() {
            other if other.is_empty() => format!("lambda {}", self.lambda),
            other => format!("lambda {} ({other})", self.lambda),
        }
    }
}

/// The strength that validation chose under one protocol, and all candidates.
pub(super) struct Choice<'a> {
    pub(super) protocol: Protocol,
    /// Every strength of the variant, the weakest first. All have pairs of the same settings.
    pub(super) candidates: Vec<Candidate<'a>>,
    /// The one with the lowest mean validation loss.
    pub(super) chosen: usize,
    /// Candidates that took no part: other variants, and strengths with runs of too few settings.
    pub(super) others: Vec<Candidate<'a>>,
    against_control: Vec<Pair<'a>>,
    control: Vec<Pair<'a>>,
}

impl<'a> Choice<'a> {
    /// Chooses among the strengths of one variant. `None` where no run of it pairs.
    pub(super) fn of(runs: &[&'a Run], protocol: Protocol, variants: &[Method], method: &Method) -> Option<Self> {
        let runs: Vec<&'a Run> = runs.iter().copied().filter(|run| run.protocol() == protocol).collect();
        let mut candidates = strengths(&runs, method);
        let mut others = Vec::new();
        // Means over different settings cannot be compared, so only settings that all strengths share count. A strength
        // with few settings is left out, or it would take settings from the others.
        let most = candidates.iter().map(|candidate| candidate.pairs.len()).max()?;
        let settings = loop {
            let settings = shared(&candidates);
            if 2 * settings.len() >= most {
                break settings;
            }
            let (fewest, _) = candidates.iter().enumerate().min_by_key(|(_, candidate)| candidate.pairs.len())?;
            others.push(candidates.remove(fewest));
        };
        for candidate in &mut candidates {
            candidate.pairs.retain(|pair| settings.contains(&pair.key));
        }
        let validation = |candidate: &Candidate<'_>| candidate.validation().unwrap_or(f64::INFINITY);
        let best =
            |a: &(usize, &Candidate<'_>), b: &(usize, &Candidate<'_>)| validation(a.1).total_cmp(&validation(b.1));
        let (chosen, candidate) = candidates.iter().enumerate().min_by(best)?;
        let alike = |pair: &Pair<'_>| {
            pair.after.config.regulariser.lambda.to_string() == candidate.lambda && settings.contains(&pair.key)
        };
        let pairs = |method: &Method, against: Opponent<'_>| -> Vec<Pair<'a>> {
            Pairing::of(&runs, method, against).pairs.into_iter().filter(alike).collect()
        };
        let constant = method.control();
        let (against_control, control) =
            (pairs(method, Opponent::Method(&constant)), pairs(&constant, Opponent::Baseline));
        for other in variants.iter().filter(|other| *other != method) {
            others.extend(strengths(&runs, other));
        }
        Some(Self { protocol, chosen, against_control, control, candidates, others })
    }

    /// The chosen candidate.
    pub(super) fn candidate(&self) -> Option<&Candidate<'a>> {
        self.candidates.get(self.chosen)
    }

    /// Mean validation loss of the baseline over the same settings.
    pub(super) fn baseline_validation(&self) -> Option<f64> {
        Some(self.candidate()?.comparison(Measure::VALIDATION_LOSS)?.before.mean)
    }

    /// The chosen strength against the constant control of the same variant and strength.
    pub(super) fn against_control(&self, measure: Measure) -> Option<Comparison> {
        Comparison::of(&self.against_control.iter().collect::<Vec<_>>(), measure)
    }

    /// That control against the baseline.
    pub(super) fn control(&self, measure: Measure) -> Option<Comparison> {
        Comparison::of(&self.control.iter().collect::<Vec<_>>(), measure)
    }
}

/// Every causal variant among the runs, sorted by label.
pub(super) fn variants(runs: &[&Run]) -> Vec<Method> {
    let mut methods: Vec<Method> = Vec::new();
    for method in runs.iter().filter_map(|run| Method::of(&run.config)).filter(Method::is_causal) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods.sort_by_key(Method::label);
    methods
}

/// The variant that the verdict is about: the paper's if it has pairs, else the one with the most pairs.
pub(super) fn variant(runs: &[&Run], variants: &[Method]) -> Option<Method> {
    let pairs = |method: &Method| Pairing::of(runs, method, Opponent::Baseline).pairs.len();
    let paper = Method::paper();
    if pairs(&paper) > 0 {
        return Some(paper);
    }
    // `max_by_key` takes the last of equals, so the order is reversed to take the first label.
    variants.iter().rev().map(|method| (pairs(method), method)).max_by_key(|(pairs, _)| *pairs).map(|(_, m)| m.clone())
}

/// The variant's pairs by strength, the weakest first. Pairs without a validation loss are left out.
fn strengths<'a>(runs: &[&'a Run], method: &Method) -> Vec<Candidate<'a>> {
    let has = |run: &Run| Measure::VALIDATION_LOSS.of(&run.outcome).is_some();
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    for pair in Pairing::of(runs, method, Opponent::Baseline).pairs {
        let lambda = pair.after.config.regulariser.lambda.to_string();
        if !has(pair.before) || !has(pair.after) {
            continue;
        }
        match candidates.iter_mut().find(|candidate| candidate.lambda == lambda) {
            Some(candidate) => candidate.pairs.push(pair),
            None => candidates.push(Candidate { method: method.clone(), lambda, pairs: vec![pair] }),
        }
    }
    let strength = |candidate: &Candidate<'_>| {
        candidate
            .pairs
            .first()
            .map(|pair| pair.after.config.regulariser.lambda.of_layers(pair.after.config.network.layers))
    };
    candidates.sort_by(|a, b| strength(a).partial_cmp(&strength(b)).unwrap_or(std::cmp::Ordering::Equal));
    candidates
}

/// The settings that all candidates share.
fn shared(candidates: &[Candidate<'_>]) -> HashSet<PairKey> {
    let settings = |candidate: &Candidate<'_>| -> HashSet<PairKey> {
        candidate.pairs.iter().map(|pair| pair.key.clone()).collect()
    };
    let common = |a: HashSet<PairKey>, b: HashSet<PairKey>| a.intersection(&b).cloned().collect();
    candidates.iter().map(settings).reduce(common).unwrap_or_default()
}
