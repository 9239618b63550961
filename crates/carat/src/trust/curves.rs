//! Deletion curves: each entity's edges are deleted in some order, and its prediction is watched.
//!
//! ```text
//! curve(s) = mean over entities of p(y | without the first round(s d) edges of the order)      y: the class predicted
//!                                                                                              with all d edges
//! area     = integral over s of curve(random order) - curve(order)
//! ```
//!
//! If scores tell which edges a prediction rests on, deleting the highest first makes the curve fall faster than chance
//! (area above 0), and deleting the lowest first slower (below 0). Each deletion is exact: the network is computed
//! without these edges. The order by Delta is nearly the best that any scores can do.

use std::ops::ControlFlow;

use carat_graph::Dataset;
use carat_nn::{Cut, Keep, Network, Pass, Workspace, loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::observed::draw;
use super::{Observed, Of};
use crate::car::every_edge;
use crate::effects::{Reference, references};
use crate::entity::EntityBlocks;
use crate::{Error, input};

/// Shares of an entity's edges that are deleted.
pub const SHARES: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The share of the edges that an explanation names, for fidelity: the place in [`SHARES`], 0.3.
const EXPLAINED: usize = 3;

/// Most edges in the deletions that are computed together.
const MOST_DELETED: usize = 1 << 17;

/// The order in which edges are deleted.
#[derive(Debug, Clone, Copy)]
pub enum Order<'a> {
    /// The highest score first.
    Highest(&'a [f64]),
    /// The lowest first.
    Lowest(&'a [f64]),
    /// By chance.
    Random,
}

/// What becomes of predictions while edges are deleted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// For every one of [`SHARES`], the mean probability of the class that is predicted with all edges.
    pub probability: Vec<f64>,
    /// The share of entities whose prediction is still that class.
    pub unchanged: Vec<f64>,
}

impl Curve {
    /// The area between this curve and a lower one, by the trapezoidal rule.
    pub fn area_above(&self, lower: &Self) -> f64 {
        let gaps: Vec<f64> = self.probability.iter().zip(&lower.probability).map(|(a, b)| a - b).collect();
        SHARES.windows(2).zip(gaps.windows(2)).map(|(s, gap)| (s[1] - s[0]) * (gap[0] + gap[1]) / 2.0).sum()
    }
}

/// Fidelity of the explanation that names the 30 % of an entity's edges with the highest scores.
///
/// ```text
/// plus              p(y | all edges) - p(y | without the named)     the higher the better: they are needed
/// minus             p(y | all edges) - p(y | with the named alone)  the lower the better: they suffice
/// characterisation  1 / (0.5 / plus + 0.5 / (1 - minus))            both in one number (GraphFramEx)
/// ```
///
/// The flips are the same of whether the prediction stays, as `torch_geometric.explain.metric.fidelity` has them for
/// explanations of a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fidelity {
    /// How much of the probability goes without the named edges.
    pub plus: f64,
    /// How much goes with them alone.
    pub minus: f64,
    /// The weighted harmonic mean of plus and 1 - minus; 0 where plus is not above 0.
    pub characterisation: f64,
    /// Share of predictions that change without the named edges.
    pub flips_plus: f64,
    /// Share that change with them alone.
    pub flips_minus: f64,
}

impl Fidelity {
    /// From the curves that delete the highest and the lowest scores first.
    pub fn of(highest: &Curve, lowest: &Curve) -> Self {
        let rest = SHARES.len() - 1 - EXPLAINED;
        let plus = highest.probability[0] - highest.probability[EXPLAINED];
        let minus = lowest.probability[0] - lowest.probability[rest];
        let characterisation = if plus > 0.0 && minus < 1.0 { 1.0 / (0.5 / plus + 0.5 / (1.0 - minus)) } else { 0.0 };
        Self {
            plus,
            minus,
            characterisation,
            flips_plus: 1.0 - highest.unchanged[EXPLAINED],
            flips_minus: 1.0 - lowest.unchanged[rest],
        }
    }
}

