//! Tables of the groups and of the properties that separate edges, and a figure.

use carat::explain::{Group, Property};
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::{Direction, Spread};
use carat_report::{Cell, Column, Table, format};

use super::study::{Pair, Studied};
use crate::reproduce::draft::PROTOCOLS;
use crate::reproduce::paper;

/// The mean of a figure over pairs, with its deviation where there are several.
fn over<'a>(pairs: impl Iterator<Item = &'a Pair>, figure: impl Fn(&Pair) -> Option<f64>) -> Option<Spread> {
    Spread::of(&pairs.filter_map(figure).collect::<Vec<_>>())
}

/// One row per dataset, protocol and group.
pub(super) fn groups(studied: &[Studied]) -> Table {
    let mut columns = ["dataset", "protocol", "group", "the paper"].map(Column::text).to_vec();
    let headings = [
        "pairs",
        "ranked edges",
        "median change, %",
        "went up, %",
        "AUC",
        "same class: median change, %",
        "other class: median change, %",
    ];
    columns.extend(headings.map(Column::numbers));
    columns.push(Column::text("here, relative to other edges"));
    let mut rows = Vec::new();
    for (study, protocol, group) in cells(studied, &[Group::Anchor, Group::Narrow]) {
        let pairs = || study.pairs(protocol);
        let members: Vec<_> = pairs().filter_map(|pair| pair.group(group)).collect();
        if members.is_empty() {
            continue;
        }
        let figure = |figure: fn(&carat_report::explain::GroupSummary) -> Option<f64>| {
            over(pairs(), |pair| pair.group(group).and_then(figure))
        };
        let count = |way| members.iter().filter(|summary| summary.direction() == Some(way)).count();
        let (down, up) = (count(Direction::Below), count(Direction::Above));
        rows.push(vec![
            Cell::text(paper::title(&study.data)),
            Cell::text(protocol.name()),
            Cell::text(group.title()),
            Cell::text(if group == Group::Narrow { "up" } else { "down" }),
            format::count_cell(members.len()),
            format::count_spread_cell(figure(|summary| Some(summary.all.edges as f64)).map(without_deviation)),
            format::spread_cell(figure(|summary| summary.all.median_change), 1),
            format::spread_cell(figure(|summary| summary.all.up_share.map(|share| 100.0 * share)), 0),
            format::spread_cell(figure(|summary| Some(summary.separation?.auc)), 3),
            format::spread_cell(figure(|summary| summary.same_class.median_change), 1),
            format::spread_cell(figure(|summary| summary.other_class.median_change), 1),
            Cell::text(went(down, up, members.len())),
        ]);
    }
    let caption = "What became of the paper's kinds of edges: means over pairs of networks, and their deviation";
    Table { name: "interpretation".into(), caption: caption.into(), columns, rows }
}

/// Every seed has the same graph and edges, so their number has no deviation.
fn without_deviation(spread: Spread) -> Spread {
    Spread { deviation: None, ..spread }
}

fn went(down: usize, up: usize, pairs: usize) -> String {
    match (down, up) {
        (down, 0) if down == pairs => "down".into(),
        (0, up) if up == pairs => "up".into(),
        (0, 0) => "not clear".into(),
        _ => format!("down in {down}, up in {up} of {pairs}"),
    }
}

fn cells<'a, V: Copy>(
    studied: &'a [Studied],
    values: &'a [V],
) -> impl Iterator<Item = (&'a Studied, carat::Protocol, V)> {
    studied.iter().flat_map(move |study| {
        PROTOCOLS.into_iter().flat_map(move |protocol| values.iter().map(move |value| (study, protocol, *value)))
    })
}

/// One row per dataset and property.
pub(super) fn properties(studied: &[Studied]) -> Table {
    let mut columns = ["dataset", "protocol", "property"].map(Column::text).to_vec();
    columns.extend(["up: typical", "down: typical", "AUC"].map(Column::numbers));
    let mut rows = Vec::new();
    for (study, protocol, property) in cells(studied, &Property::ALL) {
        let typical = |up: bool| {
            let of = |pair: &Pair| {
                let contrast = pair.contrast(property)?;
                Some(if up { contrast.up.typical(property) } else { contrast.down.typical(property) })
            };
            format::spread_cell(over(study.pairs(protocol), of), 2)
        };
        let Some(auc) = over(study.pairs(protocol), |pair| Some(pair.contrast(property)?.separation.auc)) else {
            continue;
        };
        rows.push(vec![
            Cell::text(paper::title(&study.data)),
            Cell::text(protocol.name()),
            Cell::text(property.title()),
            typical(true),
            typical(false),
            format::spread_cell(Some(auc), 3),
        ]);
    }
    let caption = "The tenth of the edges that went up most beside the tenth that went down most: medians (same class \
                   and year gap: means), and the probability that an up-weighted edge has more of the property";
    Table { name: "interpretation-properties".into(), caption: caption.into(), columns, rows }
}

/// The last column of the table of properties.
pub(super) fn chart(studied: &[Studied]) -> Chart {
    let panel = |study: &Studied| {
        let known: Vec<Property> = Property::ALL
            .into_iter()
            .filter(|property| study.all.iter().any(|pair| pair.contrast(*property).is_some()))
            .collect();
        let mut marks = vec![Mark::Level(0.5, "no difference".into())];
        for (series, protocol) in PROTOCOLS.into_iter().enumerate() {
            for (place, property) in known.iter().enumerate() {
                for pair in study.pairs(protocol) {
                    let Some(auc) = pair.contrast(*property).map(|contrast| contrast.separation.auc) else { continue };
                    let tip = format!("{}, protocol {protocol}: AUC {auc:.3}", property.title());
                    marks.push(Mark::Dot { at: (place as f64, auc), series, radius: 3.0, tip });
                }
            }
        }
        let categories: Vec<String> = known.iter().map(|property| property.title().to_string()).collect();
        ChartPanel {
            title: paper::title(&study.data),
            note: String::new(),
            x: Axis::of_categories(categories),
            y: Axis { label: "AUC".into(), range: Some((0.0, 1.0)), ..Axis::default() },
            marks,
        }
    };
    Chart {
        title: "What separates up- from down-weighted edges".into(),
        caption: "A dot is one pair of networks: the probability that one of its most up-weighted edges has more of a \
                  property than one of its most down-weighted ones."
            .into(),
        series: PROTOCOLS.map(|protocol| format!("protocol {protocol}")).to_vec(),
        panels: studied.iter().filter(|study| !study.all.is_empty()).map(panel).collect(),
    }
}
