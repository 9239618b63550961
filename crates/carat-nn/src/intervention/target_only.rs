//! Deletions that change only their own target: in a network of one layer all of them, and with two layers those whose
//! target does not read itself.
//!
//! The pass with all edges is only read. So each thread computes some deletions from their in-edges to their class
//! scores, and its intermediate results stay in its own cache.

use std::sync::{Mutex, PoisonError};

use carat_graph::Blocks;

use super::Intervention;
use crate::field::Field;
use crate::layers::{LayerState, Original, TargetState, Targets};
use crate::modules::RowNodes;
use crate::network::Network;
use crate::pass::Buffers;
use crate::real::Real;
use crate::rows::{Chunks, Rows};

/// Most multiply-adds per chunk of deletions, which bounds the buffers of a thread.
const CHUNK_WORK: usize = 1 << 24;

/// One thread's buffers.
#[derive(Debug, Default)]
pub(super) struct ThreadBuffers<T> {
    /// The deletions' targets, the edges they lose and the in-edges they keep.
    targets: Vec<u32>,
    lost: Vec<u32>,
    offsets: Vec<usize>,
    sources: Vec<u32>,
    positions: Vec<u32>,
    /// Their own inputs, and their outputs.
    own: Vec<T>,
    out: Vec<T>,
    /// What a layer computes before that is finished.
    sums: Vec<T>,
    /// In place of their outputs: the products of these that the next layer needs.
    products: Vec<T>,
    state: TargetState<T>,
}

/// Whether all of these deletions, which are ordered by target, change only their target.
pub(super) fn change_only_targets<I: Intervention>(blocks: &Blocks, deletions: &[I]) -> bool {
    let block = blocks.layer(blocks.num_layers() - 1);
    let reads_itself = |target: u32| block.in_neighbours(target as usize).contains(&target);
    match blocks.num_layers() {
        1 => true,
        2 => !deletions.chunk_by(|a, b| a.target() == b.target()).any(|same| reads_itself(same[0].target())),
        _ => false,
    }
}

impl<T: Real> Network<T> {
    /// The class scores of every deletion. `own_scores` is the part of the scores that comes from each target's own
    /// encoding.
    pub(super) fn target_only_scores<I: Intervention>(
        &self,
        field: Field<'_, T>,
        deletions: &[I],
        buffers: &Buffers<T>,
        own_scores: &[T],
        thread_buffers: &mut Vec<ThreadBuffers<T>>,
        scores: &mut [T],
    ) {
        // One for each thread of the pool, and one for a caller outside it.
        thread_buffers.resize_with(rayon::current_num_threads() + 1, ThreadBuffers::default);
        let thread_buffers: Vec<Mutex<&mut ThreadBuffers<T>>> = thread_buffers.iter_mut().map(Mutex::new).collect();
        let classes = self.config().classes;
        self.target_only_chunks(field.blocks, deletions).run(Rows::new(scores, classes), |range, scores| {
            let deletions = &deletions[range];
            let thread = rayon::current_thread_index().unwrap_or(thread_buffers.len() - 1);
            let mut own_buffers = thread_buffers[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let scores = scores.into_slice();
            for (scores, deletion) in scores.chunks_exact_mut(classes).zip(deletions) {
                let row = deletion.target() as usize * classes;
                scores.copy_from_slice(&own_scores[row..row + classes]);
            }
            let last = self.target_only_outputs(field, deletions, buffers, &mut own_buffers);
            self.places.classifier.add_last_scores(self.parameters(), last, scores);
        });
    }

    /// Chunks of about equal work: sums over each target's in-edges, and the product of a matrix with those sums.
    fn target_only_chunks<I: Intervention>(&self, blocks: &Blocks, deletions: &[I]) -> Chunks {
        let block = blocks.layer(blocks.num_layers() - 1);
        let all = self.config().heads * self.config().hidden;
        let mut work_before = Vec::with_capacity(deletions.len() + 1);
        let mut work = 0;
        work_before.push(work);
        for deletion in deletions {
            work += (self.config().hidden + block.in_neighbours(deletion.target() as usize).len()) * all;
            work_before.push(work);
        }
        let count = work.div_ceil(CHUNK_WORK).next_multiple_of(2);
        Chunks::equal(deletions.len(), |at| work_before[at], count)
    }

    /// h' of every deletion's target.
    fn target_only_outputs<'a, I: Intervention>(
        &self,
        field: Field<'_, T>,
        deletions: &[I],
        buffers: &Buffers<T>,
        own_buffers: &'a mut ThreadBuffers<T>,
    ) -> &'a mut [T] {
        let (layers, hidden) = (self.config().layers, self.config().hidden);
        let Field { blocks, mode, .. } = field;
        let ThreadBuffers { targets, lost, offsets, sources, positions, own, out, sums, products, state } = own_buffers;
        let block = blocks.layer(layers - 1);
        targets.clear();
        lost.clear();
        offsets.clear();
        sources.clear();
        positions.clear();
        own.clear();
        offsets.push(0);
        for deletion in deletions {
            let target = deletion.target() as usize;
            let first = block.offsets()[target];
            let neighbours = block.in_neighbours(target);
            let mut kept = 0;
            // What lies between one deleted edge and the next.
            for end in deletion.edges().iter().map(|&edge| edge as usize - first).chain([neighbours.len()]) {
                sources.extend_from_slice(&neighbours[kept..end]);
                positions.extend((first + kept..first + end).map(|edge| edge as u32));
                kept = end + 1;
            }
            offsets.push(sources.len());
            targets.push(deletion.target());
            if I::IS_ONE_EDGE {
                lost.push(deletion.edges()[0]);
            }
            own.extend_from_slice(&buffers.h[0][target * hidden..(target + 1) * hidden]);
        }
        let mut as_products = false;
        for l in 0..layers {
            let layer = self.layer(l, &buffers.h[l], field);
            let LayerState { sources: offered, targets: before, .. } = &buffers.states[l];
            // Deletions do not change the first layer's inputs.
            let original = (l == 0 && I::IS_ONE_EDGE).then_some(Original {
                state: before,
                block: blocks.layer(l),
                rows: targets,
                lost,
            });
            let positions = Some(&positions[..]);
            let rows = Targets { offsets, sources, positions, h: own, products: None, original };
            // No other node reads a target's new output, so the next layer may need only products of it.
            let finish = &self.places.finishes[l];
            let kind = self.attention.as_products().filter(|_| finish.is_identity());
            if let (Some(kind), Some(next)) = (kind, buffers.states.get(l + 1)) {
                let vectors = kind.own_vectors(layer.shape, &next.sources);
                products.resize(deletions.len() * vectors.len() / hidden, T::ZERO);
                kind.products(layer, offered, rows, vectors, products, state);
                as_products = true;
                continue;
            }
            let rows = Targets { products: as_products.then_some(&products[..]), ..rows };
            out.resize(deletions.len() * hidden, T::ZERO);
            if finish.is_identity() {
                self.attention.targets(layer, offered, rows, out, state);
            } else {
                sums.resize(out.len(), T::ZERO);
                self.attention.targets(layer, offered, rows, sums, state);
                finish.add_residual(self.parameters(), own, sums);
                let nodes = RowNodes { nodes: blocks.nodes(), rows: Some(targets) };
                let statistics = &buffers.finished[l].statistics;
                finish.forward(self.parameters(), mode, statistics, nodes, sums, out);
            }
            std::mem::swap(own, out);
        }
        own
    }
}
