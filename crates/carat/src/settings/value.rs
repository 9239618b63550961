//! Values of settings as flags write them.

use carat_nn::{Activation, AttentionKind, ClassifierInput, GcnNorm, Join, Norm, Residual};

use super::{
    Arm, ClassWeights, EffectKind, EntityChoice, Exponent, Interventions, Lambda, OptimiserKind, PatienceFrom,
    Protocol, Rounds, Schedule, Select, Target,
};
use crate::rewire::Pruning;
use crate::{ModelKind, Normalise, Task};

/// A type that settings have.
pub(crate) trait SettingValue: Sized {
    /// True where several values are given one by one, with commas between them.
    const IS_LIST: bool = false;
    /// True where a flag accepts a value that starts with a minus, so that a check can say what is wrong with it.
    const MAY_BE_NEGATIVE: bool = false;

    /// True where a flag without a value means `true`.
    const IS_SWITCH: bool = false;

    /// Reads the text of a flag, or says what is wrong with it.
    fn parse(text: &str) -> Result<Self, String>;

    /// The text of a flag; empty where there is no value.
    fn text(&self) -> String;

    /// True where there is no value, which files leave out.
    fn is_unset(&self) -> bool {
        false
    }
}

/// Types whose text is that of `Display` and `FromStr`.
macro_rules! texts {
    ($($type:ty $(, negative $negative:literal)? $(, switch $switch:literal)?;)+) => {
        $(impl SettingValue for $type {
            $(const MAY_BE_NEGATIVE: bool = $negative;)?
            $(const IS_SWITCH: bool = $switch;)?

            fn parse(text: &str) -> Result<Self, String> {
                text.parse::<Self>().map_err(|e| e.to_string())
            }

            fn text(&self) -> String {
                self.to_string()
            }
        })+
    };
}

texts! {
    String;
    bool, switch true;
    usize;
    u64;
    f64, negative true;
    Lambda, negative true;
    Rounds, negative true;
    Task;
    ModelKind;
    AttentionKind;
    GcnNorm;
    Residual;
    Norm;
    Activation;
    Join;
    ClassifierInput;
    Arm;
    Interventions;
    EffectKind;
    Exponent;
    EntityChoice;
    Target;
    Protocol;
    OptimiserKind;
    Schedule;
    ClassWeights;
    Select;
    PatienceFrom;
    Normalise;
}

impl<T: SettingValue> SettingValue for Option<T> {
    const IS_LIST: bool = T::IS_LIST;
    const MAY_BE_NEGATIVE: bool = T::MAY_BE_NEGATIVE;

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(String::new, T::text)
    }

    fn is_unset(&self) -> bool {
        self.is_none()
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    const IS_LIST: bool = true;
    const MAY_BE_NEGATIVE: bool = T::MAY_BE_NEGATIVE;

    fn parse(text: &str) -> Result<Self, String> {
        text.split(',').map(T::parse).collect()
    }

    fn text(&self) -> String {
        self.iter().map(T::text).collect::<Vec<_>>().join(",")
    }

    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

/// As JSON: no flag names a whole network.
impl SettingValue for Pruning {
    fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
