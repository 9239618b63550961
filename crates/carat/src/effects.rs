//! The effect of every edge of some entities on their predictions, measured by deleting only that edge. An entity is a
//! node, with its in-edges, or a graph of a set, with all its edges.
//!
//! ```text
//! rho    = CE without the edge / CE with all edges
//! effect = sigmoid((rho^d - 1) / T)                    d: the entity's number of edges, or 1
//! ```
//!
//! Above one half, the prediction is better with the edge. Below it, the edge misleads the prediction.

use std::ops::ControlFlow;

use carat_graph::table::{Column, Table};
use carat_graph::{Blocks, Dataset};
use carat_nn::{Deletion, Keep, Network, Pass, Real, Workspace, loss};

use crate::car::{effect, every_edge, log_ratio};
use crate::entity::{EntityBlocks, existing, num_edges};
use crate::inputs::check_inputs;
use crate::settings::{Exponent, RegulariserSettings};
use crate::{Error, Task, TrainConfig, input};
use carat_nn::words;

words! {
    /// Nodes, or graphs of a set, by their role in a run.
    pub enum NodeChoice, "a choice of nodes" {
        /// Those of training.
        Train = "train",
        /// Those of validation, which decided when training stopped.
        Val = "val",
        /// Those of the test.
        Test = "test",
        /// All of them.
        #[default]
        All = "all",
    }
}

impl NodeChoice {
    /// The nodes, or graphs, of that role in `dataset`, by the split that a run's settings name. Those without a label
    /// are included.
    pub fn nodes(self, dataset: &Dataset, config: &TrainConfig) -> Result<Vec<u32>, Error> {
        let split = || config.named_split(dataset);
        let nodes: Vec<u32> = match self {
            Self::Train => split()?.train,
            Self::Val => split()?.val,
            Self::Test => split()?.test,
            Self::All => (0..dataset.num_entities() as u32).collect(),
        };
        if nodes.is_empty() {
            let (split, name, task) = (config.data.split, dataset.name(), Task::of(dataset));
            return Err(Error::Config(format!(
                "split {split} of {name} has no {self} {task}; --nodes all takes every {task}"
            )));
        }
        Ok(nodes)
    }
}

/// How losses become effects, and how many nodes or graphs are computed together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectSettings {
    /// T: smaller values separate effects more sharply.
    pub temperature: f64,
    /// The exponent of rho.
    pub exponent: Exponent,
    /// Losses below this count as this in rho; 0 compares them as they are.
    pub loss_floor: f64,
    /// Nodes whose receptive field is in memory at a time, or graphs.
    pub batch_size: usize,
}

impl EffectSettings {
    /// Refuses invalid values.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Self { temperature, loss_floor, batch_size, .. } = *self;
        if batch_size == 0 || !(temperature.is_finite() && temperature > 0.0 && loss_floor.is_finite()) {
            return Err(Error::Config("effects need a batch size, a temperature above 0 and a finite floor".into()));
        }
        Ok(())
    }
}

impl Default for EffectSettings {
    fn default() -> Self {
        Self::from(&TrainConfig::default())
    }
}

impl From<&TrainConfig> for EffectSettings {
    /// The settings that a run was regularised with.
    fn from(config: &TrainConfig) -> Self {
        let RegulariserSettings { temperature, exponent, loss_floor, .. } = config.regulariser;
        let batch_size = config.optimiser.batch_size;
        Self { temperature, exponent, loss_floor, batch_size }
    }
}

/// Measured edges, column by column, in the order of their ids: by target, then by source. Every number is finite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EdgeEffects {
    /// The graph that each edge belongs to, whose prediction was measured; `None` where nodes are classified.
    pub graph: Option<Vec<u32>>,
    /// Where each edge comes from.
    pub src: Vec<u32>,
    /// The node it points at, whose prediction was measured where nodes are classified.
    pub dst: Vec<u32>,
    /// That node's in-degree, or the graph's number of edges.
    pub degree: Vec<u32>,
    /// Cross-entropy of the node's, or graph's, prediction with all edges.
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

    /// True where there is no edge to measure.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// The columns under their names, to be written to a file. For graphs, the number of edges is called `edges`.
    pub fn into_table(self) -> Result<Table, Error> {
        let degree = if self.graph.is_some() { "edges" } else { "degree" };
        let graph = self.graph.map(|graph| ("graph", Column::U32(graph)));
        Ok(Table::new(graph.into_iter().chain([
            ("src", Column::U32(self.src)),
            ("dst", Column::U32(self.dst)),
            (degree, Column::U32(self.degree)),
            ("loss", Column::F64(self.loss)),
            ("loss_without", Column::F64(self.loss_without)),
            ("rho", Column::F64(self.rho)),
            ("effect", Column::F64(self.effect)),
        ]))?)
    }
}

