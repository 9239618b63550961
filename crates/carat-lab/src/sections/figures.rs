//! Any figures of a store's runs, by setting.

use std::collections::{BTreeMap, BTreeSet};

use carat::metrics::Figure;
use carat_report::statistics::Spread;
use carat_report::{Block, Cell, Section, Table, format};

use crate::compare::Measure;
use crate::sweep::{Run, described};

/// The runs that differ only in seed and split, by dataset and by what their settings differ in from the defaults.
fn by_setting(runs: &[Run]) -> BTreeMap<(&str, String), Vec<&Run>> {
    let mut settings: BTreeMap<(&str, String), Vec<&Run>> = BTreeMap::new();
    for run in runs {
        let config = run.config.clone().data(String::new()).seed(0).split(0);
        settings.entry((&run.config.data.name, described(&config))).or_default().push(run);
    }
    settings
}

/// A row per setting with the mean and the deviation of each figure over seeds and splits. On every dataset the best
/// setting by the first figure is on top.
pub fn figures(runs: &[Run], figures: &[Figure]) -> Section {
    let measures: Vec<Measure> = figures.iter().copied().map(Measure::Figure).collect();
    let names: BTreeSet<&str> = runs.iter().map(|run| run.config.data.name.as_str()).collect();
    let spread = |runs: &[&Run], measure: Measure| {
        Spread::of(&runs.iter().filter_map(|run| measure.of(&run.outcome)).collect::<Vec<_>>())
    };
    // Lower is better in every rank.
    let rank = |runs: &[&Run]| {
        let first = measures.first().and_then(|&measure| Some((measure, spread(runs, measure)?.mean)));
        first.map_or(f64::INFINITY, |(measure, mean)| if measure.lower_is_better() { mean } else { -mean })
    };
    let mut settings: Vec<_> = by_setting(runs).into_iter().collect();
    settings.sort_by(|(a, runs_a), (b, runs_b)| a.0.cmp(b.0).then(rank(runs_a).total_cmp(&rank(runs_b))));
    let row = |((data, setting), runs): ((&str, String), Vec<&Run>)| {
        let setting = if setting.is_empty() { "the defaults".to_string() } else { setting };
        let names = [Cell::text(format::data_name(data, &names)), Cell::text(setting), format::count_cell(runs.len())];
        let figures = measures.iter().map(|&measure| format::spread_cell(spread(&runs, measure), 4));
        names.into_iter().chain(figures).collect()
    };
    let headings = std::iter::once("runs").chain(measures.iter().map(|measure| measure.name()));
    let caption = "Mean and deviation over seeds and splits, by the settings that differ from the defaults; the best \
                   by the first figure on top";
    let table = Table::new("figures", caption, ["data", "setting"], headings, settings.into_iter().map(row));
    let points = measures.iter().map(|measure| {
        format!("{}: {}. {} is better.", measure.name(), measure.meaning(), format::capitalised(measure.better()))
    });
    Section::new("figures", "Figures by setting", vec![Block::Table(table), Block::Points(points.collect())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made_up::baseline;
    use carat::metrics::{Metric, Subset};

    #[test]
    fn the_best_setting_is_on_top_and_missing_figures_are_shown_as_such() {
        let mut runs = vec![baseline("a", 10, 2.0), baseline("a", 10, 3.0), baseline("a", 25, 1.0)];
        runs[1].config.seed = 1;
        runs[2].outcome.figures.test.roc_auc = Some(0.75);
        let of = |metric| Figure::Of(Subset::Test, metric);
        let section = figures(&runs, &[of(Metric::Loss), of(Metric::RocAuc)]);
        let rows = &section.tables().next().unwrap().rows;
        let texts = |row: &[Cell]| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&rows[0]), ["a", "hidden 25", "1", "1.0000", "0.7500"]);
        assert_eq!(texts(&rows[1]), ["a", "hidden 10", "2", "2.5000 ± 0.7071", "-"]);
        let by_accuracy = figures(&runs, &[of(Metric::Accuracy)]);
        assert_eq!(by_accuracy.tables().next().unwrap().rows[0][1].text, "hidden 25");
    }
}
