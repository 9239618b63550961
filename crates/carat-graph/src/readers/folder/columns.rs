//! The feature columns of the table of nodes or of edges: what kind each is, and their values.
//!
//! A column is of numbers, of dates or of truth values where all its cells are. One with text in it is text, unless at
//! least half of its cells are numbers or dates: then the others are taken for mistakes. The optional table `columns`
//! (`column`, `kind`) says otherwise: number, boolean, date, text or ignore.

use std::collections::HashMap;
use std::path::Path;

use crate::dates::parse_date;
use crate::raw_table::{NO_TEXT, RawColumn, RawTable, RawValues};
use crate::readers::rows::{Cell, Row, RowFile, Spot};
use crate::{CsrMatrix, DataError, Features};

/// What a column is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Boolean,
    Date,
    Text,
    Ignore,
}

/// The kinds that a `columns` file gives to columns.
#[derive(Default)]
pub(super) struct GivenKinds(HashMap<String, Kind>);

impl GivenKinds {
    pub(super) fn read(path: &Path) -> Result<Self, DataError> {
        let file = RowFile::open(path)?;
        let wanted = [file.require("column")?, file.require("kind")?];
        let mut kinds = Self::default();
        file.for_each(&wanted, |row| {
            let name = row.cell(0).text().ok_or_else(|| row.error("a column needs a name"))?;
            let word = row.cell(1).text().unwrap_or_default();
            let kind = match word.to_ascii_lowercase().as_str() {
                "number" => Kind::Number,
                "boolean" => Kind::Boolean,
                "date" => Kind::Date,
                "text" => Kind::Text,
                "ignore" => Kind::Ignore,
                _ => {
                    let choices = "choose number, boolean, date, text or ignore";
                    return Err(row.error(format!("'{word}' is no kind of column; {choices}")));
                }
            };
            match kinds.0.insert(name.to_string(), kind) {
                None => Ok(()),
                Some(_) => Err(row.error(format!("column '{name}' is listed twice"))),
            }
        })?;
        Ok(kinds)
    }

    /// Refuses names that are not among these feature columns.
    pub(super) fn check(&self, path: &Path, features: &[&String]) -> Result<(), DataError> {
        let mut unknown: Vec<&String> = self.0.keys().filter(|name| !features.contains(name)).collect();
        unknown.sort_unstable();
        match unknown.first() {
            None => Ok(()),
            Some(name) => Err(DataError::malformed(path, format!("no table has a feature column '{name}'"))),
        }
    }

    pub(super) fn of(&self, name: &str) -> Option<Kind> {
        self.0.get(name).copied()
    }
}

/// A cell that does not fit, and what it holds.
type Misfit = Option<(Spot, String)>;

/// What the cells of a column are.
struct Sniff {
    name: String,
    given: Option<Kind>,
    present: usize,
    gaps: usize,
    numbers: usize,
    booleans: usize,
    dates: usize,
    /// The first cell that is not a number, not a truth value, not a date.
    not: [Misfit; 3],
}

impl Sniff {
    /// Looks at the next cell; its number, where it has one.
    fn add(&mut self, row: &Row<'_>, cell: Cell<'_>) -> Option<f32> {
        if cell.is_gap() {
            self.gaps += 1;
            return None;
        }
        self.present += 1;
        let number = if matches!(cell, Cell::Boolean(_)) { None } else { cell.number() };
        // Once text is found in it, a column of numbers has few cells that need more than one look.
        let (boolean, date) = match number {
            Some(_) => (false, false),
            None => (boolean(cell).is_some(), date(cell).is_some()),
        };
        for (fits, count, not) in
            [(number.is_some(), &mut self.numbers, 0), (boolean, &mut self.booleans, 1), (date, &mut self.dates, 2)]
        {
            *count += usize::from(fits);
            if !fits && self.not[not].is_none() {
                self.not[not] = Some((row.spot(), cell.text().unwrap_or_default().into_owned()));
            }
        }
        number
    }

    fn kind(&self, path: &Path) -> Result<Kind, DataError> {
        let half = self.present.div_ceil(2);
        let refused = |not: &Misfit, what: &str| match not {
            None => Ok(()),
            Some((spot, text)) => {
                Err(spot.error(path, format!("feature '{}' is '{text}'; every feature must be {what}", self.name)))
            }
        };
        let [number, boolean, date] = &self.not;
        let numbers = "a finite number";
        Ok(match self.given {
            Some(Kind::Number) => refused(number, numbers).map(|()| Kind::Number)?,
            Some(Kind::Boolean) => refused(boolean, "true or false").map(|()| Kind::Boolean)?,
            Some(Kind::Date) => refused(date, "a date like 2024-01-31").map(|()| Kind::Date)?,
            Some(given) => given,
            None if self.numbers == self.present => Kind::Number,
            None if self.booleans == self.present => Kind::Boolean,
            None if self.dates == self.present => Kind::Date,
            None if self.numbers >= half => refused(number, numbers).map(|()| Kind::Number)?,
            None if self.dates >= half => refused(date, "a date like 2024-01-31").map(|()| Kind::Date)?,
            None => Kind::Text,
        })
    }
}

