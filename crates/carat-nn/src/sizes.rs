//! The limits of the sizes of models.

/// A size of a model and the most it may be. The limits keep every buffer's length far from overflow; nothing useful
/// lies beyond them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    what: &'static str,
    limit: usize,
}

pub(crate) const FEATURES: Size = Size { what: "features", limit: 100_000_000 };
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
        if found == 0 || found > limit { Err(SizeError { what, found, limit }) } else { Ok(()) }
    }
}

/// A size that no network can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} must be between 1 and {limit}, and {found} is not")]
pub struct SizeError {
    what: &'static str,
    found: usize,
    limit: usize,
}
