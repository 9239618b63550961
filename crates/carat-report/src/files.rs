//! The files of a report: its tables as CSV, its charts as SVG, and the points of its charts as CSV.

use super::outline::parts;
use super::{Block, Cell, Column, Report, Table};
use crate::figures::{Chart, Mark};

/// Names and contents. Cells of numbers are written unrounded.
pub fn files(report: &Report) -> Vec<(String, String)> {
    let blocks = parts(report).into_iter().flat_map(|part| part.blocks);
    let file = |(name, block): (String, &Block)| match block {
        Block::Table(table) => vec![(format!("{name}.csv"), csv(table))],
        Block::Chart(chart) => {
            vec![(format!("{name}.svg"), chart.svg()), (format!("{name}-points.csv"), points(chart))]
        }
        Block::Paragraph(_) | Block::Points(_) | Block::Command(_) => Vec::new(),
    };
    blocks.flat_map(file).collect()
}

/// A table as CSV. A table without columns is an empty file.
fn csv(table: &Table) -> String {
    if table.columns.is_empty() {
        return String::new();
    }
    let parts = parts_of_columns(table);
    let headings = table.columns.iter().zip(&parts).flat_map(|(column, parts)| {
        let heading = column.heading.clone();
        std::iter::once(heading.clone()).chain(parts.iter().map(move |part| format!("{heading}, {part}")))
    });
    let rows = table.cells().map(|row| row.zip(&parts).flat_map(|((column, cell), parts)| fields(column, cell, parts)));
    lines(std::iter::once(headings.collect()).chain(rows.map(Iterator::collect)).collect())
}

/// The points of a chart, one per line. A box has five points, an interval two. Reference lines are left out.
fn points(chart: &Chart) -> String {
    let mut records = vec![["panel", "series", "mark", "x", "y", "about"].map(String::from).to_vec()];
    for panel in &chart.panels {
        let name = |value: f64, categories: &[String]| {
            let category = (value >= 0.0 && value.fract() == 0.0).then(|| categories.get(value as usize)).flatten();
            category.map_or_else(|| number(value), |category| guarded(category))
        };
        for mark in &panel.marks {
            let (kind, series, points, tip): (&str, usize, Vec<(f64, f64)>, &str) = match mark {
                Mark::Dot { at, series, tip, .. } => ("dot", *series, vec![*at], tip),
                Mark::Bar { at, series, tip } => ("bar", *series, vec![*at], tip),
                Mark::Line { points, series, tip } => ("line", *series, points.clone(), tip),
                Mark::Box { at, values, series, tip } => ("box", *series, values.map(|v| (*at, v)).to_vec(), tip),
                Mark::Interval { at, range, series, tip } => {
                    ("interval", *series, vec![(*at, range.0), (*at, range.1)], tip)
                }
                Mark::Cell { at: (x, y), tip, .. } => ("cell", usize::MAX, vec![(*x as f64, *y as f64)], tip),
                Mark::Guide { .. } | Mark::Diagonal | Mark::Level(..) => continue,
            };
            let series = chart.series.get(series).map_or_else(String::new, |series| guarded(series));
            records.extend(points.into_iter().map(|(x, y)| {
                let (x, y) = (name(x, &panel.x.categories), name(y, &panel.y.categories));
                vec![guarded(&panel.title), series.clone(), kind.to_string(), x, y, guarded(tip)]
            }));
        }
    }
    lines(records)
}

/// Text that spreadsheets do not take for a formula: an apostrophe precedes text that looks like one.
pub fn guarded(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.len() > 1 {
        format!("'{text}")
    } else {
        text.to_string()
    }
}

fn lines(records: Vec<Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory fails only if records differ in length, which these do not.
    let written = records.iter().try_for_each(|record| writer.write_record(record)).and_then(|()| Ok(writer.flush()?));
    debug_assert!(written.is_ok());
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// The names of the further numbers in the cells of each column.
fn parts_of_columns(table: &Table) -> Vec<Vec<&'static str>> {
    let mut names: Vec<Vec<&'static str>> = vec![Vec::new(); table.columns.len()];
    for row in table.cells() {
        for (names, (_, cell)) in names.iter_mut().zip(row) {
            for (name, _) in &cell.parts {
                if !names.contains(name) {
                    names.push(name);
                }
            }
        }
    }
    names
}

