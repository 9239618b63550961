//! Every sentence about the outcome, on reports made up so that each branch is taken.

use carat_lab::AttentionOnSpurious;
use carat_lab::compare::made_up;
use carat_lab::sweep::{Outcome, Run};
use carat_nn::AttentionKind::{self, Gat, GatV2};
use carat_report::Table;

use super::*;
use crate::demo::{ArmReport, DemoConfig, GraphReport, Setting, measured, page, summary};

/// A report of two kinds and two strengths. `control` and `car` add to the baseline's test loss and attention on
/// spurious edges, and take from its faithfulness; each seed adds a little noise of its own to every run, and 0.001 of
/// it to the difference.
fn report(
    seeds: usize,
    control: impl Fn(f64, AttentionKind) -> f64,
    car: impl Fn(f64, AttentionKind) -> f64,
) -> DemoReport {
    let config = DemoConfig { kinds: vec![Gat, GatV2], shortcuts: vec![0.2, 0.8], seeds, ..DemoConfig::default() };
    let arms = config.settings().into_iter().filter_map(|setting| {
        let Setting { shortcut, kind, treatment } = setting;
        let shift = match (shortcut, treatment) {
            (Some(shortcut), Treatment::Control) => control(shortcut, kind),
            (Some(shortcut), Treatment::Car) => car(shortcut, kind),
            _ => 0.0,
        };
        let runs = (0..seeds).map(|seed| {
            let value = 0.5 + 0.01 * seed as f64 + shift * (1.0 + 0.001 * seed as f64);
            let train = treatment.settings(&config.train);
            let settings = train.arch(kind).seed(seed as u64);
            let spurious = shortcut.map(|_| AttentionOnSpurious { share: value, uniform: 0.4, auc: 0.5 });
            let mut outcome = Outcome { spurious, ..made_up::outcome(value) };
            (outcome.figures.test.accuracy, outcome.figures.faithfulness) = (Some(0.5), Some(1.0 - value));
            Run { config: settings, outcome }
        });
        ArmReport::of(setting, runs.collect())
    });
    let graph = GraphReport { nodes: 2000, edges: 20_000, spurious_share: 0.4, train: 360, val: 360, test: 1080 };
    DemoReport::new(config.clone(), graph, arms.collect())
}

/// The sentence about CAR and its control.
fn beside_the_control(report: &DemoReport) -> String {
    conclusion(report).pop().unwrap()
}

#[test]
fn better_than_the_control_everywhere() {
    let report = report(8, |_, _| 0.0, |_, _| -0.1);
    assert_eq!(
        beside_the_control(&report),
        "Is it more than smoothing? Yes. Beside its control, attention is clearly more faithful at strength 0.2 and \
         0.8; attention on spurious edges is clearly lower at strength 0.2 and 0.8; test loss is clearly lower at \
         strength 0.2 and 0.8."
    );
    assert_eq!(
        conclusion(&report)[0],
        "What does CAR change? Beside plain training, attention is clearly more faithful at strength 0.2 and 0.8; \
         attention on spurious edges is clearly lower at strength 0.2 and 0.8; test loss is clearly lower at strength \
         0.2 and 0.8."
    );
}

#[test]
fn better_in_one_place_and_worse_in_another() {
    let report = report(8, |_, _| -0.1, |shortcut, _| if shortcut == 0.2 { -0.2 } else { 0.1 });
    let expected = "Is it more than smoothing? In part. Beside its control, attention is clearly more faithful at \
                    strength 0.2 and clearly less faithful at strength 0.8; ";
    assert!(beside_the_control(&report).starts_with(expected), "{}", beside_the_control(&report));
    let loss = "test loss is clearly lower at strength 0.2 and clearly higher at strength 0.8.";
    assert!(beside_the_control(&report).ends_with(&format!("{loss}{WHY_WORSE}")));
}

#[test]
fn one_kind_may_outweigh_another() {
    let report = report(8, |_, _| 0.0, |_, kind| if kind == Gat { -0.3 } else { 0.1 });
    assert!(beside_the_control(&report).starts_with("Is it more than smoothing? Yes."));
    let verdict =
        |kind| report.case(0.2, kind, (Treatment::Car, Treatment::Control), Measure::TEST_LOSS).unwrap().verdict;
    assert_eq!([Some(Gat), Some(GatV2), None].map(verdict), [Verdict::Better, Verdict::Worse, Verdict::Better]);
}

#[test]
fn equal_to_the_control() {
    let report = report(8, |_, _| -0.1, |_, _| -0.1);
    assert_eq!(
        beside_the_control(&report),
        "Is it more than smoothing? Nothing here says so. Beside its control, attention is nowhere clearly different; \
         attention on spurious edges is nowhere clearly different; test loss is nowhere clearly different."
    );
    assert!(
        conclusion(&report)[0].contains("test loss is clearly lower at strength 0.2 and 0.8"),
        "it still beats plain training"
    );
}

