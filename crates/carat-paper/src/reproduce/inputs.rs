//! The inputs of an item's section: its finished runs, and studies.

use std::collections::HashSet;

use carat::{Error, TrainConfig};
use carat_lab::compare::{Method, Opponent, Pairing};
use carat_lab::sweep::{Grid, Run};

use super::{Item, Scope, Studies};

/// The inputs of a section.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The item's own runs.
    pub(super) found: ItemRuns<'a>,
    /// All finished runs, including those of other items.
    pub(super) runs: &'a [Run],
    /// How much is computed, and on which data.
    pub(super) scope: &'a Scope,
    /// Results that were computed besides runs.
    pub(super) studies: &'a Studies,
}

impl<'a> Inputs<'a> {
    /// Finds the item's runs among all.
    pub(super) fn of(item: &dyn Item, runs: &'a [Run], scope: &'a Scope, studies: &'a Studies) -> Result<Self, Error> {
        Ok(Self { found: ItemRuns::of(runs, &item.grids(scope))?, runs, scope, studies })
    }
}

/// The finished runs of an item's grids, and how many runs the grids have.
#[derive(Debug, Clone)]
pub struct ItemRuns<'a> {
    /// Finished runs.
    pub(super) runs: Vec<&'a Run>,
    /// The number of runs in the grids.
    pub(super) expected: usize,
}

impl<'a> ItemRuns<'a> {
    /// Takes the runs of these grids. Other runs would distort means over the grid.
    pub(super) fn of(runs: &'a [Run], grids: &[Grid]) -> Result<Self, Error> {
        let mut wanted = HashSet::new();
        for grid in grids {
            for config in grid.runs()? {
                wanted.insert(key(&config)?);
            }
        }
        let mut taken = HashSet::new();
        let mut found = Vec::new();
        for run in runs {
            let key = key(&run.config)?;
            if wanted.contains(&key) && taken.insert(key) {
                found.push(run);
            }
        }
        Ok(Self { runs: found, expected: wanted.len() })
    }

    /// The paper's method against baselines.
    pub(super) fn car(&self) -> Pairing<'a> {
        Pairing::of(&self.runs, &Method::paper(), Opponent::Baseline)
    }

    /// The number of runs that are missing.
    pub(super) fn missing(&self) -> usize {
        self.expected - self.runs.len()
    }
}

/// A run's settings as text, which only equal settings share.
pub(super) fn key(config: &TrainConfig) -> Result<String, Error> {
    serde_json::to_string(config).map_err(|e| Error::Config(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_lab::compare::made_up::{baseline, regularised};

    #[test]
    fn only_the_grid_s_runs_are_taken_and_the_rest_is_counted() {
        let grid = Grid::new().with("data", ["a"]).with("hidden", [10, 25]).with("lambda", [0.0, 1.0]);
        let runs = [
            baseline("a", 10, 2.0),
            regularised("a", 10, 1.0, 1.0),
            regularised("a", 10, 1.0, 1.0),
            regularised("a", 10, 5.0, 1.0),
            regularised("b", 10, 1.0, 1.0),
        ];
        let found = ItemRuns::of(&runs, &[grid]).unwrap();
        assert_eq!((found.runs.len(), found.expected, found.missing()), (2, 4, 2));
    }
}
