//! The kinds of edges that the paper names, as rules.
//!
//! ```text
//! c(i)           edges that leave i: how often i is cited
//! self-citation  both ends have an author in common
//! anchor         c(i) >= factor * mean of c over the nodes of i's class
//! narrow         i and j have one class, and c(i) <= q, where q is the least number that at least the given share of
//!                the cited nodes of that class do not exceed
//! ```
//!
//! i is the source, which is attended to. Nodes without a label have no class, so their edges are in neither of the
//! last two groups. An edge from a node to itself is no citation.

use carat_graph::Dataset;
use rayon::prelude::*;
use serde::Serialize;

use super::authors::Authors;
use super::{ExplainSettings, Properties};

/// A kind of edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Between works that share an author.
    SelfCitation,
    /// From a work far more popular than its class.
    Anchor,
    /// From a rarely cited work of the same class.
    Narrow,
}

impl Group {
    /// Every group, in the paper's order.
    pub const ALL: [Self; 3] = [Self::SelfCitation, Self::Anchor, Self::Narrow];

    /// In words, in the plural.
    pub fn title(self) -> &'static str {
        match self {
            Self::SelfCitation => "self-citations",
            Self::Anchor => "anchors",
            Self::Narrow => "narrow papers",
        }
    }

    /// The name of its column.
    pub fn name(self) -> &'static str {
        match self {
            Self::SelfCitation => "self_citation",
            Self::Anchor => "anchor",
            Self::Narrow => "narrow",
        }
    }

    /// The rule of the group.
    pub fn rule(self, settings: &ExplainSettings) -> String {
        match self {
            Self::SelfCitation => "both ends have an author in common".into(),
            Self::Anchor => format!(
                "the source is attended to by at least {} times as many nodes as the mean of its class",
                settings.anchor_factor
            ),
            Self::Narrow => format!(
                "both ends have one class, and the source is attended to by no more nodes than the least {} % of those \
                 of its class that any node attends to",
                100.0 * settings.narrow_share
            ),
        }
    }
}

/// Which edges are of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMembers {
    /// The kind.
    pub group: Group,
    /// Per edge; or what the data lacks for the rule.
    pub members: Result<Vec<bool>, &'static str>,
}

/// Every group of a dataset's edges.
pub(super) fn find(
    dataset: &Dataset,
    properties: &Properties,
    (src, dst): (&[u32], &[u32]),
    settings: &ExplainSettings,
) -> Vec<GroupMembers> {
    let fields = Fields::of(dataset, src, settings);
    let edges = || src.par_iter().zip(dst).zip(&properties.src_degree).zip(&properties.same_class);
    let members = |group| match group {
        Group::SelfCitation => {
            let authors = Authors::of(dataset).ok_or("the data names no authors")?;
            Ok(src.par_iter().zip(dst).map(|(&i, &j)| i != j && authors.share(i, j)).collect())
        }
        Group::Anchor => Ok(edges()
            .map(|(((&i, &j), &cited), _)| {
                i != j && fields.of_node(dataset, i).is_some_and(|field| f64::from(cited) >= field.anchor)
            })
            .collect()),
        Group::Narrow => Ok(edges()
            .map(|(((&i, &j), &cited), &same)| {
                i != j && same == Some(true) && fields.of_node(dataset, i).is_some_and(|field| cited <= field.narrow)
            })
            .collect()),
    };
    Group::ALL.into_iter().map(|group| GroupMembers { group, members: members(group) }).collect()
}

/// Per class: the number of citations from which a node is an anchor, and the number up to which it is narrow.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Field {
    anchor: f64,
    narrow: u32,
}

struct Fields(Vec<Field>);

impl Fields {
    fn of(dataset: &Dataset, src: &[u32], settings: &ExplainSettings) -> Self {
        let mut cited = vec![0u32; dataset.num_nodes()];
        for &node in src {
            cited[node as usize] += 1;
        }
        let mut classes: Vec<Vec<u32>> = vec![Vec::new(); dataset.labels().num_classes()];
        for (node, &count) in cited.iter().enumerate() {
            if let Some(class) = dataset.labels().get(node as u32).and_then(|class| classes.get_mut(class as usize)) {
                class.push(count);
            }
        }
        let field = |counts: &mut Vec<u32>| {
            let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            let mean = sum as f64 / counts.len().max(1) as f64;
            counts.retain(|&count| count > 0);
            counts.sort_unstable();
            let place = (settings.narrow_share * counts.len() as f64).ceil() as usize;
            let narrow = counts.get(place.saturating_sub(1)).copied().unwrap_or(0);
            Field { anchor: settings.anchor_factor * mean, narrow }
        };
        Self(classes.iter_mut().map(field).collect())
    }

    fn of_node(&self, dataset: &Dataset, node: u32) -> Option<Field> {
        self.0.get(dataset.labels().get(node)? as usize).copied()
    }
}
