//! The demo's sentences, the same on the terminal and on the page. The verdicts of the comparisons decide which
//! sentences about the outcome are used.

use carat_lab::compare::Measure;
use carat_report::format::list;

use super::{CaseReport, DemoReport, Treatment, Verdict};

/// What a planted graph is.
pub fn planted_graph(report: &DemoReport) -> String {
    let (graph, planted) = (&report.graph, &report.config.planted);
    format!(
        "A planted graph is artificial: {} nodes with about {:.0} in-edges each, in {} classes. Useful edges mostly \
         join nodes of one class. The others, {:.0} % of all, are spurious: they come from decoy nodes whose words \
         hint at the label of a training node more often than chance, and say nothing about the label of a validation \
         or test node. A network that listens to them learns a shortcut that does not carry over. The shortcut's \
         strength is the share of a training node's spurious edges that are aimed at its class: 0 is none, 1 is all.",
        graph.nodes,
        graph.edges as f64 / graph.nodes.max(1) as f64,
        planted.classes,
        100.0 * graph.spurious_share
    )
}

/// The treatments: names and meanings.
pub fn treatments(report: &DemoReport) -> Vec<(&'static str, &'static str)> {
    report.config.treatments().map(|treatment| (treatment.label(), treatment.meaning())).collect()
}

/// What p is, and when a difference is called clear.
pub fn statistics(report: &DemoReport) -> String {
    let seeds = report.config.seeds;
    let text = format!(
        "Means over {}. p is that of a one-tailed paired Wilcoxon test over graphs, in the direction that the runs \
         point. A difference is clear where p is below {}, so that chance alone makes at most one comparison in twenty \
         clear.",
        graphs(seeds),
        Verdict::CLEAR
    );
    if seeds >= Verdict::FEWEST_SEEDS { text } else { format!("{text} {}", too_few(seeds)) }
}

/// The accuracy without spurious edges: the most that a treatment can gain.
pub fn cost(report: &DemoReport) -> String {
    let kinds = report.config.kinds.iter().filter_map(|&kind| {
        let arm = report.arm(None, kind, Treatment::Oracle)?;
        Some(format!("{:.3} for {kind}", arm.test_accuracy.mean))
    });
    format!("With the useful edges only, test accuracy is {}.", list(&kinds.collect::<Vec<_>>()))
}

/// What CAR changes compared with the baseline, and whether it does more than its control, which only smooths
/// attention.
pub fn conclusion(report: &DemoReport) -> Vec<String> {
    if report.config.seeds < Verdict::FEWEST_SEEDS {
        return vec![too_few(report.config.seeds)];
    }
    let causal = report.config.treatments().filter_map(|treatment| Some((treatment, treatment.control()?)));
    causal
        .flat_map(|(treatment, control)| {
            [against_baseline(report, treatment), against_control(report, treatment, control)]
        })
        .collect()
}

fn against_baseline(report: &DemoReport, treatment: Treatment) -> String {
    let counts = |measure| Counts::of(report, (treatment, Treatment::Baseline), measure);
    let changes = |measure: Measure| {
        let Counts { better, worse, .. } = counts(measure);
        format!("clearly lower {} in {}, clearly higher in {}", measure.name(), number(better), number(worse))
    };
    format!(
        "Against the baseline, over {} cases (a strength of the shortcut and an attention kind), {} has {}; and {}.",
        counts(Measure::TEST_LOSS).all(),
        treatment.label(),
        changes(Measure::TEST_LOSS),
        changes(Measure::SpuriousAttention)
    )
}

fn against_control(report: &DemoReport, treatment: Treatment, control: Treatment) -> String {
    let (pair, name) = ((treatment, control), treatment.label());
    let counts = Counts::of(report, pair, Measure::TEST_LOSS);
    let (better, worse, all) = (counts.better, counts.worse, counts.all());
    let answer = match (better, worse) {
        (0, 0) => format!("Nothing here tells {name} from mere smoothing of attention"),
        (0, _) => {
            format!("Here {name} loses to mere smoothing of attention in {worse} of {all} cases and wins in none")
        }
        _ if better == all => format!("Here {name} beats mere smoothing of attention in every case"),
        _ => format!(
            "Here {name} beats mere smoothing of attention in {better} of {all} cases and loses in {}",
            number(worse)
        ),
    };
    let outcomes = [
        (Verdict::Better, "clearly lower"),
        (Verdict::Worse, "clearly higher"),
        (Verdict::Unclear, "not clearly different"),
    ];
    let outcomes = outcomes.into_iter().filter_map(|(verdict, outcome)| {
        let places = places(report, report.comparisons_of(pair, Measure::TEST_LOSS).filter(|c| c.verdict == verdict));
        (!places.is_empty()).then(|| format!("{outcome} at {places}"))
    });
    let outcomes: Vec<String> = outcomes.collect();
    format!("{answer}: against its control's, its test loss is {}.", outcomes.join(", "))
}

/// The number of comparisons by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    better: usize,
    worse: usize,
    unclear: usize,
}

impl Counts {
    fn of(report: &DemoReport, pair: (Treatment, Treatment), measure: Measure) -> Self {
        let count = |verdict| report.comparisons_of(pair, measure).filter(|c| c.verdict == verdict).count();
        Self { better: count(Verdict::Better), worse: count(Verdict::Worse), unclear: count(Verdict::Unclear) }
    }

    fn all(self) -> usize {
        self.better + self.worse + self.unclear
    }
}

fn number(count: usize) -> String {
    if count == 0 { "none".to_string() } else { count.to_string() }
}

/// Strengths of the shortcut. Attention kinds are added where only some have such a comparison.
fn places<'a>(report: &DemoReport, comparisons: impl Iterator<Item = &'a CaseReport>) -> String {
    let comparisons: Vec<&CaseReport> = comparisons.collect();
    let places = report.config.shortcuts.iter().filter_map(|&shortcut| {
        let kinds: Vec<String> =
            comparisons.iter().filter(|c| c.shortcut == shortcut).map(|c| c.arch.to_string()).collect();
        match kinds.len() {
            0 => None,
            count if count == report.config.kinds.len() => Some(format!("{shortcut}")),
            _ => Some(format!("{shortcut} ({})", list(&kinds))),
        }
    });
    list(&places.collect::<Vec<_>>())
}

fn too_few(seeds: usize) -> String {
    format!("With {} no difference can be clear; --seeds {} or more can.", graphs(seeds), Verdict::FEWEST_SEEDS)
}

fn graphs(seeds: usize) -> String {
    if seeds == 1 { "one graph".to_string() } else { format!("{seeds} graphs") }
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
