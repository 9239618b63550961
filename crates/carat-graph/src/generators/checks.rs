//! Checks that every generator makes before it allocates: each names the value at fault and its range.

use std::fmt::Display;

use crate::{DataError, SplitRatio};

/// The most nodes. A larger number is a typing error, not a graph for one machine.
pub(super) const MOST_NODES: usize = 100_000_000;
/// The most edges, stored words or feature values a generator makes.
pub(super) const MOST_VALUES: usize = 2_000_000_000;
/// The most classes.
pub(super) const MOST_CLASSES: usize = 100_000;

/// `value` must lie in `least..=most`; a NaN does not.
pub(super) fn within<T: PartialOrd + Display>(name: &str, value: T, least: T, most: T) -> Result<(), DataError> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(DataError::Invalid(format!("{name} is {value}; it must lie between {least} and {most}")))
}

/// A share or a probability.
pub(super) fn share(name: &str, value: f64) -> Result<(), DataError> {
    within(name, value, 0.0, 1.0)
}

/// How many values `rows` rows of `per_row` make, at most [`MOST_VALUES`]. `names` says which settings to lower.
pub(super) fn volume(names: &str, rows: usize, per_row: f64) -> Result<(), DataError> {
    if rows as f64 * per_row <= MOST_VALUES as f64 {
        return Ok(());
    }
    Err(DataError::Invalid(format!("{names} make more than {MOST_VALUES} values; lower one of them")))
}

/// Three shares that leave something to train on and do not exceed the whole.
pub(super) fn split_ratio(ratio: SplitRatio) -> Result<(), DataError> {
    share("split_ratio.train", ratio.train)?;
    share("split_ratio.val", ratio.val)?;
    share("split_ratio.test", ratio.test)?;
    if ratio.train == 0.0 {
        return Err(DataError::Invalid("split_ratio.train is 0; it must be above 0".into()));
    }
    let sum = ratio.train + ratio.val + ratio.test;
    if sum > 1.0 + 1e-9 {
        return Err(DataError::Invalid(format!("split_ratio adds up to {sum}; it must be at most 1")));
    }
    Ok(())
}
