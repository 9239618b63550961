//! How well probabilities rank entities of a class above the others. With P entities of the class, N others, and groups
//! g of equal probability from the highest down:
//!
//! ```text
//! ROC AUC              P(own above other) + P(own equal to other) / 2, over all P N pairs
//! average precision    sum over g of (own in g) / P * (own in g and before) / (all in g and before)
//! ```
//!
//! Of two classes one is the positive one, and the figures are of its probability: class 1, or in a trained run the
//! class with fewer training labels. Of more classes they are the mean over the classes, each against the rest (macro
//! average). The cost is n log n per class.

use rayon::prelude::*;

use super::Predictions;

/// ROC AUC and average precision of every class against the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// `None` for a class that has no label or all of them, and for all classes where a probability is NaN.
    pub classes: Vec<Option<[f64; 2]>>,
    /// Of two classes, the one that the figures are of.
    positive: usize,
}

impl Ranking {
    /// ROC AUC of the positive class, or the mean over classes.
    pub fn roc_auc(&self) -> Option<f64> {
        of_all(self.classes.iter().map(|class| class.map(|[auc, _]| auc)), self.positive)
    }

    /// Average precision of the positive class, or the mean over classes.
    pub fn average_precision(&self) -> Option<f64> {
        of_all(self.classes.iter().map(|class| class.map(|[_, precision]| precision)), self.positive)
    }
}

/// The figure of all classes: that of the positive one where there are two, or the mean over the classes that have it.
pub(super) fn of_all(mut classes: impl ExactSizeIterator<Item = Option<f64>>, positive: usize) -> Option<f64> {
    if classes.len() == 2 { classes.nth(positive).flatten() } else { mean(classes.flatten()) }
}

/// The probability that a positive entity has a higher score than another one; ties count half. Takes scores with true
/// for the positive ones. `None` where one kind is missing or a score is NaN.
pub fn roc_auc(scores: impl IntoIterator<Item = (f64, bool)>) -> Option<f64> {
    both(scores.into_iter().collect()).map(|[auc, _]| auc)
}

/// The mean precision over the ranks of positive entities, which the top of this file defines. `None` as for
/// [`roc_auc`].
pub fn average_precision(scores: impl IntoIterator<Item = (f64, bool)>) -> Option<f64> {
    both(scores.into_iter().collect()).map(|[_, precision]| precision)
}

/// The ranking of every class.
pub(super) fn ranking(predictions: &Predictions) -> Ranking {
    let (classes, probabilities) = (predictions.classes(), predictions.probabilities());
    if probabilities.iter().any(|p| p.is_nan()) {
        return Ranking { classes: vec![None; classes], positive: predictions.positive() };
    }
    let of_class = |class: usize| {
        let rows = probabilities.chunks_exact(classes).zip(predictions.labels());
        both(rows.map(|(row, &label)| (f64::from(row[class]), label as usize == class)).collect())
    };
    Ranking { classes: (0..classes).into_par_iter().map(of_class).collect(), positive: predictions.positive() }
}

/// ROC AUC and average precision of scores with true for the positive ones.
fn both(mut scores: Vec<(f64, bool)>) -> Option<[f64; 2]> {
    let positives = scores.iter().filter(|(_, own)| *own).count() as u64;
    let negatives = scores.len() as u64 - positives;
    if positives == 0 || negatives == 0 || scores.iter().any(|(score, _)| score.is_nan()) {
        return None;
    }
    scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut above, mut others_above, mut won_twice, mut precision) = (0, 0, 0u128, 0.0);
    for group in scores.chunk_by(|a, b| a.0 == b.0) {
        let own = group.iter().filter(|(_, own)| *own).count() as u64;
        let others = group.len() as u64 - own;
        (above, others_above) = (above + own, others_above + others);
        won_twice += u128::from(own) * u128::from(2 * (negatives - others_above) + others);
        precision += own as f64 / positives as f64 * (above as f64 / (above + others_above) as f64);
    }
    Some([won_twice as f64 / (2.0 * positives as f64 * negatives as f64), precision])
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_cases_by_hand() {
        let scores = [(0.9, true), (0.8, false), (0.8, true), (0.1, false)];
        assert_eq!(roc_auc(scores), Some(3.5 / 4.0));
        assert_eq!(average_precision(scores), Some(0.5 + 0.5 * 2.0 / 3.0));
        assert_eq!(roc_auc([(0.0, true), (-0.0, false)]), Some(0.5));
        for none in [&[][..], &[(0.5, true)], &[(0.5, false)], &[(f64::NAN, true), (0.1, false)]] {
            assert_eq!((roc_auc(none.iter().copied()), average_precision(none.iter().copied())), (None, None));
        }
    }

    fn scores() -> impl Strategy<Value = Vec<(f64, bool)>> {
        proptest::collection::vec(((-20i32..20).prop_map(f64::from), any::<bool>()), 2..60)
    }

    proptest! {
        #[test]
        fn only_the_order_of_scores_counts(scores in scores()) {
            let mapped: Vec<(f64, bool)> = scores.iter().map(|&(x, own)| ((x / 3.0).exp() + x, own)).collect();
            prop_assert_eq!(both(scores.clone()), both(mapped));
            let mut reversed = scores.clone();
            reversed.reverse();
            prop_assert_eq!(both(scores), both(reversed));
        }

        #[test]
        fn auc_counts_pairs_and_mirrors(scores in scores()) {
            let (mut pairs, mut won) = (0.0, 0.0);
            for (a, _) in scores.iter().filter(|(_, own)| *own) {
                for (b, _) in scores.iter().filter(|(_, own)| !*own) {
                    pairs += 1.0;
                    won += if a > b { 1.0 } else if a == b { 0.5 } else { 0.0 };
                }
            }
            let found = roc_auc(scores.iter().copied());
            prop_assert_eq!(found, (pairs > 0.0).then(|| won / pairs));
            let mirrored = roc_auc(scores.iter().map(|&(x, own)| (-x, own)));
            prop_assert!(found.zip(mirrored).is_none_or(|(a, b)| (a + b - 1.0).abs() < 1e-12));
            let swapped = roc_auc(scores.iter().map(|&(x, own)| (x, !own)));
            prop_assert!(found.zip(swapped).is_none_or(|(a, b)| (a + b - 1.0).abs() < 1e-12));
        }

        #[test]
        fn average_precision_lies_between_the_share_of_positives_of_one_group_and_one(scores in scores()) {
            let share = scores.iter().filter(|(_, own)| *own).count() as f64 / scores.len() as f64;
            let equal = average_precision(scores.iter().map(|&(_, own)| (0.5, own)));
            prop_assert!(equal.is_none_or(|found| (found - share).abs() < 1e-12));
            let found = average_precision(scores.iter().copied());
            prop_assert!(found.is_none_or(|found| found > 0.0 && found < 1.0 + 1e-12));
            let sure = average_precision(scores.iter().map(|&(_, own)| (f64::from(u8::from(own)), own)));
            prop_assert!(sure.is_none_or(|found| found == 1.0));
        }
    }
}
