//! A classification graph with known truth: useful edges, and spurious edges that mislead a network while it trains.
//!
//! The question it answers: does attention lie on edges that help on the training nodes only, and does a regulariser
//! move it away? Notation: n nodes, C classes, d(j) in-edges of node j.
//!
//! ```text
//! roles      D = round(decoy_share n) nodes, chosen at random, are decoys: g(i) in 0..C is decoy i's group.
//!            The others are ordinary: y(j) in 0..C is the class. Groups and classes are of equal size (to 1).
//!            A decoy's label y is uniform and independent of its group; decoys are in no split.
//! words      each node makes words_per_node draws; a word drawn twice counts once, every value is 1:
//!              ordinary j: with probability feature_signal a word of class topic y(j), else any of the columns
//!              decoy i:    with probability decoy_signal   a word of decoy topic g(i), else any of the columns
//!            Class topic c is columns c t .. (c + 1) t, decoy topic g columns (C + g) t .. (C + g + 1) t, where
//!            t = topic_words. Columns from 2 C t on are background.
//! degrees    d(j) from degree_law with mean mean_degree; each in-edge is spurious with probability spurious_share.
//! useful     source: class k with probability H[y(j), k] (compatibility.rs; H[c, c] = homophily), then uniform
//!            among the ordinary nodes of class k.
//! spurious   source: a decoy of group
//!              G = y(j) with probability shortcut, else uniform     if j is a training node
//!              G uniform                                            if j is any other ordinary node
//!              G = g(j)                                             if j is a decoy
//!            and then uniform among the decoys of that group.
//! ```
//!
//! On training nodes a spurious message therefore predicts the label, with shortcut = 1 perfectly. On validation and
//! test nodes it is pure noise. The in-edges of decoys come from decoys of their own group, so that the shortcut also
//! survives a second layer, whose messages depend on the in-neighbours of the sources.
//!
//! `shortcut` decides what a causal effect measured on training nodes can see. Measured with softmax regression on a
//! node's words and the mean words of its in-neighbours (other values default; one seed): test accuracy with all edges
//! and with useful edges only, and how often deleting a useful edge hurts more than deleting a spurious edge of the
//! same node (0.5 is chance), on training nodes and, by their true labels, on validation nodes.
//!
//! ```text
//! shortcut      accuracy, all edges    useful only    effects, training    effects, validation
//! 0.0           0.94                   0.95           0.82                 0.80
//! 0.2           0.92                   0.94           0.73                 0.79
//! 0.4           0.87                   0.94           0.60                 0.77
//! 0.6           0.84                   0.95           0.45                 0.74
//! 0.9           0.68                   0.94           0.13                 0.71
//! ```
//!
//! Up to the default, training effects still point away from spurious edges although these already cost accuracy.
//! Beyond about 0.5 spurious edges do help on the training nodes, so that effects measured there point the wrong way
//! and only effects on held-out nodes tell the truth. A study should show several values, not the default alone: the
//! defaults were picked from 20 settings as one where both hold, so they are kind to causal regularisation.
//!
//! An edge is spurious if and only if its source is a decoy. There are no self-loops. A source drawn twice is redrawn
//! for some rounds and then given up, so a hub that wants more sources than there are gets fewer.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::checks::{self, MOST_CLASSES, MOST_NODES};
use super::compatibility::Compatibility;
use super::degrees::{DegreeLaw, DegreeSampler};
use super::sampling::{Purpose, append_distinct, ragged_rows, sort_and_merge, stream};
use crate::{CsrMatrix, DataError, Dataset, DatasetParts, Features, Flags, Graph, Labels, Split, SplitRatio};

/// Settings of [`planted`]; the top of its file defines them by equations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlantedConfig {
    /// Nodes, decoys included (2,000).
    pub nodes: usize,
    /// Classes, and as many decoy groups (5).
    pub classes: usize,
    /// Columns of the bag of words (500), at least 2 x classes x topic_words.
    pub features: usize,
    /// Words of each class topic and of each decoy topic (20).
    pub topic_words: usize,
    /// Words that each node draws (20).
    pub words_per_node: usize,
    /// Share of an ordinary node's words that come from its class topic (0.15).
    pub feature_signal: f64,
    /// Share of a decoy's words that come from its group's topic (0.3).
    pub decoy_signal: f64,
    /// Mean in-degree (10).
    pub mean_degree: f64,
    /// Law of the in-degrees (Poisson).
    pub degree_law: DegreeLaw,
    /// Share of useful edges whose ends are of one class (0.8).
    pub homophily: f64,
    /// Share of edges that are spurious (0.4).
    pub spurious_share: f64,
    /// Probability that a spurious edge of a training node comes from the group of the node's class rather than from
    /// any (0.4). With 0, spurious edges are noise everywhere; see the top of this file for what 1 does.
    pub shortcut: f64,
    /// Share of nodes that are decoys, the sources of spurious edges (0.1).
    pub decoy_share: f64,
    /// Shares of the ordinary nodes that train, validate and test (0.2, 0.2, 0.6).
    pub split_ratio: SplitRatio,
    /// Seed of everything random (0).
    pub seed: u64,
}

