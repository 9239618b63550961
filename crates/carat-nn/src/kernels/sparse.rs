//! Sparse rows times a dense matrix, and the transpose of that: the encoder on a bag of words.

use pulp::Simd;

use super::vector;
use crate::real::Real;
use crate::rows::{Chunks, Rows};

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

    /// out += self * dense, where `dense` and `out` have `width` columns.
    pub(crate) fn multiply_add(&self, out: &mut [T], dense: &[T], width: usize) {
        self.chunks.run(Rows::new(out, width), |range, rows| {
            let (from, to) = (self.offsets[range.start], self.offsets[range.end]);
            let part = Part {
                offsets: &self.offsets[range.start..=range.end],
                indices: &self.indices[from..to],
                values: &self.values[from..to],
            };
            rows_times_dense(rows.into_slice(), part, dense, width);
        });
    }
}

/// Some rows of a sparse matrix; `offsets` still count from the start of the whole.
#[derive(Clone, Copy)]
struct Part<'a, T> {
    offsets: &'a [usize],
    indices: &'a [u32],
    values: &'a [T],
}

#[pulp::with_simd(rows_times_dense = pulp::Arch::new())]
#[inline(always)]
fn rows_times_dense_simd<'a, S: Simd, T: Real>(
    simd: S,
    out: &'a mut [T],
    part: Part<'a, T>,
    dense: &'a [T],
    width: usize,
) {
    let first = part.offsets[0];
    for (out, border) in out.chunks_exact_mut(width).zip(part.offsets.windows(2)) {
        let range = border[0] - first..border[1] - first;
        for (&index, &value) in part.indices[range.clone()].iter().zip(&part.values[range]) {
            let start = index as usize * width;
            vector::add_scaled(simd, out, value, &dense[start..start + width]);
        }
    }
}
