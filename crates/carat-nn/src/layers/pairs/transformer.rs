//! Pairs by the Graph Transformer: x_ik . y_jk / sqrt(D), with keys x_i = W_k h_i + b_k and queries y_j = W_q h_j +
//! b_q.
//!
//! In the softmax over the in-edges of one target the keys' bias cancels. Here it does not.

use super::{Map, NodePairs, PairScores, Score, backward, score_pairs};
use crate::layers::Layer;
use crate::layers::projected::transformer_lengths;
use crate::real::Real;
use crate::toolkit::{cut, cut_mut};

/// See the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::layers) struct TransformerPairs;

fn maps<'a, T: Real>(layer: Layer<'a, T>) -> ([Map<'a, T>; 2], ScaledDot<T>) {
    let [key, key_bias, query, query_bias, ..] = cut(layer.parameters, transformer_lengths(layer.shape));
    let maps = [Map { weight: key, bias: key_bias }, Map { weight: query, bias: query_bias }];
    let columns = layer.shape.head_width();
    (maps, ScaledDot { columns, scale: T::ONE / T::from_f64(columns as f64).sqrt() })
}

impl<T: Real> PairScores<T> for TransformerPairs {
    fn scores(&self, layer: Layer<'_, T>, pairs: &NodePairs, scores: &mut [T]) {
        let (maps, dot) = maps(layer);
        score_pairs(layer, pairs, maps, &dot, scores);
    }

    fn backward(&self, layer: Layer<'_, T>, pairs: &NodePairs, d_scores: &[T], d_parameters: &mut [T], d_h: &mut [T]) {
        let (maps, dot) = maps(layer);
        let [d_key, d_key_bias, d_query, d_query_bias, ..] = cut_mut(d_parameters, transformer_lengths(layer.shape));
        backward(layer, pairs, maps, (&dot, d_scores), [[d_key, d_key_bias], [d_query, d_query_bias]], d_h);
    }
}

/// f_k = x_k . y_k / sqrt(D)
struct ScaledDot<T> {
    columns: usize,
    scale: T,
}

impl<T: Real> Score<T> for ScaledDot<T> {
    fn score(&self, [x, y]: [&[T]; 2], scores: &mut [T]) {
        for (k, score) in scores.iter_mut().enumerate() {
            let head = k * self.columns..(k + 1) * self.columns;
            *score = self.scale * x[head.clone()].iter().zip(&y[head]).map(|(x, y)| *x * *y).sum::<T>();
        }
    }

    fn add_gradient(&self, [_, y]: [&[T]; 2], d_scores: &[T], d_x: &mut [T]) {
        for (k, &d) in d_scores.iter().enumerate() {
            let head = k * self.columns..(k + 1) * self.columns;
            d_x[head.clone()].iter_mut().zip(&y[head]).for_each(|(d_x, y)| *d_x += d * self.scale * *y);
        }
    }
}
