//! `carat rewire --base DIR --car DIR`: GCNs on a graph pruned at several thresholds.

use std::path::{Path, PathBuf};

use carat::rewire::{CurvePoint, Curves, Guide, RewireConfig, Study};
use carat::settings::NetworkSettings;
use carat::{TrainConfig, with_threads};
use carat_lab::parallel::in_parallel;
use carat_report::rewiring::{self, AreaFigures};
use carat_report::statistics::Spread;
use serde::Serialize;

use super::super::report::{check_out, write};
use super::{Args, Guiding};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// What `--json` prints.
#[derive(Serialize)]
struct Printed {
    page: String,
    files: usize,
    data: String,
    edges: usize,
    trainings: usize,
    unpruned: Option<Spread>,
    curves: Vec<PrintedCurve>,
}

#[derive(Serialize)]
struct PrintedCurve {
    #[serde(flatten)]
    figures: AreaFigures,
    points: Vec<PrintedPoint>,
}

#[derive(Serialize)]
struct PrintedPoint {
    threshold: f64,
    edges: Option<usize>,
    accuracy: Option<Spread>,
}

impl PrintedPoint {
    fn of(point: &CurvePoint) -> Self {
        Self { threshold: point.threshold, edges: point.edges, accuracy: rewiring::spread(&point.accuracies) }
    }
}

/// Trains the GCNs, writes the folder and prints the results.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("carat-rewire"));
    check_out(&out)?;
    let named = [("baseline", "--base", &args.base), ("CAR", "--car", &args.car)];
    let named = named.into_iter().filter_map(|(name, flag, path)| Some((name, flag, path.as_ref()?)));
    let mut runs: Vec<(&str, &str, Guiding)> = Vec::new();
    for (name, flag, path) in named {
        runs.push((name, flag, Guiding::open(path)?));
    }
    let Some((_, _, first)) = runs.first() else {
        return Err(Failure::input(
            "no run to prune by: give --base DIR, --car DIR or both, or --run DIR --apply THRESHOLD --out GRAPH",
        ));
    };
    if args.data.is_none() {
        same(&runs, "on", |config| config.data.name.clone(), "--data names the graph to prune")?;
    }
    let edges = |config: &TrainConfig| format!("undirected {}", config.data.undirected);
    same(&runs, "with", edges, "prune by one run at a time")?;
    if args.splits.is_none() {
        let split = |config: &TrainConfig| match config.data.folds {
            None => format!("split {}", config.data.split),
            Some(folds) => format!("split {} of {folds} folds of seed {}", config.data.split, config.seed),
        };
        same(&runs, "on", split, "--splits N names the splits to train GCNs on")?;
    }
    if first.config.data.folds.is_some() && args.seed.is_some_and(|seed| seed != first.config.seed) {
        return Err(Failure::input(format!(
            "the run's folds were dealt out by its seed {}, and another --seed would deal them anew; leave --seed out",
            first.config.seed
        )));
    }
    let config = settings(args, &first.config);
    let data = args.data.as_deref().unwrap_or(&first.config.data.name);
    let dataset = config.gcn.open(Some(data), &args.data_folder.path())?;
    let interrupted = interrupt::flag()?;
    let progress = Progress::new("GCNs");
    let (curves, trainings) = with_threads(args.threads.threads, || {
        let mut guides = Vec::new();
        for (name, _, run) in &runs {
            guides.push(Guide {
                name: name.to_string(),
                scores: run.scores(&run.config.prepare_edges(dataset.clone())?)?,
            });
        }
        let study = Study::new(&dataset, guides, config.clone())?;
        let accuracies = in_parallel(study.trainings(), |number| {
            let accuracy = study.train(number, &interrupted)?;
            progress.advance(study.trainings() as u64);
            Ok(accuracy)
        })?;
        Ok::<_, carat::Error>((study.curves(&accuracies), study.trainings()))
    })??;
    progress.finish();

    let name = Path::new(data).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let report = rewiring::report(&name, about(&runs, &config, trainings), &curves);
    let files = write(&report, &out)?;
    let printed = Printed {
        page: out.join("index.html").display().to_string(),
        files,
        data: data.to_string(),
        edges: dataset.graph().num_edges(),
        trainings,
        unpruned: rewiring::spread(&curves.unpruned),
        curves: printed_curves(&curves),
    };
    output::show(args.print.json, &printed, || {
        let mut blocks = report.lead.clone();
        blocks.extend(report.sections.iter().flat_map(|section| section.blocks.clone()));
        let text = output::blocks(&blocks);
        format!("{text}\n{files} files. The page: {}, which opens in any browser.\n", printed.page)
    })
}

