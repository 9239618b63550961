//! Layers with heads side by side, edge features, and dropout of attention and messages: gradients, deletions, threads.

use std::sync::Arc;

use carat_graph::{BlockBuilder, Blocks, Graph};
use carat_nn::{
    Attention, AttentionKind, Dropout, Join, Layer, LayerEdges, LayerShape, LayerState, Masks, Original, Place, Real,
    TargetState, Targets, Upstream,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{Golden, compare_gradient};

/// A layer on some blocks with everything that it reads.
struct Case<T> {
    what: String,
    shape: LayerShape,
    attention: Arc<dyn Attention<T>>,
    blocks: Blocks,
    features: Vec<T>,
    dropout: Option<Dropout>,
    messages: Option<Dropout>,
    parameters: Vec<T>,
    h: Vec<T>,
    /// Gradients of the outputs and, of the first edges, of attention.
    d_out: Vec<T>,
    d_alpha: Vec<T>,
}

/// What a pass computes: outputs and attention, and the gradients of the parameters and of the inputs.
#[derive(Debug, PartialEq)]
struct Results<T> {
    out: Vec<T>,
    alpha: Vec<T>,
    d_parameters: Vec<T>,
    d_h: Vec<T>,
}

fn values<T: Real>(rng: &mut ChaCha8Rng, count: usize) -> Vec<T> {
    (0..count).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect()
}

impl<T: Real> Case<T> {
    fn new(
        kind: AttentionKind,
        shape: LayerShape,
        rate: f64,
        blocks: Blocks,
        regularised: usize,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let dropout = Masks::new(3, 9).at(Place::Attention(1), rate);
        let messages = Masks::new(3, 9).at(Place::Messages(1), rate / 2.0);
        let attention: Arc<dyn Attention<T>> = Arc::from(kind.attention::<T>(shape, dropout.is_some()));
        let block = blocks.layer(0);
        let count = attention.parameters(shape).iter().map(|parameter| parameter.len()).sum();
        Self {
            what: format!("{kind} {shape:?} dropout {rate}"),
            shape,
            attention,
            features: values(rng, block.num_edges() * shape.edge_features),
            dropout,
            messages,
            parameters: values(rng, count),
            h: values(rng, block.num_sources() * shape.width),
            d_out: values(rng, block.num_targets() * shape.width),
            d_alpha: values(rng, block.offsets()[regularised.min(block.num_targets())] * shape.heads),
            blocks,
        }
    }

    fn layer(&self) -> Layer<'_, T> {
        let Self { blocks, features, dropout, messages, .. } = self;
        let keys = blocks.edge_keys();
        let edges = LayerEdges { keys, features, dropout: *dropout, messages: *messages, ..LayerEdges::default() };
        Layer { shape: self.shape, parameters: &self.parameters, h: &self.h, edges }
    }

    fn forward(&self) -> (Vec<T>, LayerState<T>) {
        let (layer, block) = (self.layer(), self.blocks.layer(0));
        let mut state = LayerState::default();
        self.attention.sources(layer, 0, &mut state.sources);
        // Leftovers of an earlier pass.
        let mut out = vec![T::from_f64(9.0); self.d_out.len()];
        let targets = Targets::of_block(block, layer.h, self.shape.width);
        self.attention.targets(layer, &state.sources, targets, &mut out, &mut state.targets);
        (out, state)
    }

    /// sum of d_out out + d_alpha alpha
    fn loss(&self) -> f64 {
        let (out, state) = self.forward();
        let product = |a: &[T], b: &[T]| a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>();
        product(&out, &self.d_out) + product(&state.targets.alpha, &self.d_alpha)
    }

    fn run(&self) -> Results<T> {
        let (heads, block) = (self.shape.heads, self.blocks.layer(0));
        let (out, mut state) = self.forward();
        let alpha = state.targets.alpha.to_vec();
        // The gradient of attention taken to the scores.
        let mut d_attention = self.d_alpha.clone();
        for edges in block.offsets().windows(2).filter(|edges| edges[1] * heads <= self.d_alpha.len()) {
            for k in 0..heads {
                let at = |e: usize| e * heads + k;
                let mean: T = (edges[0]..edges[1]).map(|e| alpha[at(e)] * self.d_alpha[at(e)]).sum();
                for e in edges[0]..edges[1] {
                    d_attention[at(e)] = alpha[at(e)] * (self.d_alpha[at(e)] - mean);
                }
            }
        }
        let upstream = Upstream { d_out: &self.d_out, d_attention: &d_attention };
        let mut d_parameters = vec![T::ZERO; self.parameters.len()];
        let mut d_h = vec![T::from_f64(9.0); self.h.len()];
        // Twice, so that leftovers in buffers are met.
        for _ in 0..2 {
            d_parameters.fill(T::ZERO);
            self.attention.backward(self.layer(), block, upstream, &mut state, &mut d_parameters, &mut d_h);
        }
        Results { out, alpha, d_parameters, d_h }
    }
}

