//! What is searched: settings by name, each with a list of values or with a range.
//!
//! ```text
//! hidden = [32, 64, 128]                              equally likely
//! layers = { from = 1, to = 8, scale = "linear" }     whole numbers between whole numbers
//! lr = { from = 0.0005, to = 0.02, scale = "log" }    every order of magnitude equally likely
//! ```
//!
//! `space.toml` is what is searched without a file of the user's own.

use std::collections::BTreeMap;
use std::path::Path;

use carat::{Error, TrainConfig};
use carat_graph::DataError;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use toml::{Table, Value};

use crate::settings_file;

/// Settings that say what is measured, and on what. Candidates that differ in them could not be compared.
const NOT_SEARCHED: [&str; 7] = ["data", "task", "split", "split-ratio", "folds", "seed", "prune"];

/// The settings to search.
#[derive(Debug, Clone, PartialEq)]
pub struct Space(BTreeMap<String, Values>);

/// The values of a setting.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// Equally likely.
    List(Vec<Value>),
    /// Between two numbers.
    Range(Range),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: Value,
    to: Value,
    scale: Scale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scale {
    Linear,
    Log,
}

impl Space {
    /// The space that comes with carat.
    pub fn built_in() -> Result<Self, Error> {
        Self::from_toml(include_str!("space.toml"), Path::new("space.toml"))
    }

    /// Reads a space from the text of a TOML file. Errors name `path`.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, Error> {
        let malformed = |problem: String| Error::from(DataError::malformed(path, problem));
        let table = settings_file::read(text, path)?;
        if table.is_empty() {
            return Err(malformed("names no setting to search".into()));
        }
        let values = table.into_iter().map(|(name, value)| {
            let values = Values::new(&name, value).map_err(|e| malformed(e.to_string()))?;
            Ok((name, values))
        });
        values.collect::<Result<_, _>>().map(Self)
    }

    /// The space without the settings for which `is_fixed` is true.
    #[must_use]
    pub fn without(mut self, is_fixed: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|name, _| !is_fixed(name));
        self
    }

    /// A value for every setting.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng) -> Table {
        self.0.iter().map(|(name, values)| (name.clone(), values.draw(random))).collect()
    }

    /// A value for one setting.
    pub(super) fn draw_one(&self, random: &mut ChaCha8Rng) -> Table {
        let chosen = random.random_range(0..self.0.len().max(1));
        self.0.iter().skip(chosen).take(1).map(|(name, values)| (name.clone(), values.draw(random))).collect()
    }

    /// True where there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Values {
    /// The values in a file, all of them checked.
    fn new(name: &str, value: Value) -> Result<Self, Error> {
        let problem = |problem: String| Error::Config(format!("{name}: {problem}"));
        settings_file::named(name)?;
        if NOT_SEARCHED.contains(&name) {
            let why = "says what is measured, and cannot be searched; give it as a flag, if at all";
            return Err(problem(why.into()));
        }
        let (values, ends) = match value {
            Value::Array(list) if list.is_empty() => return Err(problem("has no value".into())),
            Value::Array(list) => (Self::List(list.clone()), list),
            Value::Table(table) => {
                let range: Range = match table.try_into() {
                    Ok(range) => range,
                    Err(e) => return Err(problem(format!("{}; a range is {RANGE}", e.message().trim()))),
                };
                range.check().map_err(problem)?;
                let ends = vec![range.from.clone(), range.to.clone()];
                (Self::Range(range), ends)
            }
            other => {
                return Err(problem(format!("{other} is neither a list of values nor a range like {RANGE}")));
            }
        };
        ends.iter().try_for_each(|value| check(name, value))?;
        Ok(values)
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> Value {
        match self {
            Self::List(list) => list[random.random_range(0..list.len())].clone(),
            Self::Range(range) => range.draw(random),
        }
    }
}

/// An example for messages.
const RANGE: &str = "{ from = 0.001, to = 0.1, scale = \"log\" }";

/// Refuses a value that no run can have.
fn check(name: &str, value: &Value) -> Result<(), Error> {
    settings_file::check_type(name, value)?;
    // Alone, not in combination with others. A setting that the default's model does not read is not checked.
    with(&TrainConfig::default(), &Table::from_iter([(name.to_string(), value.clone())]))?.check()
}

/// The settings with some values replaced, and with the defaults for what a run does not read then.
pub(super) fn with(settings: &TrainConfig, values: &Table) -> Result<TrainConfig, Error> {
    let mut table = Table::try_from(settings).map_err(|e| Error::Config(e.to_string()))?;
    table.extend(values.clone());
    let settings: TrainConfig = table.try_into().map_err(|e: toml::de::Error| Error::Config(e.message().into()))?;
    Ok(settings.reset_unused_settings())
}

impl Range {
    fn check(&self) -> Result<(), String> {
        let Self { from, to, scale } = self;
        match (number(from), number(to)) {
            (Some(low), Some(high)) if low >= high => Err(format!("from {from} must be below to {to}")),
            (Some(low), Some(_)) if *scale == Scale::Log && low <= 0.0 => {
                Err(format!("from {from} must be above 0 with scale \"log\""))
            }
            (Some(_), Some(_)) => Ok(()),
            _ => Err(format!("from {from} and to {to} must be numbers")),
        }
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> Value {
        let (low, high) = (number(&self.from).unwrap_or_default(), number(&self.to).unwrap_or_default());
        let is_whole = self.from.is_integer() && self.to.is_integer();
        // Half a step beyond both ends, so that every whole number is equally likely.
        let margin = if is_whole && self.scale == Scale::Linear { 0.5 } else { 0.0 };
        let (low_end, high_end) = (low - margin, high + margin);
        let share: f64 = random.random();
        let drawn = match self.scale {
            Scale::Linear => low_end + share * (high_end - low_end),
            Scale::Log => low_end * (high_end / low_end).powf(share),
        };
        if is_whole {
            return Value::Integer(drawn.round().clamp(low, high) as i64);
        }
        // Two digits say as much as a search can know, and people can read them.
        let rounded = format!("{drawn:.1e}").parse().unwrap_or(drawn);
        Value::Float(rounded.clamp(low, high))
    }
}

/// The number, if it is a finite one.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    number.filter(|number| number.is_finite())
}
