//! Class scores of a target with one of its in-edges deleted. They are exact, and only what the deletion changes is
//! computed again.
//!
//! Deleting (i, n) changes layer 1's output at n only, because no other node loses an in-edge. From layer 2 on it also
//! changes every node that reads a changed one. Of those, only the ones that n still depends on matter: at the output
//! of layer l, the nodes within L - l hops of n. So
//!
//! ```text
//! A_0(n) = {}
//! A_l(n) = {n} and every j within L - l hops of n that is in A_(l-1)(n) or reads a node in it
//! ```
//!
//! For L = 1 and 2 that is n itself ([`target_only`]). Each member of A_l becomes a target of its own: a copy of the
//! node with its changed input, its changed sources (a self-loop makes n its own source) and, where it is n, without
//! the edge. One call of [`Attention::targets`](crate::Attention::targets) per layer computes the targets of all
//! deletions.
//!
//! Where graphs are classified, every node of a graph counts in its readout, so most of what an edge changes matters.
//! Each deletion then has a copy of its graph without the edge, and the copies go through all layers together.

mod target_only;

use std::ops::Range;

use carat_graph::{Block, Blocks, Reach};

use target_only::ThreadBuffers;

use crate::buffer::Buffer;
use crate::field::Field;
use crate::layers::{LayerState, Original, TargetState, Targets};
use crate::modules::RowNodes;
use crate::network::Network;
use crate::pass::{Buffers, Keep, Plan};
use crate::real::Real;
use crate::toolkit::sized;

/// An in-edge of a target of some blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deletion {
    /// The target's local number.
    pub target: u32,
    /// The edge's position among the blocks' edges.
    pub edge: u32,
}

impl Deletion {
    /// The deletion of an edge by its position among the blocks' edges.
    pub fn of_edge(blocks: &Blocks, edge: u32) -> Self {
        let offsets = blocks.layer(blocks.num_layers() - 1).offsets();
        Self { target: offsets.partition_point(|&first| first <= edge as usize) as u32 - 1, edge }
    }
}

/// In-edges of a target of some blocks, or edges of a graph, that are deleted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The target's local number, or that of any node of the graph.
    pub target: u32,
    /// The edges' positions among the blocks' edges, ascending.
    pub edges: &'a [u32],
}

/// What is deleted at a time, and from where.
pub(crate) trait Intervention: Copy + Sync {
    /// Whether it is always one edge, whose share can be subtracted from what was computed with all edges.
    const IS_ONE_EDGE: bool;

    fn target(&self) -> u32;

    /// Ascending.
    fn edges(&self) -> &[u32];
}

impl Intervention for Deletion {
    const IS_ONE_EDGE: bool = true;

    #[inline(always)]
    fn target(&self) -> u32 {
        self.target
    }

    #[inline(always)]
    fn edges(&self) -> &[u32] {
        std::slice::from_ref(&self.edge)
    }
}

impl Intervention for Cut<'_> {
    const IS_ONE_EDGE: bool = false;

    fn target(&self) -> u32 {
        self.target
    }

    fn edges(&self) -> &[u32] {
        self.edges
    }
}

/// Buffers of deletions. They grow to the largest use and are then reused.
#[derive(Debug, Default)]
pub(crate) struct Rerun<T> {
    /// The affected nodes of the layer below, and of the current layer.
    before: Affected,
    now: Affected,
    /// Their in-edges.
    offsets: Vec<usize>,
    sources: Vec<u32>,
    positions: Vec<u32>,
    /// Their own inputs, and their outputs.
    own: Vec<T>,
    out: Buffer<T>,
    /// What a layer computes before that is finished.
    sums: Buffer<T>,
    state: TargetState<T>,
    own_scores: Vec<T>,
    /// The deleted edges, where each deletion is of one.
    lost: Vec<u32>,
    reach: Reach,
    /// Each thread's buffers for deletions that change only their target.
    thread_buffers: Vec<ThreadBuffers<T>>,
    /// For the current deletion, 1 + the row of every node affected in the layer below; 0 elsewhere.
    row_of: Vec<u32>,
    /// The pass over the graph without some edges, or over copies of graphs.
    second: Buffers<T>,
    /// Features of its edges.
    edge_features: Vec<T>,
}

/// The nodes that each deletion affects, one deletion after another.
#[derive(Debug, Clone, Default)]
struct Affected {
    nodes: Vec<u32>,
    ends: Vec<usize>,
}

