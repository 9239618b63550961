//! `carat explainers`: what ways to explain predictions by edges are worth, and what they cost.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str::FromStr;

use carat::explainers::{Comparison, Explained, ExplainerSettings, GnnExplainer, Method, compare};
use carat::trust::draw_judged;
use carat::{NodeChoice, RunFolder, tables, with_threads};
use carat_graph::table::check_ending;
use carat_report::format::{UNDEFINED, counted, signed};
use serde::Serialize;

use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// Compare explanations of a trained run's predictions: attention, gradients, masks and others
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat explainers --run runs/cora                             all methods on 200 test nodes
  carat explainers gatt,gradient,effect --run runs/cora --nodes all --limit 1000
  carat explainers gnn-explainer --run runs/cora --out masks.parquet
  carat explainers --run runs/mutag --graphs test --json

Methods:
  attention             attention, the mean over layers and heads
  last-attention        attention in the last layer, the mean over heads
  gatt                  attention led back through the layers, over all paths to the node
  gradient              gradient of log p times the edge's gate, a factor on its messages
  integrated-gradients  the mean of that gradient while all gates open
  gnn-explainer         gates that are learned to be few, while the prediction stays
  random                a draw
  effect                the exact change of log p when the edge is deleted

Every method explains the class that the network predicts, node by node, by scores of the node's in-edges; of a set of \
graphs, by scores of the graph's edges. All are judged as 'carat trust' judges attention:
  faithful    correlation of scores with what edges do to the true class; rank: Spearman's
  self        the same for the predicted class
  area        how much faster than chance the prediction goes if the highest scores are deleted
              first; of best: as a share of what the order by effect reaches
  fidelity+   probability lost without the 30 % of edges with the highest scores (high is good)
  fidelity-   probability lost with these alone (low is good)
  planted     ROC AUC for edges that are known to matter, where the data says so
  ms          milliseconds per node on all threads

The file of --out has one row per method and edge: src, dst (with src_id and dst_id where the data has ids), method, \
score.")]
pub struct Args {
    /// Methods, separated by commas, or all
    #[arg(value_name = "METHOD,...", default_value = "all")]
    methods: Methods,
    /// Run folder, as made by 'carat train'
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
    /// Nodes, or graphs, to explain: train, val, test (of the run's split), or all
    #[arg(long, visible_alias = "graphs", value_name = "WHICH", default_value = "test")]
    nodes: NodeChoice,
    /// Most nodes, or graphs, to explain; only those with at least two edges are drawn
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    /// Dataset name or path [default: what the run was trained on]
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// File to write all scores to: .csv, .csv.gz, .parquet or .npz
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Steps of integrated-gradients
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: u32,
    /// Steps in which gnn-explainer learns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    epochs: u32,
    /// Seeds the draw of nodes, random scores and the masks that gnn-explainer starts from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    printed: Format,
}

/// The methods that were asked for, in the order of [`Method::ALL`].
#[derive(Debug, Clone)]
struct Methods(Vec<Method>);

impl FromStr for Methods {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(Method::ALL.to_vec()));
        }
        let asked = text.split(',').map(str::parse).collect::<Result<Vec<Method>, String>>()?;
        Ok(Self(Method::ALL.into_iter().filter(|method| asked.contains(method)).collect()))
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    out: Option<String>,
    #[serde(flatten)]
    found: &'a Comparison,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        check_ending(out)?;
        output::check_folder(out)?;
    }
    let folder = RunFolder::new(&args.run);
    let (config, network) = folder.open()?;
    let dataset = config.open(args.data.as_deref(), &args.data_folder.path())?;
    let task = config.task_for(&dataset)?;
    let (dataset, notes) = folder.prepare(&dataset)?;
    output::notes(&notes);
    let entities = draw_judged(&dataset, &args.nodes.nodes(&dataset, &config)?, args.limit, args.seed);
    if entities.is_empty() {
        return Err(Failure::input(format!(
            "no {task} to explain: --limit is 0, or none of --nodes {} has two edges to choose between",
            args.nodes
        )));
    }
    let interrupted = interrupt::flag()?;
    let progress = Progress::new("done");
    let settings = ExplainerSettings {
        steps: args.steps as usize,
        gnn_explainer: GnnExplainer { epochs: args.epochs as usize, ..GnnExplainer::default() },
        seed: args.seed,
        ..ExplainerSettings::from(&config)
    };
    let found = with_threads(args.threads.threads, || {
        compare(&network, &dataset, &entities, &args.methods.0, &settings, &mut |what, done, total| {
            progress.show(done as u64, total as u64, &format!(" ({what})"));
            if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    })?;
    progress.finish();
    let (found, explanations) = found?;
    if let Some(out) = &args.out {
        tables::with_ids(explanations.table()?, &dataset)?.write(out)?;
    }
    let out = args.out.as_ref().map(|out| out.display().to_string());
    output::show(args.printed.json, &Printed { out: out.clone(), found: &found }, || {
        let name = config.network_name();
        let (entities, edges) = (counted(found.entities, &task.to_string()), counted(found.edges, "edge"));
        let written = out.map_or(String::new(), |out| format!("Scores of all edges -> {out}\n"));
        format!("{name}: explanations of {entities} by {edges}\n\n{}{written}", table(&found))
    })
}

fn table(found: &Comparison) -> String {
    let mut headings = vec!["method", ">faithful", ">rank", ">self", ">rank", ">area", ">of best"];
    headings.extend([">fidelity+", ">fidelity-"]);
    let knows_truth = found.methods.iter().any(|explained| explained.planted.is_some());
    headings.extend(knows_truth.then_some(">planted"));
    headings.push(">ms");
    let number = |value: Option<f64>| value.map_or(UNDEFINED.to_string(), |value| signed(value, 3));
    let row = |explained: &Explained| {
        let Explained { faithfulness, self_faithfulness, fidelity, planted, .. } = explained;
        let mut row = vec![explained.method.to_string()];
        row.extend([faithfulness, self_faithfulness].into_iter().flat_map(|f| [f.pearson, f.spearman]).map(number));
        row.push(signed(explained.deletion_area, 4));
        row.push(explained.share_of_best.map_or(UNDEFINED.to_string(), |share| format!("{:.0} %", 100.0 * share)));
        row.extend([fidelity.plus, fidelity.minus].map(|value| signed(value, 4)));
        row.extend(knows_truth.then(|| planted.map_or(UNDEFINED.to_string(), |planted| format!("{:.3}", planted.auc))));
        row.push(format!("{:.2}", explained.milliseconds));
        row
    };
    let rows: Vec<Vec<String>> = found.methods.iter().map(row).collect();
    output::table(&headings, &rows)
}
