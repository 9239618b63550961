//! Settings of a training run: a tree of structs that the library, the command line, `config.toml` and sweeps share.
//!
//! Each setting is declared once, with its default, its help, its check and what reads it (`settings/macros.rs`).
//! [`Setting::all`] lists them. Flags, checks, baselines and pairing keys are generated from that list, and the fields
//! of the structs from the same declarations, so none can be missing from it. Files are flat and have the names of
//! flags.

mod checks;
mod choices;
mod data;
mod files;
mod macros;
mod model;
mod presets;
mod regulariser;
mod training;
mod value;

pub use choices::{
    Arm, ClassWeights, EffectKind, EntityChoice, Exponent, Interventions, Lambda, OptimiserKind, PatienceFrom, Preset,
    Protocol, Rounds, Schedule, Select, Target,
};
pub use data::DataSettings;
pub use model::{BlockSettings, CalSettings, GcnSettings, NetworkSettings};
pub use regulariser::RegulariserSettings;
pub use training::{OptimiserSettings, StoppingSettings};

pub(crate) use checks::{OWN_ATTENTION, Unused, always_read};
pub(crate) use value::SettingValue;

use macros::tree;
use model::Model;
use training::{Prune, Seed};

use crate::rewire::Pruning;
use crate::{Error, ModelKind};

tree! {
    /// Everything that decides a run's result, and so everything needed to repeat it.
    ///
    /// Each setting has a method of its name. Groups can also be given as a whole:
    ///
    /// ```
    /// use carat::settings::NetworkSettings;
    /// use carat::{Lambda, TrainConfig};
    ///
    /// let config = TrainConfig::default().hidden(16).heads(2).lambda(Lambda::new(1.0));
    /// let network = NetworkSettings { hidden: 16, heads: 2, ..Default::default() };
    /// assert_eq!(config, TrainConfig { network, ..TrainConfig::default().lambda(Lambda::new(1.0)) });
    /// ```
    pub struct TrainConfig {
        /// The data, the task and the split.
        pub data: DataSettings = DataSettings,
        /// What is trained.
        pub model: ModelKind = Model.model,
        /// Read where a graph convolution network is trained.
        pub gcn: GcnSettings = GcnSettings,
        /// Read where CAL is trained.
        pub cal: CalSettings = CalSettings,
        /// The kind and the sizes of the network.
        pub network: NetworkSettings = NetworkSettings,
        /// What stands around the network's layers.
        pub block: BlockSettings = BlockSettings,
        /// Causal attention regularisation.
        pub regulariser: RegulariserSettings = RegulariserSettings,
        /// The optimiser, its loss and its batches.
        pub optimiser: OptimiserSettings = OptimiserSettings,
        /// When to stop, and which weights to keep.
        pub stopping: StoppingSettings = StoppingSettings,
        /// Seeds initial weights, batches, fan-out and the regulariser's draws.
        pub seed: u64 = Seed.seed,
        /// Edges that are left out of the graph before training.
        pub prune: Option<Pruning> = Prune.prune,
    }
}

/// The description of a setting, whatever its type.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name in flags, files and grids.
    pub name: &'static str,
    /// The name of a value in the flag's help; `None` where there is no flag.
    pub value_name: Option<&'static str>,
    /// True where it takes several values with commas between them.
    pub is_list: bool,
    /// True where the flag without a value means `true`.
    pub is_switch: bool,
    /// True where a flag accepts a value that starts with a minus.
    pub may_be_negative: bool,
    /// True for the settings in which runs that pair may differ.
    pub is_of_regulariser: bool,
    docs: &'static [&'static str],
    default_in_words: Option<&'static str>,
    cal_default: Option<&'static str>,
    text: fn(&TrainConfig) -> String,
    parse: fn(&mut TrainConfig, &str) -> Result<(), String>,
    copy: fn(&TrainConfig, &mut TrainConfig),
    is_same: fn(&TrainConfig, &TrainConfig) -> bool,
    set_cal_default: Option<fn(&mut TrainConfig)>,
    check: fn(&TrainConfig) -> Result<(), Error>,
    unused: fn(&TrainConfig) -> Option<Unused>,
    unread: fn(&RegulariserSettings) -> bool,
}