impl Affected {
    fn clear(&mut self) {
        self.nodes.clear();
        self.ends.clear();
    }

    fn range(&self, deletion: usize) -> Range<usize> {
        let Some(&end) = self.ends.get(deletion) else { return 0..0 };
        let start = if deletion == 0 { 0 } else { self.ends[deletion - 1] };
        start..end
    }
}

/// Most in-edges that are computed again at a time. Bounds the memory that deletions on a large graph take.
const MOST_EDGES: usize = 1 << 18;

/// Most nodes and edges in the copies of graphs that are computed at a time.
const MOST_IN_COPIES: usize = 1 << 16;

impl<T: Real> Network<T> {
    /// See [`Pass::scores_without`](crate::Pass::scores_without); `buffers` must hold every layer's output.
    pub(crate) fn scores_without<I: Intervention>(
        &self,
        field: Field<'_, T>,
        deletions: &[I],
        buffers: &mut Buffers<T>,
        rerun: &mut Rerun<T>,
        scores: &mut Vec<T>,
    ) {
        let (layers, classes, blocks) = (self.config().layers, self.config().classes, field.blocks);
        scores.resize(deletions.len() * classes, T::ZERO);
        if blocks.graphs().is_some() {
            return self.graph_scores_without(field, deletions, buffers, rerun, scores);
        }
        // Deletions do not change the target's own encoding.
        let classifier = &self.places.classifier;
        classifier.own_scores(self.parameters(), &buffers.joined, &mut rerun.own_scores);
        let block = blocks.layer(layers - 1);
        debug_assert!(deletions.iter().all(|d| {
            let row = block.offsets()[d.target() as usize]..block.offsets()[d.target() as usize + 1];
            d.edges().iter().all(|&edge| row.contains(&(edge as usize))) && d.edges().is_sorted()
        }));
        if target_only::change_only_targets(blocks, deletions) {
            let Rerun { own_scores, thread_buffers, .. } = rerun;
            return self.target_only_scores(field, deletions, buffers, own_scores, thread_buffers, scores);
        }
        let mut start = 0;
        while start < deletions.len() {
            let mut end = start;
            let mut edges = 0;
            while end < deletions.len() && (edges < MOST_EDGES || end == start) {
                edges += cost(&mut rerun.reach, blocks, deletions[end].target(), layers.saturating_sub(2));
                end += 1;
            }
            self.rerun(field, &deletions[start..end], buffers, rerun);
            let scores = &mut scores[start * classes..end * classes];
            for (scores, deletion) in scores.chunks_exact_mut(classes).zip(&deletions[start..end]) {
                let row = deletion.target() as usize * classes;
                scores.copy_from_slice(&rerun.own_scores[row..row + classes]);
            }
            classifier.add_last_scores(self.parameters(), &mut rerun.out, scores);
            start = end;
        }
    }

    /// See [`Pass::scores_without_all`](crate::Pass::scores_without_all).
    pub(crate) fn scores_without_all(
        &self,
        field: Field<'_, T>,
        edges: &[u32],
        buffers: &Buffers<T>,
        rerun: &mut Rerun<T>,
        scores: &mut Vec<T>,
    ) {
        let Rerun { second, edge_features, .. } = rerun;
        let cut = field.blocks.without(edges);
        // Deletions do not change the encodings.
        second.h.resize_with(self.config().layers + 1, Buffer::default);
        second.h[0].clear();
        second.h[0].extend_from_slice(&buffers.h[0]);
        let plan = Plan { pair: self.pair(&cut), keep: Keep::Scores };
        self.forward_layers(field.cut(&cut, edge_features), plan, Some(&buffers.finished), second);
        scores.clone_from(&second.scores);
    }

