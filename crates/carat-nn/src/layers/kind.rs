//! The attention kinds that come with carat, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Attention, Gat, GatV2, Transformer};
use crate::real::Real;

/// The attention kinds that come with carat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionKind {
    /// Graph attention network (GATConv).
    #[default]
    Gat,
    /// GATv2 (GATv2Conv).
    GatV2,
    /// Graph Transformer (TransformerConv).
    Transformer,
}

impl AttentionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Gat, Self::GatV2, Self::Transformer];

    /// The name used in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gat => "gat",
            Self::GatV2 => "gatv2",
            Self::Transformer => "transformer",
        }
    }

    /// The layer itself.
    pub fn attention<T: Real>(self) -> Box<dyn Attention<T>> {
        T::attention(self)
    }

    pub(crate) fn make<T: Real>(self) -> Box<dyn Attention<T>> {
        match self {
            Self::Gat => Box::new(Gat),
            Self::GatV2 => Box::new(GatV2),
            Self::Transformer => Box::new(Transformer),
        }
    }
}

impl fmt::Display for AttentionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AttentionKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("'{text}' is not an attention kind; choose gat, gatv2 or transformer"))
    }
}
