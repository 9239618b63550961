//! The paper's tables and figures, computed here: one file per item under `reproduce/`.
//!
//! An item names the runs it needs and turns them into a section of a report, ours beside the paper's. To add one, write its
//! file and list it in [`items`].

use std::path::Path;

use carat::Error;

use crate::report::Section;
use crate::sweep::{Grid, Run};

/// A table or figure of the paper.
pub trait Item: Sync {
    /// The word that names it on the command line.
    fn name(&self) -> &'static str;

    /// What it is, in one line: help texts and the section's heading.
    fn title(&self) -> &'static str;

    /// The runs it needs. Items share runs: the store computes each once.
    fn grids(&self, scope: &Scope) -> Vec<Grid>;

    /// The section made of all finished runs, those of other items among them.
    fn section(&self, runs: &[Run], scope: &Scope) -> Result<Section, Error>;
}

/// How much of the paper's grid is computed, and on what.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Datasets at hand, in the paper's order.
    pub datasets: Vec<String>,
    /// Synthetic graphs at hand with their homophily, for the study of homophily.
    pub synthetic: Vec<(String, f64)>,
    /// The documented subset that takes minutes.
    pub quick: bool,
    /// Splits of each dataset that has several.
    pub splits: usize,
    /// Seeds of every setting.
    pub seeds: usize,
    /// Where datasets lie.
    pub data_dir: std::path::PathBuf,
}

impl Scope {
    /// Where datasets lie.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }
}

/// Every item, in the report's order.
pub fn items() -> Vec<Box<dyn Item>> {
    Vec::new()
}
