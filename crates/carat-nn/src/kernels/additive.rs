//! The gradients of additive attention, score = a . LeakyReLU(l_i + r_j), of one head.
//!
//! With z = l_i + r_j, g(z) its LeakyReLU's slope (1 or s) and d_e the gradient of edge e's score:
//!
//! ```text
//! target j:   p = sum_e d_e g(z_e)      d_r = a p      d_a += sum_e d_e g(z_e) z_e = sum_e d_e g(z_e) l_e + r p
//! source i:   d_l = sum_e alpha_e d_out_e + a sum_e d_e g(z_e)
//! ```
//!
//! z is computed again edge by edge; nothing of the size of edges x F is kept.

use carat_graph::Block;
use pulp::Simd;

use super::columns::{ColumnKernel, Columns, by_columns};
use super::vector::{leaky_relu, leaky_relu_gradient};
use crate::real::Real;

/// A head's columns of rows that hold all heads.
#[derive(Clone, Copy)]
pub(crate) struct HeadColumns<'a, T> {
    pub(crate) rows: &'a [T],
    pub(crate) heads: usize,
    pub(crate) width: usize,
    pub(crate) head: usize,
}

impl<'a, T> HeadColumns<'a, T> {
    #[inline(always)]
    fn row(&self, row: usize) -> &'a [T] {
        let start = (row * self.heads + self.head) * self.width;
        &self.rows[start..start + self.width]
    }
}

/// The terms of one target's gradients.
pub(crate) struct TargetSide<'a, S, T> {
    pub(crate) simd: S,
    pub(crate) l: HeadColumns<'a, T>,
    pub(crate) r: &'a [T],
    pub(crate) att: &'a [T],
    pub(crate) slope: T,
    pub(crate) neighbours: &'a [u32],
    /// Gradients of the scores, in-edges x heads.
    pub(crate) d_score: &'a [T],
    /// Overwritten.
    pub(crate) d_r: &'a mut [T],
    /// Added to.
    pub(crate) d_att: &'a mut [T],
}

impl<S: Simd, T: Real> TargetSide<'_, S, T> {
    /// Fills d_r and adds to d_att.
    #[inline(always)]
    pub(crate) fn run(&mut self) {
        if self.r.len() >= T::lanes::<S>() {
            return by_columns(self.simd, self.r.len(), self);
        }
        self.d_r.fill(T::ZERO);
        for (&i, d_score) in self.neighbours.iter().zip(self.d_score.chunks_exact(self.l.heads)) {
            let (l, d_score) = (self.l.row(i as usize), d_score[self.l.head]);
            for c in 0..self.r.len() {
                let z = l[c] + self.r[c];
                self.d_r[c] += self.att[c] * d_score * leaky_relu_gradient(z, self.slope);
                self.d_att[c] += d_score * leaky_relu(z, self.slope);
            }
        }
    }
}

impl<S: Simd, T: Real> ColumnKernel<S, T> for TargetSide<'_, S, T> {
    #[inline(always)]
    fn piece<const N: usize>(&mut self, columns: Columns<S, N>) {
        let simd = self.simd;
        let zero = T::splat(simd, T::ZERO);
        let r = columns.load(self.r);
        let (mut p, mut q) = ([zero; N], [zero; N]);
        for (&i, d_score) in self.neighbours.iter().zip(self.d_score.chunks_exact(self.l.heads)) {
            let l = columns.load(self.l.row(i as usize));
            let d_score = d_score[self.l.head];
            let (steep, flat) = (T::splat(simd, d_score), T::splat(simd, d_score * self.slope));
            for n in 0..N {
                let weight = T::where_positive(simd, T::plus(simd, l[n], r[n]), steep, flat);
                p[n] = T::plus(simd, p[n], weight);
                q[n] = T::multiply_add(simd, weight, l[n], q[n]);
            }
        }
        let (att, before) = (columns.load(self.att), columns.load(self.d_att));
        for n in 0..N {
            q[n] = T::plus(simd, before[n], T::multiply_add(simd, r[n], p[n], q[n]));
            p[n] = T::multiply(simd, att[n], p[n]);
        }
        columns.store(self.d_r, p);
        columns.store(self.d_att, q);
    }
}

/// The terms of one source's gradient.
pub(crate) struct SourceSide<'a, S, T> {
    pub(crate) simd: S,
    pub(crate) l: &'a [T],
    pub(crate) r: HeadColumns<'a, T>,
    pub(crate) att: &'a [T],
    pub(crate) slope: T,
    pub(crate) block: Block<'a>,
    pub(crate) source: usize,
    /// Attention and gradients of the scores, edges x heads.
    pub(crate) alpha: &'a [T],
    pub(crate) d_score: &'a [T],
    /// Gradients of the targets' outputs, and the factor of a head in them.
    pub(crate) d_out: &'a [T],
    pub(crate) share: T,
    /// Overwritten.
    pub(crate) d_l: &'a mut [T],
}

impl<S: Simd, T: Real> SourceSide<'_, S, T> {
    /// Fills d_l.
    #[inline(always)]
    pub(crate) fn run(&mut self) {
        let HeadColumns { heads, width, head, .. } = self.r;
        if width >= T::lanes::<S>() {
            return by_columns(self.simd, width, self);
        }
        self.d_l.fill(T::ZERO);
        for (j, e) in self.block.out_edges(self.source) {
            let (alpha, d_score) = (self.share * self.alpha[e * heads + head], self.d_score[e * heads + head]);
            let (r, d_out) = (self.r.row(j), &self.d_out[j * width..(j + 1) * width]);
            for c in 0..width {
                let slope = leaky_relu_gradient(self.l[c] + r[c], self.slope);
                self.d_l[c] += alpha * d_out[c] + d_score * self.att[c] * slope;
            }
        }
    }
}

impl<S: Simd, T: Real> ColumnKernel<S, T> for SourceSide<'_, S, T> {
    #[inline(always)]
    fn piece<const N: usize>(&mut self, columns: Columns<S, N>) {
        let (simd, HeadColumns { heads, width, head, .. }) = (self.simd, self.r);
        let zero = T::splat(simd, T::ZERO);
        let l = columns.load(self.l);
        let (mut value, mut score) = ([zero; N], [zero; N]);
        for (j, e) in self.block.out_edges(self.source) {
            let r = columns.load(self.r.row(j));
            let d_out = columns.load(&self.d_out[j * width..(j + 1) * width]);
            let alpha = T::splat(simd, self.share * self.alpha[e * heads + head]);
            let d_score = self.d_score[e * heads + head];
            let (steep, flat) = (T::splat(simd, d_score), T::splat(simd, d_score * self.slope));
            for n in 0..N {
                value[n] = T::multiply_add(simd, alpha, d_out[n], value[n]);
                let weight = T::where_positive(simd, T::plus(simd, l[n], r[n]), steep, flat);
                score[n] = T::plus(simd, score[n], weight);
            }
        }
        let att = columns.load(self.att);
        for n in 0..N {
            value[n] = T::multiply_add(simd, att[n], score[n], value[n]);
        }
        columns.store(self.d_l, value);
    }
}
