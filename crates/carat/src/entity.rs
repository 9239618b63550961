//! What is classified, an entity: a node of one graph, or a graph of a set. Labels, splits, losses and the
//! regulariser's interventions are of entities; all other code need not distinguish the two.

use carat_graph::{BlockBuilder, Blocks, Dataset, GraphSet};

use crate::settings::{Arm, EntityChoice, Target};
use crate::{Error, ModelKind, TrainConfig};
use carat_nn::words;

words! {
    /// What is classified.
    pub enum Task, "a task" {
        /// The nodes of one graph.
        #[default]
        Node = "node",
        /// The graphs of a set.
        Graph = "graph",
    }
}

impl Task {
    /// What there is to classify in some data.
    pub fn of(dataset: &Dataset) -> Self {
        if dataset.graph_set().is_some() { Self::Graph } else { Self::Node }
    }
}

impl TrainConfig {
    /// The task on this data: an error where the settings name the other one, or something that works for nodes only.
    pub fn task_for(&self, dataset: &Dataset) -> Result<Task, Error> {
        let name = dataset.name();
        match (self.data.task, dataset.graph_set()) {
            (Some(Task::Node), Some(set)) => Err(Error::Config(format!(
                "{name} is a set of {} graphs, but task node classifies the nodes of one graph; choose other data",
                set.num_graphs()
            ))),
            (Some(Task::Graph), None) => Err(Error::Config(format!(
                "{name} is one graph, but task graph classifies the graphs of a set; choose other data, such as MUTAG"
            ))),
            (_, None) => Ok(Task::Node),
            (_, Some(_)) => match self.node_only_setting() {
                None => Ok(Task::Graph),
                Some(setting) => Err(Error::Config(format!(
                    "{setting} is for classifying nodes, but {name} is a set of graphs; leave it out"
                ))),
            },
        }
    }

    /// Refuses a setting that has no meaning where graphs are classified.
    fn node_only_setting(&self) -> Option<&'static str> {
        let settings = [
            (self.model == ModelKind::Gcn, "model gcn"),
            (self.model == ModelKind::Cal, "model cal"),
            // A graph's readout needs all of it.
            (!self.optimiser.fanout.is_empty(), "fanout"),
            (self.regulariser.entities == EntityChoice::All, "entities all"),
            // The edges of a graph do not share one softmax.
            (self.regulariser.target == Target::Distribution, "target distribution"),
            // Neighbours have no labels.
            (self.regulariser.arm == Arm::Vote, "regulariser vote"),
        ];
        settings.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
    }

    /// The same settings with the task named where it is not to classify nodes, so that a run's folder states its
    /// network's task.
    pub(crate) fn with_task_of(&self, dataset: &Dataset) -> Result<Self, Error> {
        let task = self.task_for(dataset)?;
        Ok(self.clone().task(self.data.task.or((task != Task::Node).then_some(task))))
    }
}

/// Builds blocks of entities.
#[derive(Debug)]
pub(crate) struct EntityBlocks<'a> {
    set: Option<GraphSet<'a>>,
    builder: BlockBuilder<'a>,
}

impl<'a> EntityBlocks<'a> {
    /// Of the data's own entities, or of the nodes of a set.
    pub(crate) fn new(dataset: &'a Dataset, task: Task) -> Self {
        let set = dataset.graph_set().filter(|_| task == Task::Graph);
        Self { set, builder: BlockBuilder::new(dataset.graph()) }
    }

    /// Blocks of some entities, with all edges.
    pub(crate) fn build(&mut self, entities: &[u32], layers: usize) -> Blocks {
        match self.set {
            None => self.builder.build(entities, layers),
            Some(set) => self.builder.build_graphs(set, entities, layers),
        }
    }

    /// Blocks of some nodes with drawn edges, see [`BlockBuilder::sample`].
    pub(crate) fn sample(&mut self, nodes: &[u32], fanout: &[usize], seed: u64) -> Blocks {
        self.builder.sample(nodes, fanout, seed)
    }
}

/// Number of edges whose deletion is an intervention on this entity: in-edges of the node, or edges of the graph.
pub(crate) fn num_edges(dataset: &Dataset, entity: u32) -> usize {
    match dataset.graph_set() {
        None => dataset.graph().in_degree(entity),
        Some(set) => {
            let (nodes, offsets) = (set.nodes(entity as usize), dataset.graph().in_offsets());
            offsets[nodes.end as usize] - offsets[nodes.start as usize]
        }
    }
}

/// Refuses nodes or graphs that are not in the data.
pub(crate) fn existing(dataset: &Dataset, task: Task, numbers: &[u32]) -> Result<(), Error> {
    let count = match task {
        Task::Node => dataset.num_nodes(),
        Task::Graph => dataset.num_entities(),
    };
    match numbers.iter().find(|&&n| n as usize >= count) {
        None => Ok(()),
        Some(number) => {
            Err(Error::Config(format!("there is no {task} {number} in {}, which has {count}", dataset.name())))
        }
    }
}
