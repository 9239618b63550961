//! The appendix's percent changes by kind and strength, and the study of the regulariser's strength.

use carat::{Error, Protocol};
use carat_lab::compare::{Comparison, Measure, Pair, Pairing};
use carat_lab::sweep::Grid;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::{SIGNIFICANT, five_numbers, holm, median, welch_greater};
use carat_report::{Cell, Column, Table, format};

use super::draft::{PROTOCOLS, short_name};
use super::finding::{Answer, Finding};
use super::paper::{self, Changes};
use super::{About, Draft, Inputs, Item, Scope, grids};

/// Larger strengths.
const STRONG: [f64; 2] = [1.0, 5.0];
/// Smaller strengths.
const WEAK: [f64; 2] = [0.1, 0.5];

/// Percent changes and reductions at both groups of strengths.
pub(super) struct LambdaStudy;

impl Item for LambdaStudy {
    fn about(&self) -> About {
        About {
            name: "lambda",
            title: "Strength of the regulariser",
            paper_says: "lambda 1 and 5 reduce the test loss more than lambda 0.1 and 0.5 in 6 of the 8 datasets (p < \
                         0.05, one-tailed Welch's t-test), among them all four with low homophily. Average changes by \
                         kind are in its appendix.",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let quick = |data: &String| {
            let grid = grids::base(data, scope);
            if scope.quick && data != grids::LARGE { grid.with("lambda", [0.0, 0.5, 1.0, 5.0]) } else { grid }
        };
        scope.datasets.iter().map(quick).collect()
    }

    fn describe_grids(&self, scope: &Scope) -> String {
        let words = grids::description(scope);
        if scope.quick { format!("{words}; lambda 0.5 stands for 0.1 and 0.5") } else { words }
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let studies = PROTOCOLS.map(|protocol| Study::of(&pairing, scope, protocol));
        draft.found(studies.iter().map(Study::sentence).collect());
        draft.table(strengths(&studies));
        for study in &studies {
            draft.chart(study.chart());
        }
        for (measure, printed) in
            [(Measure::TEST_LOSS, paper::LOSS_CHANGE), (Measure::TEST_ACCURACY, paper::ACCURACY_CHANGE)]
        {
            draft.table(changes(&pairing, scope, measure, &printed));
        }
        draft.paragraph(
            "The paper's percent changes of loss for Cornell and Wisconsin are its changes of accuracy with the sign \
             turned, and do not agree with its Table 1 (Cornell, transformer: from 1.22 to 1.07 is -12 %, not -0.6 %). \
             They stand as printed. Welch's test takes reductions as independent, and those of one baseline are not.",
        );
        draft.unused(pairing.unpaired);
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let answer = |protocol| {
            let study = Study::of(&pairing, scope, protocol);
            let (larger, datasets) = (study.larger(), study.datasets());
            Answer::counted(protocol, larger, datasets, paper::STRONGER_LARGER)
        };
        Ok(vec![Finding {
            item: self.name(),
            claim: "lambda 1 and 5 reduce the test loss more than 0.1 and 0.5".into(),
            paper: Some(format!("{} of {}", paper::STRONGER_LARGER, paper::COUNTED)),
            answers: PROTOCOLS.map(answer).to_vec(),
        }])
    }
}

fn in_group<'a, 'b>(pairs: &[&'a Pair<'b>], group: [f64; 2]) -> Vec<&'a Pair<'b>> {
    let is_in = |pair: &&&Pair<'_>| pair.strength().is_some_and(|strength| group.contains(&strength));
    pairs.iter().filter(is_in).copied().collect()
}

/// Reductions of the test loss on one dataset.
struct Reductions {
    data: String,
    weak: Vec<f64>,
    strong: Vec<f64>,
    /// Welch's p that reductions at strong lambdas are larger.
    p: Option<f64>,
    adjusted: Option<f64>,
}

/// The study under one protocol.
struct Study {
    protocol: Protocol,
    rows: Vec<Reductions>,
}

impl Study {
    fn of(pairing: &Pairing<'_>, scope: &Scope, protocol: Protocol) -> Self {
        let reductions = |pairs: &[&Pair<'_>]| {
            let comparison = Comparison::of(pairs, Measure::TEST_LOSS);
            comparison.map(|c| c.changes.iter().map(|change| -change).collect::<Vec<f64>>()).unwrap_or_default()
        };
        let rows = scope.datasets.iter().filter(|data| grids::counts(data)).map(|data| {
            let pairs = pairing.on(data, protocol);
            let (weak, strong) = (reductions(&in_group(&pairs, WEAK)), reductions(&in_group(&pairs, STRONG)));
            let p = welch_greater(&strong, &weak);
            Reductions { data: data.clone(), weak, strong, p, adjusted: None }
        });
        let mut rows: Vec<Reductions> = rows.filter(|row| !row.weak.is_empty() || !row.strong.is_empty()).collect();
        let mut adjusted = holm(&rows.iter().filter_map(|row| row.p).collect::<Vec<_>>()).into_iter();
        for row in rows.iter_mut().filter(|row| row.p.is_some()) {
            row.adjusted = adjusted.next();
        }
        Self { protocol, rows }
    }

