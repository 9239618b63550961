//! The outputs of a trained network as tables: predictions per node or graph, attention per edge; and what users call
//! the nodes in them.

use std::sync::Arc;

use carat_graph::table::{Column, Table};
use carat_graph::{Dataset, Split};
use carat_nn::{Keep, Network, Pass, WholeGraph, Workspace, loss};

use crate::config::{check_width, one_graph};
use crate::entity::EntityBlocks;
use crate::inputs::check_inputs;
use crate::{Error, Model, Task, input, metrics};

/// Calls `visit` with the forward pass of every batch, in the order of nodes, or of graphs in a set.
pub(crate) fn for_all_nodes(
    network: &Network<f32>,
    dataset: &Dataset,
    batch_size: usize,
    visit: impl FnMut(&dyn Pass<f32>),
) -> Result<(), Error> {
    let builder = EntityBlocks::new(dataset, Task::Node);
    for_all(network, dataset, builder, dataset.num_nodes(), batch_size, visit)
}

fn for_all(
    network: &Network<f32>,
    dataset: &Dataset,
    mut builder: EntityBlocks<'_>,
    count: usize,
    batch_size: usize,
    mut visit: impl FnMut(&dyn Pass<f32>),
) -> Result<(), Error> {
    let entities: Vec<u32> = (0..count as u32).collect();
    let mut work = Workspace::default();
    for entities in entities.chunks(batch_size) {
        let blocks = builder.build(entities, network.config().layers);
        let input = input(network.config(), dataset, &blocks)?;
        visit(&network.forward(&blocks, &input, Keep::Deletions, &mut work));
    }
    Ok(())
}

/// One row per node, or per graph of a set: node or graph, label, predicted, loss (NaN where the label is missing or
/// unknown to the model), the node's name where the data has names, and a probability per class. Where classes have
/// names, label (empty where missing) and predicted are names and the probabilities are called p_NAME; otherwise they
/// are numbers (-1 where missing), and p_0 ... p_C-1.
pub fn predictions(network: &Network<f32>, dataset: &Dataset, batch_size: usize) -> Result<Table, Error> {
    rows_of_network(network, dataset, batch_size)?.finish()
}

/// The same of any model.
pub fn predictions_of(model: &mut Model, dataset: &Dataset, batch_size: usize) -> Result<Table, Error> {
    rows_of(model, dataset, batch_size)?.finish()
}

/// The same, and what it says of the labelled ones among some lists of entities, to compute figures from.
pub fn predictions_and_figures_of(
    model: &mut Model,
    dataset: &Dataset,
    batch_size: usize,
    lists: &[&[u32]],
) -> Result<(Table, Vec<metrics::Predictions>), Error> {
    let rows = rows_of(model, dataset, batch_size)?;
    let found = lists.iter().map(|entities| rows.labelled(entities)).collect();
    Ok((rows.finish()?, found))
}

fn rows_of<'a>(model: &mut Model, dataset: &'a Dataset, batch_size: usize) -> Result<Predictions<'a>, Error> {
    match model {
        Model::Attention(network) => rows_of_network(network, dataset, batch_size),
        Model::WholeGraph(model) => {
            one_graph(dataset)?;
            check_width(model.features(), dataset)?;
            let mut scores = Vec::new();
            model.predict(&WholeGraph::new(dataset)?, &mut scores);
            let mut rows = Predictions::new(dataset, model.classes());
            rows.add(&scores);
            Ok(rows)
        }
    }
}

fn rows_of_network<'a>(
    network: &Network<f32>,
    dataset: &'a Dataset,
    batch_size: usize,
) -> Result<Predictions<'a>, Error> {
    check_inputs(network.config(), dataset)?;
    let mut rows = Predictions::new(dataset, network.config().classes);
    let blocks = EntityBlocks::new(dataset, Task::of(dataset));
    for_all(network, dataset, blocks, dataset.num_entities(), batch_size, |pass| rows.add(pass.scores()))?;
    Ok(rows)
}

/// The columns of a table of predictions while it is built.
struct Predictions<'a> {
    dataset: &'a Dataset,
    classes: usize,
    predicted: Vec<u32>,
    losses: Vec<f32>,
    probabilities: Vec<Vec<f32>>,
}

impl<'a> Predictions<'a> {
    fn new(dataset: &'a Dataset, classes: usize) -> Self {
        let entities = dataset.num_entities();
        Self {
            dataset,
            classes,
            predicted: Vec::with_capacity(entities),
            losses: Vec::with_capacity(entities),
            probabilities: vec![Vec::with_capacity(entities); classes],
        }
    }

    /// Adds the class scores of the next entities.
    fn add(&mut self, scores: &[f32]) {
        let mut row = vec![0.0f32; self.classes];
        for scores in scores.chunks_exact(self.classes) {
            let entity = self.predicted.len() as u32;
            self.predicted.push(loss::argmax(scores) as u32);
            let label = self.dataset.labels().get(entity).filter(|&label| (label as usize) < self.classes);
            self.losses.push(label.map_or(f32::NAN, |label| loss::cross_entropy(scores, label as usize)));
            loss::softmax(scores, &mut row);
            for (column, &p) in self.probabilities.iter_mut().zip(&row) {
                column.push(p);
            }
        }
    }

    /// The rows of those entities that have a label.
    fn labelled(&self, entities: &[u32]) -> metrics::Predictions {
        let mut found = metrics::Predictions::new(self.classes);
        let mut row = Vec::with_capacity(self.classes);
        for &entity in entities {
            let Some(label) = self.dataset.labels().get(entity) else { continue };
            let place = entity as usize;
            row.clear();
            row.extend(self.probabilities.iter().map(|column| column[place]));
            found.push(&row, self.predicted[place], label, f64::from(self.losses[place]));
        }
        found
    }

