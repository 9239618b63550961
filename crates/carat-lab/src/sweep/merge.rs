//! Merges the results of several stores.

use std::collections::HashMap;

use carat::{Error, Protocol, TrainConfig};

use super::curve::Curve;
use super::run::{Run, TrainingCurve};
use super::store::{CODE, Record, Store};

/// The finished runs of several stores, each once. If results come from several versions of the code, those of this
/// version are taken, or else those of the version with the latest result. If a dataset's contents changed, results on
/// the latest contents are taken. All others are counted.
pub fn merge(stores: &[Store]) -> Result<Merged, Error> {
    let mut records: Vec<Record> = Vec::new();
    for store in stores {
        records.extend(store.records()?);
    }
    // A run that failed on one machine may have succeeded on another.
    records.sort_by(|a, b| a.key.cmp(&b.key).then(a.result.is_err().cmp(&b.result.is_err())));
    records.dedup_by(|later, first| later.key == first.key);
    // A dataset may have different paths on different machines. It gets the shortest of them as its name.
    let mut names: HashMap<String, String> = HashMap::new();
    for record in &records {
        let name = names.entry(record.data_sum.clone()).or_insert_with(|| record.config.data.name.clone());
        let shorter = |one: &str, other: &str| (one.len(), one) < (other.len(), other);
        if shorter(&record.config.data.name, name) {
            name.clone_from(&record.config.data.name);
        }
    }
    for record in &mut records {
        if let Some(name) = names.get(&record.data_sum) {
            record.config.data.name.clone_from(name);
        }
    }
    let ours = records.iter().any(|record| record.code == CODE);
    let latest = records.iter().max_by_key(|record| record.finished).map(|record| record.code.clone());
    let code = if ours { CODE.to_string() } else { latest.unwrap_or_else(|| CODE.to_string()) };
    let mut latest_data: HashMap<String, (i64, String)> = HashMap::new();
    for record in records.iter().filter(|record| record.code == code) {
        let candidate = (record.finished, record.data_sum.clone());
        let latest = latest_data.entry(record.config.data.name.clone()).or_insert_with(|| candidate.clone());
        *latest = candidate.max(latest.clone());
    }
    let is_taken = |record: &Record| {
        let latest = latest_data.get(&record.config.data.name);
        record.code == code && latest.is_some_and(|(_, data_sum)| *data_sum == record.data_sum)
    };
    let (taken, left_out): (Vec<_>, Vec<_>) = records.into_iter().partition(is_taken);
    let mut merged = Merged { code, left_out: left_out.len(), ..Merged::default() };
    let mut curves: HashMap<String, Curve> = HashMap::new();
    for store in stores {
        for (training, curve) in store.curves()? {
            // The longer curve distinguishes more stopping rules. Epochs that both have are equal.
            let known = curves.entry(training).or_default();
            if known.epochs() < curve.epochs() {
                *known = curve;
            }
        }
    }
    for Record { config, training, result, .. } in taken {
        if let Some(curve) = curves.remove(&training) {
            // All curves get the same protocol, so that they pair.
            let config = config.clone().protocol(Protocol::default());
            merged.curves.push(TrainingCurve { config, curve });
        }
        match result {
            Ok(outcome) => merged.runs.push(Run { config, outcome }),
            Err(error) => merged.failures.push((config, error)),
        }
    }
    Ok(merged)
}

impl Merged {
    /// Keeps the results on datasets for which `keep` is true.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.runs.retain(|run| keep(&run.config.data.name));
        self.curves.retain(|training| keep(&training.config.data.name));
        self.failures.retain(|(config, _)| keep(&config.data.name));
    }
}

/// The results of several stores.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// Finished runs.
    pub runs: Vec<Run>,
    /// The curves of their trainings, each once.
    pub curves: Vec<TrainingCurve>,
    /// Runs that failed, with their errors.
    pub failures: Vec<(TrainConfig, String)>,
    /// The code that computed them.
    pub code: String,
    /// The number of runs of other versions of the code or of the data. They are left out.
    pub left_out: usize,
}
