//! Tuning: a search for the settings that predict best on a dataset.
//!
//! Candidates are drawn from a declared [`Space`]. All of them are trained once, the best third three times, and the
//! best ninth nine times, so that most of the time goes to what is promising. The first candidate is what the user
//! would have without a search. It stays to the end, so that the winner is never worse than it on validation.
//!
//! A [`Search`] sees validation scores alone (see [`score()`]). A [`Comparison`] measures its winner on test entities,
//! by runs that the search did not make.

mod candidate;
mod comparison;
mod draws;
mod repetitions;
mod search;
mod space;

#[cfg(test)]
mod tests;

pub use candidate::{Candidate, Origin, Score, score};
pub use comparison::{Comparison, Pair};
pub use draws::Draws;
pub use repetitions::Repetitions;
pub use search::{Budget, Limits, Search, Stage};
pub use space::Space;
