//! Sweeps: grids of runs. Each run is computed once and kept in a store.

mod curve;
mod execute;
mod grid;
mod guides;
mod merge;
mod plan;
mod run;
mod store;
mod train;
mod worker;

#[cfg(test)]
mod fingerprint_tests;
#[cfg(test)]
mod store_tests;

pub use curve::{Curve, Point};
pub use execute::{Event, SweepOptions, Tally, open_datasets, results, sweep};
pub use grid::Grid;
pub use merge::{Merged, merge};
pub use run::{Outcome, PairKey, Run, TrainingCurve, described, differences};
pub use store::{CODE, Record, Store};
