//! Results of pruning by attention: curves, areas, and the report on one graph.

use carat::rewire::{Curve, CurvePoint, Curves};
use serde::Serialize;

use crate::figures::{Axis, Chart, ChartPanel, Mark};
use crate::format;
use crate::statistics::{Spread, wilcoxon_greater};
use crate::{Block, Cell, Column, Report, Section, Table};

/// The definition of an area, for captions and notes.
pub const AREA_MEANING: &str = "The area of a curve is what lies below the line of its mean accuracies and above the \
     mean accuracy on the whole graph, between the first and the last threshold: the paper's measure, from which \
     nothing is taken away where the curve lies below. The signed area takes it away, and is taken split by split.";

/// The name of a curve: the network whose attention decides, or random pruning to as many edges.
pub fn label(curve: &Curve) -> String {
    name(&curve.guide, curve.random)
}

fn name(guide: &str, random: bool) -> String {
    if random { format!("random, as many edges as {guide}") } else { guide.to_string() }
}

/// Mean and deviation of accuracies over splits, or over trials if there is one split.
pub fn spread(accuracies: &[Vec<f64>]) -> Option<Spread> {
    match accuracies {
        [trials] => Spread::of(trials),
        splits => {
            let means: Vec<f64> = splits.iter().filter_map(|trials| Some(Spread::of(trials)?.mean)).collect();
            Spread::of(&means)
        }
    }
}

/// One panel per study, which must all have the same curves.
pub fn chart(title: &str, panels: &[(String, &Curves)]) -> Chart {
    let series = panels.first().map(|(_, curves)| curves.curves.iter().map(label).collect()).unwrap_or_default();
    let panel = |(title, curves): &(String, &Curves)| ChartPanel {
        title: title.clone(),
        note: String::new(),
        x: Axis::new("threshold of attention"),
        y: Axis::new("test accuracy of a GCN"),
        marks: marks(curves),
    };
    Chart {
        title: title.to_string(),
        caption:
            "Test accuracy of GCNs trained and tested on the graph without the edges whose attention is below the \
                  threshold; at the right end no edge is left. The dashed line is the whole graph. Strokes are a \
                  standard deviation to either side. The vertical axis does not start at 0."
                .into(),
        series,
        panels: panels.iter().map(panel).collect(),
    }
}

fn marks(curves: &Curves) -> Vec<Mark> {
    let mut marks = vec![Mark::Level(curves.unpruned_mean(), "whole graph".into())];
    let mut dots = Vec::new();
    let span =
        curves.curves.first().and_then(|curve| Some(curve.points.last()?.threshold - curve.points.first()?.threshold));
    for (series, curve) in curves.curves.iter().enumerate() {
        // Side by side, so that the strokes of curves do not hide each other.
        let aside = (series as f64 - (curves.curves.len() - 1) as f64 / 2.0) * 0.008 * span.unwrap_or(0.0);
        let name = label(curve);
        let points: Vec<(f64, f64)> = curve.means().into_iter().map(|(x, y)| (x + aside, y)).collect();
        marks.push(Mark::Line { points: points.clone(), series, tip: name.clone() });
        for (point, at) in curve.points.iter().zip(points) {
            let tip = format!("{name}, {}", described(point));
            let deviation = spread(&point.accuracies).and_then(|spread| spread.deviation).unwrap_or(0.0);
            if deviation > 0.0 {
                let range = (at.1 - deviation, at.1 + deviation);
                marks.push(Mark::Interval { at: at.0, range, series, tip: tip.clone() });
            }
            dots.push(Mark::Dot { at, series, radius: 2.5, tip });
        }
    }
    // Dots come last, because a line over a dot would hide the dot's tooltip.
    marks.into_iter().chain(dots).collect()
}

fn described(point: &CurvePoint) -> String {
    let edges = point.edges.map(|edges| format!(", {}", format::counted(edges, "edge"))).unwrap_or_default();
    let accuracy = spread(&point.accuracies).map_or_else(|| format::UNDEFINED.to_string(), |spread| spread.text(3));
    format!("threshold {}{edges}: {accuracy}", point.threshold)
}

