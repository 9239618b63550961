//! Scores of a network, and how its attention agrees with labels.

use carat_graph::{Blocks, Dataset};
use carat_nn::{Engine, Keep, Network, NetworkConfig, Pass, Workspace, loss};

use crate::batches::{Batch, Batches, Purpose};
use crate::config::check_classes;
use crate::entity::existing;
use crate::inputs::check_inputs;
use crate::metrics::Predictions;
use crate::{Error, Task, TrainConfig};

/// Loss and accuracy over some nodes, or graphs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Share of them whose predicted class is the label.
    pub accuracy: f64,
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "loss {:.3}, accuracy {:.3}", self.loss, self.accuracy)
    }
}

/// Collects a [`Score`] entity by entity.
#[derive(Debug, Default)]
pub(crate) struct ScoreSum {
    entities: usize,
    loss: f64,
    correct: usize,
}

impl ScoreSum {
    /// Adds an entity: its class scores and its label.
    pub(crate) fn add(&mut self, scores: &[f32], label: u32) {
        self.entities += 1;
        self.loss += f64::from(loss::cross_entropy(scores, label as usize));
        self.correct += usize::from(loss::argmax(scores) == label as usize);
    }

    /// Adds the entities of a pass, which have these labels.
    fn add_pass(&mut self, pass: &dyn Pass<f32>, labels: &[u32]) {
        let rows = pass.scores().chunks_exact(pass.config().classes).zip(labels);
        rows.for_each(|(scores, &label)| self.add(scores, label));
    }

    /// The means, or `None` where there was no entity.
    pub(crate) fn finish(self) -> Option<Score> {
        let entities = self.entities as f64;
        (self.entities > 0).then(|| Score { loss: self.loss / entities, accuracy: self.correct as f64 / entities })
    }
}

/// Evaluates a network repeatedly on one set of labelled nodes, or of labelled graphs, with all neighbours.
#[derive(Debug)]
pub struct Evaluator<'a> {
    batches: Batches<'a>,
    work: Workspace<f32>,
}

impl<'a> Evaluator<'a> {
    /// Evaluation of `entities` by networks of these sizes, at most `batch_size` at a time. Those without a label are
    /// left out.
    pub fn new(dataset: &'a Dataset, entities: &[u32], sizes: NetworkConfig, batch_size: usize) -> Self {
        let labelled: Vec<u32> = entities.iter().copied().filter(|&n| dataset.labels().get(n).is_some()).collect();
        let batches = Batches::new(dataset, &labelled, batch_size, sizes, Purpose::Evaluation);
        Self { batches, work: Workspace::default() }
    }

    /// Loss and accuracy; `None` where no entity has a label. An error where features in a mapped file are damaged.
    pub fn score(&mut self, network: &Network<f32>) -> Result<Option<Score>, Error> {
        let Self { batches, work } = self;
        let score = sum(batches, |batch, sum| {
            sum.add_pass(&network.forward(&batch.blocks, &batch.input, Keep::Scores, work), &batch.labels);
        })?;
        if !batches.are_kept() {
            *work = Workspace::default();
        }
        Ok(score)
    }

    /// What the network predicts for every entity, to compute any figure from.
    pub fn predictions(&mut self, network: &Network<f32>) -> Result<Predictions, Error> {
        let Self { batches, work } = self;
        let predictions = collect(batches, network.config().classes, |batch, predictions| {
            let pass = network.forward(&batch.blocks, &batch.input, Keep::Scores, work);
            predictions.add_pass(&pass, &batch.labels);
        })?;
        if !batches.are_kept() {
            *work = Workspace::default();
        }
        Ok(predictions)
    }

