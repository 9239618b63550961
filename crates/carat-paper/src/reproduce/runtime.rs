//! The appendix's table of training times.

use carat::{Error, Protocol};
use carat_lab::compare::{Pair, Pairing};
use carat_lab::sweep::{Grid, Run};
use carat_report::statistics::{Spread, five_numbers};
use carat_report::{Block, Cell, Column, Table, words};

use super::draft::PROTOCOLS;
use super::finding::{Answer, Finding, Verdict};
use super::pyg::{self, PlainTraining};
use super::sizes::Sizes;
use super::{Basis, Draft, Item, Scope, grids, paper};

/// Seconds with and without CAR.
pub(super) struct Runtime;

impl Item for Runtime {
    fn name(&self) -> &'static str {
        "runtime"
    }

    fn title(&self) -> &'static str {
        "Training time"
    }

    fn said(&self) -> &'static str {
        "training takes 1.5 to 2 times as long with CAR, on an NVIDIA Tesla T4."
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        grids::bases(scope)
    }

    fn draw(&self, basis: &Basis<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Basis { found, scope, .. } = basis;
        let pairing = found.car();
        draft.found(PROTOCOLS.map(|protocol| sentence(&times(&pairing, scope, protocol), protocol)).to_vec());
        draft.push(Block::Table(seconds(&pairing, scope)));
        // Sizes are a courtesy: a report on a store can be made where the data is not.
        let sizes = sizes(&basis.studies.sizes);
        if !sizes.rows.is_empty() {
            draft.push(Block::Table(sizes));
        }
        match &basis.studies.pyg {
            None => draft.paragraph(
                "PyG's seconds are not shown: they are measured when a report is made, with the Python that the \
                 environment variable CARAT_PYTHON names (it needs torch_geometric), and the variable was not set.",
            ),
            Some(trainings) => draft.push(Block::Table(beside_pyg(&found.runs, trainings))),
        }
        draft.paragraph(format!(
            "The claim counts as reproduced where the median factor is at most {}; fewer than four datasets are too \
             few to tell, and arxiv-tape is shown but not counted.",
            paper::RUNTIME_FACTORS.1
        ));
        draft.paragraph(
            "Seconds are of one training on one thread, validation included, until its protocol stops; when others \
             work on the same cores, they grow, so ratios are medians of pairs. A regularised training may stop \
             earlier or later than its baseline, so the ratio of whole trainings and that of epochs differ.",
        );
        draft.unused(pairing.alone);
        Ok(())
    }

    fn findings(&self, basis: &Basis<'_>) -> Result<Vec<Finding>, Error> {
        let Basis { found, scope, .. } = basis;
        let pairing = found.car();
        let (least, most) = paper::RUNTIME_FACTORS;
        let answer = |protocol| {
            let ratios = ratios(&times(&pairing, scope, protocol));
            let median = five_numbers(&ratios).map(|numbers| numbers[2]);
            let text =
                |median: f64| format!("{median:.1} times (median of {})", words::counted(ratios.len(), "dataset"));
            Answer {
                protocol,
                text: median.map_or("no runs".into(), text),
                verdict: median.map_or(Verdict::Unknown, |median| Verdict::where_true(median <= most, ratios.len())),
            }
        };
        Ok(vec![Finding {
            item: self.name(),
            claim: format!("training takes at most {most} times as long with CAR"),
            paper: Some(format!("{least} to {most} times")),
            answers: PROTOCOLS.map(answer).to_vec(),
        }])
    }
}

/// Training times on one dataset under one protocol.
struct Times {
    data: String,
    plain: Spread,
    car: Spread,
    /// Seconds with CAR over those without: the median of all pairs, which a training that was held up does not move.
    ratio: Option<f64>,
    /// The same per epoch.
    epoch_ratio: Option<f64>,
}

