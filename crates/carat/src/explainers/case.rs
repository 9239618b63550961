//! One entity to explain: its receptive field, and what methods ask of it.

use carat_graph::{Blocks, Dataset};
use carat_nn::{GatedNetwork, GatedPass, Input, Network, Workspace, loss};

use crate::entity::EntityBlocks;
use crate::{Error, Task, input};

/// A node, or graph, with its receptive field.
pub(super) struct Case<'a> {
    pub(super) network: &'a Network<f32>,
    gated: Option<&'a GatedNetwork<f32>>,
    pub(super) dataset: &'a Dataset,
    pub(super) entity: u32,
    pub(super) blocks: Blocks,
    pub(super) input: Input<f32>,
}

impl<'a> Case<'a> {
    pub(super) fn new(
        network: &'a Network<f32>,
        gated: Option<&'a GatedNetwork<f32>>,
        dataset: &'a Dataset,
        entity: u32,
        builder: &mut EntityBlocks<'a>,
    ) -> Result<Self, Error> {
        let blocks = builder.build(&[entity], network.config().layers);
        let input = input(network.config(), dataset, &blocks)?;
        Ok(Self { network, gated, dataset, entity, blocks, input })
    }

    /// The values of the entity's own edges among those of all edges.
    pub(super) fn own<T: Copy + Into<f64>>(&self, all: &[T]) -> Vec<f64> {
        self.blocks.own_edges(0).map(|edge| all[edge].into()).collect()
    }

    /// All gates shut. Self-loops that were added are no edges of the graph, and their messages always pass.
    pub(super) fn shut(&self) -> Vec<f32> {
        let gate = |&id: &u32| if id == Blocks::ADDED { 1.0 } else { 0.0 };
        self.blocks.edge_ids().iter().map(gate).collect()
    }

    /// All gates open.
    pub(super) fn open(&self) -> Vec<f32> {
        vec![1.0; self.blocks.edge_ids().len()]
    }

    /// Passes with gates, and the class that is predicted with all of them open.
    pub(super) fn gated<'b>(&'b self, work: &'b mut Workspace<f32>) -> Result<(GatedPass<'b, f32>, u32), Error> {
        let gated = self.gated.ok_or_else(|| Error::Config("the network knows no gates".into()))?;
        let mut pass = gated.pass(&self.blocks, &self.input, work);
        let scores = pass.scores(&self.open());
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(Error::NotFinite { task: Task::of(self.dataset), entity: self.entity });
        }
        let class = loss::argmax(scores) as u32;
        Ok((pass, class))
    }
}
