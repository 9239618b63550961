//! A measure against the strength of the shortcut: every run, and lines through the means of each treatment.

use carat_nn::AttentionKind;

use super::scale::extent;
use super::svg::Panel;
use super::{Figure, series};
use crate::demo::{DemoReport, Measure, Reference, Treatment};

/// One panel per attention kind.
pub fn sweep(report: &DemoReport, measure: Measure) -> Figure {
    let treatments: Vec<Treatment> = report.config.treatments().filter(|t| *t != Treatment::Oracle).collect();
    let shown = report.arms.iter().filter(|arm| arm.shortcut.is_some());
    let values = shown.flat_map(|arm| arm.runs.iter().filter_map(|run| measure.of(run)));
    let references = report.config.kinds.iter().flat_map(|&kind| reference(report, measure, kind));
    let range = extent(values.chain(references.map(|(_, value)| value)), 0.06);
    let strengths = extent(report.config.shortcuts.iter().copied(), 0.15);
    let panels = report.config.kinds.iter().map(|&kind| {
        let mut panel = Panel::new(kind.name(), strengths, range, measure.label());
        panel.y_axis(&panel.y.ticks(5));
        panel.line("reference", reference(report, measure, kind).into_iter(), measure.reference().label());
        let mut means = Vec::new();
        for (position, &treatment) in treatments.iter().enumerate() {
            let (class, name) = (series(treatment), treatment.label());
            // Side by side, so that treatments do not hide each other.
            let aside = (position as f64 - (treatments.len() - 1) as f64 / 2.0) * 0.03 * (strengths.1 - strengths.0);
            let arms = report.config.shortcuts.iter().filter_map(|&s| Some((s, report.arm(Some(s), kind, treatment)?)));
            let line: Vec<(f64, f64)> = arms
                .clone()
                .filter_map(|(shortcut, arm)| Some((shortcut + aside, arm.spread(measure)?.mean)))
                .collect();
            for (shortcut, arm) in arms {
                for (run, value) in arm.runs.iter().filter_map(|run| Some((run, measure.of(run)?))) {
                    let tip = format!("{kind}, {name}, shortcut {shortcut}, seed {}: {value:.3}", run.seed);
                    panel.dot(&class, (shortcut + aside, value), 2.2, &tip);
                }
                if let Some(mean) = arm.spread(measure) {
                    means.push(format!("{name} {:.3} at {shortcut}", mean.mean));
                }
            }
            panel.line(&class, line.into_iter(), &format!("{kind}, {name}: mean"));
        }
        let ticks: Vec<(f64, String)> = report.config.shortcuts.iter().map(|s| (*s, s.to_string())).collect();
        panel.x_axis(&ticks, "strength of the shortcut");
        panel.finish(&format!("mean {}: {}", measure.label(), means.join(", ")))
    });
    let legend = treatments.iter().map(|&treatment| (series(treatment), treatment.label().to_string()));
    let reference_key = ("reference".to_string(), measure.reference().label().to_string());
    let direction = if measure.lower_is_better() { "Lower is better." } else { "Higher is better." };
    Figure {
        title: format!("{} against the strength of the shortcut", measure.title()),
        caption: format!(
            "Shown is {}. {direction} A dot is a run, a line joins the means over seeds. The axis does not start at 0.",
            measure.meaning()
        ),
        legend: legend.chain([reference_key]).collect(),
        panels: panels.collect(),
    }
}

/// The dashed line of a panel.
fn reference(report: &DemoReport, measure: Measure, kind: AttentionKind) -> Vec<(f64, f64)> {
    let at = |shortcut: f64| match measure.reference() {
        Reference::UniformAttention => {
            Some(report.arm(Some(shortcut), kind, Treatment::Baseline)?.uniform_attention?.mean)
        }
        Reference::Mean(treatment) => Some(report.arm(None, kind, treatment)?.spread(measure)?.mean),
        Reference::Chance(value) => Some(value),
    };
    report.config.shortcuts.iter().filter_map(|&shortcut| Some((shortcut, at(shortcut)?))).collect()
}
