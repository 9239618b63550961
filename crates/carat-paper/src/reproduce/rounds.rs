//! The appendix's study of the number of rounds.

use carat::{Error, Protocol, Rounds};
use carat_lab::compare::{Comparison, Measure, Method, Opponent, Pairing};
use carat_lab::sweep::Grid;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::{SIGNIFICANT, five_numbers};
use carat_report::{Block, Cell, Column, Table, words};
use toml::Value;

use super::draft::PROTOCOLS;
use super::{Basis, Draft, Item, Scope, grids, paper};

/// Numbers of rounds, from one edge per node and step to every edge.
const ROUNDS: [Rounds; 5] = [Rounds::Count(1), Rounds::Count(2), Rounds::Count(5), Rounds::Count(10), Rounds::All];

/// Accuracy against R.
pub(super) struct RoundsStudy;

impl Item for RoundsStudy {
    fn name(&self) -> &'static str {
        "rounds"
    }

    fn title(&self) -> &'static str {
        "Number of rounds of interventions"
    }

    fn said(&self) -> &'static str {
        "even small values of R were effective: R = 1 already gives about one effect per training node and step. (The \
         figure shows the percent change of test accuracy as boxes; its numbers are not printed.)"
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let of_data = |data: &String| {
            let dense = grids::DENSE.contains(&data.as_str());
            if data == grids::LARGE || (scope.quick && dense) {
                return None;
            }
            // Every edge of Squirrel's hubs at every step takes minutes per training.
            let rounds = ROUNDS.into_iter().filter(|rounds| data != "squirrel" || *rounds != Rounds::All);
            let hidden: &[i64] = if scope.quick { &[100] } else { &[100, 200] };
            let grid = grids::strong(data, scope).with("heads", [3]).with("hidden", hidden.iter().copied());
            Some(grid.with("rounds", rounds.map(value)))
        };
        scope.datasets.iter().filter_map(of_data).collect()
    }

    fn grid_words(&self, scope: &Scope) -> String {
        let grid = if scope.quick {
            "a quick subset: three attention kinds, L 1 and 2, K 3, F 100, lambda 1 and 5, R 1, 2, 5, 10 and all, \
             without Chameleon, Squirrel and arxiv-tape"
        } else {
            "the paper's settings: three attention kinds, L 1 and 2, K 3, F 100 and 200, lambda 1 and 5; R 1, 2, 5, 10 \
             and all (not all on Squirrel); without arxiv-tape"
        };
        format!("{grid}; {}", grids::repetitions(scope))
    }

    fn draw(&self, basis: &Basis<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Basis { found, scope, .. } = basis;
        let pairings = ROUNDS.map(|rounds| Pairing::of(&found.runs, &Method::rounds(rounds), Opponent::Baseline));
        let datasets: Vec<&String> = scope
            .datasets
            .iter()
            .filter(|data| pairings.iter().any(|p| p.pairs.iter().any(|pair| pair.key.data == **data)))
            .collect();
        draft.found(PROTOCOLS.map(|protocol| sentence(&pairings, &datasets, protocol)).to_vec());
        draft.push(Block::Chart(chart(&pairings, &datasets)));
        draft.push(Block::Table(table(&pairings, &datasets)));
        draft.unused(pairings.iter().map(|pairing| pairing.alone).sum());
        Ok(())
    }
}

fn value(rounds: Rounds) -> Value {
    match rounds {
        Rounds::Count(count) => Value::Integer(count as i64),
        Rounds::All => Value::String("all".into()),
    }
}

/// In how many datasets every R improves accuracy, from R 1 to all.
fn sentence(pairings: &[Pairing<'_>; 5], datasets: &[&String], protocol: Protocol) -> String {
    let counts = ROUNDS.iter().zip(pairings).filter_map(|(rounds, pairing)| {
        let compared: Vec<Comparison> = datasets
            .iter()
            .filter_map(|data| Comparison::of(&pairing.on(data, protocol), Measure::TestAccuracy))
            .collect();
        let better = compared.iter().filter(|comparison| comparison.is_better()).count();
        (!compared.is_empty()).then(|| format!("{better} of {} with R {rounds}", compared.len()))
    });
    let counts: Vec<String> = counts.collect();
    format!(
        "datasets with a higher test accuracy at p < {SIGNIFICANT} under protocol {protocol}: {}",
        words::list(&counts)
    )
}

fn chart(pairings: &[Pairing<'_>; 5], datasets: &[&String]) -> Chart {
    let panel = |data: &&String| {
        let mut marks = vec![Mark::Level(0.0, String::new())];
        for (at, (rounds, pairing)) in ROUNDS.iter().zip(pairings).enumerate() {
            for (series, protocol) in PROTOCOLS.into_iter().enumerate() {
                let comparison = Comparison::of(&pairing.on(data, protocol), Measure::TestAccuracy);
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
            y: Axis { label: "change of accuracy, %".into(), ..Axis::default() },
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
    let cells = datasets.iter().flat_map(|data| PROTOCOLS.map(|protocol| (data, protocol)));
    let rows = cells.map(|(data, protocol)| {
        let mut row = vec![Cell::words(paper::title(data)), Cell::words(protocol.name())];
        for pairing in pairings {
            let comparison = Comparison::of(&pairing.on(data, protocol), Measure::TestAccuracy);
            row.push(words::percent_cell(comparison.as_ref().and_then(Comparison::mean_percent)));
            row.push(words::probability_cell(comparison.and_then(|comparison| comparison.p_better)));
        }
        row
    });
    let mut columns = vec![Column::words("dataset"), Column::words("protocol")];
    columns.extend(
        ROUNDS.iter().flat_map(|rounds| [format!("R {rounds}"), format!("p, R {rounds}")].map(Column::numbers)),
    );
    let caption = "Mean of the pairs' changes of test accuracy with CAR, %. p: how often chance alone would show a \
                   gain at least this clear (one-tailed paired Wilcoxon test); small is good"
        .to_string();
    Table { name: "rounds".into(), caption, columns, rows: rows.collect() }
}
