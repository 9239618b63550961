//! How far two large samples are separated: the area under the ROC curve, with an interval for clustered values.
//!
//! ```text
//! A        P(high > low) + P(high = low) / 2, over all pairs of one of M high and one of N low values
//! V(h)     share of low values below h, equal ones half; V(l) likewise the share of high values above l
//! S_high   sum over clusters of (sum of V(h) - A in the cluster)^2, times I / ((I - 1) M), I clusters with high values
//! S_low    the same for low values; S_both the sum over all J clusters of the products, times J / (J - 1)
//! var A    S_high / M + S_low / N + 2 S_both / (M N)        (Obuchowski 1997; DeLong's if clusters have one value)
//! ```
//!
//! Values of one cluster may depend on each other in any way. The cost is n log n.

use serde::Serialize;

/// 95 % of a normal distribution lie within this many deviations of its mean.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// How far some values lie above others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Separation {
    /// The probability that a value of the first sample is above one of the second; ties count half. 0.5 means no
    /// difference.
    pub auc: f64,
    /// Its 95 % interval; `None` where there are too few clusters or no variation.
    pub interval: Option<(f64, f64)>,
}

impl Separation {
    /// The side of one half on which the whole interval lies; `None` where it contains one half.
    pub fn direction(&self) -> Option<Direction> {
        match self.interval? {
            (low, _) if low > 0.5 => Some(Direction::Above),
            (_, high) if high < 0.5 => Some(Direction::Below),
            _ => None,
        }
    }
}

/// The clear direction of a separation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The first sample lies above the second.
    Above,
    /// The first sample lies below the second.
    Below,
}

/// The separation of values with their clusters. `None` where a sample is empty or a value is NaN.
pub fn separation(high: &[(f64, u32)], low: &[(f64, u32)]) -> Option<Separation> {
    if high.is_empty() || low.is_empty() || high.iter().chain(low).any(|(value, _)| value.is_nan()) {
        return None;
    }
    let placed = placed(high, low);
    let (highs, lows) = (high.len() as f64, low.len() as f64);
    let auc = placed.iter().filter(|one| one.is_high).map(|one| one.share).sum::<f64>() / highs;
    let variance = variance(placed, auc, highs, lows).filter(|variance| *variance > 0.0);
    let interval = variance.map(|variance| {
        let reach = DEVIATIONS * variance.sqrt();
        ((auc - reach).max(0.0), (auc + reach).min(1.0))
    });
    Some(Separation { auc, interval })
}

/// A value's cluster and the share of the other side's values that it lies on the right side of.
struct Placed {
    cluster: u32,
    is_high: bool,
    share: f64,
}

/// Every value, in rising order.
fn placed(high: &[(f64, u32)], low: &[(f64, u32)]) -> Vec<Placed> {
    let mark = |is_high: bool| move |&(value, cluster): &(f64, u32)| (value, cluster, is_high);
    let mut all: Vec<(f64, u32, bool)> = high.iter().map(mark(true)).chain(low.iter().map(mark(false))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut passed_high, mut passed_low) = (0, 0);
    let mut placed = Vec::with_capacity(all.len());
    for equal in all.chunk_by(|a, b| a.0 == b.0) {
        let highs = equal.iter().filter(|(_, _, is_high)| *is_high).count();
        let lows = equal.len() - highs;
        let of_high = (passed_low as f64 + lows as f64 / 2.0) / low.len() as f64;
        let of_low = 1.0 - (passed_high as f64 + highs as f64 / 2.0) / high.len() as f64;
        placed.extend(equal.iter().map(|&(_, cluster, is_high)| {
            let share = if is_high { of_high } else { of_low };
            Placed { cluster, is_high, share }
        }));
        passed_high += highs;
        passed_low += lows;
    }
    placed
}

