//! Pairs by GATv2: a_k . LeakyReLU_0.2(x_ik + y_jk), with x_i = W_l h_i + b_l and y_j = W_r h_j + b_r.

use super::{Map, NodePairs, PairScores, Score, add_over_pairs, backward, rows, score_pairs};
use crate::kernels::vector;
use crate::layers::projected::gatv2_lengths;
use crate::layers::{Layer, SCORE_SLOPE};
use crate::real::Real;
use crate::toolkit::{cut, cut_mut};

/// See the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::layers) struct GatV2Pairs;

fn maps<'a, T: Real>(layer: Layer<'a, T>) -> ([Map<'a, T>; 2], LeakyDot<'a, T>) {
    let [att, left, left_bias, right, right_bias, ..] = cut(layer.parameters, gatv2_lengths(layer.shape));
    let maps = [Map { weight: left, bias: left_bias }, Map { weight: right, bias: right_bias }];
    (maps, LeakyDot { att, columns: layer.shape.head_width() })
}

impl<T: Real> PairScores<T> for GatV2Pairs {
    fn scores(&self, layer: Layer<'_, T>, pairs: &NodePairs, scores: &mut [T]) {
        let (maps, dot) = maps(layer);
        score_pairs(layer, pairs, maps, &dot, scores);
    }

    fn backward(&self, layer: Layer<'_, T>, pairs: &NodePairs, d_scores: &[T], d_parameters: &mut [T], d_h: &mut [T]) {
        let (maps, dot) = maps(layer);
        let [d_att, d_left, d_left_bias, d_right, d_right_bias, ..] = cut_mut(d_parameters, gatv2_lengths(layer.shape));
        let d_maps = [[d_left, d_left_bias], [d_right, d_right_bias]];
        backward(layer, pairs, maps, (&dot, d_scores), d_maps, d_h);
        let (slope, columns) = (T::from_f64(SCORE_SLOPE), dot.columns);
        add_over_pairs(&rows(layer, pairs, maps), pairs, d_scores, d_att, |[x, y], d_scores, d_att| {
            for (c, d_att) in d_att.iter_mut().enumerate() {
                *d_att += d_scores[c / columns] * vector::leaky_relu(x[c] + y[c], slope);
            }
        });
    }
}

/// f_k = a_k . LeakyReLU(x_k + y_k)
struct LeakyDot<'a, T> {
    att: &'a [T],
    columns: usize,
}

impl<T: Real> Score<T> for LeakyDot<'_, T> {
    fn score(&self, [x, y]: [&[T]; 2], scores: &mut [T]) {
        let slope = T::from_f64(SCORE_SLOPE);
        for (k, score) in scores.iter_mut().enumerate() {
            let head = k * self.columns..(k + 1) * self.columns;
            *score = head.map(|c| self.att[c] * vector::leaky_relu(x[c] + y[c], slope)).sum();
        }
    }

    fn add_gradient(&self, [x, y]: [&[T]; 2], d_scores: &[T], d_x: &mut [T]) {
        let slope = T::from_f64(SCORE_SLOPE);
        for (k, &d) in d_scores.iter().enumerate() {
            for c in k * self.columns..(k + 1) * self.columns {
                d_x[c] += d * self.att[c] * vector::leaky_relu_gradient(x[c] + y[c], slope);
            }
        }
    }
}
