//! One measure over many pairs: how far the two sides differ, and how certain that is.

use carat_report::statistics::{PairedEffect, SIGNIFICANT, Spread, paired_effect, wilcoxon_greater};

use super::{Measure, Pair};

/// A method against its opponent in one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub measure: Measure,
    /// Pairs in which both sides have the measure.
    pub pairs: usize,
    /// The opponent's values. A baseline that pairs with runs of several strengths counts once.
    pub before: Spread,
    /// The method's values.
    pub after: Spread,
    /// The change from opponent to method, one per pair.
    pub changes: Vec<f64>,
    /// The changes in percent of the opponent's value, for pairs where that value is not 0.
    pub percents: Vec<f64>,
    /// The probability that chance alone gives an improvement at least this clear (one-tailed paired Wilcoxon test).
    pub p_better: Option<f64>,
    /// The same probability for a change for the worse.
    pub p_worse: Option<f64>,
}

impl Comparison {
    /// Compares the two sides of some pairs. `None` where no pair has the measure on both sides.
    pub fn of(pairs: &[&Pair<'_>], measure: Measure) -> Option<Self> {
        let values = |pair: &Pair<'_>| Some((measure.of(&pair.before.outcome)?, measure.of(&pair.after.outcome)?));
        let complete: Vec<&Pair<'_>> = pairs.iter().copied().filter(|pair| values(pair).is_some()).collect();
        let (before, after): (Vec<f64>, Vec<f64>) = complete.iter().copied().filter_map(values).unzip();
        let changes: Vec<f64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
        // Pairs are sorted by setting, so the pairs of one baseline are neighbours.
        let mut once: Vec<(&Pair<'_>, f64)> = complete.iter().copied().zip(before.iter().copied()).collect();
        once.dedup_by(|(a, _), (b, _)| std::ptr::eq(a.before, b.before));
        let negated: Vec<f64> = changes.iter().map(|change| -change).collect();
        let (better, worse) = if measure.lower_is_better() { (&negated, &changes) } else { (&changes, &negated) };
        Some(Self {
            measure,
            pairs: changes.len(),
            before: Spread::of(&once.iter().map(|(_, value)| *value).collect::<Vec<_>>())?,
            after: Spread::of(&after)?,
            p_better: wilcoxon_greater(better),
            p_worse: wilcoxon_greater(worse),
            percents: percents(&before, &after),
            changes,
        })
    }

    /// True where the improvement is significant.
    pub fn is_better(&self) -> bool {
        self.p_better.is_some_and(|p| p < SIGNIFICANT)
    }

    /// True where the change for the worse is significant.
    pub fn is_worse(&self) -> bool {
        self.p_worse.is_some_and(|p| p < SIGNIFICANT)
    }

    /// Mean change with its interval.
    pub fn change(&self) -> Option<PairedEffect> {
        paired_effect(&self.changes)
    }

    /// Mean change with its interval, in percent of the opponent's mean over the same pairs. `None` where that mean is
    /// 0.
    pub fn percent(&self) -> Option<PairedEffect> {
        let change = self.change()?;
        // `before` is another mean: it counts an opponent of several pairs once.
        let opponent = self.after.mean - change.mean;
        let percent = |value: f64| 100.0 * value / opponent;
        let (low, high) = change.interval;
        let scaled = PairedEffect { mean: percent(change.mean), interval: (percent(low), percent(high)), ..change };
        (opponent > 0.0).then_some(scaled)
    }

    /// Mean of the pairs' changes in percent, as in the paper's appendix. Pairs with a small opponent value weigh more
    /// here than in [`Comparison::percent`].
    pub fn mean_percent(&self) -> Option<f64> {
        Spread::of(&self.percents).map(|spread| spread.mean)
    }
}

/// Changes in percent of `before`. Pairs whose value before is 0 are left out.
fn percents(before: &[f64], after: &[f64]) -> Vec<f64> {
    let both = before.iter().zip(after).filter(|(before, _)| **before != 0.0);
    both.map(|(before, after)| 100.0 * (after - before) / before).collect()
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{baseline, regularised};
    use super::super::{Method, Opponent, Pairing};
    use super::*;
    use crate::sweep::Run;

    fn comparison(runs: &[Run], measure: Measure) -> Option<Comparison> {
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        Comparison::of(&pairing.pairs.iter().collect::<Vec<_>>(), measure)
    }

    #[test]
    fn improvement_is_a_lower_loss_and_a_higher_accuracy() {
        let mut runs = Vec::new();
        for hidden in 1..=6 {
            runs.push(baseline("a", hidden, 2.0));
            runs.push(regularised("a", hidden, 1.0, 2.0 - 0.1 * hidden as f64));
        }
        let loss = comparison(&runs, Measure::TEST_LOSS).unwrap();
        assert_eq!((loss.pairs, loss.p_better), (6, Some(1.0 / 64.0)));
        assert!(loss.is_better() && !loss.is_worse());
        assert!(
            (loss.mean_percent().unwrap() + 17.5).abs() < 1e-9 && (loss.change().unwrap().mean + 0.35).abs() < 1e-9
        );
        let accuracy = comparison(&runs, Measure::TEST_ACCURACY).unwrap();
        assert_eq!(accuracy.p_better, Some(1.0 / 64.0));
        assert!(accuracy.mean_percent().unwrap() > 0.0);
    }

    #[test]
    fn percents_are_of_the_baseline_s_mean_over_the_same_pairs() {
        let runs = [
            baseline("a", 10, 1.0),
            regularised("a", 10, 1.0, 1.5),
            baseline("a", 25, 4.0),
            regularised("a", 25, 1.0, 3.0),
            regularised("a", 25, 5.0, 3.0),
        ];
        let loss = comparison(&runs, Measure::TEST_LOSS).unwrap();
        // Changes of +0.5, -1 and -1 over baselines of 1, 4 and 4.
        let (percent, change) = (loss.percent().unwrap(), loss.change().unwrap());
        assert!((percent.mean + 100.0 * 1.5 / 9.0).abs() < 1e-12, "{percent:?}");
        assert!((percent.interval.1 - 100.0 * change.interval.1 / 3.0).abs() < 1e-12, "{percent:?}");
        assert!((loss.mean_percent().unwrap() - (50.0 - 25.0 - 25.0) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_baseline_counts_once_and_missing_figures_not_at_all() {
        let mut runs = vec![
            baseline("a", 10, 2.0),
            regularised("a", 10, 1.0, 1.0),
            regularised("a", 10, 5.0, 1.0),
            baseline("a", 25, 4.0),
            regularised("a", 25, 1.0, 1.0),
        ];
        let found = comparison(&runs, Measure::TEST_LOSS).unwrap();
        assert_eq!((found.pairs, found.before.mean), (3, 3.0));
        runs[3].outcome.figures.test.loss = None;
        let found = comparison(&runs, Measure::TEST_LOSS).unwrap();
        assert_eq!((found.pairs, found.before.mean, found.before.deviation), (2, 2.0, None));
        runs.iter_mut().for_each(|run| run.outcome.figures.attention_auc = None);
        assert_eq!(comparison(&runs, Measure::ATTENTION_AUC), None);
    }
}
