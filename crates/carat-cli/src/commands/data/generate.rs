//! `carat data generate`: a flag for every field of a generator's configuration.

mod truth;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use carat_graph::generators::{self, DegreeLaw, HomophilyConfig, PlantedConfig, RandomConfig};
use carat_graph::{Dataset, SplitRatio};

use super::save::{FolderFormat, Target};
use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;

/// Generate a graph with known ground truth
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:
  carat data generate planted --nodes 5000 --seed 1 --out planted.npz
  carat data generate homophily --homophily 0.2 --source cora --out low.npz
  carat data generate random --nodes 1000 --edges 5000 --train 600 --out random-folder --format parquet
  carat data generate ba-shapes --seed 1 --out shapes.npz
  carat data generate spurious-motif --bias 0.7 --train 3000 --test 1500 --out motifs.npz
  carat data generate planted --nodes 10000000 --features 64 --topic-words 6 --out big.carat

The same flags give the same graph on any machine, with any number of threads."
)]
pub struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    Planted(Planted),
    Homophily(Homophily),
    Random(Random),
    #[command(flatten)]
    Truth(truth::Kind),
}

#[derive(Debug, clap::Args)]
struct Out {
    /// Where to write: a .npz file, a .carat file, or else a folder
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Format of the tables in a folder [default: csv]
    #[arg(long, value_enum)]
    format: Option<FolderFormat>,
    #[command(flatten)]
    print: Format,
}

/// Classes, useful edges, and spurious edges that are a shortcut on training nodes only
#[derive(Debug, clap::Args)]
struct Planted {
    /// Nodes, decoys included
    #[arg(long, default_value_t = PlantedConfig::default().nodes)]
    nodes: usize,
    /// Classes, and as many groups of decoys
    #[arg(long, default_value_t = PlantedConfig::default().classes)]
    classes: usize,
    /// Columns of the bag of words
    #[arg(long, default_value_t = PlantedConfig::default().features)]
    features: usize,
    /// Words of each class topic and of each decoy topic
    #[arg(long, default_value_t = PlantedConfig::default().topic_words)]
    topic_words: usize,
    /// Words that each node draws
    #[arg(long, default_value_t = PlantedConfig::default().words_per_node)]
    words_per_node: usize,
    /// Share of an ordinary node's words that come from its class topic
    #[arg(long, default_value_t = PlantedConfig::default().feature_signal)]
    feature_signal: f64,
    /// Share of a decoy's words that come from its group's topic
    #[arg(long, default_value_t = PlantedConfig::default().decoy_signal)]
    decoy_signal: f64,
    /// Mean in-degree
    #[arg(long, default_value_t = PlantedConfig::default().mean_degree)]
    mean_degree: f64,
    /// Law of the in-degrees: constant, poisson, power or power:EXPONENT
    #[arg(long, default_value_t = PlantedConfig::default().degree_law)]
    degree_law: DegreeLaw,
    /// Share of useful edges whose ends are of one class
    #[arg(long, default_value_t = PlantedConfig::default().homophily)]
    homophily: f64,
    /// Share of edges that are spurious
    #[arg(long, default_value_t = PlantedConfig::default().spurious_share)]
    spurious_share: f64,
    /// Probability that a spurious edge of a training node reveals the node's class
    #[arg(long, default_value_t = PlantedConfig::default().shortcut)]
    shortcut: f64,
    /// Share of nodes that are decoys, the sources of spurious edges
    #[arg(long, default_value_t = PlantedConfig::default().decoy_share)]
    decoy_share: f64,
    /// Shares of the ordinary nodes that train, validate and test
    #[arg(long, default_value_t = PlantedConfig::default().split_ratio)]
    split_ratio: SplitRatio,
    /// Seed of everything random
    #[arg(long, default_value_t = PlantedConfig::default().seed)]
    seed: u64,
    #[command(flatten)]
    out: Out,
}

