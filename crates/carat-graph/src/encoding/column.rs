//! One column of a table and the features made of it.
//!
//! | kind | features |
//! |---|---|
//! | number | 1: the number, scaled |
//! | boolean | 1: 0 or 1 |
//! | date | 3: days since the first training date, scaled; sine and cosine of the weekday; with times 5, of the hour |
//! | text, at most 64 categories | 1 per category: 0 or 1 |
//! | text, more categories | 64: whether the text has a word of this hash |
//!
//! Where training nodes have gaps, one more feature is 1 in the rows with a gap. A gap counts as the mean of the
//! training nodes' numbers and dates, and as the most frequent of their truth values and texts.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::scale::{Moments, Normalise, Scale};
use crate::DataError;
use crate::dates::format_date;
use crate::raw_table::{NO_TEXT, RawColumn, RawValues};

/// The most categories of a text column that get a feature each.
pub const MOST_CATEGORIES: usize = 64;

/// Features that the words of a text column with more categories share.
const HASHED: u32 = 64;

/// What was learnt from a column of the training nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnEncoding {
    /// The column's name in the table.
    pub name: String,
    /// What its features are.
    #[serde(flatten)]
    pub kind: ColumnKind,
    /// Whether one more feature says where a value was missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gaps: bool,
}

/// A column by kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers.
    Number {
        /// What a gap counts as.
        fill: f64,
        /// How they are scaled.
        #[serde(flatten)]
        scale: Scale,
    },
    /// Truth values.
    Boolean {
        /// What a gap counts as.
        fill: bool,
    },
    /// Dates, as days since 1970-01-01.
    Date {
        /// The first of the training nodes' dates.
        first: f64,
        /// Whether the training nodes' dates have times of day.
        hours: bool,
        /// What a gap counts as.
        fill: f64,
        /// How the days since `first` are scaled.
        #[serde(flatten)]
        scale: Scale,
    },
    /// A feature per category.
    Categories {
        /// What a gap counts as; empty where all training nodes had a gap.
        fill: String,
        /// Every text of the training nodes, in the order of the alphabet.
        categories: Vec<String>,
    },
    /// A feature per hash of a word.
    Words {
        /// What a gap counts as.
        fill: String,
        /// Number of features.
        columns: u32,
    },
}

impl ColumnEncoding {
    /// Learns from the rows of the training nodes.
    pub(super) fn fit(column: &RawColumn, rows: usize, training: &[u32], normalise: Normalise) -> Self {
        let missing = column.values.missing(rows);
        let gaps = training.iter().any(|&node| missing[node as usize]);
        let numbers = |values: &[f64]| -> Vec<f64> {
            training.iter().map(|&node| values[node as usize]).filter(|value| !value.is_nan()).collect()
        };
        let kind = match &column.values {
            RawValues::Numbers { .. } => {
                let known = Moments::of(&numbers(&column.values.as_numbers(rows).unwrap_or_default()));
                ColumnKind::Number { fill: known.mean, scale: Scale::of(&known, normalise, true) }
            }
            RawValues::Booleans(values) => {
                let known: Vec<bool> = training.iter().filter_map(|&node| values[node as usize]).collect();
                ColumnKind::Boolean { fill: 2 * known.iter().filter(|flag| **flag).count() > known.len() }
            }
            RawValues::Dates(values) => {
                let known = numbers(values);
                let first = known.iter().copied().reduce(f64::min).unwrap_or(0.0).floor();
                let hours = known.iter().any(|day| day.fract() != 0.0);
                let days = Moments::of(&known.iter().map(|day| day - first).collect::<Vec<f64>>());
                ColumnKind::Date { first, hours, fill: first + days.mean, scale: Scale::of(&days, normalise, true) }
            }
            RawValues::Texts { distinct, codes } => {
                let mut counts = BTreeMap::new();
                for &node in training {
                    if let Some(text) = distinct.get(codes[node as usize] as usize) {
                        *counts.entry(text).or_insert(0usize) += 1;
                    }
                }
                // Of equally frequent texts, the first in the alphabet.
                let most = counts.iter().rev().max_by_key(|(_, count)| **count);
                let fill = most.map_or_else(String::new, |(text, _)| (*text).clone());
                if counts.len() <= MOST_CATEGORIES {
                    ColumnKind::Categories { fill, categories: counts.into_keys().cloned().collect() }
                } else {
                    ColumnKind::Words { fill, columns: HASHED }
                }
            }
        };
        Self { name: column.name.clone(), kind, gaps }
    }

