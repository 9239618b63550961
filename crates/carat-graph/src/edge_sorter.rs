//! Builds a graph from an edge list that is larger than memory.
//!
//! Edges are distributed by target into buckets in a temporary file. Each bucket is then read back, sorted by (target,
//! source) and deduplicated, and its sources are appended to a second temporary file, which the graph maps. Memory
//! holds one bucket, the row offsets, and one bit per edge if edges have flags. Neither file has a name, so nothing is
//! left behind when the process ends.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::files::without_temporary_name;
use crate::storage::Map;
use crate::{DataError, Flags, Graph, Storage};

/// Buckets that the targets are dealt into. 100 million edges make buckets of 3 MB; only a hub of its own size, whose
/// edges cannot be parted, makes a bucket larger than its share.
const BUCKETS: usize = 256;

/// Edges of a bucket that are written together: 64 KiB.
const PIECE: usize = 8192;

/// Takes edges in any order and builds a [`Graph`]. Of repeated edges the first counts.
pub(crate) struct EdgeSorter {
    folder: PathBuf,
    num_nodes: usize,
    /// Targets per bucket.
    width: usize,
    buckets: Vec<Bucket>,
    file: File,
    /// Length of the file.
    written: u64,
    /// Edges taken so far.
    taken: u64,
}

/// Edges of neighbouring targets. An edge is a number: its target within the bucket, 31 bits; its source, 32 bits; its
/// flag, one bit.
#[derive(Default)]
struct Bucket {
    waiting: Vec<u64>,
    /// Where in the file its full pieces lie, in the order of their edges.
    pieces: Vec<u64>,
}

impl EdgeSorter {
    /// A sorter for a graph of `num_nodes` nodes, with its temporary files in `folder`.
    pub(crate) fn new(num_nodes: usize, folder: &Path) -> Result<Self, DataError> {
        if num_nodes > u32::MAX as usize {
            return Err(DataError::Invalid("more than 4,294,967,295 nodes".into()));
        }
        let width = num_nodes.div_ceil(BUCKETS).max(1);
        let buckets = std::iter::repeat_with(Bucket::default).take(num_nodes.div_ceil(width)).collect();
        let file = temporary(folder)?;
        Ok(Self { folder: folder.to_path_buf(), num_nodes, width, buckets, file, written: 0, taken: 0 })
    }

    /// Takes the edge from `src` to `dst`, which must be nodes.
    pub(crate) fn push(&mut self, src: u32, dst: u32, flag: bool) -> Result<(), DataError> {
        if src.max(dst) as usize >= self.num_nodes {
            return Err(DataError::Invalid(format!(
                "edge {} joins node {src} to node {dst}, but there are only {} nodes (0 to {})",
                self.taken,
                self.num_nodes,
                self.num_nodes.saturating_sub(1)
            )));
        }
        self.taken += 1;
        let bucket = &mut self.buckets[dst as usize / self.width];
        let within = (dst as usize % self.width) as u64;
        bucket.waiting.push(within << 33 | u64::from(src) << 1 | u64::from(flag));
        if bucket.waiting.len() == PIECE {
            bucket.pieces.push(self.written);
            let bytes = bytemuck::cast_slice(&bucket.waiting);
            self.file.write_all(bytes).map_err(|e| unwritten(&self.folder, e))?;
            self.written += bytes.len() as u64;
            bucket.waiting.clear();
        }
        Ok(())
    }

