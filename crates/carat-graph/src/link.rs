//! A graph made of one table: rows that share something are neighbours.
//!
//! Payments of one card, or machines with one address, often stand in a single table without any table of edges. Here
//! every row becomes a node, and for each column `c` of `by` the rows with the same text in it, in their order, are a
//! chain r_0, r_1, ... in which
//!
//! ```text
//! r_k <-> r_j    where 0 < k - j <= nearest
//! ```
//!
//! A bound on neighbours keeps a common text, such as a country, from joining everything with everything: there are at
//! most `2 nearest` edges into a row for each column.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::DataError;
use crate::dates::parse_date;
use crate::readers::rows::{Cell, RowFile, Spot};
use crate::table::{Column, Table, TableFormat};
use crate::writers::folder::write_tables;

/// The most columns to link by; each is a bit of a mask.
const MOST_COLUMNS: usize = 64;

/// How rows are linked.
#[derive(Debug, Clone)]
pub struct Link {
    /// The column that names a row; without one, a column `id` if there is one, else the rows are numbered.
    pub id: Option<String>,
    /// The column to predict; without one, a column `label` if there is one.
    pub label: Option<String>,
    /// Columns whose equal texts link rows.
    pub by: Vec<String>,
    /// The column of numbers or dates that orders rows; without one, their order in the file.
    pub order: Option<String>,
    /// Neighbours on each side of a row, for each column of `by`.
    pub nearest: usize,
}

/// What came of a column of `by`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkedBy {
    /// Its name.
    pub column: String,
    /// Texts that two rows or more share.
    pub shared: usize,
    /// Rows with the most common text.
    pub largest: usize,
    /// Pairs of rows that it links.
    pub pairs: usize,
}

/// The two tables of a folder, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    nodes: Table,
    edges: Table,
    /// One for each column of `by`.
    pub by: Vec<LinkedBy>,
    /// Rows that no other row shares anything with.
    pub alone: usize,
}

impl Linked {
    /// Writes a folder that [`crate::open`] reads; it must not exist or be empty.
    pub fn write(&self, folder: &Path, format: TableFormat) -> Result<(), DataError> {
        write_tables(&[("nodes", &self.nodes), ("edges", &self.edges)], folder, format)
    }

    /// Number of rows.
    pub fn num_nodes(&self) -> usize {
        self.nodes.num_rows()
    }

    /// Number of edges; every linked pair has two.
    pub fn num_edges(&self) -> usize {
        self.edges.num_rows()
    }
}

impl Link {
    /// Reads tables with the same columns, one after another, and links their rows. The label may be missing in some.
    pub fn read(&self, tables: &[PathBuf]) -> Result<Linked, DataError> {
        let first = tables.first().ok_or_else(|| DataError::Invalid("there is no table to link".into()))?;
        if self.by.is_empty() || self.by.len() > MOST_COLUMNS {
            return Err(DataError::Invalid(format!("link by 1 to {MOST_COLUMNS} columns")));
        }
        let roles = Roles::of(self, &RowFile::open(first)?, first)?;
        let mut rows = Rows::of(&roles);
        tables.iter().try_for_each(|path| rows.read(&roles, path))?;
        if rows.places.is_empty() {
            return Err(DataError::malformed(first, "there are no rows, only a header"));
        }
        rows.check_ids(&roles, tables)?;
        let order = rows.order(&roles, tables)?;

        let mut pairs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut by = Vec::with_capacity(self.by.len());
        for (k, &at) in roles.by.iter().enumerate() {
            let mut chains: HashMap<&str, Vec<u32>> = HashMap::new();
            let texts = &rows.columns[at];
            order.iter().for_each(|&row| chains.entry(texts[row as usize].as_str()).or_default().push(row));
            // A gap links nothing.
            chains.retain(|text, chain| !Cell::Text(text).is_gap() && chain.len() > 1);
            let mut count = 0;
            for chain in chains.values() {
                for (place, &row) in chain.iter().enumerate() {
                    for &earlier in &chain[place.saturating_sub(self.nearest)..place] {
                        *pairs.entry((row.min(earlier), row.max(earlier))).or_default() |= 1 << k;
                        count += 1;
                    }
                }
            }
            let largest = chains.values().map(Vec::len).max().unwrap_or(0);
            by.push(LinkedBy { column: self.by[k].clone(), shared: chains.len(), largest, pairs: count });
        }
        let mut is_alone = vec![true; order.len()];
        pairs.keys().for_each(|&(a, b)| [a, b].iter().for_each(|&row| is_alone[row as usize] = false));
        let alone = is_alone.iter().filter(|alone| **alone).count();
        let edges = edges(&rows.columns[roles.id], &self.by, &pairs)?;
        Ok(Linked { nodes: rows.nodes(&roles)?, edges, by, alone })
    }
}

