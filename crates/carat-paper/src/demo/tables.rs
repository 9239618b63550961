//! The demo's tables, the same on the terminal and on the page.

use carat_lab::compare::Measure;
use carat_report::{Cell, Column, Table, words};

use super::measure::title;
use super::{CaseReport, DemoReport, MEASURES, Treatment, Verdict};

/// A measure at every strength of the shortcut for every attention kind: means over seeds, and how a treatment with a
/// causal signal differs from the baseline and from its control. One table per such treatment.
pub fn measured(report: &DemoReport, measure: Measure) -> Vec<Table> {
    let causal = report.config.treatments().filter_map(|treatment| Some((treatment, treatment.control()?)));
    let table = |(treatment, control): (Treatment, Treatment)| {
        let whose = match treatment {
            Treatment::Car => String::new(),
            _ => format!(": {} and {}", treatment.label(), control.label()),
        };
        let mut columns = ["shortcut", "attention"].map(Column::words).to_vec();
        columns.extend(["baseline", "control", "CAR", "CAR - baseline", "CAR - control"].map(Column::numbers));
        let cells =
            report.config.shortcuts.iter().flat_map(|&s| report.config.kinds.iter().map(move |&kind| (s, kind)));
        let rows = cells.map(|(shortcut, kind)| {
            let mean = |treatment| {
                let arm = report.arm(Some(shortcut), kind, treatment);
                words::number_cell(arm.and_then(|arm| arm.spread(measure)).map(|spread| spread.mean), 3)
            };
            let change = |against| {
                let mut cases = report.comparisons_of((treatment, against), measure);
                let case = cases.find(|case| case.shortcut == shortcut && case.arch == kind);
                case.map_or(Cell::words(words::UNDEFINED), change)
            };
            let names = [Cell::number(shortcut.to_string(), shortcut), Cell::words(kind.name())];
            let means = [Treatment::Baseline, control, treatment].map(mean);
            names.into_iter().chain(means).chain([Treatment::Baseline, control].map(change)).collect()
        });
        Table {
            name: String::new(),
            caption: format!("{}, {} is better{whose}", title(measure), measure.better()),
            columns,
            rows: rows.collect(),
        }
    };
    causal.map(table).collect()
}

/// How many attention kinds come out which way, for every comparison, measure and strength of the shortcut.
pub fn summary(report: &DemoReport) -> Table {
    let mut columns = ["treatment", "against", "measure"].map(Column::words).to_vec();
    columns.extend(report.config.shortcuts.iter().map(|shortcut| Column::words(format!("shortcut {shortcut}"))));
    let pairs = report.matches().flat_map(|pair| MEASURES.map(|measure| (pair, measure)));
    let rows = pairs.map(|(pair, measure)| {
        let counts = report.config.shortcuts.iter().map(|&shortcut| {
            let cases = report.comparisons_of(pair, measure).filter(|case| case.shortcut == shortcut);
            Cell::words(counts(&cases.map(|case| case.verdict).collect::<Vec<_>>()))
        });
        let names = [pair.0.label(), pair.1.label(), measure.name()].map(Cell::words);
        names.into_iter().chain(counts).collect()
    });
    let caption = "How many attention kinds come out clearly better, clearly worse, or neither".to_string();
    Table { name: String::new(), caption, columns, rows: rows.collect() }
}

fn counts(verdicts: &[Verdict]) -> String {
    let names = [(Verdict::Better, "better"), (Verdict::Unclear, "unclear"), (Verdict::Worse, "worse")];
    let counts = names.map(|(verdict, word)| (verdicts.iter().filter(|v| **v == verdict).count(), word));
    let texts: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if texts.is_empty() { words::UNDEFINED.to_string() } else { texts.join(", ") }
}

fn change(case: &CaseReport) -> Cell {
    let unclear = if case.verdict == Verdict::Unclear { "unclear, " } else { "" };
    let mean = case.change.mean;
    Cell::number(format!("{mean:+.3}, {unclear}p {}", words::probability(case.p())), mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_name_what_there_is() {
        use Verdict::{Better, Unclear, Worse};
        assert_eq!(counts(&[Worse, Better, Better]), "2 better, 1 worse");
        assert_eq!(counts(&[Unclear; 3]), "3 unclear");
        assert_eq!(counts(&[]), "-");
    }
}