/// Accuracies by threshold, a column for every curve.
pub fn curve_table(name: &str, caption: &str, curves: &Curves) -> Table {
    let mut columns = vec![Column::numbers("threshold")];
    for curve in &curves.curves {
        // A random curve has as many edges as the curve before it.
        let known = !curve.random && curve.points.iter().any(|point| point.edges.is_some());
        columns.extend(known.then(|| Column::numbers(format!("edges left by {}", curve.guide))));
        columns.push(Column::numbers(label(curve)));
    }
    let thresholds = curves.curves.first().map(|curve| curve.points.len()).unwrap_or_default();
    let row = |place: usize| {
        let mut row = Vec::new();
        for point_of in &curves.curves {
            let Some(point) = point_of.points.get(place) else { continue };
            if row.is_empty() {
                row.push(Cell::number(point.threshold.to_string(), point.threshold));
            }
            row.extend(point.edges.filter(|_| !point_of.random).map(format::count_cell));
            row.push(format::spread_cell(spread(&point.accuracies), 3));
        }
        row
    };
    Table { name: name.into(), caption: caption.into(), columns, rows: (0..thresholds).map(row).collect() }
}

/// The figures of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AreaFigures {
    /// The network whose attention decides.
    pub guide: String,
    /// True where as many edges are removed at random instead.
    pub random: bool,
    /// The paper's area.
    pub area: f64,
    /// Mean and deviation over splits of the signed area.
    pub signed_area: Option<Spread>,
    /// The threshold with the highest mean accuracy, and that accuracy.
    pub best: Option<(f64, f64)>,
}

/// The figures of every curve.
pub fn areas(curves: &Curves) -> Vec<AreaFigures> {
    let figures = |(place, curve): (usize, &Curve)| AreaFigures {
        guide: curve.guide.clone(),
        random: curve.random,
        area: curves.area_above(place),
        signed_area: Spread::of(&curves.signed_areas(place)),
        best: curve.means().into_iter().filter(|(_, y)| y.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1)),
    };
    curves.curves.iter().enumerate().map(figures).collect()
}

/// The probability that chance alone puts the signed areas of `better` this far above those of `other`, paired by
/// split. `None` where there are too few splits.
pub fn p_larger(curves: &Curves, better: usize, other: usize) -> Option<f64> {
    let (better, other) = (curves.signed_areas(better), curves.signed_areas(other));
    let differences: Vec<f64> = better.iter().zip(&other).map(|(better, other)| better - other).collect();
    (differences.len() > 1).then(|| wilcoxon_greater(&differences)).flatten()
}

/// The table of areas, a row for every curve.
pub fn area_table(curves: &Curves) -> Table {
    let row = |figures: AreaFigures| {
        vec![
            Cell::text(name(&figures.guide, figures.random)),
            format::number_cell(Some(figures.area), 4),
            format::spread_cell(figures.signed_area, 4),
            format::number_cell(figures.best.map(|(_, accuracy)| accuracy), 3),
            format::number_cell(figures.best.map(|(threshold, _)| threshold), 2),
        ]
    };

    let caption = format!("Areas; GCNs on the whole graph have a mean test accuracy of {:.3}", curves.unpruned_mean());
    Table::new(
        "areas",
        caption,
        ["pruned by"],
        ["area", "signed area", "highest accuracy", "at threshold"],
        areas(curves).into_iter().map(row),
    )
}

/// The report on one graph. `about` describes what was trained.
pub fn report(data: &str, about: Vec<String>, curves: &Curves) -> Report {
    let mut blocks = vec![
        Block::Chart(chart("Accuracy on pruned graphs", &[(data.to_string(), curves)])),
        Block::Table(curve_table("curve", "Test accuracy by threshold", curves)),
        Block::Table(area_table(curves)),
        Block::Paragraph(AREA_MEANING.into()),
        Block::Paragraph(
            "The highest accuracy is the highest of many and was found on test nodes: it describes the curve, and is \
             no forecast. The random curves are the control: what attention adds is what lies above them."
                .into(),
        ),
    ];
    blocks.push(Block::Points(about));
    Report {
        title: format!("Pruning {data} by attention"),
        lead: vec![Block::Paragraph(sentence(curves))],
        sections: vec![Section::new("rewire", "Curves and areas", blocks)],
    }
}