/// The table of edges, both ways: with several columns to link by, each says of every edge whether it links its rows.
fn edges(ids: &[String], by: &[String], pairs: &BTreeMap<(u32, u32), u64>) -> Result<Table, DataError> {
    let both = || pairs.iter().flat_map(|(&(a, b), &mask)| [(a, b, mask), (b, a, mask)]);
    let id = |row: u32| ids[row as usize].clone();
    let mut columns = vec![
        ("src".to_string(), Column::Text(both().map(|(src, _, _)| id(src)).collect())),
        ("dst".to_string(), Column::Text(both().map(|(_, dst, _)| id(dst)).collect())),
    ];
    if by.len() > 1 {
        let has = |k: usize| Column::U32(both().map(|(_, _, mask)| (mask >> k & 1) as u32).collect());
        columns.extend(by.iter().enumerate().map(|(k, name)| (format!("same_{name}"), has(k))));
    }
    Table::new(columns)
}

/// The columns that are kept, and what they are.
struct Roles {
    /// Names of the columns in the first table.
    names: Vec<String>,
    /// The place of each in `names`; that of rows without an id is behind all others.
    id: usize,
    label: Option<usize>,
    by: Vec<usize>,
    order: Option<usize>,
}

impl Roles {
    fn of(link: &Link, file: &RowFile, path: &Path) -> Result<Self, DataError> {
        let names = file.columns().to_vec();
        let own = |given: &Option<String>, usual: &str| match given {
            Some(name) => file.require(name).map(Some),
            None => Ok(file.find(usual)),
        };
        let (id, label) = (own(&link.id, "id")?, own(&link.label, "label")?);
        for (role, place) in [("id", id), ("label", label)] {
            if place.is_some_and(|at| names[at] != role) && names.iter().any(|name| name == role) {
                let problem = format!("there is a column '{role}' beside the one that is given; rename it");
                return Err(DataError::malformed(path, problem));
            }
        }
        let by = link.by.iter().map(|name| file.require(name)).collect::<Result<Vec<_>, _>>()?;
        let mut distinct = HashSet::new();
        for &at in &by {
            let problem = match (Some(at) == label, Some(at) == id, distinct.insert(at)) {
                (true, ..) => "is the label: rows would be linked by what is to be predicted",
                (_, true, _) => "is the id, which every row has for itself",
                (.., false) => "is named twice",
                _ => continue,
            };
            return Err(DataError::malformed(path, format!("cannot link by '{}': it {problem}", names[at])));
        }
        let order = link.order.as_ref().map(|name| file.require(name)).transpose()?;
        Ok(Self { id: id.unwrap_or(names.len()), names, label, by, order })
    }

    fn has_ids(&self) -> bool {
        self.id < self.names.len()
    }
}

/// All rows, as text, column by column.
struct Rows {
    columns: Vec<Vec<String>>,
    /// The table of each row, and where it is there.
    places: Vec<(usize, Spot)>,
    tables: usize,
}

