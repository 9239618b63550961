//! What `sweep`, `reproduce` and `tune` share: a store, its data, and runs that are computed while progress is shown.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use carat::{Error, TrainConfig};
use carat_graph::Dataset;
use carat_lab::sweep::{self, Event, Outcome, Store, SweepOptions, Tally};
use carat_lab::tune::Limits;

use crate::arguments::Threads;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::SweepProgress;

/// What a store has of some runs, in their order: outcomes and errors.
pub type Results = Vec<Option<Result<Outcome, String>>>;

/// Computes runs into a store.
pub struct Sweeper<'a> {
    store: Store,
    datasets: &'a HashMap<String, Dataset>,
    threads: Option<usize>,
    interrupted: Box<dyn Fn() -> bool + Send + Sync>,
    progress: SweepProgress,
}

impl<'a> Sweeper<'a> {
    /// Opens or creates a store for runs on data that was opened before.
    pub fn open(store: &Path, datasets: &'a HashMap<String, Dataset>, threads: &Threads) -> Result<Self, Failure> {
        Ok(Self {
            store: Store::open(store)?,
            datasets,
            threads: threads.threads,
            interrupted: Box::new(interrupt::flag()?),
            progress: SweepProgress::default(),
        })
    }

    /// The same, with progress shown in another way.
    pub fn with_progress(self, progress: SweepProgress) -> Self {
        Self { progress, ..self }
    }

    /// Computes the runs of a share that the store lacks.
    pub fn compute(&self, runs: &[TrainConfig], shard: (usize, usize), retry_failed: bool) -> Result<Tally, Error> {
        let on_event = |event: Event<'_>| self.progress.show(&event);
        let interrupted = &self.interrupted;
        self.sweep(runs, &SweepOptions { shard, retry_failed, deadline: None, interrupted, on_event: &on_event })
    }

    /// Computes runs as far as time allows, and gives what the store has of each of them then.
    pub fn results(&self, title: &str, runs: &[TrainConfig], limits: Limits) -> Result<Results, Error> {
        self.progress.begin(title);
        let on_event = |event: Event<'_>| self.progress.show(&event);
        let interrupted = || self.is_interrupted() || limits.end.is_some_and(|end| Instant::now() >= end);
        let options = SweepOptions {
            shard: (0, 1),
            retry_failed: false,
            deadline: limits.begin,
            interrupted: &interrupted,
            on_event: &on_event,
        };
        self.sweep(runs, &options)?;
        sweep::results(&self.store, self.datasets, runs)
    }

    fn sweep(&self, runs: &[TrainConfig], options: &SweepOptions<'_>) -> Result<Tally, Error> {
        carat::with_threads(self.threads, || sweep::sweep(&self.store, self.datasets, runs, options))?
    }

    /// True once Ctrl-C was pressed.
    pub fn is_interrupted(&self) -> bool {
        (self.interrupted)()
    }

    /// Removes the progress.
    pub fn finish(self) -> Store {
        self.store
    }
}
