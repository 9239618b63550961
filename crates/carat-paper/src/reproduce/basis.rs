//! Which of an item's runs are there.

use std::collections::HashSet;

use carat::{Error, TrainConfig};
use carat_lab::sweep::{Grid, Run};

/// The runs of an item's grids that are there, and how many there should be.
#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    /// Those that are there.
    pub(super) runs: Vec<&'a Run>,
    /// All that the grids have.
    pub(super) expected: usize,
}

impl<'a> Found<'a> {
    /// Takes the runs of these grids. Others would bend means over the grid, however good they are.
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

    /// Runs that are not there.
    pub(super) fn missing(&self) -> usize {
        self.expected - self.runs.len()
    }
}

/// A run's settings as text: the same for equal runs only.
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
        let found = Found::of(&runs, &[grid]).unwrap();
        assert_eq!((found.runs.len(), found.expected, found.missing()), (2, 4, 2));
    }
}