    /// The same of the network that an engine trains.
    pub(crate) fn predictions_on(&mut self, engine: &mut dyn Engine) -> Result<Predictions, Error> {
        let classes = engine.network().config().classes;
        let predictions = collect(&mut self.batches, classes, |batch, predictions| {
            predictions.add_pass(&*engine.forward(&batch.blocks, &batch.input, Keep::Scores), &batch.labels);
        })?;
        if !self.batches.are_kept() {
            engine.release();
        }
        Ok(predictions)
    }

    /// Loss and accuracy of the network that an engine trains.
    pub(crate) fn score_on(&mut self, engine: &mut dyn Engine) -> Result<Option<Score>, Error> {
        let mut sum = ScoreSum::default();
        self.rows_on(engine, |scores, label| sum.add(scores, label))?;
        Ok(sum.finish())
    }

    /// Calls `add` with the class scores and the label of every entity, by the network that an engine trains.
    pub(crate) fn rows_on(&mut self, engine: &mut dyn Engine, mut add: impl FnMut(&[f32], u32)) -> Result<(), Error> {
        self.batches.for_each(0, |batch| {
            let pass = engine.forward(&batch.blocks, &batch.input, Keep::Scores);
            let rows = pass.scores().chunks_exact(pass.config().classes).zip(&batch.labels);
            rows.for_each(|(scores, &label)| add(scores, label));
            Ok::<bool, Error>(true)
        })?;
        if !self.batches.are_kept() {
            engine.release();
        }
        Ok(())
    }
}

/// The predictions of all batches, in their order.
fn collect(
    batches: &mut Batches<'_>,
    classes: usize,
    mut add: impl FnMut(&Batch, &mut Predictions),
) -> Result<Predictions, Error> {
    let mut predictions = Predictions::new(classes);
    batches.for_each(0, |batch| {
        add(batch, &mut predictions);
        Ok::<bool, Error>(true)
    })?;
    Ok(predictions)
}

/// The score of all batches. For sets of many batches the buffers of their passes are large, and together with those of
/// training and of other sets they may not fit into memory, so the owner frees them. A single batch needs little, which
/// is reused after the next epoch.
fn sum(batches: &mut Batches<'_>, mut add: impl FnMut(&Batch, &mut ScoreSum)) -> Result<Option<Score>, Error> {
    let mut sum = ScoreSum::default();
    batches.for_each(0, |batch| {
        add(batch, &mut sum);
        Ok::<bool, Error>(true)
    })?;
    Ok(sum.finish())
}

/// Loss and accuracy of a network on some nodes, or graphs of a set, of which those without a label are left out. To
/// score repeatedly, keep an [`Evaluator`].
pub fn score(network: &Network<f32>, dataset: &Dataset, entities: &[u32]) -> Result<Score, Error> {
    let task = Task::of(dataset);
    check_inputs(network.config(), dataset)?;
    check_classes(network.config().classes, dataset)?;
    existing(dataset, task, entities)?;
    let batch_size = TrainConfig::default().optimiser.batch_size;
    let score = Evaluator::new(dataset, entities, network.config(), batch_size).score(network)?;
    score.ok_or_else(|| Error::Config(format!("none of the {task}s to score has a label; choose others")))
}

/// How attention agrees with the labels around test nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coherence {
    /// Mean over in-edges of e_ij ln(e_ij / attention_ij), where e_ij shares 1 equally among same-label in-neighbours.
    /// Lower is better, but uniform attention scores very well: compare with `uniform_kl`.
    pub attention_kl: f64,
    /// The same for uniform attention.
    pub uniform_kl: f64,
    /// Over nodes with both kinds of in-edge, the mean probability that attention ranks a same-label edge above a
    /// different-label one; ties count half. Smoothing cannot raise it.
    pub attention_auc: Option<f64>,
}

/// Collects [`Coherence`] node by node.
#[derive(Debug, Default)]
pub(crate) struct CoherenceSum {
    edges: usize,
    attention_kl: f64,
    uniform_kl: f64,
    auc_nodes: usize,
    auc: f64,
}

