//! The limits of the sizes of models.

/// A size of a model and the most it may be. The limits keep every buffer's length far from overflow; nothing useful
/// lies beyond them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    what: &'static str,
    limit: usize,
}

pub(crate) const FEATURES: Size = Size { what: "features", limit: 100_000_000 };
pub(crate) const EDGE_FEATURES: Size = Size { what: "edge-features", limit: 65_536 };
pub(crate) const HIDDEN: Size = Size { what: "hidden", limit: 65_536 };
pub(crate) const HEADS: Size = Size { what: "heads", limit: 1024 };
pub(crate) const LAYERS: Size = Size { what: "layers", limit: 64 };
pub(crate) const CLASSES: Size = Size { what: "classes", limit: 1_000_000 };

/// 4 GiB of weights. Sizes that are each in range can together need more memory than any machine has, and an allocation
/// that fails ends the process without a message.
pub(crate) const PARAMETERS: Size = Size { what: "the number of parameters", limit: 1 << 30 };

impl Size {
    /// Refuses 0 and sizes beyond the limit.
    pub(crate) fn check(self, found: usize) -> Result<(), SizeError> {
        let Self { what, limit } = self;
        if found == 0 || found > limit { Err(SizeError::Range { what, found, limit }) } else { Ok(()) }
    }
}

/// A size that no network can have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SizeError {
    /// Beyond the limits.
    #[error("{what} must be between 1 and {limit}, and {found} is not")]
    Range {
        /// The size.
        what: &'static str,
        /// Its value.
        found: usize,
        /// The most it may be.
        limit: usize,
    },
    /// Heads that cannot stand side by side.
    #[error(
        "heads that are concatenated share the width: hidden must be a multiple of heads, and {hidden} is none of \
             {heads}"
    )]
    Heads {
        /// The width.
        hidden: usize,
        /// The number of heads.
        heads: usize,
    },
    /// A rate of dropout that leaves nothing, or less.
    #[error("{what} must be at least 0 and below 1, and {found} is not")]
    Rate {
        /// The rate.
        what: &'static str,
        /// Its value.
        found: f64,
    },
}

/// Refuses rates that are not in 0..1.
pub(crate) fn check_rate(what: &'static str, found: f64) -> Result<(), SizeError> {
    if (0.0..1.0).contains(&found) { Ok(()) } else { Err(SizeError::Rate { what, found }) }
}
