//! The attention kinds that come with carat, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Attention, Gat, GatV2, Transformer};
use crate::real::Real;

/// Defines [`AttentionKind`] from a line per kind.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $name:literal,)+) => {
        /// The attention kinds that come with carat.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum AttentionKind {
            $($(#[$meta])* $kind,)+
        }

        impl AttentionKind {
            /// Every kind.
            pub const ALL: [Self; [$(Self::$kind),+].len()] = [$(Self::$kind),+];

            /// The name used in flags and files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

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

impl fmt::Display for AttentionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AttentionKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("'{text}' is not an attention kind; choose {} or {last}", others.join(", ")))
    }
}
