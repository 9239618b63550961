//! Functions that are compiled here, once for each type of number, and not again in every crate that calls them.
//!
//! A release build compiles a generic function in each crate that calls it, and the kernels below these functions take
//! minutes. The implementations for f32 and f64 are not generic, so other crates link to them. They flush denormal
//! numbers to zero ([`crate::denormals`]).

use crate::denormals::Denormals;
use crate::gates::GatedPass;
use crate::intervention::{Cut, Deletion};
use crate::layers::{Attention, AttentionKind, LayerShape};
use crate::loss::ClassWeights;
use crate::optimiser::Adam;
use crate::pass::NetworkPass;
use crate::real::Real;

/// The functions with kernels below them.
pub trait Instances: Sized {
    /// See [`AttentionKind::attention`].
    fn attention(kind: AttentionKind, shape: LayerShape, dropout: bool) -> Box<dyn Attention<Self>>
    where
        Self: Real;

    /// Computes a pass: class scores, attention and what it keeps.
    fn forward(pass: &mut NetworkPass<'_, Self>);

    /// See [`Pass::scores_without`](crate::Pass::scores_without).
    fn scores_without(pass: &mut NetworkPass<'_, Self>, deletions: &[Deletion], scores: &mut Vec<Self>);

    /// See [`Pass::scores_without_several`](crate::Pass::scores_without_several).
    fn scores_without_several(pass: &mut NetworkPass<'_, Self>, cuts: &[Cut<'_>], scores: &mut Vec<Self>);

    /// See [`Pass::scores_without_all`](crate::Pass::scores_without_all).
    fn scores_without_all(pass: &mut NetworkPass<'_, Self>, edges: &[u32], scores: &mut Vec<Self>);

    /// See [`Pass::weighted_loss_and_gradient`](crate::Pass::weighted_loss_and_gradient).
    fn loss_and_gradient(pass: &mut NetworkPass<'_, Self>, labels: &[u32], weights: ClassWeights<'_>) -> f64;

    /// See [`GatedPass::scores`].
    fn gated_scores(pass: &mut GatedPass<'_, Self>, gates: &[Self]);

    /// See [`GatedPass::loss_and_gradient`].
    fn gated_gradient(pass: &mut GatedPass<'_, Self>, gates: &[Self], labels: &[u32], gradient: &mut Vec<Self>) -> f64;

    /// See [`Adam::step`].
    fn step(adam: &mut Adam<Self>, parameters: &mut [Self], gradient: &[Self]);
}

macro_rules! instances {
    ($type:ty, $inline:meta) => {
        impl Instances for $type {
            #[$inline]
            fn attention(kind: AttentionKind, shape: LayerShape, dropout: bool) -> Box<dyn Attention<Self>> {
                kind.make(shape, dropout)
            }

            #[$inline]
            fn forward(pass: &mut NetworkPass<'_, Self>) {
                let _flush = Denormals::flush();
                pass.compute();
            }

            #[$inline]
            fn scores_without(pass: &mut NetworkPass<'_, Self>, deletions: &[Deletion], scores: &mut Vec<Self>) {
                let _flush = Denormals::flush();
                pass.compute_without(deletions, scores);
            }

            #[$inline]
            fn scores_without_several(pass: &mut NetworkPass<'_, Self>, cuts: &[Cut<'_>], scores: &mut Vec<Self>) {
                let _flush = Denormals::flush();
                pass.compute_without(cuts, scores);
            }

            #[$inline]
            fn scores_without_all(pass: &mut NetworkPass<'_, Self>, edges: &[u32], scores: &mut Vec<Self>) {
                let _flush = Denormals::flush();
                pass.compute_without_all(edges, scores);
            }

            #[$inline]
            fn loss_and_gradient(pass: &mut NetworkPass<'_, Self>, labels: &[u32], weights: ClassWeights<'_>) -> f64 {
                let _flush = Denormals::flush();
                pass.compute_gradient(labels, weights)
            }

            #[$inline]
            fn gated_scores(pass: &mut GatedPass<'_, Self>, gates: &[Self]) {
                let _flush = Denormals::flush();
                pass.compute(gates);
            }

            #[$inline]
            fn gated_gradient(
                pass: &mut GatedPass<'_, Self>,
                gates: &[Self],
                labels: &[u32],
                gradient: &mut Vec<Self>,
            ) -> f64 {
                let _flush = Denormals::flush();
                pass.compute_gradient(gates, labels, gradient)
            }

            #[$inline]
            fn step(adam: &mut Adam<Self>, parameters: &mut [Self], gradient: &[Self]) {
                let _flush = Denormals::flush();
                adam.update(parameters, gradient);
            }
        }
    };
}

instances!(f32, inline(never));
#[cfg(debug_assertions)]
instances!(f64, inline(never));
#[cfg(not(debug_assertions))]
instances!(f64, inline);
