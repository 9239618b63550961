//! Grids: every setting of a run may be a list, and the grid is their product.
//!
//! ```text
//! data = ["cora", "citeseer"]
//! lambda = [0, 1, 5]
//! arch = ["gat", "gatv2", "transformer"]
//! seeds = 3                              short for seed = [0, 1, 2]; splits = 10 likewise
//! protocol = ["paper", "best"]
//! ```
//!
//! Names are those of `carat train`. A setting that is itself a list (fanout, lambda per layer) takes a list of lists.
//! `preset` names what the other settings stand on, the paper's defaults where it is missing.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use carat::{Error, Preset, TrainConfig};
use carat_graph::DataError;
use toml::Value;

use crate::settings_file;

/// A grid with more runs than this is taken for a mistake.
const MOST_RUNS: usize = 1_000_000;

/// The name of the settings that all others stand on.
const PRESET: &str = "preset";

/// Settings of the outermost loops.
const OUTERMOST: [&str; 3] = ["data", "split", "seed"];

/// Settings, each with the values it takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    values: BTreeMap<String, Vec<Value>>,
}

impl Grid {
    /// The empty grid: one run with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The paper's grid on one dataset: 3 kinds x L x K x F x lambda, both protocols; 360 trainings.
    pub fn paper(data: &str) -> Self {
        Self::new()
            .with("data", [data])
            .with("arch", ["gat", "gatv2", "transformer"])
            .with("layers", [1, 2])
            .with("heads", [1, 3, 5])
            .with("hidden", [10, 25, 100, 200])
            .with("lambda", [0.0, 0.1, 0.5, 1.0, 5.0])
            .with("protocol", ["paper", "best"])
    }

    /// A grid that shows in minutes whether CAR helps on a graph, in the networks of `carat train`: 3 kinds x L x F,
    /// lambda 0, 0.5, 1 and 5, the causal arm and its constant control, 3 seeds.
    pub fn small(data: &str) -> Self {
        Self::new()
            .with(PRESET, [Preset::OF_TRAIN.name()])
            .with("data", [data])
            .with("arch", ["gat", "gatv2", "transformer"])
            .with("layers", [1, 2])
            .with("hidden", [32, 128])
            .with("lambda", [0.0, 0.5, 1.0, 5.0])
            .with("regulariser", ["causal", "constant"])
            .with("seed", [0, 1, 2])
    }

    /// The grid with the values of one setting replaced.
    #[must_use]
    pub fn with<V: Into<Value>>(mut self, name: &str, values: impl IntoIterator<Item = V>) -> Self {
        self.values.insert(name.to_string(), values.into_iter().map(Into::into).collect());
        self
    }

