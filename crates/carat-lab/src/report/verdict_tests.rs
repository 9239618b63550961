use carat::Arm;

use super::*;
use crate::compare::made_up::{baseline, both_protocols, regularised};

/// Eight settings at lambda 1 and 5. `gains` are what causal and its control gain at lambda 1; at lambda 5 causal loses.
fn runs(causal: f64, control: Option<f64>) -> Vec<Run> {
    let mut runs = Vec::new();
    for hidden in 1..=8 {
        let spread = 0.01 * hidden as f64;
        runs.push(baseline("mygraph", hidden, 2.0));
        runs.push(regularised("mygraph", hidden, 1.0, 2.0 - causal * (1.0 + spread)));
        runs.push(regularised("mygraph", hidden, 5.0, 3.0 + spread));
        if let Some(gain) = control {
            let mut run = regularised("mygraph", hidden, 1.0, 2.0 - gain * (1.0 + spread));
            run.config.regulariser = Arm::Constant;
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
fn a_gain_is_told_with_its_size_and_certainty() {
    let said = sentence(&runs(0.2, None));
    assert!(said.starts_with("On mygraph, CAR lowers the test loss by 10.4 % (95 % interval 10."), "{said}");
    assert!(
        said.contains(", p 0.004, 8 pairs) at lambda 1 under protocol best; without runs of the constant control"),
        "{said}"
    );
}

#[test]
fn smoothing_is_called_smoothing() {
    let same = sentence(&runs(0.2, Some(0.2)));
    assert!(same.ends_with("; a constant target does the same, so this is smoothing, not causal signal."), "{same}");
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
    let said = sentence(&runs(-0.2, Some(0.1)));
    assert!(said.starts_with("On mygraph, CAR raises the test loss by 10.5 %"), "{said}");
    assert!(said.ends_with("a constant target does lower it: smoothing helps here, causal effects do not."), "{said}");
    let neither = sentence(&runs(-0.2, Some(-0.1)));
    assert!(neither.ends_with(", and neither does a constant target lower it."), "{neither}");
}

#[test]
fn the_choice_is_validation_s_alone() {
    let mut runs = runs(0.2, None);
    for run in &mut runs {
        if run.config.lambda.to_string() == "5" {
            run.outcome.val_loss = 0.1;
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
    let said = sentence(&runs);
    assert!(said.ends_with("; 1 pair is too few to be sure of anything: sweep more settings or seeds."), "{said}");
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
    let tables: Vec<&Table> = sections[0]
        .blocks
        .iter()
        .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
        .collect();
    assert_eq!((tables[0].rows.len(), tables[1].rows.len()), (3 * 2, 2 * 2));
    assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
}
