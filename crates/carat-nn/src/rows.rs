//! Rows of output shared out over threads, with the same bits for any number of threads.
//!
//! Work is cut into chunks of rows whose borders depend only on the data. Each chunk owns its rows of every output, so
//! nothing is summed across threads, and it does not matter which thread computes a chunk. Chunks flush denormal
//! numbers to zero on every thread.

use std::cell::Cell;
use std::ops::Range;

use crate::denormals::Denormals;

thread_local! {
    static IN_CHUNK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a chunk of a loop, so that loops inside it are not shared out again. This depends on the
/// data, and never on the number of threads.
pub(crate) fn is_in_chunk() -> bool {
    IN_CHUNK.get()
}

/// Calls the work of one chunk.
fn in_chunk<R>(work: impl FnOnce() -> R) -> R {
    /// Restores the thread's state, also after a panic.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_CHUNK.set(self.0);
        }
    }
    let _restore = Restore(IN_CHUNK.replace(true));
    let _flush = Denormals::flush();
    work()
}

/// Mutable rows that can be cut in two.
pub trait SplitRows: Send + Sized {
    /// Cuts before row `row`, counted from the start of the whole matrix.
    fn split(self, row: usize) -> (Self, Self);
}

/// Rows of equal width.
pub struct Rows<'a, T> {
    data: &'a mut [T],
    width: usize,
    first: usize,
}

impl<'a, T> Rows<'a, T> {
    /// All rows of a matrix of `width` columns.
    pub fn new(data: &'a mut [T], width: usize) -> Self {
        Self { data, width, first: 0 }
    }

    /// The values of these rows, row by row.
    pub fn into_slice(self) -> &'a mut [T] {
        self.data
    }
}

impl<T: Send> SplitRows for Rows<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let (left, right) = self.data.split_at_mut((row - self.first) * self.width);
        (Self { data: left, width: self.width, first: self.first }, Self { data: right, width: self.width, first: row })
    }
}

/// Values per edge, in CSR order, cut where rows of the CSR are cut.
pub struct EdgeRows<'a, T> {
    data: &'a mut [T],
    offsets: &'a [usize],
    width: usize,
    first: usize,
}

impl<'a, T> EdgeRows<'a, T> {
    /// `width` values for every edge of the CSR with these row offsets.
    pub fn new(data: &'a mut [T], offsets: &'a [usize], width: usize) -> Self {
        Self { data, offsets, width, first: 0 }
    }

    /// The values of these rows, edge by edge.
    pub fn into_slice(self) -> &'a mut [T] {
        self.data
    }
}

impl<T: Send> SplitRows for EdgeRows<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let cut = (self.offsets[row] - self.offsets[self.first]) * self.width;
        let (left, right) = self.data.split_at_mut(cut);
        (
            Self { data: left, offsets: self.offsets, width: self.width, first: self.first },
            Self { data: right, offsets: self.offsets, width: self.width, first: row },
        )
    }
}

/// One row per chunk, for sums over all rows: chunks compute parts, and their owner adds them in the order of chunks.
pub struct ChunkRows<'a, T> {
    data: &'a mut [T],
    borders: &'a [usize],
    width: usize,
}

impl<'a, T> ChunkRows<'a, T> {
    /// `width` values for each of the chunks.
    pub fn new(data: &'a mut [T], chunks: &'a Chunks, width: usize) -> Self {
        Self { data, borders: &chunks.borders, width }
    }

    /// The values of this chunk.
    pub fn into_slice(self) -> &'a mut [T] {
        self.data
    }
}

impl<T: Send> SplitRows for ChunkRows<'_, T> {
    fn split(self, row: usize) -> (Self, Self) {
        let chunk = self.borders.partition_point(|&border| border < row);
        let (left, right) = self.data.split_at_mut(chunk * self.width);
        let (first, second) = (&self.borders[..=chunk], &self.borders[chunk..]);
        (
            Self { data: left, borders: first, width: self.width },
            Self { data: right, borders: second, width: self.width },
        )
    }
}

impl<A: SplitRows, B: SplitRows> SplitRows for (A, B) {
    fn split(self, row: usize) -> (Self, Self) {
        let (a, b) = (self.0.split(row), self.1.split(row));
        ((a.0, b.0), (a.1, b.1))
    }
}

impl<A: SplitRows, B: SplitRows, C: SplitRows> SplitRows for (A, B, C) {
    fn split(self, row: usize) -> (Self, Self) {
        let (a, b, c) = (self.0.split(row), self.1.split(row), self.2.split(row));
        ((a.0, b.0, c.0), (a.1, b.1, c.1))
    }
}

/// The parts of sums that chunks computed in [`ChunkRows`], to be added in the order of chunks: some columns of every
/// chunk's row.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a, T> {
    data: &'a [T],
    width: usize,
    columns: (usize, usize),
}

impl<'a, T> Parts<'a, T> {
    /// These columns of rows of `width`.
    pub fn new(data: &'a [T], width: usize, columns: Range<usize>) -> Self {
        Self { data, width, columns: (columns.start, columns.end) }
    }

    /// The finished sum.
    pub fn one(data: &'a [T]) -> Self {
        Self::new(data, data.len().max(1), 0..data.len())
    }

    /// The parts of all chunks.
    pub fn all(&self) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let (start, end) = self.columns;
        self.data.chunks_exact(self.width).map(move |row| &row[start..end])
    }
}

/// Ascending row numbers at which work is cut, the first 0 and the last the number of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunks {
    borders: Vec<usize>,
}