impl Rows {
    fn of(roles: &Roles) -> Self {
        let count = roles.names.len() + usize::from(!roles.has_ids());
        Self { columns: vec![Vec::new(); count], places: Vec::new(), tables: 0 }
    }

    fn read(&mut self, roles: &Roles, path: &Path) -> Result<(), DataError> {
        let file = RowFile::open(path)?;
        if let Some(new) = file.columns().iter().find(|name| !roles.names.contains(name)) {
            return Err(DataError::malformed(path, format!("the column '{new}' is not in the first table")));
        }
        let place = |(at, name): (usize, &String)| match file.find(name) {
            None if Some(at) == roles.label => Ok(None),
            None => file.require(name).map(Some),
            found => Ok(found),
        };
        let places = roles.names.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
        let wanted: Vec<usize> = places.iter().flatten().copied().collect();
        let table = self.tables;
        self.tables += 1;
        file.for_each(&wanted, |row| {
            let mut next = 0;
            for (column, place) in self.columns.iter_mut().zip(&places) {
                let text = place.and_then(|_| row.cell(next).text()).unwrap_or_default();
                next += usize::from(place.is_some());
                column.push(text.into_owned());
            }
            if !roles.has_ids() {
                self.columns[roles.id].push(self.places.len().to_string());
            }
            if self.places.len() >= u32::MAX as usize {
                return Err(row.error("there are more rows than a graph can have nodes"));
            }
            self.places.push((table, row.spot()));
            Ok(())
        })
    }

    fn error(&self, tables: &[PathBuf], row: usize, problem: String) -> DataError {
        let (table, spot) = self.places[row];
        spot.error(&tables[table], problem)
    }

    fn check_ids(&self, roles: &Roles, tables: &[PathBuf]) -> Result<(), DataError> {
        let mut seen = HashSet::with_capacity(self.places.len());
        for (row, id) in self.columns[roles.id].iter().enumerate() {
            if id.is_empty() {
                return Err(self.error(tables, row, "the id is empty; every row needs one".into()));
            }
            if !seen.insert(id) {
                return Err(self.error(tables, row, format!("id '{id}' is used twice; every row needs its own")));
            }
        }
        Ok(())
    }

    /// The rows in the order of the column that orders them, which has numbers or dates. Equal ones stay in the file's.
    fn order(&self, roles: &Roles, tables: &[PathBuf]) -> Result<Vec<u32>, DataError> {
        let mut order: Vec<u32> = (0..self.places.len() as u32).collect();
        let Some(at) = roles.order else { return Ok(order) };
        let texts = &self.columns[at];
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let are_numbers = texts.iter().all(|text| number(text).is_some());
        let key = |(row, text): (usize, &String)| {
            let found = if are_numbers { number(text) } else { parse_date(text) };
            found.ok_or_else(|| {
                let problem = format!("'{text}' of column '{}' is neither a number nor a date", roles.names[at]);
                self.error(tables, row, problem + " like 2024-01-31 or 2024-01-31T10:30:15, which order rows")
            })
        };
        let keys = texts.iter().enumerate().map(key).collect::<Result<Vec<f64>, _>>()?;
        order.sort_by(|a, b| keys[*a as usize].total_cmp(&keys[*b as usize]));
        Ok(order)
    }

    /// The table of nodes: the id, the label and all columns but those that rows are linked by.
    fn nodes(mut self, roles: &Roles) -> Result<Table, DataError> {
        let mut columns = vec![("id".to_string(), Column::Text(std::mem::take(&mut self.columns[roles.id])))];
        if let Some(at) = roles.label {
            columns.push(("label".to_string(), Column::Text(std::mem::take(&mut self.columns[at]))));
        }
        for (at, name) in roles.names.iter().enumerate() {
            if at != roles.id && Some(at) != roles.label && !roles.by.contains(&at) {
                columns.push((name.clone(), Column::Text(std::mem::take(&mut self.columns[at]))));
            }
        }
        Table::new(columns)
    }
}
