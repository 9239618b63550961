//! `carat tune`: a search for the settings that predict best on some data.

mod printed;
mod text;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carat::metrics::Metric;
use carat::settings::Select;
use carat::{Error, TrainConfig};
use carat_graph::files::write_atomically;
use carat_graph::{DataError, Dataset};
use carat_lab::sweep::{self, Outcome, differences};
use carat_lab::tune::{Budget, Candidate, Comparison, Draws, Limits, Origin, Repetitions, Search, Space, Stage, score};

use printed::{Printed, Row};

use super::sweeper::Sweeper;
use crate::arguments::{DataFolder, Format, Threads, TrainFlags};
use crate::failure::Failure;
use crate::output;
use crate::progress::SweepProgress;

/// Search for the settings that predict best on some data, and compare them with the preset's
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat tune --data my-graph.npz                     ten minutes of search, then 'carat train' with its settings:
  carat train --data my-graph.npz --config tuned.toml
  carat tune --data cora --minutes 60 --out cora.toml
  carat tune --data cora --arch gatv2 --layers 2     what is given as a flag is not searched
  carat tune --data cora --candidates 40             as many candidates, however long they take
  carat tune --data my-tables --figure f1            by the mean F1 over classes
  carat tune --data MUTAG --folds 10 --batch-size 32 graphs instead of nodes, over ten folds
  carat tune --data cora --space mine.toml           other settings and values, as below

A space gives settings of 'carat train' a list of values or a range:

  hidden = [32, 64, 128]
  layers = { from = 1, to = 8, scale = \"linear\" }
  lr = { from = 0.0005, to = 0.02, scale = \"log\" }

Candidates are the preset's settings, those known for the dataset if there are any, random ones, and good ones with a \
few settings changed. Each is trained once, the best third three times and the best ninth nine times: on one split \
after the other where the data has several, else with one seed after the other. Validation figures alone decide. At \
the end the best settings and the preset's are trained again with seeds that the search did not use (on every split \
where there are several), and their test figures are shown side by side.

Every run is kept in the store, so the same command goes on with a search that was stopped or killed; with --minutes \
it searches on for that long. Candidates depend on --seed alone, not on threads; with --candidates the result does \
not depend on speed either. Each run uses one thread and gives the same bits as 'carat train'.")]
pub struct Args {
    /// Minutes to search; the final comparison comes on top
    #[arg(long, value_name = "MINUTES", default_value = "10", value_parser = parse_minutes)]
    minutes: Duration,
    /// Number of candidates, in place of --minutes
    #[arg(long, value_name = "N", conflicts_with = "minutes", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    /// What to search, a TOML file [default: attention, sizes, what stands around layers, dropout, learning rate,
    /// weight decay, and how edges and features are read]
    #[arg(long, value_name = "FILE")]
    space: Option<PathBuf>,
    /// The validation figure that decides: accuracy, auc, f1, loss, or auto (auc where one class has most of the
    /// labels, else accuracy)
    #[arg(long, value_name = "FIGURE", default_value_t = Select::Auto)]
    figure: Select,
    /// Seeds of the final comparison, where the data has one split
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// The file for the best settings, to be read by 'carat train --config'
    #[arg(long, value_name = "FILE", default_value = "tuned.toml")]
    out: PathBuf,
    /// The store of all runs, a SQLite file; created if missing
    #[arg(long, value_name = "FILE", default_value = "carat-tune.db")]
    store: PathBuf,
    #[command(flatten)]
    train: TrainFlags,
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

fn parse_minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| *minutes > 0.0);
    let time = minutes.and_then(|minutes| Duration::try_from_secs_f64(60.0 * minutes).ok());
    time.ok_or_else(|| "a number above 0 is needed".into())
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    output::check_folder(&args.out)?;
    output::check_folder_of("--store", &args.store)?;
    let space = args.read_space()?;
    let asked = args.train.config(None)?;
    let is_fixed = |name: &str| args.train.is_given(name) || name == "select" && args.figure != Select::Auto;

    let datasets = sweep::open_datasets(std::slice::from_ref(&asked), &args.data_folder.path())?;
    let dataset = opened(&datasets, &asked)?;
    let adapted = |config: TrainConfig| {
        // Under its own name a scale is the same candidate as under auto.
        let config = config.clone().normalise(config.data.normalise.resolved(dataset));
        let selects = args.figure != Select::Auto && !args.train.is_given("select");
        if selects { config.select(args.figure) } else { config }
    };
    let tuned = args.train.over_tuned(&asked)?.map(adapted);
    let base = adapted(asked);
    let task = |config: &TrainConfig| config.task_for(dataset).map(|_| ());
    task(&base)?;
    let split = base.choose_split(dataset)?;
    let metric = args.figure.metric(dataset.labels(), &split.train);
    let repetitions = Repetitions::of(&base, dataset, args.train.is_given("split"));
    // Where every edge is there both ways, two candidates would be one.
    let is_undirected = dataset.clone().undirected()?.graph().num_edges() == dataset.graph().num_edges();
    let space = space.without(|name| is_fixed(name) || name == "undirected" && is_undirected);
    let draws = Draws::new(&base, space, &task)?;

    // Of a candidate, not of its repetitions.
    let one = base.clone();
    let describe = move |run: &TrainConfig| differences(&run.clone().split(one.data.split).seed(one.seed), &one);
    let progress = SweepProgress::new(metric, Box::new(describe));
    let sweeper = Sweeper::open(&args.store, &datasets, &args.threads)?.with_progress(progress);
    let evaluate = |stage: Stage, runs: &[TrainConfig], limits: Limits| {
        let results = sweeper.results(&text::stage(stage), runs, limits)?;
        Ok(results.iter().map(|result| result.as_ref().map(|result| score(result, metric))).collect())
    };
    let budget = args.candidates.map_or(Budget::Time(args.minutes), |count| Budget::Candidates(count as usize));
    let name = args.train.base_in_words(&base);
    let candidates = match (Search { draws, tuned, repetitions, budget, evaluate: &evaluate }).run() {
        Err(Error::Interrupted) if !sweeper.is_interrupted() => {
            let problem =
                format!("{name} alone takes longer than --minutes here; give more of them, or fewer --epochs");
            return Err(Failure::work(problem));
        }
        candidates => candidates?,
    };
    let [winner, ..] = &candidates[..] else { return Err(Error::Interrupted.into()) };
    if winner.spread(metric).is_none() {
        let store = args.store.display();
        return Err(Failure::work(format!("every candidate failed; 'carat report {store}' lists their errors")));
    }
    write_settings(&args.out, &text::comment(&base.data.name, &candidates, metric), &winner.config)?;
    let test = match sweeper.is_interrupted() {
        true => None,
        false => compare(&sweeper, &candidates, repetitions, args.seeds as usize, metric)?,
    };
    let interrupted = sweeper.is_interrupted();
    sweeper.finish();

    let printed = Printed {
        data: &base.data.name,
        figure: metric.title(),
        base: &name,
        candidates: candidates.iter().enumerate().map(|(place, one)| Row::of(place, one, &base, metric)).collect(),
        winner: &winner.config,
        out: args.out.display().to_string(),
        store: args.store.display().to_string(),
        test,
        repeated_by: if repetitions.splits() > 1 { "splits" } else { "seeds" },
        interrupted,
    };
    output::show(args.format.json, &printed, || text::of(&printed))?;
    if interrupted {
        return Err(Failure::work("stopped before the end; the same command goes on with the runs in the store"));
    }
    Ok(())
}

impl Args {
    fn read_space(&self) -> Result<Space, Failure> {
        let Some(path) = &self.space else { return Ok(Space::built_in()?) };
        let text = std::fs::read_to_string(path).map_err(|e| DataError::read(path, e))?;
        Ok(Space::from_toml(&text, path)?)
    }
}

fn opened<'a>(datasets: &'a HashMap<String, Dataset>, config: &TrainConfig) -> Result<&'a Dataset, Error> {
    let name = &config.data.name;
    datasets.get(name).ok_or_else(|| Error::Config(format!("the dataset {name} was not opened")))
}

