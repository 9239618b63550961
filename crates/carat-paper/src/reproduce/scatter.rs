//! Scatter charts of paired runs: baseline across, CAR up, one panel per dataset.

use std::collections::BTreeMap;

use carat::Protocol;
use carat_lab::compare::{Comparison, Measure, Pair, Pairing};
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::format;
use carat_report::statistics::Spread;

use super::paper;

/// The distance between the outermost dots and the frame, as a share of the range.
const MARGIN: f64 = 0.05;

/// One panel per dataset that has pairs. If `negate` is true, losses are drawn negated, so that up is better.
pub(super) fn chart(
    pairing: &Pairing<'_>,
    datasets: &[String],
    protocol: Protocol,
    measure: Measure,
    negate: bool,
) -> Chart {
    let sign = if negate { -1.0 } else { 1.0 };
    let name = if negate { format!("negative {}", measure.name()) } else { measure.name().to_string() };
    let panels = datasets.iter().filter_map(|data| panel(data, &pairing.on(data, protocol), measure, (&name, sign)));
    let side = match measure.lower_is_better() && !negate {
        true => "below",
        false => "above",
    };
    Chart {
        title: format!("{}, protocol {protocol}", format::capitalised(&name)),
        caption: format!(
            "A dot is one configuration, its mean over splits and seeds: without CAR across, with CAR up. Dots {side} \
             the dashed line are better with CAR. The larger the dot, the larger lambda. p is over all pairs of runs."
        ),
        series: paper::KINDS.map(|kind| kind.name().to_string()).to_vec(),
        panels: panels.collect(),
    }
}

fn panel(data: &str, pairs: &[&Pair<'_>], measure: Measure, (name, sign): (&str, f64)) -> Option<ChartPanel> {
    let comparison = Comparison::of(pairs, measure)?;
    let mut configurations: BTreeMap<String, Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        configurations.entry(pair.configuration()).or_default().push(pair);
    }
    let mut marks = vec![Mark::Diagonal];
    let mut seen: Option<(f64, f64)> = None;
    for (configuration, pairs) in &configurations {
        let mean = |of: &dyn Fn(&Pair<'_>) -> Option<f64>| {
            Spread::of(&pairs.iter().filter_map(|pair| of(pair)).collect::<Vec<_>>()).map(|spread| spread.mean)
        };
        let before = mean(&|pair| measure.of(&pair.before.outcome));
        let after = mean(&|pair| measure.of(&pair.after.outcome));
        let (Some(before), Some(after), Some(first)) = (before, after, pairs.first()) else { continue };
        let runs = if pairs.len() == 1 { String::new() } else { format!(" (mean of {} pairs)", pairs.len()) };
        let at = (sign * before, sign * after);
        let (low, high) = (at.0.min(at.1), at.0.max(at.1));
        seen = Some(seen.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
        marks.push(Mark::Dot {
            at,
            series: paper::row(first.key.arch).unwrap_or_default(),
            radius: radius(first.strength()),
            tip: format!("{configuration}: {} {before:.3} without CAR, {after:.3} with{runs}", measure.name()),
        });
    }
    let (low, high) = seen?;
    let margin = (MARGIN * (high - low)).max(1e-3);
    let axis = |side: &str| Axis {
        label: format!("{name}, {side}"),
        range: Some((low - margin, high + margin)),
        ..Axis::default()
    };
    Some(ChartPanel {
        title: paper::title(data),
        note: comparison.p_better.map_or(String::new(), |p| format!("p {}", format::probability(p))),
        x: axis("baseline"),
        y: axis("CAR"),
        marks,
    })
}

/// The radius of a dot: it grows with lambda, up to a limit.
fn radius(strength: Option<f64>) -> f64 {
    2.0 + 1.1 * strength.unwrap_or(1.0).sqrt().min(4.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_lab::compare::made_up::{baseline, regularised};
    use carat_lab::compare::{Method, Opponent};
    use carat_lab::sweep::Run;

    #[test]
    fn a_dot_per_configuration_and_a_panel_per_dataset() {
        let mut runs = Vec::new();
        for seed in 0..2 {
            let first = runs.len();
            runs.extend([
                baseline("cora", 10, 2.0 + seed as f64),
                regularised("cora", 10, 1.0, 1.0),
                regularised("cora", 10, 5.0, 0.5),
            ]);
            runs[first..].iter_mut().for_each(|run: &mut Run| run.config.seed = seed);
        }
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        let datasets = ["cora", "pubmed"].map(String::from);
        let chart = chart(&pairing, &datasets, Protocol::Best, Measure::TEST_LOSS, true);
        assert_eq!(chart.panels.len(), 1);
        let panel = &chart.panels[0];
        assert_eq!((panel.title.as_str(), panel.note.as_str()), ("Cora", "p 0.062"));
        let Some(Mark::Dot { at, radius: small, tip, .. }) = panel.marks.get(1) else { panic!("{:?}", panel.marks) };
        assert_eq!(*at, (-2.5, -1.0));
        assert_eq!(tip, "gat, L 2, K 3, F 10, lambda 1: test loss 2.500 without CAR, 1.000 with (mean of 2 pairs)");
        let Some(Mark::Dot { radius: large, .. }) = panel.marks.get(2) else { panic!("{:?}", panel.marks) };
        assert!(large > small);
        assert_eq!(panel.x.range, panel.y.range);
        assert!(panel.x.range.is_some_and(|(low, high)| low < -2.5 && high > -0.5));
    }
}
