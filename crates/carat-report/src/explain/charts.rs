//! The figures of an explanation.

use carat::explain::Property;

use super::listed::isolated;
use super::sentences::{attention, difference, number};
use super::{Contrast, Explanation, ListedEdge};
use crate::figures::{Axis, Chart, ChartPanel, Mark};
use crate::format;

/// How far every property separates the two ends.
pub(super) fn separation(found: &Explanation) -> Chart {
    let mut marks = vec![Mark::Level(0.5, "no difference".into())];
    for (place, contrast) in found.separates.iter().enumerate() {
        let auc = contrast.separation.auc;
        let (at, title) = (place as f64, contrast.property.title());
        let interval = contrast.separation.interval;
        let range = interval.map_or(String::new(), |(low, high)| format!(", 95 % interval {low:.3} to {high:.3}"));
        let tip = format!("{title}: AUC {auc:.3}{range}");
        if let Some(range) = interval {
            marks.push(Mark::Interval { at, range, series: 0, tip: tip.clone() });
        }
        marks.push(Mark::Dot { at: (at, auc), series: 0, radius: 4.0, tip });
    }
    let categories = found.separates.iter().map(|contrast| contrast.property.title().to_string()).collect();
    let x = Axis::of_categories(categories);
    let y = Axis {
        label: "probability that an up-weighted edge has more of it".into(),
        range: Some((0.0, 1.0)),
        ..Axis::default()
    };
    Chart {
        title: "What separates up- from down-weighted edges".into(),
        caption: "A dot is the probability that one of the most up-weighted edges has more of a property than one of \
                  the most down-weighted ones (AUC), with its 95 % interval where it is wide enough to see."
            .into(),
        series: vec![String::new()],
        panels: vec![ChartPanel { title: "AUC by property".into(), note: String::new(), x, y, marks }],
    }
}

/// The values of every property at the two ends.
pub(super) fn ends(found: &Explanation) -> Chart {
    let share = 100.0 * found.share;
    Chart {
        title: "Their values".into(),
        caption: "Boxes reach from the first to the third quartile, with the median inside; strokes reach to the \
                  smallest and the largest value."
            .into(),
        series: vec![format!("most down-weighted {share} %"), format!("most up-weighted {share} %")],
        panels: found.separates.iter().map(panel_of_ends).collect(),
    }
}

fn panel_of_ends(contrast: &Contrast) -> ChartPanel {
    let property = contrast.property;
    let both = [("down-weighted", &contrast.down), ("up-weighted", &contrast.up)];
    let mark = |(series, (side, sample)): (usize, &(&str, &super::Sample))| {
        let typical = number(property, sample.typical(property));
        let of = format::counted(sample.known, "edge");
        if property == Property::SameClass {
            let tip = format!("{side}: {typical} of {of} join nodes of one class");
            return Mark::Bar { at: (series as f64, sample.mean), series, tip };
        }
        let [least, first, _, third, most] = sample.five_numbers.map(|value| number(property, value));
        let median = number(property, sample.median());
        let tip = format!("{side}: median {median}, quartiles {first} and {third}, {least} to {most}, of {of}");
        Mark::Box { at: series as f64, values: sample.five_numbers, series, tip }
    };
    let positive = both.iter().all(|(_, sample)| sample.five_numbers[0] > 0.0);
    let spreads = matches!(property, Property::SrcDegree | Property::DstDegree | Property::BaseAttention);
    let y = Axis {
        logarithmic: spreads && positive,
        range: (property == Property::SameClass).then_some((0.0, 1.0)),
        label: match property {
            Property::SameClass => "share of edges".into(),
            Property::YearGap => "years".into(),
            _ => String::new(),
        },
        ..Axis::default()
    };
    ChartPanel {
        title: format::capitalised(property.title()),
        note: format!("AUC {:.2}", contrast.separation.auc),
        x: Axis::of_categories(both.map(|(side, _)| side.to_string()).to_vec()),
        y,
        marks: both.iter().enumerate().map(mark).collect(),
    }
}

/// The typical value of every tenth of the ranked edges.
pub(super) fn tenths(found: &Explanation) -> Chart {
    let panel = |contrast: &Contrast| {
        let property = contrast.property;
        let points: Vec<(f64, f64)> =
            (1..).zip(&contrast.tenths).map(|(place, value)| (f64::from(place), *value)).collect();
        let measure = match property {
            Property::SameClass => "share",
            Property::YearGap => "mean",
            _ => "median",
        };
        let mut marks =
            vec![Mark::Line { points: points.clone(), series: 0, tip: format!("{} by tenth", property.title()) }];
        marks.extend(points.into_iter().map(|at| {
            let tip = format!("tenth {:.0} of 10: {measure} {}", at.0, number(property, at.1));
            Mark::Dot { at, series: 0, radius: 3.0, tip }
        }));
        ChartPanel {
            title: format::capitalised(property.title()),
            note: String::new(),
            x: Axis {
                label: "tenth of the edges, from down to up".into(),
                range: Some((0.5, 10.5)),
                ..Axis::default()
            },
            y: Axis::new(measure),
            marks,
        }
    };
    Chart {
        title: "From the most down-weighted edges to the most up-weighted".into(),
        caption: "The ranked edges in ten equal parts by their change, the most down-weighted on the left.".into(),
        series: vec![String::new()],
        panels: found.separates.iter().filter(|contrast| contrast.tenths.len() > 1).map(panel).collect(),
    }
}

/// Attention before and after, on a sample of edges from all ranks.
pub(super) fn scatter(found: &Explanation) -> Chart {
    let mark = |edge: &ListedEdge| {
        let (src, dst) = (isolated(&edge.src.shown()), isolated(&edge.dst.shown()));
        let (base, car) = (f64::from(edge.base), f64::from(edge.car));
        let tip = format!(
            "{dst} attends to {src}: {} before, {} after ({})",
            attention(base),
            attention(car),
            difference(edge.difference)
        );
        Mark::Dot { at: (base, car), series: usize::from(edge.difference > 0.0), radius: 2.5, tip }
    };
    let axis = |who: &str| Axis { label: format!("attention, {who}"), logarithmic: true, ..Axis::default() };
    let mut marks = vec![Mark::Diagonal];
    marks.extend(found.sample.iter().map(mark));
    let shown = found.sample.len();
    Chart {
        title: "Attention before and after".into(),
        caption: format!(
            "{} of the {} ranked edges, evenly from all ranks. On the dashed line attention is the same in both \
             networks.",
            format::thousands(shown),
            format::thousands(found.ranked)
        ),
        series: vec!["down-weighted".into(), "up-weighted".into()],
        panels: vec![ChartPanel {
            title: "Mean over layers and heads".into(),
            note: String::new(),
            x: axis("baseline"),
            y: axis("CAR"),
            marks,
        }],
    }
}
