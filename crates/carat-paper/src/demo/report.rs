//! What the demo found, in the form that `--json` prints and the page shows.

use carat_graph::{Dataset, Flags};
use carat_nn::AttentionKind;
use carat_report::statistics::{Spread, wilcoxon_greater};
use serde::Serialize;

use super::{AttentionOnSpurious, DemoConfig, Measure, Setting, Treatment};

/// Everything that [`super::run`] found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemoReport {
    /// The first graph.
    pub graph: GraphReport,
    /// One entry per strength of the shortcut, attention kind and treatment.
    pub arms: Vec<ArmReport>,
    /// Treatments against their opponents, one entry per strength, attention kind and measure.
    pub comparisons: Vec<Comparison>,
    /// The settings.
    pub config: DemoConfig,
}

/// One of the planted graphs, which differ little in what is told here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphReport {
    /// Nodes.
    pub nodes: usize,
    /// Directed edges.
    pub edges: usize,
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
    /// Strength of the shortcut; `None` where the treatment's graph has no spurious edges.
    pub shortcut: Option<f64>,
    /// Attention kind.
    pub arch: AttentionKind,
    /// What was done about the spurious edges.
    pub treatment: Treatment,
    /// Mean cross-entropy over test nodes.
    pub test_loss: Spread,
    /// Share of test nodes predicted right.
    pub test_accuracy: Spread,
    /// Probability that attention ranks an in-neighbour of the node's class above one of another class.
    pub attention_auc: Option<Spread>,
    /// Attention spent on spurious in-edges; `None` where the arm's graph has none.
    pub spurious_attention: Option<Spread>,
    /// What uniform attention would spend on them.
    pub uniform_attention: Option<Spread>,
    /// Probability that attention ranks a useful in-edge above a spurious one.
    pub useful_above_spurious: Option<Spread>,
    /// The runs, by seed.
    pub runs: Vec<RunReport>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Seed of the graph, the initial weights and the batches.
    pub seed: u64,
    /// Validation loss of the weights that were kept.
    pub val_loss: f64,
    /// Mean cross-entropy over test nodes.
    pub test_loss: f64,
    /// Share of test nodes predicted right.
    pub test_accuracy: f64,
    /// Probability that attention ranks an in-neighbour of the node's class above one of another class.
    pub attention_auc: Option<f64>,
    /// Attention on spurious edges; `None` where the run's graph has none.
    pub attention: Option<AttentionOnSpurious>,
    /// Epochs trained.
    pub epochs: usize,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
}

/// A treatment against an opponent in one measure, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Strength of the shortcut.
    pub shortcut: f64,
    /// Attention kind.
    pub arch: AttentionKind,
    /// The treatment.
    pub treatment: Treatment,
    /// What it is compared with.
    pub against: Treatment,
    /// What is compared.
    pub measure: Measure,
    /// The treatment's value less its opponent's.
    pub change: Spread,
    /// One-tailed paired Wilcoxon test: the probability of so clear an improvement by chance.
    pub p_better: f64,
    /// The same of so clear a change for the worse.
    pub p_worse: f64,
    /// What follows.
    pub verdict: Verdict,
}

/// Which way a comparison points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Clearly better.
    Better,
    /// Clearly worse.
    Worse,
    /// The runs do not tell.
    Unclear,
}

impl Verdict {
    /// A comparison is clear where its one-tailed p is below this, in either direction, so that chance alone makes
    /// at most one in twenty clear.
    pub const CLEAR: f64 = 0.025;

    /// The fewest seeds at which a comparison can be clear: 2 to the power of minus 6 is below 0.025.
    pub const FEWEST_SEEDS: usize = 6;

    fn of(p_better: f64, p_worse: f64) -> Self {
        match (p_better < Self::CLEAR, p_worse < Self::CLEAR) {
            (true, _) => Self::Better,
            (_, true) => Self::Worse,
            _ => Self::Unclear,
        }
    }
}

impl GraphReport {
    pub(super) fn of(dataset: &Dataset) -> Self {
        let edges = dataset.graph().num_edges();
        let spurious = dataset.spurious().map_or(0, Flags::count);
        let split = dataset.splits().first().cloned().unwrap_or_default();
        Self {
            nodes: dataset.num_nodes(),
            edges,
            spurious_share: spurious as f64 / edges.max(1) as f64,
            train: split.train.len(),
            val: split.val.len(),
            test: split.test.len(),
        }
    }
}

