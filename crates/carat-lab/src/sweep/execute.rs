//! Computes a grid: one training per core, each on one thread. Every result is stored as soon as it is known.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use carat::settings::DataSettings;
use carat::{Error, TrainConfig};
use carat_graph::Dataset;

use super::curve::Curve;
use super::guides::Guides;
use super::plan::{self, Training};
use super::run::Outcome;
use super::store::{CODE, Claim, Store};
use super::train::{Trained, train};
use super::worker::Worker;
use crate::parallel::reason_of_panic;

/// How often to check whether another process has finished what it claimed.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How to compute a grid.
pub struct SweepOptions<'a> {
    /// The share of the grid to compute, counted from 0, and the number of shares.
    pub shard: (usize, usize),
    /// Compute again what failed before.
    pub retry_failed: bool,
    /// No training begins after this moment. Those at work come to their end.
    pub deadline: Option<Instant>,
    /// Called often. Once it returns true, the sweep ends and keeps the results so far.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Called for every event.
    pub on_event: &'a (dyn Fn(Event<'_>) + Sync),
}

/// Something that happened in a sweep.
#[derive(Debug)]
pub enum Event<'a> {
    /// The sweep is about to begin.
    Planned {
        /// Runs in this share of the grid.
        runs: usize,
        /// Those that are in the store already.
        done: usize,
    },
    /// A run was computed here.
    Finished(&'a TrainConfig, &'a Outcome),
    /// A run failed here.
    Failed(&'a TrainConfig, &'a str),
    /// Another process finished this many runs.
    Elsewhere(usize),
}

/// Counts of a sweep's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Tally {
    /// In this share of the grid.
    pub runs: usize,
    /// Found in the store: from an earlier sweep, or from another process.
    pub found: usize,
    /// Computed here.
    pub computed: usize,
    /// Failed, whoever computed them.
    pub failed: usize,
    /// Not computed: the sweep was interrupted.
    pub left: usize,
}

/// Opens every dataset that the runs name, and checks that it has the splits that they name.
pub fn open_datasets(runs: &[TrainConfig], data_dir: &Path) -> Result<HashMap<String, Dataset>, Error> {
    let mut datasets = HashMap::new();
    for run in runs {
        if !datasets.contains_key(&run.data.name) {
            datasets.insert(run.data.name.clone(), carat_graph::open(&run.data.name, data_dir)?);
        }
    }
    check_splits(&datasets, runs)?;
    Ok(datasets)
}

/// Computes the runs that the store lacks, on as many threads as the caller's pool has (see [`carat::with_threads`]).
pub fn sweep(
    store: &Store,
    datasets: &HashMap<String, Dataset>,
    runs: &[TrainConfig],
    options: &SweepOptions<'_>,
) -> Result<Tally, Error> {
    let trainings = plan::share(plan::plan(runs, &data_sums(datasets))?, options.shard);
    if options.retry_failed {
        store.forget_failures(&trainings)?;
    }
    let runs: usize = trainings.iter().map(|training| training.runs.len()).sum();
    let stored = store.keys()?;
    let mut left = trainings.clone();
    left.iter_mut().for_each(|training| training.runs.retain(|run| !stored.contains_key(&run.key)));
    left.retain(|training| !training.runs.is_empty());
    let missing: usize = left.iter().map(|training| training.runs.len()).sum();
    (options.on_event)(Event::Planned { runs, done: runs - missing });
    let mut computed = 0;
    if !left.is_empty() {
        let worker = Worker::new(store.path())?;
        let execution = Execution {
            store,
            datasets,
            prepared: Prepared::new(datasets, &left)?,
            options,
            worker: &worker,
            guides: Guides::default(),
            computed: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        };
        let result = execution.run_all(&left);
        store.release(&worker)?;
        result?;
        computed = execution.computed.into_inner();
    }
    // Other processes may have added runs, so the counts are of what the store holds now.
    let stored = store.keys()?;
    let done: Vec<bool> =
        trainings.iter().flat_map(|t| &t.runs).filter_map(|run| stored.get(&run.key).copied()).collect();
    Ok(Tally {
        runs,
        found: done.len() - computed.min(done.len()),
        computed,
        failed: done.iter().filter(|failed| **failed).count(),
        left: runs - done.len(),
    })
}

/// What the store holds of each of these runs: its outcome, or the error that ended it.
pub fn results(
    store: &Store,
    datasets: &HashMap<String, Dataset>,
    runs: &[TrainConfig],
) -> Result<Vec<Option<Result<Outcome, String>>>, Error> {
    let sums = data_sums(datasets);
    let sum = |run: &TrainConfig| sums.get(&run.data.name).map_or("", String::as_str);
    runs.iter().map(|run| store.result(&plan::key(CODE, run, sum(run))?)).collect()
}

