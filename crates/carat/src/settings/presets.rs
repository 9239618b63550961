//! Presets: settings that go together, under one name. `presets.toml` has their values.

use std::sync::LazyLock;

use toml::{Table, Value};

use super::{Preset, Setting};
use crate::{Error, ModelKind, TrainConfig};

/// A table per preset; that of tuned has one per dataset.
static PRESETS: LazyLock<Table> = LazyLock::new(|| toml::from_str(include_str!("presets.toml")).unwrap_or_default());

impl Preset {
    /// What `carat train` uses where neither a preset nor a file of settings is given.
    pub const OF_TRAIN: Self = Self::Strong;

    /// The datasets that have tuned settings.
    pub fn tuned() -> Vec<&'static str> {
        let tuned = PRESETS.get(Self::Tuned.name()).and_then(Value::as_table);
        tuned.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// The settings that it has for a dataset, by name.
    pub fn settings(self, data: &str) -> Result<&'static Table, Error> {
        static NONE: LazyLock<Table> = LazyLock::new(Table::new);
        let own = PRESETS.get(self.name()).and_then(Value::as_table).unwrap_or(&NONE);
        if self != Self::Tuned {
            return Ok(own);
        }
        let found = match own.get(data) {
            Some(Value::String(like)) => own.get(like),
            found => found,
        };
        found.and_then(Value::as_table).ok_or_else(|| {
            let known = Self::tuned().join(", ");
            Error::Config(format!("there are no tuned settings for '{data}', only for {known}; use preset strong"))
        })
    }
}

impl TrainConfig {
    /// The settings of a preset for a dataset.
    ///
    /// ```
    /// use carat::{Preset, TrainConfig};
    ///
    /// let config = TrainConfig::preset(Preset::Gat, "cora")?.seed(3);
    /// assert_eq!((config.network.heads, config.optimiser.lr), (8, 0.005));
    /// # Ok::<(), carat::Error>(())
    /// ```
    pub fn preset(preset: Preset, data: &str) -> Result<Self, Error> {
        Self::default().data(data.to_string()).with_preset(preset, |_| false)
    }

    /// The same settings with a preset's for those that are not given. Those that mean nothing to the model are left
    /// out.
    pub fn with_preset(mut self, preset: Preset, is_given: impl Fn(&str) -> bool) -> Result<Self, Error> {
        if self.model == ModelKind::Cal && preset != Preset::Paper {
            return Err(Error::Config(format!(
                "preset {preset} is for attention and graph convolution networks; leave it out with model cal"
            )));
        }
        let settings = preset.settings(&self.data.name)?;
        let values: Self = settings.clone().try_into().map_err(|e: toml::de::Error| Error::Config(e.to_string()))?;
        let config = self.clone();
        let of_preset = Setting::all().filter(|setting| settings.contains_key(setting.name));
        let missing = of_preset.filter(|setting| !is_given(setting.name) && (setting.unused)(&config).is_none());
        missing.for_each(|setting| (setting.copy)(&values, &mut self));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_has_settings_that_exist_and_pass_their_checks() {
        assert!(PRESETS.keys().all(|name| Preset::ALL.iter().any(|preset| preset.name() == name)));
        let tuned = Preset::tuned().into_iter().map(|data| (Preset::Tuned, data));
        let others = Preset::ALL.iter().filter(|preset| **preset != Preset::Tuned).map(|preset| (*preset, "x"));
        for (preset, data) in others.chain(tuned) {
            assert!(preset == Preset::Paper || !preset.settings(data).unwrap().is_empty(), "{preset} {data}");
            let config = TrainConfig::preset(preset, data).unwrap();
            config.check().unwrap();
            assert!(!config.is_regularised());
            for model in [ModelKind::Attention, ModelKind::Gcn] {
                let config = TrainConfig::default().data(data.into()).model(model);
                config.with_preset(preset, |_| false).unwrap().check().unwrap();
            }
        }
        assert_eq!(TrainConfig::preset(Preset::Paper, "").unwrap(), TrainConfig::default());
    }

    #[test]
    fn what_is_given_wins_over_a_preset() {
        let given = TrainConfig::default().lr(0.5).hidden(100);
        let config = given.with_preset(Preset::Strong, |name| name == "lr" || name == "hidden").unwrap();
        let strong = TrainConfig::preset(Preset::Strong, "").unwrap();
        assert_eq!(config, strong.lr(0.5).hidden(100));
    }

    #[test]
    fn datasets_without_tuned_settings_and_cal_are_refused() {
        let problem = TrainConfig::preset(Preset::Tuned, "mine.npz").unwrap_err().to_string();
        assert!(problem.starts_with("there are no tuned settings for 'mine.npz', only for "), "{problem}");
        assert!(problem.ends_with("; use preset strong"), "{problem}");
        let cal = TrainConfig::default_of(ModelKind::Cal);
        assert_eq!(cal.clone().with_preset(Preset::Paper, |_| false).unwrap(), cal);
        assert!(cal.with_preset(Preset::Gat, |_| false).is_err());
    }
}
