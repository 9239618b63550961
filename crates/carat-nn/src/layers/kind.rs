//! The attention kinds that come with carat, by name.

use super::{Attention, Gat, GatV2, Transformer};
use crate::real::Real;

/// Defines [`AttentionKind`] from a line per kind.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $name:literal,)+) => {
        words! {
            /// The attention kinds that come with carat.
            pub enum AttentionKind, "an attention kind" {
                $($(#[$meta])* $kind = $name,)+
            }
        }

        impl AttentionKind {
            pub(crate) fn make<T: Real>(self) -> Box<dyn Attention<T>> {
                match self {
                    $(Self::$kind => Box::new($kind),)+
                }
            }
        }
    };
}

kinds! {
    /// Graph attention network (GATConv).
    #[default]
    Gat = "gat",
    /// GATv2 (GATv2Conv).
    GatV2 = "gatv2",
    /// Graph Transformer (TransformerConv).
    Transformer = "transformer",
}

impl AttentionKind {
    /// The layer itself.
    pub fn attention<T: Real>(self) -> Box<dyn Attention<T>> {
        T::attention(self)
    }
}
