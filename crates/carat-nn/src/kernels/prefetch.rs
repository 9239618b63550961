//! Prefetches rows. The rows of neighbours lie anywhere in memory, so the processor cannot guess which comes next. On a
//! graph that is larger than the caches it would wait for each.

use carat_graph::Block;

/// How far passes over the edges of a graph look ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookahead {
    /// Edges between the current one and the one whose row is prefetched.
    pub(crate) rows: usize,
    /// The same for a few numbers per edge, which need fewer of the loads that can be in flight at once.
    pub(crate) values: usize,
}

impl Lookahead {
    /// For a pass whose edges read anywhere in `matrix`. Where the matrix fits into the caches, prefetching costs more
    /// than it saves, and the edges to prefetch for are beyond the end of any list.
    #[inline(always)]
    pub(crate) fn over<T>(matrix: &[T]) -> Self {
        if size_of_val(matrix) > CACHED_BYTES {
            Self { rows: 4, values: 16 }
        } else {
            Self { rows: usize::MAX / 2, values: usize::MAX / 2 }
        }
    }
}

/// Bytes that stay in the caches from one pass to the next.
const CACHED_BYTES: usize = 16 << 20;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Starts to load row `row` of a matrix into the cache, if there is such a row. It has no other effect.
#[inline(always)]
pub(crate) fn prefetch_row<T>(matrix: &[T], row: u32, width: usize) {
    let Some(row) = matrix.get(row as usize * width..(row as usize + 1) * width) else { return };
    for line in (0..size_of_val(row)).step_by(LINE) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch is a hint that reads nothing into the program and never faults, whatever the address;
            // this one lies inside `row`. Every x86-64 processor has the instruction.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast::<i8>().wrapping_add(line)) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (row, line);
    }
}

/// Prefetches values by edge, `width` each, that a pass over sources will read some edges after those of `source`.
#[inline(always)]
pub(crate) fn prefetch_edges<T>(block: Block<'_>, source: usize, ahead: Lookahead, values: [&[T]; 2], width: usize) {
    let (_, edges) = block.out_edges_from(source);
    for &later in edges.iter().skip(ahead.values).take(block.out_degree(source)) {
        values.iter().for_each(|values| prefetch_row(values, later, width));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_outgrows_the_caches_is_asked_for_and_only_rows_that_are_there() {
        let large = vec![0u8; CACHED_BYTES + 1];
        let list = [7u32; 64];
        assert!(list.get(Lookahead::over(&large).rows).is_some());
        assert!(list.get(63 + Lookahead::over(&large[1..]).rows).is_none());
        prefetch_row(&large, 3, 64);
        prefetch_row(&large, u32::MAX, 64);
    }
}
