//! The regulariser's settings as flags.

use carat::{Arm, EntityChoice, Exponent, Interventions, Lambda, Rounds, Target, TrainConfig};
use clap::Args;

use super::set;

/// How attention is regularised. Without `--lambda` it is not, and the other flags have nothing to do.
#[derive(Debug, Args)]
pub struct CarFlags {
    /// Strength: 0 for a plain network, one value, or one per layer like 0.5,1; the paper has 0.1 to 5 [default: 0]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    lambda: Option<Lambda>,
    /// Edges deleted per node, or graph, and step: a number of draws, or all [default: 5]
    #[arg(long, value_name = "R|all", allow_negative_numbers = true)]
    rounds: Option<Rounds>,
    /// Where attention's targets come from: causal (from deleting edges), vote (from the neighbours' labels), or the
    /// controls random, constant and none [default: causal]
    #[arg(long, value_name = "ARM")]
    regulariser: Option<Arm>,
    /// exact: every edge on its own; rounds: the paper's Algorithm 1 [default: exact]
    #[arg(long, value_name = "HOW")]
    interventions: Option<Interventions>,
    /// T in the causal effect sigmoid((rho^d - 1) / T), where rho is the loss without the edge over the loss with it
    /// [default: 0.1]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// d in the causal effect: degree (the node's in-degree, or the graph's number of edges) or one [default: degree]
    #[arg(long, value_name = "WHICH")]
    exponent: Option<Exponent>,
    /// Losses below this count as this when they are compared, so that memorised nodes do not turn noise into effects
    /// [default: 0]
    #[arg(long, value_name = "LOSS", allow_negative_numbers = true)]
    loss_floor: Option<f64>,
    /// Nodes whose attention is regularised: train, or all (those without a training label by the network's own
    /// averaged predictions) [default: train]
    #[arg(long, value_name = "WHICH")]
    entities: Option<EntityChoice>,
    /// bce: each edge's attention against its effect; distribution: all attention of a node against all its effects
    /// [default: bce]
    #[arg(long, value_name = "KIND")]
    target: Option<Target>,
    /// Bound of d ln rho with --target distribution [default: 2]
    #[arg(long, value_name = "BOUND", allow_negative_numbers = true)]
    clamp: Option<f64>,
    /// Epochs before the regulariser starts with --entities all [default: 8]
    #[arg(long, value_name = "EPOCHS")]
    warm_up: Option<usize>,
    /// Share that averaged predictions keep in each step with --entities all [default: 0.8]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    teacher: Option<f64>,
}

impl CarFlags {
    /// Replaces the settings whose flags are given.
    pub fn set(&self, config: &mut TrainConfig) {
        set(&mut config.lambda, &self.lambda);
        set(&mut config.rounds, &self.rounds);
        set(&mut config.regulariser, &self.regulariser);
        set(&mut config.interventions, &self.interventions);
        set(&mut config.temperature, &self.temperature);
        set(&mut config.exponent, &self.exponent);
        set(&mut config.loss_floor, &self.loss_floor);
        set(&mut config.entities, &self.entities);
        set(&mut config.target, &self.target);
        set(&mut config.clamp, &self.clamp);
        set(&mut config.warm_up, &self.warm_up);
        set(&mut config.teacher, &self.teacher);
    }
}
