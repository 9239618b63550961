//! Sparse rows times a dense matrix, and the transpose of that: the encoder on a bag of words.

use std::ops::Range;

use pulp::Simd;

use super::vector;
use super::weighted::{RowSums, Start, WeightedRows, weighted_sums};
use crate::real::Real;
use crate::rows::{Chunks, EdgeRows, Rows};

/// Non-zeros per chunk of rows or columns.
const CHUNK_VALUES: usize = 4096;

/// A sparse matrix by row, or its transpose by column, in the numbers the kernels run on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sparse<T> {
    pub(crate) offsets: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<T>,
    pub(crate) chunks: Chunks,
}

impl<T: Real> Sparse<T> {
    pub(crate) fn new(offsets: Vec<usize>, indices: Vec<u32>, values: Vec<T>) -> Self {
        let chunks = Chunks::by_edges(&offsets, CHUNK_VALUES);
        Self { offsets, indices, values, chunks }
    }

    /// The transpose; within a row of it, indices ascend.
    pub(crate) fn transposed(&self, num_columns: usize) -> Self {
        let mut offsets = vec![0usize; num_columns + 1];
        for &c in &self.indices {
            offsets[c as usize + 1] += 1;
        }
        for c in 0..num_columns {
            offsets[c + 1] += offsets[c];
        }
        let mut next = offsets.clone();
        let mut indices = vec![0; self.indices.len()];
        let mut values = vec![T::ZERO; self.values.len()];
        for row in 0..self.offsets.len() - 1 {
            for at in self.offsets[row]..self.offsets[row + 1] {
                let slot = &mut next[self.indices[at] as usize];
                indices[*slot] = row as u32;
                values[*slot] = self.values[at];
                *slot += 1;
            }
        }
        Self::new(offsets, indices, values)
    }

    /// Multiplies every value by a factor of its row and its index, on all threads.
    pub(crate) fn scale(&mut self, factor: impl Fn(usize, u32) -> T + Sync) {
        let Self { offsets, indices, values, chunks } = self;
        chunks.run(EdgeRows::new(values, offsets, 1), |range, values| {
            let values = values.into_slice();
            for row in range.clone() {
                let (first, end) = (offsets[row], offsets[row + 1]);
                let own = &mut values[first - offsets[range.start]..end - offsets[range.start]];
                own.iter_mut().zip(&indices[first..end]).for_each(|(value, &index)| *value *= factor(row, index));
            }
        });
    }

    /// out = self * dense, where `dense` and `out` have `width` columns.
    pub(crate) fn multiply(&self, out: &mut [T], dense: &[T], width: usize) {
        self.chunks.run(Rows::new(out, width), |range, rows| {
            rows_times_dense(rows.into_slice(), self.part(range), dense, Each::Plain);
        });
    }

    /// out = LeakyReLU(self * dense + bias), row by row.
    pub(crate) fn affine_leaky_relu(&self, out: &mut [T], dense: &[T], bias: &[T], slope: T) {
        self.chunks.run(Rows::new(out, bias.len()), |range, rows| {
            rows_times_dense(rows.into_slice(), self.part(range), dense, Each::AffineLeakyRelu(bias, slope));
        });
    }

    fn part(&self, range: Range<usize>) -> Part<'_, T> {
        let (from, to) = (self.offsets[range.start], self.offsets[range.end]);
        Part {
            offsets: &self.offsets[range.start..=range.end],
            indices: &self.indices[from..to],
            values: &self.values[from..to],
        }
    }
}

/// Some rows of a sparse matrix; `offsets` still count from the start of the whole.
#[derive(Clone, Copy)]
struct Part<'a, T> {
    offsets: &'a [usize],
    indices: &'a [u32],
    values: &'a [T],
}

/// What is applied to each row of the product.
#[derive(Clone, Copy)]
enum Each<'a, T> {
    Plain,
    AffineLeakyRelu(&'a [T], T),
}

/// The dense rows that one sparse row combines.
struct Combination<'a, T> {
    indices: &'a [u32],
    values: &'a [T],
    dense: &'a [T],
    width: usize,
}

impl<T: Real> WeightedRows<T, 1> for Combination<'_, T> {
    #[inline(always)]
    fn add_to(&self, sums: &mut impl RowSums<T, 1>) {
        for (&index, &value) in self.indices.iter().zip(self.values) {
            let start = index as usize * self.width;
            sums.add([value], &self.dense[start..start + self.width]);
        }
    }
}

#[pulp::with_simd(rows_times_dense = T::machine())]
#[inline(always)]
fn rows_times_dense_simd<'a, S: Simd, T: Real>(
    simd: S,
    out: &'a mut [T],
    part: Part<'a, T>,
    dense: &'a [T],
    each: Each<'a, T>,
) {
    let first = part.offsets[0];
    let rows = part.offsets.len() - 1;
    let width = out.len() / rows.max(1);
    for (out, border) in out.chunks_exact_mut(width).zip(part.offsets.windows(2)) {
        let range = border[0] - first..border[1] - first;
        let combination =
            Combination { indices: &part.indices[range.clone()], values: &part.values[range], dense, width };
        match each {
            Each::Plain => weighted_sums(simd, out, Start::Zero, &combination),
            Each::AffineLeakyRelu(bias, slope) => {
                weighted_sums(simd, out, Start::Row(bias), &combination);
                for value in out {
                    *value = vector::leaky_relu(*value, slope);
                }
            }
        }
    }
}
