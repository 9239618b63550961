//! The effect of every edge of some entities on their predictions, measured by deleting only that edge. An entity is a
//! node, with its in-edges, or a graph of a set, with all its edges.
//!
//! ```text
//! Delta  = log p(y | all edges) - log p(y | without the edge)
//! rho    = CE without the edge / CE with all edges
//! effect = sigmoid((rho^d - 1) / T)                    d: the entity's number of edges, or 1
//! ```
//!
//! Delta is what the edge does: above 0 the prediction is better with it, below 0 it misleads the prediction. The
//! paper's effect, a target for attention, raises the ratio of the losses to the power of the degree, so at a hub it
//! calls edges that change nothing helpful or misleading.

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

words! {
    /// What an edge does to a prediction, by Delta.
    pub enum Influence, "an influence" {
        /// The prediction is noticeably better with it.
        Helps = "helps",
        /// It changes little.
        #[default]
        Little = "makes little difference",
        /// The prediction is noticeably worse with it.
        Misleads = "misleads",
    }
}

impl Influence {
    /// Smaller changes of a log-likelihood make little difference: the probability changes by less than 5 %.
    pub const NOTICEABLE: f64 = 0.05;

    /// By the log-likelihood that the edge gives.
    pub fn of(delta: f64) -> Self {
        match delta {
            delta if delta >= Self::NOTICEABLE => Self::Helps,
            delta if delta <= -Self::NOTICEABLE => Self::Misleads,
            _ => Self::Little,
        }
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
    /// Delta: the log-likelihood that the edge gives to the class that the loss is of.
    pub delta: Vec<f64>,
    /// The same for the class that the network predicts with all edges.
    pub delta_predicted: Vec<f64>,
    /// Whether the network predicts another class without the edge.
    pub flips: Vec<bool>,
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
            ("delta", Column::F64(self.delta)),
            ("delta_predicted", Column::F64(self.delta_predicted)),
            ("flips", Column::U32(self.flips.into_iter().map(u32::from).collect())),
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
/// use carat::{EffectSettings, Influence, TrainConfig, Trainer, effects};
/// use carat_graph::generators::{PlantedConfig, planted};
///
/// let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
/// let config = TrainConfig::default().hidden(8).epochs(20);
/// let split = config.choose_split(&dataset)?;
/// let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
///
/// let settings = EffectSettings::from(&config);
/// let found = effects(&network, &dataset, &split.test, &settings, &mut |_, _| ControlFlow::Continue(()))?;
/// let misleading = found.delta.iter().filter(|&&delta| Influence::of(delta) == Influence::Misleads).count();
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
    let graph = (Task::of(dataset) == Task::Graph).then(Vec::new);
    let mut found = EdgeEffects { graph, ..EdgeEffects::default() };
    let entities = measured(dataset, entities, settings)?;
    for_each_deletion(network, dataset, &entities, settings.batch_size, progress, &mut |deleted| {
        found.append(deleted.pass, deleted.deletions, deleted.scores, deleted.references, settings)
    })?;
    Ok(found)
}

/// Some deletions, and the predictions without them.
pub(crate) struct Deleted<'a, T: Real> {
    /// The pass with all edges.
    pub(crate) pass: &'a dyn Pass<T>,
    pub(crate) deletions: &'a [Deletion],
    /// A row per deletion.
    pub(crate) scores: &'a [T],
    /// Of the entities that the pass is over.
    pub(crate) references: &'a [Reference],
}