    fn datasets(&self) -> usize {
        self.rows.iter().filter(|row| row.p.is_some()).count()
    }

    fn larger(&self) -> usize {
        self.rows.iter().filter(|row| row.p.is_some_and(|p| p < SIGNIFICANT)).count()
    }

    fn sentence(&self) -> String {
        let Self { protocol, .. } = self;
        if self.datasets() == 0 {
            return format!("no dataset has runs at both groups of strengths under protocol {protocol} yet");
        }
        let adjusted = self.rows.iter().filter(|row| row.adjusted.is_some_and(|p| p < SIGNIFICANT)).count();
        format!(
            "larger reductions of the test loss at lambda 1 and 5 in {} of {} at p < {SIGNIFICANT} under protocol \
             {protocol} ({adjusted} after Holm's correction)",
            self.larger(),
            format::counted(self.datasets(), "dataset")
        )
    }

    fn chart(&self) -> Chart {
        let panel = |row: &Reductions| {
            let mut marks = vec![Mark::Level(0.0, String::new())];
            for (at, values) in [&row.weak, &row.strong].into_iter().enumerate() {
                let Some(numbers) = five_numbers(values) else { continue };
                let tip = format!("{} pairs, median reduction {:.3}", values.len(), numbers[2]);
                marks.push(Mark::Box { at: at as f64, values: numbers, series: at, tip });
            }
            ChartPanel {
                title: paper::title(&row.data),
                note: row.p.map_or(String::new(), |p| format!("p {}", format::probability(p))),
                x: Axis {
                    label: "lambda".into(),
                    categories: vec!["0.1, 0.5".into(), "1, 5".into()],
                    ..Axis::default()
                },
                y: Axis::new("reduction of test loss"),
                marks,
            }
        };
        Chart {
            title: format!("Reduction of test loss by strength, protocol {}", self.protocol),
            caption: "Boxes span the quartiles of all pairs, whiskers their extremes; above 0 CAR is better. p is \
                      Welch's, that reductions at lambda 1 and 5 are larger."
                .into(),
            series: vec!["lambda 0.1 and 0.5".into(), "lambda 1 and 5".into()],
            panels: self.rows.iter().map(panel).collect(),
        }
    }
}

fn strengths(studies: &[Study; 2]) -> Table {
    let row = |study: &Study, row: &Reductions| {
        let median = |values: &[f64]| format::number_cell(median(values), 3);
        vec![
            Cell::text(paper::title(&row.data)),
            Cell::text(study.protocol.name()),
            median(&row.weak),
            median(&row.strong),
            format::probability_cell(row.p),
            format::probability_cell(row.adjusted),
        ]
    };
    let rows = studies.iter().flat_map(|study| study.rows.iter().map(move |reductions| row(study, reductions)));
    let headings = ["lambda 0.1, 0.5", "lambda 1, 5", "p (Welch)", "p by Holm"];
    let caption =
        "Median reduction of the test loss by strength. p: how often chance alone would show one so much larger at \
         lambda 1 and 5"
            .to_string();
    Table::new("lambda-strength", caption, ["dataset", "protocol"], headings, rows)
}

/// Percent changes by dataset, kind and group of strengths, ours under both protocols beside the paper's.
fn changes(pairing: &Pairing<'_>, scope: &Scope, measure: Measure, printed: &Changes) -> Table {
    let cells = scope.datasets.iter().flat_map(|data| paper::KINDS.map(|kind| (data, kind.name())));
    let rows = cells.filter_map(|(data, kind)| {
        let ours = |protocol, group| {
            let pairs = pairing.on(data, protocol);
            let pairs: Vec<&Pair<'_>> = pairs.into_iter().filter(|pair| pair.key.arch == kind).collect();
            Comparison::of(&in_group(&pairs, group), measure).and_then(|comparison| comparison.mean_percent())
        };
        let mut row = vec![Cell::text(paper::title(data)), Cell::text(kind)];
        let mut any = false;
        for (group, figures) in [(STRONG, &printed.strong), (WEAK, &printed.weak)] {
            for protocol in PROTOCOLS {
                let percent = ours(protocol, group);
                any |= percent.is_some();
                row.push(format::percent_cell(percent));
            }
            row.push(format::percent_cell(paper::at(figures, kind, data)));
        }
        any.then_some(row)
    });
    let mut columns = vec![Column::text("dataset"), Column::text("attention")];
    for group in ["lambda 1, 5", "lambda 0.1, 0.5"] {
        columns.extend(
            ["protocol paper", "protocol best", "the paper's"].map(|who| Column::numbers(format!("{group}: {who}"))),
        );
    }
    let caption =
        format!("Mean of the pairs' changes of {} with CAR, %, as the paper's appendix has it", measure.name());
    Table { name: format!("lambda-{}", short_name(measure)), caption, columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::scope::everything;
    use super::*;
    use carat_lab::compare::made_up::{baseline, both_protocols, regularised};
    use carat_lab::compare::{Method, Opponent};
    use carat_lab::sweep::Run;

    #[test]
    fn strengths_are_compared_in_their_groups() {
        let mut runs = Vec::new();
        for (hidden, shift) in [(10, 0.0), (25, 0.01), (100, 0.02), (200, 0.03)] {
            runs.push(baseline("cora", hidden, 2.0));
            for (lambda, loss) in [(0.1, 1.95), (0.5, 1.9), (1.0, 1.5), (5.0, 1.0), (3.0, 0.1)] {
                runs.push(regularised("cora", hidden, lambda, loss + shift));
            }
        }
        let runs = both_protocols(&runs);
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        let study = Study::of(&pairing, &everything(false), Protocol::Paper);
        assert_eq!((study.rows.len(), study.rows[0].weak.len(), study.rows[0].strong.len()), (1, 8, 8));
        assert_eq!((study.larger(), study.datasets()), (1, 1));
        assert_eq!(
            study.sentence(),
            "larger reductions of the test loss at lambda 1 and 5 in 1 of 1 dataset at p < 0.05 under protocol paper \
             (1 after Holm's correction)"
        );
        let table = changes(&pairing, &everything(false), Measure::TEST_LOSS, &paper::LOSS_CHANGE);
        assert_eq!(table.rows.len(), 1);
        let texts: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["Cora", "gat", "-36.8 %", "-36.8 %", "-22.6 %", "-3.0 %", "-3.0 %", "-15.3 %"]);
    }
}
