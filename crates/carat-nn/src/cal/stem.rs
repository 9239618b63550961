//! The first part: h = ReLU(BN(x) W^T), on features that may be a sparse bag of words.
//!
//! Normalised features are dense, so they are never made. With scale s = weight / sqrt(variance + epsilon) and shift
//! t = bias - s mean, the same is a linear map of the features as they are:
//!
//! ```text
//! BN(x) W^T = x (W diag(s))^T + W t
//! ```
//!
//! With d_z the gradient before the ReLU, the backward pass needs M = x^T d_z, which is a sparse product too, and r =
//! sum over nodes of d_z:
//!
//! ```text
//! d_W_fc    = s_c M_cf + t_c r_f          d_bias_c = d_t_c = sum_f W_fc r_f
//! d_s_c     = sum_f W_fc M_cf             d_weight_c = (d_s_c - mean_c d_t_c) / sqrt(variance_c + epsilon)
//! ```

use std::ops::Range;

use crate::buffer::Buffer;
use crate::kernels::dense;
use crate::modules::{Backward, BatchNorm, Forward, Layouts, RELU, Statistics};
use crate::parameters::{Init, Parameter};
use crate::real::Real;
use crate::rows::{ChunkRows, Chunks, Rows};
use crate::toolkit::{cut_mut, sized};
use crate::whole_graph::WholeGraph;

/// Features per chunk.
const CHUNK_FEATURES: usize = 64;

/// Normalisation of the features and the map to the hidden width. As in CAL, the map has no bias, because the
/// normalisation has one.
#[derive(Debug, Clone)]
pub(super) struct Stem {
    norm: BatchNorm,
    /// W^T: one row of the hidden width per feature.
    weight: Range<usize>,
    hidden: usize,
}

/// The results of a pass, and buffers of the backward pass.
#[derive(Debug, Clone, Default)]
pub(super) struct StemState<T> {
    statistics: Statistics<T>,
    /// s and t, one after another.
    scale_and_shift: Buffer<T>,
    /// (W diag(s))^T in the forward pass, M in the backward pass.
    map: Buffer<T>,
    pub(super) out: Buffer<T>,
}

impl Stem {
    pub(super) fn new(layouts: &mut Layouts, features: usize, hidden: usize) -> Self {
        let norm = BatchNorm::new(layouts, "bn_feat", features);
        let weight = Parameter::new("conv_feat.weight", &[hidden, features], Init::Glorot);
        let weight = layouts.parameters.push(Parameter { transposed: true, ..weight });
        Self { norm, weight, hidden }
    }

    /// Fills `state.out`, one row per node.
    pub(super) fn forward<T: Real>(&self, pass: &mut Forward<'_, T>, graph: &WholeGraph<T>, state: &mut StemState<T>) {
        let (hidden, features) = (self.hidden, graph.input().num_columns());
        let StemState { statistics, scale_and_shift, map, out } = state;
        *statistics = self.norm.statistics(pass, graph.num_nodes(), || graph.moments().clone());
        let [weight, bias] = self.norm.affine(pass.parameters);
        let (scale, shift) = sized(scale_and_shift, 2 * features).split_at_mut(features);
        for c in 0..features {
            scale[c] = weight[c] * statistics.inverse[c];
            shift[c] = bias[c] - scale[c] * statistics.mean[c];
        }
        let (scale, shift) = (&*scale, &*shift);
        let weight = &pass.parameters[self.weight.clone()];
        let chunks = Chunks::even(features, CHUNK_FEATURES);
        let mut parts = vec![T::ZERO; chunks.len() * hidden];
        let outputs = (Rows::new(sized(map, features * hidden), hidden), ChunkRows::new(&mut parts, &chunks, hidden));
        chunks.run(outputs, |range, (map, part)| {
            let (map, part) = (map.into_slice(), part.into_slice());
            let rows = weight[range.start * hidden..range.end * hidden].chunks_exact(hidden);
            for ((c, row), map) in range.zip(rows).zip(map.chunks_exact_mut(hidden)) {
                for ((map, weight), sum) in map.iter_mut().zip(row).zip(&mut *part) {
                    *map = *weight * scale[c];
                    *sum += *weight * shift[c];
                }
            }
        });
        let mut bias = vec![T::ZERO; hidden];
        dense::add_column_sums(&mut bias, &parts);
        graph.input().affine_leaky_relu(map, &bias, RELU.slope(), sized(out, graph.num_nodes() * hidden));
    }