fn variance(mut placed: Vec<Placed>, auc: f64, highs: f64, lows: f64) -> Option<f64> {
    // Stable, so that sums run in the order of values whatever the number of threads.
    placed.sort_by_key(|one| one.cluster);
    let (mut of_high, mut of_low, mut of_both) = (0.0, 0.0, 0.0);
    let (mut high_clusters, mut low_clusters, mut clusters) = (0usize, 0usize, 0usize);
    for cluster in placed.chunk_by(|a, b| a.cluster == b.cluster) {
        let sum = |side: bool| {
            let own = cluster.iter().filter(|one| one.is_high == side);
            own.fold((0usize, 0.0), |(count, sum), one| (count + 1, sum + one.share - auc))
        };
        let ((high_count, high), (low_count, low)) = (sum(true), sum(false));
        of_high += high * high;
        of_low += low * low;
        of_both += high * low;
        high_clusters += usize::from(high_count > 0);
        low_clusters += usize::from(low_count > 0);
        clusters += 1;
    }
    let factor = |clusters: usize| (clusters > 1).then(|| clusters as f64 / (clusters - 1) as f64);
    let (high, low) = (factor(high_clusters)? * of_high / highs, factor(low_clusters)? * of_low / lows);
    Some(high / highs + low / lows + 2.0 * factor(clusters)? * of_both / (highs * lows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::area_under_curve;

    fn single(values: &[f64], first: u32) -> Vec<(f64, u32)> {
        values.iter().copied().zip(first..).collect()
    }

    #[test]
    fn the_area_counts_every_pair() {
        let (high, low) = ([0.4, 0.9, 0.9, 0.1], [0.4, 0.2, 0.9]);
        let found = separation(&single(&high, 0), &single(&low, 10)).unwrap();
        assert!((found.auc - area_under_curve(&high, &low).unwrap()).abs() < 1e-15);
        assert_eq!(separation(&[], &single(&low, 0)), None);
        assert_eq!(separation(&single(&high, 0), &[(f64::NAN, 0)]), None);
    }

    #[test]
    fn single_clusters_have_de_long_s_variance() {
        // Counted by hand: 3 lies above two low values and on one, and so on.
        let found = separation(&single(&[3.0, 5.0, 2.0], 0), &single(&[1.0, 3.0, 2.5], 10)).unwrap();
        let (of_high, of_low) = ([2.5 / 3.0, 1.0, 1.0 / 3.0], [1.0, 0.5, 2.0 / 3.0]);
        let mean = of_high.iter().sum::<f64>() / 3.0;
        let square = |values: [f64; 3]| values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0 / 3.0;
        let reach = DEVIATIONS * (square(of_high) + square(of_low)).sqrt();
        assert!((found.auc - mean).abs() < 1e-15);
        let (low, high) = found.interval.unwrap();
        assert!((low - (mean - reach)).abs() < 1e-12 && high == (mean + reach).min(1.0), "{low} {high}");
    }

    #[test]
    fn copies_within_clusters_add_no_certainty() {
        let (high, low) = (single(&[3.0, 5.0, 2.0, 4.0], 0), single(&[1.0, 3.0, 2.5], 10));
        let once = separation(&high, &low).unwrap();
        let copied = |values: &[(f64, u32)]| values.iter().flat_map(|value| [*value; 5]).collect::<Vec<_>>();
        let five = separation(&copied(&high), &copied(&low)).unwrap();
        assert!((once.auc - five.auc).abs() < 1e-12);
        let ((a, b), (c, d)) = (once.interval.unwrap(), five.interval.unwrap());
        assert!((a - c).abs() < 1e-12 && (b - d).abs() < 1e-12);
    }

    #[test]
    fn values_without_variation_have_no_interval() {
        let apart = separation(&single(&[3.0, 4.0], 0), &single(&[1.0, 2.0], 10)).unwrap();
        assert_eq!((apart.auc, apart.interval, apart.direction()), (1.0, None, None));
        let one = separation(&[(1.0, 0)], &single(&[0.5, 2.0], 10)).unwrap();
        assert_eq!((one.auc, one.interval), (0.5, None));
    }

    #[test]
    fn clear_differences_have_a_direction() {
        let high: Vec<f64> = (0..60).map(|k| f64::from(k % 7) + 2.0).collect();
        let low: Vec<f64> = (0..60).map(|k| f64::from(k % 7)).collect();
        let (high, low) = (single(&high, 0), single(&low, 100));
        assert_eq!(separation(&high, &low).unwrap().direction(), Some(Direction::Above));
        assert_eq!(separation(&low, &high).unwrap().direction(), Some(Direction::Below));
        assert_eq!(separation(&high, &high.clone()).unwrap().direction(), None);
    }
}
