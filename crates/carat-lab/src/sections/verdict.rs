//! Does CAR help on a graph, at which strength, and how certain is the answer?
//!
//! The answer is about one variant of CAR: the paper's, if it has runs. Its strength is chosen on validation nodes, and
//! every figure is over the settings that the choice was made on.

mod choice;
mod sentence;

use std::collections::BTreeSet;

use carat::Protocol;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::five_numbers;
use carat_report::{Block, Cell, Section, Table, format};

use self::choice::{Candidate, Choice, variant, variants};
use self::sentence::sentence;
use crate::compare::{Comparison, Measure};
use crate::sweep::Run;

/// Protocol best comes first, because it is what practitioners use.
const PROTOCOLS: [Protocol; 2] = [Protocol::Best, Protocol::Paper];
const MEASURES: [Measure; 3] = [Measure::TEST_LOSS, Measure::TEST_ACCURACY, Measure::ATTENTION_AUC];

/// One section per dataset, in the order of names.
pub fn verdict(runs: &[Run]) -> Vec<Section> {
    let names = names(runs);
    names.iter().enumerate().map(|(number, data)| section(number, data, &names, runs)).collect()
}

/// The answer for one dataset in sentences, one per protocol that has runs.
pub fn sentences(runs: &[Run], data: &str) -> Vec<String> {
    let name = format::data_name(data, &names(runs));
    let runs: Vec<&Run> = runs.iter().filter(|run| run.config.data.name == data).collect();
    choices(&runs).iter().map(|choice| sentence(choice, &name)).collect()
}

fn names(runs: &[Run]) -> BTreeSet<&str> {
    runs.iter().map(|run| run.config.data.name.as_str()).collect()
}

fn choices<'a>(runs: &[&'a Run]) -> Vec<Choice<'a>> {
    let variants = variants(runs);
    let Some(method) = variant(runs, &variants) else { return Vec::new() };
    PROTOCOLS.into_iter().filter_map(|protocol| Choice::of(runs, protocol, &variants, &method)).collect()
}

fn section(number: usize, data: &str, names: &BTreeSet<&str>, runs: &[Run]) -> Section {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.config.data.name == data).collect();
    let data = &format::data_name(data, names);
    let choices = choices(&runs);
    let mut blocks: Vec<Block> = choices.iter().map(|choice| Block::Paragraph(sentence(choice, data))).collect();
    if choices.is_empty() {
        let runs = format::counted(runs.len(), "run");
        blocks.push(Block::Paragraph(format!(
            "On {data} there is nothing to compare yet: among {runs}, no causally regularised one has the baseline of \
             its setting (lambda 0)."
        )));
    } else {
        blocks.push(Block::Table(figures(number, data, &choices)));
        blocks.push(Block::Table(strengths(number, data, &choices)));
        blocks.extend(chart(&choices).map(Block::Chart));
        blocks.extend(others(number, data, &choices).map(Block::Table));
        blocks.push(Block::Paragraph(notes(&runs)));
    }
    let slug: String = data.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Section { id: format!("verdict-{number}-{slug}"), title: format!("Does CAR help on {data}?"), blocks }
}

fn notes(runs: &[&Run]) -> String {
    let mut text = format!(
        "lambda is the one with the lowest mean validation loss over the settings that all strengths share, so test \
         nodes had no part in the choice. Pairs are runs of the same setting, intervals are 95 % bootstrap intervals \
         of the mean change, and percents are the mean change in percent of the baseline's mean over the same pairs; \
         an interval that goes beyond 100 % says that a few pairs with large losses decide the mean. {}. The constant \
         control replaces every effect by 0.5: what it gains is smoothing of attention. attention_auc is the \
         probability that attention ranks a same-label in-edge above another; smoothing alone has no reason to raise \
         it.",
        format::P_MEANING
    );
    if Measure::ATTENTION_AUC.is_coarse(runs) {
        text.push_str(
            " It is too coarse here to tell anything: over all runs it takes fewer than five values, so it rests on \
             very few nodes.",
        );
    }
    text
}

/// The chosen strength against the baseline and against the control, in every measure.
fn figures(number: usize, data: &str, choices: &[Choice<'_>]) -> Table {
    let row = |choice: &Choice<'_>, measure: Measure| {
        let candidate = choice.candidate()?;
        let comparison = candidate.comparison(measure)?;
        let control = choice.against_control(measure);
        Some(vec![
            Cell::text(measure.name()),
            Cell::text(choice.protocol.name()),
            Cell::text(candidate.label()),
            format::count_cell(comparison.pairs),
            format::number_cell(Some(comparison.before.mean), 3),
            format::number_cell(control.as_ref().map(|control| control.before.mean), 3),
            format::number_cell(Some(comparison.after.mean), 3),
            format::effect_cell(comparison.change(), 3),
            format::probability_cell(comparison.p_better),
            format::probability_cell(control.and_then(|control| control.p_better)),
        ])
    };
    let rows = MEASURES.into_iter().flat_map(|measure| choices.iter().filter_map(move |choice| row(choice, measure)));
    let headings = [
        "pairs",
        "baseline",
        "constant control",
        "CAR",
        "CAR - baseline (95 % interval)",
        "p against baseline",
        "p against control",
    ];
    let caption = format!("{data}: CAR at the strength that validation chose. {}", format::P_MEANING);
    Table::new(format!("verdict-{number}"), caption, ["measure", "protocol", "chosen"], headings, rows)
}

