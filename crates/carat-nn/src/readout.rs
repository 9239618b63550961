//! From the outputs for nodes to those for their graph.
//!
//! ```text
//! r_g = sum over the nodes j of g of [h_j || h'_j], or of h'_j where the classifier reads only that
//! ```
//!
//! A graph without nodes has r = 0.

use crate::real::Real;
use crate::rows::{Chunks, EdgeRows, Rows};

/// Nodes per chunk; each takes little time.
const CHUNK_ROWS: usize = 1024;

/// The sums over the nodes of each graph of the rows of every part, side by side. Graph g has the rows
/// `graphs[g]..graphs[g + 1]`, which are added up in their order.
pub(crate) fn pool<T: Real>(parts: &[&[T]], hidden: usize, graphs: &[usize], joined: &mut [T]) {
    let width = parts.len() * hidden;
    Chunks::by_edges(graphs, CHUNK_ROWS).run(Rows::new(joined, width), |range, joined| {
        let joined = joined.into_slice();
        joined.fill(T::ZERO);
        for (joined, nodes) in joined.chunks_exact_mut(width).zip(graphs[range.start..=range.end].windows(2)) {
            for (sum, rows) in joined.chunks_exact_mut(hidden).zip(parts) {
                for row in rows[nodes[0] * hidden..nodes[1] * hidden].chunks_exact(hidden) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
                }
            }
        }
    });
}

/// Passes the gradient of the sums of one part, which begins at column `first` of `d_joined`'s rows, to every node of
/// its graph.
pub(crate) fn spread<T: Real>(
    d_joined: &[T],
    [first, width]: [usize; 2],
    hidden: usize,
    graphs: &[usize],
    d_part: &mut [T],
) {
    Chunks::by_edges(graphs, CHUNK_ROWS).run(EdgeRows::new(d_part, graphs, hidden), |range, d_part| {
        let mut d_part = d_part.into_slice().chunks_exact_mut(hidden);
        for (graph, nodes) in range.clone().zip(graphs[range.start..=range.end].windows(2)) {
            let row = &d_joined[graph * width + first..][..hidden];
            d_part.by_ref().take(nodes[1] - nodes[0]).for_each(|d| d.copy_from_slice(row));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_every_graph_s_nodes_and_gradients_go_back_to_them() {
        let (h, last) = ([1.0, 2.0, 3.0, 4.0, -9.0, 0.5], [0.5, 0.0, 0.5, -2.0, 1.0, 1.0]);
        let mut joined = vec![7.0; 12];
        pool(&[&h, &last], 2, &[0, 2, 2, 3], &mut joined);
        assert_eq!(joined, [4.0, 6.0, 1.0, -2.0, 0.0, 0.0, 0.0, 0.0, -9.0, 0.5, 1.0, 1.0]);
        let (mut d_h, mut d_last) = ([0.0; 6], [0.0; 6]);
        let d_joined: Vec<f64> = (0..12).map(f64::from).collect();
        spread(&d_joined, [0, 4], 2, &[0, 2, 2, 3], &mut d_h);
        spread(&d_joined, [2, 4], 2, &[0, 2, 2, 3], &mut d_last);
        assert_eq!((d_h, d_last), ([0.0, 1.0, 0.0, 1.0, 8.0, 9.0], [2.0, 3.0, 2.0, 3.0, 10.0, 11.0]));
    }
}