    /// Reads a grid from the text of a TOML file. Errors name `path`.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, Error> {
        let table = settings_file::read(text, path)?;
        let malformed = |problem: String| Error::from(DataError::malformed(path, problem));
        let mut grid = Self::new();
        for (name, value) in table {
            let values = match (name.as_str(), value) {
                ("seeds" | "splits", Value::Integer(count @ 1..=1_000_000)) => (0..count).map(Value::Integer).collect(),
                ("seeds" | "splits", value) => {
                    return Err(malformed(format!("{name} must be a number from 1 to 1000000, and {value} is not")));
                }
                (_, Value::Array(values)) if values.is_empty() => {
                    return Err(malformed(format!("{name} has no value")));
                }
                (_, Value::Array(values)) => values,
                (_, value) => vec![value],
            };
            let singular = match name.as_str() {
                "seeds" => "seed",
                "splits" => "split",
                name => name,
            };
            if grid.values.insert(singular.to_string(), values).is_some() {
                return Err(malformed(format!("{singular} is given twice, once as {singular}s")));
            }
        }
        grid.runs().map_err(|e| malformed(e.to_string()))?;
        Ok(grid)
    }

    /// True where the grid sets this setting.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Every run once, in the order of the lists. Settings that a baseline does not read get their defaults, so that
    /// the baselines of all arms are one run.
    pub fn runs(&self) -> Result<Vec<TrainConfig>, Error> {
        for (name, values) in &self.values {
            check_setting(name, values)?;
        }
        let count = self.values.values().try_fold(1usize, |count, values| count.checked_mul(values.len()));
        if count.is_none_or(|count| count > MOST_RUNS) {
            return Err(Error::Config(format!("the grid has more than {MOST_RUNS} runs; shorten a list")));
        }
        // A sweep that is interrupted then has all runs of some datasets rather than some runs of each.
        let rank = |name: &str| OUTERMOST.iter().position(|outer| *outer == name).unwrap_or(OUTERMOST.len());
        let mut lists: Vec<_> = self.values.iter().collect();
        lists.sort_by_key(|(name, _)| rank(name));
        let mut tables = vec![toml::Table::new()];
        for (name, values) in lists {
            let longer = |table: &toml::Table| {
                let with = |value: &Value| {
                    let mut table = table.clone();
                    table.insert(name.clone(), value.clone());
                    table
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            tables = tables.iter().flat_map(longer).collect();
        }
        let mut seen = HashSet::new();
        let mut runs = Vec::with_capacity(tables.len());
        for mut table in tables {
            let preset = table.remove(PRESET).map_or(Ok(Preset::Paper), |name| preset(&name))?;
            let config: TrainConfig =
                table.try_into().map_err(|e: toml::de::Error| Error::Config(e.message().into()))?;
            let config =
                config.with_model_defaults(|name| self.has(name)).with_preset(preset, |name| self.has(name))?;
            let config = config.reset_unused_settings();
            config.check()?;
            if seen.insert(toml::to_string(&config).map_err(|e| Error::Config(e.to_string()))?) {
                runs.push(config);
            }
        }
        Ok(runs)
    }
}

/// The preset of this name.
fn preset(name: &Value) -> Result<Preset, Error> {
    let text = name.as_str().map_or_else(|| name.to_string(), str::to_string);
    text.parse().map_err(|problem| Error::Config(format!("{PRESET}: {problem}")))
}

/// Refuses unknown names and invalid values before the product is formed.
fn check_setting(name: &str, values: &[Value]) -> Result<(), Error> {
    if name == PRESET {
        return values.iter().try_for_each(|value| preset(value).map(|_| ()));
    }
    settings_file::named(name)?;
    values.iter().try_for_each(|value| settings_file::check_type(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat::{Lambda, ModelKind};

    fn grid(text: &str) -> Result<Grid, String> {
        Grid::from_toml(text, Path::new("grid.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn the_paper_s_grid_has_360_trainings_under_two_protocols() {
        let runs = Grid::paper("cora").runs().unwrap();
        assert_eq!(runs.len(), 720);
        assert_eq!(runs.iter().filter(|run| run.car().is_none()).count(), 144);
    }

    #[test]
    fn the_small_grid_has_252_trainings_of_the_networks_of_train() {
        let runs = Grid::small("x").runs().unwrap();
        assert_eq!(runs.len(), 252);
        let strong = TrainConfig::preset(Preset::Strong, "x").unwrap();
        assert!(runs.iter().all(|run| (&run.block, &run.stopping) == (&strong.block, &strong.stopping)));
    }

    #[test]
    fn baselines_of_all_arms_are_one_run() {
        let grid = grid("data = 'x'\nlambda = [0, 1]\nregulariser = ['causal', 'random', 'none']\nseeds = 2").unwrap();
        let runs = grid.runs().unwrap();
        assert_eq!(runs.len(), 2 * (1 + 2));
        assert_eq!(runs.iter().filter(|run| run.car().is_none()).count(), 2);
    }

    #[test]
    fn a_model_without_attention_is_one_run_for_all_attention_settings() {
        let lists = "data = 'x'\narch = ['gat', 'gatv2']\nheads = [1, 2]\nlambda = [0, 1]";
        let grid = grid(&format!("{lists}\nmodel = ['attention', 'gcn']\ngcn-norm = ['symmetric', 'none']")).unwrap();
        let runs = grid.runs().unwrap();
        assert_eq!(runs.iter().filter(|run| run.model == ModelKind::Attention).count(), 2 * 2 * 2);
        assert_eq!(runs.iter().filter(|run| run.model == ModelKind::Gcn).count(), 2);
    }

    #[test]
    fn cal_has_one_run_per_strength_and_other_models_ignore_them() {
        let lists = "data = 'x'\nmodel = ['attention', 'gcn', 'cal']\nhidden = 8\nheads = 2\nlambda1 = [0.2, \
            1]\nlambda = [0, 1]";
        let runs = grid(lists).unwrap().runs().unwrap();
        let count = |model| runs.iter().filter(|run| run.model == model).count();
        assert_eq!([ModelKind::Attention, ModelKind::Gcn, ModelKind::Cal].map(count), [2, 1, 2]);
        assert!(runs.iter().all(|run| run.model == ModelKind::Cal || run.cal.lambda1.is_none()));
    }

    #[test]
    fn settings_stand_on_those_of_a_preset() {
        let lists = "data = 'x'\npreset = ['paper', 'gat']\nlr = [0.5]\nmodel = ['attention', 'gcn']";
        let runs = grid(lists).unwrap().runs().unwrap();
        let sizes: Vec<_> = runs.iter().map(|run| (run.network.hidden, run.network.heads, run.optimiser.lr)).collect();
        let mut expected = vec![(100, 3, 0.5), (64, 8, 0.5), (100, 3, 0.5), (64, 3, 0.5)];
        assert_eq!(runs.len(), 4);
        assert!(sizes.iter().all(|found| {
            let place = expected.iter().position(|expected| expected == found);
            place.is_some_and(|place| expected.remove(place) == *found)
        }));
    }

    #[test]
    fn lists_of_lists_are_settings_that_are_lists() {
        let grid = grid("data = 'x'\nlambda = [0.5, [0.5, 1]]\nfanout = [[10, 5]]").unwrap();
        let runs = grid.runs().unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[1].regulariser.lambda, Lambda::per_layer(vec![0.5, 1.0]));
        assert_eq!(runs[1].optimiser.fanout, [10, 5]);
    }

    #[test]
    fn errors_name_the_file() {
        for (text, problem) in [
            ("hiden = 3", "there is no setting 'hiden'; did you mean 'hidden'?"),
            ("zzz = 3", "there is no setting 'zzz'; 'carat train --help' has their names"),
            ("hidden = [3, 'wide']", "hidden: invalid type: string \"wide\", expected a whole number, 0 or more"),
            ("arch = ['gat', 'gta']", "arch: "),
            ("heads = [1, 0]", "heads must be between 1 and 1024, and 0 is not"),
            ("preset = 'weak'", "preset: 'weak' is not a preset; choose paper, gat, strong or tuned"),
            ("seeds = 0", "seeds must be a number from 1 to 1000000, and 0 is not"),
            ("seeds = 2\nseed = 1", "seed is given twice"),
            ("lambda = []", "lambda has no value"),
            ("lambda = [", "grid.toml:1: unclosed array"),
            ("seeds = 100000\nsplits = 100000", "more than 1000000 runs"),
        ] {
            let error = grid(text).unwrap_err();
            assert!(error.contains("grid.toml") && error.contains(problem), "{text}: {error}");
        }
    }
}
