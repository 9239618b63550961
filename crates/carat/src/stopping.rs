//! Early stopping: when a training is over, and which of its weights are kept.
//!
//! Every trainer counts its epochs here, so that they all stop alike, whatever they train.

use std::time::{Duration, Instant};

use crate::evaluation::Score;
use crate::selection::Validation;
use crate::settings::StoppingSettings;
use crate::training::Progress;
use crate::{Protocol, TrainConfig};

/// The best epoch so far: the one with the highest figure, and of equals the one with the lowest validation loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Counted from 1; 0 before the first.
    pub epoch: usize,
    /// Its scores.
    pub score: Score,
    /// The figure that is selected by; higher is better.
    pub figure: f64,
    /// Its parameters, followed by the model's other values.
    pub parameters: Vec<f32>,
}

/// The state of a training run: how far it is, and when it ends.
#[derive(Debug, Clone)]
pub struct Stopping {
    settings: StoppingSettings,
    epoch: usize,
    best: Best,
    /// True once the network has begun to learn.
    has_learned: bool,
    last: Score,
    seconds: f64,
}

/// No score yet.
const NONE: Score = Score { loss: f64::INFINITY, accuracy: 0.0 };

impl Stopping {
    /// Before the first epoch, with these parameters.
    pub(crate) fn new(config: &TrainConfig, parameters: Vec<f32>) -> Self {
        Self {
            settings: config.stopping.clone(),
            epoch: 0,
            best: Best { epoch: 0, score: NONE, figure: f64::NEG_INFINITY, parameters },
            has_learned: false,
            last: NONE,
            seconds: 0.0,
        }
    }

    /// Number of finished epochs.
    pub fn epochs(&self) -> usize {
        self.epoch
    }

    /// Seconds of training, validation included.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The best epoch so far.
    pub fn best(&self) -> &Best {
        &self.best
    }

    /// True once the network has done better than one that knows the shares of the classes alone.
    pub(crate) fn has_learned(&self) -> bool {
        self.has_learned
    }

    /// Scores of the last finished epoch.
    pub(crate) fn last(&self) -> Score {
        self.last
    }

    /// True when no epoch is left to train.
    pub fn is_over(&self) -> bool {
        self.epoch >= self.settings.epochs || self.is_out_of_patience(&self.settings)
    }

    /// True where a run with these settings would have run out of patience by now.
    pub fn is_out_of_patience(&self, settings: &StoppingSettings) -> bool {
        let patience = if self.has_learned { settings.patience() } else { settings.patience_before_learning() };
        self.epoch - self.best.epoch >= patience
    }

