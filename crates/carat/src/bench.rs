//! How long a training step takes: forward, loss, backward, Adam, on one batch.

use std::time::{Duration, Instant};

use carat_graph::{Dataset, Split};
use serde::Serialize;

use crate::batches::{Batches, Purpose};
use crate::learner::Learner;
use crate::{Error, TrainConfig, memory};

/// Medians over many steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepTime {
    /// Median milliseconds of a plain step.
    pub step_ms: f64,
    /// Peak resident memory of the process.
    pub peak_memory_mb: Option<f64>,
    /// Steps measured.
    pub steps: usize,
    /// Nodes in the step's receptive field.
    pub nodes: usize,
    /// Edges in the step's receptive field.
    pub edges: usize,
}

/// Times steps on the first batch of the first epoch for at least `least` steps and about `time`.
pub fn step(
    dataset: &Dataset,
    split: &Split,
    config: &TrainConfig,
    least: usize,
    time: Duration,
) -> Result<StepTime, Error> {
    config.check()?;
    let mut learner = Learner::new(dataset, config)?;
    let purpose = Purpose::Training { fanout: config.fanout.clone(), seed: config.seed };
    let mut batches = Batches::new(dataset, &split.train, config.batch_size, config.layers, purpose);
    let mut times: Vec<Duration> = Vec::new();
    let (mut nodes, mut edges) = (0, 0);
    batches.for_each(1, |batch| {
        nodes = batch.blocks.nodes().len();
        edges = batch.blocks.edge_ids().len();
        let start = Instant::now();
        // The first steps grow the buffers and wake the threads; they do not count.
        let warm_up = (least / 10).clamp(2, 20);
        for number in 0.. {
            let step = Instant::now();
            learner.step(batch, number + 1)?;
            if number >= warm_up {
                times.push(step.elapsed());
            }
            if times.len() >= least && start.elapsed() >= time {
                break;
            }
        }
        Ok::<bool, Error>(false)
    })?;
    times.sort_unstable();
    Ok(StepTime {
        step_ms: times[times.len() / 2].as_secs_f64() * 1e3,
        peak_memory_mb: memory::peak_memory_mb(),
        steps: times.len(),
        nodes,
        edges,
    })
}