    /// As [`Network::scores_without`], for graphs: computes a copy of the graph for every deletion.
    fn graph_scores_without<I: Intervention>(
        &self,
        field: Field<'_, T>,
        deletions: &[I],
        buffers: &Buffers<T>,
        rerun: &mut Rerun<T>,
        scores: &mut [T],
    ) {
        let (hidden, classes, blocks) = (self.config().hidden, self.config().classes, field.blocks);
        let Rerun { second, edge_features, .. } = rerun;
        let size = |deletion: &I| {
            let entity = blocks.entity_of(deletion.target() as usize);
            blocks.entity(entity).len() + blocks.entity_edges(entity).len()
        };
        let mut start = 0;
        while start < deletions.len() {
            let mut taken = 0;
            let fits = |deletion: &&I| {
                taken += size(deletion);
                taken <= MOST_IN_COPIES
            };
            let end = start + deletions[start..].iter().take_while(fits).count().max(1);
            let now = &deletions[start..end];
            let copies = blocks.copies_without(now.iter().map(|deletion| (deletion.target(), deletion.edges())));
            // Deletions do not change the encodings.
            second.h.resize_with(self.config().layers + 1, Buffer::default);
            let encoded = &mut second.h[0];
            encoded.clear();
            for deletion in now {
                let nodes = blocks.entity(blocks.entity_of(deletion.target() as usize));
                encoded.extend_from_slice(&buffers.h[0][nodes.start * hidden..nodes.end * hidden]);
            }
            let plan = Plan { pair: None, keep: Keep::Deletions };
            self.forward_layers(field.cut(&copies, edge_features), plan, Some(&buffers.finished), second);
            scores[start * classes..end * classes].copy_from_slice(&second.scores);
            start = end;
        }
    }

    /// Leaves h' of every deletion's target in `rerun.out`. The last layer's affected nodes are these targets, one
    /// each.
    fn rerun<I: Intervention>(
        &self,
        field: Field<'_, T>,
        deletions: &[I],
        buffers: &mut Buffers<T>,
        rerun: &mut Rerun<T>,
    ) {
        let (layers, hidden) = (self.config().layers, self.config().hidden);
        let Field { blocks, mode, .. } = field;
        rerun.before.clear();
        rerun.lost.clear();
        if I::IS_ONE_EDGE {
            rerun.lost.extend(deletions.iter().map(|deletion| deletion.edges()[0]));
        }
        rerun.row_of.resize(blocks.nodes().len(), 0);
        for l in 0..layers {
            let (block, sources) = (blocks.layer(l), blocks.num_within(layers - l));
            let reads_changed = rerun.plan(blocks, block, deletions, layers - 1 - l, sources);
            let in_place = rerun.gather(&buffers.h[l], sources, hidden);
            let (below, above) = buffers.h.split_at_mut(l + 1);
            let layer = self.layer(l, &below[l], field);
            let LayerState { sources: state, targets: before_deletion, .. } = &mut buffers.states[l];
            if reads_changed {
                self.attention.sources(layer, sources, state);
            }
            let Rerun { offsets, sources: list, positions, own, out, sums, lost, state: targets, now, before, .. } =
                rerun;
            // Deletions do not change the first layer's inputs.
            let original = (l == 0 && I::IS_ONE_EDGE).then_some(Original {
                state: before_deletion,
                block,
                rows: &now.nodes,
                lost,
            });
            let own = if in_place { &below[l][sources * hidden..] } else { &own[..] };
            let rows = Targets { offsets, sources: list, positions: Some(positions), h: own, products: None, original };
            // In the next layer's input, the new rows stand after those of the pass with all edges.
            let kept = if l + 1 < layers { blocks.num_within(layers - 1 - l) * hidden } else { 0 };
            let out = above.first_mut().filter(|_| l + 1 < layers).unwrap_or(out);
            out.resize(kept + now.nodes.len() * hidden, T::ZERO);
            let out = &mut out[kept..];
            let (finish, parameters) = (&self.places.finishes[l], self.parameters());
            if finish.is_identity() {
                self.attention.targets(layer, state, rows, out, targets);
            } else {
                let sums = sized(sums, out.len());
                self.attention.targets(layer, state, rows, sums, targets);
                finish.add_residual(parameters, own, sums);
                let nodes = RowNodes { nodes: blocks.nodes(), rows: Some(&now.nodes) };
                finish.forward(parameters, mode, &buffers.finished[l].statistics, nodes, sums, out);
            }
            buffers.h[l].truncate(sources * hidden);
            std::mem::swap(before, now);
        }
    }
}

