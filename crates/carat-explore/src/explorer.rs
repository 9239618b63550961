//! Computes what the page shows: nodes by name, a node with its in-edges, a prediction without an edge.

use carat::{EffectSettings, Error, NodeAnswer, Probe};
use carat_graph::Dataset;
use carat_nn::loss;

use crate::display::{class_names, node_name};
use crate::inputs::Inputs;
use crate::names::Names;
use crate::view::{
    EdgeOfRun, EdgeView, Info, NodeSummary, NodeView, Prediction, PredictionChange, RunInfo, SearchView, WithoutView,
};

/// The most in-edges that are measured and shown at once. A hub has thousands; each costs an intervention.
pub const MOST_EDGES: usize = 200;
/// The default number of in-edges in a view.
pub const USUAL_EDGES: usize = 20;
/// The most nodes that one search finds.
const MOST_FOUND: usize = 12;
/// The most readers that a view lists.
const MOST_READERS: usize = 24;

/// Which attention edges are ranked by: of one layer, of one head in it, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Which {
    /// Counted from 0.
    pub layer: Option<usize>,
    /// Counted from 0.
    pub head: Option<usize>,
}

/// Answers questions about a graph and the networks trained on it.
#[derive(Debug)]
pub struct Explorer<'a> {
    inputs: &'a Inputs,
    names: Names<'a>,
    probes: Vec<Probe<'a>>,
    /// Per node: 0 none, else 1 + the place in `ROLES`.
    roles: Vec<u8>,
    start: u32,
}

const ROLES: [&str; 3] = ["train", "val", "test"];

impl<'a> Explorer<'a> {
    /// Prepares the names and one probe per run. Data that does not fit a run is refused.
    pub fn new(inputs: &'a Inputs) -> Result<Self, Error> {
        let Inputs { dataset, runs } = inputs;
        let probes = runs
            .iter()
            .map(|run| Probe::new(&run.network, dataset, EffectSettings::from(&run.config)))
            .collect::<Result<_, Error>>()?;
        // As many in-edges as a view shows by default, at most.
        let degree = |node: &u32| Some(dataset.graph().in_degree(*node)).filter(|&degree| degree <= USUAL_EDGES);
        let start = (0..dataset.num_nodes() as u32).rev().max_by_key(degree).unwrap_or(0);
        Ok(Self { inputs, names: Names::new(dataset), probes, roles: roles(inputs), start })
    }

    /// Sets the node to begin with. By default it is a node with many in-edges, all of which a view shows.
    pub fn start_at(&mut self, node: &str) -> Result<u32, Error> {
        self.start = self.names.resolve(node)?;
        Ok(self.start)
    }