/// The derivative of `shifted` at 0, by five points, with the step that comes closest to `expected`: across the corner
/// of a LeakyReLU differences are wrong.
fn difference(expected: f64, mut shifted: impl FnMut(f64) -> f64) -> f64 {
    let by_step = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8].map(|step| {
        let mut at = |steps: f64| shifted(steps * step);
        (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step)
    });
    by_step.into_iter().min_by(|a, b| (a - expected).abs().total_cmp(&(b - expected).abs())).unwrap()
}

/// Compares the gradient of every parameter and of the inputs with differences, each along `directions` random ones.
fn check_gradients(mut case: Case<f64>, directions: usize, rng: &mut ChaCha8Rng) {
    let found = case.run();
    let mut start = 0;
    for parameter in case.attention.parameters(case.shape) {
        let range = start..start + parameter.len();
        start = range.end;
        for _ in 0..directions {
            let direction: Vec<f64> = values(rng, range.len());
            let gradient = &found.d_parameters[range.clone()];
            let analytic: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let unchanged = case.parameters[range.clone()].to_vec();
            let numeric = difference(analytic, |step| {
                let shifted = unchanged.iter().zip(&direction).map(|(value, direction)| value + step * direction);
                case.parameters[range.clone()].iter_mut().zip(shifted).for_each(|(value, shifted)| *value = shifted);
                case.loss()
            });
            case.parameters[range.clone()].copy_from_slice(&unchanged);
            let scale = 1.0 + gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let error = (analytic - numeric).abs() / scale;
            assert!(error < 1e-7, "{}: {} is {analytic}, differences give {numeric}", case.what, parameter.name);
        }
    }
    for _ in 0..directions {
        let direction: Vec<f64> = values(rng, case.h.len());
        let analytic: f64 = found.d_h.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let unchanged = case.h.clone();
        let numeric = difference(analytic, |step| {
            case.h = unchanged.iter().zip(&direction).map(|(value, direction)| value + step * direction).collect();
            case.loss()
        });
        case.h = unchanged;
        let scale = 1.0 + found.d_h.iter().map(|g| g * g).sum::<f64>().sqrt();
        let error = (analytic - numeric).abs() / scale;
        assert!(error < 1e-7, "{}: the inputs' is {analytic}, differences give {numeric}", case.what);
    }
}

/// A hub with a self-loop, isolated nodes, a node with one in-edge, and random edges.
fn graph(rng: &mut ChaCha8Rng, nodes: u32, edges: usize) -> Graph {
    let (mut src, mut dst): (Vec<u32>, Vec<u32>) = (0..nodes).filter(|n| n % 3 > 0).map(|n| (n, 4)).unzip();
    src.extend([4, 5]);
    dst.extend([4, 6]);
    for _ in 0..edges {
        src.push(rng.random_range(3..nodes));
        dst.push(rng.random_range(7..nodes));
    }
    Graph::from_edges(nodes as usize, &src, &dst).unwrap()
}

fn blocks(rng: &mut ChaCha8Rng, whole: bool) -> Blocks {
    let graph = graph(rng, 14, 20);
    if whole { Blocks::whole(&graph, 1) } else { BlockBuilder::new(&graph).build(&[4, 0, 6, 11, 9], 1) }
}

fn shapes() -> impl Strategy<Value = LayerShape> {
    (1usize..6, 1usize..11, 0usize..4, any::<bool>()).prop_map(|(heads, columns, edge_features, concat)| {
        let join = if concat { Join::Concat } else { Join::Mean };
        LayerShape { width: if concat { heads * columns } else { columns }, heads, join, edge_features }
    })
}

/// Equal but for rounding.
fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{what}: {found} instead of {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn gradients_equal_differences(shape in shapes(), seed: u64, whole: bool, dropped: bool, regularised in 0usize..8) {
        for kind in AttentionKind::ALL {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let blocks = blocks(&mut rng, whole);
            let rate = if dropped { 0.4 } else { 0.0 };
            let case = Case::new(kind, shape, rate, blocks, regularised, &mut rng);
            check_gradients(case, 2, &mut rng);
        }
    }

    #[test]
    fn deletions_equal_layers_without_the_edge(shape in shapes(), seed: u64, whole: bool, dropped: bool) {
        for kind in AttentionKind::ALL {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let blocks = blocks(&mut rng, whole);
            let rate = if dropped { 0.4 } else { 0.0 };
            check_deletions(&Case::new(kind, shape, rate, blocks, 0, &mut rng));
        }
    }

    #[test]
    fn sources_can_be_added(shape in shapes(), seed: u64) {
        for kind in AttentionKind::ALL {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let blocks = blocks(&mut rng, true);
            let case = Case::<f64>::new(kind, shape, 0.3, blocks, 0, &mut rng);
            let (expected, _) = case.forward();
            let (layer, mut state) = (case.layer(), LayerState::default());
            case.attention.sources(Layer { h: &case.h[..5 * shape.width], ..layer }, 0, &mut state.sources);
            case.attention.sources(layer, 5, &mut state.sources);
            let mut out = vec![9.0; expected.len()];
            let targets = Targets::of_block(case.blocks.layer(0), layer.h, shape.width);
            case.attention.targets(layer, &state.sources, targets, &mut out, &mut state.targets);
            close(&out, &expected, &case.what);
        }
    }
}

