//! The paper's tables and figures, computed here: one file per item under `reproduce/`.
//!
//! An item names the runs that it needs, and draws a section of a report that compares them with the paper's figures.
//! To add an item, write its file and list it in [`items`]. [`Studies::of`] computes what sections show besides runs.
//!
//! ```text
//! scope -> items -> grids -> runs (in the store) -> studies -> sections and findings -> report
//! ```

mod ablation;
mod assemble;
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
mod inputs;
mod interpretation;
mod lambda;
mod overview;
pub mod paper;
mod published;
mod pyg;
mod rewiring;
mod rounds;
mod runtime;
mod scatter;
mod scope;
mod sizes;
mod studies;
mod transductive;

use carat::Error;

pub use assemble::{report, report_of};
pub use draft::Draft;
pub use finding::{Answer, Finding, Verdict};
pub use inputs::{Inputs, ItemRuns};
pub use scope::Scope;
pub use studies::Studies;

use carat_lab::sweep::Grid;

/// What an item is.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for help texts and for the section's heading.
    pub title: &'static str,
    /// What the paper says about it.
    pub paper_says: &'static str,
}

/// A table or figure of the paper.
pub trait Item: Sync {
    /// What it is.
    fn about(&self) -> About;

    /// Its name on the command line.
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// The runs that it needs. Items share runs, and the store computes each run once.
    fn grids(&self, scope: &Scope) -> Vec<Grid>;

    /// The grids, described in a sentence.
    fn describe_grids(&self, scope: &Scope) -> String {
        grids::description(scope)
    }

    /// True where there are enough runs to draw a section.
    fn is_ready(&self, found: &ItemRuns<'_>) -> bool {
        !found.runs.is_empty()
    }

    /// Draws the section. It computes nothing that takes long: studies hold what runs do not.
    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error>;

    /// Which of the paper's claims about it the runs support.
    fn findings(&self, _inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        Ok(Vec::new())
    }
}

/// Every item, in the report's order.
pub fn items() -> [&'static dyn Item; 15] {
    [
        &datasets::Datasets,
        &grid_table::LOSS,
        &grid_table::ACCURACY,
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
