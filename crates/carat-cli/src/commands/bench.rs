//! `carat bench`: the speed of a training step on this machine.

use std::time::Duration;

use carat::bench::{Roofline, StepTime};
use carat::{TrainConfig, bench, with_threads};
use carat_graph::{Dataset, Split};

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
    Roofline(RooflineArgs),
}

/// Measure the median time of a training step (forward, loss, backward, Adam), plain and with the regulariser
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat bench step --data cora                          a plain step
  carat bench step --data cora --lambda 1               and a step with the regulariser
  carat bench step --data cora --lambda 1 --rounds all  with every edge deleted once
  carat bench step --data cora --arch transformer --threads 1 --json

Takes the flags of 'carat train'. Times the first batch of the first epoch repeatedly. With --lambda above 0, series \
of plain and of regularised steps alternate, so that a slow moment of the machine affects both. --json prints step_ms, \
car_step_ms and ratio (null without --lambda), peak_memory_mb, the sizes of the batch and hand_over_ns, the time that \
a number takes from one core to another: above 100 the cores share no cache, and short steps take up to twice as long. \
benchmarks/ compares the figures with PyTorch Geometric's.")]
struct Step {
    #[command(flatten)]
    timed: Timed,
}

/// Compare a plain training step with the fastest that this machine allows
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat bench roofline --data cora --preset paper
  carat bench roofline --data cora --preset paper --arch gatv2 --hidden 200 --heads 5 --json

Counts the operations and bytes that each phase of a step of the paper's network needs at least, and divides them by \
this machine's rate of matrix products and its memory bandwidth, both measured with the same threads. The larger of \
the two times bounds a phase. The step's distance is its measured time over the sum of the bounds; only noise can make \
it less than 1.")]
struct RooflineArgs {
    #[command(flatten)]
    timed: Timed,
}

/// What to time, and for how long.
#[derive(Debug, clap::Args)]
struct Timed {
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

impl Timed {
    /// Opens the data and measures with the threads asked for.
    fn measure<R: Send>(
        &self,
        work: impl FnOnce(&Dataset, &Split, &TrainConfig, usize, Duration) -> Result<R, carat::Error> + Send,
    ) -> Result<R, Failure> {
        let config = self.train.config(None)?;
        let time = Duration::try_from_secs_f64(self.seconds)
            .map_err(|_| Failure::input(format!("--seconds {} is not a length of time", self.seconds)))?;
        let dataset = config.open(None, &self.data_folder.path())?;
        let split = config.choose_split(&dataset)?;
        let (dataset, _) = carat::prepare(&dataset, &split, &config)?;
        Ok(with_threads(self.threads.threads, || work(&dataset, &split, &config, self.steps.max(1), time))??)
    }
}

/// Runs the chosen benchmark.
pub fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::Step(args) => step(&args.timed),
        Command::Roofline(args) => roofline(&args.timed),
    }
}

fn step(args: &Timed) -> Result<(), Failure> {
    let measured: StepTime = args.measure(bench::step)?;
    output::show(args.format.json, &measured, || {
        let memory = measured.peak_memory_mb.map_or("unknown".into(), |mb| format!("{mb:.0} MB"));
        let regularised = match (measured.car_step_ms, measured.ratio) {
            (Some(ms), Some(ratio)) => format!(", {ms:.3} ms with the regulariser ({ratio:.2} times)"),
            _ => String::new(),
        };
        format!(
            "{:.3} ms per plain step{regularised}, medians of {}; peak memory {memory}; {} nodes and {} edges in the \
             receptive field\n{}",
            measured.step_ms,
            measured.steps,
            output::thousands(measured.nodes as u64),
            output::thousands(measured.edges as u64),
            measured.hand_over_ns.map_or(String::new(), cores)
        )
    })
}

/// Above this, two cores share no cache.
const FAR_APART_NS: f64 = 100.0;

/// What the time that a number takes between two cores means for the measurement.
fn cores(hand_over_ns: f64) -> String {
    let found = format!("a number gets from one core to another in {hand_over_ns:.0} ns");
    if hand_over_ns < FAR_APART_NS {
        return format!("{found}\n");
    }
    format!("{found}: they share no cache at the moment, and short steps take up to twice as long as where they do\n")
}

fn roofline(args: &Timed) -> Result<(), Failure> {
    let found: Roofline = args.measure(bench::roofline)?;
    output::show(args.format.json, &found, || {
        let rows: Vec<Vec<String>> = found
            .phases
            .iter()
            .map(|phase| {
                vec![
                    phase.name.clone(),
                    format!("{:.2}", phase.cost.operations / 1e6),
                    format!("{:.2}", phase.cost.bytes / 1e6),
                    format!("{:.3}", phase.compute_ms),
                    format!("{:.3}", phase.memory_ms),
                    format!("{:.3}", phase.bound_ms()),
                ]
            })
            .collect();
        let headings = ["phase", ">million operations", ">MB", ">compute ms", ">memory ms", ">bound ms"];
        format!(
            "{}\n{:.0} billion operations a second in matrix products, {:.1} GB a second, measured here\n\
             {:.3} ms at best, {:.3} ms measured: {:.2} times the bound\n",
            output::table(&headings, &rows),
            found.gemm_gflops,
            found.bandwidth_gb_s,
            found.bound_ms,
            found.step_ms,
            found.distance
        )
    })
}
