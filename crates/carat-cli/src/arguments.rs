//! Flags that several commands share.

mod car;

use std::path::{Path, PathBuf};

use carat::{ModelKind, Protocol, Task, TrainConfig};
use carat_graph::DataError;
use carat_nn::{AttentionKind, GcnNorm};
use clap::Args;

use crate::failure::Failure;
use car::CarFlags;

/// Where catalogue datasets are kept.
#[derive(Debug, Args)]
pub struct DataFolder {
    /// Folder of the public datasets [default: the variable CARAT_DATA, else the platform's cache folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataFolder {
    /// The folder to use.
    pub fn path(&self) -> PathBuf {
        carat_graph::data_dir(self.data_dir.as_deref())
    }
}

/// How results are printed.
#[derive(Debug, Args)]
pub struct Format {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// How many threads to compute with.
#[derive(Debug, Args)]
pub struct Threads {
    /// Threads to compute with; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number from 1 to 1024 is needed".into()),
    }
}

/// The settings of a training run as flags. A flag that is given wins over the `--config` file.
#[derive(Debug, Args)]
pub struct TrainFlags {
    /// Dataset: a name from 'carat data list', or a path to a .npz or .carat file or a folder
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    /// What to classify: node (the nodes of a graph) or graph (the graphs of a set) [default: what the data has labels
    /// of]
    #[arg(long, value_name = "WHAT")]
    task: Option<Task>,
    /// TOML file with any of these settings by name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which of the data's splits, or which seeded one where it has none [default: 0]
    #[arg(long, value_name = "N")]
    split: Option<usize>,
    /// Make seeded stratified splits with these shares instead of the data's own [default without any: 0.6,0.2,0.2]
    #[arg(long, value_name = "TRAIN,VAL,TEST")]
    split_ratio: Option<String>,
    /// Cross-validation: --split K tests fold K, stops by the next and trains on the others; folds are stratified and
    /// dealt out by --seed
    #[arg(long, value_name = "N")]
    folds: Option<usize>,
    /// What is trained: attention, gcn (graph convolutions, without attention) or cal (CAL's CausalGAT) [default:
    /// attention]
    #[arg(long, value_name = "MODEL")]
    model: Option<ModelKind>,
    /// What an in-edge weighs with --model gcn: symmetric (1 / sqrt(d_i d_j), with self-loops) or none (1, a plain sum)
    /// [default: symmetric]
    #[arg(long, value_name = "NORM")]
    gcn_norm: Option<GcnNorm>,
    /// With --model cal: strength of the loss that keeps the context from telling the class [default: 0.5]
    #[arg(long, value_name = "STRENGTH", allow_negative_numbers = true)]
    lambda1: Option<f64>,
    /// With --model cal: strength of the loss of the object in another node's context [default: 0.5]
    #[arg(long, value_name = "STRENGTH", allow_negative_numbers = true)]
    lambda2: Option<f64>,
    /// Attention kind: gat, gatv2 or transformer [default: gat]
    #[arg(long, value_name = "KIND")]
    arch: Option<AttentionKind>,
    /// F, the width of every layer [default: 100, with --model cal 128]
    #[arg(long, value_name = "F")]
    hidden: Option<usize>,
    /// K, attention heads per layer, averaged; with --model cal concatenated [default: 3, with --model cal 4]
    #[arg(long, value_name = "K")]
    heads: Option<usize>,
    /// L, attention layers [default: 2]
    #[arg(long, value_name = "L")]
    layers: Option<usize>,
    /// Adam's learning rate [default: 0.01]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    lr: Option<f64>,
    /// Training nodes, or graphs, per step [default: 10000]
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,
    /// Draw at most this many in-edges per node, one number per layer from the targets outwards [default: all]
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    fanout: Option<Vec<usize>>,
    /// Most epochs to train [default: 400]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// best: keep the weights with the lowest validation loss; paper: keep the last ones [default: best]
    #[arg(long, value_name = "RULE")]
    protocol: Option<Protocol>,
    /// Epochs without a new lowest validation loss before stopping [default: 20 with best, 10 with paper]
    #[arg(long, value_name = "EPOCHS")]
    patience: Option<usize>,
    /// Seeds initial weights, batches, fan-out and the regulariser's draws [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten, next_help_heading = "Causal attention regularisation (CAR)")]
    car: CarFlags,
}

/// Replaces a setting where its flag is given.
fn set<T: Clone>(setting: &mut T, flag: &Option<T>) {
    if let Some(value) = flag {
        setting.clone_from(value);
    }
}

/// A dataset by its whole path if it is one: runs and stores must find it again from any folder.
pub fn absolute_if_there(data: &str) -> String {
    let path = Path::new(data);
    match std::path::absolute(path) {
        Ok(absolute) if path.exists() => absolute.display().to_string(),
        _ => data.to_string(),
    }
}

impl TrainFlags {
    /// The settings: flags over the `--config` file over `base` (a run that goes on) over the defaults; checked.
    pub fn config(&self, base: Option<&TrainConfig>) -> Result<TrainConfig, Failure> {
        let mut config = base.cloned().unwrap_or_else(|| TrainConfig::default_of(self.model.unwrap_or_default()));
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|e| DataError::read(path, e))?;
            config = TrainConfig::from_toml(&text, path)?;
        }
        set(&mut config.data, &self.data);
        set(&mut config.split, &self.split);
        set(&mut config.model, &self.model);
        set(&mut config.gcn_norm, &self.gcn_norm);
        set(&mut config.arch, &self.arch);
        set(&mut config.hidden, &self.hidden);
        set(&mut config.heads, &self.heads);
        set(&mut config.layers, &self.layers);
        set(&mut config.lr, &self.lr);
        set(&mut config.batch_size, &self.batch_size);
        set(&mut config.fanout, &self.fanout);
        set(&mut config.epochs, &self.epochs);
        set(&mut config.protocol, &self.protocol);
        set(&mut config.seed, &self.seed);
        self.car.set(&mut config);
        config.task = self.task.or(config.task);
        config.split_ratio = self.split_ratio.clone().or(config.split_ratio);
        config.folds = self.folds.or(config.folds);
        config.patience = self.patience.or(config.patience);
        config.lambda1 = self.lambda1.or(config.lambda1);
        config.lambda2 = self.lambda2.or(config.lambda2);
        if config.data.is_empty() {
            return Err(Failure::input(
                "--data is missing: a name from 'carat data list', or a path to a .npz or .carat file or a folder",
            ));
        }
        config.data = absolute_if_there(&config.data);
        config.check()?;
        Ok(config)
    }
}
