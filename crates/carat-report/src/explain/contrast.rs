//! Compares one property of the most up-weighted edges with that of the most down-weighted ones.

use carat::explain::{EdgeChanges, Property};
use serde::Serialize;

use crate::statistics::{Separation, Spread, five_numbers, separation};

/// The number of equal parts of the ranked edges.
const TENTHS: usize = 10;

/// Values of a property over some edges.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sample {
    /// The number of edges for which it is known.
    pub known: usize,
    /// Mean.
    pub mean: f64,
    /// Minimum, quartiles and maximum.
    pub five_numbers: [f64; 5],
}

impl Sample {
    fn of(values: &[(f64, u32)]) -> Option<Self> {
        let values: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        let (mean, five_numbers) = (Spread::of(&values)?.mean, five_numbers(&values)?);
        Some(Self { known: values.len(), mean, five_numbers })
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.five_numbers[2]
    }

    /// The typical value: the median, or the mean of properties with so few values that medians hide differences.
    pub fn typical(&self, property: Property) -> f64 {
        if matches!(property, Property::SameClass | Property::YearGap) { self.mean } else { self.median() }
    }
}

/// How a property differs between the most up- and the most down-weighted edges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// The property.
    pub property: Property,
    /// Among the most up-weighted edges.
    pub up: Sample,
    /// Among the most down-weighted edges.
    pub down: Sample,
    /// How far `up` lies above `down`. Edges into one target form a cluster.
    pub separation: Separation,
    /// The typical value of each tenth of the ranked edges, the most down-weighted first.
    pub tenths: Vec<f64>,
}

impl Contrast {
    /// Compares a share of the ranked edges at both ends. `None` where the property is unknown for a whole end.
    pub(super) fn of(changes: &EdgeChanges, property: Property, share: f64) -> Option<Self> {
        let known = |edges: &[u32]| -> Vec<(f64, u32)> {
            let value = |&edge: &u32| Some((changes.value(property, edge)?, changes.dst[edge as usize]));
            edges.iter().filter_map(value).collect()
        };
        let (up, down) = changes.ends(share);
        let (up, down) = (known(up), known(&down));
        let ranked = changes.order.len();
        let tenth = |part: usize| {
            let (from, to) = (ranked - (part + 1) * ranked / TENTHS, ranked - part * ranked / TENTHS);
            Sample::of(&known(&changes.order[from..to])).map(|sample| sample.typical(property))
        };
        Some(Self {
            property,
            separation: separation(&up, &down)?,
            up: Sample::of(&up)?,
            down: Sample::of(&down)?,
            tenths: (0..TENTHS).filter_map(tenth).collect(),
        })
    }
}
