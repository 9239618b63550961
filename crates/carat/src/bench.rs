//! How long a training step takes: forward, loss, backward, Adam, on one batch; plain, and with the regulariser.

mod hand_over;
mod roofline;

use std::time::{Duration, Instant};

use carat_graph::{Dataset, Graph, Split};
use carat_nn::Network;
use serde::Serialize;

use crate::attention_learner::training_batches;
use crate::batches::Batch;
use crate::stepper::Stepper;
use crate::{EntityChoice, Error, Lambda, TrainConfig, memory};

pub use roofline::{Phase, Roofline, roofline};

/// Medians over many steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepTime {
    /// Median milliseconds of a plain step.
    pub step_ms: f64,
    /// Median milliseconds of a step with the regulariser, where lambda is above 0.
    pub car_step_ms: Option<f64>,
    /// The second over the first.
    pub ratio: Option<f64>,
    /// Peak resident memory of the process.
    pub peak_memory_mb: Option<f64>,
    /// Steps measured of each kind.
    pub steps: usize,
    /// Nodes in the plain step's receptive field.
    pub nodes: usize,
    /// Edges in the plain step's receptive field.
    pub edges: usize,
    /// Median nanoseconds in which a number written by one thread's core reached another core, between the steps;
    /// nothing with one thread.
    pub hand_over_ns: Option<f64>,
}

/// Times steps on the first batch of the first epoch for at least `least` steps and about `time`. Plain and regularised
/// steps alternate in stretches, so that a slow moment of the machine affects both.
pub fn step(
    dataset: &Dataset,
    split: &Split,
    config: &TrainConfig,
    least: usize,
    time: Duration,
) -> Result<StepTime, Error> {
    config.check()?;
    config.task_for(dataset)?;
    config.is_attention()?;
    let plain = config.clone().lambda(Lambda::new(0.0));
    let sizes = plain.network_for(dataset);
    let stepper = |config: &TrainConfig| {
        let network = Network::new(config.network_for(dataset), config.seed)?;
        Ok::<Stepper, Error>(Stepper::new(dataset, split, config, network, Vec::new()))
    };
    let mut steppers = vec![stepper(&plain)?];
    if config.car().is_some() {
        // After any warm-up from the first step on.
        steppers.push(stepper(&config.clone().warm_up(0))?);
    }
    let mut samples = Samples { times: vec![Vec::new(); steppers.len()], hand_overs: Vec::new() };
    let (mut nodes, mut edges) = (0, 0);
    training_batches(dataset, split, &plain, sizes).for_each(1, |plain| {
        nodes = plain.blocks.nodes().len();
        edges = plain.blocks.edge_ids().len();
        if config.car().is_none_or(|car| car.entities == EntityChoice::Train) {
            time_steps(dataset.graph(), &mut steppers, [plain, plain], least, time, &mut samples)?;
        } else {
            training_batches(dataset, split, config, sizes).for_each(1, |regularised| {
                time_steps(dataset.graph(), &mut steppers, [plain, regularised], least, time, &mut samples)?;
                Ok::<bool, Error>(false)
            })?;
        }
        Ok::<bool, Error>(false)
    })?;
    let Samples { mut times, mut hand_overs } = samples;
    let medians: Vec<f64> = times.iter_mut().map(|times| median_ms(times)).collect();
    hand_overs.sort_unstable_by(f64::total_cmp);
    Ok(StepTime {
        step_ms: medians[0],
        car_step_ms: medians.get(1).copied(),
        ratio: medians.get(1).map(|car| car / medians[0]),
        peak_memory_mb: memory::peak_memory_mb(),
        steps: times[0].len(),
        nodes,
        edges,
        hand_over_ns: hand_overs.get(hand_overs.len() / 2).copied(),
    })
}

/// The measurements of all steps.
struct Samples {
    /// The steps of each stepper.
    times: Vec<Vec<Duration>>,
    /// Measured between steps, now and then.
    hand_overs: Vec<f64>,
}

/// The length of a turn, in which only one stepper runs.
const STRETCH: Duration = Duration::from_millis(25);

/// Steps of each stepper on its batch of the graph, in turns, until there are enough.
///
/// A turn has several steps, and its first does not count: in a training run the caches hold data of the same network
/// from the step before, and not of another one.
fn time_steps(
    graph: &Graph,
    steppers: &mut [Stepper],
    batches: [&Batch; 2],
    least: usize,
    time: Duration,
    samples: &mut Samples,
) -> Result<(), Error> {
    let start = Instant::now();
    // The first steps grow the buffers and wake the threads; they do not count.
    let warm_up = (least / 10).clamp(2, 20);
    let in_turns = steppers.len() > 1;
    let mut taken = vec![0; steppers.len()];
    while samples.times.iter().any(|times| times.len() < least) || start.elapsed() < time {
        for (at, stepper) in steppers.iter_mut().enumerate() {
            let turn = Instant::now();
            let mut first = in_turns;
            while turn.elapsed() < STRETCH {
                let step = Instant::now();
                taken[at] += 1;
                stepper.step(graph, batches[at], taken[at])?;
                let took = step.elapsed();
                // A step that fills its turn by itself moves more than caches hold.
                if taken[at] > warm_up && (!first || took >= STRETCH) {
                    samples.times[at].push(took);
                }
                first = false;
            }
        }
        samples.hand_overs.extend(hand_over::hand_over_ns());
    }
    Ok(())
}

fn median_ms(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
