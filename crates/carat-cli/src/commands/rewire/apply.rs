//! `carat rewire --apply`: writes the pruned graph.

use std::path::PathBuf;

use carat::rewire::{above, check_threshold};
use carat::with_threads;

use super::super::data::Target;
use super::{Args, Guiding};
use crate::failure::Failure;
use crate::output;

/// Writes the graph without the edges to which the run's attention is below the threshold.
pub(super) fn run(args: &Args, run: &PathBuf, threshold: f64) -> Result<(), Failure> {
    check_threshold(threshold)?;
    let out = args.out.clone().unwrap_or_default();
    let target = Target::new(&out, args.format)?;
    if !matches!(target, Target::Folder(..)) {
        output::check_folder(&out)?;
    }
    let guiding = Guiding::open(run)?;
    let dataset = guiding.config.open(args.data.as_deref(), &args.data_folder.path())?;
    let scores = with_threads(args.threads.threads, || guiding.scores(&dataset))??;
    target.save(&dataset.with_edges(&above(&scores, threshold))?, args.print.json)
}
