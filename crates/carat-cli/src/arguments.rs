//! Flags that several commands share.

use std::path::{Path, PathBuf};

use carat::{Arm, EntityChoice, Exponent, Interventions, Lambda, Protocol, Rounds, Target, TrainConfig};
use carat_graph::DataError;
use carat_nn::AttentionKind;
use clap::Args;

use crate::failure::Failure;

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
    /// Dataset: a name from 'carat data list', or a path to a .npz file or a folder
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    /// TOML file with any of these settings by name
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Which of the data's splits, or which seeded one where it has none [default: 0]
    #[arg(long, value_name = "N")]
    split: Option<usize>,
    /// Make seeded stratified splits with these shares instead of the data's own [default without any: 0.6,0.2,0.2]
    #[arg(long, value_name = "TRAIN,VAL,TEST")]
    split_ratio: Option<String>,
    /// Attention kind: gat, gatv2 or transformer [default: gat]
    #[arg(long, value_name = "KIND")]
    arch: Option<AttentionKind>,
    /// F, the width of every layer [default: 100]
    #[arg(long, value_name = "F")]
    hidden: Option<usize>,
    /// K, attention heads per layer, averaged [default: 3]
    #[arg(long, value_name = "K")]
    heads: Option<usize>,
    /// L, attention layers [default: 2]
    #[arg(long, value_name = "L")]
    layers: Option<usize>,
    /// Strength of causal attention regularisation: 0 for none, one value, or one per layer like 0.5,1 [default: 0]
    #[arg(long, value_name = "LAMBDA")]
    lambda: Option<Lambda>,
    /// In-edges deleted per node and step: a number of draws, or all [default: 5]
    #[arg(long, value_name = "R|all")]
    rounds: Option<Rounds>,
    /// Where attention's targets come from: causal, vote, random, constant or none [default: causal]
    #[arg(long, value_name = "ARM")]
    regulariser: Option<Arm>,
    /// exact: every edge on its own; rounds: the paper's Algorithm 1 [default: exact]
    #[arg(long, value_name = "HOW")]
    interventions: Option<Interventions>,
    /// T in the causal effect sigmoid((rho^d - 1) / T) [default: 0.1]
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// The exponent of rho in the causal effect: degree or one [default: degree]
    #[arg(long, value_name = "WHICH")]
    exponent: Option<Exponent>,
    /// Losses below this count as this when effects are measured, against noise from memorised nodes [default: 0]
    #[arg(long, value_name = "LOSS")]
    loss_floor: Option<f64>,
    /// Nodes whose attention is regularised: train, or all (others by the network's own averaged predictions) [default: train]
    #[arg(long, value_name = "WHICH")]
    entities: Option<EntityChoice>,
    /// bce: each edge against its effect; distribution: a node's attention against all its effects [default: bce]
    #[arg(long, value_name = "KIND")]
    target: Option<Target>,
    /// Bound of d ln rho in a distribution's exponents [default: 2]
    #[arg(long, value_name = "BOUND")]
    clamp: Option<f64>,
    /// Epochs before the regulariser starts with --entities all [default: 8]
    #[arg(long, value_name = "EPOCHS")]
    warm_up: Option<usize>,
    /// Share that averaged predictions keep in each step with --entities all [default: 0.8]
    #[arg(long, value_name = "SHARE")]
    teacher: Option<f64>,
    /// Adam's learning rate [default: 0.01]
    #[arg(long, value_name = "RATE")]
    lr: Option<f64>,
    /// Training nodes per step [default: 10000]
    #[arg(long, value_name = "NODES")]
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
    /// Seeds initial weights, batches and fan-out [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl TrainFlags {
    /// The settings: flags over the `--config` file over `base` (a run that goes on) over the defaults; checked.
    pub fn config(&self, base: Option<&TrainConfig>) -> Result<TrainConfig, Failure> {
        let mut config = base.cloned().unwrap_or_default();
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|e| DataError::read(path, e))?;
            config = TrainConfig::from_toml(&text, path)?;
        }
        /// Replaces a setting where its flag is given.
        fn set<T: Clone>(setting: &mut T, flag: &Option<T>) {
            if let Some(value) = flag {
                setting.clone_from(value);
            }
        }
        set(&mut config.data, &self.data);
        set(&mut config.split, &self.split);
        set(&mut config.arch, &self.arch);
        set(&mut config.hidden, &self.hidden);
        set(&mut config.heads, &self.heads);
        set(&mut config.layers, &self.layers);
        set(&mut config.lambda, &self.lambda);
        set(&mut config.rounds, &self.rounds);
        set(&mut config.regulariser, &self.regulariser);
        set(&mut config.interventions, &self.interventions);
        set(&mut config.temperature, &self.temperature);
        set(&mut config.exponent, &self.exponent);
        set(&mut config.loss_floor, &self.loss_floor);
        set(&mut config.entities, &self.entities);
        set(&mut config.target, &self.target);
        set(&mut config.clamp, &self.clamp);
        set(&mut config.warm_up, &self.warm_up);
        set(&mut config.teacher, &self.teacher);
        set(&mut config.lr, &self.lr);
        set(&mut config.batch_size, &self.batch_size);
        set(&mut config.fanout, &self.fanout);
        set(&mut config.epochs, &self.epochs);
        set(&mut config.protocol, &self.protocol);
        set(&mut config.seed, &self.seed);
        config.split_ratio = self.split_ratio.clone().or(config.split_ratio);
        config.patience = self.patience.or(config.patience);
        if config.data.is_empty() {
            return Err(Failure::input(
                "--data is missing: a name from 'carat data list', or a path to a .npz file or a folder",
            ));
        }
        // A run must find its data again from any folder.
        let path = Path::new(&config.data);
        if path.exists()
            && let Ok(absolute) = std::path::absolute(path)
        {
            config.data = absolute.display().to_string();
        }
        config.check()?;
        Ok(config)
    }
}