impl Default for PlantedConfig {
    fn default() -> Self {
        Self {
            nodes: 2000,
            classes: 5,
            features: 500,
            topic_words: 20,
            words_per_node: 20,
            feature_signal: 0.15,
            decoy_signal: 0.3,
            mean_degree: 10.0,
            degree_law: DegreeLaw::Poisson,
            homophily: 0.8,
            spurious_share: 0.4,
            shortcut: 0.4,
            decoy_share: 0.1,
            split_ratio: SplitRatio { train: 0.2, val: 0.2, test: 0.6 },
            seed: 0,
        }
    }
}

impl PlantedConfig {
    /// Checks every value; the error names the first that is wrong, and its range.
    pub fn check(&self) -> Result<(), DataError> {
        let invalid = |problem: String| Err(DataError::Invalid(problem));
        checks::within("classes", self.classes, 2, MOST_CLASSES)?;
        checks::within("nodes", self.nodes, 2 * self.classes, MOST_NODES)?;
        checks::within("features", self.features, 1, MOST_NODES)?;
        checks::within("topic_words", self.topic_words, 1, self.features)?;
        if self.topic_words > self.features / (2 * self.classes) {
            return invalid(format!(
                "features is {}, but {} classes and as many decoy groups of {} topic_words need {}; raise features or \
                 lower topic_words",
                self.features,
                self.classes,
                self.topic_words,
                (2 * self.classes).saturating_mul(self.topic_words)
            ));
        }
        checks::within("words_per_node", self.words_per_node, 1, self.features)?;
        checks::share("feature_signal", self.feature_signal)?;
        checks::share("decoy_signal", self.decoy_signal)?;
        checks::within("mean_degree", self.mean_degree, 0.0, (self.nodes - 1).min(10_000) as f64)?;
        if !self.degree_law.is_valid() {
            return invalid(format!("degree_law is {}; its exponent must be above 2 and at most 100", self.degree_law));
        }
        checks::share("homophily", self.homophily)?;
        checks::share("spurious_share", self.spurious_share)?;
        checks::share("shortcut", self.shortcut)?;
        checks::share("decoy_share", self.decoy_share)?;
        checks::split_ratio(self.split_ratio)?;
        checks::volume("nodes and mean_degree", self.nodes, self.mean_degree)?;
        checks::volume("nodes and words_per_node", self.nodes, self.words_per_node as f64)?;
        let decoys = self.num_decoys();
        if self.spurious_share > 0.0 && decoys < self.classes {
            return invalid(format!(
                "decoy_share is {}, which makes {decoys} decoys of {} nodes; {} groups need one each, or set \
                 spurious_share to 0",
                self.decoy_share, self.nodes, self.classes
            ));
        }
        if self.nodes - decoys < 2 * self.classes {
            return invalid(format!(
                "decoy_share is {}, which leaves {} ordinary nodes of {}; {} classes need two each",
                self.decoy_share,
                self.nodes - decoys,
                self.nodes,
                self.classes
            ));
        }
        if (self.split_ratio.train * (self.nodes - decoys) as f64).round() < self.classes as f64 {
            return invalid(format!(
                "split_ratio.train is {}, which is less than one training node for each of {} classes",
                self.split_ratio.train, self.classes
            ));
        }
        Ok(())
    }

    fn num_decoys(&self) -> usize {
        (self.decoy_share * self.nodes as f64).round() as usize
    }
}

/// Makes the graph; [`Dataset::spurious`] tells the spurious edges.
pub fn planted(config: &PlantedConfig) -> Result<Dataset, DataError> {
    config.check()?;
    let cast = Cast::draw(config);
    let graph = cast.draw_edges(config)?;
    let features = cast.draw_words(config)?;
    let spurious = cast.spurious(&graph)?;
    let labels = Labels::new(cast.label.iter().copied().map(Some).collect(), config.classes)?;
    let mut parts = DatasetParts::new("planted", graph, features, labels);
    parts.spurious = Some(spurious);
    parts.splits = vec![cast.split(config.split_ratio)];
    Dataset::new(parts)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    /// A source of spurious edges, and its group.
    Decoy(u32),
    /// An ordinary node that trains.
    Train,
    /// An ordinary node that does not.
    Other,
}

/// The role of every node. `order` is a random permutation of the nodes: first the decoys, then the training nodes,
/// then the validation nodes, then the rest. The k-th decoy has group k mod C, the k-th ordinary node class k mod C, so
/// that every cut of the order is balanced and a member of any class is found by arithmetic.
struct Cast {
    order: Vec<u32>,
    num_decoys: usize,
    role: Vec<Role>,
    label: Vec<u32>,
}

