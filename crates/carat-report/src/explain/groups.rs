//! The paper's kinds of edges: did they go up or down?

use carat::explain::{EdgeChanges, ExplainSettings, Group};
use carat_graph::Dataset;
use serde::Serialize;

use super::ListedEdge;
use crate::statistics::{Separation, median, separation};

/// The number of examples that are named per group.
const EXAMPLES: usize = 5;

/// Some edges of a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GroupPart {
    /// Ranked edges.
    pub edges: usize,
    /// Median change in percent.
    pub median_change: Option<f64>,
    /// The share that gained attention.
    pub up_share: Option<f64>,
}

impl GroupPart {
    fn of(changes: &EdgeChanges, edges: impl Iterator<Item = u32>) -> Self {
        let values: Vec<f64> = edges.map(|edge| changes.change[edge as usize]).collect();
        let up = values.iter().filter(|change| **change > 0.0).count();
        Self {
            edges: values.len(),
            median_change: median(&values),
            up_share: (!values.is_empty()).then(|| up as f64 / values.len() as f64),
        }
    }
}

/// How a group moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupSummary {
    /// The group.
    pub group: Group,
    /// The rule that puts an edge in the group.
    pub rule: String,
    /// What the data lacks to find the group. The other fields are empty then.
    pub missing: Option<&'static str>,
    /// All of its ranked edges.
    pub all: GroupPart,
    /// Its edges between nodes of one class.
    pub same_class: GroupPart,
    /// Its edges between nodes of two classes.
    pub other_class: GroupPart,
    /// How far its changes lie above those of the other ranked edges. Edges into one target form a cluster.
    pub separation: Option<Separation>,
    /// The edges that changed most in the direction that the paper reports: up for narrow papers, down for the others.
    pub examples: Vec<ListedEdge>,
}

impl GroupSummary {
    pub(super) fn of(changes: &EdgeChanges, dataset: &Dataset, group: Group, settings: &ExplainSettings) -> Self {
        let found = changes.groups.iter().find(|members| members.group == group);
        let missing = found.and_then(|members| members.members.as_ref().err().copied());
        let flags: &[bool] = found.and_then(|members| members.members.as_deref().ok()).unwrap_or_default();
        let is_member = |edge: &u32| flags.get(*edge as usize).copied().unwrap_or(false);
        let members: Vec<u32> = changes.order.iter().copied().filter(is_member).collect();
        let of_class = |same: bool| {
            let is = move |edge: &u32| changes.properties.same_class[*edge as usize] == Some(same);
            GroupPart::of(changes, members.iter().copied().filter(is))
        };
        let placed = |edge: &u32| (changes.change[*edge as usize], changes.dst[*edge as usize]);
        let inside: Vec<(f64, u32)> = members.iter().map(placed).collect();
        let outside: Vec<(f64, u32)> = changes.order.iter().filter(|edge| !is_member(edge)).map(placed).collect();
        let moved = |edge: &&u32| match group {
            Group::Narrow => changes.change[**edge as usize] > 0.0,
            Group::SelfCitation | Group::Anchor => changes.change[**edge as usize] < 0.0,
        };
        let mut ordered: Vec<u32> = members.iter().filter(moved).copied().collect();
        if group != Group::Narrow {
            ordered.reverse();
        }
        let listed = |edge: &u32| ListedEdge::of(changes, dataset, *edge);
        Self {
            group,
            rule: group.rule(settings),
            missing,
            all: GroupPart::of(changes, members.iter().copied()),
            same_class: of_class(true),
            other_class: of_class(false),
            separation: separation(&inside, &outside),
            examples: ordered.iter().take(EXAMPLES).map(listed).collect(),
        }
    }

    /// The direction in which its edges clearly moved, relative to other edges.
    pub fn direction(&self) -> Option<crate::statistics::Direction> {
        self.separation.and_then(|separation| separation.direction())
    }
}
