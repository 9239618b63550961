//! Mini-batches: target nodes with the blocks and inputs they need.

use carat_graph::{BlockBuilder, Blocks, Dataset};
use carat_nn::Input;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Targets of one step with everything the step reads.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) blocks: Blocks,
    pub(crate) input: Input<f32>,
    /// Labels of the first targets; those beyond are entities of the regulariser only.
    pub(crate) labels: Vec<u32>,
    /// The batch's number within its epoch.
    pub(crate) number: usize,
}

/// Makes batches of labelled nodes. A set of nodes that fits one batch is prepared once and kept.
#[derive(Debug)]
pub(crate) struct Batches<'a> {
    dataset: &'a Dataset,
    builder: BlockBuilder<'a>,
    nodes: Vec<u32>,
    /// Nodes without a label that join the batches in equal shares.
    others: Vec<u32>,
    size: usize,
    layers: usize,
    purpose: Purpose,
    kept: Option<Batch>,
}

/// What batches are for: training ones may be sampled and shuffled, evaluation is exact.
#[derive(Debug, Clone)]
pub(crate) enum Purpose {
    Training { fanout: Vec<usize>, seed: u64 },
    Evaluation,
}

impl<'a> Batches<'a> {
    /// Batches of at most `size` of the nodes, each of which has a label.
    pub(crate) fn new(dataset: &'a Dataset, nodes: &[u32], size: usize, layers: usize, purpose: Purpose) -> Self {
        let builder = BlockBuilder::new(dataset.graph());
        Self { dataset, builder, nodes: nodes.to_vec(), others: Vec::new(), size, layers, purpose, kept: None }
    }

    /// Adds nodes whose labels are never read, to every batch its share.
    #[must_use]
    pub(crate) fn with_others(mut self, others: Vec<u32>) -> Self {
        self.others = others;
        self
    }

    /// Number of nodes in all batches together.
    pub(crate) fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Calls `visit` with every batch of an epoch, until it returns false. The same epoch always gives the same batches.
    pub(crate) fn for_each<E>(
        &mut self,
        epoch: usize,
        mut visit: impl FnMut(&Batch) -> Result<bool, E>,
    ) -> Result<(), E> {
        if let Some(batch) = &self.kept {
            return visit(batch).map(|_| ());
        }
        let (mut order, mut others) = (self.nodes.clone(), self.others.clone());
        if let Purpose::Training { seed, .. } = self.purpose
            && order.len() > self.size
        {
            // A stream of its own per epoch: a resumed run shuffles as an uninterrupted one would.
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(epoch as u64 + 1);
            order.shuffle(&mut rng);
            others.shuffle(&mut rng);
        }
        let count = order.len().div_ceil(self.size);
        let share = others.len().div_ceil(count.max(1)).max(1);
        let mut others = others.chunks(share);
        for (number, targets) in order.chunks(self.size).enumerate() {
            let batch = self.make(targets, others.next().unwrap_or_default(), epoch, number);
            if !visit(&batch)? {
                return Ok(());
            }
            let sampled = matches!(&self.purpose, Purpose::Training { fanout, .. } if !fanout.is_empty());
            if count == 1 && !sampled {
                self.kept = Some(batch);
            }
        }
        Ok(())
    }

    fn make(&mut self, labelled: &[u32], others: &[u32], epoch: usize, number: usize) -> Batch {
        let features = self.dataset.features();
        let labels = labelled.iter().filter_map(|&n| self.dataset.labels().get(n)).collect();
        let targets = &[labelled, others].concat();
        match &self.purpose {
            Purpose::Evaluation => {
                let blocks = self.builder.build(targets, self.layers);
                Batch { input: Input::new(features, blocks.nodes()), blocks, labels, number }
            }
            Purpose::Training { fanout, seed } => {
                let blocks = if fanout.is_empty() {
                    self.builder.build(targets, self.layers)
                } else {
                    self.builder.sample(targets, fanout, batch_seed(*seed, epoch, number))
                };
                Batch { input: Input::for_training(features, blocks.nodes()), blocks, labels, number }
            }
        }
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
