//! `carat train`: one run into a run folder.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use carat::metrics::Subset;
use carat::settings::NetworkSettings;
use carat::{EpochMetrics, ModelKind, RunFolder, RunOptions, Summary, TrainConfig, with_threads};
use serde::Serialize;

use super::figures;
use crate::arguments::{DataFolder, Format, Threads, TrainFlags};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// Train a network into a run folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat train --data cora                            a GAT with residuals, norms and dropout: preset strong
  carat train --data cora --lambda 1                 the same with causal attention regularisation
  carat train --data cora --preset gat               the usual recipe of a graph attention network
  carat train --data cora --preset paper             the paper's: 2 layers of 3 heads, 100 wide, nothing between them
  carat train --data cora --lambda 5 --entities all --target distribution
                                                     regularised at every node, labelled or not
  carat train --data cora --lambda 1 --regulariser constant
                                                     a control: smoothing without a causal signal
  carat train --data cora --arch gatv2 --hidden 32 --layers 1 --seed 3 --out runs/small
  carat train --data cora --model gcn                a graph convolution network of the same shape
  carat train --data cora --model cal --lambda1 0.2  CAL's CausalGAT, a causal method to compare with
  carat train --data my-graph.npz --split-ratio 0.6,0.2,0.2
  carat train --data arxiv-tape --fanout 10,10 --batch-size 2000
  carat train --data MUTAG --folds 10 --split 3 --batch-size 32 --lambda 1
                                                     classify graphs: one fold of a cross-validation
  carat train --data my-tables                       a folder with nodes.csv and edges.csv: numbers, text, dates, gaps
  carat train --config settings.toml --lr 0.005      settings from a file, with one replaced
  carat train --out runs/small --resume              continue a run that was stopped or killed

The run folder gets config.toml, encoding.toml (how columns become features), metrics.csv (a row per epoch), \
model.safetensors (PyTorch Geometric's names and shapes) and summary.json: the figures of the kept weights over \
training, validation and test nodes, the confusion matrix, and the figures of every class. With two classes, or with \
one that has more than two thirds of the training labels, the printed figures lead with ROC AUC and average precision. \
'carat report DIR' makes a page of a run folder. The same settings give the same bits, for any number of threads. \
Ctrl-C ends a run and keeps its results so far; --resume continues it.

Causal attention regularisation deletes single edges in every step, measures how much worse each \
deletion makes the prediction, and pulls attention towards those effects. Runs that differ only in \
its flags share the seed's initial weights and batches, so that they pair. 'carat effects' measures \
the effects of a finished run.

Data that is a set of graphs (the TUDataset layout, or a .npz file with graph_offsets) has one label per graph, \
and the network classifies graphs: it sums over the nodes before the last step, --batch-size counts \
graphs, and the regulariser deletes edges of whole graphs. --fanout, --entities all, --target \
distribution and --regulariser vote apply to nodes only.")]
pub struct Args {
    #[command(flatten)]
    train: TrainFlags,
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(flatten)]
    threads: Threads,
    /// Run folder [default: runs/ and a name made of the settings]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the run in --out with its settings; starts it if there is none
    #[arg(long)]
    resume: bool,
    /// Seconds between checkpoints; epochs lost by a kill are computed again, with the same bits
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    checkpoint_every: f64,
    #[command(flatten)]
    format: Format,
}

/// What `--json` prints: the run folder and its summary.
#[derive(Serialize)]
struct Report<'a> {
    run: &'a str,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    if args.resume && args.out.is_none() {
        return Err(Failure::input("--resume needs --out DIR, the folder of the run to go on with"));
    }
    let checkpoint_every = Duration::try_from_secs_f64(args.checkpoint_every)
        .map_err(|_| Failure::input(format!("--checkpoint-every {} is not a length of time", args.checkpoint_every)))?;
    let started = match &args.out {
        Some(out) if args.resume => RunFolder::new(out).config()?,
        _ => None,
    };
    let config = args.train.config(started.as_ref())?;
    if started.is_some_and(|started| started != config) {
        return Err(Failure::input(format!(
            "{}: the run was started with other settings; --resume cannot change them, so leave those flags out",
            args.out.unwrap_or_default().join("config.toml").display()
        )));
    }
    let folder = RunFolder::new(args.out.unwrap_or_else(|| default_folder(&config)));
    let dataset = config.open(None, &args.data_folder.path())?;
    output::notes(config.unread_edge_features(&dataset).as_slice());
    let interrupted = interrupt::flag()?;
    let progress = Progress::new("epochs");
    let mut best = f64::INFINITY;
    let summary = with_threads(args.threads.threads, || {
        let options = RunOptions {
            resume: args.resume,
            checkpoint_every,
            interrupted: &interrupted,
            on_epoch: &mut |epoch: &EpochMetrics| {
                best = best.min(epoch.val_loss);
                progress.show(epoch.epoch as u64, config.stopping.epochs as u64, &losses(epoch, best));
            },
        };
        carat::run(&dataset, &config, &folder, options)
    })??;
    progress.finish();
    let path = folder.path().display().to_string();
    let report = Report { run: &path, summary: &summary };
    output::show(args.format.json, &report, || text(&path, &config, &summary))
}

