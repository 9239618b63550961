use super::*;
use carat::metrics::{Evaluation, Figures, Lead, Predictions, RunFigures};

/// A run whose class `c` is predicted right for three of four entities.
fn run(classes: usize, lead: Lead) -> TrainedRun {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for entity in 0..classes * 4 {
        let (label, said) = (entity / 4, if entity % 4 == 0 { (entity / 4 + 1) % classes } else { entity / 4 });
        labels.push(label as u32);
        let rest = 0.3 / (classes - 1) as f32;
        rows.extend((0..classes).map(|class| if class == said { 0.7 } else { rest }));
    }
    let predictions = Predictions::from_probabilities(classes, &rows, &labels);
    let evaluation = Evaluation::of(&predictions);
    let test = Figures::of(&predictions, &evaluation);
    let summary = Summary {
        figures: RunFigures { test, ..RunFigures::default() },
        lead,
        epochs: 12,
        best_epoch: 7,
        train_seconds: 1.0,
        step_ms: 1.0,
        peak_memory_mb: None,
        interrupted: false,
        validation: Some(evaluation.clone()),
        test: Some(evaluation),
    };
    TrainedRun { name: "runs/a".into(), config: TrainConfig::default().data("folder/own".into()), summary }
}

fn text(report: &Report) -> String {
    crate::markdown(report)
}

#[test]
fn a_report_leads_with_the_figures_that_fit() {
    let two = report(&[run(2, Lead::Ranking)], &[]);
    assert_eq!(two.title, "gat on own");
    let said = text(&two);
    let lead = "Over the test nodes, ROC AUC is 0.750 (chance has 0.5) and average precision 0.688 (chance has 0.500), \
                of class 1;";
    assert!(said.contains(lead), "{said}");
    assert!(said.contains("12 epochs, with the weights of epoch 7."), "{said}");
    let five = text(&report(&[run(5, Lead::Accuracy)], &[]));
    assert!(
        five.contains("Over the test nodes, accuracy is 0.750 (always naming the largest class has 0.200)."),
        "{five}"
    );
    let titles = |report: &Report| report.sections.iter().map(|section| section.title.clone()).collect::<Vec<_>>();
    assert_eq!(titles(&two), ["Figures", "Classes", "Confusion matrix", "Calibration"]);
}

#[test]
fn several_runs_share_a_table_with_the_chosen_figures() {
    let figures = [Figure::Of(Subset::Test, Metric::MacroF1), Figure::AttentionAuc];
    let found = report(&[run(2, Lead::Ranking), run(2, Lead::Ranking)], &figures);
    let table = found.sections[0].tables().next().unwrap();
    let headings: Vec<&str> = table.columns.iter().map(|column| column.heading.as_str()).collect();
    assert_eq!(headings, ["run", "data", "network", "test macro F1", "attention_auc"]);
    assert_eq!((table.rows.len(), table.rows[0][3].text.as_str(), table.rows[0][4].text.as_str()), (2, "0.7500", "-"));
    assert!(found.sections[1].title.starts_with("runs/a: "));
}

#[test]
fn a_run_of_an_older_carat_has_what_it_kept() {
    let mut old = run(3, Lead::Accuracy);
    (old.summary.test, old.summary.validation) = (None, None);
    let said = text(&report(&[old], &[]));
    assert!(said.contains("'carat predict' prints the others") && !said.contains("Confusion matrix"), "{said}");
}

#[test]
fn forty_classes_have_a_row_each() {
    let found = report(&[run(40, Lead::Accuracy)], &[]);
    let page = crate::html(&found);
    assert_eq!(page.matches("cell series-1").count(), 40 * 40);
    let files = crate::files(&found);
    let cells = files.iter().find(|(name, _)| name.contains("points")).unwrap();
    assert_eq!(cells.1.lines().count(), 1 + 40 * 40);
}
