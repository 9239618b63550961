//! Sections of a report on a store: whether CAR helps on a dataset, and how much the stopping rule matters.

mod stopping;
mod verdict;

pub use stopping::stopping;
pub use verdict::{sentences, verdict};
