//! Which properties separate the edges that gained attention from those that lost it: a summary of [`carat::explain`]'s
//! results, and a report on it.
//!
//! ```
//! use std::ops::ControlFlow;
//! use carat::explain::{ExplainSettings, explain};
//! use carat::{Lambda, TrainConfig, Trainer};
//! use carat_graph::generators::{PlantedConfig, planted};
//! use carat_report::explain::{Explanation, SummarySettings, report};
//!
//! let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let plain = TrainConfig::default().hidden(8).epochs(5);
//! let regularised = plain.clone().lambda(Lambda::new(1.0));
//! let split = plain.choose_split(&dataset)?;
//! let (base, _) = Trainer::new(&dataset, &split, &plain)?.run()?;
//! let (car, _) = Trainer::new(&dataset, &split, &regularised)?.run()?;
//!
//! let settings = ExplainSettings::default();
//! let changes = explain(&base, &car, &dataset, &settings, &mut |_, _| ControlFlow::Continue(()))?;
//! let found = Explanation::of(&changes, &dataset, &settings, &SummarySettings::default())?;
//! for contrast in &found.separates {
//!     println!("{}: AUC {:.2}", contrast.property.title(), contrast.separation.auc);
//! }
//! let page = carat_report::html(&report(&found, &[]));
//! assert!(page.contains("What separates them"));
//! # Ok::<(), carat::Error>(())
//! ```

mod charts;
mod contrast;
mod groups;
mod listed;
mod report;
mod runs;
mod sentences;
mod tables;

use carat::Error;
use carat::explain::{EdgeChanges, ExplainSettings, Group, Property};
use carat_graph::Dataset;
use rayon::prelude::*;
use serde::Serialize;

pub use contrast::{Contrast, Sample};
pub use groups::{GroupPart, GroupSummary};
pub use listed::{ListedEdge, ListedNode};
pub use report::report;
pub use runs::{better_run, compared_runs};
pub use sentences::{counts, group_sentences, separation_sentences};
pub use tables::{brief_table, group_table, listed_table, separation_table};

/// Settings of [`Explanation::of`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummarySettings {
    /// The number of edges that are named at either end (20).
    pub top: usize,
    /// The share of the ranked edges at each end that is compared with the other end (0.1).
    pub share: f64,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self { top: 20, share: 0.1 }
    }
}

impl SummarySettings {
    /// The most edges in a table. Pages with more are slow to open.
    const MOST: usize = 1000;

    /// Checks every value.
    pub fn check(&self) -> Result<(), Error> {
        if self.top == 0 || self.top > Self::MOST {
            let (most, found) = (Self::MOST, self.top);
            return Err(Error::Config(format!("top must be between 1 and {most}, and {found} is not")));
        }
        if !(self.share > 0.0 && self.share <= 0.5) {
            return Err(Error::Config(format!("share must be above 0 and at most 0.5, and {} is not", self.share)));
        }
        Ok(())
    }
}

/// How the attention on the edges of a graph changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The dataset's name.
    pub data: String,
    /// The number of its edges.
    pub edges: usize,
    /// The number of ranked edges: those whose target has another in-edge.
    pub ranked: usize,
    /// The number of edges that are not ranked: the only in-edge of their target, whose attention is always 1.
    #[serde(rename = "alone")]
    pub unranked: usize,
    /// True where the attention of no edge changed.
    pub unchanged: bool,
    /// The number of ranked edges that gained attention.
    pub up_weighted: usize,
    /// Share of the ranked edges that is compared at either end.
    pub share: f64,
    /// The most up-weighted edges.
    pub up: Vec<ListedEdge>,
    /// The most down-weighted edges.
    pub down: Vec<ListedEdge>,
    /// The edges that the predictions need most, if effects were measured.
    pub needed: Vec<ListedEdge>,
    /// The edges that mislead most.
    pub misleading: Vec<ListedEdge>,
    /// The two ends compared, one property at a time.
    pub separates: Vec<Contrast>,
    /// The paper's kinds of edges.
    pub groups: Vec<GroupSummary>,
    /// Properties that are not known for any edge, with the reason.
    pub missing: Vec<(Property, &'static str)>,
    /// A sample of edges from all ranks, for a figure.
    #[serde(skip)]
    pub sample: Vec<ListedEdge>,
}

/// The most dots in the figure of all edges.
const SAMPLE: usize = 600;

impl Explanation {
    /// Summarises the edges of `dataset`. `settings` are those that `changes` were computed with.
    pub fn of(
        changes: &EdgeChanges,
        dataset: &Dataset,
        settings: &ExplainSettings,
        summary: &SummarySettings,
    ) -> Result<Self, Error> {
        summary.check()?;
        let unchanged = changes.is_unchanged();
        // If nothing changed, the order by change is the order of edge ids, which means nothing.
        let order: &[u32] = if unchanged { &[] } else { &changes.order };
        let listed = |edges: &mut dyn Iterator<Item = &u32>| {
            edges.map(|&e| ListedEdge::of(changes, dataset, e)).collect::<Vec<_>>()
        };
        let top = summary.top.min(order.len() / 2);
        let effects: &[u32] = changes.effects.as_ref().map_or(&[], |effects| &effects.order);
        let top_effects = summary.top.min(effects.len() / 2);
        let (known, unknown): (Vec<Property>, Vec<Property>) =
            Property::ALL.into_iter().partition(|property| changes.missing(*property).is_none());
        let separates = if unchanged {
            Vec::new()
        } else {
            known.par_iter().filter_map(|property| Contrast::of(changes, *property, summary.share)).collect()
        };
        let groups =
            Group::ALL.into_par_iter().map(|group| GroupSummary::of(changes, dataset, group, settings)).collect();
        let step = order.len().div_ceil(SAMPLE).max(1);
        Ok(Self {
            data: dataset.name().to_string(),
            edges: changes.len(),
            ranked: changes.order.len(),
            unranked: changes.unranked(),
            unchanged,
            up_weighted: changes.order.iter().filter(|&&edge| changes.difference[edge as usize] > 0.0).count(),
            share: summary.share,
            up: listed(&mut order.iter().take(top)),
            down: listed(&mut order.iter().rev().take(top)),
            needed: listed(&mut effects.iter().take(top_effects)),
            misleading: listed(&mut effects.iter().rev().take(top_effects)),
            separates,
            groups,
            missing: unknown.into_iter().filter_map(|p| changes.missing(p).map(|why| (p, why))).collect(),
            sample: listed(&mut order.iter().step_by(step)),
        })
    }
}

#[cfg(test)]
mod tests;
