//! Made-up runs for tests, here and in the crates that use this one.

use carat::metrics::{Figures, RunFigures};
use carat::{Lambda, Protocol, TrainConfig};

use crate::sweep::{Outcome, Run};

fn figures(loss: f64, accuracy: f64) -> Figures {
    Figures { loss: Some(loss), accuracy: Some(accuracy), ..Figures::default() }
}

/// An outcome whose figures all follow from its test loss.
pub fn outcome(test_loss: f64) -> Outcome {
    Outcome {
        figures: RunFigures {
            test: figures(test_loss, 1.0 / (1.0 + test_loss)),
            val: figures(test_loss + 0.1, 1.0 / (1.0 + test_loss)),
            attention_kl: Some(test_loss / 10.0),
            uniform_kl: Some(0.05),
            attention_auc: Some(0.5 + 0.1 / (1.0 + test_loss)),
            ..RunFigures::default()
        },
        spurious: None,
        epochs: 30,
        kept_epoch: 20,
        train_seconds: 1.0 + test_loss,
    }
}

/// A run of these settings.
pub fn run(config: TrainConfig, test_loss: f64) -> Run {
    Run { config, outcome: outcome(test_loss) }
}

/// A baseline under protocol best.
pub fn baseline(data: &str, hidden: usize, test_loss: f64) -> Run {
    regularised(data, hidden, 0.0, test_loss)
}

/// A run of the paper's method under protocol best.
pub fn regularised(data: &str, hidden: usize, lambda: f64, test_loss: f64) -> Run {
    let config = TrainConfig::default().data(data.into()).hidden(hidden).lambda(Lambda::new(lambda));
    run(config, test_loss)
}

/// The same runs under both protocols.
pub fn both_protocols(runs: &[Run]) -> Vec<Run> {
    let under =
        |protocol| runs.iter().map(move |run| Run { config: run.config.clone().protocol(protocol), ..run.clone() });
    under(Protocol::Paper).chain(under(Protocol::Best)).collect()
}
