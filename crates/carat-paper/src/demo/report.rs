//! The demo's results, as `--json` prints them and the page shows them.

use carat_graph::{Dataset, Flags};
use carat_lab::AttentionOnSpurious;
use carat_lab::compare::{Comparison, Measure, Method, Opponent, Pair, Pairing};
use carat_lab::sweep::Run;
use carat_nn::AttentionKind;
use carat_report::statistics::{Spread, wilcoxon_greater};
use serde::{Serialize, Serializer};

use super::{DemoConfig, MEASURES, Setting, Treatment};

/// The results of [`super::run`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemoReport {
    /// The first graph.
    pub graph: GraphReport,
    /// One entry per strength of the shortcut, attention kind and treatment.
    pub arms: Vec<ArmReport>,
    /// Treatments against their opponents, one entry per strength, attention kind and measure, and one over all kinds.
    pub comparisons: Vec<CaseReport>,
    /// The settings.
    pub config: DemoConfig,
}

/// The first planted graph. The others hardly differ in these figures.
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
    /// Share of test nodes that are predicted correctly.
    pub test_accuracy: Spread,
    /// How far attention says what edges do.
    pub faithfulness: Option<Spread>,
    /// Attention spent on spurious in-edges; `None` where the arm's graph has none.
    pub spurious_attention: Option<Spread>,
    /// What uniform attention would spend on them.
    pub uniform_attention: Option<Spread>,
    /// Probability that attention ranks a useful in-edge above a spurious one.
    pub useful_above_spurious: Option<Spread>,
    /// The runs, by seed.
    #[serde(serialize_with = "reported")]
    pub runs: Vec<Run>,
}

/// The part of a run that the report prints.
#[derive(Serialize)]
struct ReportedRun {
    seed: u64,
    val_loss: Option<f64>,
    test_loss: Option<f64>,
    test_accuracy: Option<f64>,
    faithfulness: Option<f64>,
    attention: Option<AttentionOnSpurious>,
    epochs: usize,
    best_epoch: usize,
}

fn reported<S: Serializer>(runs: &[Run], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(runs.iter().map(|Run { config, outcome }| ReportedRun {
        seed: config.seed,
        val_loss: outcome.figures.val.loss,
        test_loss: outcome.figures.test.loss,
        test_accuracy: outcome.figures.test.accuracy,
        faithfulness: Measure::FAITHFULNESS.of(outcome),
        attention: outcome.spurious,
        epochs: outcome.epochs,
        best_epoch: outcome.kept_epoch,
    }))
}

/// A treatment against an opponent in one measure, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseReport {
    /// Strength of the shortcut.
    pub shortcut: f64,
    /// Attention kind; `None` for the mean over all kinds.
    pub arch: Option<AttentionKind>,
    /// The treatment.
    pub treatment: Treatment,
    /// What it is compared with.
    pub against: Treatment,
    /// What is compared.
    pub measure: Measure,
    /// The treatment's value less its opponent's.
    pub change: Spread,
    /// The probability that chance alone gives an improvement at least this clear (one-tailed paired Wilcoxon test).
    pub p_better: f64,
    /// The same probability for a change for the worse.
    pub p_worse: f64,
    /// The conclusion.
    pub verdict: Verdict,
}

/// The conclusion of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Clearly better.
    Better,
    /// Clearly worse.
    Worse,
    /// Neither is clear.
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
    pub(super) fn of(Setting { shortcut, kind, treatment }: Setting, runs: Vec<Run>) -> Option<Self> {
        let attention = |figure: fn(AttentionOnSpurious) -> f64| {
            Spread::of(&runs.iter().filter_map(|run| run.outcome.spurious).map(figure).collect::<Vec<_>>())
        };
        Some(Self {
            shortcut,
            arch: kind,
            treatment,
            test_loss: spread(&runs, Measure::TEST_LOSS)?,
            test_accuracy: spread(&runs, Measure::TEST_ACCURACY)?,
            faithfulness: spread(&runs, Measure::FAITHFULNESS),
            spurious_attention: spread(&runs, Measure::SpuriousAttention),
            uniform_attention: attention(|attention| attention.uniform),
            useful_above_spurious: attention(|attention| attention.auc),
            runs,
        })
    }

    /// A measure's mean and deviation over the runs.
    pub fn spread(&self, measure: Measure) -> Option<Spread> {
        spread(&self.runs, measure)
    }

    /// The method of its runs; `None` for baselines.
    fn method(&self) -> Option<Method> {
        Method::of(&self.runs.first()?.config)
    }
}

fn spread(runs: &[Run], measure: Measure) -> Option<Spread> {
    Spread::of(&runs.iter().filter_map(|run| measure.of(&run.outcome)).collect::<Vec<_>>())
}

