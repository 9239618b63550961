//! Cross-fitting inside one training: the folds of the training entities take turns in being left out of the loss, and
//! effects are measured where they are left out.
//!
//! A network that has memorised a node's label predicts it with or without any edge, and what is left of its loss is
//! noise. Around a node that is left out it has to rely on the edges, as it must around test nodes.

use carat_graph::Blocks;
use carat_nn::loss::LEFT_OUT;

/// Epochs for which a fold is left out at a time. In fewer, the network would not forget it.
const TURN: usize = 10;

/// How the training entities are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Folds {
    count: usize,
    seed: u64,
}

impl Folds {
    /// So many folds; `None` below two, where nothing is left out.
    pub(crate) fn new(count: usize, seed: u64) -> Option<Self> {
        (count > 1).then_some(Self { count, seed })
    }

    /// Whether the loss leaves out the entity that begins with `node` in `epoch`, counted from 1.
    pub(crate) fn leave_out(self, node: u32, epoch: usize) -> bool {
        let turn = (epoch.saturating_sub(1) / TURN) % self.count;
        (mix(self.seed ^ u64::from(node)) % self.count as u64) as usize == turn
    }

    /// The labels of the first entities, without those that the loss leaves out.
    pub(crate) fn labels_in_loss(self, blocks: &Blocks, labels: &[u32], epoch: usize) -> Vec<u32> {
        let of_entity = |(number, &label): (usize, &u32)| {
            // A graph without nodes has no attention either.
            let node = blocks.targets().get(blocks.entity(number).start);
            if node.is_some_and(|&node| self.leave_out(node, epoch)) { LEFT_OUT } else { label }
        };
        labels.iter().enumerate().map(of_entity).collect()
    }
}

/// The finaliser of SplitMix64: spreads consecutive numbers evenly.
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entity_is_left_out_in_one_turn_of_a_round() {
        let folds = Folds::new(4, 7).unwrap();
        let mut sizes = [0; 4];
        for node in 0..1000 {
            let turns: Vec<usize> = (0..4).filter(|turn| folds.leave_out(node, turn * TURN + 1)).collect();
            assert_eq!(turns.len(), 1);
            sizes[turns[0]] += 1;
            assert!(folds.leave_out(node, (turns[0] + 1) * TURN) && folds.leave_out(node, (turns[0] + 4) * TURN + 1));
        }
        assert!(sizes.iter().all(|size| (190..310).contains(size)), "{sizes:?}");
        assert_eq!(Folds::new(1, 7), None);
    }
}
