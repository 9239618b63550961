//! Figures of predictions, as text for a terminal.

use carat::metrics::{Evaluation, Figures, Lead};

use crate::output;

/// A figure with four decimals.
pub fn text(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.4}"))
}

/// A row per set of entities that has figures, and a column per figure, those to read first on the left.
pub fn table(lead: Lead, subsets: &[(&str, &Figures)]) -> String {
    let metrics = lead.order();
    let headings: Vec<String> = metrics.iter().map(|metric| format!(">{}", metric.title())).collect();
    let headings: Vec<&str> = std::iter::once("").chain(headings.iter().map(String::as_str)).collect();
    let rows = subsets.iter().map(|(name, figures)| {
        let figures = metrics.iter().map(|metric| text(figures.get(*metric)));
        std::iter::once(name.to_string()).chain(figures).collect()
    });
    output::table(&headings, &rows.collect::<Vec<Vec<String>>>())
}

/// Of two classes, how well the positive one is found; nothing for more.
pub fn positive_class(evaluation: &Evaluation) -> String {
    let Some(class) = evaluation.positive_class() else { return String::new() };
    format!(
        "class {} ({} of {}): precision {}, recall {}, F1 {}\n",
        class.class,
        output::thousands(class.support),
        output::thousands(evaluation.entities),
        text(class.precision),
        text(class.recall),
        text(class.f1)
    )
}