/// Deletes every edge of some entities, which ascend, one by one, and shows some deletions after another.
pub(crate) fn for_each_deletion<T: Real>(
    network: &Network<T>,
    dataset: &Dataset,
    entities: &[u32],
    batch_size: usize,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    visit: &mut dyn FnMut(Deleted<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    check_inputs(network.config(), dataset)?;
    let task = Task::of(dataset);
    let total: usize = entities.iter().map(|&entity| num_edges(dataset, entity)).sum();
    let layers = network.config().layers;
    let mut builder = EntityBlocks::new(dataset, task);
    let (mut work, mut scores) = (Workspace::default(), Vec::new());
    let mut done = 0;
    for entities in entities.chunks(batch_size) {
        let blocks = builder.build(entities, layers);
        let input = input(network.config(), dataset, &blocks)?;
        let mut pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
        delete_each(&mut pass, dataset, entities, &mut scores, &mut |deleted| {
            done += deleted.deletions.len();
            visit(deleted)?;
            if progress(done, total).is_break() { Err(Error::Interrupted) } else { Ok(()) }
        })?;
    }
    Ok(())
}

/// The same of the entities that a pass is over. `scores` is scratch.
pub(crate) fn delete_each<T: Real>(
    pass: &mut dyn Pass<T>,
    dataset: &Dataset,
    entities: &[u32],
    scores: &mut Vec<T>,
    visit: &mut dyn FnMut(Deleted<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let references = references(pass, dataset, entities)?;
    let deletions = every_edge(pass.blocks(), 0..entities.len() as u32);
    let mut rest = &deletions[..];
    while !rest.is_empty() {
        let (now, later) = rest.split_at(portion(pass.blocks(), rest, pass.config().classes));
        rest = later;
        pass.scores_without(now, scores);
        visit(Deleted { pass, deletions: now, scores, references: &references })?;
    }
    Ok(())
}

/// The entities that have edges, ascending and without repetitions.
pub(crate) fn measured(dataset: &Dataset, entities: &[u32], settings: &EffectSettings) -> Result<Vec<u32>, Error> {
    existing(dataset, Task::of(dataset), entities)?;
    settings.check()?;
    let mut measured: Vec<u32> = entities.iter().copied().filter(|&e| num_edges(dataset, e) > 0).collect();
    measured.sort_unstable();
    measured.dedup();
    Ok(measured)
}

/// What an entity's predictions without an edge are compared with: the class by which they are judged and the predicted
/// one, and ln CE with all edges for both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    task: Task,
    pub(crate) entity: u32,
    pub(crate) class: usize,
    pub(crate) predicted: usize,
    pub(crate) log_loss: f64,
    pub(crate) log_loss_predicted: f64,
}

impl Reference {
    /// ln CE of one row of class scores for both classes, in 64 bits.
    fn log_losses<T: Real>(&self, scores: &[T], row: &mut Vec<f64>) -> Result<[f64; 2], Error> {
        row.clear();
        row.extend(scores.iter().map(|z| z.to_f64()));
        if row.iter().all(|z| z.is_finite()) {
            Ok([self.class, self.predicted].map(|class| loss::log_cross_entropy(row, class)))
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
        let predicted = loss::argmax(scores);
        let class = label.unwrap_or(predicted);
        let unknown = f64::NAN;
        let reference = Reference { task, entity, class, predicted, log_loss: unknown, log_loss_predicted: unknown };
        let [log_loss, log_loss_predicted] = reference.log_losses(scores, &mut row)?;
        Ok(Reference { log_loss, log_loss_predicted, ..reference })
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
            let [without, without_predicted] = reference.log_losses(scores, &mut row)?;
            let with = reference.log_loss;
            let log_rho = log_ratio(without.max(floor), with.max(floor));
            if let Some(graph) = &mut self.graph {
                graph.push(reference.entity);
            }
            self.src.push(blocks.nodes()[block.sources()[deletion.edge as usize] as usize]);
            self.dst.push(blocks.targets()[deletion.target as usize]);
            self.degree.push(degree as u32);
            self.loss.push(with.exp());
            self.loss_without.push(without.exp());
            self.delta.push(without.exp() - with.exp());
            self.delta_predicted.push(without_predicted.exp() - reference.log_loss_predicted.exp());
            self.flips.push(loss::argmax(scores) != reference.predicted);
            self.rho.push(log_rho.exp().min(f64::MAX));
            self.effect.push(effect(log_rho, settings.exponent.value(degree), settings.temperature));
        }
        Ok(())
    }
}