impl Chunks {
    /// Chunks of `size` rows; the last may be smaller.
    pub fn even(rows: usize, size: usize) -> Self {
        let mut borders: Vec<usize> = (0..rows).step_by(size.max(1)).collect();
        borders.push(rows);
        Self { borders }
    }

    /// An even number of equal chunks of at least `size` rows, so that two threads finish together; one chunk where
    /// there are fewer than twice that many rows.
    pub fn pairs(rows: usize, size: usize) -> Self {
        let count = (rows / size.max(1) / 2 * 2).max(1);
        Self::even(rows, rows.div_ceil(count))
    }

    /// Chunks of at most about `size` edges each and of about equal numbers, so that a hub does not keep one thread
    /// busy while others wait. A row costs something even without edges.
    pub fn by_edges(offsets: &[usize], size: usize) -> Self {
        let work_before = |row: usize| offsets[row] - offsets[0] + row;
        let rows = offsets.len() - 1;
        let count = work_before(rows).div_ceil(size.max(1));
        // Two threads finish together if the number is even.
        Self::equal(rows, work_before, if count > 1 { count.next_multiple_of(2) } else { 1 })
    }

    /// At most `count` chunks of about equal work, given the work of all rows before each, and of all.
    pub fn equal(rows: usize, work_before: impl Fn(usize) -> usize, count: usize) -> Self {
        let all = work_before(rows);
        let mut borders = vec![0];
        for piece in 1..count {
            // The first row, after the last border, before which there is as much work as that.
            let (mut row, mut end) = (borders[borders.len() - 1], rows);
            while row < end {
                let middle = row.midpoint(end);
                if work_before(middle) * count < all * piece {
                    row = middle + 1;
                } else {
                    end = middle;
                }
            }
            if row > borders[borders.len() - 1] && row < rows {
                borders.push(row);
            }
        }
        borders.push(rows);
        Self { borders }
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.borders.len() - 1
    }

    /// True when there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.borders.last() == Some(&0)
    }

    /// Calls `work` once per chunk with its rows. Where there are several chunks, loops inside `work` stay on its
    /// thread.
    pub fn run<R: SplitRows>(&self, rows: R, work: impl Fn(Range<usize>, R) + Sync) {
        match self.borders[..] {
            _ if self.is_empty() => {}
            [start, end] => {
                let _flush = Denormals::flush();
                work(start..end, rows);
            }
            _ => {
                // While this thread waits for others, it may run jobs that are not chunks.
                let _keep = (!is_in_chunk()).then(Denormals::keep);
                run_chunks(&self.borders, rows, &|range, rows| in_chunk(|| work(range, rows)));
            }
        }
    }
}

fn run_chunks<R: SplitRows>(borders: &[usize], rows: R, work: &(impl Fn(Range<usize>, R) + Sync)) {
    match borders {
        [] | [_] => {}
        [start, end] => work(*start..*end, rows),
        _ => {
            let middle = borders.len() / 2;
            let (left, right) = rows.split(borders[middle]);
            let (first, second) = (&borders[..=middle], &borders[middle..]);
            if rayon::current_num_threads() == 1 || is_in_chunk() {
                run_chunks(first, left, work);
                run_chunks(second, right, work);
            } else {
                rayon::join(|| run_chunks(first, left, work), || run_chunks(second, right, work));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_loop_in_a_chunk_stays_on_its_thread() {
        let mut outer = vec![0; 8];
        Chunks::even(8, 2).run(Rows::new(&mut outer, 1), |_, outer| {
            let here = std::thread::current().id();
            let mut inner = vec![false; 64];
            Chunks::even(64, 1).run(Rows::new(&mut inner, 1), |_, inner| {
                inner.into_slice().fill(std::thread::current().id() == here);
            });
            outer.into_slice().fill(inner.iter().filter(|here| **here).count());
        });
        assert_eq!(outer, [64; 8]);
        assert!(!is_in_chunk());
    }

    proptest! {
        #[test]
        fn every_row_is_visited_once(degrees in proptest::collection::vec(0usize..9, 0..60), size in 1usize..20) {
            let mut offsets = vec![0];
            for d in &degrees {
                offsets.push(offsets.last().unwrap() + d);
            }
            let rows = degrees.len();
            let equal = Chunks::equal(rows, |row| offsets[row], size);
            let by_count = [equal, Chunks::even(rows, size), Chunks::pairs(rows, size)];
            for chunks in by_count.into_iter().chain([Chunks::by_edges(&offsets, size)]) {
                let mut visits = vec![0; rows * 2];
                let mut edge_row = vec![usize::MAX; offsets[rows] * 3];
                let mut sizes = vec![0; chunks.len()];
                chunks.run(
                    (
                        Rows::new(&mut visits, 2),
                        EdgeRows::new(&mut edge_row, &offsets, 3),
                        ChunkRows::new(&mut sizes, &chunks, 1),
                    ),
                    |range, (visits, edges, size)| {
                        size.into_slice()[0] += range.len();
                        visits.into_slice().iter_mut().for_each(|v| *v += 1);
                        let edges = edges.into_slice();
                        for row in range.clone() {
                            for e in offsets[row]..offsets[row + 1] {
                                let at = (e - offsets[range.start]) * 3;
                                edges[at..at + 3].fill(row);
                            }
                        }
                    },
                );
                prop_assert!(visits.iter().all(|v| *v == 1));
                prop_assert_eq!(sizes.iter().sum::<usize>(), rows);
                prop_assert!(rows == 0 || sizes.iter().all(|s| *s > 0));
                for row in 0..rows {
                    prop_assert!(edge_row[offsets[row] * 3..offsets[row + 1] * 3].iter().all(|r| *r == row));
                }
            }
        }
    }
}