    fn finish(self) -> Result<Table, Error> {
        let Self { dataset, predicted, losses, probabilities, .. } = self;
        let task = Task::of(dataset);
        let labels = dataset.labels().as_signed();
        let names = dataset.class_names().filter(|names| names.len() == probabilities.len());
        let (label, predicted) = match names {
            None => (Column::I64(labels.iter().map(|&l| i64::from(l)).collect()), Column::U32(predicted)),
            Some(names) => {
                // The last word stands for a missing label.
                let words = Arc::new(names.iter().cloned().chain([String::new()]).collect::<Vec<String>>());
                let missing = names.len() as u32;
                let codes = labels.iter().map(|&label| u32::try_from(label).unwrap_or(missing)).collect();
                (Column::Coded(codes, words.clone()), Column::Coded(predicted, words))
            }
        };
        let mut columns = vec![
            (task.to_string(), Column::U32((0..dataset.num_entities() as u32).collect())),
            ("label".to_string(), label),
            ("predicted".to_string(), predicted),
            ("loss".to_string(), Column::F32(losses)),
        ];
        let names_of_nodes = dataset.node_names().filter(|names| dataset.node_ids() != Some(*names));
        if let Some(names) = names_of_nodes.filter(|_| task == Task::Node) {
            columns.push(("name".to_string(), Column::Text(names.to_vec())));
        }
        let name = |c: usize| names.map_or_else(|| format!("p_{c}"), |names| format!("p_{}", names[c]));
        columns.extend(probabilities.into_iter().enumerate().map(|(c, p)| (name(c), Column::F32(p))));
        Ok(Table::new(columns)?)
    }
}

/// Adds the users' ids behind the columns of node numbers: id behind node, src_id behind src and dst_id behind dst. A
/// table of data whose ids are the node numbers stays as it is.
pub fn with_ids(mut table: Table, dataset: &Dataset) -> Result<Table, Error> {
    let Some(ids) = dataset.node_ids() else { return Ok(table) };
    let ids = Arc::new(ids.to_vec());
    for (numbers, name) in [("node", "id"), ("src", "src_id"), ("dst", "dst_id")] {
        if let Some(Column::U32(nodes)) = table.column(numbers) {
            let nodes = nodes.clone();
            table = table.with_column(numbers, name, Column::Coded(nodes, ids.clone()))?;
        }
    }
    Ok(table)
}

/// Adds the part of the split that each row's node or graph was in: train, val, test, or nothing. Tables of edges with
/// ids get that of the edge's target, dst_split; other tables of edges stay as they are.
pub fn with_split(table: Table, dataset: &Dataset, split: &Split) -> Result<Table, Error> {
    const OUTSIDE: u32 = 3;
    let mut parts = vec![OUTSIDE; dataset.num_entities()];
    for (part, entities) in (0..).zip([&split.train, &split.val, &split.test]) {
        entities.iter().for_each(|&entity| parts[entity as usize] = part);
    }
    let (key, after, name) = match (table.column("src"), table.column("dst_id"), Task::of(dataset)) {
        (Some(_), Some(_), Task::Node) => ("dst", "dst_id", "dst_split"),
        (Some(_), ..) => return Ok(table),
        (None, _, Task::Node) => ("node", "loss", "split"),
        (None, _, Task::Graph) => ("graph", "loss", "split"),
    };
    let Some(Column::U32(entities)) = table.column(key) else { return Ok(table) };
    let codes = entities.iter().map(|&entity| parts[entity as usize]).collect();
    let words = ["train", "val", "test", ""].map(String::from).to_vec();
    Ok(table.with_column(after, name, Column::Coded(codes, Arc::new(words)))?)
}

/// One row per edge of the data, layer and head: src, dst, layer, head, alpha; of a set, the edge's graph comes first.
/// Edges in the order of their ids.
pub fn attention(network: &Network<f32>, dataset: &Dataset, batch_size: usize) -> Result<Table, Error> {
    check_inputs(network.config(), dataset)?;
    let (layers, heads) = (network.config().layers, network.config().heads);
    let rows = dataset.graph().num_edges() * layers * heads;
    let (mut src, mut dst) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (mut layer, mut head) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut alpha = Vec::with_capacity(rows);
    for_all_nodes(network, dataset, batch_size, |pass| {
        let blocks = pass.blocks();
        // Every layer's block begins with the targets' own in-edges, and attention to a target needs no others.
        let block = blocks.layer(layers - 1);
        for (j, &node) in blocks.targets().iter().enumerate() {
            for e in (block.offsets()[j]..block.offsets()[j + 1]).filter(|&e| blocks.is_own(e)) {
                for l in 0..layers {
                    for k in 0..heads {
                        src.push(blocks.nodes()[block.sources()[e] as usize]);
                        dst.push(node);
                        layer.push(l as u32);
                        head.push(k as u32);
                        alpha.push(pass.attention(l)[e * heads + k]);
                    }
                }
            }
        }
    })?;
    let graph = dataset.graph_set().map(|set| ("graph", Column::U32(dst.iter().map(|&n| set.graph_of(n)).collect())));
    let columns = [
        ("src", Column::U32(src)),
        ("dst", Column::U32(dst)),
        ("layer", Column::U32(layer)),
        ("head", Column::U32(head)),
        ("alpha", Column::F32(alpha)),
    ];
    Ok(Table::new(graph.into_iter().chain(columns))?)
}
