//! The results of `carat tune` as text.

use std::fmt::Write as _;

use carat::metrics::Metric;
use carat_graph::printable;
use carat_lab::tune::{Candidate, Comparison, Origin, Stage};
use carat_report::format::{counted, effect_cell};
use carat_report::statistics::Spread;

use super::printed::{Printed, Row};
use crate::output::{WIDTH, hanging, table, wrap};

/// Candidates that are shown; the base is shown in any case.
const SHOWN: usize = 10;

/// Decimals of figures.
const DECIMALS: usize = 4;

/// What progress says of a stage.
pub fn stage(stage: Stage) -> String {
    let Stage { candidates, repetitions } = stage;
    format!("{} with {}", counted(candidates, "candidate"), counted(repetitions, "repetition"))
}

/// The first line of the file of settings.
pub fn comment(data: &str, candidates: &[Candidate], metric: Metric) -> String {
    let (tried, data, figure) = (counted(candidates.len(), "candidate"), printable(data), metric.title());
    let best = candidates.first().and_then(|best| best.spread(metric));
    let best = best.map_or(String::new(), |best| best.text(DECIMALS));
    format!("# The best of {tried} by 'carat tune' on {data}: validation {figure} {best}.")
}

/// Everything.
pub fn of(printed: &Printed<'_>) -> String {
    let mut text = leaderboard(printed);
    if let Some(test) = &printed.test {
        text.push('\n');
        text.push_str(&compared(test, printed));
    }
    let _ = write!(
        text,
        "\nbest settings: {}; every run: {}\ncarat train --data {} --config {}\n",
        printed.out, printed.store, printed.data, printed.out
    );
    text
}

fn leaderboard(printed: &Printed<'_>) -> String {
    let Printed { candidates, base, figure, .. } = printed;
    let is_shown = |row: &&Row| row.rank <= SHOWN || row.origin == Origin::Base;
    let rows = candidates.iter().filter(is_shown).map(|row| {
        let spread = row.mean.map(|mean| Spread { mean, deviation: row.deviation }.text(DECIMALS));
        vec![row.rank.to_string(), spread.unwrap_or("failed".into()), row.repetitions.to_string(), String::new()]
    });
    let headings = [">rank", &format!(">validation {figure}"), ">runs", &format!("what differs from {base}")];
    let lines = table(&headings, &rows.collect::<Vec<_>>());
    let mut lines = lines.lines();
    let mut text = format!("{} tried\n{}\n", counted(candidates.len(), "candidate"), lines.next().unwrap_or_default());
    for (row, line) in candidates.iter().filter(is_shown).zip(lines) {
        let settings = match row.origin {
            Origin::Base => "nothing",
            _ => &row.settings,
        };
        text.push_str(&hanging(&format!("{line}  "), settings));
    }
    if candidates.len() > 1 && candidates[0].repetitions == 1 {
        text.push_str("Time was over before the best were repeated; more --minutes make the choice surer.\n");
    }
    text
}

fn compared(test: &Comparison, printed: &Printed<'_>) -> String {
    let Printed { base, repeated_by, candidates, .. } = printed;
    let is_base = candidates.first().is_some_and(|row| row.origin == Origin::Base);
    let what = if *repeated_by == "splits" { "splits, with a seed" } else { "seeds" };
    let mut caption = format!("Test figures, by {} {what} that the search did not use", test.runs);
    if is_base {
        let _ = write!(caption, ". Nothing was better than {base}");
    }
    let rows = test.figures.iter().map(|pair| {
        let spreads = [pair.base, pair.winner].map(|spread| spread.text(DECIMALS));
        let difference = effect_cell(pair.difference, DECIMALS).text;
        let [base, winner] = spreads;
        if is_base { vec![pair.figure.into(), base] } else { vec![pair.figure.into(), base, winner, difference] }
    });
    let base = format!(">{base}");
    let headings = ["", &base, ">best candidate", ">difference (95 % interval)"];
    let shown = if is_base { &headings[..2] } else { &headings[..] };
    format!("{}{}", wrap(&caption, WIDTH), table(shown, &rows.collect::<Vec<_>>()))
}
