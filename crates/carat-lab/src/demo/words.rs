//! What the demo says in words and in its table, the same on the terminal and on the page.

use super::{DemoReport, Treatment};
use crate::statistics::Spread;

/// Headings of [`rows`]; those of columns that are aligned to the right start with `>`.
pub const HEADINGS: [&str; 7] =
    ["attention", "trained on", ">accuracy", ">loss", ">on spurious", ">if uniform", ">useful first"];

/// The table: one row per arm, mean ± standard deviation over seeds.
pub fn rows(report: &DemoReport) -> Vec<Vec<String>> {
    let optional = |spread: Option<Spread>| spread.map_or("-".to_string(), |spread| spread.text(2));
    let row = |arm: &super::ArmReport| {
        vec![
            arm.arch.to_string(),
            arm.treatment.label().to_string(),
            arm.test_accuracy.text(3),
            arm.test_loss.text(2),
            optional(arm.spurious_attention),
            arm.uniform_attention.map_or("-".to_string(), |spread| format!("{:.2}", spread.mean)),
            optional(arm.useful_above_spurious),
        ]
    };
    report.arms.iter().map(row).collect()
}

/// What the columns of the table are, as name and meaning.
pub fn meaning(report: &DemoReport) -> [(&'static str, String); 5] {
    let deviation = if report.config.seeds > 1 { ", ± standard deviation" } else { "" };
    let seeds = match report.config.seeds {
        1 => "one seed".to_string(),
        seeds => format!("{seeds} seeds, each with a graph of its own"),
    };
    [
        ("accuracy, loss", format!("on test nodes; mean{deviation} over {seeds}")),
        (
            "useful edges only",
            "an oracle: spurious edges removed before training and testing, which no method could know; \
             it shows what they cost"
                .into(),
        ),
        ("on spurious", "share of a test node's attention that lies on spurious in-edges (last layer)".into()),
        ("if uniform", "that share if all in-edges got the same attention".into()),
        (
            "useful first",
            "probability that a useful in-edge of a test node gets more attention than a spurious one; 0.5 is chance"
                .into(),
        ),
    ]
}

/// What a planted graph is.
pub fn planted_graph(report: &DemoReport) -> String {
    let (graph, planted) = (&report.graph, &report.config.planted);
    format!(
        "A planted graph is artificial: {} nodes with about {:.0} in-edges each, in {} classes. Useful edges mostly join nodes \
         of one class. The others, {:.0} % of all, are spurious: they come from decoy nodes whose words hint at the label \
         of a training node more often than chance, and say nothing about the label of a validation or test node. A \
         network that listens to them can learn a shortcut that does not carry over.",
        graph.nodes,
        graph.edges / graph.nodes.max(1) as f64,
        planted.classes,
        100.0 * graph.spurious_share
    )
}

/// The main figures as sentences, one or two per attention kind. They say which way the figures point, whichever it is.
pub fn findings(report: &DemoReport) -> Vec<String> {
    report
        .config
        .kinds
        .iter()
        .map(|&kind| {
            let mut sentences = Vec::new();
            for comparison in report.comparisons.iter().filter(|comparison| comparison.arch == kind) {
                let mean = |treatment: Treatment| {
                    let mut arms = report.arms_of(kind).filter(|arm| arm.treatment == treatment);
                    arms.next().map_or(f64::NAN, |arm| arm.test_accuracy.mean)
                };
                let (treatment, against) = (comparison.treatment, comparison.against);
                sentences.push(format!(
                    "accuracy {:.3} with {}, {:.3} with {} (difference {}, higher on {} of {} seeds)",
                    mean(against),
                    against.label(),
                    mean(treatment),
                    treatment.label(),
                    signed(comparison.accuracy_gain),
                    comparison.wins,
                    comparison.seeds
                ));
            }
            for arm in report.arms_of(kind) {
                if let (Some(share), Some(uniform)) = (arm.spurious_attention, arm.uniform_attention) {
                    sentences.push(format!(
                        "{:.0} % of attention on spurious edges with {}, where uniform attention puts {:.0} %",
                        100.0 * share.mean,
                        arm.treatment.label(),
                        100.0 * uniform.mean
                    ));
                }
            }
            format!("{kind}: {}.", sentences.join("; "))
        })
        .collect()
}

/// A difference with its sign.
fn signed(spread: Spread) -> String {
    let sign = if spread.mean >= 0.0 { "+" } else { "" };
    format!("{sign}{}", spread.text(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_carry_their_sign() {
        assert_eq!(signed(Spread { mean: 0.1, deviation: Some(0.02) }), "+0.100 ± 0.020");
        assert_eq!(signed(Spread { mean: -0.1, deviation: None }), "-0.100");
    }
}
