//! Sections of a report on a store: whether CAR helps on a dataset, how much the stopping rule matters, and any figure
//! by setting.

mod figures;
mod stopping;
mod verdict;

pub use figures::figures;
pub use stopping::stopping;
pub use verdict::{sentences, verdict};