impl CoherenceSum {
    /// Adds one target: whether each in-neighbour has the same label, and the attention on it.
    pub(crate) fn add(&mut self, same: &[bool], attention: &[f64]) {
        self.edges += same.len();
        let agreeing = same.iter().filter(|s| **s).count();
        if agreeing > 0 {
            let share = 1.0 / agreeing as f64;
            for (_, alpha) in same.iter().zip(attention).filter(|(same, _)| **same) {
                // Attention may underflow to 0 in f32; the floor keeps one such edge from making the mean infinite.
                self.attention_kl += share * (share / alpha.max(f64::from(f32::MIN_POSITIVE))).ln();
                self.uniform_kl += share * (share * same.len() as f64).ln();
            }
        }
        let differing = same.len() - agreeing;
        if agreeing > 0 && differing > 0 {
            let mut order: Vec<usize> = (0..same.len()).collect();
            order.sort_by(|&a, &b| attention[a].total_cmp(&attention[b]));
            // Go up through groups of equal attention and count the different-label edges below.
            let (mut below, mut wins) = (0.0, 0.0);
            let mut start = 0;
            while start < order.len() {
                let mut end = start;
                let (mut same_here, mut different_here) = (0.0, 0.0);
                // Compared as in the sort: NaN is unequal to itself and would make an endless group.
                while end < order.len() && attention[order[end]].total_cmp(&attention[order[start]]).is_eq() {
                    if same[order[end]] {
                        same_here += 1.0
                    } else {
                        different_here += 1.0
                    }
                    end += 1;
                }
                wins += same_here * (below + 0.5 * different_here);
                below += different_here;
                start = end;
            }
            self.auc += wins / (agreeing * differing) as f64;
            self.auc_nodes += 1;
        }
    }

    /// The means, or `None` where there was no edge.
    pub(crate) fn finish(self) -> Option<Coherence> {
        let edges = self.edges as f64;
        (self.edges > 0).then(|| Coherence {
            attention_kl: self.attention_kl / edges,
            uniform_kl: self.uniform_kl / edges,
            attention_auc: (self.auc_nodes > 0).then(|| self.auc / self.auc_nodes as f64),
        })
    }
}

/// Coherence of the last layer's head-mean attention with label agreement over the in-edges of `nodes`. In-neighbours
/// without a label count as different. `None` where there is no such edge, and for sets of graphs, whose nodes have no
/// labels; an error where features in a mapped file are damaged.
pub fn coherence(
    network: &Network<f32>,
    dataset: &Dataset,
    nodes: &[u32],
    batch_size: usize,
) -> Result<Option<Coherence>, Error> {
    if Task::of(dataset) == Task::Graph {
        return Ok(None);
    }
    let (layers, heads) = (network.config().layers, network.config().heads);
    let mut batches = Batches::new(dataset, nodes, batch_size, network.config(), Purpose::Evaluation);
    let mut work = Workspace::default();
    let mut sum = CoherenceSum::default();
    batches.for_each(0, |batch| {
        let pass = network.forward(&batch.blocks, &batch.input, Keep::Scores, &mut work);
        add_targets(&mut sum, dataset, &batch.blocks, pass.attention(layers - 1), heads);
        Ok::<bool, Error>(true)
    })?;
    Ok(sum.finish())
}

