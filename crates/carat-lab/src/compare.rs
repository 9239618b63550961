//! Comparisons of paired runs: a regularised run and its opponent, a run of the same setting.
//!
//! ```text
//! runs -> Pairing (method against baseline, or against another method)
//!      -> Comparison (one measure, one dataset, one protocol)
//!      -> Family (one comparison per dataset, corrected for their number) -> sentences and tables
//! ```

mod comparison;
mod family;
pub mod made_up;
mod measure;
mod method;
mod pairing;

pub use comparison::Comparison;
pub use family::{Family, FamilyRow};
pub use measure::Measure;
pub use method::Method;
pub use pairing::{Opponent, Pair, Pairing};