impl Cast {
    fn draw(config: &PlantedConfig) -> Self {
        let mut rng = stream(config.seed, Purpose::Layout, 0);
        let mut order: Vec<u32> = (0..config.nodes as u32).collect();
        order.shuffle(&mut rng);
        let (num_decoys, classes) = (config.num_decoys(), config.classes as u32);
        let num_train = cut(config.split_ratio.train, config.nodes - num_decoys);
        let mut role = vec![Role::Other; config.nodes];
        let mut label = vec![0; config.nodes];
        let (decoys, ordinary) = order.split_at(num_decoys);
        for (k, &node) in decoys.iter().enumerate() {
            role[node as usize] = Role::Decoy(k as u32 % classes);
            label[node as usize] = rng.random_range(0..classes);
        }
        for (k, &node) in ordinary.iter().enumerate() {
            label[node as usize] = k as u32 % classes;
            if k < num_train {
                role[node as usize] = Role::Train;
            }
        }
        Self { order, num_decoys, role, label }
    }

    fn draw_edges(&self, config: &PlantedConfig) -> Result<Graph, DataError> {
        let degrees = DegreeSampler::new(config.degree_law, config.mean_degree, config.nodes - 1);
        let compatibility = Compatibility::new(config.classes, config.homophily);
        let (decoys, ordinary) = self.order.split_at(self.num_decoys);
        let (offsets, sources) = ragged_rows(config.nodes, config.seed, Purpose::Edges, |j, rng, sources| {
            let label = self.label[j] as usize;
            let degree = degrees.draw(rng);
            let num_spurious = (0..degree).filter(|_| rng.random_bool(config.spurious_share)).count();
            let start = sources.len();
            append_distinct(sources, degree - num_spurious, j as u32, || {
                member(ordinary, compatibility.draw(label, rng), config.classes, rng)
            });
            append_distinct(sources, num_spurious, j as u32, || {
                let group = match self.role[j] {
                    Role::Decoy(group) => group as usize,
                    Role::Train if rng.random_bool(config.shortcut) => label,
                    Role::Train | Role::Other => rng.random_range(0..config.classes),
                };
                member(decoys, group, config.classes, rng)
            });
            sort_and_merge(sources, start);
        });
        // The settings were checked by their mean, which a power law can exceed.
        checks::within("the number of edges drawn", sources.len(), 0, u32::MAX as usize)?;
        Ok(Graph::from_in_csr(offsets, sources))
    }

    /// For each edge, whether its source is a decoy; drawn word by word, in parallel.
    fn spurious(&self, graph: &Graph) -> Result<Flags, DataError> {
        let is_decoy = |source: u32| matches!(self.role[source as usize], Role::Decoy(_));
        let word = |sources: &[u32]| (0..).zip(sources).fold(0, |word, (k, &i)| word | u64::from(is_decoy(i)) << k);
        let words: Vec<u64> = graph.sources().par_chunks(64).map(word).collect();
        Flags::from_words(words.into(), graph.num_edges())
    }

    fn draw_words(&self, config: &PlantedConfig) -> Result<Features, DataError> {
        let (offsets, columns) = ragged_rows(config.nodes, config.seed, Purpose::Features, |j, rng, words| {
            let (topic, signal) = match self.role[j] {
                Role::Decoy(group) => (config.classes + group as usize, config.decoy_signal),
                Role::Train | Role::Other => (self.label[j] as usize, config.feature_signal),
            };
            let start = words.len();
            words.extend((0..config.words_per_node).map(|_| {
                let word = if rng.random_bool(signal) {
                    topic * config.topic_words + rng.random_range(0..config.topic_words)
                } else {
                    rng.random_range(0..config.features)
                };
                word as u32
            }));
            sort_and_merge(words, start);
        });
        let values = vec![1.0; columns.len()];
        Features::sparse(CsrMatrix::new(config.features, offsets, columns, values)?)
    }

    fn split(&self, ratio: SplitRatio) -> Split {
        let ordinary = &self.order[self.num_decoys..];
        let train = cut(ratio.train, ordinary.len());
        let val = cut(ratio.val, ordinary.len()).min(ordinary.len() - train);
        let test = cut(ratio.test, ordinary.len()).min(ordinary.len() - train - val);
        let sorted = |nodes: &[u32]| {
            let mut nodes = nodes.to_vec();
            nodes.par_sort_unstable();
            nodes
        };
        Split {
            train: sorted(&ordinary[..train]),
            val: sorted(&ordinary[train..train + val]),
            test: sorted(&ordinary[train + val..train + val + test]),
        }
    }
}

/// A share of `whole`, to the nearest number.
fn cut(share: f64, whole: usize) -> usize {
    ((share * whole as f64).round() as usize).min(whole)
}

/// A random node of `class`, in a list whose k-th node has class k mod `classes` and which holds every class.
fn member(nodes: &[u32], class: usize, classes: usize, rng: &mut ChaCha8Rng) -> u32 {
    let count = (nodes.len() - class).div_ceil(classes);
    nodes[class + classes * rng.random_range(0..count)]
}

#[cfg(test)]
#[path = "planted_tests.rs"]
mod tests;
