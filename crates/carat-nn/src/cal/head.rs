//! A classifier of one branch: scores = BN(ReLU(BN(x) W1^T + b1)) W2^T + b2.

use crate::buffer::Buffer;
use crate::modules::{Backward, BatchNorm, Forward, Layouts, Linear, Statistics};
use crate::real::Real;
use crate::toolkit::sized;

/// Two normalised linear maps.
#[derive(Debug, Clone)]
pub(super) struct Head {
    norms: [BatchNorm; 2],
    hidden_map: Linear,
    score_map: Linear,
    classes: usize,
}

/// The results of a pass.
#[derive(Debug, Clone, Default)]
pub(super) struct HeadState<T> {
    statistics: [Statistics<T>; 2],
    normed: [Buffer<T>; 2],
    hidden: Buffer<T>,
    pub(super) scores: Buffer<T>,
    pub(super) d_scores: Buffer<T>,
}

impl Head {
    /// `suffix` ends the names of the parameters: c, o or co.
    pub(super) fn new(layouts: &mut Layouts, suffix: &str, hidden: usize, classes: usize) -> Self {
        let first = BatchNorm::new(layouts, &format!("fc1_bn_{suffix}"), hidden);
        let hidden_map = Linear::torch(&mut layouts.parameters, &format!("fc1_{suffix}"), hidden, hidden);
        let second = BatchNorm::new(layouts, &format!("fc2_bn_{suffix}"), hidden);
        let score_map = Linear::torch(&mut layouts.parameters, &format!("fc2_{suffix}"), hidden, classes);
        Self { norms: [first, second], hidden_map, score_map, classes }
    }

    /// Fills `state.scores`.
    pub(super) fn forward<T: Real>(&self, pass: &mut Forward<'_, T>, x: &[T], nodes: usize, state: &mut HeadState<T>) {
        let HeadState { statistics: [first, second], normed: [normed, normed_hidden], hidden, scores, .. } = state;
        self.norms[0].forward(pass, x, first, sized(normed, x.len()));
        self.hidden_map.affine_relu(pass.parameters, normed, sized(hidden, x.len()));
        self.norms[1].forward(pass, hidden, second, sized(normed_hidden, x.len()));
        self.score_map.affine(pass.parameters, normed_hidden, sized(scores, nodes * self.classes));
    }

    /// From `state.d_scores` to the gradients of the parameters and of `x`; overwrites the latter.
    pub(super) fn backward<T: Real>(
        &self,
        pass: &mut Backward<'_, T>,
        x: &[T],
        state: &HeadState<T>,
        d_x: &mut Buffer<T>,
        scratch: &mut Buffer<T>,
    ) {
        let (d_x, d_hidden) = (sized(d_x, x.len()), sized(scratch, x.len()));
        self.score_map.bias_backward(pass, &state.d_scores);
        self.score_map.product_backward(pass, &state.normed[1], &state.d_scores, d_hidden);
        self.norms[1].backward(pass, &state.hidden, &state.statistics[1], d_hidden);
        self.hidden_map.bias_relu_backward(pass, &state.hidden, d_hidden);
        self.hidden_map.product_backward(pass, &state.normed[0], d_hidden, d_x);
        self.norms[0].backward(pass, x, &state.statistics[0], d_x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::differences::{assert_gradient, noise, values, weighted};

    #[test]
    fn gradients_are_the_derivatives() {
        let (nodes, hidden, classes) = (6, 4, 3);
        let mut layouts = Layouts::default();
        let head = Head::new(&mut layouts, "o", hidden, classes);
        let (parameters, mut buffers) = values(&layouts);
        let (x, weights) = (noise(nodes * hidden, 2), noise(nodes * classes, 3));
        let mut state = HeadState::default();
        let mut loss = |parameters: &[f64], x: &[f64]| {
            let mut pass = Forward { parameters, buffers: &mut buffers, training: true };
            head.forward(&mut pass, x, nodes, &mut state);
            (weighted(&state.scores, &weights), state.clone())
        };
        let (_, mut saved) = loss(&parameters, &x);
        saved.d_scores = Buffer::from(&weights[..]);
        let (mut d_parameters, mut d_x) = (vec![f64::NAN; parameters.len()], Buffer::default());
        let mut pass = Backward { parameters: &parameters, gradient: &mut d_parameters };
        head.backward(&mut pass, &x, &saved, &mut d_x, &mut Buffer::default());
        assert_gradient("parameters", &parameters, &d_parameters, |parameters| loss(parameters, &x).0);
        assert_gradient("x", &x, &d_x, |x| loss(&parameters, x).0);
    }
}