#[test]
fn few_graphs_are_never_clear() {
    let report = |seeds| report(seeds, |_, _| 0.0, |_, _| -0.1);
    for seeds in 1..Verdict::FEWEST_SEEDS {
        assert!(report(seeds).comparisons.iter().all(|c| c.verdict == Verdict::Unclear), "{seeds}");
        assert_eq!(conclusion(&report(seeds)), [too_few(seeds)]);
        assert!(statistics(&report(seeds)).ends_with("--seeds 6 or more can."));
    }
    let enough = report(Verdict::FEWEST_SEEDS);
    assert!(enough.comparisons.iter().any(|case| case.verdict == Verdict::Better));
    assert!(statistics(&enough).starts_with("Means over 6 graphs.") && statistics(&enough).ends_with("below 0.025."));
    assert!(too_few(1).starts_with("With one graph no"));
}

#[test]
fn faithfulness_that_falls_is_worse_and_loss_that_falls_is_better() {
    let report = report(8, |_, _| 0.0, |_, _| -0.1);
    let verdict = |measure| {
        let case = report.case(0.2, None, (Treatment::Car, Treatment::Baseline), measure).unwrap();
        (case.verdict, case.p_better, case.p_worse, case.change.mean < 0.0)
    };
    let (first, last) = (1.0 / 256.0, 1.0);
    assert_eq!(verdict(Measure::TEST_LOSS), (Verdict::Better, first, last, true));
    assert_eq!(verdict(Measure::SpuriousAttention), (Verdict::Better, first, last, true));
    assert_eq!(verdict(Measure::FAITHFULNESS), (Verdict::Better, first, last, false));
    // No run differs here at all.
    assert_eq!(verdict(Measure::TEST_ACCURACY), (Verdict::Unclear, 1.0, 1.0, false));
}

/// A table's headings, those of numbers marked.
fn headings(table: &Table) -> Vec<String> {
    let mark = |numeric| if numeric { ">" } else { "" };
    table.columns.iter().map(|column| format!("{}{}", mark(column.numeric), column.heading)).collect()
}

fn texts(table: &Table, row: usize) -> Vec<&str> {
    table.rows[row].iter().map(|cell| cell.text.as_str()).collect()
}

#[test]
fn tables_tell_the_same() {
    let report = report(8, |_, _| -0.1, |shortcut, _| if shortcut == 0.2 { -0.2 } else { 0.1 });
    let loss = measured(&report, Measure::TEST_LOSS).pop().unwrap();
    assert_eq!(loss.caption, "Test loss, lower is better");
    assert_eq!(
        headings(&loss),
        ["shortcut", "attention", ">plain", ">control", ">CAR", ">CAR - plain", ">CAR - control"]
    );
    assert_eq!(texts(&loss, 0), ["0.2", "gat", "0.535", "0.435", "0.334", "-0.201, p 0.004", "-0.100, p 0.004"]);
    assert_eq!(texts(&loss, 3), ["0.8", "gatv2", "0.535", "0.435", "0.635", "+0.100, p 0.004", "+0.201, p 0.004"]);
    let accuracy = measured(&report, Measure::TEST_ACCURACY).remove(0);
    assert_eq!(texts(&accuracy, 0)[5..], ["+0.000, unclear, p 1.000", "+0.000, unclear, p 1.000"]);
    let summary = summary(&report, (Treatment::Car, Treatment::Control));
    assert_eq!(
        headings(&summary),
        ["shortcut", "measure", ">plain", ">control", ">CAR", "CAR: than plain", "than its control"]
    );
    // Four measures where the shortcut is weakest, two where it is stronger.
    assert_eq!(summary.rows.len(), 6);
    let expected = ["0.2", "test loss", "0.535", "0.435", "0.334", "better, p 0.004", "better, p 0.004"];
    assert_eq!(texts(&summary, 3), expected);
    assert_eq!(texts(&summary, 4)[..2], ["0.8", "faithfulness"]);
    assert_eq!(texts(&summary, 4)[5..], ["worse, p 0.004", "worse, p 0.004"]);
}

#[test]
fn the_page_has_the_sentences_and_the_origin_of_lambda() {
    let report = report(8, |_, _| -0.1, |_, _| 0.1);
    let page = page(&report);
    for sentence in conclusion(&report) {
        assert!(page.contains(&carat_report::page::escape(&sentence)), "{sentence}");
    }
    assert!(page.contains("Of 48 comparisons, chance alone would make at most about 2 clear."));
    assert!(page.contains("lambda, was given as 5."), "the default's origin holds for the default strengths only");
    let config = DemoConfig::default();
    let default = DemoReport { config: DemoConfig { seeds: 3, ..config }, ..report };
    assert!(crate::demo::page(&default).contains("lowest mean validation loss on graphs of other seeds"));
}

#[test]
fn the_cost_of_spurious_edges_is_the_oracles_accuracy() {
    let cost = cost(&report(8, |_, _| 0.0, |_, _| 0.0));
    assert_eq!(cost, "Without the spurious edges, test accuracy would be 0.500.");
}
