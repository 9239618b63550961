//! Forward over targets: scores, softmax, dropout, and the sums of the heads.
//!
//! ```text
//! alpha_ijk = softmax_i(score_ijk)        out_j += join_k(sum_i alpha_ijk m_ijk g_ij value_ijk)
//! ```
//!
//! Where entries of messages are dropped, value_ijk is what is left of the edge's values.
//!
//! m is the mask of the dropout of attention, g the gate of the edge. Without edge i, the sum is (sum - alpha_ijk m_ijk
//! g_ij value_ijk) / (1 - alpha_ijk): the softmax shares alpha_ijk among the other edges, and their masks stay.

use pulp::Simd;

use super::Scores;
use super::view::{Edge, View};
use crate::kernels::aggregate::target_chunks;
use crate::kernels::prefetch::{Lookahead, prefetch_row};
use crate::kernels::softmax;
use crate::layers::{Original, Targets};
use crate::real::Real;
use crate::rows::{EdgeRows, Rows};

/// Fills `alpha` (edges x heads) and adds the joined heads to `out` (targets x F). For targets with an original, the
/// scores use the original's own values, and attention is filled only where it is needed.
pub(super) fn forward<T: Real>(
    view: View<'_, T>,
    scores: impl Scores<T>,
    targets: Targets<'_, T>,
    alpha: &mut [T],
    out: &mut [T],
) {
    let outputs = (EdgeRows::new(alpha, targets.offsets, view.shape.heads), Rows::new(out, view.shape.width));
    target_chunks(targets.offsets).run(outputs, |range, (alpha, out)| {
        let mut scratch = vec![T::ZERO; view.all() + view.row_width() + view.shape.heads];
        let (sums, scratch) = scratch.split_at_mut(view.all());
        let (row, weights) = scratch.split_at_mut(view.row_width());
        let buffers = [alpha.into_slice(), out.into_slice(), sums, row, weights];
        forward_rows(view, scores, targets, range.start, buffers);
    });
}

#[pulp::with_simd(forward_rows = T::machine())]
#[inline(always)]
fn forward_rows_simd<'a, S: Simd, T: Real, C: Scores<T>>(
    simd: S,
    view: View<'a, T>,
    scores: C,
    targets: Targets<'a, T>,
    first: usize,
    [alpha, out, sums, row, weights]: [&'a mut [T]; 5],
) {
    let heads = view.shape.heads;
    let offsets = targets.offsets;
    let mut message = view.message_row();
    let ahead = Lookahead::over(view.values).rows;
    // The target whose sums, with all its in-edges, are in `sums`. Deletions of one target follow each other.
    let mut summed = None;
    for (at, out) in out.chunks_exact_mut(view.shape.width).enumerate() {
        let j = first + at;
        let edges = offsets[j]..offsets[j + 1];
        let alpha = &mut alpha[(edges.start - offsets[first]) * heads..(edges.end - offsets[first]) * heads];
        let mut own = j;
        if let Some(original) = targets.original {
            own = original.rows[j] as usize;
            if let Some((source, lost)) = original.lost_edges().lost(j, heads) {
                if summed != Some(own) {
                    original_sums(simd, view, original, own, [&mut *sums, &mut *row, &mut *weights, &mut message]);
                    summed = Some(own);
                }
                let position = original.lost[j] as usize;
                view.weigh(position, lost, weights);
                let kept = |k: usize| view.share() / (T::ONE - lost[k]);
                let gone = |k: usize| -weights[k] * kept(k);
                view.add_scaled_heads(simd, out, sums, kept);
                if view.in_values {
                    view.fill_row(simd, position, &[], row);
                }
                if !message.is_empty() {
                    view.fill_message(position, source as usize, row, &mut message);
                    view.add_scaled_heads(simd, out, &message, gone);
                    continue;
                }
                view.add_scaled_heads(simd, out, view.value(source as usize), gone);
                if view.in_values {
                    view.add_scaled_heads(simd, out, row, gone);
                }
                continue;
            }
        }
        for (e, alpha) in edges.clone().zip(alpha.chunks_exact_mut(heads)) {
            if let Some(&later) = targets.sources.get(e + ahead) {
                prefetch_row(view.values, later, view.all());
                scores.ask_for_source(later);
            }
            let position = targets.position(e);
            view.fill_row(simd, position, scores.row_begins_with(own), row);
            let features = view.features(position);
            scores.score(simd, Edge { source: targets.sources[e] as usize, own, features, row }, alpha);
        }
        softmax::attention(simd, alpha, heads);
        sums.fill(T::ZERO);
        summed = None;
        for (e, alpha) in edges.zip(alpha.chunks_exact(heads)) {
            let position = targets.position(e);
            if view.in_values {
                view.fill_row(simd, position, &[], row);
            }
            view.weigh(position, alpha, weights);
            view.add_value(simd, sums, weights, (position, targets.sources[e] as usize), row, &mut message);
        }
        view.add_heads(simd, out, sums);
    }
}

/// The sums of a target with all its in-edges.
#[inline(always)]
fn original_sums<S: Simd, T: Real>(
    simd: S,
    view: View<'_, T>,
    original: Original<'_, T>,
    target: usize,
    [sums, row, weights, message]: [&mut [T]; 4],
) {
    let heads = view.shape.heads;
    sums.fill(T::ZERO);
    for e in original.block.offsets()[target]..original.block.offsets()[target + 1] {
        if view.in_values {
            view.fill_row(simd, e, &[], row);
        }
        view.weigh(e, &original.state.alpha[e * heads..(e + 1) * heads], weights);
        view.add_value(simd, sums, weights, (e, original.block.sources()[e] as usize), row, message);
    }
}
