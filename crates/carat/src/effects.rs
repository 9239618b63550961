//! What every in-edge of some nodes does to their predictions, measured by deleting it and nothing else.
//!
//! ```text
//! rho    = CE without the edge / CE with all edges
//! effect = sigmoid((rho^d - 1) / T)                    d: the node's in-degree, or 1
//! ```
//!
//! An effect above one half belongs to an edge that the prediction is better with, one below to an edge that misleads it.

use std::ops::ControlFlow;

use carat_graph::table::{Column, Table};
use carat_graph::{BlockBuilder, Blocks, Dataset};
use carat_nn::{Deletion, Input, Network, Real, Rerun, Workspace, loss};

use crate::car::settings::Exponent;
use crate::car::{effect, every_edge, log_ratio};
use crate::config::{existing, fits, one_graph};
use crate::words::words;
use crate::{Error, TrainConfig};

words! {
    /// Nodes by their role in a run.
    pub enum NodeChoice, "a choice of nodes" {
        /// Those it was trained on.
        Train = "train",
        /// Those that decided when it stopped.
        Val = "val",
        /// Those it was tested on.
        Test = "test",
        /// Every node of the graph.
        #[default]
        All = "all",
    }
}

impl NodeChoice {
    /// The nodes of that role in `dataset`, by the split that a run's settings name. Nodes without a label are among them.
    pub fn nodes(self, dataset: &Dataset, config: &TrainConfig) -> Result<Vec<u32>, Error> {
        let split = || config.named_split(dataset);
        let nodes: Vec<u32> = match self {
            Self::Train => split()?.train,
            Self::Val => split()?.val,
            Self::Test => split()?.test,
            Self::All => (0..dataset.num_nodes() as u32).collect(),
        };
        if nodes.is_empty() {
            return Err(Error::Config(format!(
                "split {} of {} has no {self} node; --nodes all takes every node",
                config.split,
                dataset.name()
            )));
        }
        Ok(nodes)
    }
}

/// How losses become effects, and how many nodes are looked at together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectSettings {
    /// T: the smaller, the sharper effects are told apart.
    pub temperature: f64,
    /// The exponent of rho.
    pub exponent: Exponent,
    /// Losses below this count as this in rho; 0 compares them as they are.
    pub loss_floor: f64,
    /// Nodes whose receptive field is in memory at a time.
    pub batch_size: usize,
}

impl Default for EffectSettings {
    fn default() -> Self {
        Self::from(&TrainConfig::default())
    }
}

impl From<&TrainConfig> for EffectSettings {
    /// The settings that a run was regularised with.
    fn from(config: &TrainConfig) -> Self {
        let TrainConfig { temperature, exponent, loss_floor, batch_size, .. } = *config;
        Self { temperature, exponent, loss_floor, batch_size }
    }
}

/// Measured edges, column by column, in the order of their ids: by target, then by source. Every number is finite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EdgeEffects {
    /// Where each edge comes from.
    pub src: Vec<u32>,
    /// The node it points at, whose prediction was measured.
    pub dst: Vec<u32>,
    /// That node's in-degree.
    pub degree: Vec<u32>,
    /// Cross-entropy of its prediction with all edges.
    pub loss: Vec<f64>,
    /// The same without this edge.
    pub loss_without: Vec<f64>,
    /// The second over the first, neither below the floor; 1 where both are 0.
    pub rho: Vec<f64>,
    /// The effect, between 0 and 1.
    pub effect: Vec<f64>,
}

impl EdgeEffects {
    /// Number of edges.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// True where the nodes have no in-edges.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// The columns under their names, to be written to a file.
    pub fn into_table(self) -> Result<Table, Error> {
        Ok(Table::new([
            ("src", Column::U32(self.src)),
            ("dst", Column::U32(self.dst)),
            ("degree", Column::U32(self.degree)),
            ("loss", Column::F64(self.loss)),
            ("loss_without", Column::F64(self.loss_without)),
            ("rho", Column::F64(self.rho)),
            ("effect", Column::F64(self.effect)),
        ])?)
    }
}

