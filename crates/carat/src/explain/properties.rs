//! Properties of edges apart from their attention.

use carat_graph::Dataset;
use rayon::prelude::*;
use serde::Serialize;

use super::EdgeChanges;
use super::similarity::cosines;
use crate::Error;

/// A property of edges by which up- and down-weighted ones may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Property {
    /// Number of nodes that attend to the source: its citations.
    SrcDegree,
    /// Number of in-edges that share the target's attention.
    DstDegree,
    /// 1 where both ends have the same class, 0 otherwise.
    SameClass,
    /// Cosine of the ends' features.
    Similarity,
    /// Year of the target less year of the source: how much older the source is.
    YearGap,
    /// Attention in the first network.
    BaseAttention,
    /// The log-likelihood that the edge gives to its target's class, in the second network.
    Effect,
}

impl Property {
    /// Every property.
    pub const ALL: [Self; 7] = [
        Self::SrcDegree,
        Self::DstDegree,
        Self::SameClass,
        Self::Similarity,
        Self::YearGap,
        Self::BaseAttention,
        Self::Effect,
    ];

    /// The property in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::SrcDegree => "source's degree",
            Self::DstDegree => "target's degree",
            Self::SameClass => "same class",
            Self::Similarity => "similarity",
            Self::YearGap => "year gap",
            Self::BaseAttention => "attention before",
            Self::Effect => "causal effect",
        }
    }
}

/// Properties of every edge, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Properties {
    /// Edges that leave the source.
    pub src_degree: Vec<u32>,
    /// Edges that point at the target.
    pub dst_degree: Vec<u32>,
    /// Whether both ends have the same class; `None` where one has no label.
    pub same_class: Vec<Option<bool>>,
    /// Cosine of the ends' features; NaN where one has no feature but zeros.
    pub similarity: Vec<f32>,
    /// Year of the target less year of the source, where the data has years.
    pub year_gap: Option<Vec<i32>>,
}

impl Properties {
    /// Of every edge of a dataset, whose sources and targets are given.
    pub(super) fn of(dataset: &Dataset, src: &[u32], dst: &[u32]) -> Result<Self, Error> {
        let graph = dataset.graph();
        let mut leaving = vec![0u32; graph.num_nodes()];
        for &node in src {
            leaving[node as usize] += 1;
        }
        let edges = || src.par_iter().zip(dst);
        let same = |(&i, &j): (&u32, &u32)| Some(dataset.labels().get(i)? == dataset.labels().get(j)?);
        let gaps = |years: &[i32]| {
            edges().map(|(&i, &j)| years[j as usize].saturating_sub(years[i as usize])).collect::<Vec<i32>>()
        };
        Ok(Self {
            src_degree: src.par_iter().map(|&i| leaving[i as usize]).collect(),
            dst_degree: dst.par_iter().map(|&j| graph.in_degree(j) as u32).collect(),
            same_class: edges().map(same).collect(),
            similarity: cosines(dataset, src, dst)?,
            year_gap: dataset.node_years().map(gaps),
        })
    }
}

impl EdgeChanges {
    /// A property of one edge; `None` where it is unknown. The edge must exist.
    pub fn value(&self, property: Property, edge: u32) -> Option<f64> {
        let edge = edge as usize;
        let properties = &self.properties;
        match property {
            Property::SrcDegree => Some(f64::from(properties.src_degree[edge])),
            Property::DstDegree => Some(f64::from(properties.dst_degree[edge])),
            Property::SameClass => properties.same_class[edge].map(|same| f64::from(u8::from(same))),
            Property::Similarity => Some(f64::from(properties.similarity[edge])).filter(|cosine| !cosine.is_nan()),
            Property::YearGap => properties.year_gap.as_ref().map(|gaps| f64::from(gaps[edge])),
            Property::BaseAttention => Some(f64::from(self.base[edge])),
            Property::Effect => self.effects.as_ref().map(|effects| effects.delta[edge]),
        }
    }

    /// Why a property is unknown for every edge; `None` where it may be known.
    pub fn missing(&self, property: Property) -> Option<&'static str> {
        match property {
            Property::YearGap if self.properties.year_gap.is_none() => Some("the data has no years"),
            Property::Effect if self.effects.is_none() => Some("effects were not measured"),
            Property::SameClass if self.properties.same_class.iter().all(Option::is_none) => {
                Some("no edge has a label at both ends")
            }
            _ => None,
        }
    }
}
