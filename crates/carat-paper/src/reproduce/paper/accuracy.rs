//! "Test accuracy on 8 node classification datasets" (appendix), mean and deviation over the grid.

use carat_report::statistics::Spread;

use super::{ByKind, spread};

/// Without CAR.
pub const ACCURACY_BASELINE: ByKind<Spread> = [
    [
        spread(0.58, 0.13),
        spread(0.46, 0.09),
        spread(0.69, 0.01),
        spread(0.56, 0.01),
        spread(0.50, 0.01),
        spread(0.37, 0.01),
        spread(0.66, 0.06),
        spread(0.78, 0.03),
    ],
    [
        spread(0.60, 0.14),
        spread(0.47, 0.08),
        spread(0.69, 0.01),
        spread(0.56, 0.01),
        spread(0.51, 0.01),
        spread(0.37, 0.01),
        spread(0.68, 0.04),
        spread(0.79, 0.02),
    ],
    [
        spread(0.60, 0.04),
        spread(0.43, 0.09),
        spread(0.72, 0.02),
        spread(0.56, 0.01),
        spread(0.50, 0.01),
        spread(0.37, 0.01),
        spread(0.70, 0.02),
        spread(0.78, 0.02),
    ],
];

/// With CAR.
pub const ACCURACY_CAR: ByKind<Spread> = [
    [
        spread(0.60, 0.12),
        spread(0.49, 0.06),
        spread(0.71, 0.01),
        spread(0.56, 0.01),
        spread(0.50, 0.01),
        spread(0.37, 0.01),
        spread(0.67, 0.06),
        spread(0.78, 0.03),
    ],
    [
        spread(0.61, 0.12),
        spread(0.50, 0.06),
        spread(0.71, 0.01),
        spread(0.56, 0.01),
        spread(0.51, 0.01),
        spread(0.37, 0.01),
        spread(0.70, 0.03),
        spread(0.79, 0.02),
    ],
    [
        spread(0.65, 0.04),
        spread(0.47, 0.09),
        spread(0.72, 0.01),
        spread(0.56, 0.01),
        spread(0.50, 0.01),
        spread(0.37, 0.01),
        spread(0.71, 0.02),
        spread(0.79, 0.01),
    ],
];
