//! One node at a time: its prediction, its attention, and its prediction without some of its in-edges.
//!
//! A [`Probe`] computes only the receptive field of that node and keeps it, so that further questions take milliseconds
//! on a graph of any size.

use carat_graph::{BlockBuilder, Blocks, Dataset};
use carat_nn::{Deletion, Input, Keep, Network, NetworkPass, Pass, Workspace, loss};

use crate::config::one_graph;
use crate::effects::{EdgeEffects, EffectSettings, Reference, references};
use crate::entity::existing;
use crate::inputs::check_inputs;
use crate::{Error, Task, input};

/// Queries a trained network about single nodes.
#[derive(Debug)]
pub struct Probe<'a> {
    network: &'a Network<f32>,
    dataset: &'a Dataset,
    settings: EffectSettings,
    builder: BlockBuilder<'a>,
    field: Option<Field>,
    work: Workspace<f32>,
}

/// The receptive field of the last node.
#[derive(Debug)]
struct Field {
    node: u32,
    blocks: Blocks,
    input: Input<f32>,
}

/// The prediction of a node, and its attention to its in-neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeAnswer {
    /// Probability of every class.
    pub probabilities: Vec<f32>,
    /// The class for which the prediction is scored: the node's label, or the predicted class where it has none.
    pub judged_by: usize,
    /// Cross-entropy of the prediction for that class.
    pub loss: f64,
    /// Attention to the in-neighbours, ascending: in-edges x layers x heads.
    pub attention: Vec<f32>,
}

impl NodeAnswer {
    /// The class that the network predicts.
    pub fn predicted(&self) -> usize {
        loss::argmax(&self.probabilities)
    }
}

/// The predictions of a node without single in-edges, each deleted by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletionAnswer {
    /// The edges and their effects, in the order of the query.
    pub effects: EdgeEffects,
    /// Per edge, the probability of every class without it.
    pub probabilities: Vec<Vec<f32>>,
}

impl<'a> Probe<'a> {
    /// A probe of one network on one graph. Refuses data that the network cannot read.
    pub fn new(network: &'a Network<f32>, dataset: &'a Dataset, settings: EffectSettings) -> Result<Self, Error> {
        one_graph(dataset)?;
        check_inputs(network.config(), dataset)?;
        settings.check()?;
        Ok(Self {
            network,
            dataset,
            settings,
            builder: BlockBuilder::new(dataset.graph()),
            field: None,
            work: Workspace::default(),
        })
    }

    /// The prediction of a node with all its edges.
    pub fn node(&mut self, node: u32) -> Result<NodeAnswer, Error> {
        let (config, dataset) = (self.network.config(), self.dataset);
        let (pass, reference) = self.pass(node)?;
        let edges = dataset.graph().in_degree(node);
        let mut attention = Vec::with_capacity(edges * config.layers * config.heads);
        for e in 0..edges {
            // Every layer's block begins with the target's own in-edges.
            for l in 0..config.layers {
                attention.extend_from_slice(&pass.attention(l)[e * config.heads..(e + 1) * config.heads]);
            }
        }
        let Reference { class, log_loss, .. } = reference;
        let probabilities = probabilities(pass.scores());
        Ok(NodeAnswer { probabilities, judged_by: class, loss: log_loss.exp(), attention })
    }

    /// The predictions of `node` without its in-edge from each of `sources`, as [`crate::effects()`] measures it.
    pub fn without(&mut self, node: u32, sources: &[u32]) -> Result<DeletionAnswer, Error> {
        existing(self.dataset, Task::Node, &[node])?;
        let neighbours = self.dataset.graph().in_neighbours(node);
        let deletion = |source: &u32| match neighbours.binary_search(source) {
            Ok(edge) => Ok(Deletion { target: 0, edge: edge as u32 }),
            Err(_) => {
                Err(Error::Config(format!("there is no edge from {source} to {node} in {}", self.dataset.name())))
            }
        };
        let deletions = sources.iter().map(deletion).collect::<Result<Vec<_>, Error>>()?;
        let settings = self.settings;
        let (mut pass, reference) = self.pass(node)?;
        let (mut effects, mut scores) = (EdgeEffects::default(), Vec::new());
        pass.scores_without(&deletions, &mut scores);
        effects.append(&pass, &deletions, &scores, &[reference], &settings)?;
        let rows = scores.chunks_exact(pass.config().classes);
        Ok(DeletionAnswer { effects, probabilities: rows.map(probabilities).collect() })
    }

    /// The predicted class of each of these nodes, and its probability.
    pub fn predictions(&mut self, nodes: &[u32]) -> Result<Vec<(usize, f32)>, Error> {
        existing(self.dataset, Task::Node, nodes)?;
        let Self { network, dataset, builder, work, .. } = self;
        if nodes.is_empty() {
            return Ok(Vec::new());
        }
        let blocks = builder.build(nodes, network.config().layers);
        let input = input(network.config(), dataset, &blocks)?;
        let pass = network.forward(&blocks, &input, Keep::Deletions, work);
        let predicted = |scores: &[f32]| {
            let class = loss::argmax(scores);
            (class, probabilities(scores)[class])
        };
        Ok(pass.scores().chunks_exact(network.config().classes).map(predicted).collect())
    }