fn write_settings(path: &Path, comment: &str, settings: &TrainConfig) -> Result<(), Failure> {
    let text = toml::to_string(settings).map_err(|e| Failure::work(format!("{}: {e}", path.display())))?;
    let failed = |e| Failure::from(DataError::write(path, e));
    write_atomically(path, |file| write!(file, "{comment}\n{text}").map_err(failed))
}

/// Trains the best candidate and the base anew, and compares their test figures: on every split where there are
/// several, else with so many seeds. `None` where there is no test entity.
fn compare(
    sweeper: &Sweeper<'_>,
    candidates: &[Candidate],
    repetitions: Repetitions,
    seeds: usize,
    metric: Metric,
) -> Result<Option<Comparison>, Failure> {
    let base = candidates.iter().find(|candidate| candidate.origin == Origin::Base);
    let both = [base.unwrap_or(&candidates[0]), &candidates[0]];
    let runs = if repetitions.splits() > 1 { repetitions.splits() } else { seeds };
    let fresh = |number| both.map(|one| repetitions.fresh(&one.config, Search::REPETITIONS, number));
    let configs: Vec<TrainConfig> = (0..runs).flat_map(fresh).collect();
    let results = sweeper.results("comparison on test figures", &configs, Limits::default())?;
    let outcomes: Vec<Option<Outcome>> = results.into_iter().map(|result| result?.ok()).collect();
    let pairs = outcomes.as_chunks::<2>().0.iter().filter_map(|[base, winner]| Some(((*base)?, (*winner)?)));
    let others = [Metric::Accuracy, Metric::MacroF1, Metric::RocAuc, Metric::Loss];
    let others = others.into_iter().filter(|other| *other != metric);
    let metrics: Vec<Metric> = std::iter::once(metric).chain(others).collect();
    let comparison = Comparison::of(&pairs.collect::<Vec<_>>(), &metrics);
    Ok(Some(comparison).filter(|comparison| !comparison.figures.is_empty()))
}
