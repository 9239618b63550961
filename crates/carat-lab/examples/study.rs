//! Trains a grid of networks and appends one CSV row per run and protocol: the raw material of `docs/results.md`.
//!
//! ```text
//! cargo run --release -p carat-lab --example study -- out.csv data=cora lambda=0,1,5 regulariser=causal,random seeds=3
//! ```
//!
//! Every setting of a run (`carat train --help`) can be a list; the grid is their product, one run per core, each on one
//! thread. Rows that the file already holds are not computed again, so a study that was stopped goes on. Both protocols
//! come from one training: protocol paper stops ten epochs after the lowest validation loss and keeps what it has;
//! protocol best goes on to twenty and keeps the weights of the lowest.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use carat::{Evaluator, Protocol, TrainConfig, Trainer, coherence, with_threads};
use carat_graph::{Dataset, Split};
use carat_nn::Network;

type Failure = Box<dyn Error + Send + Sync>;

/// A run's settings, as text by name, in the order of names.
type Setting = BTreeMap<String, String>;

const HEADER: &str =
    "setting,protocol,test_loss,test_accuracy,val_loss,attention_auc,attention_kl,uniform_kl,epochs,finite,seconds";

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("the CSV file to write is missing")?;
    let settings = grid(arguments)?;
    let done = rows_of(Path::new(&out))?;
    let mut file = OpenOptions::new().create(true).append(true).open(&out)?;
    if done.is_empty() {
        writeln!(file, "{HEADER}")?;
    }
    let left: Vec<&Setting> = settings.iter().filter(|setting| !done.contains(&name(setting))).collect();
    let mut datasets: HashMap<&str, Dataset> = HashMap::new();
    for setting in &left {
        let data = setting["data"].as_str();
        if !datasets.contains_key(data) {
            datasets.insert(data, carat_graph::open(data, &carat_graph::data_dir(None))?);
        }
    }

    let (next, file) = (AtomicUsize::new(0), Mutex::new(file));
    let work = || -> Result<(), Failure> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(setting) = left.get(number) else { return Ok(()) };
            let rows = with_threads(Some(1), || run(&datasets[setting["data"].as_str()], setting))??;
            let mut file = file.lock().map_err(|_| "another run failed")?;
            file.write_all(rows.as_bytes())?;
            file.flush()?;
            if number % 50 == 0 {
                eprintln!("{number} of {} runs", left.len());
            }
        }
    };
    let cores = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| Failure::from("a run panicked"))?)
    })
}

/// The product of all lists. A baseline (lambda 0) is the same for every choice about the regulariser and stands once.
fn grid(arguments: impl Iterator<Item = String>) -> Result<Vec<Setting>, Failure> {
    let mut settings = vec![Setting::new()];
    for argument in arguments {
        let (key, values) = argument.split_once('=').ok_or(format!("'{argument}' is not name=value,value"))?;
        let values: Vec<String> = match (key, values.parse::<usize>()) {
            ("seeds", Ok(count)) => (0..count).map(|seed| seed.to_string()).collect(),
            _ => values.split(',').map(String::from).collect(),
        };
        let key = if key == "seeds" { "seed" } else { key };
        settings = settings
            .iter()
            .flat_map(|setting| {
                values
                    .iter()
                    .map(|value| [(key.to_string(), value.clone())].into_iter().chain(setting.clone()).collect())
            })
            .collect();
    }
    for setting in &mut settings {
        if setting.get("lambda").is_none_or(|lambda| lambda == "0") {
            let plain = ["data", "split", "arch", "hidden", "heads", "layers", "lr", "epochs", "seed"];
            setting.retain(|key, _| plain.contains(&key.as_str()));
        }
    }
    let mut seen = HashSet::new();
    settings.retain(|setting| seen.insert(name(setting)));
    Ok(settings)
}

fn name(setting: &Setting) -> String {
    setting.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

fn rows_of(path: &Path) -> Result<HashSet<String>, Failure> {
    let Ok(file) = File::open(path) else { return Ok(HashSet::new()) };
    let mut names = HashSet::new();
    for line in BufReader::new(file).lines() {
        names.extend(line?.split(',').next().map(String::from));
    }
    Ok(names)
}

fn run(dataset: &Dataset, setting: &Setting) -> Result<String, Failure> {
    let quoted = |value: &str| if value.parse::<f64>().is_ok() { value.to_string() } else { format!("\"{value}\"") };
    let toml: String = setting.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))).collect();
    let mut config = TrainConfig::from_toml(&toml, Path::new("a setting"))?;
    config.patience = Some(Protocol::Best.default_patience());
    let split = config.choose_split(dataset)?;
    let mut trainer = Trainer::new(dataset, &split, &config)?;
    let mut rows = String::new();
    let mut paper = false;
    while let Some(epoch) = trainer.epoch(&|| false)? {
        if !paper && epoch.epoch - trainer.best().epoch >= Protocol::Paper.default_patience() {
            rows += &row(dataset, &split, setting, Protocol::Paper, trainer.network(), epoch.val_loss, &trainer);
            paper = true;
        }
    }
    if !paper {
        rows += &row(dataset, &split, setting, Protocol::Paper, trainer.network(), f64::NAN, &trainer);
    }
    let (sizes, best) = (trainer.network().config(), trainer.best().clone());
    let mut network = Network::new(sizes, 0)?;
    network.parameters_mut().copy_from_slice(&best.parameters);
    rows += &row(dataset, &split, setting, Protocol::Best, &network, best.score.loss, &trainer);
    Ok(rows)
}

fn row(
    dataset: &Dataset,
    split: &Split,
    setting: &Setting,
    protocol: Protocol,
    network: &Network<f32>,
    val_loss: f64,
    trainer: &Trainer<'_>,
) -> String {
    let layers = network.config().layers;
    let test = Evaluator::new(dataset, &split.test, layers, 10_000).score(network);
    let coherence = coherence(network, dataset, &split.test, 10_000);
    let finite = network.parameters().iter().all(|p| p.is_finite());
    format!(
        "{},{protocol},{},{},{val_loss},{},{},{},{},{finite},{:.3}\n",
        name(setting),
        test.map_or(f64::NAN, |t| t.loss),
        test.map_or(f64::NAN, |t| t.accuracy),
        coherence.and_then(|c| c.attention_auc).unwrap_or(f64::NAN),
        coherence.map_or(f64::NAN, |c| c.attention_kl),
        coherence.map_or(f64::NAN, |c| c.uniform_kl),
        trainer.epochs(),
        trainer.seconds(),
    )
}