    /// The graph of all edges taken, and the flag of each edge by its id.
    pub(crate) fn finish(mut self) -> Result<(Graph, Flags), DataError> {
        let out = temporary(&self.folder)?;
        let mut writer = BufWriter::with_capacity(1 << 20, &out);
        let mut offsets = vec![0usize; self.num_nodes + 1];
        let (mut flags, mut num_edges) = (Words::default(), 0usize);
        let mut sources: Vec<u32> = Vec::new();
        for (number, bucket) in std::mem::take(&mut self.buckets).into_iter().enumerate() {
            let mut edges = bucket.read(&mut self.file).map_err(|e| DataError::read(&self.folder, e))?;
            // Stable, so that of equal edges the first stays the first.
            edges.par_sort_by_key(|edge| edge >> 1);
            edges.dedup_by_key(|edge| *edge >> 1);
            sources.clear();
            for edge in edges {
                sources.push((edge >> 1) as u32);
                flags.push(edge & 1 == 1);
                offsets[number * self.width + (edge >> 33) as usize + 1] += 1;
            }
            num_edges += sources.len();
            writer.write_all(bytemuck::cast_slice(&sources)).map_err(|e| unwritten(&self.folder, e))?;
        }
        writer.flush().map_err(|e| unwritten(&self.folder, e))?;
        drop(writer);
        for j in 0..self.num_nodes {
            offsets[j + 1] += offsets[j];
        }
        if num_edges > u32::MAX as usize {
            return Err(DataError::Invalid("more than 4,294,967,295 edges".into()));
        }
        let sources = if num_edges == 0 {
            Storage::default()
        } else {
            let map = Arc::new(Map::new(&out, &self.folder)?);
            let length = map.bytes().len();
            Storage::mapped(&map, 0..length)
                .filter(|sources| sources.len() == num_edges)
                .ok_or_else(|| DataError::malformed(&self.folder, "a temporary file is not what was written to it"))?
        };
        Ok((Graph::from_in_csr(offsets, sources), Flags::from_words(flags.words.into(), num_edges)?))
    }
}

impl Bucket {
    fn read(self, file: &mut File) -> std::io::Result<Vec<u64>> {
        let mut edges = vec![0u64; self.pieces.len() * PIECE];
        for (&start, piece) in self.pieces.iter().zip(edges.chunks_exact_mut(PIECE)) {
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(bytemuck::cast_slice_mut(piece))?;
        }
        edges.extend(self.waiting);
        Ok(edges)
    }
}

/// Flags on their way into words.
#[derive(Default)]
struct Words {
    words: Vec<u64>,
    len: usize,
}

impl Words {
    fn push(&mut self, flag: bool) {
        match self.words.last_mut().filter(|_| !self.len.is_multiple_of(64)) {
            Some(word) => *word |= u64::from(flag) << (self.len % 64),
            None => self.words.push(flag.into()),
        }
        self.len += 1;
    }
}

fn temporary(folder: &Path) -> Result<File, DataError> {
    tempfile::tempfile_in(folder).map_err(|e| DataError::write(folder, without_temporary_name(e)))
}

/// The files have no names; what helps is to know where there is no room.
fn unwritten(folder: &Path, error: std::io::Error) -> DataError {
    DataError::write(folder.join("temporary file"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn many_pieces_make_the_graph_that_memory_makes() {
        let (nodes, edges) = (700u32, 3_000_000u64);
        let edge = |k: u64| {
            let mixed = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            ((mixed % u64::from(nodes)) as u32, (mixed / 1000 % 3) as u32)
        };
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = EdgeSorter::new(nodes as usize, folder.path()).unwrap();
        (0..edges).for_each(|k| sorter.push(edge(k).0, edge(k).1, k % 5 == 0).unwrap());
        let (graph, flags) = sorter.finish().unwrap();
        let (src, dst): (Vec<u32>, Vec<u32>) = (0..edges).map(edge).unzip();
        let (expected, origin) = Graph::from_edges_with_origin(nodes as usize, &src, &dst).unwrap();
        assert_eq!(graph, expected);
        assert!(flags.iter().eq(origin.iter().map(|first| first % 5 == 0)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn any_edges_make_the_graph_that_memory_makes(
            n in 1u32..600,
            raw in proptest::collection::vec((0u32..600, 0u32..600, any::<bool>()), 0..200),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = EdgeSorter::new(n as usize, folder.path()).unwrap();
            raw.iter().for_each(|&(s, d, flag)| sorter.push(s % n, d % n, flag).unwrap());
            prop_assert!(sorter.push(0, n, false).unwrap_err().to_string().contains("there are only"));
            let (graph, flags) = sorter.finish().unwrap();
            let (src, dst): (Vec<u32>, Vec<u32>) = raw.iter().map(|&(s, d, _)| (s % n, d % n)).unzip();
            let (expected, origin) = Graph::from_edges_with_origin(n as usize, &src, &dst).unwrap();
            prop_assert_eq!(graph, expected);
            prop_assert!(flags.iter().eq(origin.iter().map(|&first| raw[first as usize].2)));
        }
    }
}
