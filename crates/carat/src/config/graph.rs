//! The graph that a run reads: the data's, with what the settings change of its edges.

use std::path::Path;

use carat_graph::Dataset;

use crate::{Error, TrainConfig};

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
