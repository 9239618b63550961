//! Compares every statistic with scipy's and NumPy's, from `tests/golden/statistics.json`. tools/golden/README.md
//! describes that file.

use carat_report::statistics::{
    Spread, bca_interval, five_numbers, holm, paired_effect, percentile_interval, welch_greater, wilcoxon_greater,
};
use serde::Deserialize;

/// The greatest relative difference from scipy's statistic.
const CLOSE: f64 = 1e-9;
/// scipy takes small counted probabilities as 1 less the rest, which leaves them with an absolute error.
const SCIPY_COUNTS_TO: f64 = 1e-14;
/// Below this, scipy's normal distribution is 0.
const SCIPY_UNDERFLOWS_AT: f64 = 1e-300;

#[derive(Deserialize)]
struct Golden {
    samples: Vec<SampleCase>,
    pairs: Vec<PairCase>,
    intervals: Vec<IntervalCase>,
    drawn_intervals: Vec<DrawnCase>,
    corrections: Vec<CorrectionCase>,
}

#[derive(Deserialize)]
struct SampleCase {
    kind: String,
    rule: Rule,
    wilcoxon: Option<f64>,
    wilcoxon_counted: Option<f64>,
    mean: f64,
    deviation: Option<f64>,
    cohens_d: Option<f64>,
    rank_biserial: Option<f64>,
    five_numbers: [f64; 5],
}

#[derive(Deserialize)]
struct PairCase {
    a: Rule,
    b: Rule,
    welch: Option<f64>,
}

#[derive(Deserialize)]
struct IntervalCase {
    rule: Rule,
    draws: u64,
    resamples: usize,
    bca: (f64, f64),
    percentile: (f64, f64),
}

#[derive(Deserialize)]
struct DrawnCase {
    rule: Rule,
    bca: (f64, f64),
}

#[derive(Deserialize)]
struct CorrectionCase {
    p: Vec<f64>,
    holm: Vec<f64>,
}

/// Draws a sample, like `sample` in tools/golden/make_statistics_golden.py.
#[derive(Debug, Deserialize)]
struct Rule {
    seed: u64,
    n: usize,
    spread: f64,
    levels: u32,
    shift: f64,
    scale: f64,
    zero_every: usize,
    zero_of: usize,
}

impl Rule {
    fn sample(&self) -> Vec<f64> {
        let mut uniform = Uniform(self.seed);
        let value = |index: usize| {
            let mut noise = uniform.next() + uniform.next() + uniform.next() - 1.5;
            if self.levels > 0 {
                noise = (noise * f64::from(self.levels) + 0.5).floor() / f64::from(self.levels);
            }
            let zero = self.zero_every > 0 && index.is_multiple_of(self.zero_every)
                || self.zero_of > 0 && !index.is_multiple_of(self.zero_of);
            if zero { 0.0 } else { (noise * self.spread + self.shift) * self.scale }
        };
        (0..self.n).map(value).collect()
    }
}

/// Knuth's linear congruential generator, whose upper 53 bits are a number in 0 to 1.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / 2f64.powi(53)
    }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/statistics.json")).unwrap()
}

fn assert_close(found: f64, expected: f64, floor: f64, what: &str) {
    assert!((found - expected).abs() <= CLOSE * expected.abs() + floor, "{what}: {found:e} instead of {expected:e}");
}

fn assert_same(found: Option<f64>, expected: Option<f64>, what: &str) {
    match (found, expected) {
        (Some(found), Some(expected)) => assert_close(found, expected, 0.0, what),
        _ => assert_eq!(found, expected, "{what}"),
    }
}