impl<T: Real> Rerun<T> {
    /// Lists the nodes of a layer that the deletions affect, with their in-edges. Returns true if one of them reads a
    /// changed node. Such sources are numbered from `sources` on, in the order of `before`.
    fn plan<I: Intervention>(
        &mut self,
        blocks: &Blocks,
        block: Block<'_>,
        deletions: &[I],
        hops: usize,
        sources: usize,
    ) -> bool {
        let Self { before, now, offsets, sources: list, positions, reach, row_of, .. } = self;
        now.clear();
        offsets.clear();
        offsets.push(0);
        list.clear();
        positions.clear();
        let mut reads_changed = false;
        for (d, deletion) in deletions.iter().enumerate() {
            for row in before.range(d) {
                row_of[before.nodes[row] as usize] = row as u32 + 1;
            }
            let within: &[u32] = if before.nodes.is_empty() {
                &[deletion.target()]
            } else {
                reach.within(blocks, deletion.target(), hops)
            };
            for &j in within {
                let neighbours = block.in_neighbours(j as usize);
                let changed = |i: &u32| row_of[*i as usize] > 0;
                if j != deletion.target() && !changed(&j) && !neighbours.iter().any(changed) {
                    continue;
                }
                now.nodes.push(j);
                let first = block.offsets()[j as usize];
                for (at, &i) in neighbours.iter().enumerate() {
                    if j == deletion.target() && deletion.edges().binary_search(&((first + at) as u32)).is_ok() {
                        continue;
                    }
                    positions.push((first + at) as u32);
                    match row_of[i as usize] {
                        0 => list.push(i),
                        row => {
                            list.push(sources as u32 + row - 1);
                            reads_changed = true;
                        }
                    }
                }
                offsets.push(list.len());
            }
            now.ends.push(now.nodes.len());
            for row in before.range(d) {
                row_of[before.nodes[row] as usize] = 0;
            }
        }
        reads_changed
    }

    /// Collects the affected nodes' own inputs; changed ones stand in `h` from row `sources` on. Returns true, and
    /// collects nothing, where the inputs are exactly those rows in that order.
    fn gather(&mut self, h: &[T], sources: usize, hidden: usize) -> bool {
        let Self { before, now, own, row_of, .. } = self;
        if before.nodes == now.nodes && before.ends == now.ends {
            return true;
        }
        own.clear();
        for d in 0..now.ends.len() {
            for row in before.range(d) {
                row_of[before.nodes[row] as usize] = row as u32 + 1;
            }
            for &j in &now.nodes[now.range(d)] {
                let row = match row_of[j as usize] {
                    0 => j as usize,
                    row => sources + row as usize - 1,
                };
                own.extend_from_slice(&h[row * hidden..(row + 1) * hidden]);
            }
            for row in before.range(d) {
                row_of[before.nodes[row] as usize] = 0;
            }
        }
        false
    }
}

/// In-edges that a deletion may compute again in one layer.
fn cost(reach: &mut Reach, blocks: &Blocks, target: u32, hops: usize) -> usize {
    let block = blocks.layer(0);
    if hops == 0 {
        return block.in_neighbours(target as usize).len() + 1;
    }
    reach.within(blocks, target, hops).iter().map(|&j| block.in_neighbours(j as usize).len() + 1).sum()
}

#[cfg(test)]
mod tests {
    use carat_graph::{BlockBuilder, Features, Graph};

    use super::*;
    use crate::{AttentionKind, Input, NetworkConfig, check};

    /// A hub, a target with two in-edges and one with none; with and without a target that reads itself and one that
    /// reads another.
    #[test]
    fn deletions_are_exact_where_two_layers_are_computed_together() {
        for loops in [false, true] {
            let (mut src, mut dst): (Vec<u32>, Vec<u32>) = (3..40).map(|i| (i, 0)).chain([(5, 1), (6, 1)]).unzip();
            for i in 3..40 {
                src.extend([i * 7 % 37 + 3, i * 11 % 37 + 3]);
                dst.extend([i, i]);
            }
            if loops {
                src.extend([0, 1]);
                dst.extend([0, 0]);
            }
            let graph = Graph::from_edges(40, &src, &dst).unwrap();
            let features = (0..40 * 6).map(|i| ((i * 37 + 11) % 23) as f32 / 11.5 - 1.0).collect();
            let features = Features::dense(40, 6, features).unwrap();
            for layers in [2, 3] {
                let config = NetworkConfig {
                    arch: AttentionKind::Gat,
                    features: 6,
                    hidden: 64,
                    heads: 3,
                    layers,
                    classes: 3,
                    ..Default::default()
                };
                let network = Network::<f64>::new(config, 5).unwrap();
                let blocks = BlockBuilder::new(&graph).build(&[0, 1, 2], layers);
                assert!(network.pair(&blocks).is_some());
                let worst = check::deletions(&network, &blocks, &Input::new(&features, blocks.nodes()));
                assert!(worst < 1e-9, "{layers} layers: {worst:e}");
            }
        }
    }
}