/// Refuses two runs that differ in something that must be the same.
fn same(
    runs: &[(&str, &str, Guiding)],
    how: &str,
    what: impl Fn(&TrainConfig) -> String,
    else_what: &str,
) -> Result<(), Failure> {
    let found: Vec<(&str, String)> = runs.iter().map(|(_, flag, run)| (*flag, what(&run.config))).collect();
    match &found[..] {
        [(flag, one), (other_flag, other)] if one != other => Err(Failure::input(format!(
            "{flag} was trained {how} {one} and {other_flag} {how} {other}; give two runs that pair, or say which: \
             {else_what}"
        ))),
        _ => Ok(()),
    }
}

fn settings(args: &Args, run: &TrainConfig) -> RewireConfig {
    let mut gcn = RewireConfig::gcn(run);
    gcn.gcn.norm = args.gcn_norm;
    gcn.network.hidden = args.hidden.unwrap_or(gcn.network.hidden);
    gcn.network.layers = args.layers.unwrap_or(gcn.network.layers);
    gcn.stopping.protocol = args.protocol.unwrap_or(gcn.stopping.protocol);
    gcn.seed = args.seed.unwrap_or(gcn.seed);
    let splits = args.splits.map_or_else(|| vec![run.data.split], |count| (0..count as usize).collect());
    RewireConfig { thresholds: args.thresholds.clone(), splits, trials: args.trials, gcn }
}

/// What was trained, for the page.
fn about(runs: &[(&str, &str, Guiding)], config: &RewireConfig, trainings: usize) -> Vec<String> {
    let mut points: Vec<String> = runs
        .iter()
        .map(|(name, _, run)| {
            let NetworkSettings { arch, hidden, heads, layers } = run.config.network;
            let (lambda, split) = (&run.config.regulariser.lambda, run.config.data.split);
            let path = run.path.display();
            format!(
                "{name}: {path}, {arch}, K {heads}, F {hidden}, L {layers}, lambda {lambda}, trained on split {split}."
            )
        })
        .collect();
    let NetworkSettings { hidden, layers, .. } = config.gcn.network;
    let (norm, protocol) = (config.gcn.gcn.norm, config.gcn.stopping.protocol);
    points.push(format!(
        "{trainings} GCNs: F {hidden}, L {layers}, norm {norm}, protocol {protocol}, {} per split and pruned \
         graph; {}.",
        config.trials,
        match &config.splits[..] {
            [split] => format!("split {split}"),
            splits => format!("{} splits", splits.len()),
        }
    ));
    if runs.iter().any(|(_, _, run)| config.splits.iter().any(|split| *split != run.config.data.split)) {
        points.push(
            "The runs have seen the labels of their own training nodes, some of which are test nodes of other splits: \
             the curves of attention are flattered, the random ones are not."
                .into(),
        );
    }
    points
}

fn printed_curves(curves: &Curves) -> Vec<PrintedCurve> {
    let printed = |(figures, curve): (AreaFigures, &carat::rewire::Curve)| PrintedCurve {
        figures,
        points: curve.points.iter().map(PrintedPoint::of).collect(),
    };
    rewiring::areas(curves).into_iter().zip(&curves.curves).map(printed).collect()
}