#[test]
fn tests_of_samples_agree_with_scipy() {
    let golden = golden();
    let sizes: std::collections::BTreeSet<usize> = golden.samples.iter().map(|case| case.rule.n).collect();
    assert!(sizes.contains(&1) && sizes.contains(&2000) && sizes.len() == 14);
    for case in &golden.samples {
        let (values, what) = (case.rule.sample(), format!("{} of {}", case.rule.n, case.kind));
        assert_eq!(values.len(), case.rule.n);
        let Spread { mean, deviation } = Spread::of(&values).unwrap();
        // Values may cancel to nothing but their rounding.
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        assert_close(mean, case.mean, 1e-15 * largest, &what);
        assert_same(deviation, case.deviation, &what);
        for (found, expected) in five_numbers(&values).unwrap().into_iter().zip(case.five_numbers) {
            assert_close(found, expected, 0.0, &what);
        }
        let effect = paired_effect(&values).unwrap();
        assert_eq!((effect.mean, effect.pairs), (mean, case.rule.n), "{what}");
        assert_eq!(effect.cohens_d.is_some(), case.cohens_d.is_some(), "{what}");
        if let (Some(found), Some(expected)) = (effect.cohens_d, case.cohens_d) {
            assert_close(found, expected, 1e-15 * largest / deviation.unwrap(), &what);
        }
        assert_same(effect.rank_biserial, case.rank_biserial, &what);
        assert!(effect.interval.0 <= mean && mean <= effect.interval.1, "{what}: {effect:?}");
    }
}

#[test]
fn signed_ranks_as_scipy() {
    let (mut counted, mut normal, mut undefined) = (0, 0, 0);
    for case in &golden().samples {
        let (values, what) = (case.rule.sample(), format!("{} of {}", case.rule.n, case.kind));
        let found = wilcoxon_greater(&values).unwrap();
        match (case.wilcoxon, case.wilcoxon_counted) {
            (Some(scipy), Some(exact)) => {
                assert_close(found, exact, 0.0, &what);
                assert_close(found, scipy, SCIPY_COUNTS_TO, &what);
                counted += 1;
            }
            (Some(scipy), None) => {
                assert_close(found, scipy, SCIPY_UNDERFLOWS_AT, &what);
                normal += 1;
            }
            // Nothing but zeros, where scipy has no value for 1 or for more than 13.
            (None, _) => {
                assert!(values.iter().all(|value| *value == 0.0) && found == 1.0, "{what}");
                undefined += 1;
            }
        }
    }
    assert!(counted >= 75 && normal >= 50 && undefined == 10, "{counted}, {normal}, {undefined}");
}

#[test]
fn welch_as_scipy() {
    let (mut defined, mut far) = (0, 0);
    for case in &golden().pairs {
        let (a, b) = (case.a.sample(), case.b.sample());
        let found = welch_greater(&a, &b);
        assert_same(found, case.welch, &format!("{:?} {:?}", case.a, case.b));
        defined += usize::from(found.is_some());
        far += usize::from(found.is_some_and(|p| p < 1e-30));
    }
    assert!(defined >= 80 && far >= 5, "{defined} tests, {far} of them far out");
}

#[test]
fn intervals_of_given_resamples_agree_with_scipy() {
    for case in &golden().intervals {
        let values = case.rule.sample();
        let mut uniform = Uniform(case.draws);
        let mut draw = || values[(uniform.next() * values.len() as f64) as usize];
        let n = values.len() as f64;
        let means: Vec<f64> = (0..case.resamples).map(|_| values.iter().fold(0.0, |sum, _| sum + draw()) / n).collect();
        for (found, expected) in
            [(bca_interval(&values, &means), case.bca), (percentile_interval(&means), case.percentile)]
        {
            let (found, what) = (found.unwrap(), format!("{:?}", case.rule));
            assert_close(found.0, expected.0, 0.0, &what);
            assert_close(found.1, expected.1, 0.0, &what);
        }
    }
}

#[test]
fn intervals_of_our_resamples_are_close_to_scipy() {
    for case in &golden().drawn_intervals {
        let (low, high) = paired_effect(&case.rule.sample()).unwrap().interval;
        let width = case.bca.1 - case.bca.0;
        let off = (low - case.bca.0).abs().max((high - case.bca.1).abs()) / width;
        assert!(off < 0.03, "{:?}: {low} to {high} instead of {:?}", case.rule, case.bca);
    }
}

#[test]
fn holm_by_its_definition() {
    for case in &golden().corrections {
        let found = holm(&case.p);
        assert_eq!(found.len(), case.holm.len());
        for (found, expected) in found.iter().zip(&case.holm) {
            assert_close(*found, *expected, 0.0, &format!("{:?}", case.p));
        }
    }
}
