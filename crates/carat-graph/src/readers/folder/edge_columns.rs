//! The further columns of a table of edges, as numbers.
//!
//! | cells | columns of the result |
//! |---|---|
//! | numbers | the number |
//! | true and false, yes and no | 1 and 0 |
//! | at most [`MOST_CATEGORIES`] texts | `name=text`: 1 where it is this text, one column each |
//! | more texts | `name#k`: 1 for all texts with this hash, [`BUCKETS`] columns |
//!
//! A missing number becomes the mean of the others, and `name?` is 1 there; a missing text is 0 in all its columns.
//! Columns of other types, such as lists in Parquet, are left out. The table is read twice: to see what the
//! columns hold, and to take it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::readers::rows::{Cell, RowFile};
use crate::{DataError, EdgeFeatures};

/// The most texts with a column of their own.
const MOST_CATEGORIES: usize = 64;

/// Columns of hashed texts.
const BUCKETS: usize = 32;

/// The most numbers, 4 GiB of them.
const MOST_VALUES: usize = 1 << 30;

/// What the cells of a column are.
enum Kind {
    Number { mean: f64, has_missing: bool },
    Boolean { share: f64, has_missing: bool },
    Category(Vec<String>),
    Hashed,
}

/// What is known of a column's cells before all are seen.
struct Seen {
    are_numbers: bool,
    are_booleans: bool,
    texts: BTreeSet<String>,
    sum: f64,
    trues: usize,
    count: usize,
    missing: usize,
}

/// The columns of a table, in its order.
pub(super) struct EdgeColumns {
    /// Their places in the table.
    pub(super) places: Vec<usize>,
    names: Vec<String>,
    kinds: Vec<Kind>,
    values: Vec<f32>,
}

impl EdgeColumns {
    /// Finds out what all columns but the `others` hold; `None` where there are no more.
    pub(super) fn of(path: &Path, others: &[&str]) -> Result<Option<Self>, DataError> {
        let file = RowFile::open(path)?;
        let columns = file.columns().to_vec();
        let is_feature = |at: &usize| !others.contains(&columns[*at].as_str()) && file.is_readable(*at);
        let places: Vec<usize> = (0..columns.len()).filter(is_feature).collect();
        if places.is_empty() {
            return Ok(None);
        }
        let mut seen: Vec<Seen> = places.iter().map(|_| Seen::new()).collect();
        let mut rows = 0usize;
        file.for_each(&places, |row| {
            rows += 1;
            seen.iter_mut().enumerate().for_each(|(k, seen)| seen.add(row.cell(k)));
            Ok(())
        })?;
        let kinds: Vec<Kind> = seen.into_iter().map(Seen::kind).collect();
        let names = places.iter().map(|&at| columns[at].clone()).collect();
        let found = Self { places, names, kinds, values: Vec::new() };
        let width: usize = found.kinds.iter().map(Kind::width).sum();
        if rows.saturating_mul(width) > MOST_VALUES {
            let problem = format!("{rows} edges with {width} features each are too many; leave columns out");
            return Err(DataError::malformed(path, problem));
        }
        Ok(Some(found))
    }

    /// Adds a row, whose cells of these columns are numbered from 0.
    pub(super) fn add<'a>(&mut self, cell: impl Fn(usize) -> Cell<'a>) {
        for (k, kind) in self.kinds.iter().enumerate() {
            kind.encode(cell(k), &mut self.values);
        }
    }

    /// The rows with these numbers, in this order.
    pub(super) fn finish(self, rows: &[u32]) -> Result<EdgeFeatures, DataError> {
        let names = self.names.iter().zip(&self.kinds).flat_map(|(name, kind)| kind.names(name)).collect();
        Ok(EdgeFeatures::new(names, self.values)?.of_edges(rows.iter().map(|&row| row as usize)))
    }
}

