//! Computing a grid: one training per core, each on one thread, every result stored as soon as it is there.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use carat::{Error, Evaluator, Protocol, TrainConfig, Trainer, coherence};
use carat_graph::{Dataset, Split};
use carat_nn::Network;

use super::curve::{Curve, Point};
use super::plan::{self, Training};
use super::run::Outcome;
use super::store::{Claim, Store};
use super::worker::Worker;

/// How often to look whether another process has finished what it claimed.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How to compute a grid, apart from what.
pub struct SweepOptions<'a> {
    /// Which of how many shares of the grid, counted from 0.
    pub shard: (usize, usize),
    /// Compute again what failed before.
    pub retry_failed: bool,
    /// Asked often; once true, the sweep ends with what it has.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Told of everything that happens.
    pub on_event: &'a (dyn Fn(Event<'_>) + Sync),
}

/// Something that happened in a sweep.
#[derive(Debug)]
pub enum Event<'a> {
    /// Runs of this share, of which so many were in the store.
    Planned {
        /// All of them.
        runs: usize,
        /// Those that need not be computed.
        done: usize,
    },
    /// A run came to its end here.
    Finished(&'a TrainConfig, &'a Outcome),
    /// A run failed here.
    Failed(&'a TrainConfig, &'a str),
    /// Another process finished so many runs.
    Elsewhere(usize),
}

/// What a sweep came to, in runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Tally {
    /// In this share of the grid.
    pub runs: usize,
    /// In the store from before, or from another process.
    pub found: usize,
    /// Computed here.
    pub computed: usize,
    /// Of all, those that failed.
    pub failed: usize,
    /// Not computed: the sweep was interrupted.
    pub left: usize,
}

/// Opens every dataset that the runs name.
pub fn open_datasets(runs: &[TrainConfig], data_dir: &Path) -> Result<HashMap<String, Dataset>, Error> {
    let mut datasets = HashMap::new();
    for run in runs {
        if !datasets.contains_key(&run.data) {
            datasets.insert(run.data.clone(), carat_graph::open(&run.data, data_dir)?);
        }
    }
    Ok(datasets)
}

/// Computes the runs that the store lacks, on as many threads as the caller's pool has (see [`carat::with_threads`]).
pub fn sweep(
    store: &Store,
    datasets: &HashMap<String, Dataset>,
    runs: &[TrainConfig],
    options: &SweepOptions<'_>,
) -> Result<Tally, Error> {
    let sums = datasets.iter().map(|(name, dataset)| (name.clone(), plan::data_sum(dataset))).collect();
    let (shard, count) = options.shard;
    let trainings: Vec<Training> =
        plan::plan(runs, &sums)?.into_iter().filter(|training| training.is_in_shard(shard, count)).collect();
    if options.retry_failed {
        store.forget_failures(&trainings)?;
    }
    let in_store: HashMap<String, bool> =
        store.records()?.into_iter().map(|record| (record.key, record.result.is_err())).collect();
    let mut tally = Tally::default();
    for run in trainings.iter().flat_map(|training| &training.runs) {
        tally.runs += 1;
        if let Some(failed) = in_store.get(&run.key) {
            tally.found += 1;
            tally.failed += usize::from(*failed);
        }
    }
    (options.on_event)(Event::Planned { runs: tally.runs, done: tally.found });
    let left: Vec<&Training> =
        trainings.iter().filter(|t| t.runs.iter().any(|run| !in_store.contains_key(&run.key))).collect();
    if left.is_empty() {
        return Ok(tally);
    }

    let worker = Worker::new(store.path())?;
    let work = Work { store, datasets, options, worker: &worker, counts: Counts::default() };
    let result = work.all(&left);
    store.release(&worker)?;
    result?;
    let Counts { computed, failed, elsewhere, .. } = work.counts;
    tally.computed = computed.into_inner();
    tally.failed += failed.into_inner();
    tally.found += elsewhere.into_inner();
    tally.left = tally.runs.saturating_sub(tally.found + tally.computed);
    Ok(tally)
}

#[derive(Default)]
struct Counts {
    computed: AtomicUsize,
    failed: AtomicUsize,
    elsewhere: AtomicUsize,
    stopped: AtomicBool,
}

struct Work<'a> {
    store: &'a Store,
    datasets: &'a HashMap<String, Dataset>,
    options: &'a SweepOptions<'a>,
    worker: &'a Worker,
    counts: Counts,
}

