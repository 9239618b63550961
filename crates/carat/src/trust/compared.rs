//! Deletion curves of any scores of edges, beside chance and the best order, over the same entities.

use std::ops::ControlFlow;

use carat_graph::Dataset;
use carat_nn::Network;

use super::{Curve, Fidelity, Observed, Order, TrustSettings, best_order, deletion_curves};
use crate::Error;

/// What becomes of predictions while edges are deleted by some scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreCurves {
    /// The edges with the highest scores first.
    pub highest: Curve,
    /// Those with the lowest first.
    pub lowest: Curve,
    /// The area between the curves of a random order and of the highest first.
    pub area: f64,
    /// How needed and how sufficient the edges with the highest scores are.
    pub fidelity: Fidelity,
}

/// The curves of several scores, and what they are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedCurves {
    /// In the order of the scores.
    pub scores: Vec<ScoreCurves>,
    /// By chance.
    pub random: Curve,
    /// By what edges do to the prediction: nearly the best.
    pub best: Curve,
    /// The area between these two.
    pub best_area: f64,
    /// Entities that the curves are over.
    pub entities: usize,
}

impl ComparedCurves {
    /// Of scores with one value per edge. `progress` is as in [`deletion_curves`].
    pub fn of(
        network: &Network<f32>,
        dataset: &Dataset,
        observed: &Observed,
        scores: &[&[f64]],
        settings: &TrustSettings,
        progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let mut orders = vec![Order::Random, best_order(observed)];
        orders.extend(scores.iter().flat_map(|scores| [Order::Highest(scores), Order::Lowest(scores)]));
        let (most, batch_size) = ((settings.curve_entities, settings.seed), settings.effects.batch_size);
        let (curves, entities) = deletion_curves(network, dataset, observed, &orders, most, batch_size, progress)?;
        let [random, best, rest @ ..] = &curves[..] else { unreachable!("as many curves as orders") };
        let of_scores = |pair: &[Curve]| ScoreCurves {
            area: random.area_above(&pair[0]),
            fidelity: Fidelity::of(&pair[0], &pair[1]),
            highest: pair[0].clone(),
            lowest: pair[1].clone(),
        };
        Ok(Self {
            scores: rest.chunks_exact(2).map(of_scores).collect(),
            best_area: random.area_above(best),
            random: random.clone(),
            best: best.clone(),
            entities,
        })
    }
}
