//! The function that is applied to every row of an attention layer's output before the row is read.
//!
//! ```text
//! h = act(z)        z: the layer's output; in the paper's network h is z itself
//! ```
//!
//! Forward passes, backward passes and deletions all call it, so a row that a deletion computes again is computed as in
//! the forward pass.

use super::Activation;
use crate::real::Real;

/// An optional activation; the identity without one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LayerActivation {
    pub(crate) activation: Option<Activation>,
}

impl LayerActivation {
    /// Whether rows are left unchanged, so that two layers can be computed as one linear map.
    pub(crate) fn is_identity(self) -> bool {
        self.activation.is_none()
    }

    /// Applies the function to rows of a layer's output, in place.
    pub(crate) fn forward<T: Real>(self, rows: &mut [T]) {
        if let Some(activation) = self.activation {
            activation.forward(rows);
        }
    }

    /// Turns the gradient of `rows`, the output of `forward`, into that of the layer's output, in place.
    pub(crate) fn backward<T: Real>(self, rows: &[T], gradient: &mut [T]) {
        if let Some(activation) = self.activation {
            activation.backward_here(rows, gradient);
        }
    }
}

#[cfg(test)]
mod tests {
    use carat_graph::{BlockBuilder, Features, Graph};

    use crate::modules::RELU;
    use crate::{AttentionKind, Input, Network, NetworkConfig, check};

    /// With and without self-loops, which decides how deletions are computed.
    #[test]
    fn gradients_and_deletions_go_through_it() {
        let edges = [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (0, 2), (6, 3), (7, 4), (3, 5), (2, 6), (1, 7), (5, 4)];
        for loops in [&[][..], &[(0, 0), (3, 3)]] {
            let (src, dst): (Vec<u32>, Vec<u32>) = edges.iter().chain(loops).copied().unzip();
            let graph = Graph::from_edges(8, &src, &dst).unwrap();
            let features = Features::dense(8, 3, (0..24).map(|i| (5.0 * i as f32).sin()).collect()).unwrap();
            for arch in AttentionKind::ALL {
                for layers in [1, 2, 3] {
                    let config = NetworkConfig { arch, features: 3, hidden: 5, heads: 2, layers, classes: 3 };
                    let mut network = Network::<f64>::new(config, 4).unwrap();
                    network.layer_activation.activation = Some(RELU);
                    let blocks = BlockBuilder::new(&graph).build(&[0, 1, 4], layers);
                    let input = Input::new(&features, blocks.nodes());
                    let without = Network::<f64>::new(config, 4).unwrap();
                    assert_ne!(scores(&network, &blocks, &input), scores(&without, &blocks, &input));
                    for parameter in check::gradient(&mut network, &blocks, &input, &[0, 1, 2]) {
                        assert!(parameter.error < 1e-6, "{arch} L={layers}: {parameter:?}");
                    }
                    let worst = check::deletions(&network, &blocks, &input);
                    assert!(worst < 1e-9, "{arch} L={layers}: {worst:e}");
                }
            }
        }
    }

    fn scores(network: &Network<f64>, blocks: &carat_graph::Blocks, input: &Input<f64>) -> Vec<f64> {
        use crate::{Keep, Pass, Workspace};
        network.forward(blocks, input, Keep::Gradients, &mut Workspace::default()).scores().to_vec()
    }
}
