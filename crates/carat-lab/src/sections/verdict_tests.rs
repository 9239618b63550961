use carat::{Arm, Rounds};

use super::*;
use crate::compare::made_up::{baseline, both_protocols, regularised};

/// The same run with another number of rounds.
fn with_rounds(mut run: Run, rounds: usize) -> Run {
    run.config.regulariser.rounds = Rounds::Count(rounds);
    run
}

fn tables(section: &Section) -> Vec<&Table> {
    section.tables().collect()
}

fn texts(row: &[Cell]) -> Vec<&str> {
    row.iter().map(|cell| cell.text.as_str()).collect()
}

/// Eight settings at lambda 1 and 5. `gains` are what causal and its control gain at lambda 1; at lambda 5 causal
/// loses.
fn runs(causal: f64, control: Option<f64>) -> Vec<Run> {
    let mut runs = Vec::new();
    for hidden in 1..=8 {
        let spread = 0.01 * hidden as f64;
        runs.push(baseline("mygraph", hidden, 2.0));
        runs.push(regularised("mygraph", hidden, 1.0, 2.0 - causal * (1.0 + spread)));
        runs.push(regularised("mygraph", hidden, 5.0, 3.0 + spread));
        if let Some(gain) = control {
            let mut run = regularised("mygraph", hidden, 1.0, 2.0 - gain * (1.0 + spread));
            run.config.regulariser.arm = Arm::Constant;
            runs.push(run);
        }
    }
    runs
}

fn sentence(runs: &[Run]) -> String {
    let sentences = sentences(runs, "mygraph");
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    sentences[0].clone()
}

#[test]
fn a_gain_has_its_size_interval_and_p() {
    let text = sentence(&runs(0.2, None));
    // Losses of 2 fall by 0.2 to 0.216.
    let start = "On mygraph, CAR lowers the test loss by 10.4 % (95 % interval 10.3 % to 10.6 %, p 0.004, 8 pairs) at \
        lambda 1 under";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("protocol best; without runs of the constant control at this strength"), "{text}");
    assert!(!text.contains("Validation would"), "{text}");
}

#[test]
fn smoothing_is_named() {
    let same = sentence(&runs(0.2, Some(0.2)));
    assert!(same.contains("; a constant target lowers it, too, and CAR is not clearly better than that (p "), "{same}");
    assert!(same.ends_with("), so smoothing may be all of it."), "{same}");
    let better = sentence(&runs(0.2, Some(0.1)));
    assert!(
        better.ends_with("; it beats a constant target (p 0.004), so this is more than smoothing of attention."),
        "{better}"
    );
    let worse = sentence(&runs(0.2, Some(0.3)));
    assert!(worse.contains("a constant target does better still (p 0.004)"), "{worse}");
}

#[test]
fn harm_is_called_harm() {
    let text = sentence(&runs(-0.2, Some(0.1)));
    let start = "On mygraph, CAR raises the test loss by 10.5 % (95 % interval 10.3 % to 10.6 %, p of harm 0.004, 8 \
        pairs) at lambda 1";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("; a constant target lowers it: the causal effects do harm."), "{text}");
    let both = sentence(&runs(-0.2, Some(-0.1)));
    assert!(both.contains("; a constant target raises it, too. Validation would choose no CAR at all"), "{both}");
}

#[test]
fn a_baseline_that_validates_best_is_named() {
    let text = sentence(&runs(-0.2, None));
    // Made-up validation losses are test losses and 0.1.
    let end = "Validation would choose no CAR at all: the mean validation loss is 2.3090 with it and 2.1000 without.";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn test_and_interval_must_both_be_clear() {
    // Eleven small gains and one large loss: the test by ranks is significant, the mean is uncertain.
    let mut runs = Vec::new();
    for hidden in 1..=12 {
        runs.push(baseline("mygraph", hidden, 2.0));
        let change = if hidden == 1 { 1.0 } else { -0.1 - 0.01 * hidden as f64 };
        runs.push(regularised("mygraph", hidden, 1.0, 2.0 + change));
    }
    let text = sentence(&runs);
    assert!(text.contains("does not clearly change the test loss (-3.6 %, 95 % interval -"), "{text}");
    assert!(text.contains(" % to +") && text.contains(" %, p 0.0"), "{text}");
}

#[test]
fn only_validation_decides_the_choice() {
    let mut runs = runs(0.2, None);
    for run in &mut runs {
        if run.config.regulariser.lambda.to_string() == "5" {
            run.outcome.figures.val.loss = Some(0.1);
        }
    }
    assert!(sentence(&runs).contains("raises the test loss") && sentence(&runs).contains("at lambda 5 under"));
}

#[test]
fn a_strength_with_few_settings_cannot_win() {
    let mut runs = runs(0.2, None);
    runs.push(regularised("mygraph", 1, 0.5, 0.1));
    assert!(sentence(&runs).contains("at lambda 1 under"), "{}", sentence(&runs));
}

#[test]
fn few_pairs_are_too_few() {
    let runs = vec![baseline("mygraph", 1, 2.0), regularised("mygraph", 1, 1.0, 1.0)];
    let text = sentence(&runs);
    assert!(text.ends_with("; 1 pair is too few to be sure of anything: sweep more settings or seeds."), "{text}");
    assert!(text.contains("does not clearly change the test loss (-50.0 %, p 0.500, 1 pair)"), "{text}");
    let sections = verdict(&runs);
    // A single strength has no chart.
    assert!(!sections[0].blocks.iter().any(|block| matches!(block, Block::Chart(_))));
    assert_eq!(tables(&sections[0])[0].rows[0][7].text, "-1.000 (-)");
}

#[test]
fn variants_are_shown_but_never_chosen() {
    let mut all = runs(0.2, Some(0.1));
    for hidden in 1..=4 {
        all.push(with_rounds(regularised("mygraph", hidden, 1.0, 0.1), 1));
    }
    let text = sentence(&all);
    assert_eq!(text, sentence(&runs(0.2, Some(0.1))));
    assert!(text.contains("it beats a constant target"), "{text}");
    let sections = verdict(&all);
    let tables = tables(&sections[0]);
    let variants = tables.last().unwrap();
    assert_eq!(variants.name, "verdict-0-variants");
    assert_eq!(variants.rows.len(), 1);
    assert_eq!(texts(&variants.rows[0]), ["rounds 1", "best", "1", "4", "-95.0 %", "0.062"]);
    let charts =
        sections[0].blocks.iter().filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None });
    let categories: Vec<Vec<String>> =
        charts.flat_map(|chart| chart.panels.iter().map(|panel| panel.x.categories.clone())).collect();
    assert_eq!(categories, [["1", "5"]]);
}

