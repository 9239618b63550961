//! The events of a sweep, counted and shown: runs done, runs failed, the best run so far.

use std::sync::{Mutex, PoisonError};

use carat_lab::sweep::{Event, described};

use super::Progress;

/// Shows a sweep.
pub struct SweepProgress {
    progress: Progress,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    total: usize,
    done: usize,
    failed: usize,
    best: Option<(f64, String)>,
}

impl SweepProgress {
    /// A display that waits for the first event.
    pub fn new() -> Self {
        Self { progress: Progress::new("runs"), state: Mutex::default() }
    }

    /// Shows what happened.
    pub fn show(&self, event: &Event<'_>) {
        // A thread that panicked while it held the lock left at worst one event uncounted.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Planned { runs, done } => {
                (state.total, state.done) = (*runs, *done);
                self.progress.print(&format!("{runs} runs, {done} of them in the store"));
                self.progress.start(*done as u64, *runs as u64);
            }
            Event::Elsewhere(runs) => state.done += runs,
            Event::Finished(config, outcome) => {
                state.done += 1;
                let accuracy = outcome.figures.val.accuracy.unwrap_or_default();
                if state.best.as_ref().is_none_or(|(best, _)| accuracy > *best) {
                    state.best = Some((accuracy, described(config)));
                }
            }
            Event::Failed(config, error) => {
                state.done += 1;
                state.failed += 1;
                self.progress.print(&format!("failed: {}: {error}", described(config)));
            }
        }
        self.progress.show(state.done as u64, state.total as u64, &state.message());
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.progress.finish();
    }
}

impl State {
    fn message(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        let best = self
            .best
            .as_ref()
            .map_or(String::new(), |(accuracy, run)| format!("; best validation accuracy {accuracy:.3} ({run})"));
        failed + &best
    }
}
