//! What the demo found, in the form that `--json` prints and the page shows.

use carat::EpochMetrics;
use carat_graph::Dataset;
use carat_nn::AttentionKind;
use serde::Serialize;

use super::{AttentionHistogram, AttentionOnSpurious, DemoConfig, Treatment};
use crate::statistics::Spread;

/// Everything that [`super::run`] found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemoReport {
    /// The graphs.
    pub graph: GraphReport,
    /// One entry per attention kind and treatment.
    pub arms: Vec<ArmReport>,
    /// Every other treatment against the first, per attention kind.
    pub comparisons: Vec<Comparison>,
    /// The settings.
    pub config: DemoConfig,
}

/// The planted graphs, means over seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// Nodes.
    pub nodes: usize,
    /// Mean number of directed edges.
    pub edges: f64,
    /// Share of the edges that are spurious.
    pub spurious_share: f64,
    /// Training nodes.
    pub train: usize,
    /// Validation nodes.
    pub val: usize,
    /// Test nodes.
    pub test: usize,
}

/// One attention kind under one treatment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmReport {
    /// Attention kind.
    pub arch: AttentionKind,
    /// What was done about the spurious edges.
    pub treatment: Treatment,
    /// Mean cross-entropy over test nodes.
    pub test_loss: Spread,
    /// Share of test nodes predicted right.
    pub test_accuracy: Spread,
    /// Attention spent on spurious in-edges; `None` where the arm's graph has none.
    pub spurious_attention: Option<Spread>,
    /// What uniform attention would spend on them.
    pub uniform_attention: Option<Spread>,
    /// Probability that attention ranks a useful in-edge above a spurious one.
    pub useful_above_spurious: Option<Spread>,
    /// Attention per edge, of all seeds together.
    pub histogram: Option<AttentionHistogram>,
    /// The runs, by seed.
    pub runs: Vec<RunReport>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Seed of the graph, the initial weights and the batches.
    pub seed: u64,
    /// Mean cross-entropy over test nodes.
    pub test_loss: f64,
    /// Share of test nodes predicted right.
    pub test_accuracy: f64,
    /// Attention on spurious edges; `None` where the run's graph has none.
    pub attention: Option<AttentionOnSpurious>,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
    /// The learning curve, one point per epoch.
    pub curve: Vec<CurvePoint>,
}

/// One epoch of a learning curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Counted from 1.
    pub epoch: usize,
    /// Mean training loss.
    pub train_loss: f64,
    /// Validation loss.
    pub val_loss: f64,
    /// Validation accuracy.
    pub val_accuracy: f64,
}

impl From<&EpochMetrics> for CurvePoint {
    fn from(epoch: &EpochMetrics) -> Self {
        let &EpochMetrics { epoch, train_loss, val_loss, val_accuracy, .. } = epoch;
        Self { epoch, train_loss, val_loss, val_accuracy }
    }
}

/// A treatment against the first one, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Attention kind.
    pub arch: AttentionKind,
    /// The treatment.
    pub treatment: Treatment,
    /// What it is compared with.
    pub against: Treatment,
    /// Difference of the test accuracies; above 0 where the treatment does better.
    pub accuracy_gain: Spread,
    /// Difference of the test losses; below 0 where the treatment does better.
    pub loss_change: Spread,
    /// Seeds where the treatment's accuracy is higher.
    pub wins: usize,
    /// Seeds compared.
    pub seeds: usize,
}

impl GraphReport {
    pub(super) fn of<'a>(graphs: impl ExactSizeIterator<Item = &'a Dataset> + Clone) -> Self {
        let spurious_of = |graph: &Dataset| graph.spurious().unwrap_or_default().iter().filter(|s| **s).count();
        let edges: usize = graphs.clone().map(|graph| graph.graph().num_edges()).sum();
        let spurious: usize = graphs.clone().map(spurious_of).sum();
        let first = graphs.clone().next();
        let split = first.and_then(|graph| graph.splits().first()).cloned().unwrap_or_default();
        Self {
            nodes: first.map_or(0, Dataset::num_nodes),
            edges: edges as f64 / graphs.len().max(1) as f64,
            spurious_share: spurious as f64 / edges.max(1) as f64,
            train: split.train.len(),
            val: split.val.len(),
            test: split.test.len(),
        }
    }
}

impl ArmReport {
    /// Sums up the runs; `None` where there are none.
    pub(super) fn of(
        arch: AttentionKind,
        treatment: Treatment,
        runs: impl Iterator<Item = (RunReport, Option<AttentionHistogram>)>,
    ) -> Option<Self> {
        let (runs, histograms): (Vec<RunReport>, Vec<Option<AttentionHistogram>>) = runs.unzip();
        let spread = |figure: fn(&RunReport) -> f64| Spread::of(&runs.iter().map(figure).collect::<Vec<f64>>());
        let attention = |figure: fn(&AttentionOnSpurious) -> f64| {
            Spread::of(&runs.iter().filter_map(|run| run.attention.as_ref()).map(figure).collect::<Vec<f64>>())
        };
        let histogram = histograms.into_iter().flatten().reduce(|mut sum, next| {
            sum.merge(&next);
            sum
        });
        Some(Self {
            arch,
            treatment,
            test_loss: spread(|run| run.test_loss)?,
            test_accuracy: spread(|run| run.test_accuracy)?,
            spurious_attention: attention(|a| a.share),
            uniform_attention: attention(|a| a.uniform),
            useful_above_spurious: attention(|a| a.auc),
            histogram,
            runs,
        })
    }
}

impl Comparison {
    fn of(arm: &ArmReport, against: &ArmReport) -> Option<Self> {
        let differences = |figure: fn(&RunReport) -> f64| -> Vec<f64> {
            arm.runs.iter().zip(&against.runs).map(|(a, b)| figure(a) - figure(b)).collect()
        };
        let gains = differences(|run| run.test_accuracy);
        Some(Self {
            arch: arm.arch,
            treatment: arm.treatment,
            against: against.treatment,
            accuracy_gain: Spread::of(&gains)?,
            loss_change: Spread::of(&differences(|run| run.test_loss))?,
            wins: gains.iter().filter(|gain| **gain > 0.0).count(),
            seeds: gains.len(),
        })
    }
}

impl DemoReport {
    pub(super) fn new(config: DemoConfig, graph: GraphReport, arms: Vec<ArmReport>) -> Self {
        let pairs = arms.iter().flat_map(|against| {
            let others = arms.iter().filter(|arm| arm.arch == against.arch && arm.treatment != against.treatment);
            others.filter(|_| against.treatment == Treatment::ALL[0]).map(move |arm| (arm, against))
        });
        let comparisons = pairs.filter_map(|(arm, against)| Comparison::of(arm, against)).collect();
        Self { graph, arms, comparisons, config }
    }

    /// The arms of one attention kind, in the order of [`Treatment::ALL`].
    pub fn arms_of(&self, kind: AttentionKind) -> impl Iterator<Item = &ArmReport> {
        self.arms.iter().filter(move |arm| arm.arch == kind)
    }
}
