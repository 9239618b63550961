//! Files of settings with several values each: grids, and the spaces that tuning searches.

use std::path::Path;

use carat::{Error, Setting, TrainConfig};
use carat_graph::DataError;
use toml::{Table, Value};

/// The table in the text of a TOML file. Errors name `path` and the line.
pub(crate) fn read(text: &str, path: &Path) -> Result<Table, Error> {
    toml::from_str(text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = 1 + before.matches('\n').count() as u64;
        DataError::malformed_line(path, line, e.message().trim().to_string()).into()
    })
}

/// The setting of this name, or the name that was probably meant.
pub(crate) fn named(name: &str) -> Result<&'static Setting, Error> {
    Setting::named(name).ok_or_else(|| {
        let nearest = Setting::all().map(|known| (strsim::jaro_winkler(known.name, name), known.name));
        let nearest = nearest.max_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|(likeness, _)| *likeness > 0.8);
        let hint = nearest
            .map_or("'carat train --help' has their names".to_string(), |(_, near)| format!("did you mean '{near}'?"));
        Error::Config(format!("there is no setting '{name}'; {hint}"))
    })
}

/// Refuses a value of another type than the setting's.
pub(crate) fn check_type(name: &str, value: &Value) -> Result<(), Error> {
    let table = Table::from_iter([(name.to_string(), value.clone())]);
    // Parsed like the file of a single run, whose errors are written for users. The position is of no use here.
    TrainConfig::from_toml(&table.to_string(), Path::new("")).map(|_| ()).map_err(|e| {
        let problem = e.to_string();
        Error::Config(format!("{name}: {}", problem.strip_prefix(":1: ").unwrap_or(&problem)))
    })
}