impl Seen {
    fn new() -> Self {
        let texts = BTreeSet::new();
        Self { are_numbers: true, are_booleans: true, texts, sum: 0.0, trues: 0, count: 0, missing: 0 }
    }

    fn add(&mut self, cell: Cell<'_>) {
        let Some(text) = text_of(cell) else {
            self.missing += 1;
            return;
        };
        self.count += 1;
        let truth = truth(&text);
        self.are_booleans &= truth.is_some();
        self.trues += usize::from(truth == Some(true));
        match cell.number().filter(|_| !matches!(cell, Cell::Boolean(_))) {
            Some(number) => self.sum += f64::from(number),
            None => self.are_numbers = false,
        }
        if self.texts.len() <= MOST_CATEGORIES && !self.texts.contains(&*text) {
            self.texts.insert(text.into_owned());
        }
    }

    fn kind(self) -> Kind {
        let has_missing = self.missing > 0;
        let count = self.count.max(1) as f64;
        if self.are_numbers {
            Kind::Number { mean: self.sum / count, has_missing }
        } else if self.are_booleans {
            Kind::Boolean { share: self.trues as f64 / count, has_missing }
        } else if self.texts.len() <= MOST_CATEGORIES {
            Kind::Category(self.texts.into_iter().collect())
        } else {
            Kind::Hashed
        }
    }
}

impl Kind {
    fn width(&self) -> usize {
        match self {
            Self::Number { has_missing, .. } | Self::Boolean { has_missing, .. } => 1 + usize::from(*has_missing),
            Self::Category(texts) => texts.len(),
            Self::Hashed => BUCKETS,
        }
    }

    fn names(&self, name: &str) -> Vec<String> {
        match self {
            Self::Number { has_missing, .. } | Self::Boolean { has_missing, .. } => {
                [name.to_string()].into_iter().chain(has_missing.then(|| format!("{name}?"))).collect()
            }
            Self::Category(texts) => texts.iter().map(|text| format!("{name}={text}")).collect(),
            Self::Hashed => (0..BUCKETS).map(|k| format!("{name}#{k}")).collect(),
        }
    }

    /// Appends the columns of one cell.
    fn encode(&self, cell: Cell<'_>, values: &mut Vec<f32>) {
        let text = text_of(cell);
        let mut number = |found: Option<f32>, mean: f64, has_missing: bool| {
            values.push(found.unwrap_or(mean as f32));
            values.extend(has_missing.then(|| f32::from(u8::from(found.is_none()))));
        };
        match self {
            Self::Number { mean, has_missing } => {
                number(text.and_then(|_| cell.number()), *mean, *has_missing);
            }
            Self::Boolean { share, has_missing } => {
                let found = text.and_then(|text| truth(&text)).map(|truth| f32::from(u8::from(truth)));
                number(found, *share, *has_missing);
            }
            Self::Category(texts) => {
                let place = text.and_then(|text| texts.binary_search_by(|known| known.as_str().cmp(&text)).ok());
                values.extend((0..texts.len()).map(|k| f32::from(u8::from(Some(k) == place))));
            }
            Self::Hashed => {
                let bucket = text.map(|text| bucket(&text));
                values.extend((0..BUCKETS).map(|k| f32::from(u8::from(Some(k) == bucket))));
            }
        }
    }
}

/// A cell's text; `None` where it is missing, in whichever words.
fn text_of(cell: Cell<'_>) -> Option<std::borrow::Cow<'_, str>> {
    const MISSING: [&str; 5] = ["nan", "na", "n/a", "null", "none"];
    cell.text().filter(|text| !text.is_empty() && !MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)))
}

fn truth(text: &str) -> Option<bool> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") || is("yes") {
        return Some(true);
    }
    (is("false") || is("no")).then_some(false)
}

/// FNV-1a, so that a text has the same bucket everywhere.
fn bucket(text: &str) -> usize {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ((hash ^ (hash >> 32)) % BUCKETS as u64) as usize
}
