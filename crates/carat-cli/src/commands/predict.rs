//! `carat predict`: a trained network's prediction for every node or graph.

use carat::metrics::{Evaluation, Figures, Lead, Subset};
use carat::{Error, TrainConfig, tables};
use carat_graph::{Dataset, Split};
use serde::{Serialize, Serializer};

use super::figures;
use super::run_table::RunTable;
use crate::failure::Failure;
use crate::output;

/// Predict the class of every node, or of every graph, with a trained run
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat predict --run runs/cora --out predictions.csv
  carat predict --run runs/cora --data newer-graph.npz --out predictions.parquet

One row per node, or per graph if the run classifies graphs: node (or graph), id if the data has ids, label, \
predicted, loss, split (train, val or test; only for the data that the run was trained on), the node's name if the \
data has names, and the probability of every class. Classes are named as in the training data (p_fraud, p_ok), or \
numbered (p_0, p_1) if they have no names. Labels may be missing: empty, or -1 for a numbered class.

Where labels exist, the figures of the predictions are printed too: of the parts of the run's split on its own data, \
and of all labelled nodes on other data.

Columns of a folder of tables are matched by name, in any order, and scaled and filled in as in training; \
docs/tables.md has the details. The ending of the file decides whether it is CSV, Parquet or NPZ.")]
pub struct Args {
    #[command(flatten)]
    table: RunTable,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let table = &args.table;
    table.write(
        |folder| {
            let (config, model) = folder.open_model()?;
            // A run that was interrupted early, or copied without its summary, still predicts.
            let summary = folder.summary().ok().flatten();
            let lead = summary.as_ref().map(|summary| summary.lead).unwrap_or_default();
            let positive = summary.and_then(|summary| summary.validation).map_or(1, |found| found.positive);
            Ok((config, (model, lead, positive)))
        },
        |(mut model, lead, positive), dataset, config| {
            let sets = sets(dataset, config, table.is_other_data(config))?;
            let lists: Vec<&[u32]> = sets.iter().map(|(_, entities)| &entities[..]).collect();
            let batch_size = config.optimiser.batch_size;
            let (table, found) = tables::predictions_and_figures_of(&mut model, dataset, batch_size, &lists)?;
            let found = found.into_iter().map(|found| found.with_positive(positive));
            let figures = sets.iter().zip(found).filter(|(_, found)| !found.is_empty());
            let figures = figures.map(|((name, _), found)| (*name, Figures::of(&found, &Evaluation::of(&found))));
            Ok((table, Found { lead, of: figures.collect() }))
        },
        |rows, out, found| {
            let figures: Vec<(&str, &Figures)> = found.of.iter().map(|(name, figures)| (*name, figures)).collect();
            let figures = if figures.is_empty() { String::new() } else { figures::table(found.lead, &figures) };
            format!("{} predictions -> {out}\n{figures}", output::thousands(rows))
        },
    )
}

/// The figures of the predictions, by the entities that they are of.
struct Found {
    lead: Lead,
    of: Vec<(&'static str, Figures)>,
}

impl Serialize for Found {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.of.iter().map(|(name, figures)| (name, figures)))
    }
}

/// The entities that figures are of: the parts of the run's split on its own data, else all that have a label.
fn sets(dataset: &Dataset, config: &TrainConfig, is_other: bool) -> Result<Vec<(&'static str, Vec<u32>)>, Error> {
    if is_other {
        let labelled = (0..dataset.num_entities() as u32).filter(|&entity| dataset.labels().get(entity).is_some());
        return Ok(vec![("labelled", labelled.collect())]);
    }
    let Split { train, val, test } = config.choose_split(dataset)?;
    let names = [Subset::Test, Subset::Validation, Subset::Train].map(Subset::name);
    Ok(names.into_iter().zip([test, val, train]).collect())
}