/// The baseline, then every strength that could be chosen. All means are over the same settings.
fn strengths(number: usize, data: &str, choices: &[Choice<'_>]) -> Table {
    let baseline = |choice: &Choice<'_>| {
        let candidate = choice.candidate();
        let loss = candidate.and_then(|candidate| candidate.comparison(Measure::TEST_LOSS));
        vec![
            Cell::text("0 (no regulariser)"),
            Cell::text(choice.protocol.name()),
            format::count_cell(candidate.map_or(0, |candidate| candidate.pairs.len())),
            format::number_cell(choice.baseline_validation(), 4),
            format::number_cell(loss.map(|loss| loss.before.mean), 4),
            Cell::text(format::UNDEFINED),
            Cell::text(format::UNDEFINED),
        ]
    };
    let row = |choice: &Choice<'_>, place: usize, candidate: &Candidate<'_>| {
        let loss = candidate.comparison(Measure::TEST_LOSS);
        let is_chosen = place == choice.chosen;
        vec![
            Cell::text(candidate.lambda.clone()).strong_if(is_chosen),
            Cell::text(choice.protocol.name()),
            format::count_cell(candidate.pairs.len()),
            format::number_cell(candidate.validation(), 4).strong_if(is_chosen),
            format::number_cell(loss.as_ref().map(|loss| loss.after.mean), 4),
            format::percent_cell(loss.as_ref().and_then(Comparison::percent).map(|effect| effect.mean)),
            format::probability_cell(loss.and_then(|loss| loss.p_better)),
        ]
    };
    let rows = choices.iter().flat_map(|choice| {
        let strengths = choice.candidates.iter().enumerate();
        std::iter::once(baseline(choice)).chain(strengths.map(move |(place, candidate)| row(choice, place, candidate)))
    });

    let caption = format!("{data}: every strength on the same settings; the one that validation chose stands out");
    Table::new(
        format!("verdict-{number}-lambda"),
        caption,
        ["lambda", "protocol"],
        ["settings", "mean validation loss", "mean test loss", "change of test loss", "p (test loss)"],
        rows,
    )
}

/// The candidates that took no part in the choice; `None` where there are none.
fn others(number: usize, data: &str, choices: &[Choice<'_>]) -> Option<Table> {
    let row = |choice: &Choice<'_>, other: &Candidate<'_>| {
        let loss = other.comparison(Measure::TEST_LOSS);
        let variant = match other.method.label() {
            label if label.is_empty() => "the paper's, on fewer settings".into(),
            label => label,
        };
        vec![
            Cell::text(variant),
            Cell::text(choice.protocol.name()),
            Cell::text(other.lambda.clone()),
            format::count_cell(other.pairs.len()),
            format::percent_cell(loss.as_ref().and_then(Comparison::percent).map(|effect| effect.mean)),
            format::probability_cell(loss.and_then(|loss| loss.p_better)),
        ]
    };
    let rows: Vec<Vec<Cell>> =
        choices.iter().flat_map(|choice| choice.others.iter().map(move |other| row(choice, other))).collect();

    let caption = format!(
        "{data}: other variants at hand, each against its own baselines. They took no part in the choice; their \
         settings differ, so their changes do not compare with those above"
    );
    (!rows.is_empty()).then(|| {
        Table::new(
            format!("verdict-{number}-variants"),
            caption,
            ["variant", "protocol", "lambda"],
            ["pairs", "change of test loss", "p"],
            rows,
        )
    })
}

/// A panel per protocol that has several strengths; `None` where no protocol has.
fn chart(choices: &[Choice<'_>]) -> Option<Chart> {
    let panel = |choice: &Choice<'_>| {
        let mut marks = vec![Mark::Level(0.0, String::new())];
        for (at, candidate) in choice.candidates.iter().enumerate() {
            let percents = candidate.comparison(Measure::TEST_LOSS).map(|loss| loss.percents).unwrap_or_default();
            let Some(values) = five_numbers(&percents) else { continue };
            let pairs = format::counted(percents.len(), "pair");
            let tip = format!("{}: median {} %, {pairs}", candidate.label(), format::signed(values[2], 1));
            marks.push(Mark::Box { at: at as f64, values, series: usize::from(at == choice.chosen), tip });
        }
        ChartPanel {
            title: format!("protocol {}", choice.protocol),
            note: String::new(),
            x: Axis {
                label: "lambda".into(),
                categories: choice.candidates.iter().map(|candidate| candidate.lambda.clone()).collect(),
                ..Axis::default()
            },
            y: Axis::new("change of test loss, % of the pair's"),
            marks,
        }
    };
    // A panel needs the level at 0 and two boxes. With fewer there is nothing to compare.
    let panels: Vec<ChartPanel> = choices.iter().map(panel).filter(|panel| panel.marks.len() > 2).collect();
    (!panels.is_empty()).then(|| Chart {
        title: "Change of the test loss by strength".into(),
        caption:
            "Every pair's change in percent of its own baseline. Boxes span the quartiles, whiskers the extremes; \
                  below 0 CAR is better."
                .into(),
        series: vec!["other strengths".into(), "chosen by validation".into()],
        panels,
    })
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
