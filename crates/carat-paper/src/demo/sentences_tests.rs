//! Every sentence about the outcome, on reports made up so that each branch is taken.

use carat_lab::AttentionOnSpurious;
use carat_lab::compare::made_up;
use carat_lab::sweep::{Outcome, Run};
use carat_nn::AttentionKind::{self, Gat, GatV2};
use carat_report::Table;

use super::*;
use crate::demo::{ArmReport, DemoConfig, GraphReport, Setting, measured, page, summary};

/// A report of two kinds and two strengths. `control` and `car` add to the baseline's test loss and attention on
/// spurious edges; each seed adds a little noise of its own to every run, and 0.001 of it to the difference.
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
            (outcome.figures.test.accuracy, outcome.figures.attention_auc) = (Some(1.0 - value), Some(0.5));
            Run { config: settings, outcome }
        });
        ArmReport::of(setting, runs.collect())
    });
    let graph = GraphReport { nodes: 2000, edges: 20_000, spurious_share: 0.4, train: 360, val: 360, test: 1080 };
    DemoReport::new(config.clone(), graph, arms.collect())
}

/// The sentence about CAR and its control.
fn answer(report: &DemoReport) -> String {
    conclusion(report).pop().unwrap()
}

#[test]
fn better_than_the_control_everywhere() {
    let report = report(8, |_, _| 0.0, |_, _| -0.1);
    assert_eq!(
        answer(&report),
        "Here CAR beats mere smoothing of attention in every case: against its control's, its test loss is clearly \
         lower at 0.2 and 0.8."
    );
    assert_eq!(
        conclusion(&report)[0],
        "Against the baseline, over 4 cases (a strength of the shortcut and an attention kind), CAR has clearly lower \
         test loss in 4, clearly higher in none; and clearly lower attention on spurious edges in 4, clearly higher in \
         none."
    );
}

#[test]
fn better_in_some_cases_and_worse_in_none() {
    let report = report(8, |_, _| 0.0, |shortcut, kind| if shortcut == 0.2 && kind == Gat { -0.1 } else { 0.0 });
    assert_eq!(
        answer(&report),
        "Here CAR beats mere smoothing of attention in 1 of 4 cases and loses in none: against its control's, its test \
         loss is clearly lower at 0.2 (gat), not clearly different at 0.2 (gatv2) and 0.8."
    );
}

#[test]
fn better_in_some_cases_and_worse_in_others() {
    let report = report(8, |_, _| -0.1, |shortcut, _| if shortcut == 0.2 { -0.2 } else { 0.1 });
    assert_eq!(
        answer(&report),
        "Here CAR beats mere smoothing of attention in 2 of 4 cases and loses in 2: against its control's, its test \
         loss is clearly lower at 0.2, clearly higher at 0.8."
    );
    assert!(conclusion(&report)[0].contains("lower test loss in 2, clearly higher in 2;"));
}

#[test]
fn worse_than_the_control() {
    let report = report(8, |_, _| -0.1, |_, kind| if kind == Gat { 0.0 } else { -0.1 });
    assert_eq!(
        answer(&report),
        "Here CAR loses to mere smoothing of attention in 2 of 4 cases and wins in none: against its control's, its \
         test loss is clearly higher at 0.2 (gat) and 0.8 (gat), not clearly different at 0.2 (gatv2) and 0.8 (gatv2)."
    );
}

#[test]
fn equal_to_the_control() {
    let report = report(8, |_, _| -0.1, |_, _| -0.1);
    assert_eq!(
        answer(&report),
        "Nothing here tells CAR from mere smoothing of attention: against its control's, its test loss is not clearly \
         different at 0.2 and 0.8."
    );
    assert!(conclusion(&report)[0].contains("clearly lower test loss in 4"), "it still beats the baseline");
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
    assert!(
        enough
            .comparisons_of((Treatment::Car, Treatment::Control), Measure::TEST_LOSS)
            .all(|c| c.verdict == Verdict::Better)
    );
    assert!(
        statistics(&enough).starts_with("Means over 6 graphs.")
            && statistics(&enough).ends_with("one comparison in twenty clear.")
    );
    assert!(too_few(1).starts_with("With one graph no"));
}

#[test]
fn accuracy_that_falls_is_worse_and_loss_that_falls_is_better() {
    let report = report(8, |_, _| 0.0, |_, _| -0.1);
    let verdict = |measure| {
        let mut comparisons = report.comparisons_of((Treatment::Car, Treatment::Baseline), measure);
        comparisons.next().map(|c| (c.verdict, c.p_better, c.p_worse, c.change.mean < 0.0)).unwrap()
    };
    let (first, last) = (1.0 / 256.0, 1.0);
    assert_eq!(verdict(Measure::TEST_LOSS), (Verdict::Better, first, last, true));
    assert_eq!(verdict(Measure::SpuriousAttention), (Verdict::Better, first, last, true));
    assert_eq!(verdict(Measure::TEST_ACCURACY), (Verdict::Better, first, last, false));
    // No run differs here at all.
    assert_eq!(verdict(Measure::ATTENTION_AUC), (Verdict::Unclear, 1.0, 1.0, false));
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
        ["shortcut", "attention", ">baseline", ">control", ">CAR", ">CAR - baseline", ">CAR - control"]
    );
    assert_eq!(texts(&loss, 0), ["0.2", "gat", "0.535", "0.435", "0.334", "-0.201, p 0.004", "-0.100, p 0.004"]);
    assert_eq!(texts(&loss, 3), ["0.8", "gatv2", "0.535", "0.435", "0.635", "+0.100, p 0.004", "+0.201, p 0.004"]);
    let auc = measured(&report, Measure::ATTENTION_AUC).remove(0);
    assert_eq!(texts(&auc, 0)[5..], ["+0.000, unclear, p 1.000", "+0.000, unclear, p 1.000"]);
    let summary = summary(&report);
    assert_eq!(headings(&summary), ["treatment", "against", "measure", "shortcut 0.2", "shortcut 0.8"]);
    assert_eq!(texts(&summary, 5), ["CAR", "control", "test loss", "2 better", "2 worse"]);
}

#[test]
fn the_page_has_the_sentences_and_the_origin_of_lambda() {
    let report = report(8, |_, _| -0.1, |_, _| 0.1);
    let page = page(&report);
    for sentence in conclusion(&report) {
        assert!(page.contains(&carat_report::page::escape(&sentence)), "{sentence}");
    }
    assert!(page.contains("Of 32 comparisons, chance alone would make at most about 2 clear."));
    assert!(page.contains("lambda, was given as 5."), "the default's origin holds for the default strengths only");
    let config = DemoConfig::default();
    let default = DemoReport { config: DemoConfig { seeds: 3, ..config }, ..report };
    assert!(crate::demo::page(&default).contains("lowest mean validation loss on graphs of other seeds"));
}

#[test]
fn the_cost_of_spurious_edges_is_the_oracles_accuracy() {
    assert_eq!(
        cost(&report(8, |_, _| 0.0, |_, _| 0.0)),
        "With the useful edges only, test accuracy is 0.465 for gat and 0.465 for gatv2."
    );
}
