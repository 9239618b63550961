//! Run folders: `config.toml`, `encoding.toml`, `metrics.csv`, `model.safetensors`, `summary.json`, and while a run is
//! under way `checkpoint.safetensors`.
//!
//! A run that is killed at any moment leaves a folder from which [`run`] with `resume` ends with the same weights, bit
//! for bit, as an uninterrupted run.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carat_graph::files::{TEMPORARY_PREFIX, write_atomically};
use carat_graph::{DataError, Dataset, Encoding};
use carat_nn::Network;
use serde::{Deserialize, Serialize};

use crate::json::to_json;
use crate::metrics::{Evaluation, Lead, RunFigures};
use crate::model::{Model, ModelKind, training};
use crate::training::EpochMetrics;
use crate::{AnyTrainer, Error, Task, TrainConfig, checkpoint, memory, prepare};

/// The results of a run: `summary.json`. Test figures are missing where the split has no labelled test entity, node or
/// graph; those of attention where nodes have no labels; and in older files all that were not measured then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The figures of the weights that were kept. In the file each has its name: `test_loss`, `val_roc_auc`.
    #[serde(flatten)]
    pub figures: RunFigures,
    /// The figures to read first.
    #[serde(default)]
    pub lead: Lead,
    /// Epochs trained.
    pub epochs: usize,
    /// The epoch that is best on the validation entities.
    pub best_epoch: usize,
    /// Seconds of training, validation included.
    pub train_seconds: f64,
    /// Median milliseconds of a training step.
    pub step_ms: f64,
    /// Peak resident memory of the process.
    pub peak_memory_mb: Option<f64>,
    /// True when the run was stopped before its end; it can be resumed.
    pub interrupted: bool,
    /// Confusion matrix, classes and calibration over validation entities.
    #[serde(default)]
    pub validation: Option<Evaluation>,
    /// The same over test entities.
    #[serde(default)]
    pub test: Option<Evaluation>,
}

const ENCODING: &str = "encoding.toml";

/// A run folder's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// A folder, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The configuration of the run, if there is one.
    pub fn config(&self) -> Result<Option<TrainConfig>, Error> {
        let path = self.file("config.toml");
        match std::fs::read_to_string(&path) {
            // There is no run at a path below a file either. Making the folder will report the file.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(DataError::read(&path, e).into()),
            Ok(text) => {
                let config = TrainConfig::from_toml(&text, &path)?;
                config.check().map_err(|e| Error::Run { path, problem: e.to_string() })?;
                Ok(Some(config))
            }
        }
    }

    /// How the run's data becomes features and classes. Runs from before encodings were kept have none.
    pub fn encoding(&self) -> Result<Option<Encoding>, Error> {
        let path = self.file(ENCODING);
        match std::fs::read_to_string(&path) {
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(e) => Err(DataError::read(&path, e).into()),
            Ok(text) => Ok(Some(Encoding::from_toml(&text, &path)?)),
        }
    }

    /// Data as the run's network reads it, and what its user should know about it. A run without an encoding takes
    /// features as they are, by their position.
    pub fn prepare(&self, dataset: &Dataset) -> Result<(Dataset, Vec<String>), Error> {
        match self.encoding()? {
            None => Ok((dataset.clone(), Vec::new())),
            Some(encoding) => Ok(encoding.apply(dataset)?),
        }
    }

    /// The summary, if the run has one.
    pub fn summary(&self) -> Result<Option<Summary>, Error> {
        let path = self.file("summary.json");
        match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(DataError::read(&path, e).into()),
            Ok(text) => {
                let damaged = |e: serde_json::Error| Error::Run { path, problem: format!("not a run's summary: {e}") };
                Ok(Some(serde_json::from_str(&text).map_err(damaged)?))
            }
        }
    }

    /// Configuration and network of a run, where it is one with attention.
    pub fn open(&self) -> Result<(TrainConfig, Network<f32>), Error> {
        match self.open_model()? {
            (config, Model::Attention(network)) => Ok((config, *network)),
            (config, Model::WholeGraph(_)) => Err(Error::Run {
                path: self.path.clone(),
                problem: format!(
                    "the run's model is {}; 'carat predict' works with it, and for this choose a run of an attention \
                     network",
                    match config.model {
                        ModelKind::Cal => "cal, whose attention is of another kind".to_string(),
                        model => format!("a {model}, which has no attention"),
                    }
                ),
            }),
        }
    }

    /// Configuration and model of a run, to predict with. The configuration names the run's task, from which
    /// [`TrainConfig::task_for`] checks the data.
    pub fn open_model(&self) -> Result<(TrainConfig, Model), Error> {
        let mut config = self.config()?.ok_or_else(|| Error::Run {
            path: self.path.clone(),
            problem: "not a run folder: it has no config.toml; 'carat train --out DIR' makes one".into(),
        })?;
        config.data.task = config.data.task.or(Some(Task::Node));
        let path = self.file("model.safetensors");
        let bytes = std::fs::read(&path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => Error::Run {
                path: self.path.clone(),
                problem: "the run has no model yet; 'carat train --resume' finishes it".into(),
            },
            _ => DataError::read(&path, e).into(),
        })?;
        let model = Model::from_safetensors(config.model, &bytes).map_err(|source| Error::Weights { path, source })?;
        Ok((config, model))
    }

    /// Removes the temporary files of a process that was killed while it wrote.
    fn remove_leftovers(&self) -> Result<(), Error> {
        let entries = std::fs::read_dir(&self.path).map_err(|e| DataError::read(&self.path, e))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY_PREFIX)) {
                std::fs::remove_file(&path).map_err(|e| DataError::write(&path, e))?;
            }
        }
        Ok(())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.file(name);
        write_atomically(&path, |writer| writer.write_all(bytes).map_err(|e| DataError::write(&path, e).into()))
    }
}

