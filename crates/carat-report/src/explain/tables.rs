//! The tables of an explanation, the same on the page and on the terminal.

use super::sentences::{attention, difference, number, percent};
use super::{Contrast, Explanation, GroupPart, GroupSummary, ListedEdge, ListedNode, Sample};
use crate::format;
use crate::statistics::{Direction, Separation};
use crate::{Cell, Column, Table};

/// Edges by name, with everything that is known about them.
pub fn listed_table(name: &str, caption: &str, edges: &[ListedEdge]) -> Table {
    let has = |known: fn(&ListedNode) -> bool| edges.iter().any(|edge| known(&edge.src) || known(&edge.dst));
    let about = has(|node| node.class.is_some() || node.year.is_some());
    let effects = edges.iter().any(|edge| edge.effect.is_some());
    let similar = edges.iter().any(|edge| edge.similarity.is_some());
    // On a phone only the first column stays visible while a table scrolls.
    let mut columns = vec![Column::numbers("change"), Column::text("target (attends)")];
    columns.extend(about.then(|| Column::text("its class, year")));
    columns.push(Column::text("source (is attended to)"));
    columns.extend(about.then(|| Column::text("its class, year")));
    columns.extend(["baseline", "CAR"].map(Column::numbers));
    columns.extend(effects.then(|| Column::numbers("effect")));
    columns.extend(similar.then(|| Column::numbers("similarity")));
    columns.push(Column::numbers("source's degree"));
    let row = |edge: &ListedEdge| {
        let [base, car, change] = attention_cells(edge);
        let mut row = vec![change, Cell::text(edge.dst.shown())];
        row.extend(about.then(|| Cell::text(edge.dst.about())));
        row.push(Cell::text(edge.src.shown()));
        row.extend(about.then(|| Cell::text(edge.src.about())));
        row.extend([base, car]);
        row.extend(effects.then(|| effect_cell(edge)));
        row.extend(similar.then(|| format::number_cell(edge.similarity, 2)));
        row.push(format::count_cell(edge.src_degree as usize));
        row
    };
    Table { name: name.into(), caption: caption.into(), columns, rows: edges.iter().map(row).collect() }
}

fn effect_cell(edge: &ListedEdge) -> Cell {
    edge.effect.map_or_else(|| Cell::text(format::UNDEFINED), |delta| Cell::number(format::signed(delta, 3), delta))
}

fn attention_cells(edge: &ListedEdge) -> [Cell; 3] {
    let [base, car] = [edge.base, edge.car].map(|alpha| Cell::number(attention(f64::from(alpha)), f64::from(alpha)));
    [base, car, Cell::number(difference(edge.difference), edge.difference)]
}

/// Edges by name, for the width of a terminal. Long names are cut.
pub fn brief_table(caption: &str, edges: &[ListedEdge]) -> Table {
    let effects = edges.iter().any(|edge| edge.effect.is_some());
    let mut columns = ["target (attends)", "source (is attended to)"].map(Column::text).to_vec();
    columns.extend(["baseline", "CAR", "change"].map(Column::numbers));
    columns.extend(effects.then(|| Column::numbers("effect")));
    let node = |node: &ListedNode| match node.about() {
        about if about.is_empty() => Cell::text(cut(&node.shown(), 36)),
        about => Cell::text(format!("{} ({})", cut(&node.shown(), 24), cut(&about, 20))),
    };
    let row = |edge: &ListedEdge| {
        let mut row = vec![node(&edge.dst), node(&edge.src)];
        row.extend(attention_cells(edge));
        row.extend(effects.then(|| effect_cell(edge)));
        row
    };
    Table { name: String::new(), caption: caption.into(), columns, rows: edges.iter().map(row).collect() }
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_string();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The two ends compared, one property per row.
pub fn separation_table(found: &Explanation) -> Table {
    let mut columns = vec![Column::text("property")];
    columns
        .extend(["up: mean", "up: median", "down: mean", "down: median", "AUC", "95 % interval"].map(Column::numbers));
    columns.push(Column::text("up-weighted edges have"));
    let row = |contrast: &Contrast| {
        let Contrast { property, up, down, separation, .. } = contrast;
        let sample = |sample: &Sample| {
            let mean = Cell::number(number(*property, sample.mean), sample.mean);
            let is_share = *property == carat::explain::Property::SameClass;
            let median = Cell::number(number(*property, sample.median()), sample.median());
            [mean, if is_share { Cell::text(format::UNDEFINED) } else { median }]
        };
        let mut row = vec![Cell::text(property.title())];
        row.extend(sample(up));
        row.extend(sample(down));
        row.extend(separation_cells(Some(*separation)));
        row.push(Cell::text(match separation.direction() {
            Some(Direction::Above) => "more of it",
            Some(Direction::Below) => "less of it",
            None => "no clear difference",
        }));
        row
    };
    let rows = found.separates.iter().map(row).collect();
    let share = 100.0 * found.share;
    let caption = format!("The {share} % of ranked edges that went up most and the {share} % that went down most");
    Table { name: "separation".into(), caption, columns, rows }
}

fn separation_cells(separation: Option<Separation>) -> [Cell; 2] {
    let auc = format::number_cell(separation.map(|separation| separation.auc), 3);
    let interval = separation
        .and_then(|separation| separation.interval)
        .map(|(low, high)| Cell::number(format!("{low:.3} to {high:.3}"), low).with_parts([("high", high)]));
    [auc, interval.unwrap_or_else(|| Cell::text(format::UNDEFINED))]
}

/// The groups that the data can show.
pub fn group_table(found: &Explanation) -> Table {
    let mut columns = vec![Column::text("group")];
    let headings = ["ranked edges", "median change", "went up", "AUC", "95 % interval", "same class", "other class"];
    columns.extend(headings.map(Column::numbers));
    columns.push(Column::text("relative to other edges"));
    let change = |part: &GroupPart| {
        part.median_change.map_or_else(|| Cell::text(format::UNDEFINED), |change| Cell::number(percent(change), change))
    };
    let row = |summary: &GroupSummary| {
        let share = summary.all.up_share.map(|share| Cell::number(format!("{:.0} %", 100.0 * share), share));
        let mut row = vec![
            Cell::text(summary.group.title()),
            format::count_cell(summary.all.edges),
            change(&summary.all),
            share.unwrap_or_else(|| Cell::text(format::UNDEFINED)),
        ];
        row.extend(separation_cells(summary.separation));
        row.extend([&summary.same_class, &summary.other_class].map(change));
        row.push(Cell::text(match summary.direction() {
            Some(Direction::Above) => "up",
            Some(Direction::Below) => "down",
            None => "not clear",
        }));
        row
    };
    let rows = found.groups.iter().filter(|summary| summary.missing.is_none()).map(row).collect();
    let caption =
        "The paper's kinds of edges; the last numbers are median changes of edges within a class and between classes";
    Table { name: "groups".into(), caption: caption.into(), columns, rows }
}
