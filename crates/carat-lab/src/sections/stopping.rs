//! Compares stopping rules on the same trainings. The stored curves show which weights each rule would keep, so nothing
//! is trained again.

use std::collections::BTreeSet;

use carat::metrics::{Figures, RunFigures};
use carat_report::{Block, Cell, Section, Table, format};

use crate::compare::{Comparison, Measure, Method, Opponent, Pair, Pairing};
use crate::sweep::{Curve, Outcome, Point, Run, TrainingCurve};

/// When to stop, and which epoch's weights to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Stops after this many epochs without a new lowest validation loss, and keeps the last weights.
    Last(usize),
    /// Stops likewise, and keeps the weights of the lowest validation loss.
    Best(usize),
    /// Keeps the epoch with the lowest test loss, which no real rule can know.
    Oracle,
}

/// Curves end where the run with the longest patience stopped, so they say nothing about longer patiences.
const RULES: [Rule; 7] =
    [Rule::Last(5), Rule::Best(5), Rule::Last(10), Rule::Best(10), Rule::Last(20), Rule::Best(20), Rule::Oracle];

impl Rule {
    fn name(self) -> String {
        match self {
            Self::Last(10) => "patience 10, last weights (protocol paper)".into(),
            Self::Best(20) => "patience 20, best weights (protocol best)".into(),
            Self::Last(patience) => format!("patience {patience}, last weights"),
            Self::Best(patience) => format!("patience {patience}, best weights"),
            Self::Oracle => "lowest test loss (no rule can know it)".into(),
        }
    }

    /// The epoch whose weights the rule keeps, counted from 0; `None` where the curve ends before the rule stops.
    fn kept(self, curve: &Curve, ended: bool) -> Option<usize> {
        let (patience, keep_last) = match self {
            Self::Last(patience) => (patience, true),
            Self::Best(patience) => (patience, false),
            Self::Oracle => {
                let losses = curve.points.iter().enumerate().filter(|(_, point)| point.test_loss.is_finite());
                return losses.min_by(|(_, a), (_, b)| a.test_loss.total_cmp(&b.test_loss)).map(|(epoch, _)| epoch);
            }
        };
        let mut best = (0, f64::INFINITY);
        for (epoch, point) in curve.points.iter().enumerate() {
            if point.val_loss < best.1 {
                best = (epoch, point.val_loss);
            } else if epoch - best.0 >= patience {
                return Some(if keep_last { epoch } else { best.0 });
            }
        }
        // A training that reached its last epoch stops under every rule.
        let last = curve.points.len().checked_sub(1)?;
        ended.then_some(if keep_last { last } else { best.0 })
    }
}

/// The section; `None` where no two curves pair.
pub fn stopping(trainings: &[TrainingCurve]) -> Option<Section> {
    let datasets: BTreeSet<&str> = trainings.iter().map(|training| training.config.data.name.as_str()).collect();
    let mut rows = Vec::new();
    for data in &datasets {
        for rule in RULES {
            let of_data = trainings.iter().filter(|training| training.config.data.name == *data);
            let runs: Vec<Run> = of_data.filter_map(|training| run(training, rule)).collect();
            rows.extend(row(&format::data_name(data, &datasets), rule, &runs));
        }
    }
    let headings = ["pairs", "loss, baseline", "loss, + CAR", "p", "accuracy, baseline", "accuracy, + CAR", "p"];
    let table = Table::new(
        "stopping",
        format!("Test loss and accuracy of the weights that each rule keeps. {}", format::P_MEANING),
        ["dataset", "rule"],
        headings,
        rows,
    );
    let paragraph = "How much of a gain hangs on when training stops? Every epoch's losses are in the store, so other \
                     rules can be read off the same trainings. Where the baseline's loss falls far below that of the \
                     paper's rule, its gain is gain over a network that was trained for too long.";
    (!table.rows.is_empty()).then(|| Section {
        id: "stopping".into(),
        title: "Stopping rules".into(),
        blocks: vec![Block::Paragraph(paragraph.into()), Block::Table(table)],
    })
}

