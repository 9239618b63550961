//! Areas between a curve and a level.
//!
//! The paper measures a way of pruning by "the area below its models' test accuracies line and above the baseline GCN
//! models' test accuracy": parts where the curve lies below the level are not subtracted. The signed area subtracts
//! them.

/// The area below the line through the points, which go from left to right, and above the level.
pub fn area_above(points: &[(f64, f64)], level: f64) -> f64 {
    sum(points, level, |from, to| match (from > 0.0, to > 0.0) {
        (true, true) => (from + to) / 2.0,
        // A triangle, up to where the line crosses the level.
        (true, false) => from * from / (from - to) / 2.0,
        (false, true) => to * to / (to - from) / 2.0,
        (false, false) => 0.0,
    })
}

/// The same, less the area above the line and below the level.
pub fn area_between(points: &[(f64, f64)], level: f64) -> f64 {
    sum(points, level, |from, to| (from + to) / 2.0)
}

/// The sum over the segments of the line of `height`, given the distances at both ends from the level, times the width.
fn sum(points: &[(f64, f64)], level: f64, height: impl Fn(f64, f64) -> f64) -> f64 {
    let segments = points.windows(2).map(|ends| {
        let ((x, y), (next_x, next_y)) = (ends[0], ends[1]);
        (next_x - x) * height(y - level, next_y - level)
    });
    segments.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn areas_by_hand() {
        let points = [(0.0, 0.5), (1.0, 0.7), (2.0, 0.3)];
        // A triangle of width 1 and height 0.2, and one from the peak to the level, half-way along.
        assert!((area_above(&points, 0.5) - (0.1 + 0.05)).abs() < 1e-12);
        assert!((area_between(&points, 0.5) - (0.1 + 0.0)).abs() < 1e-12);
        assert_eq!(area_above(&points, 0.9), 0.0);
        assert_eq!(area_above(&points[..1], 0.0), 0.0);
    }

    proptest! {
        #[test]
        fn what_lies_above_less_what_lies_below_is_the_signed_area(
            heights in proptest::collection::vec(0.0f64..1.0, 0..12),
            level in 0.0f64..1.0,
        ) {
            let points: Vec<(f64, f64)> = heights.iter().enumerate().map(|(x, y)| (x as f64 / 10.0, *y)).collect();
            let mirrored: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, -*y)).collect();
            let (above, below) = (area_above(&points, level), area_above(&mirrored, -level));
            prop_assert!(above >= 0.0 && below >= 0.0);
            prop_assert!((above - below - area_between(&points, level)).abs() < 1e-9);
        }
    }
}