/// Mean accuracy without any edge, if a threshold is above 1: attention never exceeds 1.
pub fn without_edges(curves: &Curves) -> Option<f64> {
    let point = curves.curves.first().and_then(|curve| curve.points.last());
    point.filter(|point| point.threshold > 1.0 && point.edges.is_none_or(|edges| edges == 0)).map(CurvePoint::mean)
}

/// The results in a sentence.
fn sentence(curves: &Curves) -> String {
    let figures = areas(curves);
    let parts: Vec<String> = figures
        .chunks(2)
        .filter_map(|pair| match pair {
            [guided, random] => Some(format!("{:.4} for {} ({:.4} at random)", guided.area, guided.guide, random.area)),
            _ => None,
        })
        .collect();
    let without = without_edges(curves).map(|mean| format!(", and of {mean:.3} without any edge")).unwrap_or_default();
    format!(
        "GCNs have a mean test accuracy of {:.3} on the whole graph{without}. The area of pruning above the whole \
         graph's is {}.",
        curves.unpruned_mean(),
        format::list(&parts)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(splits: usize) -> Curves {
        let point = |threshold: f64, height: f64, edges| CurvePoint {
            threshold,
            edges: Some(edges),
            accuracies: (0..splits).map(|split| vec![height + 0.01 * split as f64, height]).collect(),
        };
        let curve = |random: bool, height: f64| Curve {
            guide: "gat".into(),
            random,
            points: vec![point(0.0, 0.5, 2000), point(0.5, height, 1000), point(1.01, 0.4, 0)],
        };
        Curves {
            unpruned: (0..splits).map(|split| vec![0.5 + 0.01 * split as f64, 0.5]).collect(),
            curves: vec![curve(false, 0.7), curve(true, 0.45)],
        }
    }

    #[test]
    fn reports_agree_with_the_curves() {
        let curves = curves(3);
        let report = report("tiny", vec!["one".into()], &curves);
        let Block::Paragraph(lead) = &report.lead[0] else { panic!("no lead") };
        assert!(
            lead.starts_with(
                "GCNs have a mean test accuracy of 0.505 on the whole graph, and of 0.405 without any edge."
            ),
            "{lead}"
        );
        assert!(lead.contains("for gat (") && lead.contains(" at random)"), "{lead}");
        let tables: Vec<&Table> = report.sections[0].tables().collect();
        let headings: Vec<&str> = tables[0].columns.iter().map(|column| column.heading.as_str()).collect();
        assert_eq!(headings, ["threshold", "edges left by gat", "gat", "random, as many edges as gat"]);
        assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
        assert_eq!(tables[0].rows[1][1].text, "1,000");
        assert_eq!(tables[1].rows[0][3].text, "0.705");
        assert!(crate::html(&report).contains("Pruning tiny by attention"));
    }

    #[test]
    fn splits_pair_and_one_split_has_no_p() {
        assert_eq!(p_larger(&curves(1), 0, 1), None);
        let p = p_larger(&curves(6), 0, 1).unwrap();
        assert!((p - 1.0 / 64.0).abs() < 1e-9, "{p}");
        assert!(p_larger(&curves(6), 1, 0).unwrap() > 0.9);
        let one = spread(&[vec![0.4, 0.6]]).unwrap();
        assert!((one.mean - 0.5).abs() < 1e-12 && one.deviation.unwrap() > 0.1);
    }

    #[test]
    fn every_curve_is_drawn_over_the_whole_graph() {
        let curves = curves(2);
        let chart = chart("t", &[("a".into(), &curves), ("b".into(), &curves)]);
        assert_eq!((chart.series.len(), chart.panels.len()), (2, 2));
        let marks = &chart.panels[0].marks;
        assert!(matches!(&marks[0], Mark::Level(level, _) if (level - 0.5025).abs() < 1e-12));
        assert_eq!(marks.iter().filter(|mark| matches!(mark, Mark::Line { .. })).count(), 2);
        assert_eq!(marks.iter().filter(|mark| matches!(mark, Mark::Dot { .. })).count(), 6);
    }
}
