//! The verdict in one sentence: how CAR changes the test loss, how certain that is, and whether the cause is causal
//! signal.

use carat_report::format;
use carat_report::statistics::PairedEffect;

use super::choice::Choice;
use crate::compare::{Comparison, Measure};

/// Below this many pairs no one-tailed Wilcoxon test reaches p < 0.05.
const FEWEST_PAIRS: usize = 5;

/// The direction of a change of the test loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Lowers,
    Raises,
    Unclear,
}

impl Direction {
    /// The test and the interval must agree: a test by ranks can be significant where the mean is uncertain.
    fn of(loss: &Comparison) -> Self {
        match loss.change() {
            Some(PairedEffect { interval: (_, high), .. }) if high < 0.0 && loss.is_better() => Self::Lowers,
            Some(PairedEffect { interval: (low, _), .. }) if low > 0.0 && loss.is_worse() => Self::Raises,
            _ => Self::Unclear,
        }
    }
}

/// The answer on one dataset under one protocol.
pub(super) fn sentence(choice: &Choice<'_>, data: &str) -> String {
    let protocol = choice.protocol;
    let Some((candidate, loss)) = choice.candidate().and_then(|c| Some((c, c.comparison(Measure::TEST_LOSS)?))) else {
        return format!("On {data}, no pair of runs under protocol {protocol} has a test loss to compare.");
    };
    let (label, effect) = (candidate.label(), describe_effect(&loss));
    let mut text = format!("On {data}, CAR {effect} at {label} under protocol {protocol}");
    if loss.pairs < FEWEST_PAIRS {
        let pairs = format::counted(loss.pairs, "pair");
        let is = if loss.pairs == 1 { "is" } else { "are" };
        text.push_str(&format!("; {pairs} {is} too few to be sure of anything: sweep more settings or seeds."));
    } else {
        text.push_str(&describe_control(choice, Direction::of(&loss)));
    }
    text.push_str(&describe_validation(choice));
    text
}

/// `lowers the test loss by 4.2 % (95 % interval 2.1 % to 6.3 %, p 3e-4, 36 pairs)`.
fn describe_effect(loss: &Comparison) -> String {
    let pairs = format::counted(loss.pairs, "pair");
    let better = p_text(loss.p_better);
    let Some(PairedEffect { mean, interval: (low, high), .. }) = loss.percent() else {
        return format!("has a test loss that cannot be compared in percent (p {better}, {pairs})");
    };
    match Direction::of(loss) {
        Direction::Lowers => format!(
            "lowers the test loss by {:.1} % (95 % interval {:.1} % to {:.1} %, p {better}, {pairs})",
            -mean, -high, -low
        ),
        Direction::Raises => format!(
            "raises the test loss by {mean:.1} % (95 % interval {low:.1} % to {high:.1} %, p of harm {}, {pairs})",
            p_text(loss.p_worse)
        ),
        Direction::Unclear => {
            let [mean, low, high] = [mean, low, high].map(|value| format::signed(value, 1));
            let interval = if loss.pairs > 1 { format!("95 % interval {low} % to {high} %, ") } else { String::new() };
            format!("does not clearly change the test loss ({mean} %, {interval}p {better}, {pairs})")
        }
    }
}

fn p_text(p: Option<f64>) -> String {
    p.map_or(format::UNDEFINED.to_string(), format::probability)
}

/// Whether the effect is causal signal or smoothing.
fn describe_control(choice: &Choice<'_>, car: Direction) -> String {
    let both = choice.against_control(Measure::TEST_LOSS).zip(choice.control(Measure::TEST_LOSS));
    let Some((against, control)) = both else {
        return match car {
            Direction::Lowers => {
                "; without runs of the constant control at this strength it is not known whether this is causal signal \
                 or smoothing."
            }
            Direction::Raises | Direction::Unclear => "; there are no runs of the constant control at this strength.",
        }
        .into();
    };
    if against.pairs.min(control.pairs) < FEWEST_PAIRS {
        return "; the constant control has too few runs at this strength to tell causal signal from smoothing.".into();
    }
    let (better, worse) = (p_text(against.p_better), p_text(against.p_worse));
    match (car, Direction::of(&against), Direction::of(&control)) {
        (Direction::Lowers, Direction::Lowers, _) => {
            format!("; it beats a constant target (p {better}), so this is more than smoothing of attention.")
        }
        (Direction::Lowers, Direction::Raises, _) => {
            format!("; a constant target does better still (p {worse}), so smoothing explains it.")
        }
        (Direction::Lowers, Direction::Unclear, Direction::Lowers) => format!(
            "; a constant target lowers it, too, and CAR is not clearly better than that (p {better}), so smoothing \
             may be all of it."
        ),
        (Direction::Lowers, Direction::Unclear, _) => {
            format!("; it is not clearly better than a constant target (p {better}), so smoothing may be all of it.")
        }
        (Direction::Raises, _, Direction::Lowers) => {
            "; a constant target lowers it: the causal effects do harm.".into()
        }
        (Direction::Raises, _, Direction::Raises) => "; a constant target raises it, too.".into(),
        (Direction::Raises, _, Direction::Unclear) => "; a constant target does not clearly change it.".into(),
        (Direction::Unclear, _, Direction::Lowers) => format!(
            "; a constant target does lower it (p {}): smoothing helps here, the causal effects add nothing that is \
             clear.",
            p_text(control.p_better)
        ),
        (Direction::Unclear, _, Direction::Raises) => "; a constant target raises it.".into(),
        (Direction::Unclear, _, Direction::Unclear) => ", and neither does a constant target.".into(),
    }
}

/// A remark where a practitioner who goes by validation nodes would not use CAR.
fn describe_validation(choice: &Choice<'_>) -> String {
    let losses = choice.baseline_validation().zip(choice.candidate().and_then(|candidate| candidate.validation()));
    match losses {
        Some((without, with)) if without <= with => format!(
            " Validation would choose no CAR at all: the mean validation loss is {with:.4} with it and {without:.4} \
             without."
        ),
        _ => String::new(),
    }
}
