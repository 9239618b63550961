//! How long a training step takes: forward, loss, backward, Adam, on one batch.

use std::time::{Duration, Instant};

use carat_graph::{Dataset, Split};
use carat_nn::{Adam, AdamConfig, Network, Workspace};
use serde::Serialize;

use crate::batches::{Batches, Purpose};
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
    let sizes = config.network(dataset.features().num_columns(), dataset.labels().num_classes());
    let mut network = Network::<f32>::new(sizes, config.seed)?;
    let mut adam =
        Adam::new(AdamConfig { learning_rate: config.lr, ..AdamConfig::default() }, network.parameters().len());
    let purpose = Purpose::Training { fanout: config.fanout.clone(), seed: config.seed };
    let mut batches = Batches::new(dataset, &split.train, config.batch_size, config.layers, purpose);
    let mut work = Workspace::default();
    let mut gradient = vec![0.0; network.parameters().len()];
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
            network.forward(&batch.blocks, &batch.input, &mut work);
            let loss = network.loss_and_gradient(&batch.blocks, &batch.input, &batch.labels, &mut work, &mut gradient);
            if !loss.is_finite() {
                return Err(Error::Diverged { epoch: number + 1, loss });
            }
            adam.step(network.parameters_mut(), &gradient);
            if number >= warm_up {
                times.push(step.elapsed());
            }
            if times.len() >= least && start.elapsed() >= time {
                break;
            }
        }
        Ok(false)
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
