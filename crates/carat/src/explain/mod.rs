//! What training changed: attention on every edge in two networks of one graph, and the properties of the edge.
//!
//! ```text
//! a(e)           mean over layers and heads of the attention that edge e = (i, j) gets from its target j
//! difference(e)  a_car(e) - a_base(e)
//! change(e)      100 (a_car(e) / a_base(e) - 1), in percent of the baseline's
//! ```
//!
//! Edges are ranked by the difference: the change is the paper's, and grows without bound where the baseline's
//! attention is near 0.
//!
//! Messages flow from source to target: the target attends to the source. In a citation graph as the readers make it,
//! the source is the cited paper and the target the citing one. Where the graph has both directions of every edge, each
//! citation is two edges, and "the cited end" is the end that is attended to. An edge into a target with one in-edge
//! has attention 1 in every network, so it has no rank.
//!
//! One file per question: [`Property`] (the properties of an edge), [`Group`] (the kinds of edges that the paper
//! names), and the files' table.

mod authors;
mod groups;
mod properties;
mod similarity;
mod tables;

use std::cmp::Ordering;
use std::ops::ControlFlow;

use carat_graph::Dataset;
use carat_nn::Network;
use rayon::prelude::*;

pub use groups::{Group, GroupMembers};
pub use properties::{Properties, Property};
pub use tables::nodes_table;

use crate::config::{check_classes, one_graph};
use crate::inputs::check_inputs;
use crate::{EffectSettings, Error, Task, TrainConfig, effects, mean_attention};

/// Settings of [`explain`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExplainSettings {
    /// Nodes whose receptive field is in memory at a time.
    pub batch_size: usize,
    /// A source is an anchor where it is cited at least this many times as often as the mean of its class (10).
    pub anchor_factor: f64,
    /// A source is narrow where it is cited no more often than this share of its class's cited nodes (0.25).
    pub narrow_share: f64,
    /// How to measure the causal effect of every edge in the second network, which takes longest; `None` leaves it out.
    pub effects: Option<EffectSettings>,
}

impl Default for ExplainSettings {
    fn default() -> Self {
        let batch_size = TrainConfig::default().optimiser.batch_size;
        Self { batch_size, anchor_factor: 10.0, narrow_share: 0.25, effects: None }
    }
}

impl ExplainSettings {
    /// Checks every value.
    pub fn check(&self) -> Result<(), Error> {
        if self.batch_size == 0 {
            return Err(Error::Config("batch-size must be at least 1".into()));
        }
        if !(self.anchor_factor.is_finite() && self.anchor_factor > 0.0) {
            let found = self.anchor_factor;
            return Err(Error::Config(format!("anchor-factor must be a number above 0, and {found} is not")));
        }
        if !(self.narrow_share > 0.0 && self.narrow_share < 1.0) {
            let found = self.narrow_share;
            return Err(Error::Config(format!("narrow-share must lie between 0 and 1, and {found} does not")));
        }
        Ok(())
    }
}

/// Effects of all edges in one network.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    /// Per edge, the log-likelihood that it gives to its target's class. See [`crate::effects()`].
    pub delta: Vec<f64>,
    /// The paper's effect, between 0 and 1.
    pub effect: Vec<f64>,
    /// Every edge, the one that gives most first.
    pub order: Vec<u32>,
}

/// Every edge of a graph with its attention in two networks and its properties, column by column, in the order of the
/// edges' ids.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeChanges {
    /// Where each edge comes from: the node that is attended to.
    pub src: Vec<u32>,
    /// The node that attends.
    pub dst: Vec<u32>,
    /// Mean attention in the first network.
    pub base: Vec<f32>,
    /// Mean attention in the second.
    pub car: Vec<f32>,
    /// The second less the first.
    pub difference: Vec<f64>,
    /// Its change in percent of the first's. Attention that underflowed counts as the smallest normal number.
    pub change: Vec<f64>,
    /// Edges whose target has another in-edge, most up-weighted first; equal ones in the order of ids.
    pub order: Vec<u32>,
    /// Effects in the second network, if they were measured.
    pub effects: Option<Effects>,
    /// The properties of the edges.
    pub properties: Properties,
    /// The groups of the edges.
    pub groups: Vec<GroupMembers>,
}

impl EdgeChanges {
    /// Number of edges, ranked or not.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// True where the graph has no edges.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// Number of edges without a rank, because their target has no other in-edge.
    pub fn unranked(&self) -> usize {
        self.len() - self.order.len()
    }

    /// True where no edge's attention differs, as between two networks with the same weights.
    pub fn is_unchanged(&self) -> bool {
        self.base == self.car
    }

    /// A share of the ranked edges at either end: the most up-weighted ones, and of the others the most down-weighted
    /// ones, most down-weighted first. At least one each where there are two.
    pub fn ends(&self, share: f64) -> (&[u32], Vec<u32>) {
        let ranked = self.order.len();
        let count = ((share * ranked as f64).ceil() as usize).max(1).min(ranked / 2);
        let (up, rest) = self.order.split_at(count);
        (up, rest.iter().rev().take(count).copied().collect())
    }
}

