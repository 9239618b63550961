//! Everything that the measures are made of: the edges of some entities, what each does, and the attention on it.

use std::ops::{ControlFlow, Range};

use carat_graph::Dataset;
use carat_nn::Network;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::effects::{Deleted, EdgeEffects, EffectSettings, for_each_deletion, measured};
use crate::entity::num_edges;
use crate::{Error, Task};

/// Edges of some nodes, or graphs of a set, with their exact effects and their attention.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// What is classified.
    pub task: Task,
    /// The nodes or graphs that have edges, ascending.
    pub entities: Vec<u32>,
    /// Where each one's edges begin, and the number of edges.
    pub offsets: Vec<usize>,
    /// What every edge does.
    pub effects: EdgeEffects,
    /// Attention: edges x layers x heads.
    pub attention: Vec<f32>,
    /// Attention layers.
    pub layers: usize,
    /// Heads per layer.
    pub heads: usize,
}

/// Which attention is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The mean over layers and heads, by which carat ranks edges.
    Mean,
    /// The mean over the heads of one layer.
    Layer(usize),
    /// One head of one layer.
    Head(usize, usize),
}

impl Observed {
    /// Measures every edge of some entities. `progress` is as in [`crate::effects()`].
    pub fn of(
        network: &Network<f32>,
        dataset: &Dataset,
        entities: &[u32],
        settings: &EffectSettings,
        progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let task = Task::of(dataset);
        let entities = measured(dataset, entities, settings)?;
        let (layers, heads) = (network.config().layers, network.config().heads);
        let graph = (task == Task::Graph).then(Vec::new);
        let mut effects = EdgeEffects { graph, ..EdgeEffects::default() };
        let mut attention = Vec::new();
        for_each_deletion(network, dataset, &entities, settings.batch_size, progress, &mut |deleted| {
            let Deleted { pass, deletions, scores, references } = deleted;
            effects.append(pass, deletions, scores, references, settings)?;
            for deletion in deletions {
                let edge = deletion.edge as usize * heads..(deletion.edge as usize + 1) * heads;
                (0..layers).for_each(|layer| attention.extend_from_slice(&pass.attention(layer)[edge.clone()]));
            }
            Ok(())
        })?;
        let mut offsets = vec![0];
        offsets.extend(entities.iter().scan(0, |end, &entity| {
            *end += num_edges(dataset, entity);
            Some(*end)
        }));
        Ok(Self { task, entities, offsets, effects, attention, layers, heads })
    }

    /// Number of edges.
    pub fn num_edges(&self) -> usize {
        self.effects.len()
    }

    /// The edges of every entity, as ranges.
    pub fn rows(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.offsets.windows(2).map(|ends| ends[0]..ends[1])
    }

    /// Attention on every edge.
    pub fn read(&self, reading: Reading) -> Vec<f64> {
        let of_edge = |edge: &[f32]| {
            let part = match reading {
                Reading::Mean => edge,
                Reading::Layer(layer) => &edge[layer * self.heads..(layer + 1) * self.heads],
                Reading::Head(layer, head) => &edge[layer * self.heads + head..][..1],
            };
            part.iter().map(|&alpha| f64::from(alpha)).sum::<f64>() / part.len() as f64
        };
        self.attention.chunks_exact(self.layers * self.heads).map(of_edge).collect()
    }
}

/// At most `most` of those entities that have several edges, which alone can be judged, drawn by `seed`.
pub fn draw_judged(dataset: &Dataset, entities: &[u32], most: usize, seed: u64) -> Vec<u32> {
    draw(entities.iter().copied().filter(|&entity| num_edges(dataset, entity) > 1), most, seed)
}

/// At most `most` of some entities, drawn by `seed`, in the order of the draw. Whether one comes before another does
/// not depend on the rest.
pub(super) fn draw(entities: impl Iterator<Item = u32>, most: usize, seed: u64) -> Vec<u32> {
    let key = |entity: u32| ChaCha8Rng::seed_from_u64(seed ^ (u64::from(entity) << 32 | 1)).random::<u64>();
    let mut keyed: Vec<(u64, u32)> = entities.map(|entity| (key(entity), entity)).collect();
    keyed.sort_unstable();
    keyed.truncate(most);
    keyed.into_iter().map(|(_, entity)| entity).collect()
}
