//! `carat effects`: the causal effect of every edge on the predictions of a trained network.

use std::ops::ControlFlow;

use carat::{EffectSettings, NodeChoice, RunFolder};

use super::run_table::RunTable;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// Measure the effect of every edge on a trained run's predictions, by deleting it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat effects --run runs/car --out effects.csv                    every edge of the graph
  carat effects --run runs/car --nodes test --out effects.parquet   the in-edges of the test nodes
  carat effects --run runs/car --data newer-graph.npz --out effects.npz
  carat effects --run runs/mutag --graphs test --out effects.csv    the edges of the test graphs

One row per in-edge of the nodes, ordered by dst, then by src:
  src, dst        the edge; nodes are numbered as in 'carat predict', which has their names
  src_id, dst_id  the same by the data's own ids, if it has any
  dst_split       then also train, val or test, for the data that the run was trained on
  degree          in-edges of dst
  loss            cross-entropy of dst's prediction
  loss_without    the same after deleting this edge only; exact
  delta           loss_without - loss, the log-likelihood that the edge gives: above 0.05 it helps,
                  below -0.05 it misleads, and between it makes little difference
  delta_predicted the same for the class that the network predicts: what it relies on
  flips           1 where another class is predicted without the edge
  rho             loss_without / loss
  effect          the paper's: sigmoid((rho^degree - 1) / T). At nodes with many in-edges or a loss
                  near 0 it is far from 0.5 for edges that change nothing; sort by delta

If the run classifies graphs, there is one row per edge of the graphs. The column graph comes before src, and edges \
(the graph's number of edges) replaces degree; the losses are of the graph's prediction.

T, the exponent and the floor under both losses in rho are the run's (--temperature, --exponent and --loss-floor of \
'carat train'). For a node or graph without a label, the loss is of the class that the network predicts. The ending of \
the file decides whether it is CSV, Parquet or NPZ. The file appears only when it is complete; after Ctrl-C there is \
none.")]
pub struct Args {
    #[command(flatten)]
    table: RunTable,
    /// Nodes whose in-edges, or graphs whose edges, are measured: train, val, test (of the run's split), or all
    #[arg(long, visible_alias = "graphs", value_name = "WHICH", default_value_t)]
    nodes: NodeChoice,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    let interrupted = interrupt::flag()?;
    let progress = Progress::new("edges");
    args.table.write(
        RunFolder::open,
        |network, dataset, config| {
            let nodes = args.nodes.nodes(dataset, config)?;
            let found = carat::effects(&network, dataset, &nodes, &EffectSettings::from(config), &mut |done, total| {
                progress.show(done as u64, total as u64, "");
                if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            progress.finish();
            Ok((found?.into_table()?, ()))
        },
        |rows, out, ()| format!("{} edges -> {out}\n", output::thousands(rows)),
    )
}
