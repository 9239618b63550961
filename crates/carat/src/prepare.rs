//! Data as networks read it: what the training nodes and their in-edges tell about columns and classes, applied to all.

use std::borrow::Cow;

use carat_graph::{Dataset, Encoding, Normalise, Split};

use crate::{Error, TrainConfig};

/// Learns the encoding of the data from the training nodes of `split` and applies it. Data of plain numbers that
/// nothing scales comes back as it is.
///
/// ```
/// use carat::{TrainConfig, Trainer, prepare};
/// use carat_graph::Normalise;
/// use carat_graph::generators::{PlantedConfig, planted};
///
/// let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
/// let config = TrainConfig::default().hidden(8).epochs(3).normalise(Normalise::Standard);
/// let split = config.choose_split(&dataset)?;
/// let (dataset, encoding) = prepare(&dataset, &split, &config)?;
/// let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
/// // Other data goes through the same encoding before the network reads it.
/// let (other, notes) = encoding.apply(&planted(&PlantedConfig { nodes: 100, ..PlantedConfig::default() })?)?;
/// # assert!(notes.is_empty() && other.num_nodes() == 100 && network.config().features > 0);
/// # Ok::<(), carat::Error>(())
/// ```
pub fn prepare<'a>(
    dataset: &'a Dataset,
    split: &Split,
    config: &TrainConfig,
) -> Result<(Cow<'a, Dataset>, Encoding), Error> {
    let normalise = config.data.normalise;
    let nodes: Vec<u32> = match dataset.graph_set() {
        None => split.train.clone(),
        Some(set) => split.train.iter().flat_map(|&graph| set.nodes(graph as usize)).collect(),
    };
    let mut encoding = Encoding::fit(dataset, &nodes, normalise)?;
    if config.edge_features_of(dataset).is_some() {
        encoding = encoding.with_edges(dataset, &nodes, normalise)?;
    }
    if encoding.keeps(dataset) {
        return Ok((Cow::Borrowed(dataset), encoding));
    }
    let (prepared, _) = encoding.apply(dataset)?;
    Ok((Cow::Owned(prepared), encoding))
}

impl TrainConfig {
    /// Refuses to train on features that were not scaled as the settings say.
    pub(crate) fn check_scaling(&self, dataset: &Dataset) -> Result<(), Error> {
        let normalise = self.data.normalise;
        let (done, asked) = match dataset.encoding() {
            Some(encoding) if normalise == Normalise::Auto => (encoding.normalise(), encoding.normalise()),
            Some(encoding) => (encoding.normalise(), normalise),
            None => {
                let of_edges = self.edge_features_of(dataset).map(|_| normalise.resolved_for_edges(dataset));
                let asked = [Some(normalise.resolved(dataset)), of_edges].into_iter().flatten();
                (Normalise::None, asked.into_iter().find(|asked| *asked != Normalise::None).unwrap_or(Normalise::None))
            }
        };
        if done == asked {
            return Ok(());
        }
        Err(Error::Config(format!(
            "normalise is {normalise}, but the features of {} were scaled by {done}; call carat::prepare before \
             training",
            dataset.name()
        )))
    }
}
