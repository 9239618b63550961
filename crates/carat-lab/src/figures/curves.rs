//! Learning curves: validation loss by epoch. The loss has a logarithmic axis: some networks overfit to several times
//! their lowest loss, and the lowest losses are what counts.

use super::scale::{extent, log_ticks};
use super::svg::Panel;
use super::{Figure, series, treatments};
use crate::demo::DemoReport;

/// Validation loss of every run, one panel per attention kind.
pub fn curves(report: &DemoReport) -> Figure {
    let points = || report.arms.iter().flat_map(|arm| &arm.runs).flat_map(|run| &run.curve);
    let range = extent(points().map(|point| point.val_loss.log10()), 0.04);
    let epochs = points().map(|point| point.epoch).max().unwrap_or(1) as f64;
    let panels = report.config.kinds.iter().map(|&kind| {
        let mut panel = Panel::new(kind.name(), (1.0, epochs), range, "validation loss, log scale");
        panel.y_axis(&log_ticks(range));
        for arm in report.arms_of(kind) {
            let (class, name) = (series(arm.treatment), arm.treatment.label());
            for run in &arm.runs {
                let tip = format!("{kind}, {name}, seed {}", run.seed);
                panel.line(&class, run.curve.iter().map(|point| (point.epoch as f64, point.val_loss.log10())), &tip);
                if let Some(kept) = run.curve.iter().find(|point| point.epoch == run.best_epoch) {
                    let tip = format!("{tip}: lowest, {:.3} in epoch {}", kept.val_loss, kept.epoch);
                    panel.dot(&class, (kept.epoch as f64, kept.val_loss.log10()), 3.0, &tip);
                }
            }
        }
        let ticks = panel.x.ticks(4);
        panel.x_axis(&ticks, "epoch");
        panel.finish("validation loss by epoch for every run")
    });
    Figure {
        title: "Learning curves".into(),
        caption: "A line is a run. The dot is its lowest validation loss: training stops some epochs later and keeps \
                  that epoch's weights."
            .into(),
        legend: treatments(report),
        panels: panels.collect(),
    }
}
