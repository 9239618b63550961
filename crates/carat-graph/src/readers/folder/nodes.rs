//! The table of nodes: which column means what, and what its cells may hold.

use std::collections::BTreeMap;
use std::path::Path;

use super::columns::{FeatureColumns, Found, GivenKinds, Kind};
use super::ids::{Ids, Refused};
use super::labels::{Classes, LabelColumn};
use crate::readers::rows::{Cell, Row, RowFile};
use crate::{DataError, Labels, Split};

/// Everything that the table of nodes tells.
pub(super) struct Nodes {
    pub(super) ids: Ids,
    pub(super) names: Option<Vec<String>>,
    pub(super) labels: Labels,
    pub(super) class_names: Option<Vec<String>>,
    pub(super) years: Option<Vec<i32>>,
    pub(super) authors: Option<Vec<String>>,
    pub(super) splits: Vec<Split>,
    pub(super) columns: Found,
}

/// Positions of the columns by meaning.
struct Roles {
    id: usize,
    label: Option<usize>,
    name: Option<usize>,
    year: Option<usize>,
    authors: Option<usize>,
    splits: Vec<usize>,
    features: Vec<usize>,
}

impl Roles {
    /// `others` are columns that kinds may be given for, too.
    fn of(file: &RowFile, path: &Path, kinds: &GivenKinds, others: &[String]) -> Result<Self, DataError> {
        let (id, label) = (file.require("id")?, file.find("label"));
        let (name, year, authors) = (file.find("name"), file.find("year"), file.find("authors"));
        let mut taken = vec![false; file.columns().len()];
        let mut numbered = BTreeMap::new();
        for (at, column) in file.columns().iter().enumerate() {
            taken[at] = matches!(column.as_str(), "id" | "label" | "name" | "year" | "authors" | "split");
            if let Some(k) = split_number(column) {
                taken[at] = true;
                numbered.insert(k, at);
            }
        }
        let splits: Vec<usize> = match (file.find("split"), numbered.keys().next_back()) {
            (Some(_), Some(k)) => {
                return Err(DataError::malformed(
                    path,
                    format!("there are both a column 'split' and a column 'split_{k}'; keep one way"),
                ));
            }
            (None, Some(&last)) if last != numbered.len() - 1 => {
                return Err(DataError::malformed(
                    path,
                    format!("there is a column 'split_{last}', but the columns from split_0 to it are not complete"),
                ));
            }
            (one, _) => one.into_iter().chain(numbered.into_values()).collect(),
        };
        let mut features: Vec<usize> = (0..taken.len()).filter(|&at| !taken[at]).collect();
        kinds.check(path, &features.iter().map(|&at| &file.columns()[at]).chain(others).collect::<Vec<_>>())?;
        features.retain(|&at| kinds.of(&file.columns()[at]) != Some(Kind::Ignore));
        if features.is_empty() {
            return Err(DataError::malformed(path, "there is no feature column; give each node at least one number"));
        }
        Ok(Self { id, label, name, year, authors, splits, features })
    }
}

/// k of a column named `split_k`.
fn split_number(column: &str) -> Option<usize> {
    column.strip_prefix("split_").filter(|k| k.bytes().all(|b| b.is_ascii_digit())).and_then(|k| k.parse().ok())
}

impl Nodes {
    /// Reads the table; `kinds` may be of columns of the `others`, too.
    pub(super) fn read(
        path: &Path,
        classes: Option<Classes>,
        kinds: &GivenKinds,
        others: &[String],
    ) -> Result<Self, DataError> {
        let file = RowFile::open(path)?;
        let roles = Roles::of(&file, path, kinds, others)?;
        let header = file.columns().to_vec();
        let every_column: Vec<usize> = (0..header.len()).collect();

        let mut ids = Ids::new();
        let mut names = Vec::new();
        let mut years = Vec::new();
        let mut authors = Vec::new();
        let mut labels = LabelColumn::new(classes);
        let mut splits = vec![Split::default(); roles.splits.len()];
        let mut features = FeatureColumns::new(&header, &roles.features, kinds);

        file.for_each(&every_column, |row| {
            let id = row.cell(roles.id).text().ok_or_else(|| row.error("the id is empty; every node needs one"))?;
            let node = ids.len() as u32;
            ids.add(&id).map_err(|refused| match refused {
                Refused::Duplicate => row.error(format!("id '{id}' is used twice; every node needs its own")),
                Refused::Full => row.error("there are more nodes than a graph can have"),
            })?;
            let label = roles.label.map_or(Cell::Missing, |at| row.cell(at));
            labels.add(label).map_err(|problem| row.error(problem))?;
            if let Some(at) = roles.name {
                names.push(match row.cell(at) {
                    Cell::Text(name) => name.to_string(),
                    other => other.text().unwrap_or(id).into_owned(),
                });
            }
            if let Some(at) = roles.year {
                years.push(year(row, at)?);
            }
            if let Some(at) = roles.authors {
                authors.push(row.cell(at).text().unwrap_or_default().into_owned());
            }
            for (split, &at) in splits.iter_mut().zip(&roles.splits) {
                add_to_split(split, node, row, at, &header[at])?;
            }
            features.add(row, |k| row.cell(roles.features[k]));
            Ok(())
        })?;

        if ids.len() == 0 {
            return Err(DataError::malformed(path, "there are no nodes, only a header"));
        }
        let in_file = |e: DataError| e.in_file(path);
        let columns = features.finish(path).map_err(in_file)?;
        let (labels, class_names) = labels.finish().map_err(in_file)?;
        let empty = |split: &Split| split.train.is_empty() && split.val.is_empty() && split.test.is_empty();
        if let Some(k) = splits.iter().position(empty) {
            // A single split column without any entry is one that was never filled in.
            if header[roles.splits[k]] != "split" {
                return Err(DataError::malformed(path, format!("column 'split_{k}' puts no node in any part")));
            }
            splits.clear();
        }
        let names = if roles.name.is_some() { Some(names) } else { ids.names() };
        let (years, authors) = (roles.year.map(|_| years), roles.authors.map(|_| authors));
        Ok(Self { ids, names, labels, class_names, years, authors, splits, columns })
    }
}

fn year(row: &Row<'_>, at: usize) -> Result<i32, DataError> {
    let text = row.cell(at).text().unwrap_or_default();
    let digits = text.strip_suffix(".0").unwrap_or(&text);
    digits.parse().map_err(|_| row.error(format!("year '{text}' is not a whole number")))
}

fn add_to_split(split: &mut Split, node: u32, row: &Row<'_>, at: usize, column: &str) -> Result<(), DataError> {
    let Some(word) = row.cell(at).text() else {
        return Ok(());
    };
    match word.to_ascii_lowercase().as_str() {
        "train" => split.train.push(node),
        "val" | "valid" | "validation" => split.val.push(node),
        "test" => split.test.push(node),
        _ => {
            return Err(row.error(format!("{column} '{word}' is none of train, val and test; leave it empty for none")));
        }
    }
    Ok(())
}