/// A cell's number or text, then its further numbers. A missing number is an empty field.
fn fields(column: &Column, cell: &Cell, parts: &[&'static str]) -> Vec<String> {
    let own = match cell.value {
        Some(value) => number(value),
        None if column.numeric => String::new(),
        None => guarded(&cell.text),
    };
    let part = |name: &&'static str| {
        cell.parts.iter().find(|(own, _)| own == name).map_or_else(String::new, |(_, value)| number(*value))
    };
    std::iter::once(own).chain(parts.iter().map(part)).collect()
}

/// The shortest text that reads back as the same number.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e17).contains(&size) && value.is_finite() {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Section;
    use crate::figures::{Axis, ChartPanel};

    #[test]
    fn csv_is_quoted_and_unrounded() {
        let table = Table {
            name: "t".into(),
            caption: String::new(),
            columns: vec![Column::text("a, \"b\""), Column::numbers("n"), Column::numbers("p")],
            rows: vec![
                vec![Cell::text("line\nbreak"), Cell::number("0.3", 0.1 + 0.2), Cell::number("<0.001", 1.5e-300)],
                vec![Cell::text("=1+1"), Cell::number("-", f64::NAN)],
            ],
        };
        let text = csv(&table);
        assert_eq!(text, "\"a, \"\"b\"\"\",n,p\n\"line\nbreak\",0.30000000000000004,1.5e-300\n'=1+1,NaN,\n");
        let table = Table {
            columns: vec![Column::text("a"), Column::numbers("change")],
            rows: vec![
                vec![Cell::text("x"), Cell::number("1 (0 to 2)", 1.0).with_parts([("low", 0.5), ("high", 2.0)])],
                vec![Cell::text("y"), Cell::text("-")],
            ],
            ..table
        };
        assert_eq!(csv(&table), "a,change,\"change, low\",\"change, high\"\nx,1,0.5,2\ny,,,\n");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records[0][1].parse::<f64>().unwrap(), 0.1 + 0.2);
        assert_eq!((&records[0][0], records.len()), ("line\nbreak", 2));
    }

    #[test]
    fn every_table_and_chart_has_its_own_files() {
        let table = Table { name: "t".into(), caption: String::new(), columns: Vec::new(), rows: Vec::new() };
        let chart =
            crate::figures::Chart { title: "c".into(), caption: String::new(), series: Vec::new(), panels: Vec::new() };
        let blocks = vec![Block::Chart(chart.clone()), Block::Table(table.clone()), Block::Chart(chart.clone())];
        let section = |id: &str| Section { id: id.into(), title: String::new(), blocks: blocks.clone() };
        let report = Report {
            title: String::new(),
            lead: vec![Block::Chart(chart)],
            sections: vec![section("a"), section("a")],
        };
        let names: Vec<String> = files(&report).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, EXPECTED);
    }

    const EXPECTED: [&str; 12] = [
        "lead-1.svg",
        "lead-1-points.csv",
        "a-1.svg",
        "a-1-points.csv",
        "t.csv",
        "a-2.svg",
        "a-2-points.csv",
        "a-2-1.svg",
        "a-2-1-points.csv",
        "t-2.csv",
        "a-2-2.svg",
        "a-2-2-points.csv",
    ];

    #[test]
    fn points_have_their_names_and_numbers() {
        let marks = vec![
            Mark::Dot { at: (1.0, 0.25), series: 0, radius: 2.0, tip: "=one".into() },
            Mark::Interval { at: 0.0, range: (-1.0, 1.5), series: 1, tip: "two".into() },
            Mark::Diagonal,
        ];
        let x = Axis::of_categories(vec!["low".into(), "high".into()]);
        let panel = ChartPanel { title: "p".into(), note: String::new(), x, y: Axis::default(), marks };
        let series = vec!["a".into(), "b".into()];
        let chart = Chart { title: "c".into(), caption: String::new(), series, panels: vec![panel] };
        let expected =
            "panel,series,mark,x,y,about\np,a,dot,high,0.25,'=one\np,b,interval,low,-1,two\np,b,interval,low,1.5,two\n";
        assert_eq!(points(&chart), expected);
    }
}