/// The effect of every in-edge of some nodes, or of every edge of some graphs of a set, each exactly as if only that
/// edge were deleted. An entity without a label, or with one that the network does not know, is scored for the class
/// that the network predicts.
///
/// `progress` gets the number of edges measured so far and in all. If it breaks, the work ends with
/// [`Error::Interrupted`].
///
/// ```
/// use std::ops::ControlFlow;
/// use carat::{EffectSettings, TrainConfig, Trainer, effects};
/// use carat_graph::generators::{PlantedConfig, planted};
///
/// let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
/// let config = TrainConfig::default().hidden(8).epochs(3);
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
    entities: &[u32],
    settings: &EffectSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<EdgeEffects, Error> {
    check_inputs(network.config(), dataset)?;
    let task = Task::of(dataset);
    let entities = measured(dataset, entities, settings)?;
    let total: usize = entities.iter().map(|&entity| num_edges(dataset, entity)).sum();
    let layers = network.config().layers;
    let mut builder = EntityBlocks::new(dataset, task);
    let (mut work, mut scores) = (Workspace::default(), Vec::new());
    let graph = (task == Task::Graph).then(Vec::new);
    let mut found = EdgeEffects { graph, ..EdgeEffects::default() };
    for entities in entities.chunks(settings.batch_size) {
        let blocks = builder.build(entities, layers);
        let input = input(network.config(), dataset, &blocks)?;
        let mut pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
        let references = references(&pass, dataset, entities)?;
        let deletions = every_edge(&blocks, 0..entities.len() as u32);
        let mut rest = &deletions[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(portion(&blocks, rest, network.config().classes));
            rest = later;
            pass.scores_without(now, &mut scores);
            found.append(&pass, now, &scores, &references, settings)?;
            if progress(found.len(), total).is_break() {
                return Err(Error::Interrupted);
            }
        }
    }
    Ok(found)
}

/// The entities that have edges, ascending and without repetitions.
fn measured(dataset: &Dataset, entities: &[u32], settings: &EffectSettings) -> Result<Vec<u32>, Error> {
    existing(dataset, Task::of(dataset), entities)?;
    settings.check()?;
    let mut measured: Vec<u32> = entities.iter().copied().filter(|&e| num_edges(dataset, e) > 0).collect();
    measured.sort_unstable();
    measured.dedup();
    Ok(measured)
}

/// What an entity's predictions without an edge are compared with: the class, and ln CE with all edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    task: Task,
    entity: u32,
    pub(crate) class: usize,
    pub(crate) log_loss: f64,
}

impl Reference {
    /// ln CE of one row of class scores, in 64 bits.
    fn log_loss<T: Real>(&self, scores: &[T], row: &mut Vec<f64>) -> Result<f64, Error> {
        row.clear();
        row.extend(scores.iter().map(|z| z.to_f64()));
        if row.iter().all(|z| z.is_finite()) {
            Ok(loss::log_cross_entropy(row, self.class))
        } else {
            Err(Error::NotFinite { task: self.task, entity: self.entity })
        }
    }
}

/// Those of the entities that a pass is over.
pub(crate) fn references<T: Real>(
    pass: &dyn Pass<T>,
    dataset: &Dataset,
    entities: &[u32],
) -> Result<Vec<Reference>, Error> {
    let (classes, task) = (pass.config().classes, Task::of(dataset));
    let mut row = Vec::with_capacity(classes);
    let reference = |(&entity, scores): (&u32, &[T])| {
        let label = dataset.labels().get(entity).map(|label| label as usize).filter(|&label| label < classes);
        let class = label.unwrap_or_else(|| loss::argmax(scores));
        let reference = Reference { task, entity, class, log_loss: f64::NAN };
        Ok(Reference { log_loss: reference.log_loss(scores, &mut row)?, ..reference })
    };
    entities.iter().zip(pass.scores().chunks_exact(classes)).map(reference).collect()
}

/// Most class scores in memory at a time.
const MOST_SCORES: usize = 1 << 24;

/// How many of the deletions to compute together: a fraction of a second's work, and not too many scores.
fn portion(blocks: &Blocks, deletions: &[Deletion], classes: usize) -> usize {
    // From three layers on, a deletion changes other nodes besides its target; of a graph all nodes are computed and
    // counted.
    let most_edges = if blocks.num_layers() > 2 && blocks.graphs().is_none() { 1 << 12 } else { 1 << 17 };
    let mut edges = 0;
    let fits = |deletion: &&Deletion| {
        edges += blocks.entity_edges(blocks.entity_of(deletion.target as usize)).len();
        edges <= most_edges
    };
    deletions.iter().take(MOST_SCORES / classes).take_while(fits).count().max(1)
}

impl EdgeEffects {
    /// Adds the deletions with their scores, one row each.
    pub(crate) fn append<T: Real>(
        &mut self,
        pass: &dyn Pass<T>,
        deletions: &[Deletion],
        scores: &[T],
        references: &[Reference],
        settings: &EffectSettings,
    ) -> Result<(), Error> {
        let blocks = pass.blocks();
        let block = blocks.layer(blocks.num_layers() - 1);
        let floor = settings.loss_floor.max(0.0).ln();
        let mut row = Vec::new();
        for (deletion, scores) in deletions.iter().zip(scores.chunks_exact(pass.config().classes)) {
            let entity = blocks.entity_of(deletion.target as usize);
            let (reference, degree) = (references[entity], blocks.num_own_edges(entity));
            let (with, without) = (reference.log_loss, reference.log_loss(scores, &mut row)?);
            let log_rho = log_ratio(without.max(floor), with.max(floor));
            if let Some(graph) = &mut self.graph {
                graph.push(reference.entity);
            }
            self.src.push(blocks.nodes()[block.sources()[deletion.edge as usize] as usize]);
            self.dst.push(blocks.targets()[deletion.target as usize]);
            self.degree.push(degree as u32);
            self.loss.push(with.exp());
            self.loss_without.push(without.exp());
            self.rho.push(log_rho.exp().min(f64::MAX));
            self.effect.push(effect(log_rho, settings.exponent.value(degree), settings.temperature));
        }
        Ok(())
    }
}
