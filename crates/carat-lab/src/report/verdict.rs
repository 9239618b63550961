//! Does CAR help on a graph, at which strength, and how sure is that: a plain answer from whatever runs there are.

use std::collections::BTreeSet;

use carat::Protocol;

use super::{Block, Cell, Column, Section, Table};
use crate::compare::{Comparison, Measure, Method, Opponent, Pair, Pairing, words};
use crate::figures::{Axis, Chart, ChartPanel, Mark};
use crate::statistics::{PairedEffect, five_numbers};
use crate::sweep::Run;

/// What practitioners do first.
const PROTOCOLS: [Protocol; 2] = [Protocol::Best, Protocol::Paper];
const MEASURES: [Measure; 3] = [Measure::TestLoss, Measure::TestAccuracy, Measure::AttentionAuc];
/// Below this many pairs no one-tailed Wilcoxon test reaches p < 0.05.
const FEWEST_PAIRS: usize = 5;

/// One section per dataset, in the order of names.
pub fn verdict(runs: &[Run]) -> Vec<Section> {
    let names: BTreeSet<&str> = runs.iter().map(|run| run.config.data.as_str()).collect();
    names.into_iter().enumerate().map(|(number, data)| section(number, data, runs)).collect()
}

/// The answer for one dataset in sentences, one per protocol that has runs.
pub fn sentences(runs: &[Run], data: &str) -> Vec<String> {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.config.data == data).collect();
    let data = &words::data_name(data);
    choices(&runs).iter().map(|choice| choice.sentence(data)).collect()
}

fn choices<'a>(runs: &[&'a Run]) -> Vec<Choice<'a>> {
    PROTOCOLS.into_iter().filter_map(|protocol| Choice::of(runs, protocol)).collect()
}

fn section(number: usize, data: &str, runs: &[Run]) -> Section {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.config.data == data).collect();
    let data = &words::data_name(data);
    let choices = choices(&runs);
    let mut blocks: Vec<Block> = choices.iter().map(|choice| Block::Paragraph(choice.sentence(data))).collect();
    if choices.is_empty() {
        let runs = words::counted(runs.len(), "run");
        blocks.push(Block::Paragraph(format!(
            "On {data} there is nothing to compare yet: among {runs}, no causally regularised one has the baseline of its setting \
             (lambda 0)."
        )));
    } else {
        blocks.push(Block::Table(figures(number, data, &choices)));
        blocks.push(Block::Chart(chart(&choices)));
        blocks.push(Block::Table(candidates(number, data, &choices)));
        blocks.push(Block::Paragraph(
            "lambda is the one with the lowest mean validation loss over the settings, so test nodes had no part in the choice. \
             Changes and their 95 % bootstrap intervals are over pairs of runs with the same setting; p is that of a one-tailed \
             paired Wilcoxon signed-rank test. The constant control replaces every effect by 0.5: what it gains is smoothing of \
             attention. attention_auc is the probability that attention ranks a same-label in-edge above another; smoothing \
             cannot raise it."
                .into(),
        ));
    }
    let slug: String = data.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Section { id: format!("verdict-{number}-{slug}"), title: format!("Does CAR help on {data}?"), blocks }
}

/// A method at one strength, with its pairs under one protocol.
struct Candidate<'a> {
    method: Method,
    lambda: String,
    pairs: Vec<Pair<'a>>,
}

impl Candidate<'_> {
    fn comparison(&self, measure: Measure) -> Option<Comparison> {
        Comparison::of(&self.pairs.iter().collect::<Vec<_>>(), measure)
    }

    /// Mean change of the validation loss: the order of mean validation losses, where all have the same settings.
    fn validation_change(&self) -> f64 {
        let changes = self.comparison(Measure::ValidationLoss).map(|comparison| comparison.changes).unwrap_or_default();
        if changes.is_empty() { f64::INFINITY } else { changes.iter().sum::<f64>() / changes.len() as f64 }
    }

    /// `lambda 1`, with what else differs from the paper's method.
    fn label(&self) -> String {
        match self.method.label() {
            other if other.is_empty() => format!("lambda {}", self.lambda),
            other => format!("lambda {} ({other})", self.lambda),
        }
    }
}

/// What validation chose under one protocol, and everything it was chosen from.
struct Choice<'a> {
    protocol: Protocol,
    candidates: Vec<Candidate<'a>>,
    chosen: usize,
    /// The chosen method against its control at the same strength.
    against_control: Vec<Pair<'a>>,
    /// The control against the baseline.
    control: Vec<Pair<'a>>,
}

