//! Attention layers, one file per kind, equal to PyG's parameter for parameter.
//!
//! A new kind is one file that implements [`Attention`], inside this crate or out of it; one that comes with carat is
//! also one line in [`AttentionKind`].

mod gat;
mod gat_pair;
mod gatv2;
mod per_head;
mod transformer;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use carat_graph::Block;
use serde::{Deserialize, Serialize};

pub use gat::Gat;
pub(crate) use gat::SCORE_SLOPE;
pub use gatv2::GatV2;
pub use transformer::Transformer;

use crate::buffer::Buffer;
use crate::cost::{Cost, LayerSizes};
use crate::kernels::softmax;
use crate::matrix::{Matrix, MatrixMut, multiply};
use crate::parameters::Parameter;
use crate::real::Real;

/// Width F and number of heads K of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerShape {
    /// F: inputs and outputs per node.
    pub width: usize,
    /// K: attention heads, averaged.
    pub heads: usize,
}

/// One application of a layer: its sizes, its parameters and its inputs.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a, T> {
    /// The layer's sizes.
    pub shape: LayerShape,
    /// The layer's parameters, in the order of [`Attention::parameters`].
    pub parameters: &'a [T],
    /// Inputs: one row of F per source.
    pub h: &'a [T],
}

/// Nodes to compute: each with its in-edges and an input of its own.
///
/// In training they are the layer's targets. To measure what deleting an edge does, they are the same nodes once more,
/// with one in-edge fewer or with a changed input. A kind need not know which.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a, T> {
    /// Row offsets: the in-edges of target j stand at `offsets[j]..offsets[j + 1]`.
    pub offsets: &'a [usize],
    /// Source of every edge: a row of [`Pass::h`].
    pub sources: &'a [u32],
    /// The targets' own inputs, one row of F each.
    pub h: &'a [T],
    /// In place of `h`, its products with the vectors of [`Attention::own_vectors`]; only kinds that have such meet it.
    pub products: Option<&'a [T]>,
    /// Where each target is one that was computed before, less one in-edge: what that came to. A kind may work from
    /// there instead of computing the target anew, and need not fill the state's attention then.
    pub known: Option<Known<'a, T>>,
}

/// Targets that were computed before, when they had one in-edge more.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a, T> {
    /// What they came to.
    pub state: &'a TargetState<T>,
    /// The block whose targets they are.
    pub block: Block<'a>,
    /// For each target of now, its number then.
    pub rows: &'a [u32],
    /// The in-edge that it has lost since.
    pub lost: &'a [u32],
}

/// Attention up to which the other in-edges' sum is found by subtraction: it then loses two bits at most.
const MOST_LOST: f64 = 0.75;

impl<'a, T: Real> Known<'a, T> {
    /// The source of the in-edge that a target has lost and the attention it had, by head; nothing where one head had
    /// nearly all its attention on it, so that subtraction would leave nothing but rounding errors.
    ///
    /// Attention a that the other in-edges had becomes a / (1 - lost), and so sums of what they offer become
    /// (sum - lost * offer) / (1 - lost).
    #[inline(always)]
    pub(crate) fn lost(&self, target: usize, heads: usize) -> Option<(u32, &'a [T])> {
        let edge = self.lost[target] as usize;
        let alpha = &self.state.alpha[edge * heads..(edge + 1) * heads];
        let most = T::from_f64(MOST_LOST);
        alpha.iter().all(|alpha| *alpha <= most).then(|| (self.block.sources()[edge], alpha))
    }
}

impl<'a, T> Targets<'a, T> {
    /// Number of targets.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of in-edges of all targets.
    pub fn num_edges(&self) -> usize {
        self.sources.len()
    }

    /// Sources of target j's in-edges.
    #[inline]
    pub fn in_neighbours(&self, target: usize) -> &'a [u32] {
        &self.sources[self.offsets[target]..self.offsets[target + 1]]
    }

    /// Sources of target j's in-edges and of all that stand after them, for passes that look ahead.
    #[inline]
    pub(crate) fn neighbours_from(&self, target: usize) -> &'a [u32] {
        &self.sources[self.offsets[target]..]
    }
}

impl<'a, T> Targets<'a, T> {
    /// The targets of a layer's block. They are its first sources, so their inputs are the first rows of `h`.
    pub fn of_block(block: Block<'a>, h: &'a [T], width: usize) -> Self {
        let h = &h[..block.num_targets() * width];
        Self { offsets: block.offsets(), sources: block.sources(), h, products: None, known: None }
    }
}

