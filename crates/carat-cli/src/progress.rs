//! Progress on stderr: a bar on a terminal, a line now and then elsewhere.

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
        let causal = if epoch.causal_loss > 0.0 { format!(", causal {:.4}", epoch.causal_loss) } else { String::new() };
        let message = format!(
            "train loss {:.4}{causal}, validation loss {:.4} (best {:.4}), accuracy {:.3}",
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

/// Shows how many of something are done.
pub struct CountProgress {
    bar: Option<ProgressBar>,
    what: &'static str,
    spoken: Instant,
}

impl CountProgress {
    /// A display of so many edges, or whatever is counted.
    pub fn new(what: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template(&format!("{{human_pos}}/{{human_len}} {what} {{bar:30}} ({{eta}} left)"));
            let bar = ProgressBar::new(0);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, what, spoken: Instant::now() }
    }

    /// Shows how far the work is.
    pub fn show(&mut self, done: u64, total: u64) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(total);
                bar.set_position(done);
            }
            None if self.spoken.elapsed() >= LINE_EVERY => {
                eprintln!("{done}/{total} {}", self.what);
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
