//! The one-tailed paired signed-rank test of Wilcoxon, as scipy's `wilcoxon(differences, alternative="greater")` with
//! its defaults (zero_method "wilcox", no continuity correction, method "auto").
//!
//! ```text
//! zeros      are left out; n is what remains, r_i the rank of |d_i| among them, equal ones share their mean rank
//! R+         sum of r_i over d_i > 0
//! exact      P(R+ or more) if every sign is a fair coin: at most 50 differences without zeros and ties, or at most 13
//! normal     otherwise: mean n (n + 1) / 4, variance n (n + 1) (2 n + 1) / 24 - sum over ties of (t^3 - t) / 48
//! ```

/// Most differences for the exact distribution where neither zeros nor ties disturb it.
const MOST_EXACT: usize = 50;
/// Most differences for the exact distribution otherwise: where scipy, too, goes through all signs.
const MOST_EXACT_WITH_TIES: usize = 13;

/// The probability, if differences were as likely below 0 as above, that they lie above 0 at least as clearly as these
/// do. `None` where there are no differences or one is NaN.
///
/// Where none differs from 0 it is 1, however many they are: scipy says so for 2 to 13 of them and is undefined for
/// others.
pub fn wilcoxon_greater(differences: &[f64]) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    let SignedRanks { ranks, ties, positive } = SignedRanks::of(differences);
    if ranks.is_empty() {
        return Some(1.0);
    }
    let undisturbed = ranks.len() == differences.len() && ties.iter().all(|t| *t == 1);
    let most = if undisturbed { MOST_EXACT } else { MOST_EXACT_WITH_TIES };
    Some(if differences.len() <= most { exact(&ranks, positive) } else { normal(ranks.len(), &ties, positive) })
}

/// `(R+ - R-) / (R+ + R-)`; `None` where no difference differs from 0. There is no NaN among them.
pub(super) fn rank_biserial(differences: &[f64]) -> Option<f64> {
    let SignedRanks { ranks, positive, .. } = SignedRanks::of(differences);
    let all = ranks.iter().sum::<usize>() as f64;
    (!ranks.is_empty()).then(|| (2.0 * positive as f64 - all) / all)
}

/// The ranks that the test uses.
struct SignedRanks {
    /// Twice the rank of every difference that is not 0, by absolute value.
    ranks: Vec<usize>,
    /// Sizes of the groups of equal absolute values.
    ties: Vec<usize>,
    /// Twice R+.
    positive: usize,
}

impl SignedRanks {
    fn of(differences: &[f64]) -> Self {
        let mut ordered: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        ordered.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let (ranks, ties) = doubled_ranks(&ordered);
        let positive = ranks.iter().zip(&ordered).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
        Self { ranks, ties, positive }
    }
}

/// Twice the rank of every value, which is whole even where equal values share a mean rank, and the sizes of the groups
/// of equal values. The values come by absolute value.
fn doubled_ranks(ordered: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let (mut ranks, mut ties) = (Vec::with_capacity(ordered.len()), Vec::new());
    for group in ordered.chunk_by(|a, b| a.abs() == b.abs()) {
        let (first, last) = (ranks.len() + 1, ranks.len() + group.len());
        ranks.extend(std::iter::repeat_n(first + last, group.len()));
        ties.push(group.len());
    }
    (ranks, ties)
}

/// The share of all choices of signs whose sum of positive ranks is at least `positive`; both are doubled.
fn exact(ranks: &[usize], positive: usize) -> f64 {
    // The probability of every sum, one rank after the other.
    let mut probability = vec![0.0; ranks.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    for &rank in ranks {
        for sum in (0..probability.len()).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = 0.5 * (probability[sum] + with);
        }
    }
    probability.iter().skip(positive).sum::<f64>().min(1.0)
}

fn normal(n: usize, ties: &[usize], positive: usize) -> f64 {
    let n = n as f64;
    let ties: f64 = ties.iter().map(|&t| t as f64).map(|t| t * t * t - t).sum();
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0).sqrt();
    let z = (positive as f64 / 2.0 - n * (n + 1.0) / 4.0) / deviation;
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() <= 1e-12 * expected, "{found} instead of {expected}");
    }

    /// Darwin's maize: the example in scipy's documentation, which publishes R+ = 96 and two-sided p = 0.041259765625.
    const MAIZE: [f64; 15] = [6., 8., 14., 16., 23., 24., 28., 29., 41., -48., 49., 56., 60., -67., 75.];

    #[test]
    fn exact_p_agrees_with_scipy_s_documentation() {
        assert_close(wilcoxon_greater(&MAIZE), 0.041259765625 / 2.0);
        assert_close(wilcoxon_greater(&MAIZE.map(|d| -d)), 0.982330322265625);
    }

    // The expected values below are scipy 1.17.1's.
    #[test]
    fn exact_for_few_differences() {
        assert_close(wilcoxon_greater(&[0.3]), 0.5);
        assert_close(wilcoxon_greater(&[0.1, 0.2, 0.3, 0.4, 0.5]), 1.0 / 32.0);
        assert_close(wilcoxon_greater(&[-0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), 2.0 / 256.0);
    }

    #[test]
    fn ties_and_zeros_go_through_all_signs_where_they_are_few() {
        assert_close(wilcoxon_greater(&[0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 3.0, -2.0]), 0.140625);
        assert_close(wilcoxon_greater(&[1.0, 1.0, 1.0, 1.0]), 1.0 / 16.0);
        assert_close(wilcoxon_greater(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn normal_for_many_differences_and_for_many_with_ties() {
        let many: Vec<f64> = (1..=60).map(|k| if k % 4 == 0 { -f64::from(k) } else { f64::from(k) }).collect();
        assert_close(wilcoxon_greater(&many), 0.0006816810457068989);
        assert_close(wilcoxon_greater(&many.iter().map(|d| -d).collect::<Vec<_>>()), 0.9993183189542931);
        let tied: Vec<f64> = (0..20).map(|k| [1.0, -1.0, 2.0, 0.0, 3.0][k % 5] + (k / 10) as f64).collect();
        assert_close(wilcoxon_greater(&tied), 0.0007258384119303931);
        // All of 72 settings: far into the tail.
        let all: Vec<f64> = (1..=72).map(|k| f64::from(k) / 100.0).collect();
        assert_close(wilcoxon_greater(&all), 8.293759011881989e-14);
    }

    #[test]
    fn empty_and_nan_differences_have_no_probability() {
        assert_eq!(wilcoxon_greater(&[]), None);
        assert_eq!(wilcoxon_greater(&[0.1, f64::NAN]), None);
    }

    #[test]
    fn both_directions_add_up_to_one_and_the_observed_sum() {
        let differences = [0.4, -0.1, 0.3, -0.7, 0.9];
        let (up, down) = (wilcoxon_greater(&differences), wilcoxon_greater(&differences.map(|d| -d)));
        // R+ = 10 of 15: the sums of exactly 10 are 1+4+5, 2+3+5 and 1+2+3+4.
        assert_close(Some(up.unwrap() + down.unwrap()), 1.0 + 3.0 / 32.0);
    }
}