/// What sources offer to every target alike. Buffers grow once and are reused every step.
#[derive(Debug, Clone, Default)]
pub struct SourceState<T> {
    /// Whatever the kind keeps; each kind's file names its own.
    pub buffers: [Buffer<T>; 3],
}

/// What targets came to.
#[derive(Debug, Clone, Default)]
pub struct TargetState<T> {
    /// Attention, edges x heads.
    pub alpha: Buffer<T>,
    /// Whatever else the kind keeps; each kind's file names its own.
    pub buffers: [Buffer<T>; 3],
}

/// What a layer keeps between its forward and its backward pass.
#[derive(Debug, Clone, Default)]
pub struct LayerState<T> {
    /// From [`Attention::sources`].
    pub sources: SourceState<T>,
    /// From [`Attention::targets`].
    pub targets: TargetState<T>,
    /// Room for the backward pass.
    pub scratch: [Buffer<T>; 6],
}

/// Gradients that arrive at a layer.
#[derive(Debug, Clone, Copy)]
pub struct Upstream<'a, T> {
    /// With respect to the layer's output, targets x F.
    pub d_out: &'a [T],
    /// With respect to the scores before the softmax, edges x heads, where a loss depends on attention itself: the
    /// edges of the first targets, or nothing at all.
    pub d_attention: &'a [T],
}

impl<T: Real> Upstream<'_, T> {
    /// From the gradient of one target's attention to that of its scores, in place: back through the softmax, and then
    /// whatever a loss on attention asks of the scores directly. A kind that leaves the second out cannot be
    /// regularised, so both are one call.
    ///
    /// `edges` are the target's in-edges in the block, `alpha` the attention of all edges, and `gradient` has `heads`
    /// values for each of the target's.
    #[inline]
    pub fn through_softmax(&self, edges: Range<usize>, heads: usize, alpha: &[T], gradient: &mut [T]) {
        softmax::scores_backward(edges.start * heads..edges.end * heads, heads, alpha, self.d_attention, gradient);
    }
}

/// A kind of attention: its parameters, forward pass and hand-derived backward pass.
///
/// The forward pass has two halves, so that the network can compute some targets again with an edge deleted while all
/// that their sources offer is kept. Interventions and regularisation of a new kind follow from that: nothing else in
/// carat knows which kind it runs. Two rules keep it so. `targets` reads a target's own input from [`Targets::h`] and
/// never from [`Pass::h`], because the two differ once an edge is gone. And `backward` leads gradients through
/// [`Upstream::through_softmax`].
///
/// `crates/carat/examples/own_attention.rs` writes a kind in one file, [`crate::toolkit`] has the pieces that most
/// kinds need, and [`crate::check`] finds what is wrong with one.
pub trait Attention<T: Real>: fmt::Debug + Send + Sync {
    /// Names, shapes and initial distributions, as in PyG.
    fn parameters(&self, shape: LayerShape) -> Vec<Parameter>;

    /// Computes what sources offer to every target alike, for the rows of `pass.h` from `first` on; `state` holds the
    /// rows before `first` already.
    fn sources(&self, pass: Pass<'_, T>, first: usize, state: &mut SourceState<T>);

    /// Fills `out` (targets x F) and `state`, attention included. A target without in-edges aggregates to zero.
    fn targets(
        &self,
        pass: Pass<'_, T>,
        sources: &SourceState<T>,
        targets: Targets<'_, T>,
        out: &mut [T],
        state: &mut TargetState<T>,
    );

    /// The rows of F whose products with a target's own input are all that `targets` needs of it, where there are few
    /// such, given what [`Attention::sources`] left.
    fn own_vectors<'a>(&self, shape: LayerShape, sources: &'a SourceState<T>) -> Option<&'a [T]> {
        let _ = (shape, sources);
        None
    }

    /// As `targets`, but writes the products of every target's output with `vectors` (rows of F) in place of the
    /// output. Where the next layer needs no more of it, a kind whose output is a linear map may leave most of that
    /// out.
    fn products(
        &self,
        pass: Pass<'_, T>,
        sources: &SourceState<T>,
        targets: Targets<'_, T>,
        vectors: &[T],
        products: &mut [T],
        state: &mut TargetState<T>,
    ) {
        let width = pass.shape.width;
        let mut out = vec![T::ZERO; targets.len() * width];
        self.targets(pass, sources, targets, &mut out, state);
        let (rows, count) = (targets.len(), vectors.len() / width);
        let (out, vectors) = (Matrix::new(&out, rows, width), Matrix::new(vectors, count, width));
        multiply(MatrixMut::new(products, rows, count), out, vectors.t(), T::ONE);
    }

    /// What a training step's passes through this layer must compute and move at the least, where the kind tells.
    fn cost(&self, sizes: LayerSizes) -> Option<Cost> {
        let _ = sizes;
        None
    }

    /// Two layers at once, for a kind that then needs less of them.
    fn pair(&self) -> Option<&dyn LayerPair<T>> {
        None
    }

    /// From the gradients of `out` and of the scores: adds to `d_parameters` and writes all of `d_h` (sources x F),
    /// whatever it held. `state` is as the forward pass over the block's targets left it.
    fn backward(
        &self,
        pass: Pass<'_, T>,
        block: Block<'_>,
        upstream: Upstream<'_, T>,
        state: &mut LayerState<T>,
        d_parameters: &mut [T],
        d_h: &mut [T],
    );
}