fn default_folder(config: &TrainConfig) -> PathBuf {
    let data = std::path::Path::new(&config.data.name).file_stem().unwrap_or_default().to_string_lossy();
    let NetworkSettings { arch, hidden, heads, layers } = config.network;
    let (split, seed) = (config.data.split, config.seed);
    let network = match config.model {
        ModelKind::Attention => format!("{arch}-{hidden}-{heads}-{layers}"),
        ModelKind::Gcn => format!("gcn-{hidden}-{layers}"),
        ModelKind::Cal => format!("cal-{hidden}-{heads}-{layers}"),
    };
    let car = config.car().map_or(String::new(), |car| {
        format!("-{}-{}", car.arm, config.regulariser.lambda.to_string().replace(',', "_"))
    });
    let name = format!("{data}-{network}{car}-split{split}-seed{seed}");
    let folder = PathBuf::from("runs").join(&name);
    // A second run with the same name is another run: give it a folder of its own.
    let numbered = (2..).map(|n| PathBuf::from("runs").join(format!("{name}-{n}")));
    std::iter::once(folder).chain(numbered).find(|folder| !folder.exists()).unwrap_or_default()
}

/// What the progress says of an epoch.
fn losses(epoch: &EpochMetrics, best: f64) -> String {
    let causal = if epoch.causal_loss > 0.0 { format!(", causal {:.4}", epoch.causal_loss) } else { String::new() };
    format!(
        "; train loss {:.4}{causal}, validation loss {:.4} (best {best:.4}), accuracy {:.3}",
        epoch.train_loss, epoch.val_loss, epoch.val_accuracy
    )
}

fn text(path: &str, config: &TrainConfig, summary: &Summary) -> String {
    let mut text = String::new();
    let car =
        config.car().map_or(String::new(), |car| format!(", {} with lambda {}", car.arm, config.regulariser.lambda));
    let stopped = if summary.interrupted { " (interrupted; --resume goes on)" } else { "" };
    let _ = writeln!(
        text,
        "{} on {}{car}: {} epochs in {:.1} s{stopped}, {} weights kept, of epoch {}",
        config.network_name(),
        config.data.name,
        summary.epochs,
        summary.train_seconds,
        config.stopping.protocol,
        match config.stopping.protocol {
            carat::Protocol::Best => summary.best_epoch,
            carat::Protocol::Paper => summary.epochs,
        }
    );
    let subsets = Subset::ALL.map(|subset| (subset.name(), summary.figures.of(subset)));
    text.push_str(&figures::table(summary.lead, &subsets));
    if let Some(evaluation) = summary.test.as_ref().or(summary.validation.as_ref()) {
        text.push_str(&figures::positive_class(evaluation));
    }
    if summary.figures.attention_kl.is_some() {
        let _ = writeln!(
            text,
            "attention: KL to label agreement {} (uniform attention: {}), ranks same-label edges first with \
             probability {}",
            figures::text(summary.figures.attention_kl),
            figures::text(summary.figures.uniform_kl),
            figures::text(summary.figures.attention_auc)
        );
    }
    if summary.figures.faithfulness.is_some() {
        let _ = writeln!(
            text,
            "attention and effects of edges: correlation {} for the true class, {} for the predicted one ('carat \
             trust' says more)",
            figures::text(summary.figures.faithfulness),
            figures::text(summary.figures.self_faithfulness)
        );
    }
    let _ = writeln!(text, "run folder: {path}");
    text
}