    /// From the gradient of the output (overwritten) to those of the parameters.
    pub(super) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        graph: &WholeGraph<T>,
        state: &mut StemState<T>,
        gradient: &mut [T],
    ) {
        let (hidden, features) = (self.hidden, graph.input().num_columns());
        let StemState { statistics, scale_and_shift, map, out } = state;
        let mut sums = vec![T::ZERO; hidden];
        RELU.backward(out, gradient, &mut sums);
        graph.input().weight_gradient(gradient, hidden, map);
        let (map, (scale, shift)) = (&map[..], scale_and_shift.split_at(features));
        let weight = &pass.parameters[self.weight.clone()];
        let mut of_norm = vec![T::ZERO; 2 * features];
        let [d_scale, d_bias] = cut_mut(&mut of_norm, [features; 2]);
        let outputs = (
            Rows::new(&mut pass.gradient[self.weight.clone()], hidden),
            Rows::new(&mut *d_scale, 1),
            Rows::new(&mut *d_bias, 1),
        );
        Chunks::even(features, CHUNK_FEATURES).run(outputs, |range, (d_weight, d_scale, d_bias)| {
            let rows = range.start * hidden..range.end * hidden;
            let rows = weight[rows.clone()].chunks_exact(hidden).zip(map[rows].chunks_exact(hidden));
            let norm = d_scale.into_slice().iter_mut().zip(d_bias.into_slice());
            let d_weight = d_weight.into_slice().chunks_exact_mut(hidden);
            for (((c, (weight, map)), (d_scale, d_bias)), d_weight) in range.zip(rows).zip(norm).zip(d_weight) {
                for (f, d_weight) in d_weight.iter_mut().enumerate() {
                    *d_weight = scale[c] * map[f] + shift[c] * sums[f];
                    *d_scale += weight[f] * map[f];
                    *d_bias += weight[f] * sums[f];
                }
            }
        });
        for c in 0..features {
            d_scale[c] = (d_scale[c] - statistics.mean[c] * d_bias[c]) * statistics.inverse[c];
        }
        pass.gradient[self.norm.parameters.clone()].copy_from_slice(&of_norm);
    }
}

#[cfg(test)]
mod tests {
    use carat_graph::{CsrMatrix, Dataset, DatasetParts, Features, Graph, Labels};

    use super::*;
    use crate::modules::differences::{assert_gradient, noise, values, weighted};

    /// Five nodes with three features, of which the second is always 0 and the third is dense.
    fn graph(sparse: bool) -> WholeGraph<f64> {
        let x = [1.0, 0.0, 2.0, 0.0, 0.0, -1.0, 3.0, 0.0, 0.5, 0.0, 0.0, 1.5, -2.0, 0.0, 1.0];
        let features = if sparse {
            let columns = vec![0, 2, 2, 0, 2, 2, 0, 2];
            let values = x.iter().copied().filter(|value| *value != 0.0).collect();
            Features::sparse(CsrMatrix::new(3, vec![0, 2, 3, 5, 6, 8], columns, values).unwrap()).unwrap()
        } else {
            Features::dense(5, 3, x.to_vec()).unwrap()
        };
        let labels = Labels::new(vec![Some(0); 5], 1).unwrap();
        let graph = Graph::from_edges(5, &[], &[]).unwrap();
        WholeGraph::new(&Dataset::new(DatasetParts::new("five", graph, features, labels)).unwrap()).unwrap()
    }

    #[test]
    fn outputs_are_those_of_normalised_features_and_gradients_the_derivatives() {
        let (hidden, weights) = (4, noise(20, 3));
        let mut layouts = Layouts::default();
        let stem = Stem::new(&mut layouts, 3, hidden);
        let (parameters, mut buffers) = values(&layouts);
        let mut outputs = Vec::new();
        for sparse in [true, false] {
            let graph = graph(sparse);
            let mut state = StemState::default();
            let mut loss = |parameters: &[f64]| {
                let mut pass = Forward { parameters, buffers: &mut buffers, training: true };
                stem.forward(&mut pass, &graph, &mut state);
                (weighted(&state.out, &weights), state.clone())
            };
            let (_, mut saved) = loss(&parameters);
            outputs.push(saved.out.clone());
            let mut gradient = vec![f64::NAN; parameters.len()];
            let mut pass = Backward { parameters: &parameters, gradient: &mut gradient };
            stem.backward(&mut pass, &graph, &mut saved, &mut weights.clone());
            assert_gradient("parameters", &parameters, &gradient, |parameters| loss(parameters).0);
        }
        assert!(outputs[0].iter().zip(&outputs[1][..]).all(|(sparse, dense)| (sparse - dense).abs() < 1e-12));
        assert!(outputs[0].contains(&0.0) && outputs[0].iter().any(|out| *out > 0.0));
    }
}