impl Times {
    fn of(data: &str, pairs: &[&Pair<'_>]) -> Option<Self> {
        let mut baselines: Vec<&Run> = pairs.iter().map(|pair| pair.before).collect();
        // Pairs come by setting, so the pairs of one baseline are neighbours.
        baselines.dedup_by(|a, b| std::ptr::eq(*a, *b));
        let seconds = |runs: &[&Run]| Spread::of(&runs.iter().map(|run| run.outcome.train_seconds).collect::<Vec<_>>());
        let ratio = |of: &dyn Fn(&Run) -> f64| {
            let ratios = pairs.iter().map(|pair| of(pair.after) / of(pair.before)).filter(|ratio| ratio.is_finite());
            five_numbers(&ratios.collect::<Vec<_>>()).map(|numbers| numbers[2])
        };
        Some(Self {
            data: data.to_string(),
            plain: seconds(&baselines)?,
            car: seconds(&pairs.iter().map(|pair| pair.after).collect::<Vec<_>>())?,
            ratio: ratio(&|run| run.outcome.train_seconds),
            epoch_ratio: ratio(&|run| run.outcome.train_seconds / run.outcome.epochs as f64),
        })
    }
}

fn times(pairing: &Pairing<'_>, scope: &Scope, protocol: Protocol) -> Vec<Times> {
    scope.datasets.iter().filter_map(|data| Times::of(data, &pairing.on(data, protocol))).collect()
}

/// Of the datasets that count.
fn ratios(times: &[Times]) -> Vec<f64> {
    times.iter().filter(|times| grids::counts(&times.data)).filter_map(|times| times.ratio).collect()
}

fn sentence(times: &[Times], protocol: Protocol) -> String {
    let ratios = ratios(times);
    match five_numbers(&ratios) {
        Some([least, _, median, _, most]) => format!(
            "training takes {least:.1} to {most:.1} times as long with CAR (median {median:.1}) under protocol \
             {protocol}, over {}",
            words::counted(ratios.len(), "dataset")
        ),
        None => format!("no trainings to compare under protocol {protocol} yet"),
    }
}

fn seconds(pairing: &Pairing<'_>, scope: &Scope) -> Table {
    let row = |protocol: Protocol, times: &Times| {
        let printed = paper::place(&times.data).and_then(|place| paper::RUNTIME.get(place));
        vec![
            Cell::words(paper::title(&times.data)),
            Cell::words(protocol.name()),
            words::spread_cell(Some(times.plain), 2),
            words::spread_cell(Some(times.car), 2),
            words::number_cell(times.ratio, 2),
            words::number_cell(times.epoch_ratio, 2),
            words::spread_cell(printed.map(|printed| printed.plain), 1),
            words::spread_cell(printed.map(|printed| printed.car), 1),
            words::number_cell(printed.map(|printed| printed.car.mean / printed.plain.mean), 2),
        ]
    };
    let rows = PROTOCOLS
        .into_iter()
        .flat_map(|protocol| times(pairing, scope, protocol).into_iter().map(move |times| row(protocol, &times)));
    let mut columns = vec![Column::words("dataset"), Column::words("protocol")];
    let headings = [
        "seconds without CAR",
        "with CAR",
        "ratio (median pair)",
        "ratio per epoch",
        "the paper's without (T4)",
        "the paper's with (T4)",
        "the paper's ratio",
    ];
    columns.extend(headings.map(Column::numbers));
    let caption = "Seconds of training on one CPU thread, mean ± deviation over the grid, beside the paper's on a GPU"
        .to_string();
    Table { name: "runtime".into(), caption, columns, rows: rows.collect() }
}

/// Training nodes and the in-edges that can be deleted.
fn sizes(datasets: &[(String, Result<Sizes, String>)]) -> Table {
    let rows = datasets.iter().filter_map(|(data, sizes)| {
        let sizes = sizes.as_ref().ok()?;
        let edges = Spread::of(&sizes.train_edges)?;
        // One split, or splits that are all alike, have no deviation worth printing.
        let edges = Spread { deviation: edges.deviation.filter(|deviation| *deviation > 0.0), ..edges };
        let printed = paper::place(data).and_then(|place| paper::RUNTIME.get(place));
        Some(vec![
            Cell::words(paper::title(data)),
            words::count_cell(sizes.train_nodes),
            words::count_spread_cell(Some(edges)),
            printed.map_or(Cell::words(words::UNDEFINED), |printed| words::count_cell(printed.nodes)),
            words::count_spread_cell(printed.map(|printed| printed.edges)),
        ])
    });
    let mut columns = vec![Column::words("dataset")];
    let headings = ["training nodes", "their in-edges", "the paper's nodes", "the paper's edges"];
    columns.extend(headings.map(Column::numbers));
    let caption = "Size of the training sets: nodes of split 0, in-edges over all splits".to_string();
    Table { name: "runtime-sizes".into(), caption, columns, rows: rows.collect() }
}

/// One plain training of the same network by carat and by PyG.
fn beside_pyg(runs: &[&Run], trainings: &[(String, Option<PlainTraining>)]) -> Table {
    let rows = trainings.iter().filter_map(|(data, theirs)| {
        let ours = pyg::twin(runs, data)?;
        let milliseconds = |seconds: f64, epochs: usize| (epochs > 0).then(|| 1000.0 * seconds / epochs as f64);
        let own = milliseconds(ours.outcome.train_seconds, ours.outcome.epochs);
        let other = theirs.and_then(|theirs| milliseconds(theirs.seconds, theirs.epochs));
        Some(vec![
            Cell::words(paper::title(data)),
            words::number_cell(Some(ours.outcome.train_seconds), 2),
            words::number_cell(theirs.map(|theirs| theirs.seconds), 2),
            words::number_cell(own, 1),
            words::number_cell(other, 1),
            words::number_cell(own.zip(other).map(|(own, other)| other / own), 1),
        ])
    });
    let mut columns = vec![Column::words("dataset")];
    let headings = ["seconds, carat", "seconds, PyG", "ms per epoch, carat", "ms per epoch, PyG", "PyG / carat"];
    columns.extend(headings.map(Column::numbers));
    let caption = format!(
        "One training without CAR (gat, L {}, K {}, F {}, protocol best, split 0), one thread each; PyG trains now, \
         carat's seconds are the store's",
        pyg::LAYERS,
        pyg::HEADS,
        pyg::HIDDEN
    );
    Table { name: "runtime-pyg".into(), caption, columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::scope::everything;
    use super::*;
    use carat_lab::compare::made_up::{baseline, regularised};
    use carat_lab::compare::{Method, Opponent};

    #[test]
    fn times_are_of_whole_trainings_and_of_epochs() {
        // Made-up seconds are 1 + loss: 2 for baselines, 3 for regularised runs.
        let mut runs =
            [baseline("cora", 10, 1.0), regularised("cora", 10, 1.0, 2.0), regularised("cora", 10, 5.0, 2.0)];
        runs[0].outcome.epochs = 60;
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        let times = times(&pairing, &everything(false), Protocol::Best);
        assert_eq!((times.len(), times[0].plain.mean, times[0].car.mean), (1, 2.0, 3.0));
        assert_eq!(times[0].ratio, Some(1.5));
        assert!((times[0].epoch_ratio.unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(
            sentence(&times, Protocol::Best),
            "training takes 1.5 to 1.5 times as long with CAR (median 1.5) under protocol best, over 1 dataset"
        );
    }

    #[test]
    fn arxiv_tape_is_not_counted_and_few_datasets_are_too_few() {
        let run = |data: &str, lambda: f64, seconds: f64| {
            let mut run = regularised(data, 25, lambda, 1.0);
            run.outcome.train_seconds = seconds;
            run
        };
        let pair = |data: &str, factor: f64| [run(data, 0.0, 1.0), run(data, 1.0, factor)];
        let runs: Vec<Run> = [("cora", 1.2), ("citeseer", 1.4), ("cornell", 1.6), ("arxiv-tape", 9.0)]
            .into_iter()
            .flat_map(|(data, factor)| pair(data, factor))
            .collect();
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        let times = times(&pairing, &everything(false), Protocol::Best);
        assert_eq!((times.len(), ratios(&times).len()), (4, 3));
        assert!(sentence(&times, Protocol::Best).starts_with("training takes 1.2 to 1.6 times"));
        assert_eq!(Verdict::where_true(true, 3), Verdict::TooFew);
        assert_eq!(Verdict::where_true(true, 4), Verdict::Reproduced);
        assert_eq!(Verdict::where_true(false, 4), Verdict::NotReproduced);
    }

    #[test]
    fn pyg_s_time_stands_beside_ours_and_its_absence_is_a_dash() {
        let mut run = baseline("cora", pyg::HIDDEN, 1.0);
        run.config.network.layers = pyg::LAYERS;
        let trained = Some(PlainTraining { seconds: 12.0, epochs: 30 });
        let table = beside_pyg(&[&run], &[("cora".into(), trained)]);
        let texts: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["Cora", "2.00", "12.00", "66.7", "400.0", "6.0"]);
        let table = beside_pyg(&[&run], &[("cora".into(), None)]);
        assert_eq!(table.rows[0][2].text, "-");
    }
}
