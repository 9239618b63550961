//! The paper's tables and figures, computed here: one file per item under `reproduce/`.
//!
//! An item names the runs it needs and draws a section of a report from them, ours beside the paper's. To add one,
//! write its file and list it in [`items`]. What sections show beside runs is computed before, by [`Studies::of`].
//!
//! ```text
//! scope -> items -> grids -> runs (the store's) -> studies -> sections and findings -> report
//! ```

mod ablation;
mod accuracy;
mod assemble;
mod basis;
mod cal;
mod datasets;
mod draft;
mod figure2;
mod figure3;
mod finding;
mod graphs;
mod grid_table;
mod grids;
mod homophily;
mod interpretation;
mod lambda;
mod literature;
mod overview;
pub mod paper;
mod pyg;
mod rewiring;
mod rounds;
mod runtime;
mod scatter;
mod scope;
mod sizes;
mod studies;
mod table1;
mod transductive;

use carat::Error;

pub use assemble::{report, report_of};
pub use basis::{Basis, Found};
pub use draft::Draft;
pub use finding::{Answer, Finding, Verdict};
pub use scope::Scope;
pub use studies::Studies;

use carat_lab::sweep::Grid;

/// A table or figure of the paper.
pub trait Item: Sync {
    /// The word that names it on the command line.
    fn name(&self) -> &'static str;

    /// What it is, in one line: help texts and the section's heading.
    fn title(&self) -> &'static str;

    /// What the paper says about it.
    fn said(&self) -> &'static str;

    /// The runs it needs. Items share runs: the store computes each once.
    fn grids(&self, scope: &Scope) -> Vec<Grid>;

    /// The grids in words.
    fn grid_words(&self, scope: &Scope) -> String {
        grids::words(scope)
    }

    /// Whether there is enough to draw a section: any run.
    fn is_ready(&self, found: &Found<'_>) -> bool {
        !found.runs.is_empty()
    }

    /// Draws what is found here. Nothing is computed that takes long: what runs do not tell is in the studies.
    fn draw(&self, basis: &Basis<'_>, draft: &mut Draft) -> Result<(), Error>;

    /// What became of the claims that the paper rests on it.
    fn findings(&self, _basis: &Basis<'_>) -> Result<Vec<Finding>, Error> {
        Ok(Vec::new())
    }
}

/// Every item, in the report's order.
pub fn items() -> [&'static dyn Item; 15] {
    [
        &datasets::Datasets,
        &table1::ITEM,
        &accuracy::ITEM,
        &figure2::Figure2,
        &lambda::LambdaStudy,
        &figure3::Figure3,
        &ablation::Ablation,
        &transductive::Transductive,
        &rounds::RoundsStudy,
        &cal::CalComparison,
        &homophily::Homophily,
        &graphs::Graphs,
        &rewiring::Rewiring,
        &interpretation::Interpretation,
        &runtime::Runtime,
    ]
}

#[cfg(test)]
mod tests;
