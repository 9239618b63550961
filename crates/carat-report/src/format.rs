//! Numbers and names as text, in sentences and in cells. Undefined values are a dash.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Cell;
use crate::statistics::{PairedEffect, SIGNIFICANT, Spread};

/// The text of undefined values.
pub const UNDEFINED: &str = "-";

/// The meaning of p, for captions and notes.
pub const P_MEANING: &str = "p: how often chance alone would show an improvement at least this clear (one-tailed \
                             paired Wilcoxon test); small is good";

/// A probability: three decimals, or its order of magnitude where it is small.
pub fn probability(p: f64) -> String {
    match p {
        p if p < 1e-300 => "< 1e-300".to_string(),
        p if p < 0.001 => format!("{p:.0e}"),
        p => format!("{p:.3}"),
    }
}

/// A cell with a probability; a significant one is emphasised.
pub fn probability_cell(p: Option<f64>) -> Cell {
    or_undefined(p, |p| Cell::number(probability(p), p).strong_if(p < SIGNIFICANT))
}

/// A cell with minus the logarithm of a probability; a significant one is emphasised.
pub fn evidence_cell(p: Option<f64>) -> Cell {
    or_undefined(p, |p| Cell::number(format!("{:.2}", evidence(p)), evidence(p)).strong_if(p < SIGNIFICANT))
}

/// Minus the decimal logarithm of a probability: the larger, the clearer.
pub fn evidence(p: f64) -> f64 {
    // 0 is replaced by the smallest positive number, and p 1 gives 0 rather than -0.
    (-p.max(f64::MIN_POSITIVE).log10()).max(0.0)
}

/// A cell with a number.
pub fn number_cell(value: Option<f64>, decimals: usize) -> Cell {
    or_undefined(value, |value| Cell::number(format!("{value:.decimals$}"), value))
}

/// A cell with a whole number, with commas between thousands.
pub fn count_cell(value: usize) -> Cell {
    Cell::number(thousands(value), value as f64)
}

/// A cell with a mean and its deviation.
pub fn spread_cell(spread: Option<Spread>, decimals: usize) -> Cell {
    or_undefined(spread, |spread| {
        Cell::number(spread.text(decimals), spread.mean)
            .with_parts(spread.deviation.map(|deviation| ("deviation", deviation)))
    })
}

/// A cell with a mean of whole numbers and its deviation, with commas between thousands.
pub fn count_spread_cell(spread: Option<Spread>) -> Cell {
    let whole = |value: f64| thousands(value.round().max(0.0) as usize);
    or_undefined(spread, |Spread { mean, deviation }| {
        let deviation = deviation.map(|deviation| format!(" ± {}", whole(deviation))).unwrap_or_default();
        Cell::number(format!("{}{deviation}", whole(mean)), mean)
    })
}

/// A cell with a change in percent.
pub fn percent_cell(percent: Option<f64>) -> Cell {
    or_undefined(percent, |percent| Cell::number(format!("{} %", signed(percent, 1)), percent))
}

/// A cell with a mean change and its interval. A single pair has no interval.
pub fn effect_cell(effect: Option<PairedEffect>, decimals: usize) -> Cell {
    or_undefined(effect, |PairedEffect { mean, interval: (low, high), pairs, .. }| {
        let [mean_text, low_text, high_text] = [mean, low, high].map(|value| signed(value, decimals));
        let interval = if pairs > 1 { format!("{low_text} to {high_text}") } else { UNDEFINED.to_string() };
        let parts = if pairs > 1 { vec![("low", low), ("high", high)] } else { Vec::new() };
        Cell::number(format!("{mean_text} ({interval})"), mean).with_parts(parts)
    })
}

/// A number with its sign, unless it rounds to 0.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    let is_zero = !text.chars().any(|digit| ('1'..='9').contains(&digit));
    if is_zero { text.trim_start_matches(['+', '-']).to_string() } else { text }
}

fn or_undefined<V>(value: Option<V>, cell: impl FnOnce(V) -> Cell) -> Cell {
    value.map_or_else(|| Cell::text(UNDEFINED), cell)
}

