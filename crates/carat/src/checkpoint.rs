//! Checkpoints: the state of a run in one file, which is written completely or not at all.
//!
//! Training is deterministic, so a checkpoint need not be written every epoch: a run that resumes from an older one
//! ends with the same bits, only later.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use carat_graph::DataError;
use carat_graph::files::write_atomically;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::evaluation::Score;
use crate::settings::{PatienceFrom, Select};
use crate::stopping::Best;
use crate::training::Progress;
use crate::{Error, TrainConfig};

/// The scalars of a checkpoint, kept in the file's metadata. Floats are kept as bits: they must come back exactly.
#[derive(Serialize, Deserialize)]
struct Scalars {
    config: TrainConfig,
    epoch: usize,
    adam_steps: u64,
    best_epoch: usize,
    best: [u64; 2],
    /// Missing where the best epoch is that of the lowest loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best_figure: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    has_learned: Option<bool>,
    last: [u64; 2],
    seconds: u64,
}

const METADATA_KEY: &str = "carat-checkpoint";
/// The last one has the regulariser's state. Once it was that of a teacher, and files keep its name.
const TENSORS: [&str; 5] = ["parameters", "adam_first", "adam_second", "best_parameters", "teacher"];

/// More steps than any machine can take, and far from overflow when counting continues.
const MOST_STEPS: u64 = 1 << 53;

fn to_bits(score: Score) -> [u64; 2] {
    [score.loss.to_bits(), score.accuracy.to_bits()]
}

fn from_bits(bits: [u64; 2]) -> Score {
    Score { loss: f64::from_bits(bits[0]), accuracy: f64::from_bits(bits[1]) }
}

/// Writes a checkpoint.
pub fn save(path: &Path, config: &TrainConfig, progress: &Progress) -> Result<(), Error> {
    let failed = |problem: String| Error::Data(DataError::write(path, std::io::Error::other(problem)));
    let scalars = Scalars {
        config: config.clone(),
        epoch: progress.epoch,
        adam_steps: progress.adam_steps,
        best_epoch: progress.best.epoch,
        best: to_bits(progress.best.score),
        best_figure: (config.stopping.select != Select::Loss).then_some(progress.best.figure.to_bits()),
        has_learned: (config.stopping.patience_from != PatienceFrom::Start).then_some(progress.has_learned),
        last: to_bits(progress.last),
        seconds: progress.seconds.to_bits(),
    };
    let Progress { parameters, adam_first, adam_second, best, regulariser, .. } = progress;
    let values = [parameters, adam_first, adam_second, &best.parameters, regulariser];
    let bytes: Vec<Vec<u8>> = values.iter().map(|v| v.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
    let views = TENSORS
        .iter()
        .zip(&bytes)
        .map(|(name, bytes)| Ok((*name, TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .map_err(|e| failed(e.to_string()))?;
    let scalars = serde_json::to_string(&scalars).map_err(|e| failed(e.to_string()))?;
    let metadata = HashMap::from([(METADATA_KEY.to_string(), scalars)]);
    let file = safetensors::serialize(views, Some(metadata)).map_err(|e| failed(e.to_string()))?;
    write_atomically(path, |writer| writer.write_all(&file).map_err(|e| Error::Data(DataError::write(path, e))))
}

/// Reads a checkpoint and the configuration it belongs to.
pub fn load(path: &Path) -> Result<(TrainConfig, Progress), Error> {
    let bytes = std::fs::read(path).map_err(|e| DataError::read(path, e))?;
    let damaged = |problem: String| Error::Run {
        path: path.to_path_buf(),
        problem: format!("not a readable checkpoint ({problem}); delete it to start the run anew"),
    };
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| damaged(e.to_string()))?;
    let scalars = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    let scalars = scalars.ok_or_else(|| damaged("it has no state".into()))?;
    let scalars: Scalars = serde_json::from_str(scalars).map_err(|e| damaged(e.to_string()))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|e| damaged(e.to_string()))?;
    let mut values = Vec::new();
    for name in TENSORS {
        let tensor = file.tensor(name).map_err(|e| damaged(e.to_string()))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(damaged(format!("'{name}' is not of 32-bit floats")));
        }
        values.push(tensor.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect::<Vec<f32>>());
    }
    let mut values = values.into_iter();
    let mut next = || values.next().unwrap_or_default();
    let (parameters, adam_first, adam_second, best_parameters) = (next(), next(), next(), next());
    let regulariser = next();
    let score = from_bits(scalars.best);
    let progress = Progress {
        epoch: scalars.epoch,
        parameters,
        adam_first,
        adam_second,
        adam_steps: scalars.adam_steps,
        best: Best {
            epoch: scalars.best_epoch,
            score,
            figure: scalars.best_figure.map_or(-score.loss, f64::from_bits),
            parameters: best_parameters,
        },
        has_learned: scalars.has_learned.unwrap_or(false),
        last: from_bits(scalars.last),
        seconds: f64::from_bits(scalars.seconds),
        regulariser,
    };
    if progress.best.epoch > progress.epoch {
        return Err(damaged("its best epoch lies ahead of its last".into()));
    }
    if progress.adam_steps > MOST_STEPS {
        return Err(damaged("it has more steps than any run could take".into()));
    }
    Ok((scalars.config, progress))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written before settings were a tree (commit 8046d23).
    #[test]
    fn the_scalars_of_a_checkpoint_from_before_are_read_and_written_byte_for_byte() {
        let text = include_str!("../tests/fixtures/settings/checkpoint.json").trim_end();
        let scalars: Scalars = serde_json::from_str(text).unwrap();
        assert_eq!((scalars.epoch, scalars.config.regulariser.lambda.values()), (410, &[0.5, 1.0][..]));
        assert_eq!(serde_json::to_string(&scalars).unwrap(), text);
    }
}