impl ArmReport {
    /// Sums up the runs; `None` where there are none.
    pub(super) fn of(Setting { shortcut, kind, treatment }: Setting, runs: Vec<RunReport>) -> Option<Self> {
        let spread = |figure: &dyn Fn(&RunReport) -> Option<f64>| {
            Spread::of(&runs.iter().filter_map(figure).collect::<Vec<f64>>())
        };
        Some(Self {
            shortcut,
            arch: kind,
            treatment,
            test_loss: spread(&|run| Some(run.test_loss))?,
            test_accuracy: spread(&|run| Some(run.test_accuracy))?,
            attention_auc: spread(&|run| run.attention_auc),
            spurious_attention: spread(&|run| Some(run.attention?.share)),
            uniform_attention: spread(&|run| Some(run.attention?.uniform)),
            useful_above_spurious: spread(&|run| Some(run.attention?.auc)),
            runs,
        })
    }

    /// A measure's mean and deviation over the runs.
    pub fn spread(&self, measure: Measure) -> Option<Spread> {
        match measure {
            Measure::SpuriousAttention => self.spurious_attention,
            Measure::TestLoss => Some(self.test_loss),
            Measure::TestAccuracy => Some(self.test_accuracy),
            Measure::AttentionAuc => self.attention_auc,
        }
    }
}

impl Comparison {
    /// `None` where the arms have no pair of runs with the measure.
    fn of(arm: &ArmReport, against: &ArmReport, measure: Measure) -> Option<Self> {
        let pairs = arm.runs.iter().zip(&against.runs);
        let changes: Vec<f64> = pairs.filter_map(|(run, other)| Some(measure.of(run)? - measure.of(other)?)).collect();
        let falls: Vec<f64> = changes.iter().map(|change| -change).collect();
        let (p_higher, p_lower) = (wilcoxon_greater(&changes)?, wilcoxon_greater(&falls)?);
        let (p_better, p_worse) = if measure.lower_is_better() { (p_lower, p_higher) } else { (p_higher, p_lower) };
        Some(Self {
            shortcut: arm.shortcut?,
            arch: arm.arch,
            treatment: arm.treatment,
            against: against.treatment,
            measure,
            change: Spread::of(&changes)?,
            p_better,
            p_worse,
            verdict: Verdict::of(p_better, p_worse),
        })
    }

    /// One-tailed p in the direction that the runs point.
    pub fn p(&self) -> f64 {
        self.p_better.min(self.p_worse)
    }
}

impl DemoReport {
    pub(super) fn new(config: DemoConfig, graph: GraphReport, arms: Vec<ArmReport>) -> Self {
        let mut report = Self { graph, arms, comparisons: Vec::new(), config };
        let mut comparisons = Vec::new();
        for arm in &report.arms {
            for against in arm.treatment.opponents() {
                let Some(other) = report.arm(arm.shortcut, arm.arch, against) else { continue };
                comparisons.extend(Measure::ALL.into_iter().filter_map(|measure| Comparison::of(arm, other, measure)));
            }
        }
        report.comparisons = comparisons;
        report
    }

    /// An arm.
    pub fn arm(&self, shortcut: Option<f64>, kind: AttentionKind, treatment: Treatment) -> Option<&ArmReport> {
        self.arms.iter().find(|arm| arm.shortcut == shortcut && arm.arch == kind && arm.treatment == treatment)
    }

    /// The treatments that are compared, each with its opponents.
    pub fn matches(&self) -> impl Iterator<Item = (Treatment, Treatment)> {
        let treatments = self.config.treatments();
        treatments.flat_map(|treatment| treatment.opponents().map(move |against| (treatment, against)))
    }

    /// The comparisons of a treatment with an opponent in a measure, at every strength and for every kind.
    pub fn comparisons_of(
        &self,
        (treatment, against): (Treatment, Treatment),
        measure: Measure,
    ) -> impl Iterator<Item = &Comparison> {
        let all = self.comparisons.iter().filter(move |c| c.measure == measure);
        all.filter(move |c| c.treatment == treatment && c.against == against)
    }
}
