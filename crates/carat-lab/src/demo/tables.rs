//! The demo's tables, the same on the terminal and on the page.

use super::{Comparison, DemoReport, Measure, Treatment, Verdict};

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Headings; those of columns that are aligned to the right start with `>`.
    pub headings: Vec<String>,
    /// One text per heading.
    pub rows: Vec<Vec<String>>,
}

/// A measure at every strength of the shortcut for every attention kind: means over seeds, and how a treatment with a
/// causal signal differs from the baseline and from its control. One table per such treatment.
pub fn measured(report: &DemoReport, measure: Measure) -> Vec<Table> {
    let direction = if measure.lower_is_better() { "lower is better" } else { "higher is better" };
    let causal = report.config.treatments().filter_map(|treatment| Some((treatment, treatment.control()?)));
    let table = |(treatment, control): (Treatment, Treatment)| {
        let whose = match treatment {
            Treatment::Car => String::new(),
            _ => format!(": {} and {}", treatment.label(), control.label()),
        };
        let headings = ["shortcut", "attention", ">baseline", ">control", ">CAR", ">CAR - baseline", ">CAR - control"];
        let cells =
            report.config.shortcuts.iter().flat_map(|&s| report.config.kinds.iter().map(move |&kind| (s, kind)));
        let rows = cells.map(|(shortcut, kind)| {
            let mean = |treatment| {
                let spread = report.arm(Some(shortcut), kind, treatment).and_then(|arm| arm.spread(measure));
                spread.map_or("-".to_string(), |spread| format!("{:.3}", spread.mean))
            };
            let change = |against| {
                let mut comparisons = report.comparisons_of((treatment, against), measure);
                comparisons.find(|c| c.shortcut == shortcut && c.arch == kind).map_or("-".to_string(), change)
            };
            let means = [Treatment::Baseline, control, treatment].map(mean);
            let changes = [Treatment::Baseline, control].map(change);
            [shortcut.to_string(), kind.to_string()].into_iter().chain(means).chain(changes).collect()
        });
        Table {
            title: format!("{}, {direction}{whose}", measure.title()),
            headings: headings.map(String::from).to_vec(),
            rows: rows.collect(),
        }
    };
    causal.map(table).collect()
}

/// How many attention kinds come out which way, for every comparison, measure and strength of the shortcut.
pub fn summary(report: &DemoReport) -> Table {
    let strengths = report.config.shortcuts.iter().map(|shortcut| format!("shortcut {shortcut}"));
    let headings = ["treatment", "against", "measure"].map(String::from).into_iter().chain(strengths);
    let pairs = report.matches().flat_map(|pair| Measure::ALL.map(|measure| (pair, measure)));
    let rows = pairs.map(|(pair, measure)| {
        let counts = report.config.shortcuts.iter().map(|&shortcut| {
            let verdicts = report.comparisons_of(pair, measure).filter(|c| c.shortcut == shortcut).map(|c| c.verdict);
            counts(&verdicts.collect::<Vec<_>>())
        });
        let names = [pair.0.label(), pair.1.label(), measure.label()].map(String::from);
        names.into_iter().chain(counts).collect()
    });
    let title = "How many attention kinds come out clearly better, clearly worse, or neither".to_string();
    Table { title, headings: headings.collect(), rows: rows.collect() }
}

fn counts(verdicts: &[Verdict]) -> String {
    let words = [(Verdict::Better, "better"), (Verdict::Unclear, "unclear"), (Verdict::Worse, "worse")];
    let counts = words.map(|(verdict, word)| (verdicts.iter().filter(|v| **v == verdict).count(), word));
    let texts: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if texts.is_empty() { "-".to_string() } else { texts.join(", ") }
}

fn change(comparison: &Comparison) -> String {
    let unclear = if comparison.verdict == Verdict::Unclear { "unclear, " } else { "" };
    format!("{:+.3}, {unclear}p {}", comparison.change.mean, p_value(comparison.p()))
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_string() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_probabilities_are_bounded() {
        assert_eq!([0.00390625, 0.5, 0.00099].map(p_value), ["0.004", "0.500", "<0.001"]);
    }

    #[test]
    fn counts_name_what_there_is() {
        use Verdict::{Better, Unclear, Worse};
        assert_eq!(counts(&[Worse, Better, Better]), "2 better, 1 worse");
        assert_eq!(counts(&[Unclear; 3]), "3 unclear");
        assert_eq!(counts(&[]), "-");
    }
}