/// The curves of some orders over entities with at least two edges: at most `most`, drawn by `seed`. Returns them with
/// the number of entities, which may be 0.
///
/// `progress` gets the number of entities done and of all; if it breaks, the work ends with [`Error::Interrupted`].
pub fn deletion_curves(
    network: &Network<f32>,
    dataset: &Dataset,
    observed: &Observed,
    orders: &[Order<'_>],
    (most, seed): (usize, u64),
    batch_size: usize,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<(Vec<Curve>, usize), Error> {
    let places = drawn(observed, most, seed);
    let empty = || Curve { probability: vec![0.0; SHARES.len()], unchanged: vec![0.0; SHARES.len()] };
    let mut curves: Vec<Curve> = orders.iter().map(|_| empty()).collect();
    let (layers, classes) = (network.config().layers, network.config().classes);
    let mut builder = EntityBlocks::new(dataset, observed.task);
    let (mut work, mut scores) = (Workspace::default(), Vec::new());
    let (mut done, total) = (0, places.len());
    for places in places.chunks(batch_size) {
        let entities: Vec<u32> = places.iter().map(|&place| observed.entities[place]).collect();
        let blocks = builder.build(&entities, layers);
        let input = input(network.config(), dataset, &blocks)?;
        let mut pass = network.forward(&blocks, &input, Keep::Deletions, &mut work);
        let references = references(&pass, dataset, &entities)?;
        let mut next = 0;
        while next < places.len() {
            // Every order deletes some edges at each of nine shares; none at the first and all at the last.
            let (mut edges, mut cuts, first) = (Vec::new(), Vec::new(), next);
            while next < places.len() && (next == first || edges.len() < MOST_DELETED) {
                let row = observed.offsets[places[next]]..observed.offsets[places[next] + 1];
                let own: Vec<u32> = every_edge(&blocks, next as u32..next as u32 + 1).iter().map(|d| d.edge).collect();
                let target = blocks.entity(next).start as u32;
                let mut random = ChaCha8Rng::seed_from_u64(seed ^ u64::from(entities[next]));
                let chance: Vec<u64> = own.iter().map(|_| random.random()).collect();
                for (number, order) in orders.iter().enumerate() {
                    let ranked = ranked(*order, row.clone(), &chance);
                    for share in 0..SHARES.len() {
                        let count = number_deleted(*order, own.len(), share);
                        let start = edges.len();
                        edges.extend(ranked[..count].iter().map(|&at| own[at]));
                        edges[start..].sort_unstable();
                        cuts.push((number, share, next, target, start..edges.len()));
                    }
                }
                next += 1;
            }
            let several: Vec<Cut<'_>> =
                cuts.iter().map(|(.., target, range)| Cut { target: *target, edges: &edges[range.clone()] }).collect();
            pass.scores_without_several(&several, &mut scores);
            for ((number, share, entity, ..), scores) in cuts.iter().zip(scores.chunks_exact(classes)) {
                let Reference { predicted, .. } = references[*entity];
                let curve = &mut curves[*number];
                curve.probability[*share] += (-f64::from(loss::cross_entropy(scores, predicted))).exp();
                curve.unchanged[*share] += f64::from(u8::from(loss::argmax(scores) == predicted));
            }
            done += next - first;
            if progress(done, total).is_break() {
                return Err(Error::Interrupted);
            }
        }
    }
    let count = done.max(1) as f64;
    for values in curves.iter_mut().flat_map(|curve| [&mut curve.probability, &mut curve.unchanged]) {
        values.iter_mut().for_each(|value| *value /= count);
    }
    Ok((curves, done))
}

/// Places of the entities whose curves are computed, ascending.
fn drawn(observed: &Observed, most: usize, seed: u64) -> Vec<usize> {
    let several = observed.rows().zip(&observed.entities).filter(|(row, _)| row.len() > 1).map(|(_, &entity)| entity);
    let mut entities = draw(several, most, seed);
    entities.sort_unstable();
    entities.iter().filter_map(|entity| observed.entities.binary_search(entity).ok()).collect()
}

/// An entity's edges, from 0, in the order of their deletion. Equal scores are ordered by chance.
fn ranked(order: Order<'_>, row: std::ops::Range<usize>, chance: &[u64]) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..row.len()).collect();
    ranked.sort_unstable_by(|&a, &b| {
        let by_score = match order {
            Order::Highest(scores) => scores[row.start + b].total_cmp(&scores[row.start + a]),
            Order::Lowest(scores) => scores[row.start + a].total_cmp(&scores[row.start + b]),
            Order::Random => std::cmp::Ordering::Equal,
        };
        // The lowest come in the reverse of the order of the highest.
        let by_chance = chance[a].cmp(&chance[b]);
        by_score.then(if matches!(order, Order::Lowest(_)) { by_chance.reverse() } else { by_chance })
    });
    ranked
}

/// How many of `edges` are deleted at a share. What the lowest leave at one share, the highest delete at the rest.
fn number_deleted(order: Order<'_>, edges: usize, share: usize) -> usize {
    let count = |share: usize| (SHARES[share] * edges as f64).round() as usize;
    match order {
        Order::Lowest(_) => edges - count(SHARES.len() - 1 - share),
        Order::Highest(_) | Order::Random => count(share),
    }
}

/// The order by Delta of the prediction, nearly the best.
pub fn best_order(observed: &Observed) -> Order<'_> {
    Order::Highest(observed.deltas(Of::Prediction))
}
