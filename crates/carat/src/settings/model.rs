//! What is trained. Some models have settings of their own.

use carat_nn::{AttentionKind, GcnNorm};

use super::checks::{never, with_own_attention, without_attention, without_cal, without_gcn};
use super::macros::settings;
use crate::ModelKind;

settings! {
    /// Says which of the other groups are read.
    pub(super) struct Model at top, unused never {
        /// What is trained: attention, gcn (graph convolutions, without attention) or cal (CAL's CausalGAT).
        model: ModelKind = ModelKind::default(), "model" "MODEL", late true;
    }
}

settings! {
    /// Settings that only graph convolution networks have.
    pub struct GcnSettings at gcn, unused without_gcn {
        /// What an in-edge weighs with --model gcn: symmetric (1 / sqrt(d_i d_j), with self-loops) or none (1, a plain
        /// sum).
        norm as gcn_norm: GcnNorm = GcnNorm::default(), "gcn-norm" "NORM", late true;
    }
}

settings! {
    /// Settings that only CAL has.
    pub struct CalSettings at cal, unused without_cal {
        /// With --model cal: strength of the loss that keeps the context from telling the class.
        lambda1: Option<f64> = None, "lambda1" "STRENGTH", default "0.5";
        /// With --model cal: strength of the loss of the object in another node's context.
        lambda2: Option<f64> = None, "lambda2" "STRENGTH", default "0.5";
    }
}

settings! {
    /// The kind and the sizes of the network.
    pub struct NetworkSettings at network, unused never {
        /// Attention kind: gat, gatv2 or transformer.
        arch: AttentionKind = AttentionKind::Gat, "arch" "KIND", unused with_own_attention;
        /// F, the width of every layer.
        hidden: usize = 100, "hidden" "F", cal 128;
        /// K, attention heads per layer, averaged; with --model cal concatenated.
        heads: usize = 3, "heads" "K", cal 4, unused without_attention;
        /// L, attention layers.
        layers: usize = 2, "layers" "L";
    }
}
