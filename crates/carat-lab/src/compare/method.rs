//! A method is the regulariser's settings without its strength.

use carat::{Arm, EntityChoice, Lambda, RegulariserSettings, Rounds, Setting, Target, TrainConfig};

/// A way to regularise. Runs of one method may differ in lambda and in settings outside the regulariser.
#[derive(Debug, Clone, PartialEq)]
pub struct Method(RegulariserSettings);

impl Method {
    /// The method of these settings. Settings that the arm does not read make no difference.
    pub fn new(settings: &TrainConfig) -> Self {
        Self(settings.clone().lambda(Lambda::default()).regulariser.without_unread())
    }

    /// The paper's method: five rounds, training nodes, binary cross-entropy.
    pub fn paper() -> Self {
        Self::arm(Arm::Causal)
    }

    /// The paper's method with the effects of another arm.
    pub fn arm(regulariser: Arm) -> Self {
        Self::new(&TrainConfig::default().arm(regulariser))
    }

    /// The paper's method with another number of rounds.
    pub fn rounds(rounds: Rounds) -> Self {
        Self::new(&TrainConfig::default().rounds(rounds))
    }

    /// Every node is an entity, and targets are distributions.
    pub fn transductive(regulariser: Arm, clamp: f64) -> Self {
        let settings = TrainConfig::default().arm(regulariser).clamp(clamp).entities(EntityChoice::All);
        Self::new(&settings.target(Target::Distribution))
    }

    /// The method of a run; `None` for baselines.
    pub fn of(config: &TrainConfig) -> Option<Self> {
        config.car().map(|_| Self::new(config))
    }

    /// True where effects come from deleting edges.
    pub fn is_causal(&self) -> bool {
        self.0.arm == Arm::Causal
    }

    /// The same method with a constant in place of every effect. It only smooths attention.
    #[must_use]
    pub fn control(&self) -> Self {
        Self::new(&self.settings().arm(Arm::Constant))
    }

    /// The settings that differ from the paper's method, by flag name; empty for the paper's method.
    pub fn label(&self) -> String {
        let (own, paper) = (self.settings(), TrainConfig::default());
        let other = Setting::all().filter(|setting| !setting.is_same(&own, &paper));
        other.map(|setting| format!("{} {}", setting.name, setting.text(&own))).collect::<Vec<_>>().join(", ")
    }

    fn settings(&self) -> TrainConfig {
        TrainConfig { regulariser: self.0.clone(), ..TrainConfig::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_differ_by_the_settings_that_they_read() {
        let config = TrainConfig::default().data("cora".into()).lambda(Lambda::new(5.0)).hidden(10);
        assert_eq!(Method::of(&config), Some(Method::paper()));
        assert_eq!(Method::of(&config.clone().clamp(1.0)), Some(Method::paper()));
        assert_ne!(Method::of(&config.clone().rounds(Rounds::All)), Some(Method::paper()));
        assert_eq!(Method::of(&config.clone().lambda(Lambda::new(0.0))), None);
        assert_eq!(Method::of(&config.arm(Arm::None)), None);
    }

    #[test]
    fn an_arm_without_targets_reads_its_own_settings_alone() {
        let config = TrainConfig::default().lambda(Lambda::new(1.0)).arm(Arm::DropEdge);
        let method = Method::of(&config).unwrap();
        assert_eq!((method.label(), method.is_causal()), ("regulariser drop-edge".into(), false));
        let others = config.clone().rounds(Rounds::All).temperature(1.0).entities(EntityChoice::All).edge_sample(0.5);
        assert_eq!(Method::of(&others), Some(method.clone()));
        assert_ne!(Method::of(&config.drop_rate(0.5)), Some(method));
        let supergat = TrainConfig::default().lambda(Lambda::new(1.0)).arm(Arm::EdgePrediction);
        let method = Method::of(&supergat).unwrap();
        assert_eq!(Method::of(&supergat.clone().drop_rate(0.5).warm_up(3).cross_fit(4)), Some(method.clone()));
        assert_ne!(Method::of(&supergat.clone().entities(EntityChoice::All)), Some(method.clone()));
        assert_ne!(Method::of(&supergat.negative_ratio(1.0)), Some(method));
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
