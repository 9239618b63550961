//! Accuracies of graph convolution networks on pruned graphs.

use serde::Serialize;

use super::area::{area_above, area_between};

/// Test accuracies of all trials, by split.
type Accuracies = Vec<Vec<f64>>;

/// Curves over the same thresholds, splits and trials, and the accuracies they are compared with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curves {
    /// On the whole graph.
    pub unpruned: Accuracies,
    /// One per way of pruning.
    pub curves: Vec<Curve>,
}

/// Accuracy against the threshold, for one way of pruning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The name of the guide. Its attention decides which edges stay, or only how many if `random`.
    pub guide: String,
    /// Whether the edges that stay are drawn at random instead.
    pub random: bool,
    /// By threshold.
    pub points: Vec<CurvePoint>,
}

/// The results of one threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Edges with less attention are left out.
    pub threshold: f64,
    /// Number of edges that stay, if known.
    pub edges: Option<usize>,
    /// On the pruned graph.
    pub accuracies: Accuracies,
}

/// The mean over splits of the mean over trials; NaN where there are none.
fn mean(accuracies: &[Vec<f64>]) -> f64 {
    accuracies.iter().map(|trials| mean_of(trials)).sum::<f64>() / accuracies.len() as f64
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl CurvePoint {
    /// The mean accuracy.
    pub fn mean(&self) -> f64 {
        mean(&self.accuracies)
    }
}

impl Curve {
    /// Threshold and mean accuracy.
    pub fn means(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|point| (point.threshold, point.mean())).collect()
    }

    /// The same of one split, in the order of splits.
    fn of_split(&self, split: usize) -> Option<Vec<(f64, f64)>> {
        let of = |point: &CurvePoint| Some((point.threshold, mean_of(point.accuracies.get(split)?)));
        self.points.iter().map(of).collect()
    }
}

impl Curves {
    /// Mean accuracy on the whole graph.
    pub fn unpruned_mean(&self) -> f64 {
        mean(&self.unpruned)
    }

    /// The paper's area of a curve: below the line of mean accuracies and above the mean accuracy on the whole graph.
    /// NaN for a curve that does not exist.
    pub fn area_above(&self, curve: usize) -> f64 {
        self.curves.get(curve).map_or(f64::NAN, |curve| area_above(&curve.means(), self.unpruned_mean()))
    }

    /// The signed area of every split's own curve over its own level. They pair, split by split, with another curve's.
    pub fn signed_areas(&self, curve: usize) -> Vec<f64> {
        let Some(curve) = self.curves.get(curve) else { return Vec::new() };
        let of = |(split, trials): (usize, &Vec<f64>)| Some(area_between(&curve.of_split(split)?, mean_of(trials)));
        self.unpruned.iter().enumerate().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_trials_then_over_splits() {
        let point = |threshold, accuracies| CurvePoint { threshold, edges: Some(3), accuracies };
        let points =
            vec![point(0.0, vec![vec![0.5, 0.7], vec![0.4, 0.4]]), point(1.0, vec![vec![0.8, 0.8], vec![0.2, 0.4]])];
        let curves = Curves {
            unpruned: vec![vec![0.5, 0.7], vec![0.4, 0.4]],
            curves: vec![Curve { guide: "a".into(), random: false, points }],
        };
        assert!((curves.unpruned_mean() - 0.5).abs() < 1e-12);
        let means = curves.curves[0].means();
        assert!((means[0].1 - 0.5).abs() < 1e-12 && (means[1].1 - 0.55).abs() < 1e-12);
        assert!((curves.area_above(0) - 0.025).abs() < 1e-12);
        let areas = curves.signed_areas(0);
        assert!((areas[0] - 0.1).abs() < 1e-12 && (areas[1] + 0.05).abs() < 1e-12, "{areas:?}");
        assert!(curves.area_above(1).is_nan() && curves.signed_areas(1).is_empty());
    }
}