    fn dataset(&self) -> &'a Dataset {
        &self.inputs.dataset
    }

    /// The graph and the runs.
    pub fn info(&self) -> Info {
        let runs = &self.inputs.runs;
        let info = |run: &crate::Run| RunInfo {
            name: run.name.clone(),
            treatment: run.treatment(),
            arch: run.network.config().arch.to_string(),
            layers: run.network.config().layers,
            heads: run.network.config().heads,
        };
        let classes = runs.first().map_or(0, |run| run.network.config().classes);
        let classes = classes.max(self.dataset().labels().num_classes());
        Info {
            dataset: crate::display::shown(self.dataset().name()),
            nodes: self.dataset().num_nodes(),
            edges: self.dataset().graph().num_edges(),
            classes: class_names(self.dataset(), classes),
            runs: runs.iter().map(info).collect(),
            start: self.start,
            most_edges: MOST_EDGES,
        }
    }

    /// Nodes that match a query.
    pub fn search(&self, query: &str) -> SearchView {
        let found = self.names.search(query, MOST_FOUND);
        SearchView { nodes: found.nodes.iter().map(|&node| self.summary(node)).collect(), more: found.more }
    }

    /// A node without its edges.
    fn summary(&self, node: u32) -> NodeSummary {
        let dataset = self.dataset();
        let role = self.roles.get(node as usize).and_then(|&role| ROLES.get(usize::from(role).checked_sub(1)?));
        NodeSummary {
            id: node,
            name: node_name(dataset, node),
            class: dataset.labels().get(node),
            year: dataset.node_years().and_then(|years| years.get(node as usize).copied()),
            role: role.copied(),
            degree: dataset.graph().in_degree(node),
        }
    }

    /// A node and at most `most` of its in-edges: those with the most attention in any run.
    pub fn node(&mut self, node: u32, most: usize, which: Which) -> Result<NodeView, Error> {
        let answers = self.probes.iter_mut().map(|probe| probe.node(node)).collect::<Result<Vec<_>, Error>>()?;
        let neighbours = self.dataset().graph().in_neighbours(node);
        let chosen = self.ranked(neighbours, &answers, most.min(MOST_EDGES), which);
        let sources: Vec<u32> = chosen.iter().map(|&edge| neighbours[edge]).collect();
        let mut edges: Vec<EdgeView> = chosen
            .iter()
            .map(|&edge| EdgeView { source: self.summary(neighbours[edge]), runs: Vec::new(), spurious: None })
            .collect();
        if let Some(flags) = self.dataset().spurious() {
            let first = self.dataset().graph().in_edges(node).start;
            for (view, &edge) in edges.iter_mut().zip(&chosen) {
                view.spurious = Some(flags[first + edge]);
            }
        }
        for (probe, (answer, run)) in self.probes.iter_mut().zip(answers.iter().zip(&self.inputs.runs)) {
            let (layers, heads) = (run.network.config().layers, run.network.config().heads);
            let without = probe.without(node, &sources)?.effects;
            let predicted = probe.predictions(&sources)?;
            for (at, (view, &edge)) in edges.iter_mut().zip(&chosen).enumerate() {
                let attention = &answer.attention[edge * layers * heads..(edge + 1) * layers * heads];
                view.runs.push(EdgeOfRun {
                    attention: attention.chunks_exact(heads).map(<[f32]>::to_vec).collect(),
                    delta: without.delta[at],
                    flips: without.flips[at],
                    effect: without.effect[at],
                    rho: without.rho[at],
                    loss_without: without.loss_without[at],
                    source_predicted: predicted[at],
                });
            }
        }
        let readers = self.dataset().graph().out_neighbours(node);
        Ok(NodeView {
            node: self.summary(node),
            runs: answers.iter().map(prediction).collect(),
            edges,
            readers: readers.iter().take(MOST_READERS).map(|&reader| self.summary(reader)).collect(),
            num_readers: readers.len(),
        })
    }

    /// The positions of the in-edges with the most attention, in descending order; ties by the number of the source.
    fn ranked(&self, neighbours: &[u32], answers: &[NodeAnswer], most: usize, which: Which) -> Vec<usize> {
        let of_run = |answer: &NodeAnswer, run: &crate::Run, edge: usize| -> f32 {
            let (layers, heads) = (run.network.config().layers, run.network.config().heads);
            let attention = &answer.attention[edge * layers * heads..(edge + 1) * layers * heads];
            // If this run lacks the chosen layer or head, all of them count, as on the page.
            let layers = which.layer.filter(|&l| l < layers).map_or(0..layers, |l| l..l + 1);
            let heads_of = which.head.filter(|&h| h < heads).map_or(0..heads, |h| h..h + 1);
            let count = layers.len() * heads_of.len();
            let sum: f32 = layers.map(|l| attention[l * heads..][heads_of.clone()].iter().sum::<f32>()).sum();
            sum / count as f32
        };
        let strength = |edge: usize| {
            answers.iter().zip(&self.inputs.runs).map(|(answer, run)| of_run(answer, run, edge)).fold(0.0, f32::max)
        };
        let mut ranked: Vec<(f32, usize)> = (0..neighbours.len()).map(|edge| (strength(edge), edge)).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        ranked.into_iter().take(most).map(|(_, edge)| edge).collect()
    }

    /// Every run's prediction for `node` with all edges and without the one from `source`.
    pub fn without(&mut self, source: u32, node: u32) -> Result<WithoutView, Error> {
        let mut runs = Vec::with_capacity(self.probes.len());
        for probe in &mut self.probes {
            let without = probe.without(node, &[source])?;
            let before = probe.node(node)?;
            let (Some(probabilities), [loss], [delta], [rho], [effect]) = (
                without.probabilities.into_iter().next(),
                &without.effects.loss_without[..],
                &without.effects.delta[..],
                &without.effects.rho[..],
                &without.effects.effect[..],
            ) else {
                continue;
            };
            let predicted = loss::argmax(&probabilities);
            let after = Prediction { predicted, judged_by: before.judged_by, loss: *loss, probabilities };
            runs.push(PredictionChange {
                before: prediction(&before),
                after,
                delta: *delta,
                rho: *rho,
                effect: *effect,
            });
        }
        Ok(WithoutView { source: self.summary(source), node: self.summary(node), runs })
    }
}

fn prediction(answer: &NodeAnswer) -> Prediction {
    Prediction {
        predicted: answer.predicted(),
        judged_by: answer.judged_by,
        loss: answer.loss,
        probabilities: answer.probabilities.clone(),
    }
}

/// Every node's part in the first run's split; all 0 if the data has no such split.
fn roles(inputs: &Inputs) -> Vec<u8> {
    let mut roles = vec![0; inputs.dataset.num_nodes()];
    let split = inputs.runs.first().and_then(|run| run.config.choose_split(&inputs.dataset).ok());
    if let Some(split) = split {
        for (role, nodes) in [split.train, split.val, split.test].into_iter().enumerate() {
            for node in nodes {
                if let Some(place) = roles.get_mut(node as usize) {
                    *place = role as u8 + 1;
                }
            }
        }
    }
    roles
}

#[cfg(test)]
#[path = "explorer_tests.rs"]
mod tests;
