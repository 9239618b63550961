//! What is trained. Some models have settings of their own.

use carat_nn::{Activation, AttentionKind, BlockConfig, ClassifierInput, GcnNorm, Join, Norm, Residual};

use super::checks::{
    below_one, never, with_own_attention, with_own_network, without_attention, without_cal, without_gcn,
};
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
        /// K, attention heads per layer; --join says how they are joined, and CAL concatenates them.
        heads: usize = 3, "heads" "K", cal 4, unused without_attention;
        /// L, attention layers.
        layers: usize = 2, "layers" "L";
    }
}

settings! {
    /// What stands around the layers. The defaults are the paper's network.
    pub struct BlockSettings at block, unused with_own_network {
        /// What is added to a layer's output: none, add (the layer's input) or linear (a linear map of it).
        residual: Residual = Residual::None, "residual" "KIND", late true;
        /// How values between layers are normalised: none, layer (every node's row by itself) or batch (every column
        /// over the batch).
        norm: Norm = Norm::None, "norm" "KIND", late true;
        /// Applied between layers: relu, elu, gelu, leaky-relu, or none, which leaves a LeakyReLU in the encoder and
        /// before the classifier.
        activation: Activation = Activation::None, "activation" "KIND", late true;
        /// How attention heads are joined: mean (K heads of F values) or concat (K heads of F / K values).
        join: Join = Join::Mean, "join" "KIND", unused with_own_attention, late true;
        /// What the classifier reads: skip (the encoder's and the last layer's output) or last (the latter alone).
        classifier: ClassifierInput = ClassifierInput::Skip, "classifier" "KIND", late true;
        /// Share of the encoder's and the layers' outputs that training drops.
        dropout: f64 = 0.0, "dropout" "RATE", check below_one, late true;
        /// Share of the features that training drops.
        input_dropout: f64 = 0.0, "input-dropout" "RATE", check below_one, late true;
        /// Share of the attention that training drops.
        attention_dropout: f64 = 0.0, "attention-dropout" "RATE", check below_one, unused with_own_attention, late true;
    }
}

impl BlockSettings {
    /// The same for networks.
    pub(crate) fn config(&self) -> BlockConfig {
        let Self { residual, norm, activation, join, classifier, dropout, input_dropout, attention_dropout } = *self;
        let words = BlockConfig { residual, norm, activation, join, classifier, ..BlockConfig::default() };
        BlockConfig { dropout, input_dropout, attention_dropout, ..words }
    }
}
