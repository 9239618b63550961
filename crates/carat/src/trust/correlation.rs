//! Correlation of two series over the edges of one node: Pearson's, and Spearman's, which is Pearson's of ranks.
//!
//! ```text
//! r = sum_i (x_i - mean x) (y_i - mean y) / sqrt(sum_i (x_i - mean x)^2 sum_i (y_i - mean y)^2)
//! ```

/// Two values are equal if they differ by no more than this share of the largest: what rounding in 32 bits does.
const ROUNDING: f64 = 1e-6;

/// Whether the values differ by more than rounding. `scale` is the size of the numbers that they were computed from.
pub(super) fn varies(values: &[f64], scale: f64) -> bool {
    let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    let scale = least.abs().max(most.abs()).max(scale);
    most - least > ROUNDING * scale
}

/// Pearson's correlation; 0 where a series does not vary.
pub(super) fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut product, mut squares_x, mut squares_y) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (x - mean_x, y - mean_y);
        product += x * y;
        squares_x += x * x;
        squares_y += y * y;
    }
    // Each root by itself: their product may underflow.
    let scale = squares_x.sqrt() * squares_y.sqrt();
    if scale > 0.0 { (product / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

/// Spearman's correlation: equal values share the mean of their ranks.
pub(super) fn spearman(x: &[f64], y: &[f64]) -> f64 {
    pearson(&ranks(x), &ranks(y))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = before as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&at| ranks[at] = rank);
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy.stats.pearsonr and spearmanr.
    #[test]
    fn they_are_scipys() {
        let x = [0.1, 0.4, 0.4, 0.05, 0.05, 0.0];
        let y = [1.5, 0.2, 3.0, -0.7, 0.0, 0.1];
        assert!((pearson(&x, &y) - 0.578_564_760_618_252_5).abs() < 1e-12, "{}", pearson(&x, &y));
        assert!((spearman(&x, &y) - 0.706_187_863_603_799_7).abs() < 1e-12, "{}", spearman(&x, &y));
    }

    #[test]
    fn what_does_not_vary_correlates_with_nothing() {
        assert_eq!(pearson(&[0.25; 4], &[1.0, 2.0, 3.0, 4.0]), 0.0);
        assert!(!varies(&[0.25, 0.25 + 1e-9], 0.0) && varies(&[0.25, 0.26], 0.0));
        // Tiny differences of large numbers are rounding.
        assert!(!varies(&[1e-7, 3e-7], 1.0) && varies(&[1e-7, 3e-7], 0.0));
        assert_eq!(pearson(&[1e-200, 2e-200], &[1e-200, 2e-200]), 0.0);
    }
}