impl<'a> Choice<'a> {
    /// `None` where nothing pairs.
    fn of(runs: &[&'a Run], protocol: Protocol) -> Option<Self> {
        let runs: Vec<&'a Run> = runs.iter().copied().filter(|run| run.protocol() == protocol).collect();
        let mut methods: Vec<Method> = Vec::new();
        for method in runs.iter().filter_map(|run| Method::of(&run.config)).filter(Method::is_causal) {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods.sort_by_key(Method::label);
        let mut candidates: Vec<Candidate<'a>> = Vec::new();
        for method in methods {
            for pair in Pairing::of(&runs, &method, Opponent::Baseline).pairs {
                let lambda = pair.after.config.lambda.to_string();
                match candidates.iter_mut().find(|c| c.method == method && c.lambda == lambda) {
                    Some(candidate) => candidate.pairs.push(pair),
                    None => candidates.push(Candidate { method: method.clone(), lambda, pairs: vec![pair] }),
                }
            }
        }
        // One that ran on a few settings only must not win by them.
        let most = candidates.iter().map(|candidate| candidate.pairs.len()).max()?;
        candidates.retain(|candidate| 2 * candidate.pairs.len() >= most);
        let best = |(_, a): &(usize, &Candidate<'_>), (_, b): &(usize, &Candidate<'_>)| {
            a.validation_change().total_cmp(&b.validation_change())
        };
        let (chosen, candidate) = candidates.iter().enumerate().min_by(best)?;
        let control = candidate.method.control();
        let same_strength = |pairing: Pairing<'a>| {
            pairing.pairs.into_iter().filter(|p| p.after.config.lambda.to_string() == candidate.lambda).collect()
        };
        let against_control = same_strength(Pairing::of(&runs, &candidate.method, Opponent::Method(&control)));
        let control = same_strength(Pairing::of(&runs, &control, Opponent::Baseline));
        Some(Self { protocol, chosen, against_control, control, candidates })
    }

    fn candidate(&self) -> Option<&Candidate<'a>> {
        self.candidates.get(self.chosen)
    }

    fn against_control(&self, measure: Measure) -> Option<Comparison> {
        Comparison::of(&self.against_control.iter().collect::<Vec<_>>(), measure)
    }

    fn control(&self, measure: Measure) -> Option<Comparison> {
        Comparison::of(&self.control.iter().collect::<Vec<_>>(), measure)
    }

    fn sentence(&self, data: &str) -> String {
        let protocol = self.protocol;
        let Some((candidate, loss)) = self.candidate().and_then(|c| Some((c, c.comparison(Measure::TestLoss)?))) else {
            return format!("On {data}, no pair of runs under protocol {protocol} has a test loss to compare.");
        };
        let (label, effect) = (candidate.label(), effect_words(&loss));
        let mut text = format!("On {data}, CAR {effect} at {label} under protocol {protocol}");
        if loss.pairs < FEWEST_PAIRS {
            let pairs = words::counted(loss.pairs, "pair");
            let is = if loss.pairs == 1 { "is" } else { "are" };
            text.push_str(&format!("; {pairs} {is} too few to be sure of anything: sweep more settings or seeds."));
            return text;
        }
        text.push_str(&self.control_words(&loss));
        text
    }

    /// Whether the effect is causal or smoothing.
    fn control_words(&self, loss: &Comparison) -> String {
        let Some(against) = self.against_control(Measure::TestLoss) else {
            return "; without runs of the constant control it is not known whether this is causal signal or smoothing.".into();
        };
        let p = |p: Option<f64>| p.map_or(words::UNDEFINED.to_string(), words::probability);
        let control_helps = self.control(Measure::TestLoss).is_some_and(|control| control.is_better());
        let (better, worse) = (p(against.p_better), p(against.p_worse));
        match (loss.is_better(), against.is_better(), against.is_worse(), control_helps) {
            (true, true, ..) => {
                format!("; it beats a constant target (p {better}), so this is more than smoothing of attention.")
            }
            (true, false, true, _) => {
                format!("; a constant target does better still (p {worse}), so this is smoothing, not causal signal.")
            }
            (true, false, false, true) => {
                "; a constant target does the same, so this is smoothing, not causal signal.".into()
            }
            (true, false, false, false) => {
                format!(
                    "; it is not clearly better than a constant target (p {better}), so smoothing may be all of it."
                )
            }
            (false, _, _, true) => {
                "; a constant target does lower it: smoothing helps here, causal effects do not.".into()
            }
            (false, ..) => ", and neither does a constant target lower it.".into(),
        }
    }
}