/// The outputs by their definition: every message of its own, entry by entry, times its attention.
#[test]
fn messages_are_dropped_entry_by_entry() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for (kind, join) in AttentionKind::ALL.into_iter().flat_map(|kind| Join::ALL.map(|join| (kind, join))) {
        for (edge_features, rate) in [(0, 0.0), (2, 0.0), (2, 0.6)] {
            let shape = LayerShape { width: 6, heads: 2, join, edge_features };
            let mut case = Case::<f64>::new(kind, shape, 0.6, blocks(&mut rng, false), 0, &mut rng);
            case.dropout = case.dropout.filter(|_| rate > 0.0);
            let messages = case.messages.unwrap();
            let (found, state) = case.forward();
            let layout = case.attention.parameters(shape);
            let named = |name: &str| {
                let at = layout.iter().position(|parameter| parameter.name == name)?;
                let start: usize = layout[..at].iter().map(|parameter| parameter.len()).sum();
                Some(&case.parameters[start..start + layout[at].len()])
            };
            let projection = ["lin.weight", "lin_l.weight", "lin_value.weight"].into_iter().find_map(named).unwrap();
            let bias = ["lin_l.bias", "lin_value.bias"].into_iter().find_map(named);
            let of_edges = named("lin_edge.weight").filter(|_| kind == AttentionKind::Transformer);
            let (block, columns) = (case.blocks.layer(0), shape.head_width());
            // What a node has without in-edges.
            let all: Vec<u32> = (0..block.num_edges() as u32).collect();
            let alone = Case {
                blocks: case.blocks.without(&all),
                features: vec![],
                what: String::new(),
                attention: case.attention.clone(),
                parameters: case.parameters.clone(),
                h: case.h.clone(),
                d_out: case.d_out.clone(),
                d_alpha: vec![],
                ..case
            };
            let (mut expected, _) = alone.forward();
            let mut dropped = 0;
            for j in 0..block.num_targets() {
                for e in block.offsets()[j]..block.offsets()[j + 1] {
                    let key = case.blocks.edge_keys()[e];
                    let h = &case.h[block.sources()[e] as usize * 6..][..6];
                    for c in 0..2 * columns {
                        let dot = |weight: &[f64], x: &[f64]| {
                            x.iter().zip(&weight[c * x.len()..]).map(|(x, w)| x * w).sum::<f64>()
                        };
                        let features = &case.features[e * edge_features..(e + 1) * edge_features];
                        let value = dot(projection, h)
                            + bias.map_or(0.0, |bias| bias[c])
                            + of_edges.map_or(0.0, |weight| dot(weight, features));
                        let k = c / columns;
                        let kept: f64 = messages.row(key).factor(c as u32);
                        dropped += usize::from(kept == 0.0);
                        let alpha = state.targets.alpha[e * 2 + k]
                            * case.dropout.map_or(1.0, |mask| mask.row(key).factor(k as u32));
                        let (share, place) = if join == Join::Mean { (0.5, c % columns) } else { (1.0, c) };
                        expected[j * 6 + place] += share * alpha * kept * value;
                    }
                }
            }
            assert!(dropped > 0 && dropped < block.num_edges() * 2 * columns);
            close(&found, &expected, &case.what);
        }
    }
}

