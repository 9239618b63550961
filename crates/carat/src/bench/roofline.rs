//! How far a training step is from the best that this machine could do.
//!
//! ```text
//! bound of a phase = max(operations / GEMM rate, bytes / bandwidth)        bound of the step = sum of its phases'
//! distance         = measured step / bound
//! ```
//!
//! Rate and bandwidth are measured with the threads of the step: the rate by products of matrices that fit into the
//! cache, the bandwidth by passes over buffers of the size that the step works on, because data that fits into a cache
//! moves many times faster than other data.

use std::time::{Duration, Instant};

use carat_graph::{Dataset, Split};
use carat_nn::toolkit::{Matrix, MatrixMut, multiply};
use carat_nn::{Cost, Network};
use rayon::prelude::*;
use serde::Serialize;

use crate::attention_learner::training_batches;
use crate::settings::BlockSettings;
use crate::{Error, Lambda, TrainConfig};

/// A phase of the step: its work, and how long that takes at best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Encoder, a layer, classifier or Adam.
    pub name: String,
    /// Operations and bytes.
    #[serde(flatten)]
    pub cost: Cost,
    /// Milliseconds of the operations at the GEMM rate.
    pub compute_ms: f64,
    /// Milliseconds of the bytes at the bandwidth.
    pub memory_ms: f64,
}

impl Phase {
    /// The larger of the two.
    pub fn bound_ms(&self) -> f64 {
        self.compute_ms.max(self.memory_ms)
    }
}

/// A step, its bound, and the parts of the bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    /// Measured: billions of operations a second.
    pub gemm_gflops: f64,
    /// Measured: 10^9 bytes a second.
    pub bandwidth_gb_s: f64,
    /// The phases.
    pub phases: Vec<Phase>,
    /// Milliseconds of all phases at best.
    pub bound_ms: f64,
    /// Median milliseconds of a step.
    pub step_ms: f64,
    /// The second over the first.
    pub distance: f64,
}

/// Times a plain step as [`super::step`] does and compares it with its bound.
pub fn roofline(
    dataset: &Dataset,
    split: &Split,
    config: &TrainConfig,
    least: usize,
    time: Duration,
) -> Result<Roofline, Error> {
    if config.block != BlockSettings::default() || config.data.edge_features {
        return Err(Error::Config("a roofline counts the paper's networks only; give --preset paper".into()));
    }
    let plain = config.clone().lambda(Lambda::new(0.0));
    let step_ms = super::step(dataset, split, &plain, least, time)?.step_ms;
    let sizes = config.network_for(dataset);
    let network = Network::<f32>::new(sizes, config.seed)?;
    let mut costs = Vec::new();
    training_batches(dataset, split, &plain, sizes).for_each(1, |batch| {
        // All kinds that a configuration can name state their cost.
        costs = network.step_costs(&batch.blocks, &batch.input).unwrap_or_default();
        Ok::<bool, Error>(false)
    })?;
    let bytes: f64 = costs.iter().map(|(_, cost)| cost.bytes).sum();
    let (gemm_gflops, bandwidth_gb_s) = (gemm_rate() / 1e9, bandwidth(bytes / PASSES) / 1e9);
    let phases: Vec<Phase> = costs
        .into_iter()
        .map(|(name, cost)| {
            let (compute_ms, memory_ms) = (cost.operations / gemm_gflops / 1e6, cost.bytes / bandwidth_gb_s / 1e6);
            Phase { name, cost, compute_ms, memory_ms }
        })
        .collect();
    let bound_ms = phases.iter().map(Phase::bound_ms).sum();
    Ok(Roofline { gemm_gflops, bandwidth_gb_s, phases, bound_ms, step_ms, distance: step_ms / bound_ms })
}

/// About how often a step passes over the same array: everything it moves is so many times its data.
const PASSES: f64 = 4.0;

/// How long each of the two measurements takes.
const PATIENCE: Duration = Duration::from_millis(400);

/// Operations a second of a product of matrices that fit the cache: the best tenth of many.
fn gemm_rate() -> f64 {
    const SIDE: usize = 480;
    let a: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % 7) as f32 - 3.0).collect();
    let mut out = vec![0.0; SIDE * SIDE];
    let operations = 2.0 * (SIDE * SIDE * SIDE) as f64;
    best_rate(operations, || {
        let (rows, columns) = (Matrix::new(&a, SIDE, SIDE), Matrix::new(&a, SIDE, SIDE));
        multiply(MatrixMut::new(&mut out, SIDE, SIDE), rows, columns, 0.5);
    })
}

/// Bytes a second, read and written, of copying on all threads, over two buffers that have so many bytes together: the
/// best tenth of many.
fn bandwidth(bytes: f64) -> f64 {
    let len = (bytes / 8.0).clamp(4096.0, 1e8) as usize;
    let x = vec![1.0f32; len];
    let mut y = vec![0.0f32; len];
    let share = len.div_ceil(rayon::current_num_threads());
    // Small buffers are passed over several times, so that waking the threads does not count.
    let times = (1usize << 22).div_ceil(len);
    best_rate(8.0 * (len * times) as f64, || {
        y.par_chunks_mut(share).zip(x.par_chunks(share)).for_each(|(y, x)| {
            for _ in 0..times {
                y.copy_from_slice(x);
                std::hint::black_box(&mut *y);
            }
        });
    })
}

fn best_rate(work: f64, mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < PATIENCE || times.len() < 10 {
        let before = Instant::now();
        run();
        times.push(before.elapsed());
    }
    times.sort_unstable();
    work / times[times.len() / 10].as_secs_f64()
}
