//! A custom attention kind in one file: cosine attention.
//!
//! ```text
//! g_ik      = W_k h_i                    n_ik = g_ik / sqrt(|g_ik|^2 + epsilon)
//! score_ijk = beta_k n_ik . n_jk
//! alpha     = softmax of the score over N(j)
//! out_j     = (1/K) sum_k sum_i alpha_ijk g_ik + bias
//! ```
//!
//! epsilon makes the cosine smooth where a projection is zero and has no direction. Everything that carat does with a
//! kind, from interventions to causal attention regularisation, needs only the one trait implemented here. The loops
//! are plain ones; carat's own kinds share theirs over threads.
//!
//! ```sh
//! cargo run --release -p carat --example own_attention
//! ```

use carat::{Error, Lambda, TrainConfig, Trainer, coherence, score};
use carat_graph::generators::{PlantedConfig, planted};
use carat_graph::{Block, Blocks, Features, Graph};
use carat_nn::toolkit::{
    Matrix, MatrixMut, add_column_sums, cut, cut_mut, multiply, multiply_add, sized, softmax_edges,
};
use carat_nn::{
    Attention, Buffer, Init, Input, Layer, LayerShape, LayerState, Network, NetworkConfig, Parameter, Real, State,
    TargetState, Targets, Upstream, check,
};

const EPSILON: f64 = 1e-6;

/// The layer, which has no data besides its parameters.
#[derive(Debug)]
struct Cosine;

/// Nodes as the scores see them, sources or targets: g, n and 1 / sqrt(|g|^2 + epsilon).
#[derive(Default)]
struct Projected<T> {
    g: Buffer<T>,
    n: Buffer<T>,
    inverse: Buffer<T>,
}

/// Buffers of the backward pass.
#[derive(Default)]
struct Scratch<T> {
    d_g: Buffer<T>,
    d_n: Buffer<T>,
    d_scores: Buffer<T>,
}

/// Lengths of weight, beta, bias.
fn lengths(LayerShape { width, heads, .. }: LayerShape) -> [usize; 3] {
    [heads * width * width, heads, width]
}

impl<T: Real> Attention<T> for Cosine {
    fn parameters(&self, LayerShape { width, heads, .. }: LayerShape) -> Vec<Parameter> {
        vec![
            Parameter::new("weight", &[heads * width, width], Init::Glorot),
            Parameter::new("beta", &[heads], Init::Constant(1.0)),
            Parameter::new("bias", &[width], Init::Zeros),
        ]
    }

    fn sources(&self, layer: Layer<'_, T>, first: usize, state: &mut State) {
        let LayerShape { width, heads, .. } = layer.shape;
        let rows = layer.h.len() / width * heads;
        let Projected { g, n, inverse } = state.fill();
        let (g, n, inverse) = (sized(g, rows * width), sized(n, rows * width), sized(inverse, rows));
        let (start, values) = (first * heads, first * heads * width);
        project(layer, &layer.h[first * width..], &mut g[values..]);
        normalise(&g[values..], &mut n[values..], &mut inverse[start..]);
    }

    fn targets(
        &self,
        layer: Layer<'_, T>,
        sources: &State,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let LayerShape { width, heads, .. } = layer.shape;
        let [_, beta, bias] = cut(layer.parameters, lengths(layer.shape));
        let Projected { g: g_source, n: n_source, .. } = sources.read();
        let Projected { g, n, inverse } = state.own.fill();
        let rows = targets.len() * heads;
        let (g, n) = (sized(g, rows * width), sized(n, rows * width));
        project(layer, targets.h, g);
        normalise(g, n, sized(inverse, rows));

        let alpha = sized(&mut state.alpha, targets.num_edges() * heads);
        let share = T::ONE / T::from_f64(heads as f64);
        let row = |node: usize, k: usize| (node * heads + k) * width..(node * heads + k + 1) * width;
        for (j, out) in out.chunks_exact_mut(width).enumerate() {
            let neighbours = targets.in_neighbours(j);
            let alpha = &mut alpha[targets.offsets[j] * heads..targets.offsets[j + 1] * heads];
            for (&i, scores) in neighbours.iter().zip(alpha.chunks_exact_mut(heads)) {
                for (k, score) in scores.iter_mut().enumerate() {
                    *score = beta[k] * dot(&n_source[row(i as usize, k)], &n[row(j, k)]);
                }
            }
            softmax_edges(alpha, heads);
            out.copy_from_slice(bias);
            for (&i, alpha) in neighbours.iter().zip(alpha.chunks_exact(heads)) {
                for (k, &alpha) in alpha.iter().enumerate() {
                    add_scaled(out, share * alpha, &g_source[row(i as usize, k)]);
                }
            }
        }
    }