/// Compares two networks edge by edge. Both must have been trained on data like `dataset`: the same features and
/// classes.
///
/// While effects are measured, `progress` gets the number of edges done and in all. If it breaks, the work ends with
/// [`Error::Interrupted`].
///
/// ```
/// use std::ops::ControlFlow;
/// use carat::explain::{ExplainSettings, explain};
/// use carat::{Lambda, TrainConfig, Trainer};
/// use carat_graph::generators::{PlantedConfig, planted};
///
/// let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
/// let plain = TrainConfig::default().hidden(8).epochs(5);
/// let regularised = plain.clone().lambda(Lambda::new(1.0));
/// let split = plain.choose_split(&dataset)?;
/// let (base, _) = Trainer::new(&dataset, &split, &plain)?.run()?;
/// let (car, _) = Trainer::new(&dataset, &split, &regularised)?.run()?;
///
/// let found = explain(&base, &car, &dataset, &ExplainSettings::default(), &mut |_, _| ControlFlow::Continue(()))?;
/// let most = found.order[0] as usize;
/// println!("{} -> {}: {:+.3}", found.src[most], found.dst[most], found.difference[most]);
/// # assert!(found.difference[most] > 0.0 && !found.is_unchanged());
/// # Ok::<(), carat::Error>(())
/// ```
pub fn explain(
    base: &Network<f32>,
    car: &Network<f32>,
    dataset: &Dataset,
    settings: &ExplainSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<EdgeChanges, Error> {
    settings.check()?;
    one_graph(dataset)?;
    for network in [base, car] {
        check_inputs(network.config(), dataset)?;
        check_classes(network.config().classes, dataset)?;
    }
    let (first, second) = (base.config().classes, car.config().classes);
    if first != second {
        return Err(Error::Config(format!(
            "the base network tells {first} classes apart and the CAR network {second}; compare networks of one task"
        )));
    }
    let (src, dst) = (dataset.graph().sources().to_vec(), dataset.graph().targets());
    let base = finite(mean_attention(base, dataset, settings.batch_size)?, &dst)?;
    let after = finite(mean_attention(car, dataset, settings.batch_size)?, &dst)?;
    let difference: Vec<f64> = base.iter().zip(&after).map(|(&base, &car)| f64::from(car) - f64::from(base)).collect();
    let change: Vec<f64> = base.par_iter().zip(&after).map(|(base, car)| percent(*base, *car)).collect();
    let properties = Properties::of(dataset, &src, &dst)?;
    let groups = groups::find(dataset, &properties, (&src, &dst), settings);
    let ranked = (0..src.len() as u32).filter(|&e| properties.dst_degree[e as usize] > 1).collect();
    let order = ordered(ranked, |e| difference[e as usize]);
    let effects = settings.effects.map(|settings| measured(car, dataset, &settings, progress)).transpose()?;
    Ok(EdgeChanges { src, dst, base, car: after, difference, change, order, effects, properties, groups })
}

/// 100 (car / base - 1).
fn percent(base: f32, car: f32) -> f64 {
    // Attention may underflow to 0 in 32 bits. The floor keeps such an edge's change finite.
    let base = f64::from(base.max(f32::MIN_POSITIVE));
    if f64::from(car) == base { 0.0 } else { 100.0 * (f64::from(car) / base - 1.0) }
}

/// Refuses attention that is not a number, which cannot be ordered.
fn finite(attention: Vec<f32>, dst: &[u32]) -> Result<Vec<f32>, Error> {
    match attention.iter().zip(dst).find(|(alpha, _)| !alpha.is_finite()) {
        None => Ok(attention),
        Some((_, &node)) => Err(Error::NotFinite { task: Task::Node, entity: node }),
    }
}

/// Edges by falling value, equal ones in the order of ids.
fn ordered(mut edges: Vec<u32>, value: impl Fn(u32) -> f64 + Sync) -> Vec<u32> {
    let order = |a: &u32, b: &u32| -> Ordering { value(*b).total_cmp(&value(*a)).then(a.cmp(b)) };
    edges.par_sort_unstable_by(order);
    edges
}

fn measured(
    network: &Network<f32>,
    dataset: &Dataset,
    settings: &EffectSettings,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Effects, Error> {
    let nodes: Vec<u32> = (0..dataset.num_nodes() as u32).collect();
    // All in-edges of all nodes in their order: every edge, by its id.
    let found = effects(network, dataset, &nodes, settings, progress)?;
    let order = ordered((0..found.len() as u32).collect(), |e| found.delta[e as usize]);
    Ok(Effects { delta: found.delta, effect: found.effect, order })
}

#[cfg(test)]
mod tests;
