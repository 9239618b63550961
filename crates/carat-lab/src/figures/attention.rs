//! Where attention lies: its distribution over useful and over spurious in-edges.

use super::Figure;
use super::svg::Panel;
use crate::demo::{AttentionHistogram, DemoReport};

/// Histograms of attention relative to uniform attention, one panel per arm whose graph has spurious edges.
pub fn attention(report: &DemoReport) -> Figure {
    let measured: Vec<_> = report.arms.iter().filter_map(|arm| arm.histogram.as_ref().map(|h| (arm, h))).collect();
    let (low, high) = (AttentionHistogram::LOWEST, AttentionHistogram::HIGHEST);
    let highest = measured.iter().flat_map(|(_, h)| [percent(&h.useful), percent(&h.spurious)]).flatten();
    let top = highest.fold(1.0, f64::max) * 1.1;
    let ticks = (low as i32..=high as i32).map(|power| (f64::from(power), multiple(power))).collect::<Vec<_>>();
    let panels = measured.iter().map(|(arm, histogram)| {
        let title = format!("{}, {}", arm.arch, arm.treatment.label());
        let mut panel = Panel::new(&title, (low, high), (0.0, top), "% of in-edges");
        panel.y_axis(&panel.y.ticks(4));
        let (useful, spurious) = (percent(&histogram.useful), percent(&histogram.spurious));
        let bounds: Vec<f64> = (0..=useful.len()).map(|bin| low + AttentionHistogram::STEP * bin as f64).collect();
        panel.area("useful", &bounds, &useful);
        panel.area("spurious", &bounds, &spurious);
        panel.rule(0.0, "uniform");
        for ((pair, useful), spurious) in bounds.windows(2).zip(&useful).zip(&spurious) {
            let (from, to) = (pair[0].exp2(), pair[1].exp2());
            let tip = format!(
                "{from:.2} to {to:.2} times uniform: {useful:.1} % of useful, {spurious:.1} % of spurious in-edges"
            );
            panel.hover((pair[0], pair[1]), &tip);
        }
        panel.x_axis(&ticks, "attention, as a multiple of uniform attention");
        let share = arm.spurious_attention.map_or(String::new(), |s| format!("{:.3} of attention", s.mean));
        panel.finish(&format!("attention on useful and on spurious in-edges; spurious edges get {share}"))
    });
    Figure {
        title: "Attention on useful and on spurious edges".into(),
        caption: "In-edges of test nodes by the attention they get in the last layer (mean over heads), all seeds \
                  together. An edge at 1 gets what uniform attention would give it. The further the two shapes stand \
                  apart, spurious edges to the left, the better attention tells them apart. The end bins also hold \
                  what lies beyond."
            .into(),
        legend: vec![("useful".into(), "useful edges".into()), ("spurious".into(), "spurious edges".into())],
        panels: panels.collect(),
    }
}

/// Counts as percent of their sum.
fn percent(counts: &[u64]) -> Vec<f64> {
    let total = counts.iter().sum::<u64>().max(1) as f64;
    counts.iter().map(|&count| 100.0 * count as f64 / total).collect()
}

/// A power of two as people write it.
fn multiple(power: i32) -> String {
    let size = 1u32 << power.unsigned_abs().min(31);
    if power < 0 { format!("1/{size}") } else { size.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_percent_and_powers_fractions() {
        assert_eq!(percent(&[1, 3]), [25.0, 75.0]);
        assert_eq!(percent(&[0, 0]), [0.0, 0.0]);
        assert_eq!([-3, -1, 0, 2].map(multiple), ["1/8", "1/2", "1", "4"]);
    }
}
