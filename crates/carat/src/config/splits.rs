//! Which entities a run trains on, stops by and is tested on.

use carat_graph::{Dataset, Split, SplitRatio};

use crate::{Error, Task, TrainConfig};

impl TrainConfig {
    /// The shares that the settings name.
    pub(crate) fn ratio(&self) -> Result<Option<SplitRatio>, Error> {
        let parsed = self.data.split_ratio.as_deref().map(str::parse).transpose();
        parsed.map_err(|problem| Error::Config(format!("split-ratio {problem}")))
    }

    /// The split that the settings name, as the data has it or as the ratio makes it.
    pub fn named_split(&self, dataset: &Dataset) -> Result<Split, Error> {
        let task = self.task_for(dataset)?;
        if let Some(folds) = self.data.folds {
            let (name, labelled) = (dataset.name(), dataset.labels().num_labelled());
            if folds > labelled {
                return Err(Error::Config(format!(
                    "{folds} folds are too many for the {labelled} labelled {task}s of {name}"
                )));
            }
            return Ok(Split::fold(dataset.labels(), folds, self.data.split, self.seed));
        }
        let ratio = self.ratio()?;
        match dataset.splits() {
            splits if ratio.is_none() && !splits.is_empty() => splits.get(self.data.split).cloned().ok_or_else(|| {
                Error::Config(format!(
                    "{} has {} splits (0 to {}), and no split {}",
                    dataset.name(),
                    splits.len(),
                    splits.len() - 1,
                    self.data.split
                ))
            }),
            _ => Ok(Split::stratified(dataset.labels(), ratio.unwrap_or_default(), self.data.split as u64)),
        }
    }

    /// The split to train on: labelled entities only, because one without a label has no loss.
    pub fn choose_split(&self, dataset: &Dataset) -> Result<Split, Error> {
        if dataset.labels().num_labelled() == 0 {
            let (name, task) = (dataset.name(), Task::of(dataset));
            return Err(Error::Config(format!(
                "no {task} of {name} has a label; at least the training {task}s need one"
            )));
        }
        let mut split = self.named_split(dataset)?;
        for list in [&mut split.train, &mut split.val, &mut split.test] {
            list.retain(|&n| dataset.labels().get(n).is_some());
        }
        for (name, list) in [("training", &split.train), ("validation", &split.val)] {
            if list.is_empty() {
                return Err(Error::Config(format!(
                    "split {} of {} has no labelled {name} {}; mark some, or let --split-ratio 0.6,0.2,0.2 choose",
                    self.data.split,
                    dataset.name(),
                    Task::of(dataset)
                )));
            }
        }
        Ok(split)
    }
}
