//! The demo's tables, the same on the terminal and on the page.

use carat_lab::compare::Measure;
use carat_report::{Cell, Column, Table, format};

use super::{CaseReport, DemoReport, MEASURES, Treatment, Verdict};

/// What a treatment and its control change, over all attention kinds: every measure at the weakest shortcut, and
/// faithfulness and accuracy at the stronger ones.
pub fn summary(report: &DemoReport, (treatment, control): (Treatment, Treatment)) -> Table {
    let mut columns = ["shortcut", "measure"].map(Column::text).to_vec();
    columns.extend([Treatment::Baseline, control, treatment].map(|t| Column::numbers(t.label())));
    let name = treatment.label();
    columns.extend([format!("{name}: than plain"), "than its control".to_string()].map(Column::text));
    let first = report.config.shortcuts.first().copied();
    let rows = report.config.shortcuts.iter().flat_map(|&shortcut| {
        let is_shown = move |measure: &Measure| Some(shortcut) == first || STRONGER.contains(measure);
        MEASURES.into_iter().filter(is_shown).map(move |measure| (shortcut, measure))
    });
    let rows = rows.map(|(shortcut, measure)| {
        let mean = |treatment| format::number_cell(report.mean(Some(shortcut), treatment, measure), 3);
        let verdict = |against| {
            let case = report.case(shortcut, None, (treatment, against), measure);
            Cell::text(case.map_or(format::UNDEFINED.to_string(), verdict))
        };
        let names = [Cell::number(shortcut.to_string(), shortcut), Cell::text(measure.name())];
        let means = [Treatment::Baseline, control, treatment].map(mean);
        names.into_iter().chain(means).chain([Treatment::Baseline, control].map(verdict)).collect()
    });
    let caption = "Means over graphs and attention kinds".to_string();
    Table { name: String::new(), caption, columns, rows: rows.collect() }
}

/// What is shown at stronger shortcuts, too.
const STRONGER: [Measure; 2] = [Measure::FAITHFULNESS, Measure::TEST_ACCURACY];

fn verdict(case: &CaseReport) -> String {
    let word = match case.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Unclear => "unclear",
    };
    format!("{word}, p {}", format::probability(case.p()))
}

/// A measure at every strength of the shortcut, for every attention kind. One table per treatment with a causal signal:
/// means over seeds, and its differences from the baseline and from its control.
pub fn measured(report: &DemoReport, measure: Measure) -> Vec<Table> {
    let table = |(treatment, control): (Treatment, Treatment)| {
        let whose = match treatment {
            Treatment::Car => String::new(),
            _ => format!(": {} and {}", treatment.label(), control.label()),
        };
        let mut columns = ["shortcut", "attention"].map(Column::text).to_vec();
        columns.extend(["plain", "control", "CAR", "CAR - plain", "CAR - control"].map(Column::numbers));
        let cells =
            report.config.shortcuts.iter().flat_map(|&s| report.config.kinds.iter().map(move |&kind| (s, kind)));
        let rows = cells.map(|(shortcut, kind)| {
            let mean = |treatment| {
                let arm = report.arm(Some(shortcut), kind, treatment);
                format::number_cell(arm.and_then(|arm| arm.spread(measure)).map(|spread| spread.mean), 3)
            };
            let change = |against| {
                let case = report.case(shortcut, Some(kind), (treatment, against), measure);
                case.map_or(Cell::text(format::UNDEFINED), change)
            };
            let names = [Cell::number(shortcut.to_string(), shortcut), Cell::text(kind.name())];
            let means = [Treatment::Baseline, control, treatment].map(mean);
            names.into_iter().chain(means).chain([Treatment::Baseline, control].map(change)).collect()
        });
        Table {
            name: String::new(),
            caption: format!("{}, {} is better{whose}", format::capitalised(measure.name()), measure.better()),
            columns,
            rows: rows.collect(),
        }
    };
    report.causal().map(table).collect()
}

fn change(case: &CaseReport) -> Cell {
    let unclear = if case.verdict == Verdict::Unclear { "unclear, " } else { "" };
    let mean = case.change.mean;
    Cell::number(format!("{mean:+.3}, {unclear}p {}", format::probability(case.p())), mean)
}