/// The effect of every in-edge of `nodes`, each exactly as if that edge alone were gone. A node without a label, or with
/// one that the network does not know, is judged by the class that the network predicts for it.
///
/// `progress` is told the number of edges measured so far and in all; once it breaks, the work ends with
/// [`Error::Interrupted`].
///
/// ```
/// use std::ops::ControlFlow;
/// use carat::{EffectSettings, TrainConfig, Trainer, effects};
/// use carat_graph::generators::{PlantedConfig, planted};
///
/// let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
/// let config = TrainConfig { hidden: 8, epochs: 3, ..TrainConfig::default() };
/// let split = config.choose_split(&dataset)?;
/// let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
///
/// let settings = EffectSettings::from(&config);
/// let found = effects(&network, &dataset, &split.test, &settings, &mut |_, _| ControlFlow::Continue(()))?;
/// let misleading = (0..found.len()).filter(|&e| found.effect[e] < 0.5).count();
/// println!("{misleading} of {} edges mislead the network", found.len());
/// # assert!(misleading > 0 && misleading < found.len());
/// # Ok::<(), carat::Error>(())
/// ```
pub fn effects<T: Real>(
    network: &Network<T>,
    dataset: &Dataset,
    nodes: &[u32],
    settings: &EffectSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<EdgeEffects, Error> {
    one_graph(dataset)?;
    fits(network, dataset)?;
    let nodes = measured_nodes(dataset, nodes, settings)?;
    let total: usize = nodes.iter().map(|&n| dataset.graph().in_degree(n)).sum();
    let layers = network.config().layers;
    let mut builder = BlockBuilder::new(dataset.graph());
    let (mut work, mut rerun, mut scores) = (Workspace::default(), Rerun::default(), Vec::new());
    let mut found = EdgeEffects::default();
    for targets in nodes.chunks(settings.batch_size) {
        let blocks = builder.build(targets, layers);
        network.forward(&blocks, &Input::checked(dataset.features(), blocks.nodes())?, &mut work);
        let judges = judges(network, dataset, &blocks, &work)?;
        let deletions = every_edge(&blocks, 0..targets.len() as u32);
        let mut rest = &deletions[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(portion(&blocks, rest, network.config().classes));
            rest = later;
            network.scores_without(&blocks, now, &mut work, &mut rerun, &mut scores);
            found.append(network, &blocks, now, &scores, &judges, settings)?;
            if progress(found.len(), total).is_break() {
                return Err(Error::Interrupted);
            }
        }
    }
    Ok(found)
}

/// The nodes that have in-edges, ascending, each once.
fn measured_nodes(dataset: &Dataset, nodes: &[u32], settings: &EffectSettings) -> Result<Vec<u32>, Error> {
    existing(dataset, nodes)?;
    let EffectSettings { temperature, loss_floor, batch_size, .. } = *settings;
    if batch_size == 0 || !(temperature.is_finite() && temperature > 0.0 && loss_floor.is_finite()) {
        return Err(Error::Config("effects need a batch size, a temperature above 0 and a finite floor".into()));
    }
    let mut nodes: Vec<u32> = nodes.iter().copied().filter(|&n| dataset.graph().in_degree(n) > 0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// What a node's predictions are judged by: the class, and ln CE with all edges.
#[derive(Debug, Clone, Copy)]
struct Judge {
    class: usize,
    log_loss: f64,
}

fn judges<T: Real>(
    network: &Network<T>,
    dataset: &Dataset,
    blocks: &Blocks,
    work: &Workspace<T>,
) -> Result<Vec<Judge>, Error> {
    let classes = network.config().classes;
    let mut row = Vec::with_capacity(classes);
    let judge = |(&node, scores): (&u32, &[T])| {
        let label = dataset.labels().get(node).map(|label| label as usize).filter(|&label| label < classes);
        let class = label.unwrap_or_else(|| loss::argmax(scores));
        Ok(Judge { class, log_loss: log_loss(scores, class, node, &mut row)? })
    };
    blocks.targets().iter().zip(work.scores().chunks_exact(classes)).map(judge).collect()
}

/// ln CE of one row of class scores, in 64 bits.
fn log_loss<T: Real>(scores: &[T], class: usize, node: u32, row: &mut Vec<f64>) -> Result<f64, Error> {
    row.clear();
    row.extend(scores.iter().map(|z| z.to_f64()));
    if row.iter().all(|z| z.is_finite()) {
        Ok(loss::log_cross_entropy(row, class))
    } else {
        Err(Error::NotFinite { node })
    }
}

/// Class scores held at a time.
const MOST_SCORES: usize = 1 << 24;

/// How many of the deletions to make at once: a fraction of a second's work, and not too many scores to hold.
fn portion(blocks: &Blocks, deletions: &[Deletion], classes: usize) -> usize {
    // From three layers on, a deletion has other nodes than its target computed again.
    let most_edges = if blocks.num_layers() > 2 { 1 << 12 } else { 1 << 17 };
    let block = blocks.layer(blocks.num_layers() - 1);
    let mut edges = 0;
    let fits = |deletion: &&Deletion| {
        edges += block.in_neighbours(deletion.target as usize).len();
        edges <= most_edges
    };
    deletions.iter().take(MOST_SCORES / classes).take_while(fits).count().max(1)
}

impl EdgeEffects {
    fn append<T: Real>(
        &mut self,
        network: &Network<T>,
        blocks: &Blocks,
        deletions: &[Deletion],
        scores: &[T],
        judges: &[Judge],
        settings: &EffectSettings,
    ) -> Result<(), Error> {
        let block = blocks.layer(blocks.num_layers() - 1);
        let floor = settings.loss_floor.max(0.0).ln();
        let mut row = Vec::new();
        for (deletion, scores) in deletions.iter().zip(scores.chunks_exact(network.config().classes)) {
            let target = deletion.target as usize;
            let (node, degree) = (blocks.targets()[target], block.in_neighbours(target).len());
            let Judge { class, log_loss: with } = judges[target];
            let without = log_loss(scores, class, node, &mut row)?;
            let log_rho = log_ratio(without.max(floor), with.max(floor));
            self.src.push(blocks.nodes()[block.sources()[deletion.edge as usize] as usize]);
            self.dst.push(node);
            self.degree.push(degree as u32);
            self.loss.push(with.exp());
            self.loss_without.push(without.exp());
            self.rho.push(log_rho.exp().min(f64::MAX));
            self.effect.push(effect(log_rho, settings.exponent.value(degree), settings.temperature));
        }
        Ok(())
    }
}
