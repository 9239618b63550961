//! Random draws that do not depend on the number of threads.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Rows that share one random stream. Fixed, so that the cut into chunks is the same on any machine.
const CHUNK: usize = 4096;

/// Rounds of redrawing values that were already taken. After these the range is nearly exhausted.
const ROUNDS: usize = 8;

/// What a family of random streams is for; no two families share a stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Orders, labels and whatever else is drawn in one sequence.
    Layout = 0,
    /// Edges.
    Edges = 1,
    /// Features.
    Features = 2,
}

/// The random stream of one chunk.
pub(super) fn stream(seed: u64, purpose: Purpose, chunk: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(((purpose as u64) << 48) | chunk as u64);
    rng
}

/// Ragged rows made in parallel: `fill` appends row r's values to the vector it is given. Returns offsets and values.
pub(super) fn ragged_rows(
    num_rows: usize,
    seed: u64,
    purpose: Purpose,
    fill: impl Fn(usize, &mut ChaCha8Rng, &mut Vec<u32>) + Sync,
) -> (Vec<usize>, Vec<u32>) {
    let chunks: Vec<(Vec<usize>, Vec<u32>)> = (0..num_rows.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut rng = stream(seed, purpose, chunk);
            let (mut ends, mut values) = (Vec::with_capacity(CHUNK), Vec::new());
            for row in chunk * CHUNK..((chunk + 1) * CHUNK).min(num_rows) {
                fill(row, &mut rng, &mut values);
                ends.push(values.len());
            }
            (ends, values)
        })
        .collect();
    let mut offsets = Vec::with_capacity(num_rows + 1);
    offsets.push(0);
    let mut all = Vec::with_capacity(chunks.iter().map(|(_, values)| values.len()).sum());
    for (ends, values) in chunks {
        offsets.extend(ends.iter().map(|end| all.len() + end));
        all.extend_from_slice(&values);
    }
    (offsets, all)
}

/// Equal slices made in parallel: `fill` gets the values of a chunk of rows of `width`.
pub(super) fn equal_rows(
    num_rows: usize,
    width: usize,
    seed: u64,
    purpose: Purpose,
    fill: impl Fn(&mut ChaCha8Rng, &mut [f32]) + Sync,
) -> Vec<f32> {
    let mut values = vec![0.0; num_rows * width];
    values
        .par_chunks_mut(CHUNK * width.max(1))
        .enumerate()
        .for_each(|(chunk, values)| fill(&mut stream(seed, purpose, chunk), values));
    values
}

/// Standard normal values.
pub(super) fn fill_normal(rng: &mut ChaCha8Rng, values: &mut [f32]) {
    for pair in values.chunks_mut(2) {
        // Box and Muller: two uniform numbers make two independent normal ones.
        let radius = (-2.0 * (1.0 - rng.random::<f32>()).ln()).sqrt();
        let (sine, cosine) = (std::f32::consts::TAU * rng.random::<f32>()).sin_cos();
        for (value, direction) in pair.iter_mut().zip([cosine, sine]) {
            *value = radius * direction;
        }
    }
}

/// Appends up to `count` distinct values other than `forbidden`, ascending. Values drawn twice are redrawn for a few
/// rounds; where the range holds too few, fewer are appended.
pub(super) fn append_distinct(values: &mut Vec<u32>, count: usize, forbidden: u32, mut draw: impl FnMut() -> u32) {
    let start = values.len();
    for _ in 0..ROUNDS {
        let missing = count - (values.len() - start);
        if missing == 0 {
            break;
        }
        values.extend((0..missing).map(|_| draw()).filter(|&v| v != forbidden));
        sort_and_merge(values, start);
    }
}

/// Sorts the values from `start` on and drops repeats among them.
pub(super) fn sort_and_merge(values: &mut Vec<u32>, start: usize) {
    values[start..].sort_unstable();
    let mut kept = start;
    for at in start..values.len() {
        if kept == start || values[kept - 1] != values[at] {
            values[kept] = values[at];
            kept += 1;
        }
    }
    values.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_on_any_number_of_threads() {
        let make = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                ragged_rows(3 * CHUNK + 17, 5, Purpose::Edges, |row, rng, values| {
                    values.extend((0..row % 4).map(|_| rng.random_range(0..100u32)));
                })
            })
        };
        let (offsets, values) = make(1);
        assert_eq!(offsets.len(), 3 * CHUNK + 18);
        assert_eq!(offsets[4] - offsets[3], 3);
        assert_eq!(offsets.last(), Some(&values.len()));
        assert_eq!((offsets.clone(), values.clone()), make(2));
        assert_eq!((offsets, values), make(3));
    }

    #[test]
    fn distinct_values_stop_where_the_range_ends() {
        let mut rng = stream(3, Purpose::Layout, 0);
        let mut values = vec![4, 4];
        append_distinct(&mut values, 100, 2, || rng.random_range(0..5u32));
        assert_eq!(values, [4, 4, 0, 1, 3, 4]);
        let mut some = Vec::new();
        append_distinct(&mut some, 10, 2, || rng.random_range(0..1000u32));
        assert_eq!(some.len(), 10);
        assert!(some.windows(2).all(|w| w[0] < w[1]) && !some.contains(&2));
    }
}