/// Reads the feature columns while other columns of the same rows are read.
pub(super) struct FeatureColumns {
    /// Their places among all columns.
    places: Vec<usize>,
    sniffs: Vec<Sniff>,
    // Rows are collected sparsely: a bag of words stored cell by cell can be far larger than its non-zeros.
    offsets: Vec<usize>,
    at: Vec<u32>,
    values: Vec<f32>,
}

/// The features, and the table they come from where it has more than numbers.
pub(super) struct Found {
    pub(super) names: Vec<String>,
    /// `None` where there is a table.
    pub(super) features: Option<Features>,
    pub(super) table: Option<RawTable>,
}

impl FeatureColumns {
    pub(super) fn new(columns: &[String], places: &[usize], kinds: &GivenKinds) -> Self {
        let sniff = |&at: &usize| Sniff {
            name: columns[at].clone(),
            given: kinds.of(&columns[at]),
            present: 0,
            gaps: 0,
            numbers: 0,
            booleans: 0,
            dates: 0,
            not: [None, None, None],
        };
        let sniffs = places.iter().map(sniff).collect();
        Self { places: places.to_vec(), sniffs, offsets: vec![0], at: Vec::new(), values: Vec::new() }
    }

    /// Adds the next row, of which `cell` has the cell of every column.
    pub(super) fn add<'a>(&mut self, row: &Row<'_>, cell: impl Fn(usize) -> Cell<'a>) {
        for (k, sniff) in self.sniffs.iter_mut().enumerate() {
            if let Some(value) = sniff.add(row, cell(k)).filter(|value| *value != 0.0) {
                self.at.push(k as u32);
                self.values.push(value);
            }
        }
        self.offsets.push(self.at.len());
    }

    /// The columns of all rows; reads the file again where some are not plain numbers.
    pub(super) fn finish(self, path: &Path) -> Result<Found, DataError> {
        let kinds = self.sniffs.iter().map(|sniff| sniff.kind(path)).collect::<Result<Vec<Kind>, _>>()?;
        let names: Vec<String> = self.sniffs.iter().map(|sniff| sniff.name.clone()).collect();
        let plain = |(kind, sniff): (&Kind, &Sniff)| *kind == Kind::Number && sniff.gaps == 0;
        if kinds.iter().zip(&self.sniffs).all(plain) {
            let matrix = CsrMatrix::new(names.len(), self.offsets, self.at, self.values)?;
            return Ok(Found { names, features: Some(Features::sparse(matrix)?.compacted()), table: None });
        }
        let rows = self.offsets.len() - 1;
        drop((self.at, self.values));
        let mut builders: Vec<Builder> = kinds.iter().map(|kind| Builder::new(*kind)).collect();
        let mut row_number = 0;
        RowFile::open(path)?.for_each(&self.places, |row| {
            builders.iter_mut().enumerate().for_each(|(k, builder)| builder.add(row_number, row.cell(k)));
            row_number += 1;
            Ok(())
        })?;
        let columns = names.iter().zip(builders);
        let columns = columns.map(|(name, builder)| RawColumn { name: name.clone(), values: builder.values });
        Ok(Found { features: None, table: Some(RawTable::new(rows, columns.collect())?), names })
    }
}

/// Collects a column of a known kind. A cell of another kind, in a file that changes while it is read, is a gap.
struct Builder {
    values: RawValues,
    codes_of: HashMap<String, u32>,
}

impl Builder {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Number => RawValues::Numbers { rows: Vec::new(), values: Vec::new() },
            Kind::Boolean => RawValues::Booleans(Vec::new()),
            Kind::Date => RawValues::Dates(Vec::new()),
            Kind::Text | Kind::Ignore => RawValues::Texts { distinct: Vec::new(), codes: Vec::new() },
        };
        Self { values, codes_of: HashMap::new() }
    }

    fn add(&mut self, row: u32, cell: Cell<'_>) {
        let cell = if cell.is_gap() { Cell::Missing } else { cell };
        match &mut self.values {
            RawValues::Numbers { rows, values } => {
                let value = cell.double().unwrap_or(f64::NAN);
                if value != 0.0 {
                    rows.push(row);
                    values.push(value);
                }
            }
            RawValues::Booleans(values) => values.push(boolean(cell)),
            RawValues::Dates(values) => values.push(date(cell).unwrap_or(f64::NAN)),
            RawValues::Texts { distinct, codes } => codes.push(match cell.text() {
                None => NO_TEXT,
                Some(text) => match self.codes_of.get(text.as_ref()) {
                    Some(&code) => code,
                    None => {
                        let code = distinct.len() as u32;
                        distinct.push(text.to_string());
                        self.codes_of.insert(text.into_owned(), code);
                        code
                    }
                },
            }),
        }
    }
}

fn boolean(cell: Cell<'_>) -> Option<bool> {
    const YES: [&str; 4] = ["true", "yes", "t", "y"];
    const NO: [&str; 4] = ["false", "no", "f", "n"];
    match cell {
        Cell::Boolean(flag) => Some(flag),
        Cell::Text(text) => {
            let is = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
            if is(&YES) { Some(true) } else { is(&NO).then_some(false) }
        }
        _ => None,
    }
}

fn date(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Date(days) => Some(days),
        Cell::Text(text) => parse_date(text.trim()),
        _ => None,
    }
}
