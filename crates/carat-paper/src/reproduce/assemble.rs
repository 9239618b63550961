//! Whole reports: what some items come to, or whatever stores hold.

use std::collections::HashSet;
use std::path::Path;

use carat::{Error, ModelKind, TrainConfig};
use carat_lab::sections::{stopping, verdict};
use carat_lab::sweep::{Merged, Run, TrainingCurve};
use carat_report::Report;

use super::basis::{Basis, key};
use super::draft::section;
use super::overview::overview;
use super::{Item, Scope, Studies, items};

/// The report on some items, in their order, and for every dataset whether CAR helps there. It draws what runs and
/// studies hold, and computes nothing.
pub fn report(merged: &Merged, items: &[&dyn Item], scope: &Scope, studies: &Studies) -> Result<Report, Error> {
    let drawn = |item| section(item, &Basis::of(item, &merged.runs, scope, studies)?);
    let mut sections = items.iter().copied().map(drawn).collect::<Result<Vec<_>, _>>()?;
    // A section for each of 33 synthetic graphs would bury the rest; they have a study of their own.
    let is_synthetic = |data: &str| scope.synthetic.iter().any(|(name, _)| name == data);
    let is_shown = |config: &TrainConfig| config.model == ModelKind::Attention && !is_synthetic(&config.data.name);
    let runs: Vec<Run> = merged.runs.iter().filter(|run| is_shown(&run.config)).cloned().collect();
    let verdicts = verdict(&runs);
    let curves: Vec<TrainingCurve> =
        merged.curves.iter().filter(|training| is_shown(&training.config)).cloned().collect();
    let is_public = |data: &String| super::paper::place(data).is_some() || scope.graph_sets.contains(data);
    let own_data = !runs.iter().any(|run| is_public(&run.config.data.name));
    if own_data {
        // For somebody's own graph this is the question.
        sections.splice(0..0, verdicts);
    } else {
        sections.extend(verdicts);
    }
    sections.extend(stopping(&curves));
    Ok(Report {
        title: "Causal attention regularisation, measured".into(),
        lead: overview(merged, scope, studies)?,
        sections,
    })
}

/// The report on whatever stores hold, and its studies: the items that have at least one run there that is no plain
/// attention network.
pub fn report_of(merged: &Merged, data_dir: &Path) -> Result<Report, Error> {
    let scope = Scope::of_runs(&merged.runs, data_dir);
    let telling = merged.runs.iter().filter(|run| !run.is_baseline() || !run.is_attention());
    let at_hand: HashSet<String> = telling.map(|run| key(&run.config)).collect::<Result<_, _>>()?;
    let mut shown = Vec::new();
    for item in items() {
        let mut runs = Vec::new();
        for grid in item.grids(&scope) {
            runs.extend(grid.runs()?);
        }
        // The table of datasets needs no runs.
        let mut found = runs.is_empty() && !scope.datasets.is_empty();
        for run in &runs {
            found |= at_hand.contains(&key(run)?);
        }
        if found {
            shown.push(item);
        }
    }
    let studies = Studies::of(&shown, &merged.runs, &scope)?;
    report(merged, &shown, &scope, &studies)
}