/// How to run. Nothing of this changes the result.
pub struct RunOptions<'a> {
    /// Continue a run in the folder, finished or not; without it such a folder is refused.
    pub resume: bool,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Called often; once true, the run ends and saves its state.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Called after every epoch.
    pub on_epoch: &'a mut dyn FnMut(&EpochMetrics),
}

/// Trains `config` on `dataset` into `folder`.
pub fn run(
    dataset: &Dataset,
    config: &TrainConfig,
    folder: &RunFolder,
    options: RunOptions<'_>,
) -> Result<Summary, Error> {
    let config = &config.with_task_of(dataset)?;
    if config.prune.is_some() {
        let problem = "prune is a setting of sweeps; 'carat rewire --apply' writes a pruned graph to train on";
        return Err(Error::Config(problem.into()));
    }
    let split = config.choose_split(dataset)?;
    let started = folder.config()?;
    let (prepared, encoding) = match (&started, folder.encoding()?) {
        (Some(_), Some(encoding)) => (Cow::Owned(encoding.apply(dataset)?.0), None),
        // A run that began before encodings were kept.
        (Some(_), None) => (Cow::Borrowed(dataset), None),
        (None, _) => prepare(dataset, &split, config).map(|(data, encoding)| (data, Some(encoding)))?,
    };
    let dataset = &prepared;
    let mut training = training(dataset, &split, config)?;
    let checkpoint_path = folder.file("checkpoint.safetensors");
    match started {
        Some(_) if !options.resume => {
            return Err(Error::Run {
                path: folder.path.clone(),
                problem: "already holds a run; --resume goes on with it, or choose another --out".into(),
            });
        }
        Some(before) if before != *config => {
            return Err(Error::Run {
                path: folder.file("config.toml"),
                problem: "the run was started with other settings; --resume cannot change them".into(),
            });
        }
        Some(_) => {
            if let Some(summary) = folder.summary()?.filter(|summary| !summary.interrupted) {
                return Ok(summary);
            }
            if checkpoint_path.exists() {
                let (saved, progress) = checkpoint::load(&checkpoint_path)?;
                if saved != *config || !training.restore(progress) {
                    return Err(Error::Run {
                        path: checkpoint_path,
                        problem: "the checkpoint is another run's; delete it to start this run anew".into(),
                    });
                }
            }
        }
        None => {
            std::fs::create_dir_all(&folder.path).map_err(|e| DataError::write(&folder.path, e))?;
            // Written first: a folder with a configuration is a run, and its encoding must be there.
            if let Some(encoding) = encoding {
                folder.write(ENCODING, encoding.to_toml()?.as_bytes())?;
            }
            let text = toml::to_string(config).map_err(|e| Error::Config(e.to_string()))?;
            folder.write("config.toml", text.as_bytes())?;
        }
    }

    folder.remove_leftovers()?;
    let mut metrics = MetricsFile::open(&folder.file("metrics.csv"), training.stopping().epochs())?;
    let mut saved = Instant::now();
    loop {
        if (options.interrupted)() {
            break;
        }
        let Some(epoch) = training.epoch(options.interrupted)? else { break };
        metrics.append(&epoch)?;
        (options.on_epoch)(&epoch);
        if saved.elapsed() >= options.checkpoint_every {
            save(&mut *training, config, &checkpoint_path, &mut metrics)?;
            saved = Instant::now();
        }
    }
    let interrupted = (options.interrupted)() && !training.stopping().is_over();
    if interrupted {
        save(&mut *training, config, &checkpoint_path, &mut metrics)?;
    }
    metrics.flush()?;
    let lead = Lead::of(dataset.labels(), &split.train);
    let names = dataset.class_names();
    let summary = finish(config, folder, &mut *training, interrupted, (lead, names))?;
    if !interrupted && checkpoint_path.exists() {
        std::fs::remove_file(&checkpoint_path).map_err(|e| DataError::write(&checkpoint_path, e))?;
    }
    Ok(summary)
}

