//! Table 1: "Test loss on 8 node classification datasets", mean and deviation over the grid.

use carat_report::statistics::Spread;

use super::{ByKind, spread};

/// Without CAR.
pub const LOSS_BASELINE: ByKind<Spread> = [
    [
        spread(2.33, 0.75),
        spread(3.68, 2.64),
        spread(1.05, 0.24),
        spread(1.49, 0.02),
        spread(1.29, 0.03),
        spread(1.48, 0.02),
        spread(1.19, 0.23),
        spread(0.88, 0.11),
    ],
    [
        spread(2.26, 0.54),
        spread(3.08, 1.06),
        spread(1.07, 0.29),
        spread(1.48, 0.02),
        spread(1.28, 0.03),
        spread(1.48, 0.02),
        spread(1.09, 0.11),
        spread(0.88, 0.15),
    ],
    [
        spread(3.43, 1.61),
        spread(9.78, 8.27),
        spread(1.79, 0.88),
        spread(1.50, 0.03),
        spread(1.38, 0.06),
        spread(1.50, 0.02),
        spread(1.22, 0.25),
        spread(1.03, 0.28),
    ],
];

/// With CAR.
pub const LOSS_CAR: ByKind<Spread> = [
    [
        spread(1.82, 0.77),
        spread(3.06, 2.34),
        spread(0.89, 0.18),
        spread(1.49, 0.02),
        spread(1.26, 0.03),
        spread(1.47, 0.02),
        spread(1.14, 0.17),
        spread(0.84, 0.13),
    ],
    [
        spread(1.63, 0.59),
        spread(3.04, 2.07),
        spread(0.90, 0.17),
        spread(1.47, 0.03),
        spread(1.24, 0.03),
        spread(1.46, 0.02),
        spread(1.04, 0.10),
        spread(0.81, 0.09),
    ],
    [
        spread(1.71, 0.50),
        spread(3.92, 2.25),
        spread(1.60, 0.59),
        spread(1.50, 0.03),
        spread(1.33, 0.04),
        spread(1.48, 0.03),
        spread(1.07, 0.12),
        spread(0.86, 0.13),
    ],
];
