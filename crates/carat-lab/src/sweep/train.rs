//! One training and the outcome of each of its runs. The figures are those of `carat train` with the same protocol, bit
//! for bit.

use carat::{Error, Protocol, TrainConfig};
use carat_graph::Dataset;

use super::curve::{Curve, Point};
use super::guides::Guides;
use super::plan::Training;
use super::run::Outcome;

/// The result of a training.
pub(super) struct Trained {
    /// The outcome or the error of each run, in the order of the runs.
    pub(super) results: Vec<Result<Outcome, String>>,
    /// Every epoch up to the end or the error.
    pub(super) curve: Curve,
}

/// Trains until all runs have stopped. Each run's outcome is taken at the epoch at which its own
/// protocol stops. `None` where the sweep was interrupted.
pub(super) fn train(
    dataset: &Dataset,
    training: &Training,
    guides: &Guides,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Trained>, Error> {
    let config = training.config();
    let split = config.choose_split(dataset)?;
    let Some(dataset) = guides.graph_of(dataset, &config, interrupted)? else { return Ok(None) };
    let (dataset, _) = carat::prepare(&dataset, &split, &config)?;
    let mut trainer = carat::training(&dataset, &split, &config)?;
    let mut results: Vec<Option<Result<Outcome, String>>> = vec![None; training.runs.len()];
    let mut curve = Curve::default();
    let over = loop {
        if results.iter().all(Option::is_some) {
            break String::new();
        }
        let metrics = match trainer.epoch(&|| interrupted()) {
            Ok(Some(metrics)) => metrics,
            Ok(None) if !trainer.stopping().is_over() => return Ok(None),
            Ok(None) => break "the run has no epoch".to_string(),
            // Runs that stopped before keep their outcome.
            Err(error) => break error.to_string(),
        };
        let score = trainer.test()?;
        curve.points.push(Point {
            train_loss: metrics.train_loss,
            causal_loss: metrics.causal_loss,
            val_loss: metrics.val_loss,
            val_accuracy: metrics.val_accuracy,
            test_loss: score.map_or(f64::NAN, |score| score.loss),
            test_accuracy: score.map_or(f64::NAN, |score| score.accuracy),
        });
        for (run, result) in training.runs.iter().zip(&mut results).filter(|(_, result)| result.is_none()) {
            let stopping = trainer.stopping();
            if stopping.is_out_of_patience(&run.config.stopping) || stopping.is_over() {
                let outcome = outcome_of(&run.config, &mut *trainer, &curve);
                *result = Some(outcome.map_err(|error| error.to_string()));
            }
        }
    };
    let results = results.into_iter().map(|result| result.unwrap_or_else(|| Err(over.clone()))).collect();
    Ok(Some(Trained { results, curve }))
}

/// The outcome of a run whose protocol stops after the trainer's last epoch.
fn outcome_of(config: &TrainConfig, trainer: &mut carat::AnyTrainer<'_>, curve: &Curve) -> Result<Outcome, Error> {
    let stopping = trainer.stopping();
    let kept_epoch = match config.stopping.protocol {
        Protocol::Paper => stopping.epochs(),
        Protocol::Best => stopping.best().epoch,
    };
    let kept = kept_epoch.checked_sub(1).and_then(|epoch| curve.points.get(epoch));
    if !kept.is_some_and(|point| point.val_loss.is_finite()) {
        let problem = "the run diverged: its validation loss is not a number; try a smaller lr";
        return Err(Error::Config(problem.into()));
    }
    let (epochs, train_seconds) = (stopping.epochs(), stopping.seconds());
    let figures = trainer.results(config.stopping.protocol)?.figures;
    Ok(Outcome { figures, spurious: None, epochs, kept_epoch, train_seconds })
}
