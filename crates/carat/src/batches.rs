//! Mini-batches: nodes or graphs with the blocks and inputs they need.

use carat_graph::{Blocks, DataError, Dataset};
use carat_nn::{Input, NetworkConfig};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::entity::EntityBlocks;
use crate::{Task, input, threads};

/// Entities of one step with everything the step reads.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) blocks: Blocks,
    pub(crate) input: Input<f32>,
    /// Labels of the first entities. Only the regulariser uses those beyond.
    pub(crate) labels: Vec<u32>,
    /// The batch's number within its epoch.
    pub(crate) number: usize,
}

/// Makes batches of labelled entities. If they fit into one batch, it is prepared once and reused.
#[derive(Debug)]
pub(crate) struct Batches<'a> {
    dataset: &'a Dataset,
    builder: EntityBlocks<'a>,
    entities: Vec<u32>,
    /// Nodes without a label that join the batches in equal shares.
    unlabelled: Vec<u32>,
    size: usize,
    sizes: NetworkConfig,
    purpose: Purpose,
    cached: Option<Batch>,
}

/// What batches are for: training ones may be sampled and shuffled, evaluation is exact.
#[derive(Debug, Clone)]
pub(crate) enum Purpose {
    Training { fanout: Vec<usize>, seed: u64 },
    Evaluation,
}

impl<'a> Batches<'a> {
    /// Batches of at most `size` of the entities, each of which has a label, for networks of these sizes.
    pub(crate) fn new(
        dataset: &'a Dataset,
        entities: &[u32],
        size: usize,
        sizes: NetworkConfig,
        purpose: Purpose,
    ) -> Self {
        let builder = EntityBlocks::new(dataset, Task::of(dataset));
        Self {
            dataset,
            builder,
            entities: entities.to_vec(),
            unlabelled: Vec::new(),
            size,
            sizes,
            purpose,
            cached: None,
        }
    }

    /// Adds nodes whose labels are never read, in equal shares for all batches.
    #[must_use]
    pub(crate) fn with_unlabelled(mut self, unlabelled: Vec<u32>) -> Self {
        self.unlabelled = unlabelled;
        self
    }

    /// Number of labelled entities in all batches together.
    pub(crate) fn num_entities(&self) -> usize {
        self.entities.len()
    }

    /// Whether there is only one batch, which is reused.
    pub(crate) fn are_kept(&self) -> bool {
        self.cached.is_some()
    }

    /// Calls `visit` with every batch of an epoch, until it returns false. The same epoch always gives the same
    /// batches.
    ///
    /// While `visit` works on a batch, another thread makes the next one. Batches depend only on their numbers, so this
    /// changes nothing but the time. At most two batches are in memory.
    pub(crate) fn for_each<E: From<DataError>>(
        &mut self,
        epoch: usize,
        mut visit: impl FnMut(&Batch) -> Result<bool, E>,
    ) -> Result<(), E> {
        if let Some(batch) = &self.cached {
            return visit(batch).map(|_| ());
        }
        let (mut order, mut unlabelled) = (self.entities.clone(), self.unlabelled.clone());
        if let Purpose::Training { seed, .. } = self.purpose
            && order.len() > self.size
        {
            // Each epoch has its own random stream, so a resumed run shuffles as an uninterrupted one does.
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(epoch as u64 + 1);
            order.shuffle(&mut rng);
            unlabelled.shuffle(&mut rng);
        }
        let count = order.len().div_ceil(self.size);
        let share = unlabelled.len().div_ceil(count.max(1)).max(1);
        let mut unlabelled = unlabelled.chunks(share);
        let mut plan =
            order.chunks(self.size).map(|targets| (targets, unlabelled.next().unwrap_or_default())).enumerate();
        let mut maker = BatchMaker {
            dataset: self.dataset,
            builder: &mut self.builder,
            sizes: self.sizes,
            purpose: &self.purpose,
            epoch,
        };
        let mut ready = plan.next().map(|first| maker.make(first));
        while let Some(made) = ready.take() {
            let batch = made?;
            let going_on = match plan.next() {
                Some(next) => threads::alongside(|| visit(&batch), || maker.make(next), &mut ready)?,
                None => visit(&batch)?,
            };
            if !going_on {
                return Ok(());
            }
            let sampled = matches!(&self.purpose, Purpose::Training { fanout, .. } if !fanout.is_empty());
            if count == 1 && !sampled {
                self.cached = Some(batch);
            }
        }
        Ok(())
    }
}

