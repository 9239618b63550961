//! The attention networks that guide pruning. Many runs of a sweep share one, so each is trained once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use carat::{Error, TrainConfig, rewire};
use carat_graph::Dataset;

/// Scores of all edges; `None` until a thread has trained the network that gives them.
type Scores = Arc<Mutex<Option<Arc<Vec<f32>>>>>;

/// Scores by the settings of the network that gives them.
#[derive(Debug, Default)]
pub(super) struct Guides(Mutex<HashMap<String, Scores>>);

impl Guides {
    /// The graph that a run is trained on: the whole dataset, or the edges that its guide keeps. `None` where the sweep
    /// was interrupted.
    pub(super) fn graph_of<'a>(
        &self,
        dataset: &'a Dataset,
        run: &TrainConfig,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<Cow<'a, Dataset>>, Error> {
        let Some(pruning) = &run.prune else { return Ok(Some(Cow::Borrowed(dataset))) };
        let guide = pruning.guide_of(run);
        let key = serde_json::to_string(&guide).map_err(|e| Error::Config(e.to_string()))?;
        // A thread that panicked while training left no scores, so the next one trains.
        let entry = Arc::clone(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).entry(key).or_default());
        let mut scores = entry.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if scores.is_none() {
            let Some(found) = rewire::scores(dataset, &guide, interrupted)? else { return Ok(None) };
            *scores = Some(Arc::new(found));
        }
        let found = scores.clone().unwrap_or_default();
        drop(scores);
        Ok(Some(Cow::Owned(pruning.apply(dataset, &found, run)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat::ModelKind;
    use carat::rewire::Pruning;
    use carat_graph::generators::{PlantedConfig, planted};

    #[test]
    fn a_guide_is_trained_once_for_all_thresholds_and_an_interrupted_one_again() {
        let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() }).unwrap();
        let guide = TrainConfig::default().hidden(4).heads(1).layers(1).epochs(2);
        let run = |threshold, seed| {
            let prune = Some(Pruning { threshold, random: false, guide: Box::new(guide.clone()) });
            TrainConfig::default().model(ModelKind::Gcn).seed(seed).prune(prune)
        };
        let guides = Guides::default();
        assert!(guides.graph_of(&dataset, &run(0.1, 0), &|| true).unwrap().is_none());
        let edges = |threshold, seed| {
            let pruned = guides.graph_of(&dataset, &run(threshold, seed), &|| false).unwrap().unwrap();
            pruned.graph().num_edges()
        };
        let all = dataset.graph().num_edges();
        assert_eq!((edges(0.0, 0), edges(1.01, 0)), (all, 0));
        assert!((1..all).contains(&edges(0.1, 0)));
        // Once there are scores, nothing is trained that could be interrupted.
        assert!(guides.graph_of(&dataset, &run(0.4, 0), &|| true).unwrap().is_some());
        assert!(guides.graph_of(&dataset, &run(0.4, 1), &|| true).unwrap().is_none());
        let plain = TrainConfig::default();
        assert!(matches!(guides.graph_of(&dataset, &plain, &|| true).unwrap(), Some(Cow::Borrowed(_))));
    }
}