/// The run that a training would have been under a rule.
fn run(training: &TrainingCurve, rule: Rule) -> Option<Run> {
    let kept = rule.kept(&training.curve, training.curve.epochs() >= training.config.stopping.epochs)?;
    let Point { val_loss, val_accuracy, test_loss, test_accuracy, .. } = *training.curve.points.get(kept)?;
    let figures = |loss: f64, accuracy: f64| Figures {
        loss: loss.is_finite().then_some(loss),
        accuracy: accuracy.is_finite().then_some(accuracy),
        ..Figures::default()
    };
    let outcome = Outcome {
        figures: RunFigures {
            test: figures(test_loss, test_accuracy),
            val: figures(val_loss, val_accuracy),
            ..RunFigures::default()
        },
        spurious: None,
        epochs: training.curve.epochs(),
        kept_epoch: kept + 1,
        train_seconds: 0.0,
    };
    Some(Run { config: training.config.clone(), outcome })
}

fn row(data: &str, rule: Rule, runs: &[Run]) -> Option<Vec<Cell>> {
    let runs: Vec<&Run> = runs.iter().collect();
    let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
    let pairs: Vec<&Pair<'_>> = pairing.pairs.iter().collect();
    let loss = Comparison::of(&pairs, Measure::TEST_LOSS)?;
    let accuracy = Comparison::of(&pairs, Measure::TEST_ACCURACY)?;
    let mut cells = vec![Cell::text(data), Cell::text(rule.name()), format::count_cell(loss.pairs)];
    for comparison in [loss, accuracy] {
        cells.push(format::number_cell(Some(comparison.before.mean), 3));
        cells.push(format::number_cell(Some(comparison.after.mean), 3));
        cells.push(format::probability_cell(comparison.p_better));
    }
    Some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat::{Lambda, TrainConfig};

    /// A curve with these validation losses; the test loss of epoch e is e, counted from 0.
    fn curve(val_losses: &[f64]) -> Curve {
        let point = |(epoch, &val_loss): (usize, &f64)| Point {
            train_loss: 0.0,
            causal_loss: 0.0,
            val_loss,
            val_accuracy: 0.5,
            test_loss: epoch as f64,
            test_accuracy: 0.5,
        };
        Curve { points: val_losses.iter().enumerate().map(point).collect() }
    }

    #[test]
    fn rules_keep_what_a_training_under_them_would() {
        // Lowest at epoch 2, once more lower at 9, then rising to the end.
        let losses = [3.0, 2.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 0.5, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0];
        let curve = curve(&losses);
        assert_eq!((Rule::Last(5).kept(&curve, false), Rule::Best(5).kept(&curve, false)), (Some(7), Some(2)));
        assert_eq!((Rule::Last(10).kept(&curve, false), Rule::Best(10).kept(&curve, false)), (None, None));
        assert_eq!((Rule::Last(10).kept(&curve, true), Rule::Best(10).kept(&curve, true)), (Some(15), Some(9)));
        assert_eq!(Rule::Oracle.kept(&curve, false), Some(0));
        assert_eq!(Rule::Best(5).kept(&Curve::default(), true), None);
    }

    #[test]
    fn rules_compare_trainings_with_their_baselines() {
        let training = |lambda: f64, losses: &[f64]| TrainingCurve {
            config: TrainConfig::default().data("a/graph.npz".into()).lambda(Lambda::new(lambda)),
            curve: curve(losses),
        };
        let long: Vec<f64> = (0..40).map(|epoch| f64::from(epoch) + 1.0).collect();
        let mut longer = vec![9.0, 8.0];
        longer.extend(&long);
        let section = stopping(&[training(0.0, &longer), training(1.0, &long)]).unwrap();
        let Block::Table(table) = &section.blocks[1] else { panic!("no table") };
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().take(5).map(|cell| cell.text.as_str()).collect()).collect();
        // The lowest is in epoch 2 of the baseline and in epoch 0 with CAR.
        assert_eq!(texts[0], ["graph.npz", "patience 5, last weights", "1", "7.000", "5.000"]);
        assert_eq!(texts[5], ["graph.npz", "patience 20, best weights (protocol best)", "1", "2.000", "0.000"]);
        assert_eq!(table.rows.len(), RULES.len());
        assert!(stopping(&[training(1.0, &long)]).is_none());
    }
}
