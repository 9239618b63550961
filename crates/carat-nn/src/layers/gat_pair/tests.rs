//! Two layers together against one after the other.

use super::*;
use crate::layers::{Layer, LayerEdges};
use carat_graph::{BlockBuilder, Graph};
use proptest::prelude::*;

const WIDTH: usize = 3;

fn values(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 211) as f64 / 105.0 - 1.0).collect()
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()))
}

fn layer<'a>(shape: LayerShape, parameters: &'a [f64], h: &'a [f64]) -> Layer<'a, f64> {
    Layer { shape, parameters, h, edges: LayerEdges::default() }
}

/// The gradients of both layers' parameters and of the lower one's inputs.
type Gradients = ([Vec<f64>; 2], Vec<f64>);

proptest! {
    /// Whether or not it pays, and on any graph: targets with more and with fewer in-edges than heads, and with none.
    #[test]
    fn two_layers_together_equal_one_after_the_other(
        edges in proptest::collection::vec((0u32..12, 0u32..12), 0..40),
        targets in proptest::collection::vec(0u32..12, 1..5),
        heads in 1usize..5,
    ) {
        let (src, dst): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
        let graph = Graph::from_edges(12, &src, &dst).unwrap();
        let blocks = BlockBuilder::new(&graph).build(&targets, 2);
        let [below, above] = [0, 1].map(|l| blocks.layer(l));
        let shape = LayerShape::averaged(WIDTH, heads);
        let length: usize = lengths(shape).iter().sum();
        let parameters = [1, 2].map(|seed| values(length, seed));
        let h = values(below.num_sources() * WIDTH, 3);
        let d_out = values(above.num_targets() * WIDTH, 4);
        let d_attention = [below, above].map(|block| values(block.num_edges() * heads, 5));

        let mut one_by_one = [LayerState::default(), LayerState::default()];
        let mut inner = vec![0.0; below.num_targets() * WIDTH];
        let mut out = vec![0.0; above.num_targets() * WIDTH];
        let mut run = |l: usize, block, input: &[f64], output: &mut [f64]| {
            Gat.sources(layer(shape, &parameters[l], input), 0, &mut one_by_one[l].sources);
            let LayerState { sources, targets, .. } = &mut one_by_one[l];
            let rows = Targets::of_block(block, input, WIDTH);
            Gat.targets(layer(shape, &parameters[l], input), sources, rows, output, targets);
        };
        run(0, below, &h, &mut inner);
        run(1, above, &inner, &mut out);
        let mut expected: Gradients = ([(); 2].map(|()| vec![0.0; length]), vec![0.0; h.len()]);
        let mut d_inner = vec![0.0; inner.len()];
        let upstream = Upstream { d_out: &d_out, d_attention: &d_attention[1] };
        let (top, state) = (layer(shape, &parameters[1], &inner), &mut one_by_one[1]);
        Gat.backward(top, above, upstream, state, &mut expected.0[1], &mut d_inner);
        let upstream = Upstream { d_out: &d_inner, d_attention: &d_attention[0] };
        let (bottom, state) = (layer(shape, &parameters[0], &h), &mut one_by_one[0]);
        Gat.backward(bottom, below, upstream, state, &mut expected.0[0], &mut expected.1);

        let layers = |inner| {
            let lower = PairedLayer { layer: layer(shape, &parameters[0], &h), block: below };
            [lower, PairedLayer { layer: layer(shape, &parameters[1], inner), block: above }]
        };
        let [mut lower, mut upper] = [LayerState::default(), LayerState::default()];
        let mut pair = State::default();
        let mut together = vec![f64::NAN; out.len()];
        GatPair.forward(layers(&[]), [&mut lower, &mut upper], &mut pair, None, &mut together);
        prop_assert!(close(&together, &out));
        prop_assert!(close(&upper.targets.alpha, &one_by_one[1].targets.alpha));
        let mut kept = [LayerState::default(), LayerState::default()];
        let [kept_lower, kept_upper] = &mut kept;
        let mut pair_kept = State::default();
        let mut found_inner = vec![f64::NAN; inner.len()];
        together.fill(f64::NAN);
        GatPair.forward(layers(&[]), [kept_lower, kept_upper], &mut pair_kept, Some(&mut found_inner), &mut together);
        prop_assert!(close(&together, &out));
        prop_assert!(close(&kept[1].targets.alpha, &one_by_one[1].targets.alpha));
        for n in 0..above.num_sources() {
            let row = n * WIDTH..(n + 1) * WIDTH;
            let is_source = above.sources().contains(&(n as u32));
            prop_assert!(!is_source || close(&found_inner[row.clone()], &inner[row.clone()]), "output {n}");
            let scores = |states: &[LayerState<f64>; 2]| {
                states[1].sources.read::<Sources<f64>>().score[n * heads..][..heads].to_vec()
            };
            prop_assert!(!is_source || close(&scores(&one_by_one), &scores(&kept)), "score {n}");
            prop_assert!(is_source || found_inner[row].iter().all(|value| *value == 0.0), "no output {n}");
        }
        let after_one_by_one = (layers(&inner), one_by_one, State::default());
        for (layers, [mut lower, mut upper], mut pair) in
            [(layers(&[]), [lower, upper], pair), (layers(&found_inner), kept, pair_kept), after_one_by_one]
        {
            let upstream = [(&[][..], &d_attention[0]), (&d_out[..], &d_attention[1])]
                .map(|(d_out, d_attention)| Upstream { d_out, d_attention });
            let mut found: Gradients = ([(); 2].map(|()| vec![0.0; length]), vec![f64::NAN; h.len()]);
            let [d_lower, d_upper] = &mut found.0;
            let states = [&mut lower, &mut upper];
            GatPair.backward(layers, upstream, states, &mut pair, [d_lower, d_upper], &mut found.1);
            prop_assert!(close(&found.0[1], &expected.0[1]), "the upper layer's parameters");
            prop_assert!(close(&found.0[0], &expected.0[0]), "the lower layer's parameters");
            prop_assert!(close(&found.1, &expected.1), "the inputs");
        }
    }
}
