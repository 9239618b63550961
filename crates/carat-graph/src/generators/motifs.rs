//! Motifs attached to a base: the node classification graphs of GNNExplainer (Ying et al. 2019, arXiv:1903.03894).
//!
//! ```text
//! ba-shapes      Barabasi-Albert base, houses;        classes: base, top, middle, bottom
//! ba-community   two of these, joined by random edges; the four classes of each
//! tree-cycles    balanced binary tree, cycles of six;  classes: tree, cycle
//! tree-grid      the same tree, grids of 3 x 3;        classes: tree, grid
//! ```
//!
//! Each motif hangs on another random node of the base by one edge. Then `noise` times as many edges as there are nodes
//! join random pairs, except that none joins two nodes of one motif. Planted are the edges within motifs: they make a
//! node of a motif what it is. All other edges count as spurious, and nodes outside motifs have no planted in-edge.
//!
//! Features are a constant 1; in ba-community ten normal ones, of which the first two tell the community (mean -1 or 1,
//! deviation 0.5) and the others nothing (mean 0, deviation 1), as in the authors' code. Unless `degrees` is off, the
//! degree of the node follows (degree_features.rs), because attention cannot find it out.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::checks::{self, MOST_NODES};
use super::degree_features;
use super::draft::{CYCLE_OF_SIX, Draft, GRID, HOUSE, Motif};
use super::sampling::{Purpose, equal_rows, fill_normal, stream};
use crate::{DataError, Dataset, DatasetParts, Graph, Labels, Split, SplitRatio};

/// Settings that all graphs with motifs have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MotifConfig {
    /// Motifs (80), in ba-community in each community.
    pub motifs: usize,
    /// Random edges for each node (0.1).
    pub noise: f64,
    /// Whether features tell degrees (true); without, they are the paper's alone.
    pub degrees: bool,
    /// Shares of each class that train, validate and test (0.6, 0.2, 0.2).
    pub split_ratio: SplitRatio,
    /// Seed of everything random (0).
    pub seed: u64,
}

/// Settings of [`ba_shapes`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BaShapesConfig {
    /// Nodes of the base (300).
    pub base_nodes: usize,
    /// m: edges that each node brings to the base (5).
    pub edges_per_node: usize,
    /// Motifs and all else.
    pub motifs: MotifConfig,
}

/// Settings of [`ba_community`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BaCommunityConfig {
    /// Of each community.
    pub shapes: BaShapesConfig,
    /// Random edges between the communities (350, as in the authors' code).
    pub bridges: usize,
}

/// Settings of [`tree_cycles`] and [`tree_grid`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TreeConfig {
    /// Levels of the tree below its root (8, which makes 511 nodes).
    pub height: u32,
    /// Motifs and all else.
    pub motifs: MotifConfig,
}

impl Default for MotifConfig {
    fn default() -> Self {
        Self { motifs: 80, noise: 0.1, degrees: true, split_ratio: SplitRatio::default(), seed: 0 }
    }
}

impl Default for BaShapesConfig {
    fn default() -> Self {
        Self { base_nodes: 300, edges_per_node: 5, motifs: MotifConfig::default() }
    }
}

impl Default for BaCommunityConfig {
    fn default() -> Self {
        Self { shapes: BaShapesConfig::default(), bridges: 350 }
    }
}

impl Default for TreeConfig {
    fn default() -> Self {
        Self { height: 8, motifs: MotifConfig::default() }
    }
}

/// The most motifs, and the most nodes of a base.
const MOST: usize = 1_000_000;

impl MotifConfig {
    fn check(&self) -> Result<(), DataError> {
        checks::within("motifs", self.motifs, 1, MOST)?;
        checks::within("noise", self.noise, 0.0, 10.0)?;
        checks::split_ratio(self.split_ratio)
    }

    fn num_noisy(&self, nodes: usize) -> usize {
        (self.noise * nodes as f64).round() as usize
    }
}

impl BaShapesConfig {
    /// Checks every value; the error names the first that is wrong, and its range.
    pub fn check(&self) -> Result<(), DataError> {
        checks::within("base_nodes", self.base_nodes, 2, MOST)?;
        checks::within("edges_per_node", self.edges_per_node, 1, (self.base_nodes - 1).min(100))?;
        self.motifs.check()
    }

    fn draw(&self, draft: &mut Draft, rng: &mut ChaCha8Rng) {
        let first = draft.num_nodes() as u32;
        let base = draft.barabasi_albert(self.base_nodes, self.edges_per_node, rng);
        hang(draft, base, &HOUSE, &self.motifs, rng);
        let nodes = first..draft.num_nodes() as u32;
        draft.join_at_random(nodes.clone(), nodes.clone(), self.motifs.num_noisy(nodes.len()), rng);
    }
}

impl TreeConfig {
    /// Checks every value; the error names the first that is wrong, and its range.
    pub fn check(&self) -> Result<(), DataError> {
        checks::within("height", self.height, 0, 18)?;
        self.motifs.check()
    }
}

