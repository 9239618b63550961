//! Products of a few vectors with GAT's outputs at targets that have lost an in-edge, without the outputs.
//!
//! Led through the value matrices, vector c is f_ck for head k, and its product with the output is linear in the sums over
//! the in-edges, as these are in what the lost source i had offered with attention alpha_ik:
//!
//! ```text
//! c . out' = c . bias + sum_k f_ck . agg'_k
//! f_ck . agg'_k = (f_ck . agg_k - alpha_ik f_ck . h_i) / (1 - alpha_ik)
//! ```
//!
//! So K numbers per vector and target, and as many per lost source, take the place of K rows of F.

use pulp::Simd;

use super::GatScore;
use crate::kernels::aggregate::{AGGREGATE, Score, Shape, neighbour_sums, target_chunks};
use crate::kernels::heads::dots_by_head;
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::{softmax, vector};
use crate::layers::Known;
use crate::real::Real;
use crate::rows::{EdgeRows, Rows};

/// Deletions ahead of the one at hand whose source is asked for.
const AHEAD: usize = 2;

/// Writes the products of every vector with every target's output, a row of products per target. `folded` are the vectors'
/// products with the bias, and the f_ck, vector by vector. Attention is filled only where it is needed.
pub(super) fn less_an_edge<T: Real>(
    shape: Shape<'_, T>,
    known: Known<'_, T>,
    score: GatScore<'_, T>,
    folded: [&[T]; 2],
    alpha: &mut [T],
    products: &mut [T],
) {
    let offsets = shape.targets.offsets;
    let outputs = (EdgeRows::new(alpha, offsets, shape.heads), Rows::new(products, folded[0].len()));
    target_chunks(offsets).run(outputs, |range, (alpha, products)| {
        product_rows(shape, known, score, folded, range.start, alpha.into_slice(), products.into_slice());
    });
}

#[pulp::with_simd(product_rows = pulp::Arch::new())]
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn product_rows_simd<'a, S: Simd, T: Real>(
    simd: S,
    shape: Shape<'a, T>,
    known: Known<'a, T>,
    score: GatScore<'a, T>,
    folded: [&'a [T]; 2],
    first: usize,
    alpha: &'a mut [T],
    products: &'a mut [T],
) {
    let (heads, width) = (shape.heads, shape.width);
    let offsets = shape.targets.offsets;
    let [bias, vectors] = folded;
    let all = heads * width;
    // f_ck . agg_k of the target at hand, whose deletions stand together; f_ck . h_i; and sums that are formed anew.
    let mut scratch = vec![T::ZERO; 2 * bias.len() * heads + all];
    let (of_target, rest) = scratch.split_at_mut(bias.len() * heads);
    let (of_source, sums) = rest.split_at_mut(bias.len() * heads);
    let mut at_hand = usize::MAX;
    for (row, products) in products.chunks_exact_mut(bias.len()).enumerate() {
        let j = first + row;
        let own = known.rows[j] as usize;
        // Sources lie anywhere, and each is met once.
        if let Some(&later) = known.lost.get(j + AHEAD) {
            prefetch_row(shape.h, known.block.sources()[later as usize], width);
        }
        if let Some((source, lost)) = known.lost(j, heads) {
            if at_hand != own {
                head_products(
                    simd,
                    vectors,
                    &known.state.buffers[AGGREGATE][own * all..(own + 1) * all],
                    of_target,
                    heads,
                );
                at_hand = own;
            }
            dots_by_head(simd, vectors, shape.source(source), of_source);
            products.copy_from_slice(bias);
            for (k, &lost) in lost.iter().enumerate() {
                let kept = T::ONE / (T::ONE - lost);
                for (c, product) in products.iter_mut().enumerate() {
                    *product += kept * (of_target[c * heads + k] - lost * of_source[c * heads + k]);
                }
            }
            continue;
        }
        let alpha = &mut alpha[(offsets[j] - offsets[first]) * heads..(offsets[j + 1] - offsets[first]) * heads];
        score.row(simd, shape, j, own, alpha);
        softmax::attention(simd, alpha, heads);
        neighbour_sums(simd, shape, j, alpha, sums);
        for ((product, &bias), vectors) in products.iter_mut().zip(bias).zip(vectors.chunks_exact(all)) {
            *product = bias + vector::dot(simd, vectors, sums);
        }
    }
}

/// f_ck . agg_k for every vector and head.
#[inline(always)]
fn head_products<S: Simd, T: Real>(simd: S, vectors: &[T], aggregate: &[T], products: &mut [T], heads: usize) {
    let width = aggregate.len() / heads;
    for (at, (product, vector)) in products.iter_mut().zip(vectors.chunks_exact(width)).enumerate() {
        let head = at % heads;
        *product = vector::dot(simd, vector, &aggregate[head * width..(head + 1) * width]);
    }
}