    /// Targets are the first sources and share their projection, so `d_n` sums the gradients of n of both sides.
    fn backward(
        &self,
        layer: Layer<'_, T>,
        block: Block<'_>,
        upstream: Upstream<'_, T>,
        state: &mut LayerState<T>,
        d_parameters: &mut [T],
        d_h: &mut [T],
    ) {
        let LayerShape { width, heads, .. } = layer.shape;
        let (rows, all) = (block.num_sources(), heads * width);
        let [weight, beta, _] = cut(layer.parameters, lengths(layer.shape));
        let [d_weight, d_beta, d_bias] = cut_mut(d_parameters, lengths(layer.shape));
        let Projected { g, n, inverse } = state.sources.read();
        let Scratch { d_g, d_n, d_scores } = state.scratch.fill();
        let (d_g, d_n) = (sized(d_g, rows * all), sized(d_n, rows * all));
        d_g.fill(T::ZERO);
        d_n.fill(T::ZERO);
        add_column_sums(d_bias, upstream.d_out);

        let alpha = &state.targets.alpha;
        let share = T::ONE / T::from_f64(heads as f64);
        let row = |node: usize, k: usize| (node * heads + k) * width..(node * heads + k + 1) * width;
        for (j, d_out) in upstream.d_out.chunks_exact(width).enumerate() {
            let edges = block.offsets()[j]..block.offsets()[j + 1];
            let d_scores = sized(d_scores, edges.len() * heads);
            for (e, d_alpha) in edges.clone().zip(d_scores.chunks_exact_mut(heads)) {
                let i = block.sources()[e] as usize;
                for (k, d_alpha) in d_alpha.iter_mut().enumerate() {
                    *d_alpha = share * dot(d_out, &g[row(i, k)]);
                    add_scaled(&mut d_g[row(i, k)], share * alpha[e * heads + k], d_out);
                }
            }
            upstream.through_softmax(edges.clone(), heads, alpha, d_scores);
            for (e, d_scores) in edges.zip(d_scores.chunks_exact(heads)) {
                let i = block.sources()[e] as usize;
                for (k, &d_score) in d_scores.iter().enumerate() {
                    d_beta[k] += d_score * dot(&n[row(i, k)], &n[row(j, k)]);
                    add_scaled(&mut d_n[row(i, k)], d_score * beta[k], &n[row(j, k)]);
                    add_scaled(&mut d_n[row(j, k)], d_score * beta[k], &n[row(i, k)]);
                }
            }
        }
        // d_g += (d_n - n (n . d_n)) / sqrt(|g|^2 + epsilon)
        for (row, d_g) in d_g.chunks_exact_mut(width).enumerate() {
            let (n, d_n) = (&n[row * width..(row + 1) * width], &d_n[row * width..(row + 1) * width]);
            add_scaled(d_g, inverse[row], d_n);
            add_scaled(d_g, -inverse[row] * dot(n, d_n), n);
        }
        let (d_g, h) = (Matrix::new(d_g, rows, all), Matrix::new(layer.h, rows, width));
        multiply_add(MatrixMut::new(d_weight, all, width), d_g.t(), h, T::ONE);
        multiply(MatrixMut::new(d_h, rows, width), d_g, Matrix::new(weight, all, width), T::ONE);
    }
}

