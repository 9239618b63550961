//! "Training times for node classification datasets" (appendix): seconds on an NVIDIA Tesla T4.

use carat_report::statistics::Spread;

use super::spread;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuntimeFigures {
    /// Training nodes.
    pub nodes: usize,
    /// In-edges of training nodes, with their deviation over splits.
    pub edges: Spread,
    /// Seconds without CAR.
    pub plain: Spread,
    /// Seconds with CAR.
    pub car: Spread,
}

const fn figures(nodes: usize, edges: Spread, plain: Spread, car: Spread) -> RuntimeFigures {
    RuntimeFigures { nodes, edges, plain, car }
}

const fn exactly(mean: f64) -> Spread {
    Spread { mean, deviation: None }
}

/// In the order of the datasets.
pub const RUNTIME: [RuntimeFigures; 8] = [
    figures(140, exactly(638.0), spread(1.1, 0.4), spread(2.2, 2.1)),
    figures(120, exactly(364.0), spread(1.3, 0.5), spread(2.1, 1.7)),
    figures(60, exactly(297.0), spread(1.4, 0.7), spread(2.3, 2.6)),
    figures(32_970, exactly(93_942.0), spread(165.0, 78.0), spread(286.0, 166.0)),
    figures(1_092, spread(17_157.0, 1_013.0), spread(1.6, 0.3), spread(2.6, 1.1)),
    figures(2_496, spread(105_517.0, 3_062.0), spread(2.7, 0.6), spread(4.0, 1.9)),
    figures(87, spread(148.0, 18.0), spread(1.3, 1.2), spread(1.4, 0.9)),
    figures(120, spread(239.0, 10.0), spread(1.1, 0.4), spread(1.1, 0.6)),
];
