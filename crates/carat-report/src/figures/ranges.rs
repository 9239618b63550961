//! The ranges of values that the axes of a panel span.

use super::chart::{Axis, ChartPanel, Mark};
use super::scale::extent;

/// Lowest and highest value of both axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranges {
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
}

/// The ranges that the axes ask for, or those that the marks need.
pub(super) fn ranges(panel: &ChartPanel) -> Ranges {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let (mut bars, mut diagonal) = (false, false);
    for mark in &panel.marks {
        match mark {
            Mark::Dot { at, .. } => {
                x.push(at.0);
                y.push(at.1);
            }
            Mark::Bar { at, .. } => {
                x.extend([at.0 - 0.5, at.0 + 0.5]);
                y.push(at.1);
                bars = true;
            }
            Mark::Line { points, .. } | Mark::Guide { points, .. } => {
                x.extend(points.iter().map(|point| point.0));
                y.extend(points.iter().map(|point| point.1));
            }
            Mark::Box { at, values, .. } => {
                x.extend([at - 0.5, at + 0.5]);
                y.extend(values);
            }
            Mark::Interval { at, range, .. } => {
                x.push(*at);
                y.extend([range.0, range.1]);
            }
            // Its axes have categories, which are their range.
            Mark::Cell { .. } => {}
            Mark::Diagonal => diagonal = true,
            Mark::Level(value, _) => y.push(*value),
        }
    }
    // With a diagonal, both axes show the same values.
    if diagonal && panel.x.categories.is_empty() && panel.y.categories.is_empty() {
        let both: Vec<f64> = x.iter().chain(&y).copied().collect();
        (x, y) = (both.clone(), both);
    }
    Ranges { x: range(&panel.x, &x, false), y: range(&panel.y, &y, bars) }
}

fn range(axis: &Axis, values: &[f64], from_zero: bool) -> (f64, f64) {
    if !axis.categories.is_empty() {
        return (-0.5, axis.categories.len() as f64 - 0.5);
    }
    let possible = |&(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
    let drawable = |&(low, _): &(f64, f64)| !axis.logarithmic || low > 0.0;
    if let Some(range) = axis.range.filter(possible).filter(drawable) {
        return range;
    }
    if axis.logarithmic {
        let logarithms = values.iter().filter(|value| **value > 0.0).map(|value| value.log10());
        let (low, high) = extent(logarithms, 0.05);
        return (10f64.powf(low), 10f64.powf(high));
    }
    let zero = from_zero.then_some(0.0);
    let (least, most) = extent(values.iter().copied().chain(zero), 0.0);
    let (low, high) = extent(values.iter().copied().chain(zero), 0.06);
    // The margin around the marks does not pass 0: an axis of values that are never negative does not show negative
    // ones.
    (if least >= 0.0 { low.max(0.0) } else { low }, if most <= 0.0 { high.min(0.0) } else { high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(x: Axis, y: Axis, marks: Vec<Mark>) -> ChartPanel {
        ChartPanel { title: String::new(), note: String::new(), x, y, marks }
    }

    fn dot(x: f64, y: f64) -> Mark {
        Mark::Dot { at: (x, y), series: 0, radius: 3.0, tip: String::new() }
    }

    #[test]
    fn bars_start_at_zero_and_categories_have_space() {
        let axis = Axis::of_categories(vec!["a".into(), "b".into()]);
        let bar = |at| Mark::Bar { at, series: 0, tip: String::new() };
        let Ranges { x, y } = ranges(&panel(axis, Axis::default(), vec![bar((0.0, 2.0)), bar((1.0, 1.0))]));
        assert_eq!((x, y.0), ((-0.5, 1.5), 0.0));
        assert!(y.1 > 2.0);
    }

    #[test]
    fn a_diagonal_makes_both_axes_the_same() {
        let marks = vec![dot(1.0, 5.0), dot(2.0, 9.0), Mark::Diagonal];
        let Ranges { x, y } = ranges(&panel(Axis::default(), Axis::default(), marks));
        assert_eq!(x, y);
        assert!(x.0 < 1.0 && x.0 > 0.0 && x.1 > 9.0);
        let Ranges { x, y } = ranges(&panel(Axis::default(), Axis::default(), vec![dot(0.1, -9.0), dot(9.0, -0.1)]));
        assert_eq!((x.0, y.1), (0.0, 0.0));
    }

    #[test]
    fn impossible_ranges_are_ignored() {
        let logarithmic = Axis { logarithmic: true, range: Some((0.0, 1.0)), ..Axis::default() };
        let reversed = Axis { range: Some((1.0, f64::NAN)), ..Axis::default() };
        let marks = vec![dot(0.1, 1.0), dot(10.0, 2.0), dot(0.0, 1.5), dot(-3.0, 1.5)];
        let Ranges { x, y } = ranges(&panel(logarithmic, reversed, marks));
        assert!(x.0 > 0.05 && x.0 < 0.1 && x.1 > 10.0 && x.1 < 20.0, "{x:?}");
        assert!(y.0 < 1.0 && y.1 > 2.0 && y.1 < 2.5, "{y:?}");
    }
}
