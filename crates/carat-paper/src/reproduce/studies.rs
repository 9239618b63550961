//! Results that sections show besides runs: sizes of datasets, networks compared edge by edge, PyG's seconds.
//!
//! Stores do not keep them. They are computed once per report, before any section is drawn.

use carat::Error;
use carat_lab::sweep::Run;

use super::inputs::ItemRuns;
use super::interpretation::{self, Interpretation, Studied};
use super::pyg::{self, PlainTraining};
use super::sizes::Sizes;
use super::{Item, Scope, datasets, runtime};

/// Results that were computed besides runs; empty where no section needs them.
#[derive(Debug, Default)]
pub struct Studies {
    /// Sizes of the datasets in scope, or the errors from opening them.
    pub(super) sizes: Vec<(String, Result<Sizes, String>)>,
    /// Pairs of networks, compared edge by edge.
    pub(super) interpretation: Vec<Studied>,
    /// PyG's training on each dataset where we trained the same network; `None` where no Python is named.
    pub(super) pyg: Option<Vec<(String, Option<PlainTraining>)>>,
}

impl Studies {
    /// Computes what the sections of `items` and the claims of all items need. It may train networks, and start the
    /// Python that the environment names.
    pub fn of(items: &[&dyn Item], runs: &[Run], scope: &Scope) -> Result<Self, Error> {
        let shows = |wanted: &dyn Item| items.iter().any(|item| item.name() == wanted.name());
        let mut studies = Self::default();
        let grids = Interpretation.grids(scope);
        if Interpretation.is_ready(&ItemRuns::of(runs, &grids)?) {
            studies.interpretation = interpretation::studied(&grids, scope)?;
        }
        if shows(&datasets::Datasets) || shows(&runtime::Runtime) {
            let python = if shows(&runtime::Runtime) { pyg::python() } else { None };
            studies.pyg = python.as_ref().map(|_| Vec::new());
            let found = ItemRuns::of(runs, &runtime::Runtime.grids(scope))?;
            for data in &scope.datasets {
                // A report on a store can be made where the data is not.
                let dataset = carat_graph::open(data, &scope.data_dir);
                if let (Ok(dataset), Some(python), Some(trainings)) = (&dataset, &python, &mut studies.pyg)
                    && pyg::same_network(&found.runs, data).is_some()
                {
                    trainings.push((data.clone(), pyg::train(python, dataset)));
                }
                let sizes = dataset.as_ref().map(Sizes::of).map_err(|problem| problem.to_string());
                studies.sizes.push((data.clone(), sizes));
            }
        }
        Ok(studies)
    }
}