/// g = h W^T, all heads of a node side by side.
fn project<T: Real>(layer: Layer<'_, T>, h: &[T], g: &mut [T]) {
    let LayerShape { width, heads, .. } = layer.shape;
    let [weight, ..] = cut(layer.parameters, lengths(layer.shape));
    let (rows, all) = (h.len() / width, heads * width);
    let weight = Matrix::new(weight, all, width).t();
    multiply(MatrixMut::new(g, rows, all), Matrix::new(h, rows, width), weight, T::ONE);
}

/// One row per node and head.
fn normalise<T: Real>(g: &[T], n: &mut [T], inverse: &mut [T]) {
    let width = g.len() / inverse.len().max(1);
    for (row, inverse) in inverse.iter_mut().enumerate() {
        let (g, n) = (&g[row * width..(row + 1) * width], &mut n[row * width..(row + 1) * width]);
        *inverse = T::ONE / (dot(g, g) + T::from_f64(EPSILON)).sqrt();
        n.iter_mut().zip(g).for_each(|(n, g)| *n = *inverse * *g);
    }
}

fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).map(|(x, y)| *x * *y).sum()
}

fn add_scaled<T: Real>(sum: &mut [T], factor: T, x: &[T]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * *x);
}

/// Checks the kind on a small graph, then trains it with and without regularisation.
pub fn main() -> Result<(), Error> {
    prove()?;
    let dataset = planted(&PlantedConfig { nodes: 600, ..PlantedConfig::default() })?;
    for lambda in [0.0, 1.0] {
        let config = TrainConfig::default().lambda(Lambda::new(lambda)).hidden(16).epochs(60);
        let split = config.choose_split(&dataset)?;
        let network = Network::with_attention(config.network_for(&dataset), Box::new(Cosine), config.seed)?;
        let (network, _) = Trainer::with_network(&dataset, &split, &config, network)?.run()?;
        let test = score(&network, &dataset, &split.test)?;
        let auc =
            coherence(&network, &dataset, &split.test, config.optimiser.batch_size)?.and_then(|c| c.attention_auc);
        println!("lambda {lambda}: test {test}, attention_auc {:.3}", auc.unwrap_or(f64::NAN));
        assert!(test.accuracy > 0.4, "five classes, so chance is 0.2");
    }
    Ok(())
}

/// Checks gradients against differences, and deletions against running without the edge: in 64 bits, on a graph with a
/// hub, a self-loop, a node with one in-edge and a node with none.
fn prove() -> Result<(), Error> {
    let graph = Graph::from_edges(7, &[0, 1, 2, 3, 4, 5, 3, 1, 6], &[0, 0, 0, 0, 0, 1, 1, 2, 2])?;
    let features = Features::dense(7, 3, (0..21).map(|i| (i as f32).sin()).collect())?;
    for (heads, layers) in [(1, 1), (3, 1), (2, 2), (2, 3)] {
        let sizes = NetworkConfig {
            features: 3,
            hidden: 4,
            heads,
            layers,
            classes: 3,
            arch: Default::default(),
            ..Default::default()
        };
        let mut network = Network::<f64>::with_attention(sizes, Box::new(Cosine), 0)?;
        let blocks = Blocks::whole(&graph, layers);
        let input = Input::new(&features, blocks.nodes());
        let checked = check::gradient(&mut network, &blocks, &input, &[0, 1, 2, 0]);
        let worst = checked.iter().map(|parameter| parameter.error).fold(0.0, f64::max);
        let deletions = check::deletions(&network, &blocks, &input);
        println!("K={heads}, L={layers}: gradients off by {worst:.0e}, deletions by {deletions:.0e}");
        assert!(checked.iter().all(|parameter| parameter.error < 1e-6) && deletions < 1e-9, "{checked:?}");
    }
    Ok(())
}