/// Writes the metrics first, so that a checkpoint has no epoch that the metrics lack.
fn save(
    training: &mut AnyTrainer<'_>,
    config: &TrainConfig,
    path: &Path,
    metrics: &mut MetricsFile,
) -> Result<(), Error> {
    metrics.flush()?;
    match training.progress() {
        Some(progress) => checkpoint::save(path, config, &progress),
        None => Ok(()),
    }
}

fn finish(
    config: &TrainConfig,
    folder: &RunFolder,
    training: &mut AnyTrainer<'_>,
    interrupted: bool,
    (lead, class_names): (Lead, Option<&[String]>),
) -> Result<Summary, Error> {
    training.keep();
    let bytes = training
        .to_safetensors()
        .map_err(|source| Error::Weights { path: folder.file("model.safetensors"), source })?;
    folder.write("model.safetensors", &bytes)?;
    let results = training.results(config.stopping.protocol)?;
    let named = |evaluation: Evaluation| evaluation.with_names(class_names);
    let summary = Summary {
        figures: results.figures,
        lead,
        epochs: training.stopping().epochs(),
        best_epoch: training.stopping().best().epoch,
        train_seconds: training.stopping().seconds(),
        step_ms: training.step_ms(),
        peak_memory_mb: memory::peak_memory_mb(),
        interrupted,
        validation: Some(named(results.validation)),
        test: results.test.map(named),
    };
    let text = to_json(&summary).map_err(|e| Error::Config(e.to_string()))?;
    folder.write("summary.json", &text)?;
    Ok(summary)
}

/// `metrics.csv`, written row by row.
struct MetricsFile {
    path: PathBuf,
    writer: std::io::BufWriter<File>,
}

const METRICS_HEADER: &str = "epoch,train_loss,causal_loss,val_loss,val_accuracy,seconds";

impl MetricsFile {
    /// Opens the file and keeps the rows of the first `epochs` epochs. Later ones, from before a kill, are dropped.
    fn open(path: &Path, epochs: usize) -> Result<Self, Error> {
        let mut kept = Vec::new();
        if epochs > 0 {
            let file = File::open(path).map_err(|e| DataError::read(path, e))?;
            for line in BufReader::new(file).lines().skip(1).take(epochs) {
                kept.push(line.map_err(|e| DataError::read(path, e))?);
            }
            if kept.len() < epochs {
                return Err(Error::Run {
                    path: path.to_path_buf(),
                    problem: format!("has {} epochs where the checkpoint has {epochs}", kept.len()),
                });
            }
        }
        write_atomically(path, |writer| {
            let rows = std::iter::once(METRICS_HEADER).chain(kept.iter().map(String::as_str));
            rows.into_iter()
                .try_for_each(|row| writeln!(writer, "{row}"))
                .map_err(|e| Error::Data(DataError::write(path, e)))
        })?;
        let file = File::options().append(true).open(path).map_err(|e| DataError::write(path, e))?;
        Ok(Self { path: path.to_path_buf(), writer: std::io::BufWriter::new(file) })
    }

    fn append(&mut self, m: &EpochMetrics) -> Result<(), Error> {
        let EpochMetrics { epoch, train_loss, causal_loss, val_loss, val_accuracy, seconds } = m;
        writeln!(self.writer, "{epoch},{train_loss},{causal_loss},{val_loss},{val_accuracy},{seconds}")
            .map_err(|e| DataError::write(&self.path, e).into())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(|e| DataError::write(&self.path, e).into())
    }
}
