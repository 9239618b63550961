//! The errors of training and using a network.

use std::path::PathBuf;

use carat_graph::{DataError, printable};
use carat_nn::{CalError, SizeError, WeightsError};

use crate::Task;

/// An error of this crate. [`Error::is_input_error`] says whether arguments or input caused it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data is wrong, missing or cannot be written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A setting has no meaning.
    #[error("{}", printable(.0))]
    Config(String),
    /// A size of the network has no meaning.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A model file does not fit.
    #[error("{}: {source}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: WeightsError,
    },
    /// A run folder lacks something or holds something else.
    #[error("{}: {}", path.display(), printable(problem))]
    Run {
        /// The run folder or a file in it.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The loss stopped being a number.
    #[error("the training loss is {loss} in epoch {epoch}; try a smaller --lr, or a smaller --lambda if there is one")]
    Diverged {
        /// Counted from 1.
        epoch: usize,
        /// NaN or infinity.
        loss: f64,
    },
    /// A network whose weights are too large to compute with.
    #[error(
        "the network's class scores of {task} {entity} are not finite: its weights are too large; train it again with \
         a smaller --lr"
    )]
    NotFinite {
        /// What the network classifies.
        task: Task,
        /// The first node, or graph, where this was noticed.
        entity: u32,
    },
    /// The caller asked to stop the work.
    #[error("interrupted before the work was done; nothing was written")]
    Interrupted,
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {problem}")]
    Threads {
        /// The requested number.
        threads: usize,
        /// The system's reason.
        problem: String,
    },
}

impl From<CalError> for Error {
    fn from(error: CalError) -> Self {
        match error {
            CalError::Size(error) => Self::Size(error),
            other => Self::Config(other.to_string()),
        }
    }
}

impl Error {
    /// True when arguments or input are to blame (exit code 2), false when the work failed (exit code 1).
    pub fn is_input_error(&self) -> bool {
        match self {
            Self::Data(error) => error.is_input_error(),
            Self::Diverged { .. } | Self::NotFinite { .. } | Self::Interrupted | Self::Threads { .. } => false,
            Self::Config(_) | Self::Size(_) | Self::Weights { .. } | Self::Run { .. } => true,
        }
    }
}
