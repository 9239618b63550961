//! How attention is regularised.

use super::checks::{
    above_zero, below_one, clamp, cross_fit, effect, lambda, lambda_unread, share, unregularised, with_given_lambda,
    with_noise, without_degrees, without_effects, without_exponents, without_noise, without_pairs, without_targets,
    without_unlabelled_entities, zero_or_more,
};
use super::macros::settings;
use super::{Arm, EffectKind, EntityChoice, Exponent, Interventions, Lambda, Rounds, Target};

settings! {
    /// Causal attention regularisation. Runs that differ in these settings alone pair.
    pub struct RegulariserSettings at regulariser, unused unregularised {
        /// Strength: 0 for a plain network, auto (found by the run), one value, or one per layer like 0.5,1; the paper
        /// has 0.1 to 5.
        lambda: Lambda = Lambda::default(), "lambda" "LAMBDA", check lambda, unused lambda_unread;
        /// Edges deleted per node, or graph, and step: a number of draws, or all.
        rounds: Rounds = Rounds::default(), "rounds" "R|all", unread without_targets;
        /// Where attention's targets come from: causal (from deleting edges), vote (from the neighbours' labels), or
        /// the controls random, constant and none. Without targets: edge-prediction (SuperGAT's: lambda weighs a loss
        /// that makes attention's scores tell edges from pairs of nodes without one) and the controls drop-edge and
        /// drop-message (noise: every step leaves out --drop-rate of the edges, or of the entries of their messages;
        /// any lambda above 0 switches it on).
        arm: Arm = Arm::default(), "regulariser" "ARM";
        /// exact: every edge on its own; rounds: the paper's Algorithm 1.
        interventions: Interventions = Interventions::default(), "interventions" "HOW", unread without_effects;
        /// T in the causal effect sigmoid((rho^d - 1) / T), where rho is the loss without the edge over the loss with
        /// it.
        temperature: f64 = 0.1, "temperature" "T", check above_zero, unread without_effects;
        /// d in the causal effect: degree (the node's in-degree, or the graph's number of edges) or one.
        exponent: Exponent = Exponent::default(), "exponent" "WHICH", unread without_degrees;
        /// Losses below this count as this when they are compared, so that memorised nodes do not turn noise into
        /// effects.
        loss_floor: f64 = 0.0, "loss-floor" "LOSS", check zero_or_more, unread without_effects;
        /// Nodes whose attention is regularised: train, or all (those without a training label by the network's own
        /// averaged predictions). With edge-prediction the nodes whose receptive fields have the edges to predict.
        entities: EntityChoice = EntityChoice::default(), "entities" "WHICH", unread with_noise;
        /// bce: each edge's attention against its effect; distribution: all attention of a node against all its
        /// effects.
        target: Target = Target::default(), "target" "KIND", unread without_targets;
        /// Bound of d ln rho with --target distribution.
        clamp: f64 = 2.0, "clamp" "BOUND", check clamp, unread without_exponents;
        /// Epochs before the regulariser starts with --entities all.
        warm_up: usize = 8, "warm-up" "EPOCHS", unread without_unlabelled_entities;
        /// Share that averaged predictions keep in each step with --entities all.
        teacher: f64 = 0.8, "teacher" "SHARE", check below_one, unread without_unlabelled_entities;
        /// Averaged predictions below this probability are not used with --entities all.
        confidence: f64 = 0.0, "confidence" "P", check below_one, unread without_unlabelled_entities, late true;
        /// What an edge's effect is made of: ratio (of the losses, the paper's), likelihood (the log-likelihood that
        /// the edge gives) or relative (that beside its node's other edges).
        effect: EffectKind = EffectKind::default(), "effect" "KIND", check effect, unread without_effects, late true;
        /// Share that an edge's averaged effect keeps when the edge is measured again; 0 uses each step's own effects.
        memory: f64 = 0.0, "memory" "SHARE", check below_one, unread without_effects, late true;
        /// Folds of the training nodes that take turns in being left out of the loss, so that effects are measured
        /// where the network does not know the label; 0 leaves none out.
        cross_fit: usize = 0, "cross-fit" "FOLDS", check cross_fit, unread without_targets, late true;
        /// The size of the regulariser's gradient beside the prediction's, with --lambda auto.
        gradient_share: f64 = 0.5, "gradient-share" "SHARE", check above_zero, unread with_given_lambda, late true;
        /// Share of the edges that every step leaves out with --regulariser drop-edge, and of the entries of messages
        /// with drop-message.
        drop_rate: f64 = 0.2, "drop-rate" "SHARE", check below_one, unread without_noise, late true;
        /// Share of the edges that every step predicts with --regulariser edge-prediction.
        edge_sample: f64 = 0.8, "edge-sample" "SHARE", check share, unread without_pairs, late true;
        /// Pairs without an edge for every edge that --regulariser edge-prediction predicts.
        negative_ratio: f64 = 0.5, "negative-ratio" "RATIO", check above_zero, unread without_pairs, late true;
    }
}

impl RegulariserSettings {
    /// The same with the settings that the arm does not read at their defaults: the result does not change.
    #[must_use]
    pub fn without_unread(self) -> Self {
        let mut config = crate::TrainConfig { regulariser: self, ..Default::default() };
        let settings = config.regulariser.clone();
        for setting in crate::Setting::all().filter(|setting| setting.is_of_regulariser && (setting.unread)(&settings))
        {
            setting.reset(&mut config);
        }
        config.regulariser
    }
}
