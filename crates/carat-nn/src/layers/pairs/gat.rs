//! Pairs by GAT: LeakyReLU_0.2(a_src_k . W_k h_i + a_dst_k . W_k h_j).
//!
//! A score needs one value per end and head, x_ik = u_src_k . h_i and y_jk = u_dst_k . h_j with u_k = W_k^T a_k.

use super::{Map, NodePairs, PairScores, Score, backward, score_pairs};
use crate::buffer::Buffer;
use crate::kernels::vector;
use crate::layers::projected::{fold, fold_backward, gat_lengths};
use crate::layers::{Layer, LayerShape, SCORE_SLOPE};
use crate::real::Real;
use crate::toolkit::{cut, cut_mut};

/// See the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::layers) struct GatPairs;

/// u_src and u_dst, each K vectors, and no bias.
struct Vectors<T> {
    u: [Buffer<T>; 2],
    bias: Vec<T>,
}

impl<T: Real> Vectors<T> {
    fn new(layer: Layer<'_, T>) -> Self {
        let LayerShape { width, heads, .. } = layer.shape;
        let [weight, att_src, att_dst, ..] = cut(layer.parameters, gat_lengths(layer.shape));
        let u = [att_src, att_dst].map(|att| {
            let mut u = Buffer::default();
            fold(&mut u, weight, att, heads, width);
            u
        });
        Self { u, bias: vec![T::ZERO; heads] }
    }

    fn maps(&self) -> [Map<'_, T>; 2] {
        [0, 1].map(|side| Map { weight: &self.u[side], bias: &self.bias })
    }
}

impl<T: Real> PairScores<T> for GatPairs {
    fn scores(&self, layer: Layer<'_, T>, pairs: &NodePairs, scores: &mut [T]) {
        score_pairs(layer, pairs, Vectors::new(layer).maps(), &LeakySum, scores);
    }

    fn backward(&self, layer: Layer<'_, T>, pairs: &NodePairs, d_scores: &[T], d_parameters: &mut [T], d_h: &mut [T]) {
        let LayerShape { width, heads, .. } = layer.shape;
        let vectors = Vectors::new(layer);
        let mut d_u = [0, 1].map(|_| vec![T::ZERO; heads * width]);
        let mut d_bias = [0, 1].map(|_| vec![T::ZERO; heads]);
        let ([d_src, d_dst], [bias_src, bias_dst]) = (&mut d_u, &mut d_bias);
        let d_maps = [[&mut d_src[..], &mut bias_src[..]], [&mut d_dst[..], &mut bias_dst[..]]];
        backward(layer, pairs, vectors.maps(), (&LeakySum, d_scores), d_maps, d_h);
        let [weight, att_src, att_dst, ..] = cut(layer.parameters, gat_lengths(layer.shape));
        let [d_weight, d_att_src, d_att_dst, ..] = cut_mut(d_parameters, gat_lengths(layer.shape));
        for (att, d_att, d_u) in [(att_src, d_att_src, &d_u[0]), (att_dst, d_att_dst, &d_u[1])] {
            fold_backward([weight, att, d_u], [&mut *d_weight, d_att], heads, width);
        }
    }
}

/// f_k = LeakyReLU(x_k + y_k)
struct LeakySum;

impl<T: Real> Score<T> for LeakySum {
    fn score(&self, [x, y]: [&[T]; 2], scores: &mut [T]) {
        let slope = T::from_f64(SCORE_SLOPE);
        for ((score, &x), &y) in scores.iter_mut().zip(x).zip(y) {
            *score = vector::leaky_relu(x + y, slope);
        }
    }

    fn add_gradient(&self, [x, y]: [&[T]; 2], d_scores: &[T], d_x: &mut [T]) {
        let slope = T::from_f64(SCORE_SLOPE);
        for (((d_x, &d), &x), &y) in d_x.iter_mut().zip(d_scores).zip(x).zip(y) {
            *d_x += d * vector::leaky_relu_gradient(x + y, slope);
        }
    }
}