/// A real dataset's features on a new graph of chosen homophily, after syn-cora
#[derive(Debug, clap::Args)]
struct Homophily {
    /// Where features and classes come from: a name from 'carat data list', or a path
    #[arg(long, value_name = "NAME|PATH", default_value = "cora")]
    source: String,
    /// Nodes
    #[arg(long, default_value_t = HomophilyConfig::default().nodes)]
    nodes: usize,
    /// How many classes of the source to use, the largest first
    #[arg(long, default_value_t = Classes(HomophilyConfig::default().classes), value_name = "N|all")]
    classes: Classes,
    /// Links that each new node makes
    #[arg(long, default_value_t = HomophilyConfig::default().edges_per_node)]
    edges_per_node: usize,
    /// Share of edges that join nodes of one class
    #[arg(long, default_value_t = HomophilyConfig::default().homophily)]
    homophily: f64,
    /// Number of seeded stratified splits
    #[arg(long, default_value_t = HomophilyConfig::default().splits)]
    splits: usize,
    /// Shares of the nodes that train, validate and test
    #[arg(long, default_value_t = HomophilyConfig::default().split_ratio)]
    split_ratio: SplitRatio,
    /// Seed of everything random
    #[arg(long, default_value_t = HomophilyConfig::default().seed)]
    seed: u64,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    out: Out,
}

/// No structure at all, of any size, for benchmarks
#[derive(Debug, clap::Args)]
struct Random {
    /// Nodes
    #[arg(long, default_value_t = RandomConfig::default().nodes)]
    nodes: usize,
    /// Directed edges
    #[arg(long, default_value_t = RandomConfig::default().edges)]
    edges: usize,
    /// Dense features of each node
    #[arg(long, default_value_t = RandomConfig::default().features)]
    features: usize,
    /// Classes
    #[arg(long, default_value_t = RandomConfig::default().classes)]
    classes: usize,
    /// Training nodes
    #[arg(long, default_value_t = RandomConfig::default().train)]
    train: usize,
    /// Validation nodes
    #[arg(long, default_value_t = RandomConfig::default().val)]
    val: usize,
    /// Test nodes
    #[arg(long, default_value_t = RandomConfig::default().test)]
    test: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = RandomConfig::default().seed)]
    seed: u64,
    #[command(flatten)]
    out: Out,
}

/// A number of classes, or all there are.
#[derive(Debug, Clone, Copy)]
struct Classes(Option<usize>);

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(f),
            None => f.write_str("all"),
        }
    }
}

impl FromStr for Classes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self(None)),
            _ => text.parse().map(|number| Self(Some(number))).map_err(|_| "give a number, or 'all'"),
        }
    }
}

/// Generates and writes.
pub fn run(args: Args) -> Result<(), Failure> {
    match args.kind {
        Kind::Planted(args) => args.out.write(|| planted(&args)),
        Kind::Homophily(args) => args.out.write(|| homophily(&args)),
        Kind::Random(args) => args.out.write(|| random(&args)),
        Kind::Truth(kind) => kind.write(),
    }
}

impl Out {
    /// Checks the output path before generating anything.
    fn write(&self, make: impl FnOnce() -> Result<Dataset, Failure>) -> Result<(), Failure> {
        let target = Target::new(&self.out, self.format)?;
        target.save(&make()?, self.print.json)
    }
}

fn planted(args: &Planted) -> Result<Dataset, Failure> {
    Ok(generators::planted(&PlantedConfig {
        nodes: args.nodes,
        classes: args.classes,
        features: args.features,
        topic_words: args.topic_words,
        words_per_node: args.words_per_node,
        feature_signal: args.feature_signal,
        decoy_signal: args.decoy_signal,
        mean_degree: args.mean_degree,
        degree_law: args.degree_law,
        homophily: args.homophily,
        spurious_share: args.spurious_share,
        shortcut: args.shortcut,
        decoy_share: args.decoy_share,
        split_ratio: args.split_ratio,
        seed: args.seed,
    })?)
}

fn homophily(args: &Homophily) -> Result<Dataset, Failure> {
    let config = HomophilyConfig {
        nodes: args.nodes,
        classes: args.classes.0,
        edges_per_node: args.edges_per_node,
        homophily: args.homophily,
        splits: args.splits,
        split_ratio: args.split_ratio,
        seed: args.seed,
    };
    Ok(generators::homophily(&config, &carat_graph::open(&args.source, &args.data.path())?)?)
}

fn random(args: &Random) -> Result<Dataset, Failure> {
    Ok(generators::random(&RandomConfig {
        nodes: args.nodes,
        edges: args.edges,
        features: args.features,
        classes: args.classes,
        train: args.train,
        val: args.val,
        test: args.test,
        seed: args.seed,
    })?)
}
