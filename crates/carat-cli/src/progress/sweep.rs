//! The events of sweeps, counted and shown: runs done, runs failed, the best run so far.

use std::sync::{Mutex, MutexGuard, PoisonError};

use carat::TrainConfig;
use carat::metrics::Metric;
use carat_lab::sweep::{Event, described};
use carat_report::format::counted;

use super::Progress;

/// Shows one sweep, or several one after the other.
pub struct SweepProgress {
    progress: Progress,
    /// The validation figure that says which run is the best.
    metric: Metric,
    /// What distinguishes a run.
    describe: Describe,
    state: Mutex<State>,
}

/// What distinguishes a run from others, in words.
pub type Describe = Box<dyn Fn(&TrainConfig) -> String + Send + Sync>;

#[derive(Default)]
struct State {
    title: String,
    total: usize,
    done: usize,
    failed: usize,
    best: Option<(f64, String)>,
}

/// By accuracy, with what differs from the defaults.
impl Default for SweepProgress {
    fn default() -> Self {
        Self::new(Metric::Accuracy, Box::new(described))
    }
}

impl SweepProgress {
    /// A display that waits for the first event.
    pub fn new(metric: Metric, describe: Describe) -> Self {
        Self { progress: Progress::new("runs"), metric, describe, state: Mutex::default() }
    }

    /// Says what the next sweep is about.
    pub fn begin(&self, title: &str) {
        self.state().title = format!("{title}: ");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it held the lock left at worst one event uncounted.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what happened.
    pub fn show(&self, event: &Event<'_>) {
        let mut state = self.state();
        match event {
            Event::Planned { runs, done } => {
                (state.total, state.done) = (*runs, *done);
                self.progress.print(&format!("{}{}, {done} of them in the store", state.title, counted(*runs, "run")));
                self.progress.start(*done as u64, *runs as u64);
            }
            Event::Elsewhere(runs) => state.done += runs,
            Event::Finished(config, outcome) => {
                state.done += 1;
                if let Some(figure) = outcome.figures.val.get(self.metric) {
                    let is_better =
                        |best: f64| if self.metric.lower_is_better() { figure < best } else { figure > best };
                    if state.best.as_ref().is_none_or(|(best, _)| is_better(*best)) {
                        state.best = Some((figure, (self.describe)(config)));
                    }
                }
            }
            Event::Failed(config, error) => {
                state.done += 1;
                state.failed += 1;
                self.progress.print(&format!("failed: {}: {error}", (self.describe)(config)));
            }
        }
        self.progress.show(state.done as u64, state.total as u64, &state.message(self.metric));
    }
}

/// Removes the bar.
impl Drop for SweepProgress {
    fn drop(&mut self) {
        self.progress.finish();
    }
}

impl State {
    fn message(&self, metric: Metric) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let best = self.best.as_ref().map_or(String::new(), |(figure, run)| {
            let run = if run.is_empty() { String::new() } else { format!(" ({run})") };
            format!("; best validation {} {figure:.3}{run}", metric.title())
        });
        failed + &best
    }
}
