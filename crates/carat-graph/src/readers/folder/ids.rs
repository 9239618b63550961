//! The ids of nodes, which may be any text.

use std::collections::HashMap;

use crate::readers::rows::Cell;

/// Which node has which id. Ids that are the row numbers, from 0, need neither memory nor hashing.
pub(super) enum Ids {
    /// Node k has the id k.
    RowNumbers(u32),
    /// Node by id.
    Named(HashMap<String, u32>),
}

/// Why an id was refused.
pub(super) enum Refused {
    /// Another node has it.
    Duplicate,
    /// There are as many nodes as a graph can have.
    Full,
}

impl Ids {
    pub(super) fn new() -> Self {
        Self::RowNumbers(0)
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::RowNumbers(count) => *count as usize,
            Self::Named(nodes) => nodes.len(),
        }
    }

    /// Gives the next node its id.
    pub(super) fn add(&mut self, id: &str) -> Result<(), Refused> {
        let node = u32::try_from(self.len()).ok().filter(|&node| node < u32::MAX).ok_or(Refused::Full)?;
        if let Self::RowNumbers(count) = self {
            if row_number(id) == Some(node) {
                *count += 1;
                return Ok(());
            }
            *self = Self::Named((0..node).map(|earlier| (earlier.to_string(), earlier)).collect());
        }
        match self {
            Self::Named(nodes) if !nodes.contains_key(id) => {
                nodes.insert(id.to_string(), node);
                Ok(())
            }
            _ => Err(Refused::Duplicate),
        }
    }

    /// The node that a cell names.
    pub(super) fn find(&self, cell: Cell<'_>) -> Option<u32> {
        match self {
            Self::RowNumbers(count) => match cell {
                Cell::Integer(number) => u32::try_from(number).ok(),
                cell => row_number(&cell.text()?),
            }
            .filter(|node| node < count),
            Self::Named(nodes) => nodes.get(cell.text()?.as_ref()).copied(),
        }
    }

    /// Every id in the order of the nodes; `None` if they are the row numbers.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let Self::Named(nodes) = self else {
            return None;
        };
        let mut names = vec![String::new(); nodes.len()];
        for (id, &node) in nodes {
            names[node as usize].clone_from(id);
        }
        Some(names)
    }

    /// The error for a node that does not exist.
    pub(super) fn help(&self, id: &str) -> String {
        /// The longest id compared for a suggestion. Comparing longer texts is slow.
        const LONGEST: usize = 64;
        match self {
            Self::RowNumbers(0) => "; there are no nodes".into(),
            Self::RowNumbers(count) => format!("; the ids go from 0 to {}", count - 1),
            Self::Named(_) if id.len() > LONGEST => String::new(),
            Self::Named(nodes) => nodes
                .keys()
                .filter(|known| known.len() <= LONGEST)
                .map(|known| (strsim::jaro_winkler(known, id), known))
                .filter(|(likeness, _)| *likeness > 0.85)
                // Ties go to the first in the alphabet, so that the message is always the same.
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1)))
                .map_or_else(String::new, |(_, known)| format!("; did you mean '{known}'?")),
        }
    }
}

/// The number that `id` spells in the usual way: neither +1 nor 01.
fn row_number(id: &str) -> Option<u32> {
    let usual = id == "0" || id.starts_with(|c: char| ('1'..='9').contains(&c));
    id.parse().ok().filter(|_| usual)
}
