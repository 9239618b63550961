//! The appendix's study of the number of rounds.

use carat::{Error, Protocol, Rounds};
use carat_lab::compare::{Comparison, Measure, Method, Opponent, Pairing};
use carat_lab::sweep::Grid;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::{SIGNIFICANT, five_numbers};
use carat_report::{Table, format};
use toml::Value;

use super::draft::{PROTOCOLS, rows};
use super::{About, Draft, Inputs, Item, Scope, grids, paper};

/// Numbers of rounds, from one edge per node and step to every edge.
const ROUNDS: [Rounds; 5] = [Rounds::Count(1), Rounds::Count(2), Rounds::Count(5), Rounds::Count(10), Rounds::All];

/// Accuracy against R.
pub(super) struct RoundsStudy;

impl Item for RoundsStudy {
    fn about(&self) -> About {
        About {
            name: "rounds",
            title: "Number of rounds of interventions",
            paper_says: "even small values of R were effective: R = 1 already gives about one effect per training \
                         node and step. (The figure shows the percent change of test accuracy as boxes; its numbers \
                         are not printed.)",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let of_data = |data: &String| {
            let dense = grids::DENSE.contains(&data.as_str());
            if data == grids::LARGE || (scope.quick && dense) {
                return None;
            }
            // Deleting every edge of Squirrel's hubs at every step takes minutes per training.
            let rounds = ROUNDS.into_iter().filter(|rounds| data != "squirrel" || *rounds != Rounds::All);
            let hidden: &[i64] = if scope.quick { &[100] } else { &[100, 200] };
            let grid = grids::strong(data, scope).with("heads", [3]).with("hidden", hidden.iter().copied());
            Some(grid.with("rounds", rounds.map(value)))
        };
        scope.datasets.iter().filter_map(of_data).collect()
    }

    fn describe_grids(&self, scope: &Scope) -> String {
        let grid = if scope.quick {
            "a quick subset: three attention kinds, L 1 and 2, K 3, F 100, lambda 1 and 5, R 1, 2, 5, 10 and all, \
             without Chameleon, Squirrel and arxiv-tape"
        } else {
            "the paper's settings: three attention kinds, L 1 and 2, K 3, F 100 and 200, lambda 1 and 5; R 1, 2, 5, \
             10 and all (not all on Squirrel); without arxiv-tape"
        };
        format!("{grid}; {}", grids::repetitions(scope))
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairings = ROUNDS.map(|rounds| Pairing::of(&found.runs, &Method::rounds(rounds), Opponent::Baseline));
        let datasets: Vec<&String> = scope
            .datasets
            .iter()
            .filter(|data| pairings.iter().any(|p| p.pairs.iter().any(|pair| pair.key.data == **data)))
            .collect();
        draft.found(PROTOCOLS.map(|protocol| sentence(&pairings, &datasets, protocol)).to_vec());
        draft.chart(chart(&pairings, &datasets));
        draft.table(table(&pairings, &datasets));
        draft.unused(pairings.iter().map(|pairing| pairing.unpaired).sum());
        Ok(())
    }
}

fn value(rounds: Rounds) -> Value {
    match rounds {
        Rounds::Count(count) => Value::Integer(count as i64),
        Rounds::All => Value::String("all".into()),
    }
}

/// The number of datasets in which each R improves accuracy.
fn sentence(pairings: &[Pairing<'_>; 5], datasets: &[&String], protocol: Protocol) -> String {
    let counts = ROUNDS.iter().zip(pairings).filter_map(|(rounds, pairing)| {
        let compared: Vec<Comparison> = datasets
            .iter()
            .filter_map(|data| Comparison::of(&pairing.on(data, protocol), Measure::TEST_ACCURACY))
            .collect();
        let better = compared.iter().filter(|comparison| comparison.is_better()).count();
        (!compared.is_empty()).then(|| format!("{better} of {} with R {rounds}", compared.len()))
    });
    let counts: Vec<String> = counts.collect();
    format!(
        "datasets with a higher test accuracy at p < {SIGNIFICANT} under protocol {protocol}: {}",
        format::list(&counts)
    )
}

fn chart(pairings: &[Pairing<'_>; 5], datasets: &[&String]) -> Chart {
    let panel = |data: &&String| {
        let mut marks = vec![Mark::Level(0.0, String::new())];
        for (at, (rounds, pairing)) in ROUNDS.iter().zip(pairings).enumerate() {
            for (series, protocol) in PROTOCOLS.into_iter().enumerate() {
                let comparison = Comparison::of(&pairing.on(data, protocol), Measure::TEST_ACCURACY);
                let percents = comparison.map(|comparison| comparison.percents).unwrap_or_default();
                let Some(values) = five_numbers(&percents) else { continue };
                let tip =
                    format!("R {rounds}, protocol {protocol}: median {:+.1} %, {} pairs", values[2], percents.len());
                marks.push(Mark::Box { at: at as f64, values, series, tip });
            }
        }
        ChartPanel {
            title: paper::title(data),
            note: String::new(),
            x: Axis {
                label: "R".into(),
                categories: ROUNDS.map(|rounds| rounds.to_string()).to_vec(),
                ..Axis::default()
            },
            y: Axis::new("change of accuracy, %"),
            marks,
        }
    };
    Chart {
        title: "Percent change of test accuracy against the number of rounds".into(),
        caption: "Boxes span the quartiles of all pairs, whiskers their extremes; above 0 CAR is better.".into(),
        series: PROTOCOLS.map(|protocol| format!("protocol {protocol}")).to_vec(),
        panels: datasets.iter().map(panel).collect(),
    }
}

fn table(pairings: &[Pairing<'_>; 5], datasets: &[&String]) -> Table {
    let rows = rows(datasets.iter().copied(), |data, protocol| {
        let mut row = Vec::new();
        for pairing in pairings {
            let comparison = Comparison::of(&pairing.on(data, protocol), Measure::TEST_ACCURACY);
            row.push(format::percent_cell(comparison.as_ref().and_then(Comparison::mean_percent)));
            row.push(format::probability_cell(comparison.and_then(|comparison| comparison.p_better)));
        }
        Some(row)
    });
    let headings = ROUNDS.iter().flat_map(|rounds| [format!("R {rounds}"), format!("p, R {rounds}")]);
    let caption = "Mean of the pairs' changes of test accuracy with CAR, %. p: how often chance alone would show a \
                   gain at least this clear (one-tailed paired Wilcoxon test); small is good";
    Table::new("rounds", caption, ["dataset", "protocol"], headings, rows)
}
