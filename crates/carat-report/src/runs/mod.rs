//! Run folders as a report: how good their predictions are, all in all and class by class.

mod charts;
mod sentences;
mod tables;

use std::collections::BTreeSet;

use carat::metrics::{Figure, Metric, Subset};
use carat::{Summary, TrainConfig};

use crate::{Block, Report, Section};

/// A run to report on.
#[derive(Debug, Clone)]
pub struct TrainedRun {
    /// Its folder.
    pub name: String,
    /// Its settings.
    pub config: TrainConfig,
    /// Its results.
    pub summary: Summary,
}

/// The report on some runs. The table of several runs has the chosen figures, or else those to read first.
pub fn report(runs: &[TrainedRun], figures: &[Figure]) -> Report {
    let mut sections = Vec::new();
    if runs.len() > 1 || !figures.is_empty() {
        let table = tables::runs(runs, &chosen(runs, figures));
        sections.push(Section::new("runs", "Runs", vec![Block::Table(table)]));
    }
    sections.extend(runs.iter().enumerate().flat_map(|(number, run)| sections_of(number, run, runs.len() > 1)));
    let title = match runs {
        [run] => format!("{} on {}", run.config.network_name(), data(run)),
        _ => format!("{} runs", runs.len()),
    };
    let lead = runs.iter().map(|run| Block::Paragraph(sentences::lead(run, runs.len() > 1))).collect();
    Report { title, lead, sections }
}

/// The figures that were asked for, or those that the runs lead with.
fn chosen(runs: &[TrainedRun], figures: &[Figure]) -> Vec<Figure> {
    if !figures.is_empty() {
        return figures.to_vec();
    }
    let first = runs.first().map(|run| run.summary.lead.order()).unwrap_or_default();
    let of_test = first.into_iter().map(|metric| Figure::Of(Subset::Test, metric));
    of_test.chain([Figure::Of(Subset::Validation, Metric::Loss)]).collect()
}

fn sections_of(number: usize, run: &TrainedRun, several: bool) -> Vec<Section> {
    let title = |title: &str| if several { format!("{}: {title}", run.name) } else { title.to_string() };
    let id = |part: &str| format!("run-{number}-{part}");
    let figures = vec![Block::Table(tables::figures(number, run)), Block::Paragraph(sentences::reading(run))];
    let mut sections = vec![Section::new(id("figures"), title("Figures"), figures)];
    let (subset, evaluation) = match (&run.summary.test, &run.summary.validation) {
        (Some(test), _) => (Subset::Test, test),
        (None, Some(validation)) => (Subset::Validation, validation),
        (None, None) => return sections,
    };
    let entities = entities(run, subset);
    let classes = vec![Block::Table(tables::classes(number, evaluation, &entities))];
    sections.push(Section::new(id("classes"), title("Classes"), classes));
    let matrix = vec![
        Block::Chart(charts::confusion(evaluation, &entities)),
        Block::Table(tables::confusion(number, evaluation, &entities)),
    ];
    sections.push(Section::new(id("confusion"), title("Confusion matrix"), matrix));
    if let Some(bins) = evaluation.reliability.as_deref().filter(|bins| !bins.is_empty()) {
        let blocks = vec![
            Block::Paragraph(sentences::calibration(evaluation, bins)),
            Block::Chart(charts::reliability(bins, &entities)),
        ];
        sections.push(Section::new(id("calibration"), title("Calibration"), blocks));
    }
    sections
}

/// `test nodes`, `validation graphs`.
fn entities(run: &TrainedRun, subset: Subset) -> String {
    format!("{} {}s", subset.name(), run.config.data.task.unwrap_or_default())
}

/// The data's name without its folders.
fn data(run: &TrainedRun) -> String {
    crate::format::data_name(&run.config.data.name, &BTreeSet::from([run.config.data.name.as_str()]))
}

#[cfg(test)]
mod tests;