/// `lowers the test loss by 4.2 % (95 % interval 2.1 to 6.3, p 3e-4, 36 pairs)`.
fn effect_words(loss: &Comparison) -> String {
    let pairs = words::counted(loss.pairs, "pair");
    let p = if loss.is_worse() { loss.p_worse } else { loss.p_better };
    let p = p.map_or(words::UNDEFINED.to_string(), words::probability);
    let Some(PairedEffect { mean, interval: (low, high), .. }) = loss.percent() else {
        return format!("has a test loss that cannot be compared in percent (p {p}, {pairs})");
    };
    let signed = format!("{mean:+.1} %, 95 % interval {low:+.1} to {high:+.1}, p {p}, {pairs}");
    match (loss.is_better(), loss.is_worse()) {
        (true, _) if mean < 0.0 => {
            format!(
                "lowers the test loss by {:.1} % (95 % interval {:.1} to {:.1}, p {p}, {pairs})",
                -mean, -high, -low
            )
        }
        (true, _) => format!("lowers the test loss in most pairs, but not on average ({signed})"),
        (_, true) if mean > 0.0 => {
            format!("raises the test loss by {mean:.1} % (95 % interval {low:.1} to {high:.1}, p {p}, {pairs})")
        }
        (_, true) => format!("raises the test loss in most pairs, but not on average ({signed})"),
        _ => format!("does not clearly change the test loss ({signed})"),
    }
}

/// The chosen strength in every measure, against the baseline and against the control.
fn figures(number: usize, data: &str, choices: &[Choice<'_>]) -> Table {
    let row = |choice: &Choice<'_>, measure: Measure| {
        let candidate = choice.candidate()?;
        let comparison = candidate.comparison(measure)?;
        let control = choice.against_control(measure);
        Some(vec![
            Cell::words(measure.name()),
            Cell::words(choice.protocol.name()),
            Cell::words(candidate.label()),
            words::count_cell(comparison.pairs),
            words::number_cell(Some(comparison.before.mean), 3),
            words::number_cell(control.as_ref().map(|control| control.before.mean), 3),
            words::number_cell(Some(comparison.after.mean), 3),
            words::effect_cell(comparison.change(), 3),
            words::probability_cell(comparison.p_better),
            words::probability_cell(control.and_then(|control| control.p_better)),
        ])
    };
    let rows = MEASURES.into_iter().flat_map(|measure| choices.iter().filter_map(move |choice| row(choice, measure)));
    let mut columns = vec![Column::words("measure"), Column::words("protocol"), Column::words("chosen")];
    let headings = [
        "pairs",
        "baseline",
        "constant control",
        "CAR",
        "CAR - baseline (95 % interval)",
        "p against baseline",
        "p against control",
    ];
    columns.extend(headings.map(Column::numbers));
    let caption = format!("{data}: CAR at the strength that validation chose. p is that CAR is better.");
    Table { name: format!("verdict-{number}"), caption, columns, rows: rows.collect() }
}

/// Every strength that there was to choose from.
fn candidates(number: usize, data: &str, choices: &[Choice<'_>]) -> Table {
    let row = |choice: &Choice<'_>, place: usize, candidate: &Candidate<'_>| {
        let validation = candidate.comparison(Measure::ValidationLoss);
        let loss = candidate.comparison(Measure::TestLoss);
        let mean = words::number_cell(validation.map(|validation| validation.after.mean), 3);
        vec![
            Cell::words(candidate.label()).strong_if(place == choice.chosen),
            Cell::words(choice.protocol.name()),
            words::count_cell(candidate.pairs.len()),
            mean.strong_if(place == choice.chosen),
            words::percent_cell(loss.as_ref().and_then(Comparison::mean_percent)),
            words::probability_cell(loss.and_then(|loss| loss.p_better)),
        ]
    };
    let rows = choices.iter().flat_map(|choice| {
        choice.candidates.iter().enumerate().map(move |(place, candidate)| row(choice, place, candidate))
    });
    let mut columns = vec![Column::words("strength"), Column::words("protocol")];
    columns.extend(["pairs", "mean validation loss", "change of test loss", "p that it is lower"].map(Column::numbers));
    let caption = format!("{data}: every strength; the one that validation chose stands out");
    Table { name: format!("verdict-{number}-lambda"), caption, columns, rows: rows.collect() }
}

fn chart(choices: &[Choice<'_>]) -> Chart {
    let panel = |choice: &Choice<'_>| {
        let mut marks = vec![Mark::Level(0.0, String::new())];
        for (at, candidate) in choice.candidates.iter().enumerate() {
            let percents = candidate.comparison(Measure::TestLoss).map(|loss| loss.percents).unwrap_or_default();
            let Some(values) = five_numbers(&percents) else { continue };
            let tip = format!("{}: median {:+.1} %, {} pairs", candidate.label(), values[2], percents.len());
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
            y: Axis { label: "change of test loss, %".into(), ..Axis::default() },
            marks,
        }
    };
    Chart {
        title: "Change of the test loss by strength".into(),
        caption: "Boxes span the quartiles of all pairs, whiskers their extremes; below 0 CAR is better.".into(),
        series: vec!["other strengths".into(), "chosen by validation".into()],
        panels: choices.iter().map(panel).collect(),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
