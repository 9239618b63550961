//! The graph that a run reads: the data's, with what the settings change of its edges.

use std::path::Path;

use carat_graph::{Dataset, EdgeFeatures};

use crate::{Error, ModelKind, TrainConfig};

impl TrainConfig {
    /// Opens the run's data, or the data that `other` names, as the run reads it: see [`TrainConfig::prepare_edges`].
    pub fn open(&self, other: Option<&str>, data_dir: &Path) -> Result<Dataset, Error> {
        self.prepare_edges(carat_graph::open(other.unwrap_or(&self.data.name), data_dir)?)
    }

    /// The data as a run of these settings reads it: with every edge both ways, or with self-loops, where they ask for
    /// that. Data that is prepared already stays as it is.
    ///
    /// ```
    /// use carat::{Dataset, TrainConfig};
    ///
    /// let features = [[1.0], [0.0], [1.0]];
    /// let dataset = Dataset::from_rows("tiny", &[(0, 1), (2, 1)], &features, &[Some(0), Some(1), None])?;
    /// let prepared = TrainConfig::default().undirected(true).prepare_edges(dataset)?;
    /// assert_eq!(prepared.graph().edges().collect::<Vec<_>>(), [(1, 0), (0, 1), (2, 1), (1, 2)]);
    /// # Ok::<(), carat::Error>(())
    /// ```
    pub fn prepare_edges(&self, dataset: Dataset) -> Result<Dataset, Error> {
        let dataset = if self.data.undirected { dataset.undirected()? } else { dataset };
        Ok(dataset.with_self_loops(self.data.self_loops)?)
    }

    /// True where [`TrainConfig::prepare_edges`] would change nothing.
    pub fn edges_are_prepared(&self, dataset: &Dataset) -> bool {
        let graph = dataset.graph();
        (!self.data.undirected || graph.is_undirected()) && self.data.self_loops == graph.adds_self_loops()
    }

    /// True where both settings make the same edges of the same data, and read the features of edges or do not.
    pub fn has_edges_of(&self, other: &Self) -> bool {
        let edges = |config: &Self| (config.data.undirected, config.data.self_loops, config.data.edge_features);
        edges(self) == edges(other)
    }

    /// The features of the data's edges that attention reads; `None` where there are none, or where it reads none.
    pub fn edge_features_of<'a>(&self, dataset: &'a Dataset) -> Option<&'a EdgeFeatures> {
        dataset.edge_features().filter(|_| self.data.edge_features && self.model == ModelKind::Attention)
    }

    /// What the user should know about features of edges that the run does not read.
    pub fn unread_edge_features(&self, dataset: &Dataset) -> Option<String> {
        let features = dataset.edge_features().filter(|_| self.edge_features_of(dataset).is_none())?;
        let (name, count) = (dataset.name(), features.num_columns());
        Some(match self.model {
            ModelKind::Attention => format!(
                "the edges of {name} have features ({count}), which attention does not read; --edge-features lets it"
            ),
            model => format!(
                "the edges of {name} have features ({count}), which a {model} does not read; a network with attention \
                 does (--model attention)"
            ),
        })
    }

    /// Refuses data that is not as the settings want it.
    pub(crate) fn check_edges(&self, dataset: &Dataset) -> Result<(), Error> {
        if self.edges_are_prepared(dataset) {
            return Ok(());
        }
        Err(Error::Config(format!(
            "undirected and self-loops are about the edges of {}, which are not as these settings want them; open the \
             data with TrainConfig::open, or change it with TrainConfig::prepare_edges",
            dataset.name()
        )))
    }
}