fn add_targets(sum: &mut CoherenceSum, dataset: &Dataset, blocks: &Blocks, attention: &[f32], heads: usize) {
    let block = blocks.layer(blocks.num_layers() - 1);
    let (mut same, mut alphas) = (Vec::new(), Vec::new());
    for (j, &node) in blocks.targets().iter().enumerate() {
        let Some(own) = dataset.labels().get(node) else { continue };
        same.clear();
        alphas.clear();
        for e in (block.offsets()[j]..block.offsets()[j + 1]).filter(|&e| blocks.is_own(e)) {
            let neighbour = blocks.nodes()[block.sources()[e] as usize];
            same.push(dataset.labels().get(neighbour) == Some(own));
            let mean = attention[e * heads..(e + 1) * heads].iter().map(|&a| f64::from(a)).sum::<f64>() / heads as f64;
            alphas.push(mean);
        }
        // An added self-loop takes part of the attention; among the data's edges the rest is the whole.
        if alphas.len() < block.in_neighbours(j).len() {
            let whole: f64 = alphas.iter().sum();
            alphas.iter_mut().filter(|_| whole > 0.0).for_each(|alpha| *alpha /= whole);
        }
        sum.add(&same, &alphas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_that_is_no_number_ends_the_count() {
        let mut sum = CoherenceSum::default();
        sum.add(&[true, false, true], &[f64::NAN, f64::NAN, 0.5]);
        assert!(sum.finish().unwrap().attention_auc.is_some());
    }

    #[test]
    fn scores_are_means_over_labelled_nodes_and_refuse_what_does_not_fit() {
        let features = [[1.0f32, 0.0], [0.5, 0.5], [0.0, 1.0]];
        let dataset = Dataset::from_rows("tiny", &[(0, 1), (2, 1)], &features, &[Some(0), None, Some(1)]).unwrap();
        let config = TrainConfig::default().hidden(4);
        let network = Network::new(config.network_for(&dataset), 0).unwrap();
        let of = |nodes: &[u32]| score(&network, &dataset, nodes).map_err(|e| e.to_string());
        let (all, first, last) = (of(&[0, 1, 2]).unwrap(), of(&[0]).unwrap(), of(&[2]).unwrap());
        assert!((all.loss - (first.loss + last.loss) / 2.0).abs() < 1e-6);
        assert_eq!(all.accuracy, (first.accuracy + last.accuracy) / 2.0);
        assert_eq!(of(&[1]).unwrap_err(), "none of the nodes to score has a label; choose others");
        assert_eq!(of(&[3]).unwrap_err(), "there is no node 3 in tiny, which has 3");
        let other = Network::new(config.sizes(2, 1), 0).unwrap();
        let error = score(&other, &dataset, &[0]).unwrap_err().to_string();
        assert!(error.starts_with("the model knows 1 classes, but tiny has 2"), "{error}");
    }

    #[test]
    fn coherence_of_small_cases_by_hand() {
        let mut sum = CoherenceSum::default();
        sum.add(&[true, true, false], &[0.5, 0.2, 0.3]);
        let found = sum.finish().unwrap();
        let kl = 0.5 * (0.5f64 / 0.5).ln() + 0.5 * (0.5f64 / 0.2).ln();
        assert!((found.attention_kl - kl / 3.0).abs() < 1e-12);
        assert!((found.uniform_kl - (1.5f64).ln() / 3.0).abs() < 1e-12);
        assert_eq!(found.attention_auc, Some(0.5));
    }

    #[test]
    fn auc_counts_ties_half_and_skips_one_sided_nodes() {
        let mut sum = CoherenceSum::default();
        sum.add(&[true, false, false], &[0.4, 0.4, 0.2]);
        sum.add(&[true, true], &[0.9, 0.1]);
        assert_eq!(sum.finish().unwrap().attention_auc, Some(0.75));
        let mut one_sided = CoherenceSum::default();
        one_sided.add(&[false], &[1.0]);
        let found = one_sided.finish().unwrap();
        assert_eq!((found.attention_auc, found.attention_kl), (None, 0.0));
        assert!(CoherenceSum::default().finish().is_none());
    }

    #[test]
    fn uniform_attention_has_auc_one_half() {
        let mut sum = CoherenceSum::default();
        sum.add(&[true, false, true, false, false], &[0.2; 5]);
        let found = sum.finish().unwrap();
        assert_eq!(found.attention_auc, Some(0.5));
        assert!((found.attention_kl - found.uniform_kl).abs() < 1e-12);
    }
}
