//! Lookups in the order of a file.
//!
//! A batch lists its nodes in an order of its own, and their data is scattered over the file. If the file is larger
//! than memory, every lookup in that order may wait for the disk, and the pages that the system reads ahead are evicted
//! before they are needed. In the order of the file, the lookups of a batch are one sweep. Requesting the next rows
//! ahead of time (`madvise`) was tried and was slower; `docs/scale.md` has the figures.

/// Nodes in the order of the file, which is that of their numbers, each with its position in the batch.
#[derive(Debug, Clone)]
pub struct FileOrder {
    nodes: Vec<u32>,
    positions: Vec<u32>,
}

impl FileOrder {
    /// The order of these nodes.
    pub fn of(nodes: &[u32]) -> Self {
        if nodes.is_sorted() {
            return Self { nodes: nodes.to_vec(), positions: (0..nodes.len() as u32).collect() };
        }
        // Number and position in one word: sorting these is faster than sorting positions by what they point to.
        let mut keys: Vec<u64> = nodes.iter().zip(0u64..).map(|(&node, at)| u64::from(node) << 32 | at).collect();
        keys.sort_unstable();
        let (nodes, positions) = keys.iter().map(|&key| ((key >> 32) as u32, key as u32)).unzip();
        Self { nodes, positions }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The nodes, each with its position.
    ///
    /// ```
    /// let order = carat_graph::FileOrder::of(&[7, 2, 9]);
    /// assert!(order.iter().eq([(2, 1), (7, 0), (9, 2)]));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.nodes.iter().zip(&self.positions).map(|(&node, &at)| (node, at as usize))
    }

    /// The nodes and their positions, in chunks of at most `length`.
    pub fn chunks(&self, length: usize) -> impl Iterator<Item = (&[u32], &[u32])> + '_ {
        self.nodes.chunks(length).zip(self.positions.chunks(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nodes_come_in_order_with_their_positions(
            nodes in proptest::collection::vec(0u32..50, 0..200),
            length in 1usize..9,
        ) {
            let order = FileOrder::of(&nodes);
            let seen: Vec<(u32, usize)> = order.iter().collect();
            prop_assert!(seen.iter().is_sorted());
            prop_assert!(seen.iter().all(|&(node, at)| nodes[at] == node));
            let mut positions: Vec<usize> = seen.iter().map(|pair| pair.1).collect();
            positions.sort_unstable();
            prop_assert!(positions.into_iter().eq(0..nodes.len()));
            let chunked = order.chunks(length).flat_map(|(nodes, at)| nodes.iter().zip(at));
            prop_assert!(chunked.map(|(&node, &at)| (node, at as usize)).eq(seen));
        }
    }
}
