//! A method's figures: of the setting that validation chooses, over all settings, and of the best setting.

use carat::Protocol;
use carat_lab::compare::Measure;
use carat_lab::sweep::Run;
use carat_report::statistics::Spread;

/// A method's figures on one dataset under one protocol.
pub(super) struct Figures<'a> {
    /// The number of runs.
    pub(super) runs: usize,
    pub(super) accuracy: Accuracy,
    /// Mean over splits and seeds of the chosen settings' test losses.
    pub(super) loss: Option<f64>,
    /// The choice on the first split and seed.
    pub(super) chosen: &'a Run,
}

/// Test accuracies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accuracy {
    /// Of the setting with the lowest validation loss.
    pub(super) chosen: f64,
    /// The highest of all settings.
    pub(super) best: f64,
    /// Of all settings.
    pub(super) all: Spread,
}

impl<'a> Figures<'a> {
    /// The figures of the runs on this dataset under this protocol.
    pub(super) fn of(runs: &[&'a Run], data: &str, protocol: Protocol) -> Option<Self> {
        let has_figures = |run: &&&Run| Measure::TEST_ACCURACY.of(&run.outcome).is_some();
        let here = |run: &&&'a Run| run.config.data.name == data && run.protocol() == protocol;
        let mut runs: Vec<&'a Run> = runs.iter().filter(here).filter(has_figures).copied().collect();
        let repetition = |run: &Run| (run.config.data.split, run.config.seed);
        runs.sort_by_key(|run| repetition(run));
        let groups: Vec<&[&'a Run]> = runs.chunk_by(|a, b| repetition(a) == repetition(b)).collect();
        let validation = |run: &Run| Measure::VALIDATION_LOSS.of(&run.outcome).unwrap_or(f64::INFINITY);
        let lowest = |group: &&[&'a Run]| group.iter().copied().min_by(|a, b| validation(a).total_cmp(&validation(b)));
        let chosen: Vec<&Run> = groups.iter().filter_map(lowest).collect();
        let accuracies = |runs: &[&Run]| -> Vec<f64> {
            runs.iter().filter_map(|run| Measure::TEST_ACCURACY.of(&run.outcome)).collect()
        };
        let highest = |group: &&[&Run]| accuracies(group).into_iter().reduce(f64::max);
        let best: Vec<f64> = groups.iter().filter_map(highest).collect();
        let losses: Vec<f64> = chosen.iter().filter_map(|run| Measure::TEST_LOSS.of(&run.outcome)).collect();
        let mean = |values: &[f64]| Spread::of(values).map(|spread| spread.mean);
        Some(Self {
            runs: runs.len(),
            accuracy: Accuracy {
                chosen: mean(&accuracies(&chosen))?,
                best: mean(&best)?,
                all: Spread::of(&accuracies(&runs))?,
            },
            loss: mean(&losses),
            chosen: chosen.first().copied()?,
        })
    }
}

#[cfg(test)]
pub(super) mod made_up {
    use carat::{ModelKind, TrainConfig};

    use super::*;
    use carat_lab::compare::made_up;

    /// A run of CAL on Cora under protocol best.
    pub(in super::super) fn cal(lambda1: f64, seed: u64, accuracy: f64, val_loss: f64) -> Run {
        let config = TrainConfig::default_of(ModelKind::Cal)
            .data("cora".into())
            .lambda1(Some(lambda1))
            .lambda2(Some(0.2))
            .seed(seed);
        let mut run = made_up::run(config.layers(1), 1.0);
        (run.outcome.figures.test.accuracy, run.outcome.figures.val.loss) = (Some(accuracy), Some(val_loss));
        run
    }
}

#[cfg(test)]
mod tests {
    use super::made_up::cal;
    use super::*;

    #[test]
    fn the_choice_is_by_validation_and_the_best_is_not() {
        let runs = [cal(0.2, 0, 0.7, 1.0), cal(1.0, 0, 0.8, 2.0), cal(0.2, 1, 0.5, 3.0), cal(1.0, 1, 0.4, 2.0)];
        let figures = Figures::of(&runs.iter().collect::<Vec<_>>(), "cora", Protocol::Best).unwrap();
        assert_eq!(figures.runs, 4);
        assert!((figures.accuracy.chosen - (0.7 + 0.4) / 2.0).abs() < 1e-12);
        assert!((figures.accuracy.best - (0.8 + 0.5) / 2.0).abs() < 1e-12);
        assert!((figures.accuracy.all.mean - 0.6).abs() < 1e-12);
        assert_eq!(figures.chosen.config.cal.lambda1, Some(0.2));
        assert!(Figures::of(&runs.iter().collect::<Vec<_>>(), "cora", Protocol::Paper).is_none());
    }
}