/// What is needed to make the batches of one epoch.
struct BatchMaker<'m, 'a> {
    dataset: &'a Dataset,
    builder: &'m mut EntityBlocks<'a>,
    sizes: NetworkConfig,
    purpose: &'m Purpose,
    epoch: usize,
}

impl BatchMaker<'_, '_> {
    /// The batch of this number, from its labelled and its unlabelled entities.
    fn make(&mut self, (number, (labelled, unlabelled)): (usize, (&[u32], &[u32]))) -> Result<Batch, DataError> {
        let labels = labelled.iter().filter_map(|&n| self.dataset.labels().get(n)).collect();
        let entities = &[labelled, unlabelled].concat();
        let blocks = match self.purpose {
            Purpose::Training { fanout, seed } if !fanout.is_empty() => {
                self.builder.sample(entities, fanout, batch_seed(*seed, self.epoch, number))
            }
            _ => self.builder.build(entities, self.sizes.layers),
        };
        let input = input(self.sizes, self.dataset, &blocks)?;
        let input = match self.purpose {
            Purpose::Training { .. } => input.with_columns(),
            Purpose::Evaluation => input,
        };
        Ok(Batch { blocks, input, labels, number })
    }
}

/// A well-mixed seed per (run, epoch, batch), by SplitMix64's finaliser.
pub(crate) fn batch_seed(seed: u64, epoch: usize, number: usize) -> u64 {
    let mut mixed = seed;
    for part in [epoch as u64, number as u64] {
        mixed = (mixed ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, TrainConfig, with_threads};
    use carat_graph::generators::{PlantedConfig, planted};

    /// Targets, nodes and edges of every batch of two epochs, and the threads they were visited on.
    fn batches(dataset: &Dataset, threads: usize, stop_after: usize) -> Vec<(usize, Blocks, Vec<u32>)> {
        let split = &dataset.splits()[0];
        let purpose = Purpose::Training { fanout: vec![3, 2], seed: 9 };
        let visited = with_threads(Some(threads), || {
            let sizes = TrainConfig::default().network_for(dataset);
            let mut batches =
                Batches::new(dataset, &split.train, 30, sizes, purpose).with_unlabelled(split.val.clone());
            let mut seen = Vec::new();
            for epoch in 1..3 {
                let visit = |batch: &Batch| {
                    seen.push((batch.number, batch.blocks.clone(), batch.labels.clone()));
                    Ok::<bool, Error>(seen.len() < stop_after)
                };
                batches.for_each(epoch, visit).unwrap();
            }
            seen
        });
        visited.unwrap()
    }

    #[test]
    fn batches_come_in_order_and_alike_on_any_number_of_threads() {
        let dataset = planted(&PlantedConfig { nodes: 900, ..PlantedConfig::default() }).unwrap();
        let count = dataset.splits()[0].train.len().div_ceil(30);
        assert!(count > 3);
        let one = batches(&dataset, 1, usize::MAX);
        assert_eq!(one.iter().map(|batch| batch.0).collect::<Vec<_>>(), (0..count).chain(0..count).collect::<Vec<_>>());
        assert_ne!(one[0].1, one[count].1);
        for threads in [2, 3] {
            assert_eq!(batches(&dataset, threads, usize::MAX), one);
        }
        assert_eq!(batches(&dataset, 2, 2)[..2], one[..2]);
    }
}
