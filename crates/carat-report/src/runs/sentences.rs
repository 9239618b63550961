//! The sentences of a report on runs.

use carat::Protocol;
use carat::metrics::{BINS, Bin, Evaluation, Lead, Metric, Subset};

use super::{TrainedRun, entities};
use crate::format::{counted, thousands};

/// What the run is and how good it is.
pub(super) fn lead(run: &TrainedRun, several: bool) -> String {
    let TrainedRun { name, config, summary } = run;
    let which = if several { format!("{name}: {}", config.network_name()) } else { capital(config.network_name()) };
    let car = config
        .car()
        .map_or(String::new(), |car| format!(" with {} regularisation, lambda {}", car.arm, config.regulariser.lambda));
    let kept = match config.stopping.protocol {
        Protocol::Best => summary.best_epoch,
        Protocol::Paper => summary.epochs,
    };
    let interrupted = if summary.interrupted { ", interrupted" } else { "" };
    let trained = format!(
        "{which} on {}{car}, {}{interrupted}, with the weights of epoch {kept}.",
        super::data(run),
        counted(summary.epochs, "epoch")
    );
    let subset = if summary.test.is_some() { Subset::Test } else { Subset::Validation };
    let evaluation = summary.test.as_ref().or(summary.validation.as_ref());
    let figure = |metric: Metric| summary.figures.of(subset).get(metric);
    let number = |metric| figure(metric).map_or("unknown".to_string(), |value| format!("{value:.3}"));
    let most = evaluation.and_then(largest_share);
    let most = most.map_or(String::new(), |share| format!(" (always naming the largest class has {share:.3})"));
    let accuracy = format!("accuracy is {}{most}", number(Metric::Accuracy));
    let positive = evaluation.and_then(Evaluation::positive_class);
    let of_class = positive.map_or(String::new(), |positive| format!(", of class {}", positive.class));
    let figures = match summary.lead {
        Lead::Accuracy => accuracy,
        Lead::Ranking => format!(
            "ROC AUC is {} (chance has 0.5) and average precision {}{}{of_class}; {accuracy}",
            number(Metric::RocAuc),
            number(Metric::AveragePrecision),
            evaluation.and_then(chance).map_or(String::new(), |share| format!(" (chance has {share:.3})"))
        ),
    };
    format!("{trained} Over the {}, {figures}.", entities(run, subset))
}

/// Which figures to read first, and why.
pub(super) fn reading(run: &TrainedRun) -> String {
    let why = match run.summary.lead {
        Lead::Accuracy => {
            "There are three classes or more, and none has two thirds of the training labels, so accuracy is a fair \
             summary. Balanced accuracy and macro F1 give every class the same weight."
        }
        Lead::Ranking => {
            "With two classes, or with one that has most of the labels, accuracy says little: naming the largest class \
             every time may have a high one. ROC AUC and average precision judge the order of the probabilities, \
             whatever threshold is used later; average precision is the stricter one where the class is rare."
        }
    };
    let older = if run.summary.validation.is_none() {
        " This run was made before carat kept more figures than loss and accuracy; 'carat predict' prints the others."
    } else {
        ""
    };
    format!("{why}{older}")
}

/// How far confidence is from accuracy.
pub(super) fn calibration(evaluation: &Evaluation, bins: &[Bin]) -> String {
    let total = evaluation.entities as f64;
    let mean = |value: fn(&Bin) -> f64| bins.iter().map(|bin| bin.entities as f64 / total * value(bin)).sum::<f64>();
    let (confidence, accuracy) = (mean(|bin| bin.confidence), mean(|bin| bin.accuracy));
    let verdict = if confidence > accuracy { "surer than it is right" } else { "right more often than it is sure" };
    format!(
        "Over {} predictions the mean confidence is {confidence:.3} and the accuracy {accuracy:.3}: on the whole the \
         network is {verdict}. The calibration error (ECE) is {:.3}: the mean distance between confidence and accuracy \
         over {BINS} bins of equal width, each counted by its predictions.",
        thousands(evaluation.entities as usize),
        evaluation.calibration_error().unwrap_or_default()
    )
}

/// The accuracy of always naming the class with the most labels.
fn largest_share(evaluation: &Evaluation) -> Option<f64> {
    let most = evaluation.classes.iter().map(|class| class.support).max()?;
    (evaluation.entities > 0).then(|| most as f64 / evaluation.entities as f64)
}

/// The average precision of a random ranking: the share of the positive class, or the mean share of the classes with
/// labels.
fn chance(evaluation: &Evaluation) -> Option<f64> {
    let present = evaluation.classes.iter().filter(|class| class.support > 0).count();
    match evaluation.positive_class() {
        _ if present < 2 => None,
        Some(positive) => Some(positive.support as f64 / evaluation.entities as f64),
        None => Some(1.0 / present as f64),
    }
}

fn capital(name: &str) -> String {
    let text = if matches!(name, "gat" | "gcn" | "cal") { name.to_uppercase() } else { name.to_string() };
    crate::format::capitalised(&text)
}