#[test]
fn without_the_plain_method_the_variant_with_most_pairs_is_judged() {
    let mut all = Vec::new();
    for hidden in 1..=6 {
        all.push(baseline("mygraph", hidden, 2.0));
        all.push(with_rounds(regularised("mygraph", hidden, 1.0, 1.5 + 0.01 * hidden as f64), 2));
    }
    all.push(with_rounds(regularised("mygraph", 1, 1.0, 0.1), 1));
    assert!(sentence(&all).contains("at lambda 1 (rounds 2) under protocol best"), "{}", sentence(&all));
}

#[test]
fn means_that_are_compared_are_over_the_same_settings() {
    // Lambda 0.5 ran on six of eight settings, the easy ones; on them lambda 1 is better.
    let mut all = Vec::new();
    for hidden in 1..=8 {
        let hard = if hidden > 6 { 10.0 } else { 0.0 };
        all.push(baseline("mygraph", hidden, 2.0 + hard));
        all.push(regularised("mygraph", hidden, 1.0, 1.0 + hard));
        if hidden <= 6 {
            all.push(regularised("mygraph", hidden, 0.5, 1.5));
        }
    }
    assert!(sentence(&all).contains("6 pairs) at lambda 1 under"), "{}", sentence(&all));
    let sections = verdict(&all);
    let rows: Vec<Vec<&str>> = tables(&sections[0])[1].rows.iter().map(|row| texts(row)).collect();
    assert_eq!(rows[0], ["0 (no regulariser)", "best", "6", "2.1000", "2.0000", "-", "-"]);
    assert_eq!(rows[1][..6], ["0.5", "best", "6", "1.6000", "1.5000", "-25.0 %"]);
    assert_eq!(rows[2][..6], ["1", "best", "6", "1.1000", "1.0000", "-50.0 %"]);
    assert!(tables(&sections[0])[1].rows[2][0].strong && !tables(&sections[0])[1].rows[1][0].strong);
}

#[test]
fn an_auc_of_few_nodes_is_called_coarse() {
    let notes = |runs: &[Run]| match verdict(runs)[0].blocks.last() {
        Some(Block::Paragraph(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    let mut all = runs(0.2, None);
    assert!(!notes(&all).contains("too coarse here to tell"));
    all.iter_mut().enumerate().for_each(|(place, run)| run.outcome.figures.attention_auc = Some((place % 2) as f64));
    assert!(notes(&all).contains("too coarse here to tell"), "{}", notes(&all));
}

#[test]
fn graphs_of_one_file_name_are_told_apart() {
    let runs: Vec<Run> = ["a/graph.npz", "b/graph.npz"].map(|data| baseline(data, 1, 2.0)).to_vec();
    let titles: Vec<String> = verdict(&runs).into_iter().map(|section| section.title).collect();
    assert_eq!(titles, ["Does CAR help on a/graph.npz?", "Does CAR help on b/graph.npz?"]);
}

#[test]
fn every_dataset_has_a_section_with_both_protocols() {
    let mut runs = both_protocols(&runs(0.2, Some(0.2)));
    runs.push(baseline("other.npz", 1, 2.0));
    let sections = verdict(&runs);
    assert_eq!(sections.len(), 2);
    assert_eq!(sections[1].id, "verdict-1-other-npz");
    assert!(matches!(&sections[1].blocks[..], [Block::Paragraph(text)] if text.contains("nothing to compare yet")));
    let paragraphs: Vec<&str> = sections[0]
        .blocks
        .iter()
        .filter_map(|block| if let Block::Paragraph(text) = block { Some(text.as_str()) } else { None })
        .collect();
    assert!(paragraphs[0].contains("under protocol best") && paragraphs[1].contains("under protocol paper"));
    let tables = tables(&sections[0]);
    assert_eq!((tables.len(), tables[0].rows.len(), tables[1].rows.len()), (2, 3 * 2, 3 * 2));
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
}