/// One layer upon another, computed together: of the lower one's outputs none is formed that nobody asks for. Arrays
/// have the lower layer first.
pub trait LayerPair<T: Real>: fmt::Debug + Send + Sync {
    /// Whether that is less work on these blocks.
    fn pays(&self, shape: LayerShape, blocks: [Block<'_>; 2]) -> bool;

    /// As [`Attention::cost`], of both layers.
    fn costs(&self, shape: LayerShape, blocks: [Block<'_>; 2]) -> Option<[Cost; 2]> {
        let _ = (shape, blocks);
        None
    }

    /// Fills `out` (the upper layer's targets x F), attention of both layers, and whatever [`LayerPair::backward`]
    /// needs. Given room for the lower layer's outputs (one row per source of the upper one), it fills those that an
    /// edge of the upper layer reads, and all that deletions need of both layers' states.
    fn forward(
        &self,
        layers: [PairedLayer<'_, T>; 2],
        states: [&mut LayerState<T>; 2],
        pair: &mut PairState<T>,
        between: Option<&mut [T]>,
        out: &mut [T],
    );

    /// As [`Attention::backward`] of the upper layer and then of the lower one, of whose output nobody has a gradient.
    /// Also after a forward pass of the layers one by one.
    fn backward(
        &self,
        layers: [PairedLayer<'_, T>; 2],
        upstream: [Upstream<'_, T>; 2],
        states: [&mut LayerState<T>; 2],
        pair: &mut PairState<T>,
        d_parameters: [&mut [T]; 2],
        d_h: &mut [T],
    );
}

/// A layer of a pair with its edges. The upper one has inputs only on the way back, and only where the way forth formed
/// them.
#[derive(Debug, Clone, Copy)]
pub struct PairedLayer<'a, T> {
    /// Sizes, parameters, inputs.
    pub pass: Pass<'a, T>,
    /// Edges.
    pub block: Block<'a>,
}

/// What two layers computed together keep beside their own states; each kind's file names its own.
#[derive(Debug, Clone, Default)]
pub struct PairState<T> {
    /// Whatever the kind keeps from the forward to the backward pass.
    pub buffers: [Buffer<T>; 3],
    /// Room for the backward pass.
    pub scratch: [Buffer<T>; 4],
}

/// The attention kinds that come with carat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionKind {
    /// Graph attention network (GATConv).
    #[default]
    Gat,
    /// GATv2 (GATv2Conv).
    GatV2,
    /// Graph Transformer (TransformerConv).
    Transformer,
}

impl AttentionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Gat, Self::GatV2, Self::Transformer];

    /// The name used in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gat => "gat",
            Self::GatV2 => "gatv2",
            Self::Transformer => "transformer",
        }
    }

    /// The layer itself.
    pub fn attention<T: Real>(self) -> Box<dyn Attention<T>> {
        match self {
            Self::Gat => Box::new(Gat),
            Self::GatV2 => Box::new(GatV2),
            Self::Transformer => Box::new(Transformer),
        }
    }
}

impl fmt::Display for AttentionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AttentionKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("'{text}' is not an attention kind; choose gat, gatv2 or transformer"))
    }
}
