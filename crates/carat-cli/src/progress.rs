//! Progress on stderr: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use carat::settings::NetworkSettings;
use carat::{EpochMetrics, ModelKind, TrainConfig};
use carat_lab::sweep::{Event, described};
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

/// Shows a sweep as it goes: runs done, rate, time left, the best so far.
pub struct SweepProgress {
    bar: Option<ProgressBar>,
    state: Mutex<SweepState>,
}

struct SweepState {
    started: Instant,
    spoken: Instant,
    total: usize,
    done: usize,
    computed: usize,
    failed: usize,
    best: Option<(f64, String)>,
}

impl SweepProgress {
    /// A display that waits for the first event.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{pos}/{len} runs {bar:24} {elapsed}{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let now = Instant::now();
        let state = SweepState { started: now, spoken: now, total: 0, done: 0, computed: 0, failed: 0, best: None };
        Self { bar, state: Mutex::new(state) }
    }

    /// Shows what happened.
    pub fn show(&self, event: &Event<'_>) {
        // A thread that panicked while it held the lock left at worst one event uncounted.
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match event {
            Event::Planned { runs, done } => {
                (state.total, state.done) = (*runs, *done);
                (state.started, state.spoken) = (Instant::now(), Instant::now());
                if self.bar.is_none() {
                    eprintln!("{runs} runs, {done} of them in the store");
                }
            }
            Event::Elsewhere(runs) => state.done += runs,
            Event::Finished(config, outcome) => {
                state.done += 1;
                state.computed += 1;
                if state.best.as_ref().is_none_or(|(best, _)| outcome.val_accuracy > *best) {
                    state.best = Some((outcome.val_accuracy, name(config)));
                }
            }
            Event::Failed(config, error) => {
                state.done += 1;
                state.computed += 1;
                state.failed += 1;
                let line = format!("failed: {}: {error}", described(config));
                match &self.bar {
                    Some(bar) => bar.suspend(|| eprintln!("{line}")),
                    None => eprintln!("{line}"),
                }
            }
        }
        let message = state.message();
        match &self.bar {
            Some(bar) => {
                bar.set_length(state.total as u64);
                bar.set_position(state.done as u64);
                bar.set_message(message);
            }
            None if state.spoken.elapsed() >= LINE_EVERY => {
                eprintln!("{}/{} runs{message}", state.done, state.total);
                state.spoken = Instant::now();
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

impl SweepState {
    fn message(&self) -> String {
        let rate = self.computed as f64 / self.started.elapsed().as_secs_f64().max(1e-3);
        let mut text = String::new();
        if self.computed > 0 {
            let left = (self.total.saturating_sub(self.done)) as f64 / rate;
            text.push_str(&format!(", {rate:.1} a second, {} left", duration(left)));
        }
        if self.failed > 0 {
            text.push_str(&format!(", {} failed", self.failed));
        }
        if let Some((accuracy, name)) = &self.best {
            text.push_str(&format!("; best validation accuracy {accuracy:.3} ({name})"));
        }
        text
    }
}

/// A run in a few words.
fn name(config: &TrainConfig) -> String {
    let data = std::path::Path::new(&config.data.name).file_stem().unwrap_or_default().to_string_lossy();
    let NetworkSettings { hidden, heads, layers, .. } = config.network;
    let (lambda, seed) = (&config.regulariser.lambda, config.seed);
    let network = config.network_name();
    match config.model {
        ModelKind::Attention => {
            format!("{data} {network}, F {hidden}, K {heads}, L {layers}, lambda {lambda}, seed {seed}")
        }
        ModelKind::Gcn => format!("{data} {network}, F {hidden}, L {layers}, seed {seed}"),
        ModelKind::Cal => {
            let strengths = [config.cal.lambda1, config.cal.lambda2].map(|strength| strength.map(|s| s.to_string()));
            let [lambda1, lambda2] = strengths.map(|strength| strength.unwrap_or("default".into()));
            format!(
                "{data} {network}, F {hidden}, K {heads}, L {layers}, lambda1 {lambda1}, lambda2 {lambda2}, seed {seed}"
            )
        }
    }
}

/// 4000 seconds as 1 h 06 min.
fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        assert_eq!([4.4, 75.0, 4000.0].map(duration), ["4 s", "1 min 15 s", "1 h 06 min"]);
    }
}