impl Setting {
    /// Every setting, in the order of files.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GROUPS.iter().copied().flatten()
    }

    /// The setting of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|setting| setting.name == name)
    }

    /// The flag's help, with what `carat train` takes without it and where other presets differ.
    pub fn help(&self) -> String {
        let value = |config: &TrainConfig| match self.default_in_words {
            Some(words) if self.is_same(config, &TrainConfig::default()) => words.to_string(),
            _ => self.text(config),
        };
        let of_train = TrainConfig::preset(Preset::OF_TRAIN, "").unwrap_or_default();
        let mut values = vec![format!("default: {}", value(&of_train))];
        for preset in [Preset::Paper, Preset::Gat] {
            let config = TrainConfig::preset(preset, "").unwrap_or_default();
            if !self.is_same(&config, &of_train) {
                values.push(format!("{preset}: {}", value(&config)));
            }
        }
        values.extend(self.cal_default.map(|value| format!("--model cal: {value}")));
        let docs = self.docs.concat();
        let docs = docs.trim().trim_end_matches('.');
        if values == ["default: "] { docs.to_string() } else { format!("{docs} [{}]", values.join("; ")) }
    }

    /// The value in some settings, as a flag writes it; empty where there is none.
    pub fn text(&self, config: &TrainConfig) -> String {
        (self.text)(config)
    }

    /// Parses a flag's text and sets the value, or says what is wrong with the text.
    pub fn set(&self, config: &mut TrainConfig, text: &str) -> Result<(), String> {
        (self.parse)(config, text)
    }

    /// True where both have the same value.
    pub fn is_same(&self, one: &TrainConfig, other: &TrainConfig) -> bool {
        (self.is_same)(one, other)
    }

    /// Sets the default.
    fn reset(&self, config: &mut TrainConfig) {
        (self.copy)(&TrainConfig::default(), config);
    }
}

impl TrainConfig {
    /// The defaults of a model: CAL has its own width and heads.
    pub fn default_of(model: ModelKind) -> Self {
        let mut config = Self { model, ..Self::default() };
        if model == ModelKind::Cal {
            Setting::all().filter_map(|setting| setting.set_cal_default).for_each(|set| set(&mut config));
        }
        config
    }

    /// The same settings with the model's own defaults for those that are not given.
    #[must_use]
    pub fn with_model_defaults(mut self, is_given: impl Fn(&str) -> bool) -> Self {
        let defaults = Self::default_of(self.model);
        let of_models = Setting::all().filter(|setting| setting.set_cal_default.is_some());
        of_models.filter(|setting| !is_given(setting.name)).for_each(|setting| (setting.copy)(&defaults, &mut self));
        self
    }

    /// The same run with every setting that it does not read at its default.
    #[must_use]
    pub fn reset_unused_settings(self) -> Self {
        let mut config = self.clone();
        let unused = Setting::all().filter(|setting| (setting.unused)(&self).is_some());
        unused.for_each(|setting| setting.reset(&mut config));
        config
    }

    /// Everything that must be equal for runs to pair: every setting but the regulariser's, by name.
    pub fn pairing_key(&self) -> Vec<(&'static str, String)> {
        let settings = Setting::all().filter(|setting| !setting.is_of_regulariser);
        settings.map(|setting| (setting.name, setting.text(self))).collect()
    }

    /// Refuses the first setting whose value is wrong, or that means nothing to the model.
    pub(crate) fn check_settings(&self) -> Result<(), Error> {
        Setting::all().try_for_each(|setting| (setting.check)(self))?;
        let default = Self::default();
        for setting in Setting::all().filter(|setting| !setting.is_same(self, &default)) {
            let (name, model) = (setting.name, self.model);
            let problem = match (setting.unused)(self) {
                None | Some(Unused::Unregularised) => continue,
                Some(Unused::Meaningless(why)) => {
                    format!("{name} has no meaning with model {model}: {why}; leave it out")
                }
                Some(Unused::Foreign(owner)) => {
                    let owners = if owner == ModelKind::Gcn { "graph convolution networks" } else { "CAL" };
                    format!("{name} is a setting of {owners}; add --model {owner}, or leave it out")
                }
            };
            return Err(Error::Config(problem));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