    /// A column of numbers without gaps, from its moments over the training nodes.
    pub(super) fn number(name: &str, column: &Moments, normalise: Normalise, centre: bool) -> Self {
        let kind = ColumnKind::Number { fill: column.mean, scale: Scale::of(column, normalise, centre) };
        Self { name: name.to_string(), kind, gaps: false }
    }

    /// The scale of a column that is one number without gaps.
    pub(super) fn plain_scale(&self) -> Option<Scale> {
        match self.kind {
            ColumnKind::Number { scale, .. } if !self.gaps => Some(scale),
            _ => None,
        }
    }

    /// Names of the features.
    pub(super) fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let suffixed = |suffixes: &[&str]| suffixes.iter().map(|suffix| format!("{name} {suffix}")).collect();
        let mut names: Vec<String> = match &self.kind {
            ColumnKind::Number { .. } | ColumnKind::Boolean { .. } => vec![name.clone()],
            ColumnKind::Date { hours: false, .. } => suffixed(&["days", "weekday sine", "weekday cosine"]),
            ColumnKind::Date { hours: true, .. } => {
                suffixed(&["days", "weekday sine", "weekday cosine", "hour sine", "hour cosine"])
            }
            ColumnKind::Categories { categories, .. } => categories.iter().map(|c| format!("{name}={c}")).collect(),
            ColumnKind::Words { columns, .. } => (0..*columns).map(|hash| format!("{name} #{hash}")).collect(),
        };
        if self.gaps {
            names.push(format!("{name} missing"));
        }
        names
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        let own = match &self.kind {
            ColumnKind::Number { .. } | ColumnKind::Boolean { .. } => 1,
            ColumnKind::Date { hours, .. } => 3 + 2 * usize::from(*hours),
            ColumnKind::Categories { categories, .. } => categories.len(),
            ColumnKind::Words { columns, .. } => *columns as usize,
        };
        own + usize::from(self.gaps)
    }

    /// Calls `add` with every row, feature and value that is not zero; within a row, features ascend. `note` gets what
    /// the user should know.
    pub(super) fn encode(
        &self,
        column: &RawColumn,
        rows: usize,
        add: &mut dyn FnMut(u32, u32, f32),
        note: &mut dyn FnMut(String),
    ) -> Result<(), DataError> {
        let missing = column.values.missing(rows);
        let flag = |row: usize| (self.gaps && missing[row]).then_some(self.width() as u32 - 1);
        let holes = missing.iter().filter(|hole| **hole).count();
        if holes > 0 && !self.gaps {
            note(format!("column '{}' has {holes} gaps, and had none in training: {}", self.name, self.filled()));
        }
        let mut emit = |row: usize, features: &[(u32, f64)]| {
            features.iter().filter(|cell| cell.1 != 0.0).for_each(|&(at, value)| add(row as u32, at, value as f32));
            if let Some(at) = flag(row) {
                add(row as u32, at, 1.0);
            }
        };
        let wrong = |value: String| {
            let expected = self.kind.words();
            DataError::Invalid(format!(
                "column '{}' has the value '{value}', and the encoding of the training data expects {expected}; \
                 correct the column",
                self.name
            ))
        };
        match &self.kind {
            ColumnKind::Number { fill, scale } => {
                let values = column.values.as_numbers(rows).map_err(wrong)?;
                for (row, &value) in values.iter().enumerate() {
                    emit(row, &[(0, scale.apply(if value.is_nan() { *fill } else { value }))]);
                }
            }
            ColumnKind::Boolean { fill } => {
                for (row, value) in column.values.as_booleans(rows).map_err(wrong)?.into_iter().enumerate() {
                    emit(row, &[(0, f64::from(u8::from(value.unwrap_or(*fill))))]);
                }
            }
            ColumnKind::Date { first, hours, fill, scale } => {
                for (row, day) in column.values.as_dates(rows).map_err(wrong)?.into_iter().enumerate() {
                    let day = if day.is_nan() { *fill } else { day };
                    // The first of January 1970 was a Thursday; the week begins on Monday.
                    let weekday = TAU * (day.floor() + 3.0).rem_euclid(7.0) / 7.0;
                    let hour = TAU * (day - day.floor());
                    let all = [scale.apply(day - first), weekday.sin(), weekday.cos(), hour.sin(), hour.cos()];
                    let used = if *hours { 5 } else { 3 };
                    let cells: Vec<(u32, f64)> = (0u32..).zip(all).take(used).collect();
                    emit(row, &cells);
                }
            }
            ColumnKind::Categories { fill, categories } => {
                let (distinct, codes) = column.values.as_texts(rows);
                let place = |text: &String| categories.binary_search(text).ok().map(|at| at as u32);
                let places: Vec<Option<u32>> = distinct.iter().map(place).collect();
                let filled = place(fill);
                let unseen = |code: &&u32| **code != NO_TEXT && places[**code as usize].is_none();
                let count = codes.iter().filter(unseen).count();
                if let Some(&example) = codes.iter().find(unseen) {
                    note(format!(
                        "column '{}': {count} rows have a text that the training data did not have, such as '{}'; all \
                         its features are 0 there",
                        self.name, distinct[example as usize]
                    ));
                }
                for (row, &code) in codes.iter().enumerate() {
                    let at = if code == NO_TEXT { filled } else { places[code as usize] };
                    emit(row, at.map(|at| (at, 1.0)).as_slice());
                }
            }
            ColumnKind::Words { fill, columns } => {
                let (distinct, codes) = column.values.as_texts(rows);
                let hashes: Vec<Vec<(u32, f64)>> = distinct.iter().map(|text| words(text, *columns)).collect();
                let filled = words(fill, *columns);
                for (row, &code) in codes.iter().enumerate() {
                    emit(row, if code == NO_TEXT { &filled } else { &hashes[code as usize] });
                }
            }
        }
        Ok(())
    }

    /// What a gap counts as, in words.
    fn filled(&self) -> String {
        match &self.kind {
            ColumnKind::Number { fill, .. } => format!("they count as the mean, {fill:.4}"),
            ColumnKind::Boolean { fill } => format!("they count as {fill}, which is most frequent"),
            ColumnKind::Date { fill, .. } => format!("they count as the mean, {}", format_date(fill.floor())),
            ColumnKind::Categories { fill, .. } | ColumnKind::Words { fill, .. } => {
                format!("they count as '{fill}', which is most frequent")
            }
        }
    }

    /// What becomes of the column, for people.
    pub fn describe(&self) -> String {
        let scaled = |scale: &Scale| match scale {
            &Scale::NONE => "as it is".to_string(),
            Scale { shift: 0.0, factor } => format!("divided by {}", short(1.0 / factor)),
            Scale { shift, factor } => format!("minus {}, divided by {}", short(*shift), short(1.0 / factor)),
        };
        let mut text = match &self.kind {
            ColumnKind::Number { scale, .. } => format!("number, {}", scaled(scale)),
            ColumnKind::Boolean { .. } => "boolean, 0 or 1".into(),
            ColumnKind::Date { first, hours, scale, .. } => format!(
                "date, days since {} {}, and the weekday{}",
                format_date(*first),
                scaled(scale),
                if *hours { " and the hour" } else { "" }
            ),
            ColumnKind::Categories { categories, .. } => {
                format!("text, {} categories, one feature each", categories.len())
            }
            ColumnKind::Words { columns, .. } => {
                format!("text, more than {MOST_CATEGORIES} categories: words hashed into {columns} features")
            }
        };
        if self.gaps {
            text.push_str(&format!("; gaps flagged, {}", self.filled()));
        }
        text
    }

    /// Refuses what no fit gives: a run folder may have been edited.
    pub(super) fn check(&self) -> Result<(), String> {
        let sound = match &self.kind {
            ColumnKind::Number { fill, scale } => fill.is_finite() && scale.is_finite(),
            ColumnKind::Date { first, fill, scale, .. } => first.is_finite() && fill.is_finite() && scale.is_finite(),
            ColumnKind::Boolean { .. } => true,
            ColumnKind::Categories { categories, .. } => {
                categories.len() <= MOST_CATEGORIES && categories.windows(2).all(|pair| pair[0] < pair[1])
            }
            ColumnKind::Words { columns, .. } => (1..=1 << 16).contains(columns),
        };
        if sound { Ok(()) } else { Err(format!("the entry of column '{}' is damaged", self.name)) }
    }
}

impl ColumnKind {
    fn words(&self) -> &'static str {
        match self {
            Self::Number { .. } => "numbers",
            Self::Boolean { .. } => "true or false",
            Self::Date { .. } => "dates like 2024-01-31",
            Self::Categories { .. } | Self::Words { .. } => "text",
        }
    }
}

/// The hashes of a text's words, each once, ascending. Letter case does not count.
fn words(text: &str, columns: u32) -> Vec<(u32, f64)> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut hashes: Vec<u32> = words.map(|word| crc32fast::hash(word.as_bytes()) % columns).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_iter().map(|hash| (hash, 1.0)).collect()
}

/// Four digits.
fn short(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) { format!("{value:.3e}") } else { format!("{value:.4}") }
}
