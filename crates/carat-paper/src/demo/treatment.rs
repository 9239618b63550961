//! What is done about the spurious edges.

use carat::{Arm, EntityChoice, Lambda, Target, TrainConfig};
use serde::Serialize;

/// What is done about the spurious edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// Nothing: a plain network.
    Baseline,
    /// Attention is pulled towards the same value on every edge, without a causal signal.
    Control,
    /// Attention is pulled towards the effects of deleting edges: causal attention regularisation as in the paper.
    Car,
    /// The control of [`Treatment::EveryNode`]: attention of every node is pulled towards uniform attention.
    EveryNodeControl,
    /// Like [`Treatment::Car`], but every node is an entity, labelled or not, and targets are distributions.
    EveryNode,
    /// Spurious edges are removed before training and testing. No real method knows them; the figures show what they
    /// cost.
    Oracle,
}

impl Treatment {
    /// Every treatment, in the order of tables.
    pub const ALL: [Self; 6] =
        [Self::Baseline, Self::Control, Self::Car, Self::EveryNodeControl, Self::EveryNode, Self::Oracle];

    /// Its name in tables and legends.
    pub fn label(self) -> &'static str {
        match self {
            Self::Baseline => "plain",
            Self::Control => "control",
            Self::Car => "CAR",
            Self::EveryNodeControl => "control at every node",
            Self::EveryNode => "CAR at every node",
            Self::Oracle => "useful edges only",
        }
    }

    /// A description for readers who have not read the paper.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Baseline => "plain training, no regulariser",
            Self::Control => {
                "the same regulariser knowing nothing: all edges have one target. It only smooths attention"
            }
            Self::Car => {
                "causal attention regularisation: training deletes edges one at a time, and pulls attention up where \
                 that hurts the prediction of a training node, and down where it does not"
            }
            Self::EveryNodeControl => "the control of the next: attention of every node is pulled towards uniform",
            Self::EveryNode => {
                "an experiment beyond the paper: deletions at every node, with the network's own guess where the label \
                 is unknown, and all attention of a node pulled towards a distribution made of its edges' effects"
            }
            Self::Oracle => {
                "the spurious edges are taken out before training and testing. No method knows them; this shows what \
                 they cost"
            }
        }
    }

    /// Whether the graph keeps its spurious edges.
    pub(super) fn has_spurious_edges(self) -> bool {
        self != Self::Oracle
    }

    /// The same treatment without its causal signal; `None` where it has none.
    pub fn control(self) -> Option<Self> {
        match self {
            Self::Car => Some(Self::Control),
            Self::EveryNode => Some(Self::EveryNodeControl),
            Self::Baseline | Self::Control | Self::EveryNodeControl | Self::Oracle => None,
        }
    }

    /// What it is compared with.
    pub fn opponents(self) -> impl Iterator<Item = Self> {
        self.control().into_iter().flat_map(|control| [Self::Baseline, control])
    }

    /// The training settings of the treatment. The strength of regularisers is that of `train`.
    pub(super) fn settings(self, train: &TrainConfig) -> TrainConfig {
        let train = train.clone();
        match self {
            Self::Baseline | Self::Oracle => train.lambda(Lambda::default()),
            Self::Control => train.arm(Arm::Constant),
            Self::Car => train.arm(Arm::Causal),
            Self::EveryNodeControl => every_node(train).arm(Arm::Constant),
            Self::EveryNode => every_node(train).arm(Arm::Causal),
        }
    }
}

fn every_node(train: TrainConfig) -> TrainConfig {
    train.entities(EntityChoice::All).target(Target::Distribution)
}