    /// A pass over the receptive field of `node`, and what its predictions are compared with. The field is gathered
    /// again only if the last query was about another node.
    fn pass(&mut self, node: u32) -> Result<(NetworkPass<'_, f32>, Reference), Error> {
        existing(self.dataset, Task::Node, &[node])?;
        let Self { network, dataset, builder, field, work, .. } = self;
        let Field { blocks, input, .. } = match field.take() {
            Some(same) if same.node == node => field.insert(same),
            _ => {
                let blocks = builder.build(&[node], network.config().layers);
                let input = input(network.config(), dataset, &blocks)?;
                field.insert(Field { node, blocks, input })
            }
        };
        let pass = network.forward(blocks, input, Keep::Deletions, work);
        let references = references(&pass, dataset, &[node])?;
        let reference = references.first().copied().ok_or(Error::NotFinite { task: Task::Node, entity: node })?;
        Ok((pass, reference))
    }
}

/// Softmax of one row of class scores.
fn probabilities(scores: &[f32]) -> Vec<f32> {
    let mut row = vec![0.0; scores.len()];
    loss::softmax(scores, &mut row);
    row
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::{TrainConfig, effects, tables};
    use carat_graph::table::Column;

    fn tiny() -> Dataset {
        let edges = [(0, 3), (1, 3), (2, 3), (3, 3), (3, 0), (2, 1), (0, 2), (1, 2)];
        let features: Vec<[f32; 2]> = (0..5).map(|n| [(n as f32).sin(), (3.0 * n as f32).cos()]).collect();
        Dataset::from_rows("tiny", &edges, &features, &[Some(0), Some(1), None, None, Some(2)]).unwrap()
    }

    #[test]
    fn it_says_of_every_node_what_the_tables_of_all_nodes_say() {
        let dataset = tiny();
        let everywhere: Vec<u32> = (0..5).collect();
        for (arch, layers) in [("gat", 1), ("gatv2", 2), ("transformer", 3)] {
            let config = TrainConfig::default().arch(arch.parse().unwrap()).layers(layers).hidden(6).heads(2);
            let network = Network::new(config.network_for(&dataset), 3).unwrap();
            let settings = EffectSettings::from(&config);
            let all =
                effects(&network, &dataset, &everywhere, &settings, &mut |_, _| ControlFlow::Continue(())).unwrap();
            let mut probe = Probe::new(&network, &dataset, settings).unwrap();
            let mut found = EdgeEffects::default();
            let mut attention = Vec::new();
            for node in 0..5 {
                let answer = probe.node(node).unwrap();
                assert!((answer.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-6);
                assert!((answer.loss + f64::from(answer.probabilities[answer.judged_by]).ln()).abs() < 1e-5);
                assert_eq!(probe.predictions(&[node]).unwrap()[0].0, answer.predicted());
                attention.extend(answer.attention);
                let without = probe.without(node, dataset.graph().in_neighbours(node)).unwrap();
                for (row, loss) in without.probabilities.iter().zip(&without.effects.loss_without) {
                    assert!((loss + f64::from(row[answer.judged_by]).ln()).abs() < 1e-5);
                }
                found.src.extend(without.effects.src);
                found.effect.extend(without.effects.effect);
            }
            assert_eq!(found.src, all.src);
            assert!(found.effect.iter().zip(&all.effect).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} for {all:?}");
            let table = tables::attention(&network, &dataset, 10).unwrap();
            let Some((_, Column::F32(alpha))) = table.columns().iter().find(|(name, _)| name == "alpha") else {
                panic!("no column of attention")
            };
            assert_eq!(alpha.len(), attention.len());
            assert!(alpha.iter().zip(&attention).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn edges_in_any_order_and_nothing_that_is_not_there() {
        let dataset = tiny();
        let config = TrainConfig::default().hidden(6);
        let network = Network::new(config.network_for(&dataset), 3).unwrap();
        let mut probe = Probe::new(&network, &dataset, EffectSettings::from(&config)).unwrap();
        let two = probe.without(3, &[2, 0]).unwrap();
        assert_eq!((&two.effects.src[..], &two.effects.dst[..]), (&[2, 0][..], &[3, 3][..]));
        assert_eq!(probe.without(3, &[0]).unwrap().probabilities[0], two.probabilities[1]);
        assert!(probe.without(4, &[]).unwrap().effects.is_empty());
        let said = |error: Error| error.to_string();
        assert_eq!(said(probe.without(3, &[4]).unwrap_err()), "there is no edge from 4 to 3 in tiny");
        assert_eq!(said(probe.node(5).unwrap_err()), "there is no node 5 in tiny, which has 5");
        assert_eq!(said(probe.predictions(&[9]).unwrap_err()), "there is no node 9 in tiny, which has 5");
        let settings = EffectSettings { temperature: 0.0, ..EffectSettings::from(&config) };
        assert!(Probe::new(&network, &dataset, settings).is_err());
    }
}
