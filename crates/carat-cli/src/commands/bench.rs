//! `carat bench`: how fast a training step is here.

use std::time::Duration;

use carat::bench::StepTime;
use carat::{bench, with_threads};

use crate::arguments::{DataFolder, Format, Threads, TrainFlags};
use crate::failure::Failure;
use crate::output;

/// Measure the speed of training
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Step(Step),
}

/// Median time of a full training step: forward, loss, backward, Adam; plain, and with the regulariser
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat bench step --data cora                          a plain step
  carat bench step --data cora --lambda 1               a plain step beside one with the regulariser
  carat bench step --data cora --lambda 1 --rounds all  with every edge deleted once
  carat bench step --data cora --arch transformer --threads 1 --json

Takes the flags of 'carat train'. Times the first batch of the first epoch, again and again; with
--lambda above 0 plain and regularised steps take turns, so that a slow moment of the machine meets
both. --json prints step_ms, car_step_ms and ratio (null without --lambda), peak_memory_mb and the
sizes of the batch. benchmarks/ compares the figures with PyTorch Geometric's.")]
struct Step {
    #[command(flatten)]
    train: TrainFlags,
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(flatten)]
    threads: Threads,
    /// Fewest steps to time
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// Seconds to spend at least
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    #[command(flatten)]
    format: Format,
}

/// Runs the chosen benchmark.
pub fn run(args: Args) -> Result<(), Failure> {
    let Command::Step(args) = args.command;
    let config = args.train.config(None)?;
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|_| Failure::input(format!("--seconds {} is not a length of time", args.seconds)))?;
    let dataset = carat_graph::open(&config.data, &args.data_folder.path())?;
    let split = config.choose_split(&dataset)?;
    let measured: StepTime =
        with_threads(args.threads.threads, || bench::step(&dataset, &split, &config, args.steps.max(1), time))??;
    output::show(args.format.json, &measured, || {
        let memory = measured.peak_memory_mb.map_or("unknown".into(), |mb| format!("{mb:.0} MB"));
        let regularised = match (measured.car_step_ms, measured.ratio) {
            (Some(ms), Some(ratio)) => format!(", {ms:.3} ms with the regulariser ({ratio:.2} times)"),
            _ => String::new(),
        };
        format!(
            "{:.3} ms per plain step{regularised}, medians of {}; peak memory {memory}; {} nodes and {} edges in the receptive field\n",
            measured.step_ms,
            measured.steps,
            output::thousands(measured.nodes as u64),
            output::thousands(measured.edges as u64)
        )
    })
}