/// Deletes every edge: with the original's results at hand, without them, and by a layer on blocks without the edge.
fn check_deletions(case: &Case<f64>) {
    let (LayerShape { width, edge_features, .. }, block) = (case.shape, case.blocks.layer(0));
    let (mut rows, mut offsets, mut sources, mut positions, mut own) = (vec![], vec![0], vec![], vec![], vec![]);
    let mut expected = Vec::new();
    for j in 0..block.num_targets() {
        for lost in block.offsets()[j]..block.offsets()[j + 1] {
            let kept = (block.offsets()[j]..block.offsets()[j + 1]).filter(|e| *e != lost);
            sources.extend(kept.clone().map(|e| block.sources()[e]));
            positions.extend(kept.map(|e| e as u32));
            offsets.push(sources.len());
            rows.push(j as u32);
            own.extend_from_slice(&case.h[j * width..(j + 1) * width]);
            let mut features = case.features.clone();
            features.drain(lost * edge_features..(lost + 1) * edge_features);
            let cut = Case {
                what: case.what.clone(),
                attention: case.attention.clone(),
                blocks: case.blocks.without(&[lost as u32]),
                features,
                parameters: case.parameters.clone(),
                h: case.h.clone(),
                d_out: case.d_out.clone(),
                d_alpha: vec![],
                ..*case
            };
            expected.extend_from_slice(&cut.forward().0[j * width..(j + 1) * width]);
        }
    }
    let lost: Vec<u32> = (0..block.num_edges() as u32).collect();
    let (before, state) = case.forward();
    let original = Original { state: &state.targets, block, rows: &rows, lost: &lost };
    for original in [Some(original), None] {
        let targets = Targets {
            offsets: &offsets,
            sources: &sources,
            positions: Some(&positions),
            h: &own,
            products: None,
            original,
        };
        let (mut out, mut fresh) = (vec![9.0; own.len()], TargetState::default());
        case.attention.targets(case.layer(), &state.sources, targets, &mut out, &mut fresh);
        close(&out, &expected, &format!("{}, originals given: {}", case.what, original.is_some()));
    }
    assert_eq!(case.forward().0, before);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for kind in AttentionKind::ALL {
        for (join, heads, edge_features) in [(Join::Concat, 8, 0), (Join::Concat, 4, 3), (Join::Mean, 2, 2)] {
            let run = |threads: usize| {
                let mut rng = ChaCha8Rng::seed_from_u64(5);
                let blocks = Blocks::whole(&graph(&mut rng, 2000, 6000), 1);
                let shape = LayerShape { width: 32, heads, join, edge_features };
                let case = Case::<f32>::new(kind, shape, 0.3, blocks, 1500, &mut rng);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| case.run())
            };
            let one = run(1);
            assert!(one.out.iter().all(|value| value.is_finite()));
            for threads in [2, 5] {
                assert!(run(threads) == one, "{kind} {join} with {threads} threads");
            }
        }
    }
}

/// Outputs, attention and gradients of single layers against PyG's. `tools/golden/make_attention_golden.py` makes the
/// files.
#[test]
fn layers_equal_pyg() {
    let file = Golden::open("small");
    let edges = file.integers("edge_index");
    let (src, dst) = edges.split_at(edges.len() / 2);
    let blocks = Blocks::whole(&Graph::from_edges(40, src, dst).unwrap(), 1);
    let (width, dropped) = (16, Masks::new(7, 3).at(Place::Layer(1), 0.4));
    for kind in AttentionKind::ALL {
        for (join, heads, edge_features) in
            [(Join::Concat, 2, 0), (Join::Concat, 4, 3), (Join::Mean, 3, 0), (Join::Mean, 3, 3)]
        {
            let name = format!("layer_{kind}_{join}{}", if edge_features > 0 { "_edges" } else { "" });
            let golden = Golden::open(&name);
            let shape = LayerShape { width, heads, join, edge_features };
            for dropout in [None, dropped] {
                let attention: Arc<dyn Attention<f32>> = Arc::from(kind.attention(shape, dropout.is_some()));
                let layout = attention.parameters(shape);
                let parameters =
                    layout.iter().flat_map(|parameter| golden.floats(&format!("param.{}", parameter.name)));
                let case = Case {
                    what: format!("{name}, dropout {}", dropout.is_some()),
                    shape,
                    attention: attention.clone(),
                    blocks: blocks.clone(),
                    features: if edge_features > 0 { golden.floats("edge_attr") } else { vec![] },
                    dropout,
                    messages: None,
                    parameters: parameters.collect(),
                    h: golden.floats("h"),
                    d_out: golden.floats("d_out"),
                    d_alpha: vec![],
                };
                let found = case.run();
                let prefix = if dropout.is_some() { "dropped." } else { "" };
                let equal = |found: &[f32], name: &str, tolerance: f64| {
                    let expected = golden.floats(name);
                    assert_eq!(found.len(), expected.len(), "{} {name}", case.what);
                    for (found, expected) in found.iter().zip(expected) {
                        crate::support::close(*found, expected, tolerance, &format!("{} {name}", case.what));
                    }
                };
                equal(&found.out, &format!("{prefix}out"), 1e-4);
                // Dropout leaves attention itself as it is.
                equal(&found.alpha, "alpha", 1e-5);
                let gradient = |found: &[f32], name: &str| {
                    let expected = golden.floats(&format!("{prefix}grad.{name}"));
                    compare_gradient(found, &expected, &format!("{} {name}", case.what));
                };
                gradient(&found.d_h, "h");
                let mut start = 0;
                for parameter in &layout {
                    let range = start..start + parameter.len();
                    start = range.end;
                    gradient(&found.d_parameters[range], &parameter.name);
                }
            }
        }
    }
}
