//! Early stopping: when a training is over, and which of its weights are kept.
//!
//! Every trainer counts its epochs here, so that they all stop alike, whatever they train.

use std::time::{Duration, Instant};

use crate::evaluation::Score;
use crate::training::Progress;
use crate::{Protocol, TrainConfig};

/// The epoch with the lowest validation loss so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Counted from 1; 0 before the first.
    pub epoch: usize,
    /// Its scores.
    pub score: Score,
    /// Its parameters, followed by the model's other values.
    pub parameters: Vec<f32>,
}

/// The state of a training run: how far it is, and when it ends.
#[derive(Debug, Clone)]
pub struct Stopping {
    protocol: Protocol,
    most_epochs: usize,
    patience: usize,
    epoch: usize,
    best: Best,
    last: Score,
    seconds: f64,
}

/// No score yet.
const NONE: Score = Score { loss: f64::INFINITY, accuracy: 0.0 };

impl Stopping {
    /// Before the first epoch, with these parameters.
    pub(crate) fn new(config: &TrainConfig, parameters: Vec<f32>) -> Self {
        Self {
            protocol: config.stopping.protocol,
            most_epochs: config.stopping.epochs,
            patience: config.stopping.patience(),
            epoch: 0,
            best: Best { epoch: 0, score: NONE, parameters },
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

    /// The epoch with the lowest validation loss so far.
    pub fn best(&self) -> &Best {
        &self.best
    }

    /// Scores of the last finished epoch.
    pub(crate) fn last(&self) -> Score {
        self.last
    }

    /// True when no epoch is left to train.
    pub fn is_over(&self) -> bool {
        self.epoch >= self.most_epochs || self.epoch - self.best.epoch >= self.patience
    }

    /// Finishes an epoch that began at `start`: its validation score and its parameters.
    pub(crate) fn finish_epoch(&mut self, start: Instant, score: Option<Score>, parameters: &[&[f32]]) {
        self.last = score.unwrap_or(NONE);
        self.epoch += 1;
        if self.last.loss < self.best.score.loss {
            self.best.epoch = self.epoch;
            self.best.score = self.last;
            self.best.parameters.clear();
            parameters.iter().for_each(|part| self.best.parameters.extend_from_slice(part));
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// What the protocol keeps: the best epoch's parameters, or `None` for those of the last one; and their score.
    pub(crate) fn kept(&self) -> (Option<&[f32]>, Score) {
        match self.protocol {
            Protocol::Best => (Some(&self.best.parameters), self.best.score),
            Protocol::Paper => (None, self.last),
        }
    }

    /// Continues from a saved run.
    pub(crate) fn restore(&mut self, progress: Progress) {
        let Progress { epoch, best, last, seconds, .. } = progress;
        (self.epoch, self.best, self.last, self.seconds) = (epoch, best, last, seconds);
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

    fn after(losses: &[f64], config: &TrainConfig) -> Stopping {
        let mut stopping = Stopping::new(config, vec![0.0]);
        for (epoch, &loss) in losses.iter().enumerate() {
            assert!(!stopping.is_over());
            let score = Score { loss, accuracy: 0.5 };
            stopping.finish_epoch(Instant::now(), Some(score), &[&[epoch as f32 + 1.0], &[7.0]]);
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
}
