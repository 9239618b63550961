//! What a network reads of some data: rows of features for the nodes of its blocks, and for their edges where attention
//! reads those.

use carat_graph::{Blocks, DataError, Dataset};
use carat_nn::{Input, NetworkConfig, Real};

use crate::Error;
use crate::config::check_width;

/// The input of a network of these sizes for blocks of the data's graph. An error where features in a mapped file are
/// damaged.
pub fn input<T: Real>(sizes: NetworkConfig, dataset: &Dataset, blocks: &Blocks) -> Result<Input<T>, DataError> {
    let input = Input::checked(dataset.features(), blocks.nodes())?;
    match dataset.edge_features().filter(|_| sizes.edge_features > 0) {
        None => Ok(input),
        Some(features) => Ok(input.with_edge_features(&features.of_blocks(dataset.graph(), blocks)?)),
    }
}

/// Refuses data that a network of these sizes cannot read.
pub(crate) fn check_inputs(sizes: NetworkConfig, dataset: &Dataset) -> Result<(), Error> {
    check_width(sizes.features, dataset)?;
    let (expected, found) = (sizes.edge_features, dataset.edge_features().map_or(0, |edges| edges.num_columns()));
    if expected == 0 || expected == found {
        return Ok(());
    }
    Err(Error::Config(format!(
        "the model reads {expected} features per edge, but {} has {found}; give it data of the kind it was trained on",
        dataset.name()
    )))
}
