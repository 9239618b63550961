//! Charts of a measure against the strength of the shortcut: a dot per run, and lines through the means of each
//! treatment.

use carat_lab::compare::Measure;
use carat_nn::AttentionKind;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark, extent};
use carat_report::format;

use super::measure::Reference;
use super::{DemoReport, Treatment};

/// One panel per attention kind.
pub fn sweep(report: &DemoReport, measure: Measure) -> Chart {
    let treatments: Vec<Treatment> = report.config.treatments().filter(|t| *t != Treatment::Oracle).collect();
    let shown = report.arms.iter().filter(|arm| arm.shortcut.is_some());
    let values = shown.flat_map(|arm| arm.runs.iter().filter_map(|run| measure.of(&run.outcome)));
    let references = report.config.kinds.iter().flat_map(|&kind| reference(report, measure, kind));
    let range = extent(values.chain(references.map(|(_, value)| value)), 0.06);
    let strengths = extent(report.config.shortcuts.iter().copied(), 0.15);
    let axis = |label: &str, range| Axis { label: label.to_string(), range: Some(range), ..Axis::default() };
    let panels = report.config.kinds.iter().map(|&kind| ChartPanel {
        title: kind.name().to_string(),
        note: String::new(),
        x: axis("strength of the shortcut", strengths),
        y: axis(measure.name(), range),
        marks: marks(report, measure, kind, &treatments, strengths.1 - strengths.0),
    });
    Chart {
        title: format!("{} against the strength of the shortcut", format::capitalised(measure.name())),
        caption: format!(
            "Shown is {}. {} is better. A dot is a run, a line joins the means over seeds. The axis does not start at \
             0.",
            measure.meaning(),
            format::capitalised(measure.better())
        ),
        series: treatments.iter().map(|treatment| treatment.label().to_string()).collect(),
        panels: panels.collect(),
    }
}

/// The marks of one attention kind. `span` is the length of the horizontal axis.
fn marks(report: &DemoReport, measure: Measure, kind: AttentionKind, treatments: &[Treatment], span: f64) -> Vec<Mark> {
    let name = Reference::of(measure).label().to_string();
    let mut lines = vec![Mark::Guide { points: reference(report, measure, kind), name }];
    let mut dots = Vec::new();
    for (series, &treatment) in treatments.iter().enumerate() {
        let name = treatment.label();
        // Side by side, so that treatments do not hide each other.
        let aside = (series as f64 - (treatments.len() - 1) as f64 / 2.0) * 0.03 * span;
        let (mut points, mut means) = (Vec::new(), Vec::new());
        for &shortcut in &report.config.shortcuts {
            let Some(arm) = report.arm(Some(shortcut), kind, treatment) else { continue };
            for (run, value) in arm.runs.iter().filter_map(|run| Some((run, measure.of(&run.outcome)?))) {
                let tip = format!("{kind}, {name}, shortcut {shortcut}, seed {}: {value:.3}", run.config.seed);
                dots.push(Mark::Dot { at: (shortcut + aside, value), series, radius: 2.2, tip });
            }
            if let Some(spread) = arm.spread(measure) {
                points.push((shortcut + aside, spread.mean));
                means.push(format!("{:.3} at {shortcut}", spread.mean));
            }
        }
        let tip = format!("{kind}, {name}: mean {}", means.join(", "));
        lines.push(Mark::Line { points, series, tip });
    }
    // Dots come last, because a line over a dot would hide the dot's tooltip.
    lines.into_iter().chain(dots).collect()
}

/// The dashed line of a panel.
fn reference(report: &DemoReport, measure: Measure, kind: AttentionKind) -> Vec<(f64, f64)> {
    let at = |shortcut: f64| match Reference::of(measure) {
        Reference::UniformAttention => {
            Some(report.arm(Some(shortcut), kind, Treatment::Baseline)?.uniform_attention?.mean)
        }
        Reference::Mean(treatment) => Some(report.arm(None, kind, treatment)?.spread(measure)?.mean),
        Reference::Nothing => Some(0.0),
    };
    report.config.shortcuts.iter().filter_map(|&shortcut| Some((shortcut, at(shortcut)?))).collect()
}
