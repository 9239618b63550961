//! Sections of a report on the runs of a store: does CAR help on a dataset, and what does the rule for stopping decide?

mod stopping;
mod verdict;

pub use stopping::stopping;
pub use verdict::{sentences, verdict};