impl Work<'_> {
    /// Everything that is ours to compute, then what others had claimed, once they are done or dead.
    fn all(&self, left: &[&Training]) -> Result<(), Error> {
        let mut waiting: Vec<&Training> = left.to_vec();
        loop {
            let again = crate::parallel::in_parallel(waiting.len(), |number| {
                let again = self.one(waiting[number]);
                if again.is_err() {
                    self.counts.stopped.store(true, Ordering::Relaxed);
                }
                again
            })?;
            waiting =
                waiting.into_iter().zip(again).filter(|(_, again)| *again).map(|(training, _)| training).collect();
            if waiting.is_empty() || self.is_over() {
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn is_over(&self) -> bool {
        self.counts.stopped.load(Ordering::Relaxed) || (self.options.interrupted)()
    }

    /// Computes one training, unless it is done. True: somebody else is at it, ask again later.
    fn one(&self, training: &Training) -> Result<bool, Error> {
        if self.is_over() {
            return Ok(false);
        }
        match self.store.claim(training, self.worker)? {
            Claim::Elsewhere => return Ok(true),
            Claim::Done => {
                self.counts.elsewhere.fetch_add(training.runs.len(), Ordering::Relaxed);
                (self.options.on_event)(Event::Elsewhere(training.runs.len()));
                return Ok(false);
            }
            Claim::Ours => {}
        }
        let attempt = catch_unwind(AssertUnwindSafe(|| self.train(training)));
        let result = match attempt {
            // Interrupted: there is no result.
            Ok(Ok(None)) => return Ok(false),
            Ok(Ok(Some(result))) => Ok(result),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(format!("carat has a bug: {}", reason(&*panic))),
        };
        self.store.finish(training, &result)?;
        self.counts.computed.fetch_add(training.runs.len(), Ordering::Relaxed);
        match &result {
            Ok((outcomes, _)) => {
                for (run, outcome) in training.runs.iter().zip(outcomes) {
                    (self.options.on_event)(Event::Finished(&run.config, outcome));
                }
            }
            Err(error) => {
                self.counts.failed.fetch_add(training.runs.len(), Ordering::Relaxed);
                training.runs.iter().for_each(|run| (self.options.on_event)(Event::Failed(&run.config, error)));
            }
        }
        Ok(false)
    }

    /// Trains once and takes every run's outcome when its protocol stops: the same figures, bit for bit, as `carat train`
    /// with that protocol. `None` where the sweep was interrupted.
    fn train(&self, training: &Training) -> Result<Option<(Vec<Outcome>, Curve)>, Error> {
        let config = training.config();
        let dataset = &self.datasets[&config.data];
        let split = config.choose_split(dataset)?;
        let mut trainer = Trainer::new(dataset, &split, &config)?;
        let mut test = Evaluator::new(dataset, &split.test, config.layers, config.batch_size);
        let mut outcomes: Vec<Option<Outcome>> = vec![None; training.runs.len()];
        let mut curve = Curve::default();
        let is_over = || self.is_over();
        loop {
            let epoch = trainer.epoch(&is_over)?;
            if let Some(metrics) = epoch {
                let score = test.score(trainer.network());
                curve.points.push(Point {
                    train_loss: metrics.train_loss,
                    causal_loss: metrics.causal_loss,
                    val_loss: metrics.val_loss,
                    val_accuracy: metrics.val_accuracy,
                    test_loss: score.map_or(f64::NAN, |score| score.loss),
                    test_accuracy: score.map_or(f64::NAN, |score| score.accuracy),
                });
            } else if !trainer.is_over() {
                return Ok(None);
            }
            for (run, outcome) in training.runs.iter().zip(&mut outcomes).filter(|(_, outcome)| outcome.is_none()) {
                let patience_is_out = trainer.epochs() - trainer.best().epoch >= run.config.patience();
                if patience_is_out || trainer.is_over() {
                    *outcome = Some(outcome_of(dataset, &split, &run.config, &trainer, &curve)?);
                }
            }
            if epoch.is_none() {
                let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
                return match outcomes.iter().find(|outcome| !outcome.val_loss.is_finite()) {
                    Some(_) => Err(Error::Config("the run diverged: its validation loss is not a number".into())),
                    None => Ok(Some((outcomes, curve))),
                };
            }
        }
    }
}

/// What a run comes to whose protocol stops after the trainer's last epoch.
fn outcome_of(
    dataset: &Dataset,
    split: &Split,
    config: &TrainConfig,
    trainer: &Trainer<'_>,
    curve: &Curve,
) -> Result<Outcome, Error> {
    let best;
    let (network, kept_epoch) = match config.protocol {
        Protocol::Paper => (trainer.network(), trainer.epochs()),
        Protocol::Best => {
            let mut network = Network::new(config.network_for(dataset), config.seed)?;
            network.parameters_mut().copy_from_slice(&trainer.best().parameters);
            best = network;
            (&best, trainer.best().epoch)
        }
    };
    let kept = kept_epoch.checked_sub(1).and_then(|epoch| curve.points.get(epoch));
    let kept = kept.ok_or_else(|| Error::Config("the run diverged: it never had a validation loss".into()))?;
    let coherence = coherence(network, dataset, &split.test, config.batch_size);
    let tested = |value: f64| (!split.test.is_empty()).then_some(value);
    Ok(Outcome {
        test_loss: tested(kept.test_loss),
        test_accuracy: tested(kept.test_accuracy),
        val_loss: kept.val_loss,
        val_accuracy: kept.val_accuracy,
        attention_kl: coherence.map(|c| c.attention_kl),
        uniform_kl: coherence.map(|c| c.uniform_kl),
        attention_auc: coherence.and_then(|c| c.attention_auc),
        epochs: trainer.epochs(),
        kept_epoch,
        train_seconds: trainer.seconds(),
    })
}

/// What a panic said.
fn reason(payload: &(dyn std::any::Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "no reason given".to_string(),
    }
}