impl CaseReport {
    /// Of one kind's arms, or of those of all kinds: then a seed's change is the mean over kinds. `None` where some
    /// arms have no pair of runs with the measure.
    fn of(pairs: &[(&ArmReport, &ArmReport)], arch: Option<AttentionKind>, measure: Measure) -> Option<Self> {
        let of_kinds: Vec<Vec<(u64, f64)>> =
            pairs.iter().map(|(arm, against)| changes(arm, against, measure)).collect::<Option<_>>()?;
        let (arm, against) = pairs.first()?;
        let of_seed = |seed: u64| {
            let found = of_kinds.iter().map(|changes| Some(changes.iter().find(|change| change.0 == seed)?.1));
            let found: Vec<f64> = found.collect::<Option<_>>()?;
            Some(found.iter().sum::<f64>() / found.len() as f64)
        };
        let changes: Vec<f64> = of_kinds.first()?.iter().filter_map(|(seed, _)| of_seed(*seed)).collect();
        let negated: Vec<f64> = changes.iter().map(|change| -change).collect();
        let (better, worse) = if measure.lower_is_better() { (&negated, &changes) } else { (&changes, &negated) };
        let (p_better, p_worse) = (wilcoxon_greater(better)?, wilcoxon_greater(worse)?);
        Some(Self {
            shortcut: arm.shortcut?,
            arch,
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

/// The change from one arm's runs to another's in a measure, with the seed.
fn changes(arm: &ArmReport, against: &ArmReport, measure: Measure) -> Option<Vec<(u64, f64)>> {
    let runs: Vec<&Run> = arm.runs.iter().chain(&against.runs).collect();
    let other = against.method();
    let opponent = other.as_ref().map_or(Opponent::Baseline, Opponent::Method);
    let pairing = Pairing::of(&runs, &arm.method()?, opponent);
    let of_pair = |pair: &Pair<'_>| {
        let change = Comparison::of(&[pair], measure)?.changes[0];
        Some((pair.after.config.seed, change))
    };
    Some(pairing.pairs.iter().filter_map(of_pair).collect())
}

impl DemoReport {
    pub(super) fn new(config: DemoConfig, graph: GraphReport, arms: Vec<ArmReport>) -> Self {
        let mut report = Self { graph, arms, comparisons: Vec::new(), config };
        let mut comparisons = Vec::new();
        for &shortcut in &report.config.shortcuts {
            for (treatment, against) in report.matches() {
                let arms = |&kind: &AttentionKind| {
                    let arm = |treatment| report.arm(Some(shortcut), kind, treatment);
                    Some((kind, (arm(treatment)?, arm(against)?)))
                };
                let (kinds, pairs): (Vec<_>, Vec<_>) = report.config.kinds.iter().filter_map(arms).unzip();
                for measure in MEASURES {
                    comparisons.extend(CaseReport::of(&pairs, None, measure));
                    let of_kind = |(kind, pair)| CaseReport::of(std::slice::from_ref(pair), Some(kind), measure);
                    comparisons.extend(kinds.iter().copied().zip(&pairs).filter_map(of_kind));
                }
            }
        }
        report.comparisons = comparisons;
        report
    }

    /// The mean of a treatment's measure over kinds and seeds.
    pub fn mean(&self, shortcut: Option<f64>, treatment: Treatment, measure: Measure) -> Option<f64> {
        let arms = self.config.kinds.iter().filter_map(|&kind| self.arm(shortcut, kind, treatment));
        let means: Vec<f64> = arms.filter_map(|arm| Some(arm.spread(measure)?.mean)).collect();
        Some(Spread::of(&means)?.mean)
    }

    /// An arm.
    pub fn arm(&self, shortcut: Option<f64>, kind: AttentionKind, treatment: Treatment) -> Option<&ArmReport> {
        self.arms.iter().find(|arm| arm.shortcut == shortcut && arm.arch == kind && arm.treatment == treatment)
    }

    /// Every treatment with a causal signal, with its control.
    pub fn causal(&self) -> impl Iterator<Item = (Treatment, Treatment)> {
        self.config.treatments().filter_map(|treatment| Some((treatment, treatment.control()?)))
    }

    /// Every treatment that is compared, with each of its opponents.
    pub fn matches(&self) -> impl Iterator<Item = (Treatment, Treatment)> {
        let treatments = self.config.treatments();
        treatments.flat_map(|treatment| treatment.opponents().map(move |against| (treatment, against)))
    }

    /// The comparison of a treatment with an opponent in a measure: of one kind, or over all kinds.
    pub fn case(
        &self,
        shortcut: f64,
        arch: Option<AttentionKind>,
        (treatment, against): (Treatment, Treatment),
        measure: Measure,
    ) -> Option<&CaseReport> {
        let mut all = self.comparisons.iter().filter(|case| (case.shortcut, case.arch) == (shortcut, arch));
        all.find(|case| (case.treatment, case.against, case.measure) == (treatment, against, measure))
    }
}