    /// Finishes an epoch that began at `start`: what validation says of it, and its parameters.
    pub(crate) fn finish_epoch(&mut self, start: Instant, validation: Option<Validation>, parameters: &[&[f32]]) {
        self.last = validation.map_or(NONE, |validation| validation.score);
        self.epoch += 1;
        self.has_learned |= validation.is_some_and(|validation| validation.has_learned);
        if let Some(Validation { score, figure, .. }) = validation
            && score.loss.is_finite()
            && (figure > self.best.figure || (figure == self.best.figure && score.loss < self.best.score.loss))
        {
            self.best.epoch = self.epoch;
            self.best.score = score;
            self.best.figure = figure;
            self.best.parameters.clear();
            parameters.iter().for_each(|part| self.best.parameters.extend_from_slice(part));
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// What the protocol keeps: the best epoch's parameters, or `None` for those of the last one; and their score.
    pub(crate) fn kept(&self) -> (Option<&[f32]>, Score) {
        match self.settings.protocol {
            Protocol::Best => (Some(&self.best.parameters), self.best.score),
            Protocol::Paper => (None, self.last),
        }
    }

    /// Continues from a saved run.
    pub(crate) fn restore(&mut self, progress: Progress) {
        let Progress { epoch, best, has_learned, last, seconds, .. } = progress;
        (self.epoch, self.best, self.last, self.seconds) = (epoch, best, last, seconds);
        self.has_learned = has_learned;
    }
}

/// Step times kept for the median.
const STEPS_KEPT: usize = 4096;

/// How long steps take.
#[derive(Debug, Default)]
pub struct StepTimes(Vec<Duration>);

impl StepTimes {
    /// Finishes a step that began at `start`.
    pub fn push(&mut self, start: Instant) {
        if self.0.len() < STEPS_KEPT {
            self.0.push(start.elapsed());
        }
    }

    /// Median in milliseconds; 0 before the first.
    pub fn median_ms(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map_or(0.0, |step| step.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::settings::PatienceFrom;

    fn after(losses: &[f64], config: &TrainConfig) -> Stopping {
        after_figures(&losses.iter().map(|&loss| (-loss, loss)).collect::<Vec<_>>(), config)
    }

    /// Epochs with these figures and losses. A loss below 1 is that of a network that has begun to learn.
    fn after_figures(epochs: &[(f64, f64)], config: &TrainConfig) -> Stopping {
        let mut stopping = Stopping::new(config, vec![0.0]);
        for (epoch, &(figure, loss)) in epochs.iter().enumerate() {
            assert!(!stopping.is_over());
            let score = Score { loss, accuracy: 0.5 };
            let validation = Validation { score, figure, has_learned: loss < 1.0 };
            stopping.finish_epoch(Instant::now(), Some(validation), &[&[epoch as f32 + 1.0], &[7.0]]);
        }
        stopping
    }

    #[test]
    fn patience_counts_from_the_best_epoch_and_protocols_differ_in_what_they_keep() {
        let best = TrainConfig::default().patience(Some(2));
        let stopping = after(&[3.0, 1.0, 2.0, 1.0], &best);
        assert!(stopping.is_over());
        assert_eq!((stopping.epochs(), stopping.best().epoch), (4, 2));
        assert_eq!(stopping.kept(), (Some(&[2.0, 7.0][..]), Score { loss: 1.0, accuracy: 0.5 }));
        let paper = best.protocol(Protocol::Paper);
        assert_eq!(after(&[3.0, 1.0, 2.0], &paper).kept(), (None, Score { loss: 2.0, accuracy: 0.5 }));
    }

    #[test]
    fn epochs_end_a_training_that_never_stops_improving() {
        let config = TrainConfig::default().epochs(3);
        assert!(!after(&[3.0, 2.0], &config).is_over());
        assert!(after(&[3.0, 2.0, 1.0], &config).is_over());
    }

    #[test]
    fn an_epoch_without_a_number_is_no_best_epoch() {
        let config = TrainConfig::default().patience(Some(3));
        assert_eq!(after(&[2.0, f64::NAN], &config).best().epoch, 1);
    }

    #[test]
    fn the_highest_figure_is_best_and_of_equals_the_lowest_loss() {
        let epochs = [(0.5, 3.0), (0.7, 5.0), (0.6, 1.0), (0.7, 4.0), (0.7, 4.5), (0.9, f64::NAN)];
        let config = TrainConfig::default();
        assert_eq!(after_figures(&epochs, &config).best().epoch, 4);
        assert_eq!(after_figures(&[(f64::NEG_INFINITY, 3.0), (f64::NEG_INFINITY, 2.0)], &config).best().epoch, 2);
    }

    #[test]
    fn a_network_that_has_not_begun_to_learn_gets_five_times_the_patience() {
        let config = TrainConfig::default().patience(Some(2)).patience_from(PatienceFrom::Learning);
        let plateau = |epochs: usize| [2.0].into_iter().chain([3.0].repeat(epochs)).collect::<Vec<f64>>();
        assert!(!after(&plateau(9), &config).is_over());
        assert!(after(&plateau(10), &config).is_over());
        let learned = [plateau(5), vec![0.9, 1.5, 1.5]].concat();
        assert!(!after(&learned[..8], &config).is_over());
        assert!(after(&learned, &config).is_over());
        assert!(after(&plateau(2), &config.clone().protocol(Protocol::Paper)).is_over());
        assert!(after(&plateau(2), &config.patience_from(PatienceFrom::Start)).is_over());
    }
}
