//! What is explored: one graph, and one or two runs trained on it.

use std::path::{Path, PathBuf};

use carat::{Error, RunFolder, TrainConfig};
use carat_graph::Dataset;
use carat_nn::Network;

use crate::display::shown;

/// A graph and trained runs on it.
#[derive(Debug)]
pub struct Inputs {
    /// The graph.
    pub dataset: Dataset,
    /// One run, or two to compare.
    pub runs: Vec<Run>,
}

/// A trained run.
#[derive(Debug)]
pub struct Run {
    /// The name of its folder.
    pub name: String,
    /// What it was trained with.
    pub config: TrainConfig,
    /// Its network.
    pub network: Network<f32>,
}

impl Run {
    fn open(folder: &Path) -> Result<Self, Error> {
        let (config, network) = RunFolder::new(folder).open()?;
        let last = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let name = last.file_name().map_or_else(|| "run".into(), |name| shown(&name.to_string_lossy()));
        Ok(Self { name, config, network })
    }

    /// Whether and how it is regularised, in a few words.
    pub fn treatment(&self) -> String {
        match self.config.car() {
            None => "baseline".into(),
            Some(_) if self.config.regulariser.arm == carat::Arm::Causal => {
                format!("CAR, lambda {}", self.config.regulariser.lambda)
            }
            Some(car) if car.arm == carat::Arm::EdgePrediction => {
                format!("{}, lambda {}", car.arm, self.config.regulariser.lambda)
            }
            Some(car) => format!("{} control, lambda {}", car.arm, self.config.regulariser.lambda),
        }
    }
}

impl Inputs {
    /// Opens the runs in these folders, with the graph that they were trained on or the one that `data` names. Runs on
    /// different data are refused.
    pub fn open(folders: &[PathBuf], data: Option<&str>, data_dir: &Path) -> Result<Self, Error> {
        let runs = folders.iter().map(|folder| Run::open(folder)).collect::<Result<Vec<_>, Error>>()?;
        let Some(first) = runs.first() else { return Err(Error::Config("there is no run to explore".into())) };
        let other = |run: &&Run| data.is_none() && run.config.data.name != first.config.data.name;
        if let Some(other) = runs.iter().find(other) {
            return Err(Error::Config(format!(
                "{} was trained on {} and {} on {}; runs are compared on the same data: give others, or name it with \
                 --data",
                first.name, first.config.data.name, other.name, other.config.data.name
            )));
        }
        if let Some(other) = runs.iter().find(|run| !run.config.has_edges_of(&first.config)) {
            return Err(Error::Config(format!(
                "{} and {} read different edges: undirected, self-loops and edge-features must be the same in all runs \
                 to compare them",
                first.name, other.name
            )));
        }
        let opened = first.config.open(data, data_dir)?;
        let (dataset, _) = RunFolder::new(&folders[0]).prepare(&opened)?;
        for folder in &folders[1..] {
            if !RunFolder::new(folder).prepare(&opened)?.0.has_features_of(&dataset) {
                return Err(Error::Config(format!(
                    "{} reads the features of {} differently than {}; compare runs with the same --normalise and \
                     --split",
                    folder.display(),
                    opened.name(),
                    first.name
                )));
            }
        }
        Self::new(dataset, runs)
    }

    /// The same from a dataset and runs in memory.
    pub fn new(dataset: Dataset, runs: Vec<Run>) -> Result<Self, Error> {
        let classes = |run: &Run| run.network.config().classes;
        let mut pairs = runs.iter().zip(runs.iter().skip(1));
        if let Some((one, other)) = pairs.find(|(one, other)| classes(one) != classes(other)) {
            return Err(Error::Config(format!(
                "{} tells {} classes apart and {} {}; runs are compared on the same data",
                one.name,
                classes(one),
                other.name,
                classes(other)
            )));
        }
        Ok(Self { dataset, runs })
    }
}
