//! The tables of a report on runs.

use carat::metrics::{Evaluation, Figure, Subset};

use super::TrainedRun;
use crate::format::{UNDEFINED, capitalised, count_cell, number_cell};
use crate::{Cell, Table};

/// A row per run, a column per figure.
pub(super) fn runs(runs: &[TrainedRun], figures: &[Figure]) -> Table {
    let row = |run: &TrainedRun| {
        let names = [Cell::text(&run.name), Cell::text(super::data(run)), Cell::text(run.config.network_name())];
        let figures = figures.iter().map(|figure| number_cell(run.summary.figures.get(*figure), 4));
        names.into_iter().chain(figures).collect()
    };
    let headings = figures.iter().map(|figure| figure.title());
    Table::new("runs", "Every run", ["run", "data", "network"], headings, runs.iter().map(row))
}

/// A row per figure, those to read first on top, and a column per part of the split.
pub(super) fn figures(number: usize, run: &TrainedRun) -> Table {
    let (figures, lead) = (&run.summary.figures, run.summary.lead);
    let row = |metric| {
        let values = Subset::ALL.map(|subset| number_cell(figures.of(subset).get(metric), 4));
        let better = if metric.lower_is_better() { "lower" } else { "higher" };
        let name = Cell::text(capitalised(metric.title())).strong_if(lead.first().contains(&metric));
        [name, Cell::text(better)].into_iter().chain(values).collect()
    };
    Table::new(
        format!("figures-{number}"),
        format!("Figures of {}; those to read first stand out", run.name),
        ["figure", "better"],
        Subset::ALL.map(Subset::name),
        lead.order().into_iter().map(row),
    )
}

/// A row per class.
pub(super) fn classes(number: usize, evaluation: &Evaluation, entities: &str) -> Table {
    let rows = evaluation.classes.iter().map(|class| {
        let figures = [class.precision, class.recall, class.f1, class.roc_auc, class.average_precision];
        let counts = [count_cell(class.support as usize), count_cell(class.predicted as usize)];
        let figures = figures.map(|figure| number_cell(figure, 3));
        std::iter::once(Cell::text(&class.class)).chain(counts).chain(figures).collect()
    });
    let headings = [entities, "predicted", "precision", "recall", "F1", "ROC AUC", "average precision"];
    let caption = format!(
        "Every class over the {entities}; ROC AUC and average precision are of its probability against the rest. \
         {UNDEFINED}: no meaning, because the class has no label or is never predicted"
    );
    Table::new(format!("classes-{number}"), caption, ["class"], headings, rows)
}

/// The counts of the confusion matrix.
pub(super) fn confusion(number: usize, evaluation: &Evaluation, entities: &str) -> Table {
    let rows = evaluation.classes.iter().zip(&evaluation.confusion).enumerate().map(|(label, (class, row))| {
        let counts = row
            .iter()
            .enumerate()
            .map(|(predicted, &count)| count_cell(count as usize).strong_if(predicted == label && count > 0));
        std::iter::once(Cell::text(&class.class)).chain(counts).collect()
    });
    let caption = format!("How many {entities} of each class (rows) are predicted as each class (columns)");
    let headings = evaluation.classes.iter().map(|class| class.class.clone());
    Table::new(format!("confusion-{number}"), caption, ["class"], headings, rows)
}
