//! What `sweep`, `reproduce` and `tune` share: a store, its data, and runs that are computed while progress is shown.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use carat::{Error, TrainConfig};
use carat_graph::Dataset;
use carat_lab::sweep::{self, Outcome, Store, SweepOptions, Tally};

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

/// Which of the runs to compute.
pub struct Share {
    /// A share of them, counted from 0, and the number of shares.
    pub shard: (usize, usize),
    /// Those that failed before, too.
    pub retry: bool,
    /// Those that begin before this moment.
    pub deadline: Option<Instant>,
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

    /// Computes the runs that the store lacks.
    pub fn compute(&self, runs: &[TrainConfig], share: Share) -> Result<Tally, Error> {
        let options = SweepOptions {
            shard: share.shard,
            retry_failed: share.retry,
            deadline: share.deadline,
            interrupted: &self.interrupted,
            on_event: &|event| self.progress.show(&event),
        };
        carat::with_threads(self.threads, || sweep::sweep(&self.store, self.datasets, runs, &options))?
    }

    /// Computes runs that begin before a moment, and gives what the store has of each of them then.
    pub fn results(&self, title: &str, runs: &[TrainConfig], deadline: Option<Instant>) -> Result<Results, Error> {
        self.progress.begin(title);
        self.compute(runs, Share { shard: (0, 1), retry: false, deadline })?;
        sweep::results(&self.store, self.datasets, runs)
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
