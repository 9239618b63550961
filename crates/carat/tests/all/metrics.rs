//! Figures of predictions against scikit-learn's.

use carat::metrics::{Evaluation, Figures, Metric, Predictions};
use serde_json::Value;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("../golden/metrics.json")).unwrap()
}

fn predictions(case: &Value) -> Predictions {
    let numbers = |name: &str| case[name].as_array().unwrap().iter();
    let probabilities: Vec<f32> = numbers("probabilities").map(|p| p.as_f64().unwrap() as f32).collect();
    let labels: Vec<u32> = numbers("labels").map(|label| label.as_u64().unwrap() as u32).collect();
    Predictions::from_probabilities(case["classes"].as_u64().unwrap() as usize, &probabilities, &labels)
}

#[track_caller]
fn check(found: Option<f64>, expected: &Value, what: &str) {
    match (found, expected.as_f64()) {
        (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{what}: {found} for {expected}"),
        (found, expected) => assert_eq!(found, expected, "{what}"),
    }
}

#[test]
fn figures_are_scikit_learn_s() {
    let cases = cases();
    assert!(cases.len() >= 16);
    for case in &cases {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["figures"]);
        let predictions = predictions(case);
        let evaluation = Evaluation::of(&predictions);
        let figures = Figures::of(&predictions, &evaluation);
        let names =
            ["loss", "accuracy", "balanced_accuracy", "macro_f1", "roc_auc", "average_precision", "calibration_error"];
        for (metric, key) in Metric::ALL.iter().zip(names.into_iter().chain(["brier"])) {
            check(figures.get(*metric), &expected[key], &format!("{name}: {key}"));
        }
        assert_eq!(serde_json::to_value(&evaluation.confusion).unwrap(), expected["confusion"], "{name}");
        for (number, class) in evaluation.classes.iter().enumerate() {
            let of_class = [
                (Some(class.support as f64), "support"),
                (class.precision, "precision"),
                (class.recall, "recall"),
                (class.f1, "f1"),
                (class.roc_auc, "class_roc_auc"),
                (class.average_precision, "class_average_precision"),
            ];
            for (found, key) in of_class {
                check(found, &expected[key][number], &format!("{name}: {key} of class {number}"));
            }
        }
        let bins = evaluation.reliability.clone().unwrap();
        assert_eq!(bins.len(), expected["bins"].as_array().unwrap().len(), "{name}");
        for (bin, expected) in bins.iter().zip(expected["bins"].as_array().unwrap()) {
            check(Some(bin.entities as f64), &expected[0], name);
            check(Some(bin.confidence), &expected[1], name);
            check(Some(bin.accuracy), &expected[2], name);
        }
    }
}

#[test]
fn an_evaluation_comes_back_from_its_file() {
    for case in cases() {
        let names: Vec<String> = (0..40).map(|class| format!("class {class}")).collect();
        let evaluation = Evaluation::of(&predictions(&case)).with_names(Some(&names));
        assert_eq!(evaluation.classes[0].class, "class 0");
        let text = serde_json::to_string(&evaluation).unwrap();
        assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), evaluation);
    }
}

#[test]
fn what_is_no_number_or_does_not_fit_is_no_panic() {
    let nan = Predictions::from_probabilities(2, &[f32::NAN, 0.5, 0.2, 0.8], &[0, 1]);
    let figures = Figures::of(&nan, &Evaluation::of(&nan));
    assert_eq!((figures.roc_auc, figures.average_precision), (None, None));
    assert_eq!((figures.calibration_error, figures.brier), (None, None));
    assert_eq!(figures.accuracy, Some(1.0));
    let beyond = Predictions::from_probabilities(2, &[0.5, 0.5, 0.1], &[7, 0, 1]);
    assert!(beyond.is_empty());
    let mut scores = Predictions::new(3);
    scores.add(&[1.0, 2.0], 0);
    scores.add(&[1.0, 2.0, 0.0], 3);
    scores.add(&[0.0, f32::INFINITY, 1.0], 1);
    assert_eq!((scores.len(), Evaluation::of(&scores).entities), (1, 1));
}
