//! The demo's sentences, the same on the terminal and on the page. The verdicts of the comparisons over all attention
//! kinds decide which sentences about the outcome are used.

use carat_lab::compare::Measure;
use carat_report::format::list;

use super::{DemoReport, Treatment, Verdict};

/// What attention is, for readers who have never met it.
pub const ATTENTION: &str = "A graph attention network predicts a node from its neighbours. Attention is the share \
    that each neighbour has in that: numbers that add up to 1. People read them as \"this edge matters\". Does it?";

/// What faithfulness is.
pub const FAITHFULNESS: &str = "Faithfulness tells: carat deletes every edge, sees what that does to the prediction, \
    and correlates it with attention. 1 means that attention says what edges do, 0 that it says nothing.";

/// What a planted graph is.
pub fn planted_graph(report: &DemoReport) -> String {
    let (graph, planted) = (&report.graph, &report.config.planted);
    format!(
        "Graphs of {} nodes with about {:.0} in-edges each, in {} classes. Of the edges, {:.0} % are spurious. They \
         mislead: they hint at the class of training nodes, and say nothing about other nodes. A network that listens \
         to them learns a shortcut that does not carry over. The shortcut's strength is the share of a training \
         node's spurious edges that hint at its class.",
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
         point; a difference is clear below {}.",
        graphs(seeds),
        Verdict::CLEAR
    );
    if seeds >= Verdict::FEWEST_SEEDS { text } else { format!("{text} {}", too_few(seeds)) }
}

/// The accuracy without spurious edges: the most that a treatment can gain.
pub fn cost(report: &DemoReport) -> String {
    match report.mean(None, Treatment::Oracle, Measure::TEST_ACCURACY) {
        Some(accuracy) => format!("Without the spurious edges, test accuracy would be {accuracy:.3}."),
        None => String::new(),
    }
}

/// What CAR changes compared with plain training, and whether it does more than its control, which only smooths
/// attention.
pub fn conclusion(report: &DemoReport) -> Vec<String> {
    if report.config.seeds < Verdict::FEWEST_SEEDS {
        return vec![too_few(report.config.seeds)];
    }
    let sentences = report.causal().flat_map(|(treatment, control)| {
        let (plain, control) = ((treatment, Treatment::Baseline), (treatment, control));
        let name = treatment.label();
        let loses = !strengths(report, control, Measure::TEST_LOSS, Verdict::Worse).is_empty();
        [
            format!("What does {name} change? Beside plain training, {}.", outcomes(report, plain)),
            format!(
                "{} Beside its control, {}.{}",
                answer(report, control),
                outcomes(report, control),
                if loses { WHY_WORSE } else { "" }
            ),
        ]
    });
    sentences.collect()
}

/// Why smoothing may be better.
const WHY_WORSE: &str = " Where the shortcut is strong, deleting a spurious edge hurts a training node as well, so \
    its effect points the wrong way.";

/// Whether a treatment does more than smooth attention, in test loss.
fn answer(report: &DemoReport, pair: (Treatment, Treatment)) -> &'static str {
    let count = |measure, verdict| strengths(report, pair, measure, verdict).len();
    let all = report.config.shortcuts.len();
    let faithful = count(Measure::FAITHFULNESS, Verdict::Better);
    let (better, worse) = (count(Measure::TEST_LOSS, Verdict::Better), count(Measure::TEST_LOSS, Verdict::Worse));
    match (faithful, better, worse) {
        (faithful, better, _) if faithful == all && better == all => "Is it more than smoothing? Yes.",
        (_, 0, 0) if faithful == all => "Is it more than smoothing? As an explanation, yes; in prediction, no.",
        (faithful, better, _) if faithful > 0 || better > 0 => "Is it more than smoothing? In part.",
        _ => "Is it more than smoothing? Nothing here says so.",
    }
}

/// "attention is clearly more faithful at strength 0.2; ...; test loss is clearly lower at strength 0.2 and 0.5"
fn outcomes(report: &DemoReport, pair: (Treatment, Treatment)) -> String {
    let of = |name: &str, measure, [better, worse]: [&str; 2]| {
        let clear = [(Verdict::Better, better), (Verdict::Worse, worse)].into_iter().filter_map(|(verdict, word)| {
            let strengths = strengths(report, pair, measure, verdict);
            (!strengths.is_empty()).then(|| format!("clearly {word} at strength {}", list(&strengths)))
        });
        let clear: Vec<String> = clear.collect();
        match clear.is_empty() {
            true => format!("{name} is nowhere clearly different"),
            false => format!("{name} is {}", list(&clear)),
        }
    };
    [
        of("attention", Measure::FAITHFULNESS, ["more faithful", "less faithful"]),
        of("attention on spurious edges", Measure::SpuriousAttention, ["lower", "higher"]),
        of("test loss", Measure::TEST_LOSS, ["lower", "higher"]),
    ]
    .join("; ")
}

/// The strengths of the shortcut at which a comparison over all kinds has this verdict.
fn strengths(report: &DemoReport, pair: (Treatment, Treatment), measure: Measure, verdict: Verdict) -> Vec<String> {
    let has =
        |&&shortcut: &&f64| report.case(shortcut, None, pair, measure).is_some_and(|case| case.verdict == verdict);
    report.config.shortcuts.iter().filter(has).map(f64::to_string).collect()
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
