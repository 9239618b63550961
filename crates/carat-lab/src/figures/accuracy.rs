//! Test accuracy of every run, treatments side by side, runs of one seed joined.

use super::scale::extent;
use super::svg::Panel;
use super::{Figure, series, treatments};
use crate::demo::DemoReport;

/// Accuracy per arm with all seeds shown, one panel per attention kind.
pub fn accuracy(report: &DemoReport) -> Figure {
    let runs = || report.arms.iter().flat_map(|arm| &arm.runs);
    let range = extent(runs().map(|run| run.test_accuracy), 0.08);
    let panels = report.config.kinds.iter().map(|&kind| {
        let arms: Vec<_> = report.arms_of(kind).collect();
        let mut panel = Panel::new(kind.name(), (0.0, arms.len() as f64), range, "test accuracy");
        panel.y_axis(&panel.y.ticks(5));
        let place = |position: usize| position as f64 + 0.42;
        for seed in 0..report.config.seeds {
            let points = arms
                .iter()
                .enumerate()
                .filter_map(|(position, arm)| arm.runs.get(seed).map(|run| (place(position), run.test_accuracy)));
            panel.line("pair", points, &format!("seed {seed}"));
        }
        let mut means = Vec::new();
        for (position, arm) in arms.iter().enumerate() {
            let (class, name) = (series(arm.treatment), arm.treatment.label());
            panel.category(place(position), name);
            let mean = format!("{:.3}", arm.test_accuracy.mean);
            panel.level(&class, (place(position), arm.test_accuracy.mean), &mean);
            for run in &arm.runs {
                let tip = format!("{kind}, {name}, seed {}: accuracy {:.3}", run.seed, run.test_accuracy);
                panel.dot(&class, (place(position), run.test_accuracy), 4.0, &tip);
            }
            means.push(format!("{name} {mean}"));
        }
        panel.finish(&format!("mean test accuracy, {}", means.join(", ")))
    });
    Figure {
        title: "Test accuracy".into(),
        caption: "A dot is a run; the bar and its number are the mean over seeds. A line joins the runs of one seed, \
                  which share nodes, split, initial weights and batches. The axis does not start at 0."
            .into(),
        legend: treatments(report),
        panels: panels.collect(),
    }
}
