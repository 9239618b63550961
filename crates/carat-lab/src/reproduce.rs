//! The paper's tables and figures, computed here: one file per item under `reproduce/`.
//!
//! An item names the runs it needs and turns them into a section of a report, ours beside the paper's. To add one,
//! write its file and list it in [`items`].

mod ablation;
mod accuracy;
mod assemble;
mod cal;
mod datasets;
mod draft;
mod figure2;
mod figure3;
mod finding;
mod found;
mod graphs;
mod grid_table;
mod grids;
mod homophily;
mod interpretation;
mod lambda;
mod literature;
pub mod paper;
mod pyg;
mod rewiring;
mod rounds;
mod runtime;
mod scatter;
mod scope;
mod table1;
mod transductive;

use carat::Error;

pub use assemble::{report, report_of};
pub use finding::{Answer, Finding, Verdict};
pub use scope::Scope;

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

    /// What became of the claims that the paper rests on it.
    fn findings(&self, _runs: &[Run], _scope: &Scope) -> Result<Vec<Finding>, Error> {
        Ok(Vec::new())
    }
}

/// Every item, in the report's order.
pub fn items() -> Vec<Box<dyn Item>> {
    vec![
        Box::new(datasets::Datasets),
        Box::new(table1::item()),
        Box::new(accuracy::item()),
        Box::new(figure2::Figure2),
        Box::new(lambda::LambdaStudy),
        Box::new(figure3::Figure3),
        Box::new(ablation::Ablation),
        Box::new(transductive::Transductive),
        Box::new(rounds::RoundsStudy),
        Box::new(cal::CalComparison),
        Box::new(homophily::Homophily),
        Box::new(graphs::Graphs),
        Box::new(rewiring::Rewiring),
        Box::new(interpretation::Interpretation),
        Box::new(runtime::Runtime),
    ]
}

#[cfg(test)]
mod tests;
