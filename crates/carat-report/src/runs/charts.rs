//! The charts of a report on runs.

use carat::metrics::{Bin, Evaluation};

use crate::figures::{Axis, Chart, ChartPanel, Mark};
use crate::format::{counted, thousands};

/// The confusion matrix, each cell as dark as its share of its row.
pub(super) fn confusion(evaluation: &Evaluation, entities: &str) -> Chart {
    let names: Vec<String> = evaluation.classes.iter().map(|class| class.class.clone()).collect();
    let mut marks = Vec::new();
    for (label, row) in evaluation.confusion.iter().enumerate() {
        let total: u64 = row.iter().sum();
        for (predicted, &count) in row.iter().enumerate() {
            let share = if total > 0 { count as f64 / total as f64 } else { 0.0 };
            let (class, said) = (&names[label], &names[predicted]);
            // Of many classes most cells are empty; without a tooltip they are quick to pass over.
            let tip = if count == 0 {
                String::new()
            } else {
                format!(
                    "{class} predicted as {said}: {} of {} ({:.1} %)",
                    thousands(count as usize),
                    thousands(total as usize),
                    100.0 * share
                )
            };
            let text = if count == 0 { String::new() } else { thousands(count as usize) };
            marks.push(Mark::Cell { at: (predicted, label), share, text, tip });
        }
    }
    let panel = ChartPanel {
        title: String::new(),
        note: String::new(),
        x: Axis { label: "predicted class".into(), ..Axis::of_categories(names.clone()) },
        y: Axis { label: "class".into(), ..Axis::of_categories(names) },
        marks,
    };
    Chart {
        title: format!("Confusion matrix of the {entities}"),
        caption: "A row has the entities of a class, and a column those that are predicted as one. A cell is as dark \
                  as its share of the row, so the diagonal shows the recall of every class."
            .into(),
        series: Vec::new(),
        panels: vec![panel],
    }
}

/// Accuracy against confidence, and how many predictions each bin has.
pub(super) fn reliability(bins: &[Bin], entities: &str) -> Chart {
    let total: u64 = bins.iter().map(|bin| bin.entities).sum();
    let share = |bin: &Bin| bin.entities as f64 / total as f64;
    let tip = |bin: &Bin| {
        format!(
            "confidence {:.3}, accuracy {:.3}: {}, {:.1} % of all",
            bin.confidence,
            bin.accuracy,
            counted(bin.entities as usize, "prediction"),
            100.0 * share(bin)
        )
    };
    let mut curve = vec![Mark::Diagonal];
    curve.push(Mark::Line {
        points: bins.iter().map(|bin| (bin.confidence, bin.accuracy)).collect(),
        series: 1,
        tip: String::new(),
    });
    curve.extend(bins.iter().map(|bin| Mark::Dot {
        at: (bin.confidence, bin.accuracy),
        series: 1,
        radius: 2.5 + 6.0 * share(bin).sqrt(),
        tip: tip(bin),
    }));
    let middle = |bin: &Bin| (bin.above + bin.up_to) / 2.0;
    let counts =
        bins.iter().map(|bin| Mark::Bar { at: (middle(bin), 100.0 * share(bin)), series: 1, tip: tip(bin) }).collect();
    let whole = |label: &str| Axis { range: Some((0.0, 1.0)), ..Axis::new(label) };
    let panel = |title: &str, y: Axis, marks| ChartPanel {
        title: title.into(),
        note: String::new(),
        x: whole("confidence"),
        y,
        marks,
    };
    Chart {
        title: format!("Reliability over the {entities}"),
        caption: "Confidence is the probability of the predicted class. On the dashed line it is earned: below, the \
                  network is surer than it is right, and above, less sure. Larger dots stand for more predictions."
            .into(),
        series: Vec::new(),
        panels: vec![
            panel("Accuracy by confidence", whole("accuracy"), curve),
            panel("Predictions by confidence", Axis::new("% of predictions"), counts),
        ],
    }
}