/// The hash of every dataset's contents.
fn data_sums(datasets: &HashMap<String, Dataset>) -> HashMap<String, String> {
    datasets.iter().map(|(name, dataset)| (name.clone(), plan::data_sum(dataset))).collect()
}

/// Refuses splits that the data does not have. Without this check every run would fail with the same error.
fn check_splits(datasets: &HashMap<String, Dataset>, runs: &[TrainConfig]) -> Result<(), Error> {
    let mut checked = HashSet::new();
    for run in runs {
        let DataSettings { name, task, split, split_ratio, folds, .. } = &run.data;
        if !checked.insert((name, task, split, split_ratio, folds)) {
            continue;
        }
        if let Some(dataset) = datasets.get(name) {
            run.choose_split(dataset)?;
        }
    }
    Ok(())
}

/// The datasets as the trainings read them, where their settings change edges; by name, undirected and self-loops.
#[derive(Default)]
struct Prepared(HashMap<(String, bool, bool), Dataset>);

impl Prepared {
    fn new(datasets: &HashMap<String, Dataset>, trainings: &[Training]) -> Result<Self, Error> {
        let mut prepared = Self::default();
        for config in trainings.iter().map(Training::config) {
            let key = Self::key(&config);
            if let Some(dataset) = datasets.get(&config.data.name).filter(|dataset| !config.edges_are_prepared(dataset))
                && !prepared.0.contains_key(&key)
            {
                prepared.0.insert(key, config.prepare_edges(dataset.clone())?);
            }
        }
        Ok(prepared)
    }

    fn key(config: &TrainConfig) -> (String, bool, bool) {
        (config.data.name.clone(), config.data.undirected, config.data.self_loops)
    }
}

/// A sweep at work. Threads share it.
struct Execution<'a> {
    store: &'a Store,
    datasets: &'a HashMap<String, Dataset>,
    prepared: Prepared,
    options: &'a SweepOptions<'a>,
    worker: &'a Worker,
    guides: Guides,
    /// Runs computed here.
    computed: AtomicUsize,
    /// True once a training has ended the sweep with an error.
    stopped: AtomicBool,
}

impl Execution<'_> {
    /// Computes everything that no other process has claimed, then the rest once those processes have finished or died.
    fn run_all(&self, left: &[Training]) -> Result<(), Error> {
        let mut waiting: Vec<&Training> = left.iter().collect();
        loop {
            let again = crate::parallel::in_parallel(waiting.len(), |number| {
                let again = self.run_one(waiting[number]);
                if again.is_err() {
                    self.stopped.store(true, Ordering::Relaxed);
                }
                again
            })?;
            waiting =
                waiting.into_iter().zip(again).filter(|(_, again)| *again).map(|(training, _)| training).collect();
            if waiting.is_empty() || self.should_stop() {
                return Ok(());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn should_stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || (self.options.interrupted)()
    }

    /// Computes one training, unless it is done. True where another process is computing it: ask again later.
    fn run_one(&self, training: &Training) -> Result<bool, Error> {
        if self.should_stop() || self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(false);
        }
        let mut training = training.clone();
        match self.store.claim(&mut training, self.worker)? {
            Claim::Elsewhere => return Ok(true),
            Claim::Done(runs) => {
                (self.options.on_event)(Event::Elsewhere(runs));
                return Ok(false);
            }
            Claim::Ours => {}
        }
        let should_stop = || self.should_stop();
        let failed =
            |error: String| Trained { results: vec![Err(error); training.runs.len()], curve: Curve::default() };
        let attempt =
            catch_unwind(AssertUnwindSafe(|| train(self.dataset(&training)?, &training, &self.guides, &should_stop)));
        let trained = match attempt {
            // The sweep was interrupted, so there is no result.
            Ok(Ok(None)) => return Ok(false),
            Ok(Ok(Some(trained))) => trained,
            Ok(Err(error)) => failed(error.to_string()),
            Err(panic) => failed(format!("carat has a bug: {}", reason_of_panic(&*panic))),
        };
        self.store.finish(&training, &trained)?;
        self.computed.fetch_add(training.runs.len(), Ordering::Relaxed);
        for (run, result) in training.runs.iter().zip(&trained.results) {
            (self.options.on_event)(match result {
                Ok(outcome) => Event::Finished(&run.config, outcome),
                Err(error) => Event::Failed(&run.config, error),
            });
        }
        Ok(false)
    }

    fn dataset(&self, training: &Training) -> Result<&Dataset, Error> {
        let config = training.config();
        let data = &config.data.name;
        let dataset = self.prepared.0.get(&Prepared::key(&config)).or_else(|| self.datasets.get(data));
        dataset.ok_or_else(|| Error::Config(format!("the dataset {data} was not opened")))
    }
}
