//! Data as networks read it: what the training nodes tell about columns and classes, applied to all nodes.

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
    let encoding = match dataset.graph_set() {
        None => Encoding::fit(dataset, &split.train, normalise)?,
        Some(set) => {
            let nodes: Vec<u32> = split.train.iter().flat_map(|&graph| set.nodes(graph as usize)).collect();
            Encoding::fit(dataset, &nodes, normalise)?
        }
    };
    if encoding.normalise() == Normalise::None && dataset.table().is_none() {
        return Ok((Cow::Borrowed(dataset), encoding));
    }
    let (prepared, _) = encoding.apply(dataset)?;
    Ok((Cow::Owned(prepared), encoding))
}

impl TrainConfig {
    /// Refuses to train on features that were not scaled as the settings say.
    pub(crate) fn check_scaling(&self, dataset: &Dataset) -> Result<(), Error> {
        let (done, asked) = match dataset.encoding() {
            Some(encoding) if self.data.normalise == Normalise::Auto => (encoding.normalise(), encoding.normalise()),
            Some(encoding) => (encoding.normalise(), self.data.normalise),
            None => (Normalise::None, self.data.normalise.resolved(dataset)),
        };
        if done == asked {
            return Ok(());
        }
        Err(Error::Config(format!(
            "normalise is {}, but the features of {} were scaled by {done}; call carat::prepare before training",
            self.data.normalise,
            dataset.name()
        )))
    }
}
