//! The measures at the end of a training, over some of the test and validation entities, so that they cost little.

use std::ops::ControlFlow;

use carat_graph::Dataset;
use carat_nn::Network;

use super::{Trust, TrustSettings, draw_judged, trust};
use crate::entity::num_edges;
use crate::{EffectSettings, Error, Task, TrainConfig};

/// Most entities that are measured.
const ENTITIES: usize = 1000;

/// Most edges that are deleted one by one. Where a deletion changes its target alone it costs little; in deeper
/// networks it changes all that is near, and in sets of graphs a whole graph.
const EDGES: usize = 20_000;
const COSTLY_EDGES: usize = 2_000;

/// Most entities whose edges are deleted for curves, by the same.
const CURVES: usize = 200;
const COSTLY_CURVES: usize = 20;

/// The measures over drawn entities, with curves or without. `None` where there is nothing to judge, or where the
/// network has predictions that are no numbers.
pub(crate) fn of_run(
    network: &Network<f32>,
    dataset: &Dataset,
    entities: &[u32],
    config: &TrainConfig,
    with_curves: bool,
) -> Result<Option<Trust>, Error> {
    let is_costly = network.config().layers > 2 || Task::of(dataset) == Task::Graph;
    let (mut edges_left, curves) = if is_costly { (COSTLY_EDGES, COSTLY_CURVES) } else { (EDGES, CURVES) };
    let mut drawn = draw_judged(dataset, entities, ENTITIES, 0);
    drawn.retain(|&entity| {
        let edges = num_edges(dataset, entity);
        let fits = edges <= edges_left;
        edges_left -= if fits { edges } else { 0 };
        fits
    });
    if drawn.is_empty() {
        return Ok(None);
    }
    let effects = EffectSettings::from(config);
    let settings = TrustSettings { effects, curve_entities: if with_curves { curves } else { 0 }, seed: 0 };
    match trust(network, dataset, &drawn, &settings, &mut |_, _| ControlFlow::Continue(())) {
        Ok((found, _)) => Ok(Some(found)),
        Err(Error::NotFinite { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
