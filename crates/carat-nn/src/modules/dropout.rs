//! Inverted dropout with masks that are pure functions of where they apply.
//!
//! ```text
//! drop(x)_rc = x_rc m(seed, step, place, r, c) / (1 - p)        m: 0 with probability p, else 1
//! ```
//!
//! Row r is a node, or an edge for attention, by its number in the graph. So the pass with and the pass without an edge
//! meet the same masks, whatever part is computed again and on whichever thread.

use pulp::Simd;

use crate::real::Real;

/// The masks of one training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks(u64);

impl Masks {
    /// The masks of step `step` of the training with this seed.
    pub fn new(seed: u64, step: u64) -> Self {
        Self(mix(mix(seed) ^ step))
    }

    /// The dropout with this rate at a place. None where nothing is dropped.
    pub fn at(self, place: Place, rate: f64) -> Option<Dropout> {
        let threshold = (rate * 2f64.powi(32)) as u32;
        let key = mix(self.0 ^ mix(place.number()));
        (threshold > 0).then(|| Dropout { key, threshold, scale: 1.0 / (1.0 - rate) })
    }
}

/// Where a network drops values. Each place has masks of its own.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Features.
    Input,
    /// The encoder's output.
    Encoder,
    /// A layer's attention.
    Attention(usize),
    /// A layer's output.
    Layer(usize),
    /// The edges of all layers: column 0 of an edge's row.
    Edges,
    /// A layer's messages: the columns of all heads side by side in an edge's row.
    Messages(usize),
}

impl Place {
    fn number(self) -> u64 {
        match self {
            Self::Input => 0,
            Self::Encoder => 1,
            Self::Attention(layer) => 2 + 2 * layer as u64,
            Self::Layer(layer) => 3 + 2 * layer as u64,
            Self::Edges => u64::MAX,
            Self::Messages(layer) => u64::MAX - 1 - layer as u64,
        }
    }
}

/// Dropout at one place of a network in one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    key: u64,
    /// Numbers below it are dropped.
    threshold: u32,
    scale: f64,
}

impl Dropout {
    /// The mask of a row.
    #[inline(always)]
    pub fn row<T: Real>(&self, row: u32) -> RowMask<T> {
        let key = mix(self.key ^ u64::from(row));
        RowMask { keys: [key as u32, (key >> 32) as u32], threshold: self.threshold, scale: T::from_f64(self.scale) }
    }

    /// Drops values of a row, in place, inside a kernel. Also takes the gradient of the result to that of the row.
    #[inline(always)]
    pub(crate) fn apply<T: Real>(&self, row: u32, values: &mut [T]) {
        let mask = self.row(row);
        for (column, value) in (0u32..).zip(values) {
            *value *= mask.factor(column);
        }
    }

    /// The same for rows of `width` values, whose numbers are given.
    pub(crate) fn apply_rows<T: Real>(&self, rows: impl Iterator<Item = u32>, width: usize, values: &mut [T]) {
        drop_rows(*self, rows, width, values);
    }
}

#[pulp::with_simd(drop_rows = T::machine())]
#[inline(always)]
fn drop_rows_simd<S: Simd, T: Real, R: Iterator<Item = u32>>(
    _: S,
    dropout: Dropout,
    rows: R,
    width: usize,
    values: &mut [T],
) {
    // Values first: the rows have no end of their own.
    for (values, row) in values.chunks_exact_mut(width).zip(rows) {
        dropout.apply(row, values);
    }
}

/// The mask of one row.
#[derive(Debug, Clone, Copy)]
pub struct RowMask<T> {
    keys: [u32; 2],
    threshold: u32,
    scale: T,
}

impl<T: Real> RowMask<T> {
    /// What the value in this column is multiplied by: 0 or 1 / (1 - p).
    #[inline(always)]
    pub fn factor(&self, column: u32) -> T {
        let [first, second] = self.keys;
        let number = mix32(mix32(first.wrapping_add(column.wrapping_mul(0x9E37_79B9))) ^ second);
        if number < self.threshold { T::ZERO } else { self.scale }
    }
}

/// SplitMix64's output function.
#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A bijection of 32 bits whose outputs look unrelated to its inputs ("lowbias32" by C. Wellons).
#[inline(always)]
fn mix32(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(dropout: Dropout, rows: u32, columns: u32) -> Vec<bool> {
        let rows = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c)));
        rows.map(|(r, c)| dropout.row::<f32>(r).factor(c) > 0.0).collect()
    }

    fn share(a: &[bool], b: &[bool]) -> f64 {
        a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
    }

    #[test]
    fn the_rate_is_kept_and_the_mean_stays() {
        for rate in [0.1, 0.5, 0.8] {
            let dropout = Masks::new(3, 7).at(Place::Encoder, rate).unwrap();
            let kept = kept(dropout, 500, 200);
            let found = kept.iter().filter(|kept| **kept).count() as f64 / kept.len() as f64;
            assert!((found - (1.0 - rate)).abs() < 0.006, "{rate}: {found}");
            assert!((dropout.scale * (1.0 - rate) - 1.0).abs() < 1e-12);
        }
        assert_eq!(Masks::new(3, 7).at(Place::Encoder, 0.0), None);
    }

    #[test]
    fn seeds_steps_places_rows_and_columns_have_masks_of_their_own() {
        let mask = |seed, step, place| kept(Masks::new(seed, step).at(Place::Layer(place), 0.5).unwrap(), 100, 100);
        let first = mask(1, 1, 1);
        assert_eq!(first, mask(1, 1, 1));
        for other in [mask(2, 1, 1), mask(1, 2, 1), mask(1, 1, 2)] {
            assert!((share(&first, &other) - 0.5).abs() < 0.02);
        }
        // Neighbouring rows and columns.
        assert!((share(&first[100..], &first[..9900]) - 0.5).abs() < 0.02);
        assert!((share(&first[1..], &first[..9999]) - 0.5).abs() < 0.02);
    }
}
