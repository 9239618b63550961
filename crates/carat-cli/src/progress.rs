//! Progress of a training run on stderr: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use carat::EpochMetrics;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows epochs as they finish.
pub struct EpochProgress {
    bar: Option<ProgressBar>,
    epochs: usize,
    best: f64,
    spoken: Instant,
}

/// Time between lines where stderr is not a terminal. Runs that take less say nothing.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl EpochProgress {
    /// A display for at most `epochs` epochs.
    pub fn new(epochs: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("epoch {pos}/{len} {bar:30} {msg} ({elapsed})");
            let bar = ProgressBar::new(epochs as u64);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, epochs, best: f64::INFINITY, spoken: Instant::now() }
    }

    /// Shows one finished epoch.
    pub fn show(&mut self, epoch: &EpochMetrics) {
        self.best = self.best.min(epoch.val_loss);
        let message = format!(
            "train loss {:.4}, validation loss {:.4} (best {:.4}), accuracy {:.3}",
            epoch.train_loss, epoch.val_loss, self.best, epoch.val_accuracy
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(epoch.epoch as u64);
                bar.set_message(message);
            }
            None if self.spoken.elapsed() >= LINE_EVERY => {
                eprintln!("epoch {}/{}: {message}", epoch.epoch, self.epochs);
                self.spoken = Instant::now();
            }
            None => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
