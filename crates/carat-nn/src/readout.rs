//! From the outputs for nodes to those for their graph.
//!
//! ```text
//! r_g = sum over the nodes j of g of [h_j || h'_j]
//! ```
//!
//! The classifier reads LeakyReLU(r). A graph without nodes has r = 0.

use crate::modules::LEAKY_RELU;
use crate::real::Real;
use crate::rows::{Chunks, EdgeRows, Rows};

/// Nodes per chunk; each takes little time.
const CHUNK_ROWS: usize = 1024;

/// joined = LeakyReLU(sum over the nodes of each graph of [h || last]). Graph g has the rows `graphs[g]..graphs[g +
/// 1]`, which are added up in their order.
pub(crate) fn pool<T: Real>(h: &[T], last: &[T], hidden: usize, graphs: &[usize], joined: &mut [T]) {
    Chunks::by_edges(graphs, CHUNK_ROWS).run(Rows::new(joined, 2 * hidden), |range, joined| {
        let joined = joined.into_slice();
        joined.fill(T::ZERO);
        for (joined, nodes) in joined.chunks_exact_mut(2 * hidden).zip(graphs[range.start..=range.end].windows(2)) {
            let (own, aggregated) = joined.split_at_mut(hidden);
            for (sum, rows) in [(own, h), (aggregated, last)] {
                for row in rows[nodes[0] * hidden..nodes[1] * hidden].chunks_exact(hidden) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
                }
            }
        }
        LEAKY_RELU.forward_here(joined);
    });
}

/// Passes the gradient of [`pool`]'s sums to every node of its graph: the first half of a row of `d_joined` to `d_h`,
/// the second to `d_last`.
pub(crate) fn spread<T: Real>(d_joined: &[T], hidden: usize, graphs: &[usize], d_h: &mut [T], d_last: &mut [T]) {
    let outputs = (EdgeRows::new(d_h, graphs, hidden), EdgeRows::new(d_last, graphs, hidden));
    Chunks::by_edges(graphs, CHUNK_ROWS).run(outputs, |range, (d_h, d_last)| {
        let (mut d_h, mut d_last) =
            (d_h.into_slice().chunks_exact_mut(hidden), d_last.into_slice().chunks_exact_mut(hidden));
        for (graph, nodes) in range.clone().zip(graphs[range.start..=range.end].windows(2)) {
            let (own, aggregated) = d_joined[graph * 2 * hidden..(graph + 1) * 2 * hidden].split_at(hidden);
            d_h.by_ref().take(nodes[1] - nodes[0]).for_each(|row| row.copy_from_slice(own));
            d_last.by_ref().take(nodes[1] - nodes[0]).for_each(|row| row.copy_from_slice(aggregated));
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
        pool(&h, &last, 2, &[0, 2, 2, 3], &mut joined);
        assert_eq!(joined, [4.0, 6.0, 1.0, -0.02, 0.0, 0.0, 0.0, 0.0, -0.09, 0.5, 1.0, 1.0]);
        let (mut d_h, mut d_last) = ([0.0; 6], [0.0; 6]);
        let d_joined: Vec<f64> = (0..12).map(f64::from).collect();
        spread(&d_joined, 2, &[0, 2, 2, 3], &mut d_h, &mut d_last);
        assert_eq!((d_h, d_last), ([0.0, 1.0, 0.0, 1.0, 8.0, 9.0], [2.0, 3.0, 2.0, 3.0, 10.0, 11.0]));
    }
}
