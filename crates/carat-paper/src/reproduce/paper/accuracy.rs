//! "Test accuracy on 8 node classification datasets" (appendix), means and deviations over the grid.

use carat_report::statistics::Spread;

use super::{ByKind, spreads};

/// Without CAR.
pub const ACCURACY_BASELINE: ByKind<Spread> = [
    spreads([0.58, 0.46, 0.69, 0.56, 0.50, 0.37, 0.66, 0.78], [0.13, 0.09, 0.01, 0.01, 0.01, 0.01, 0.06, 0.03]),
    spreads([0.60, 0.47, 0.69, 0.56, 0.51, 0.37, 0.68, 0.79], [0.14, 0.08, 0.01, 0.01, 0.01, 0.01, 0.04, 0.02]),
    spreads([0.60, 0.43, 0.72, 0.56, 0.50, 0.37, 0.70, 0.78], [0.04, 0.09, 0.02, 0.01, 0.01, 0.01, 0.02, 0.02]),
];

/// With CAR.
pub const ACCURACY_CAR: ByKind<Spread> = [
    spreads([0.60, 0.49, 0.71, 0.56, 0.50, 0.37, 0.67, 0.78], [0.12, 0.06, 0.01, 0.01, 0.01, 0.01, 0.06, 0.03]),
    spreads([0.61, 0.50, 0.71, 0.56, 0.51, 0.37, 0.70, 0.79], [0.12, 0.06, 0.01, 0.01, 0.01, 0.01, 0.03, 0.02]),
    spreads([0.65, 0.47, 0.72, 0.56, 0.50, 0.37, 0.71, 0.79], [0.04, 0.09, 0.01, 0.01, 0.01, 0.01, 0.02, 0.01]),
];
