//! A way to regularise: everything about the regulariser but its strength.

use carat::{Arm, EntityChoice, Lambda, Rounds, Target, TrainConfig};

/// Regularised runs of one method differ in their settings and in lambda only.
#[derive(Debug, Clone, PartialEq)]
pub struct Method(TrainConfig);

impl Method {
    /// The method of these settings, whatever else they say. What an arm does not read does not tell methods apart.
    pub fn new(settings: &TrainConfig) -> Self {
        let plain = TrainConfig::default();
        let TrainConfig { regulariser, rounds, interventions, temperature, exponent, .. } = *settings;
        let TrainConfig { loss_floor, entities, target, clamp, warm_up, teacher, .. } = *settings;
        let mut method = TrainConfig {
            lambda: Lambda::new(1.0),
            regulariser,
            rounds,
            interventions,
            temperature,
            exponent,
            loss_floor,
            entities,
            target,
            clamp,
            warm_up,
            teacher,
            ..plain.clone()
        };
        if matches!(regulariser, Arm::Constant | Arm::Random) {
            method.interventions = plain.interventions;
            method.temperature = plain.temperature;
            method.exponent = plain.exponent;
            method.loss_floor = plain.loss_floor;
            method.clamp = plain.clamp;
        }
        if target == Target::Bce {
            method.clamp = plain.clamp;
        }
        if entities == EntityChoice::Train {
            method.warm_up = plain.warm_up;
            method.teacher = plain.teacher;
        }
        Self(method)
    }

    /// The paper's method: five rounds, training nodes, binary cross-entropy.
    pub fn paper() -> Self {
        Self::arm(Arm::Causal)
    }

    /// The paper's method with the effects of another arm.
    pub fn arm(regulariser: Arm) -> Self {
        Self::new(&TrainConfig { regulariser, ..TrainConfig::default() })
    }

    /// The paper's method with another number of rounds.
    pub fn rounds(rounds: Rounds) -> Self {
        Self::new(&TrainConfig { rounds, ..TrainConfig::default() })
    }

    /// Every node an entity, with distributions as targets.
    pub fn transductive(regulariser: Arm, clamp: f64) -> Self {
        let settings = TrainConfig { regulariser, clamp, entities: EntityChoice::All, ..TrainConfig::default() };
        Self::new(&TrainConfig { target: Target::Distribution, ..settings })
    }

    /// The method of a run; `None` for baselines.
    pub fn of(config: &TrainConfig) -> Option<Self> {
        config.car().map(|_| Self::new(config))
    }

    /// True where effects come from deleting edges.
    pub fn is_causal(&self) -> bool {
        self.0.regulariser == Arm::Causal
    }

    /// The same with a constant in place of every effect: what mere smoothing of attention does.
    #[must_use]
    pub fn control(&self) -> Self {
        Self::new(&TrainConfig { regulariser: Arm::Constant, ..self.0.clone() })
    }

    /// What differs from the paper's method, in the words of flags; empty for the paper's method.
    pub fn label(&self) -> String {
        let (own, plain) = (&self.0, TrainConfig::default());
        let words = [
            (own.regulariser != plain.regulariser).then(|| format!("regulariser {}", own.regulariser)),
            (own.rounds != plain.rounds).then(|| format!("rounds {}", own.rounds)),
            (own.interventions != plain.interventions).then(|| format!("interventions {}", own.interventions)),
            (own.temperature != plain.temperature).then(|| format!("temperature {}", own.temperature)),
            (own.exponent != plain.exponent).then(|| format!("exponent {}", own.exponent)),
            (own.loss_floor != plain.loss_floor).then(|| format!("loss-floor {}", own.loss_floor)),
            (own.entities != plain.entities).then(|| format!("entities {}", own.entities)),
            (own.target != plain.target).then(|| format!("target {}", own.target)),
            (own.clamp != plain.clamp).then(|| format!("clamp {}", own.clamp)),
            (own.warm_up != plain.warm_up).then(|| format!("warm-up {}", own.warm_up)),
            (own.teacher != plain.teacher).then(|| format!("teacher {}", own.teacher)),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_told_apart_by_what_they_read() {
        let config = TrainConfig { data: "cora".into(), lambda: Lambda::new(5.0), hidden: 10, ..Default::default() };
        assert_eq!(Method::of(&config), Some(Method::paper()));
        assert_eq!(Method::of(&TrainConfig { clamp: 1.0, ..config.clone() }), Some(Method::paper()));
        assert_ne!(Method::of(&TrainConfig { rounds: Rounds::All, ..config.clone() }), Some(Method::paper()));
        assert_eq!(Method::of(&TrainConfig { lambda: Lambda::new(0.0), ..config.clone() }), None);
        assert_eq!(Method::of(&TrainConfig { regulariser: Arm::None, ..config }), None);
    }

    #[test]
    fn a_control_does_not_read_what_bounds_effects() {
        let causal = Method::transductive(Arm::Causal, 1.0);
        assert_ne!(causal, Method::transductive(Arm::Causal, 2.0));
        assert_eq!(causal.control(), Method::transductive(Arm::Constant, 2.0));
        assert_eq!(causal.label(), "entities all, target distribution, clamp 1");
        assert_eq!(Method::paper().label(), "");
    }
}
