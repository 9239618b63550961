//! The attention kinds that come with carat, by name.

use super::projected::{ProjectedGat, ProjectedGatV2, ProjectedTransformer};
use super::{Attention, Gat, GatV2, Join, LayerShape, Transformer};
use crate::real::Real;

/// Defines [`AttentionKind`] from a line per kind: its name, its layer, and its layer over projected values.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $name:literal, or $projected:ident;)+) => {
        words! {
            /// The attention kinds that come with carat.
            pub enum AttentionKind, "an attention kind" {
                $($(#[$meta])* $kind = $name,)+
            }
        }

        impl AttentionKind {
            /// The layer that sums inputs where that can be done, and else the one that sums projected values.
            pub(crate) fn make<T: Real>(self, shape: LayerShape, dropout: bool) -> Box<dyn Attention<T>> {
                let averaged = shape.join == Join::Mean || shape.heads == 1;
                match self {
                    $(Self::$kind if averaged && shape.edge_features == 0 && !dropout => Box::new($kind),)+
                    $(Self::$kind => Box::new($projected),)+
                }
            }
        }
    };
}

kinds! {
    /// Graph attention network (GATConv).
    #[default]
    Gat = "gat", or ProjectedGat;
    /// GATv2 (GATv2Conv).
    GatV2 = "gatv2", or ProjectedGatV2;
    /// Graph Transformer (TransformerConv).
    Transformer = "transformer", or ProjectedTransformer;
}

impl AttentionKind {
    /// The layer itself, for layers of this shape, with or without dropout of attention or messages. Both have the same
    /// parameters; one made without dropout ignores [`LayerEdges::dropout`](super::LayerEdges::dropout),
    /// [`LayerEdges::messages`](super::LayerEdges::messages) and [`LayerEdges::gates`](super::LayerEdges::gates).
    pub fn attention<T: Real>(self, shape: LayerShape, dropout: bool) -> Box<dyn Attention<T>> {
        T::attention(self, shape, dropout)
    }
}