/// Barabasi-Albert base with houses.
pub fn ba_shapes(config: &BaShapesConfig) -> Result<Dataset, DataError> {
    config.check()?;
    let mut draft = Draft::default();
    config.draw(&mut draft, &mut stream(config.motifs.seed, Purpose::Edges, 0));
    let labels = draft.roles.clone();
    dataset("ba-shapes", draft, labels, &["base", "top", "middle", "bottom"], &config.motifs, Own::Constant)
}

/// Two communities with houses.
pub fn ba_community(config: &BaCommunityConfig) -> Result<Dataset, DataError> {
    config.shapes.check()?;
    checks::within("bridges", config.bridges, 0, MOST_NODES)?;
    let mut rng = stream(config.shapes.motifs.seed, Purpose::Edges, 0);
    let mut draft = Draft::default();
    config.shapes.draw(&mut draft, &mut rng);
    let border = draft.num_nodes();
    config.shapes.draw(&mut draft, &mut rng);
    draft.join_at_random(0..border as u32, border as u32..2 * border as u32, config.bridges, &mut rng);
    let labels = (0..).zip(&draft.roles).map(|(node, role)| role + if node < border { 0 } else { 4 }).collect();
    let classes = ["base 1", "top 1", "middle 1", "bottom 1", "base 2", "top 2", "middle 2", "bottom 2"];
    dataset("ba-community", draft, labels, &classes, &config.shapes.motifs, Own::Community { border })
}

/// Binary tree with cycles of six.
pub fn tree_cycles(config: &TreeConfig) -> Result<Dataset, DataError> {
    tree("tree-cycles", &CYCLE_OF_SIX, ["tree", "cycle"], config)
}

/// Binary tree with grids of 3 x 3.
pub fn tree_grid(config: &TreeConfig) -> Result<Dataset, DataError> {
    tree("tree-grid", &GRID, ["tree", "grid"], config)
}

fn tree(name: &str, motif: &Motif, classes: [&str; 2], config: &TreeConfig) -> Result<Dataset, DataError> {
    config.check()?;
    let mut rng = stream(config.motifs.seed, Purpose::Edges, 0);
    let mut draft = Draft::default();
    let base = draft.tree(2, config.height);
    hang(&mut draft, base, motif, &config.motifs, &mut rng);
    let nodes = 0..draft.num_nodes() as u32;
    draft.join_at_random(nodes.clone(), nodes.clone(), config.motifs.num_noisy(nodes.len()), &mut rng);
    let labels = draft.roles.clone();
    dataset(name, draft, labels, &classes, &config.motifs, Own::Constant)
}

/// Attaches the motifs, each to another node of the base while there are any.
fn hang(draft: &mut Draft, base: std::ops::Range<u32>, motif: &Motif, config: &MotifConfig, rng: &mut ChaCha8Rng) {
    let mut places: Vec<u32> = base.collect();
    places.shuffle(rng);
    places.iter().cycle().take(config.motifs).for_each(|&place| draft.attach(motif, place, rng));
}

/// Features beside degrees.
enum Own {
    Constant,
    /// The second community begins at this node.
    Community {
        border: usize,
    },
}

impl Own {
    fn values(&self, graph: &Graph, seed: u64) -> (Vec<String>, Vec<f32>) {
        match *self {
            Self::Constant => (vec!["constant".into()], vec![1.0; graph.num_nodes()]),
            Self::Community { border } => {
                const COLUMNS: usize = 10;
                let mut values = equal_rows(graph.num_nodes(), COLUMNS, seed, Purpose::Features, fill_normal);
                for (node, row) in values.chunks_exact_mut(COLUMNS).enumerate() {
                    let mean = if node < border { -1.0 } else { 1.0 };
                    row[..2].iter_mut().for_each(|value| *value = mean + 0.5 * *value);
                }
                ((0..COLUMNS).map(|column| format!("normal {column}")).collect(), values)
            }
        }
    }
}

fn dataset(
    name: &str,
    draft: Draft,
    labels: Vec<u32>,
    classes: &[&str],
    config: &MotifConfig,
    own: Own,
) -> Result<Dataset, DataError> {
    let (graph, others) = draft.finish()?;
    let labels = Labels::new(labels.into_iter().map(Some).collect(), classes.len())?;
    let (names, own) = own.values(&graph, config.seed);
    let (features, names) = degree_features::named(&graph, names, &own, config.degrees)?;
    let split = Split::stratified(&labels, config.split_ratio, config.seed);
    let mut parts = DatasetParts::new(name, graph, features, labels);
    parts.splits = vec![split];
    parts.spurious = Some(others);
    parts.feature_names = Some(names);
    parts.class_names = Some(classes.iter().map(|class| class.to_string()).collect());
    Dataset::new(parts)
}

#[cfg(test)]
#[path = "motifs_tests.rs"]
mod tests;
