//! The settings of a training run as flags: one for each declaration in `carat::settings`.

use std::path::{Path, PathBuf};

use carat::{ModelKind, Normalise, Preset, Setting, TrainConfig};
use carat_graph::{DataError, is_folder_of_tables};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::failure::Failure;

const CONFIG: &str = "config";
const PRESET: &str = "preset";
const REGULARISER: &str = "Causal attention regularisation (CAR)";

/// The settings of a training run. A flag that is given wins over the `--config` file, and both over the preset.
#[derive(Debug)]
pub struct TrainFlags {
    config: Option<PathBuf>,
    preset: Option<Preset>,
    /// The settings whose flags are given, with their texts.
    given: Vec<(&'static Setting, String)>,
}

/// A dataset by its whole path if it is one: runs and stores must find it again from any folder.
pub fn absolute_if_there(data: &str) -> String {
    let path = Path::new(data);
    match std::path::absolute(path) {
        Ok(absolute) if path.exists() => absolute.display().to_string(),
        _ => data.to_string(),
    }
}

impl TrainFlags {
    /// The settings: flags over the `--config` file over the preset over the defaults; checked. Without a preset, flags
    /// and file stand over `base`, a run that goes on.
    pub fn config(&self, base: Option<&TrainConfig>) -> Result<TrainConfig, Failure> {
        let mut flags = TrainConfig::default();
        self.set(&mut flags)?;
        let mut config = match base {
            Some(base) if self.preset.is_none() => base.clone(),
            // The preset says everything but what the run took from its data.
            Some(base) => TrainConfig::default_of(flags.model).task(base.data.task),
            None => TrainConfig::default_of(flags.model),
        };
        let mut in_file = toml::Table::new();
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|e| DataError::read(path, e))?;
            config = TrainConfig::from_toml(&text, path)?;
            in_file = toml::from_str(&text).unwrap_or_default();
        }
        self.set(&mut config)?;
        if let Some(preset) = self.preset.or_else(|| self.default_preset(base, &config)) {
            config = config.with_preset(preset, |name| self.is_given(name) || in_file.contains_key(name))?;
        }
        if config.data.name.is_empty() {
            return Err(Failure::input(
                "--data is missing: a name from 'carat data list', or a path to a .npz or .carat file or a folder",
            ));
        }
        config.data.name = absolute_if_there(&config.data.name);
        // A run that goes on, and a file, say what they mean: without a word, features stay as they are.
        let is_new = self.config.is_none() && (base.is_none() || self.preset.is_some());
        if is_new && !self.is_given("normalise") && is_folder_of_tables(&config.data.name) {
            config.data.normalise = Normalise::Auto;
        }
        config.check()?;
        Ok(config)
    }

    /// True where the flag of this setting is given.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|(setting, _)| setting.name == name)
    }

    /// What a new run's settings stand on, in words.
    pub fn base_in_words(&self, config: &TrainConfig) -> String {
        match (self.preset.or_else(|| self.default_preset(None, config)), &self.config) {
            (Some(preset), _) => format!("preset {preset}"),
            (None, Some(path)) => path.display().to_string(),
            (None, None) => "the defaults".into(),
        }
    }

    /// The flags over the settings that are known for the dataset of `config`; `None` where there are none.
    pub fn over_tuned(&self, config: &TrainConfig) -> Result<Option<TrainConfig>, Failure> {
        let Ok(mut tuned) = TrainConfig::preset(Preset::Tuned, &config.data.name) else { return Ok(None) };
        self.set(&mut tuned)?;
        Ok(Some(tuned.data(config.data.name.clone())))
    }

    /// A file of settings, such as a run's, stands over the paper's defaults, and so does CAL, which is its authors'.
    fn default_preset(&self, base: Option<&TrainConfig>, config: &TrainConfig) -> Option<Preset> {
        let has_own = base.is_some() || self.config.is_some() || config.model == ModelKind::Cal;
        (!has_own).then_some(Preset::OF_TRAIN)
    }

    fn set(&self, config: &mut TrainConfig) -> Result<(), Failure> {
        self.given.iter().try_for_each(|(setting, text)| setting.set(config, text).map_err(Failure::input))
    }
}

/// Settings that have a flag, with what a value is called.
fn flags() -> impl Iterator<Item = (&'static Setting, &'static str)> {
    Setting::all().filter_map(|setting| Some((setting, setting.value_name?)))
}

fn flag(setting: &'static Setting, value_name: &'static str) -> Arg {
    // Told here, a mistake is told with the flag's name.
    let checked = |text: &str| setting.set(&mut TrainConfig::default(), text).map(|()| text.to_string());
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(value_name)
        .help(setting.help())
        .value_parser(checked)
        .allow_negative_numbers(setting.may_be_negative);
    let arg = if setting.is_of_regulariser { arg.help_heading(REGULARISER) } else { arg };
    let arg =
        if setting.is_switch { arg.num_args(0..=1).require_equals(true).default_missing_value("true") } else { arg };
    if setting.is_list { arg.value_delimiter(',').action(ArgAction::Append) } else { arg }
}

impl Args for TrainFlags {
    fn augment_args(command: Command) -> Command {
        let preset = Arg::new(PRESET).long(PRESET).value_name("NAME").help(format!(
            "Settings that go together: strong (serves most data), gat (the usual recipe of a GAT), paper (the \
             paper's network) or tuned (the best known for a dataset of the catalogue). A flag or --config wins over \
             it [default: {}; with --config paper]",
            Preset::OF_TRAIN
        ));
        let preset = preset.value_parser(|text: &str| text.parse::<Preset>());
        let config =
            Arg::new(CONFIG).long(CONFIG).value_name("FILE").help("TOML file with any of these settings by name");
        let config = config.value_parser(value_parser!(PathBuf));
        command.arg(config).arg(preset).args(flags().map(|(setting, value_name)| flag(setting, value_name)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TrainFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = flags().filter_map(|(setting, _)| {
            let texts: Vec<&str> = matches.get_many::<String>(setting.name)?.map(String::as_str).collect();
            Some((setting, texts.join(",")))
        });
        let preset = matches.get_one(PRESET).copied();
        Ok(Self { config: matches.get_one(CONFIG).cloned(), preset, given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