/// `1 dataset`, `2 datasets`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Text with a capital first letter, unless the first word is a name in code.
pub fn capitalised(text: &str) -> String {
    if text.split(' ').next().is_some_and(|word| word.contains('_')) {
        return text.to_string();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A dataset's name: that of the catalogue, or the shortest end of its path that no other dataset has.
pub fn data_name(data: &str, all: &BTreeSet<&str>) -> String {
    let parts: Vec<&OsStr> = Path::new(data).iter().collect();
    let last = |count: usize| parts.iter().skip(parts.len() - count).collect::<PathBuf>();
    let is_unique = |end: &PathBuf| !all.iter().any(|other| *other != data && Path::new(other).ends_with(end));
    let name = (1..=parts.len()).map(last).find(is_unique);
    name.map_or_else(|| data.to_string(), |name| name.to_string_lossy().into_owned())
}

/// `169,343`.
pub fn thousands(value: usize) -> String {
    let digits = value.to_string();
    let start = digits.len() % 3;
    let (head, tail) = digits.split_at(start);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    (!head.is_empty()).then(|| head.to_string()).into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_keep_their_magnitude() {
        assert_eq!(
            [0.5, 0.0412, 0.0009, 3.2e-14, 0.0].map(probability),
            ["0.500", "0.041", "9e-4", "3e-14", "< 1e-300"]
        );
        assert_eq!(evidence(0.01), 2.0);
        assert!(evidence(0.0) > 300.0 && evidence(1.0) == 0.0 && evidence(1.0).is_sign_positive());
    }

    #[test]
    fn cells_show_rounded_numbers_and_keep_exact_ones() {
        assert_eq!(probability_cell(Some(0.0412)), Cell::number("0.041", 0.0412).strong_if(true));
        assert_eq!(probability_cell(None).text, "-");
        assert_eq!(percent_cell(Some(-4.25)).text, "-4.2 %");
        assert_eq!([signed(-0.04, 1), signed(0.04, 1), signed(0.06, 1)], ["0.0", "0.0", "+0.1"]);
        assert_eq!(spread_cell(None, 2), Cell::text("-"));
        assert_eq!(count_cell(1_166_243).text, "1,166,243");
        assert_eq!([thousands(7), thousands(999), thousands(1000)], ["7", "999", "1,000"]);
    }

    #[test]
    fn one_pair_has_no_interval_and_counts_have_thousands() {
        let effect = |differences: &[f64]| crate::statistics::paired_effect(differences);
        assert_eq!(effect_cell(effect(&[0.5]), 1).text, "+0.5 (-)");
        assert_eq!(effect_cell(effect(&[0.5, 0.5]), 1).text, "+0.5 (+0.5 to +0.5)");
        let spread = |deviation| Some(Spread { mean: 12_345.4, deviation });
        assert_eq!([None, Some(1_234.5)].map(|d| count_spread_cell(spread(d)).text), ["12,345", "12,345 ± 1,235"]);
    }

    #[test]
    fn dataset_names_are_short_and_unique() {
        let all: BTreeSet<&str> =
            ["cora", "a/x/graph.npz", "b/x/graph.npz", "/data/other.npz", "y/graph.npz", "graph.npz"].into();
        let names: Vec<String> = all.iter().map(|data| data_name(data, &all)).collect();
        assert_eq!(names, ["other.npz", "a/x/graph.npz", "b/x/graph.npz", "cora", "graph.npz", "y/graph.npz"]);
        assert_eq!(data_name("a/x/graph.npz", &["a/x/graph.npz"].into()), "graph.npz");
        assert_eq!(data_name("", &all), "");
    }

    #[test]
    fn lists_and_counts_are_joined() {
        let words = ["a", "b", "c"].map(String::from);
        assert_eq!([list(&words), list(&words[..2]), list(&words[..1]), list(&[])], ["a, b and c", "a and b", "a", ""]);
        assert_eq!(counted(1, "run") + " " + &counted(1200, "run"), "1 run 1,200 runs");
        assert_eq!([capitalised("lower loss"), capitalised("attention_auc")], ["Lower loss", "attention_auc"]);
    }
}
